"""Transposes: those that change nothing, follow each other, or move only dimensions of size 1."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.canonicalization.groups import compose, is_known
from ge_dialect.passes.driver import Rewrite, can_stand_for


class ElideIdentityTranspose(Rewrite):
    """`transpose(x)` -> `x`, where every dimension stays in its place."""

    roots = (TransposeOp,)
    benefit = 3

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, TransposeOp)
        perm = op.permutation
        if perm == tuple(range(len(perm))) and can_stand_for(op.input, op.result):
            rewriter.replace(op, (), [op.input])


class MergeTransposes(Rewrite):
    """`transpose(transpose(x))` -> `transpose(x)`; two that undo each other leave `x`."""

    roots = (TransposeOp,)
    reads = (TransposeOp,)
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, TransposeOp)
        inner = op.input.owner
        if isinstance(inner, TransposeOp):
            perm = compose(inner.permutation, op.permutation)
            rewriter.replace(op, TransposeOp(inner.input, perm))


class ReshapeForUnitDims(Rewrite):
    """`transpose(x)` -> `reshape(x)`, where only dimensions of size 1 change places."""

    roots = (TransposeOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, TransposeOp)
        shape = value_shape(op.result)
        if op.view_of() == 0 and is_known(shape):
            rewriter.replace(op, ReshapeOp(op.input, shape))


TRANSPOSE_PATTERNS = (ElideIdentityTranspose, MergeTransposes, ReshapeForUnitDims)
