"""Reshapes: those that change nothing, follow each other, or undo what a reduction dropped."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.reductions import (
    ReduceL1Op,
    ReduceL2Op,
    ReduceLogSumExpOp,
    ReduceLogSumOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceOp,
    ReduceProdOp,
    ReduceSumOp,
    ReduceSumSquareOp,
    reduced_shape,
)
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.canonicalization.groups import is_known, same_shape, split_dims
from ge_dialect.passes.driver import Rewrite

REDUCTIONS = (
    ReduceL1Op,
    ReduceL2Op,
    ReduceLogSumExpOp,
    ReduceLogSumOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
    ReduceSumSquareOp,
)


class ElideIdentityReshape(Rewrite):
    """`reshape(x)` -> `x`, where the shape stays."""

    roots = (ReshapeOp,)
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, ReshapeOp)
        if same_shape(value_shape(op.input), value_shape(op.result)):
            rewriter.replace(op, (), [op.input])


class MergeReshapes(Rewrite):
    """`reshape(reshape(x))` -> `reshape(x)`."""

    roots = (ReshapeOp,)
    reads = (ReshapeOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, ReshapeOp)
        inner, shape = op.input.owner, value_shape(op.result)
        if isinstance(inner, ReshapeOp) and is_known(shape):
            rewriter.replace(op, ReshapeOp(inner.input, shape))


class KeepReducedDims(Rewrite):
    """`reshape(reduce(x) keepdims false)` -> `reduce(x) keepdims true`, where that is the shape."""

    roots = (ReshapeOp,)
    reads = REDUCTIONS

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, ReshapeOp)
        inner = op.input.owner
        if not isinstance(inner, ReduceOp) or not isinstance(inner, REDUCTIONS):
            return
        axes = inner.reduced_axes
        kept = reduced_shape(value_shape(inner.input), axes, keepdims=True)
        if bool(inner.keepdims) or not same_shape(kept, value_shape(op.result)):
            return
        rewriter.replace(op, type(inner)(inner.input, axes))


class TransposeUnderReshapes(Rewrite):
    """`reshape(transpose(reshape(x)))` -> `transpose(reshape(x))`, where the last reshape only
    takes dimensions apart; the first one vanishes where it had put just these together."""

    roots = (ReshapeOp,)
    reads = (TransposeOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, ReshapeOp)
        transpose = op.input.owner
        if not isinstance(transpose, TransposeOp) or not transpose.result.has_one_use():
            return
        first = transpose.input.owner
        if not isinstance(first, ReshapeOp):
            return
        final = value_shape(op.result)
        groups = split_dims(value_shape(transpose.result), final)
        if groups is None:
            return
        # Dimension i of what is transposed is the group at the place where the transpose puts it.
        places = [transpose.permutation.index(i) for i in range(len(groups))]
        order = [axis for place in places for axis in groups[place]]
        reshape = ReshapeOp(first.input, tuple(final[axis] for axis in order))
        perm = [order.index(axis) for axis in range(len(final))]
        rewriter.replace(op, [reshape, TransposeOp(reshape.result, perm)])


RESHAPE_PATTERNS = (
    ElideIdentityReshape,
    MergeReshapes,
    KeepReducedDims,
    TransposeUnderReshapes,
)
