"""Which dimensions of operands an op reads as a whole: what a tile must not cut.

Written from the definitions of the ops for the check of plans; the choice of tiles does not use it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ge_dialect.ge.attention import FlashAttentionOp, RotaryEmbeddingOp
from ge_dialect.ge.base import FusionKind, GEOp
from ge_dialect.ge.channel_normalization import BatchNormOp, GroupNormOp, InstanceNormOp
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.convolution import WindowContractionOp
from ge_dialect.ge.dropout import DropoutOp
from ge_dialect.ge.indexing import GatherOp
from ge_dialect.ge.integer_contractions import MatmulIntegerOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TileOp, TransposeOp
from ge_dialect.ge.normalization import LayerNormOp, LpNormOp, RMSNormOp
from ge_dialect.ge.pieces import ConcatOp, PadOp, SliceOp, SplitOp
from ge_dialect.ge.pooling import PoolOp
from ge_dialect.ge.quantization import ScaledOp
from ge_dialect.ge.rearrange import TriluOp
from ge_dialect.ge.reductions import AxisSoftmaxOp, ReduceOp
from ge_dialect.ge.selection import ArgReduceOp
from ge_dialect.ge.types import normalize_axes, normalize_axis, num_elements, tensor_of
from ge_dialect.ge.windows import slides


def whole_axes(op: GEOp, index: int) -> Iterable[int]:
    """Returns the axes of an operand that a tile has to have whole.

    Args:
        op: Static.
        index: Of the operand.
    """
    rank = len(tensor_of(op.operands[index]).get_shape())
    every = range(rank)
    match op:
        case ReduceOp():
            return normalize_axes(op.axes.get_values(), rank) or every
        case ArgReduceOp() | AxisSoftmaxOp() | LpNormOp():
            return (normalize_axis(op.axis.value.data, rank),)
        case LayerNormOp() | RMSNormOp():
            return range(normalize_axis(op.axis.value.data, rank), rank) if index == 0 else every
        case GroupNormOp() | InstanceNormOp():
            return every[1:] if index == 0 else every
        case BatchNormOp():
            return ()
        case DropoutOp() if op.is_identity():
            return ()
        case MatmulOp() | MatmulIntegerOp() | GemmOp() | FlashAttentionOp():
            return _product_axes(op, index, rank)
        case WindowContractionOp():
            return _filtered_axes(op, index, rank)
        case PoolOp():
            return () if slides(op) else every
        case _:
            return _moved_axes(op, index, rank)


def _filtered_axes(op: WindowContractionOp, index: int, rank: int) -> Iterable[int]:
    """Channels are cut by groups; images only where windows slide."""
    grouped = op.group.value.data > 1
    if not slides(op):  # a transposed convolution, its filter one of [C, M / group, ...]
        if grouped:
            return range(1, rank) if index == 0 else range(rank)
        return (range(1, rank), (0, *range(2, rank)), ())[index]
    if index == 0:
        return () if grouped else (1,)
    if index == 1:
        return range(1, rank)
    return () if op.GE_INPUTS[index] == "bias" else range(rank)


def _product_axes(op: GEOp, index: int, rank: int) -> Iterable[int]:
    match op:
        case MatmulOp() | MatmulIntegerOp():
            if rank < 2 or index > 1:
                return range(rank)
            return (rank - 1,) if index == 0 else (rank - 2,)
        case GemmOp():
            if index == 0:
                return (0,) if op.trans_a is not None else (1,)
            if index == 1:
                return (1,) if op.trans_b is not None else (0,)
            return ()
        case _:  # an attention: q, k, v, mask; a sink is cut as heads are
            assert isinstance(op, FlashAttentionOp)
            if op.operands[index] is op.sink:
                return ()
            return ((3,), (2, 3), (2, 3), (rank - 1,))[index]


def _moved_axes(op: GEOp, index: int, rank: int) -> Iterable[int]:
    match op:
        case ConcatOp() | SplitOp():
            return (op.dimension,)
        case SliceOp():
            return normalize_axes(op.axes.get_values(), rank)
        case PadOp():
            cut = [axis for axis, width in enumerate(op.widths()) if width != (0, 0)]
            return cut if index == 0 else range(rank)
        case TileOp():
            return [axis for axis, times in enumerate(op.repeats.get_values()) if times != 1]
        case TriluOp():
            return range(max(rank - 2, 0), rank)
        case GatherOp():
            return (op.dimension,) if index == 0 else ()
        case ReshapeOp() | TransposeOp() | BroadcastToOp():
            return ()
        case _:
            return _other_axes(op, index, rank)


def _other_axes(op: GEOp, index: int, rank: int) -> Iterable[int]:
    match op:
        case RotaryEmbeddingOp():
            if index == 0:
                return (rank - 1,)
            tables = op.position_ids is not None and index < 3
            return range(rank) if tables else range(2, rank)
        case ScaledOp():
            alone = all((num_elements(value.type) or 0) <= 1 for value in op.operands[1:])
            return () if alone else range(rank)
        case _:
            return () if op.FUSION_KIND is FusionKind.ELEMENTWISE else range(rank)
