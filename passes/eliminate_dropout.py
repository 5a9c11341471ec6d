"""`ge-eliminate-dropout`: a dropout that drops nothing is its input; its mask is all true.

Applies where the ratio is proved 0 or training is proved off; training stays.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect import remarks
from ge_dialect.ge.constants import ConstantOp, constant_scalar
from ge_dialect.ge.dropout import DropoutOp
from ge_dialect.ge.movement import BroadcastToOp
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.driver import Driver, Rewrite, can_stand_for

NAME = "ge-eliminate-dropout"


def inactive_reason(op: DropoutOp) -> str | None:
    """Says why a dropout drops nothing, or None where it may drop something."""
    if op.training_mode is None or constant_scalar(op.training_mode) is False:
        return "training is off"
    if op.ratio is not None and constant_scalar(op.ratio) == 0:
        return "ratio is 0"
    return None


class ElideInactiveDropout(Rewrite):
    """`dropout(x)` -> `x`, mask -> all true, where nothing is dropped."""

    roots = (DropoutOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, DropoutOp)
        if (reason := inactive_reason(op)) is None:
            self._remark(op)
            return
        if not can_stand_for(op.input, op.result):
            return
        remarks.passed(NAME, type(self).__name__, op, reason)
        mask = None
        if op.mask.first_use is not None:
            one = ConstantOp(_true())
            all_true = BroadcastToOp(one.result, value_shape(op.mask))
            rewriter.insert([one, all_true])
            mask = all_true.result
        rewriter.replace(op, (), [op.input, mask])

    def _remark(self, op: DropoutOp) -> None:
        ratio = None if op.ratio is None else constant_scalar(op.ratio)
        if op.ratio is not None and ratio is None:
            text, reason = "'ratio' is not a constant", remarks.ReasonClass.CONST
        else:
            text, reason = "training is on, or not proved off", remarks.ReasonClass.ATTR
        remarks.missed(
            NAME, type(self).__name__, op, text, reason=reason, found=str(ratio), wanted="0"
        )


def _true() -> Attribute:
    from xdsl.dialects.builtin import i1

    from ge_dialect.ge.constants import dense_from_bytes
    from ge_dialect.ge.types import tensor_type

    return dense_from_bytes(tensor_type(i1, ()), b"\xff")


@dataclass(frozen=True)
class EliminateDropoutPass(ModulePass):
    """Drops every dropout that is proved to drop nothing."""

    name = NAME
    exact = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Driver(NAME, [ElideInactiveDropout()]).run(op)
