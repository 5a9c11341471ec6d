"""How ops divide into tiles: into how many independent runs of leading elements each one splits.

An op of `n` rows may be cut into any divisor of `n` contiguous chunks, each computed from the same
chunk of its operand and nothing else of it. Two ops of one kernel pass values through on-chip
memory by such chunks.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from math import prod

from xdsl.ir import SSAValue

from ge_dialect.ge.attention import FlashAttentionOp, RotaryEmbeddingOp
from ge_dialect.ge.base import FusionKind, GEOp
from ge_dialect.ge.channel_normalization import GroupNormOp, InstanceNormOp
from ge_dialect.ge.contractions import EinsumOp, GemmOp, MatmulOp
from ge_dialect.ge.convolution import WindowContractionOp
from ge_dialect.ge.greatest import static_shape
from ge_dialect.ge.indexing import GatherOp
from ge_dialect.ge.integer_contractions import MatmulIntegerOp
from ge_dialect.ge.lstm import LSTMOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TileOp, TransposeOp
from ge_dialect.ge.normalization import LayerNormOp, LpNormOp, RMSNormOp
from ge_dialect.ge.pieces import ConcatOp, PadOp, SliceOp, SplitOp
from ge_dialect.ge.pooling import PoolOp
from ge_dialect.ge.quantization import DynamicQuantizeLinearOp
from ge_dialect.ge.rearrange import TriluOp
from ge_dialect.ge.recurrent import GRUOp, RNNOp
from ge_dialect.ge.reductions import AxisSoftmaxOp, ReduceOp
from ge_dialect.ge.selection import ArgReduceOp
from ge_dialect.ge.types import normalize_axes, normalize_axis


class Role(Enum):
    """What an op is to a kernel that holds it."""

    POINT = "point"
    """Each element of the result depends on one element of each operand, or a few beside it."""
    MOVE = "move"
    """An index map, done on the way in or out of a kernel."""
    REDUCE = "reduce"
    """A row of the operand has to be whole."""
    CONTRACT = "contract"
    """A product, a window or a recurrence on the cube, which works on tiles."""
    CLOSED = "closed"
    """Part of no kernel with others."""

    def __init__(self, text: str):
        self.is_hard = text in ("reduce", "contract")
        """Whether the op computes a result from many elements."""


_MOVES = (
    *(TransposeOp, ReshapeOp, BroadcastToOp, TileOp, SliceOp, SplitOp, ConcatOp, PadOp),
    *(GatherOp, TriluOp),
)
_ROWS = (
    *(ReduceOp, AxisSoftmaxOp, LayerNormOp, RMSNormOp, LpNormOp, ArgReduceOp),
    *(GroupNormOp, InstanceNormOp),
)
RECURRENT = (RNNOp, GRUOp, LSTMOp)
"""Their operands begin with what comes in, the weights of that, and those of the state."""
_CUBE = (
    *(MatmulOp, GemmOp, MatmulIntegerOp, EinsumOp, WindowContractionOp, FlashAttentionOp),
    *RECURRENT,
)
EXPANDING = (BroadcastToOp, TileOp, GatherOp)
"""Moves that read an element more than once."""


@cache
def role_of(op_class: type[GEOp]) -> Role:
    """Returns the role of the ops of a class."""
    if issubclass(op_class, _MOVES):
        return Role.MOVE
    if issubclass(op_class, _ROWS):
        return Role.REDUCE
    if issubclass(op_class, (*_CUBE, PoolOp)):
        return Role.CONTRACT
    if issubclass(op_class, RotaryEmbeddingOp) or op_class.FUSION_KIND is FusionKind.ELEMENTWISE:
        return Role.CLOSED if issubclass(op_class, DynamicQuantizeLinearOp) else Role.POINT
    return Role.CLOSED


def shape_or_none(value: SSAValue) -> tuple[int, ...] | None:
    """Returns the shape of a value where all dimensions are numbers."""
    return static_shape(value.type)


def rows_through(op: GEOp, index: int) -> int:
    """Returns into how many chunks an op can be cut together with one of its operands.

    Args:
        op: All shapes static.
        index: Of the operand.
    """
    operand = shape_or_none(op.operands[index])
    result = shape_or_none(op.results[0])
    if operand is None or result is None:
        return 1
    match role_of(type(op)):
        case Role.POINT:
            rotates = isinstance(op, RotaryEmbeddingOp)  # two elements of a row make two others
            return prod(operand[:-1]) if rotates and index == 0 else _aligned(operand, result)
        case Role.MOVE:
            return _rows_of_move(op, index, operand, result)
        case Role.REDUCE:
            return own_rows(op) if index == 0 else 1
        case Role.CONTRACT:
            return _rows_of_product(op, index, operand, result)
        case Role.CLOSED:
            return 1


def own_rows(op: GEOp) -> int:
    """Returns into how many independent rows the result of a hard op falls; 1 where unknown."""
    operand, result = shape_or_none(op.operands[0]), shape_or_none(op.results[0])
    if operand is None or result is None:
        return 1
    rank = len(operand)
    match op:
        case ReduceOp():
            axes = normalize_axes(op.axes.get_values(), rank) or tuple(range(rank))
            return prod(operand[: min(axes, default=rank)])
        case AxisSoftmaxOp() | LayerNormOp() | RMSNormOp() | LpNormOp() | ArgReduceOp():
            return prod(operand[: normalize_axis(op.axis.value.data, rank)])
        case GroupNormOp():
            return operand[0] * op.num_groups.value.data
        case InstanceNormOp() | PoolOp():
            return prod(operand[:2])
        case WindowContractionOp():
            return result[0]
        case EinsumOp() | RNNOp() | GRUOp() | LSTMOp():  # a step needs the one before
            return 1
        case _:
            return prod(result[:-1])


def _aligned(operand: tuple[int, ...], result: tuple[int, ...]) -> int:
    """The elements of the leading dimensions that a broadcast leaves as they are."""
    padded = (1,) * (len(result) - len(operand)) + operand
    rows = 1
    for own, whole in zip(padded, result, strict=True):
        if own != whole:
            return rows
        rows *= whole
    return rows


def _rows_of_product(
    op: GEOp, index: int, operand: tuple[int, ...], result: tuple[int, ...]
) -> int:
    match op:
        case WindowContractionOp():
            return result[0] if index == 0 else 1
        case PoolOp():
            return own_rows(op)
        case GemmOp():
            return result[0] if index == 0 and op.trans_a is None else 1
        case FlashAttentionOp():
            return prod(operand[:3]) if index == 0 else _aligned(operand[:2], result[:2])
        case MatmulOp() | MatmulIntegerOp() if index == 0 and len(operand) == len(result):
            return _aligned(operand[:-1], result[:-1])
        case MatmulOp() | MatmulIntegerOp() if len(operand) == len(result):
            return _aligned(operand[:-2], result[:-2])
        case _:
            return 1


def _rows_of_move(op: GEOp, index: int, operand: tuple[int, ...], result: tuple[int, ...]) -> int:
    rank = len(operand)
    match op:
        case ReshapeOp():
            return prod(operand)
        case TransposeOp():
            kept = next((i for i, axis in enumerate(op.permutation) if i != axis), rank)
            return prod(operand[:kept])
        case ConcatOp() | SplitOp():
            return prod(operand[: normalize_axis(op.axis.value.data, rank)])
        case TriluOp():
            return prod(operand[:-2])
        case GatherOp():
            if index == 1:
                return prod(operand) if op.axis.value.data == 0 else 1
            return prod(operand[: normalize_axis(op.axis.value.data, rank)])
        case SliceOp():
            axes = normalize_axes(op.axes.get_values(), rank)
            return prod(operand[: min(axes, default=rank)])
        case PadOp():
            pads = op.pads.get_values()
            kept = next((i for i in range(rank) if pads[i] or pads[i + rank]), rank)
            return prod(operand[:kept])
        case BroadcastToOp() | TileOp():
            return _aligned(operand, result) if len(operand) <= len(result) else 1
        case _:
            return 1
