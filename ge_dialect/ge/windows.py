"""What a part of a result is computed from, where windows slide or elements stand for themselves.

Written from the definitions of the ops: what tiles mean and what the check of plans asks for.
"""

from __future__ import annotations

from collections.abc import Sequence

from ge_dialect.ge.access import operand_at
from ge_dialect.ge.attention import RotaryEmbeddingOp
from ge_dialect.ge.base import FusionKind, GEOp
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.convolution import ConvTransposeOp, WindowContractionOp, pad_pairs
from ge_dialect.ge.dropout import DropoutOp
from ge_dialect.ge.integer_contractions import MatmulIntegerOp
from ge_dialect.ge.pooling import MaxPoolWithIndicesOp, PoolOp
from ge_dialect.ge.quantization import ScaledOp
from ge_dialect.ge.types import tensor_of

_FIRST = 2
"""The first dimension that windows slide over, of `[N, C, D1, ..., Dn]`."""


def slides(op: GEOp) -> bool:
    """Whether each element of the result is computed from a window of operand 0."""
    if isinstance(op, PoolOp):
        return not isinstance(op, MaxPoolWithIndicesOp)  # they count elements of the whole operand
    return isinstance(op, WindowContractionOp) and not isinstance(op, ConvTransposeOp)


def window_axes(op: GEOp) -> range:
    """Returns the dimensions that the windows of an op that `slides` slide over."""
    return range(_FIRST, len(tensor_of(op.results[0]).get_shape()))


def window_span(op: GEOp, axis: int, span: tuple[int, int]) -> tuple[int, int]:
    """Returns the elements of operand 0 that windows read, those in the padding with them.

    Args:
        op: One that `slides`.
        axis: A dimension that its windows slide over.
        span: First and last plus one of the windows, along that dimension.
    """
    assert isinstance(op, PoolOp | WindowContractionOp)
    at = axis - _FIRST
    if isinstance(op, PoolOp):
        size = op.kernel.get_values()[at]
    else:
        size = tensor_of(op.filter).get_shape()[axis]
    stride, dilation = op.strides.get_values()[at], op.dilations.get_values()[at]
    start = span[0] * stride - pad_pairs(op.pads.get_values())[at][0]
    return start, start + (span[1] - span[0] - 1) * stride + (size - 1) * dilation + 1


def aligned_axes(op: GEOp, index: int) -> list[tuple[int, int]]:
    """Returns the dimensions of an operand of which an op may be given a part, each with the
    dimension of the first result that is made of it, element for element.

    Those of one element that are broadcast are left out.
    """
    (first, *_) = op.results
    shape, result = tensor_of(operand_at(op, index)).get_shape(), tensor_of(first).get_shape()
    extra = len(result) - len(shape)
    match op:
        case MatmulOp() | MatmulIntegerOp() if index == 0 and _gives_rows(op):
            found = [(axis, axis + extra) for axis in range(len(shape) - 1)]
        case GemmOp() if index == 0 and op.trans_a is None:
            found = [(0, 0)]
        case RotaryEmbeddingOp() if _turns_rows(op, index):
            found = [(0, 0), (1, len(result) - 2)]
        case _ if _is_pointwise(op):
            found = [(axis, axis + extra) for axis in range(len(shape))]
        case _:
            found = []
    return [(axis, made) for axis, made in found if shape[axis] == result[made] > 1]


def _gives_rows(op: GEOp) -> bool:
    """Whether a product is one of matrices, so that rows of the first give rows of the result."""
    return all(len(tensor_of(operand).get_shape()) > 1 for operand in op.operands[:2])


def _turns_rows(op: RotaryEmbeddingOp, index: int) -> bool:
    """Whether an operand has angles, or positions, of batches and rows."""
    if op.position_ids is None:
        return index > 0 and len(tensor_of(op.operands[index]).get_shape()) == 3
    return index == len(op.operands) - 1


def _is_pointwise(op: GEOp) -> bool:
    """Whether an element of a result depends on the elements of operands at its own place, which
    are those that broadcasting puts there."""
    if op.FUSION_KIND is not FusionKind.ELEMENTWISE or not op.operands:
        return False
    if isinstance(op, RotaryEmbeddingOp | DropoutOp | ScaledOp):
        return False
    shape = tensor_of(op.results[0]).get_shape()
    alike = all(tensor_of(result).get_shape() == shape for result in op.results)
    return alike and all(_broadcasts(tensor_of(v).get_shape(), shape) for v in op.operands)


def _broadcasts(own: Sequence[int], whole: Sequence[int]) -> bool:
    extra = len(whole) - len(own)
    if extra < 0:
        return False
    return all(size in (1, other) for size, other in zip(own, whole[extra:], strict=True))
