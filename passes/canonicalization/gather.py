"""Gathers whose constant indices name neighbours in order: they are slices and reshapes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.constants import ConstantOp, constant_array
from ge_dialect.ge.indexing import GatherNdOp, GatherOp
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.pieces import SliceOp
from ge_dialect.ge.types import static_shape, value_shape
from ge_dialect.passes.canonicalization.groups import is_known
from ge_dialect.passes.driver import Rewrite

if TYPE_CHECKING:
    import numpy.typing as npt

MOST_INDICES = 1 << 20


def _first_of_run(indices: npt.NDArray[Any]) -> int | None:
    """Returns the first of numbers that count up by 1, or None for others."""
    import numpy as np

    if indices.size == 0:
        return None
    flat = indices.reshape(-1)
    first = int(flat[0])
    return first if (flat == np.arange(first, first + flat.size)).all() else None


class SliceForGather(Rewrite):
    """`gather(x, [i, i + 1, ...])` -> `reshape(slice(x))`, for constant indices.

    The slice goes where it takes everything, the reshape where the shape stays.
    """

    roots = (GatherOp,)
    reads = (ConstantOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, GatherOp)
        size, shape = value_shape(op.input)[op.dimension], value_shape(op.result)
        indices = constant_array(op.indices, MOST_INDICES)
        if indices is None or not isinstance(size, int):
            return
        in_place = indices.ndim == 1  # what is known of the shape is no matter then
        if not in_place and not is_known(shape):
            return
        if (start := _first_of_run(indices)) is None:
            return
        start += size if -size <= start and start + indices.size <= 0 else 0
        if not 0 <= start <= size - indices.size:
            return
        piece = SliceOp(op.input, [start], [start + indices.size], [op.dimension])
        rewriter.replace(op, piece if in_place else [piece, ReshapeOp(piece.result, shape)])


class ReshapeForGatherNd(Rewrite):
    """`gather_nd(x, all indices in order)` -> `reshape(x)`."""

    roots = (GatherNdOp,)
    reads = (ConstantOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, GatherNdOp)
        shape = static_shape(op.input.type)
        indices = constant_array(op.indices, MOST_INDICES)
        if shape is None or indices is None or op.batch_dims.value.data != 0:
            return
        addressed = shape[: indices.shape[-1]]
        if indices.size != prod(addressed) * len(addressed) or not indices.size:
            return
        if (indices < 0).any() or (indices >= addressed).any():
            return
        import numpy as np

        rows = indices.reshape(-1, len(addressed)).astype(np.int64)
        if _first_of_run(np.ravel_multi_index(tuple(rows.T), addressed)) == 0:
            rewriter.replace(op, ReshapeOp(op.input, value_shape(op.result)))


class GatherForGatherNd(Rewrite):
    """`gather_nd(x, i[..., None])` -> `gather(x, i)` along the first dimension.

    Where the shape of `i` is known, or a reshape of one dimension.
    """

    roots = (GatherNdOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, GatherNdOp)
        shape = value_shape(op.indices)
        if op.batch_dims.value.data or shape[-1] != 1:
            return
        added = op.indices.owner
        if len(shape) == 2 and isinstance(added, ReshapeOp) and len(value_shape(added.input)) == 1:
            rewriter.replace(op, GatherOp(op.input, added.input, 0))  # of any number of indices
            return
        if not is_known(shape):
            return
        indices = ReshapeOp(op.indices, shape[:-1])
        rewriter.replace(op, [indices, GatherOp(op.input, indices.result, 0)])


GATHER_PATTERNS = (SliceForGather, ReshapeForGatherNd, GatherForGatherNd)
