"""Rules of pieces: what was put together and taken apart again, and reductions of one element."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect import remarks
from ge_dialect.ge.binary import MulOp
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.reductions import (
    ReduceL1Op,
    ReduceMaxOp,
    ReduceMinOp,
    ReduceOp,
    ReduceProdOp,
    ReduceSumOp,
    ReduceSumSquareOp,
)
from ge_dialect.ge.types import value_shape
from ge_dialect.ge.unary import AbsOp
from ge_dialect.passes.algebra.common import (
    NAME,
    NO_SIGNED_ZEROS,
    Simpler,
    Simplify,
    of_floats,
)
from ge_dialect.passes.canonicalization.axes import plain_spans
from ge_dialect.passes.canonicalization.groups import is_known
from ge_dialect.passes.driver import Rewrite
from ge_dialect.passes.values import in_kernel, owner


class DropReductionOfOne(Simplify):
    """`reduce(x)` over dimensions of 1 -> `reshape(x)`: maximum, minimum, product, sum; the sum of
    absolute values is `|x|`, that of squares `x * x`.

    A sum of floats makes -0.0 positive.
    """

    roots = (ReduceMaxOp, ReduceMinOp, ReduceProdOp, ReduceSumOp, ReduceL1Op, ReduceSumSquareOp)
    flags = (NO_SIGNED_ZEROS,)

    def needed(self, op: Operation) -> tuple[str, ...]:
        return self.flags if isinstance(op, ReduceSumOp) and of_floats(op.input) else ()

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, ReduceOp)
        shape, result = value_shape(op.input), value_shape(op.result)
        axes = op.reduced_axes
        if not axes or any(shape[axis] != 1 for axis in axes) or not is_known(result):
            return None
        reshape = ReshapeOp(op.input, result)
        match op:
            case ReduceL1Op():
                return [reshape, AbsOp(reshape)]
            case ReduceSumSquareOp():
                return [reshape, MulOp(reshape, reshape)]
            case _:
                return [reshape]


class UndoSplit(Simplify):
    """`concat(split(x))` -> `x`, with all pieces in order along the same axis."""

    roots = (ConcatOp,)
    reads = (SplitOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, ConcatOp)
        split = owner(op.inputs[0], SplitOp)
        if split is None or split.dimension != op.dimension:
            return None
        return split.input if tuple(op.inputs) == tuple(split.results) else None


class UndoConcat(Rewrite):
    """`split(concat(x, y))` -> `x, y`, with the sizes of the operands along the same axis."""

    roots = (SplitOp,)
    reads = (ConcatOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, SplitOp)
        concat = owner(op.input, ConcatOp)
        if concat is None or in_kernel(op):
            return
        types = [value.type for value in concat.inputs]
        if concat.dimension == op.dimension and types == list(op.result_types):
            remarks.passed(NAME, type(self).__name__, op, "now values that were there")
            rewriter.replace(op, (), list(concat.inputs))


class SliceOperandOfConcat(Simplify):
    """`slice(concat(x, y))` -> `slice(x)`, where the slice takes elements of one operand only."""

    roots = (SliceOp,)
    reads = (ConcatOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, SliceOp)
        concat, spans = owner(op.input, ConcatOp), plain_spans(op)
        if concat is None or spans is None:
            return None
        found = [span for span in spans if span[0] == concat.dimension]
        if not found or (part := _operand_with(concat, *found[0][1:])) is None:
            return None
        value, before = part
        moved = [
            (axis, start - before, end - before) if axis == concat.dimension else (axis, start, end)
            for axis, start, end in spans
        ]
        axes, starts, ends = zip(*moved, strict=True)
        return [SliceOp(value, starts, ends, axes)]


def _operand_with(concat: ConcatOp, start: int, end: int) -> tuple[SSAValue, int] | None:
    """Returns the operand that holds elements from `start` to `end`, and how many are before it."""
    before = 0
    for value in concat.inputs:
        size = value_shape(value)[concat.dimension]
        if not isinstance(size, int):
            return None
        if before <= start and end <= before + size and start < end:
            return value, before
        before += size
    return None


class MergeSlices(Simplify):
    """`slice(slice(x))` -> `slice(x)`, in steps of 1 along dimensions of known size."""

    roots = (SliceOp,)
    reads = (SliceOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, SliceOp)
        inner = owner(op.input, SliceOp)
        outer_spans = plain_spans(op)
        if inner is None or outer_spans is None or (inner_spans := plain_spans(inner)) is None:
            return None
        found = {axis: (start, end) for axis, start, end in inner_spans}
        for axis, start, end in outer_spans:
            offset = found.get(axis, (0, 0))[0]
            found[axis] = (start + offset, end + offset)
        axes = sorted(found)
        starts, ends = zip(*(found[axis] for axis in axes), strict=True)
        return [SliceOp(inner.input, starts, ends, axes)]


class FlattenConcat(Simplify):
    """`concat(concat(x, y), z)` -> `concat(x, y, z)`, along one axis; empty operands go.

    Nobody else may read the inner one.
    """

    roots = (ConcatOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, ConcatOp)
        axis, inputs = op.dimension, list[SSAValue]()
        for value in op.inputs:
            inner = owner(value, ConcatOp)
            merges = inner is not None and inner.dimension == axis and value.has_one_use()
            inputs += inner.inputs if inner is not None and merges else [value]
        kept = [value for value in inputs if value_shape(value)[axis] != 0] or inputs[:1]
        return None if kept == list(op.inputs) else [ConcatOp(kept, axis)]


PIECE_RULES = (
    DropReductionOfOne,
    UndoSplit,
    SliceOperandOfConcat,
    MergeSlices,
    FlattenConcat,
)
