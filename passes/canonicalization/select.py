"""Selects whose choice is known or makes no difference."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.elementwise import SelectOp
from ge_dialect.ge.movement import BroadcastToOp
from ge_dialect.ge.types import value_shape
from ge_dialect.ge.unary import LogicalNotOp
from ge_dialect.passes.canonicalization.filled import filled_value
from ge_dialect.passes.canonicalization.groups import is_known
from ge_dialect.passes.driver import Rewrite


class ElideDecidedSelect(Rewrite):
    """`select(true, a, b)` -> `a`, `select(false, a, b)` -> `b`, `select(c, a, a)` -> `a`."""

    roots = (SelectOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, SelectOp)
        if (taken := _taken(op)) is None:
            return
        shape = value_shape(op.result)
        if taken.type == op.result.type:
            rewriter.replace(op, (), [taken])
        elif is_known(shape):
            rewriter.replace(op, BroadcastToOp(taken, shape))


def _taken(op: SelectOp) -> SSAValue | None:
    if op.on_true is op.on_false:
        return op.on_true
    condition = filled_value(op.condition)
    if condition is None:
        return None
    return op.on_true if condition else op.on_false


class SwapNegatedSelect(Rewrite):
    """`select(not c, a, b)` -> `select(c, b, a)`."""

    roots = (SelectOp,)
    reads = (LogicalNotOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, SelectOp)
        inner = op.condition.owner
        if isinstance(inner, LogicalNotOp) and inner.input.type == inner.result.type:
            rewriter.replace(op, SelectOp(inner.input, op.on_false, op.on_true))


SELECT_PATTERNS = (ElideDecidedSelect, SwapNegatedSelect)
