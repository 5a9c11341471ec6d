"""One row out of each matrix of a batch: exporters number the batch, or all rows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.binary import AddOp
from ge_dialect.ge.constants import constant_array
from ge_dialect.ge.indexing import GatherNdOp, GatherOp
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.selection import ArgMaxOp
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.driver import Rewrite

if TYPE_CHECKING:
    import numpy.typing as npt


def _counts(value: SSAValue, count: object, step: int) -> bool:
    """Whether a constant is 0, `step`, 2 `step` and so on, `count` numbers."""
    import numpy as np

    array: npt.NDArray[Any] | None = constant_array(value, 1 << 20)
    if array is None or array.size != count or not isinstance(count, int):
        return False
    return bool((array.reshape(-1) == np.arange(count) * step).all())


class NumberRowsOfBatch(Rewrite):
    """`gather_nd(x, concat([[0], [1], ...], i))` -> `gather_nd(x, i) batch_dims 1`."""

    roots = (GatherNdOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, GatherNdOp)
        concat = op.indices.owner
        if not isinstance(concat, ConcatOp) or op.batch_dims.value.data or len(concat.inputs) != 2:
            return
        numbers, rows = concat.inputs
        batch = value_shape(op.input)[0]
        if value_shape(op.indices) != (batch, 2) or value_shape(rows) != (batch, 1):
            return
        if _counts(numbers, batch, 1):
            rewriter.replace(op, GatherNdOp(op.input, rows, 1))


class NumberRowsOfAll(Rewrite):
    """`gather(reshape(x), i + [0, S, 2 * S, ...])` -> `gather_nd(x, i) batch_dims 1`.

    For `x` of `[B, S, ...]` and `i` an `arg_max` over at most S: it is in `[0, S)`.
    """

    roots = (GatherOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, GatherOp)
        flat, total = op.input.owner, op.indices.owner
        if not isinstance(flat, ReshapeOp) or not isinstance(total, AddOp) or op.dimension != 0:
            return
        shape = value_shape(flat.input)
        if len(shape) < 2 or value_shape(flat.result)[1:] != shape[2:]:
            return
        batch, size = shape[:2]
        if value_shape(total.result) != (batch,):
            return
        if not isinstance(size, int) or not _counts(total.rhs, batch, size):
            return
        if _below(total.lhs, size) and value_shape(total.lhs) == (batch,):
            rows = ReshapeOp(total.lhs, (batch, 1))
            rewriter.replace(op, [rows, GatherNdOp(flat.input, rows.result, 1)])


def _below(value: SSAValue, size: int) -> bool:
    """Whether indices are known to be in `[0, size)`."""
    op = value.owner
    if not isinstance(op, ArgMaxOp):
        return False
    shape = value_shape(op.input)
    choices = shape[op.axis.value.data]
    return isinstance(choices, int) and choices <= size


ROWS_PATTERNS = (NumberRowsOfBatch, NumberRowsOfAll)
