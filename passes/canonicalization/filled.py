"""Values of one element throughout whose sizes are symbols: a constant that is broadcast.

Of a static size they are constants, which folding and the rules about constants see to. Here they
keep one spelling, `broadcast_to` of a constant of rank 0, and what a constant decides they decide.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.base import GEOp, set_type
from ge_dialect.ge.binary import (
    AddOp,
    AndOp,
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
    MulOp,
    OrOp,
    SubOp,
)
from ge_dialect.ge.constants import ConstantOp, splat_constant
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TransposeOp
from ge_dialect.ge.pieces import SliceOp
from ge_dialect.ge.types import element_type_of, static_shape, tensor_type, value_shape
from ge_dialect.ge.unary import LogicalNotOp
from ge_dialect.interpreters.folding import evaluate_constant
from ge_dialect.passes.canonicalization.groups import is_known
from ge_dialect.passes.canonicalization.operands import uniform_value
from ge_dialect.passes.driver import Rewrite
from ge_dialect.passes.values import commuted, in_kernel


def filled_value(value: SSAValue) -> float | int | bool | None:
    """Returns what every element of a value is: of a constant, or of one that is broadcast to sizes
    that are symbols; else None."""
    owner = value.owner
    if isinstance(owner, BroadcastToOp) and is_symbolic(value):
        return uniform_value(owner.input)
    return uniform_value(value)


def is_symbolic(value: SSAValue) -> bool:
    """Whether every dimension is known, and some are expressions over symbols."""
    return static_shape(value.type) is None and is_known(value_shape(value))


def broadcast_number(number: float, like: SSAValue) -> list[GEOp]:
    """Returns ops that give a value of the type of another with one number throughout."""
    return _broadcast(_scalar(number, like), like)


def _scalar(number: float, like: SSAValue) -> ConstantOp:
    return splat_constant(number, tensor_type(element_type_of(like), ()))


def _broadcast(scalar: ConstantOp, like: SSAValue) -> list[GEOp]:
    return [scalar, BroadcastToOp(scalar.result, value_shape(like))]


class MoveFilled(Rewrite):
    """`reshape(broadcast_to(c))` -> `broadcast_to(c)`, and so for transposes and slices."""

    roots = (ReshapeOp, TransposeOp, SliceOp)
    reads = (BroadcastToOp,)
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        result = op.results[0]
        if not isinstance(op.operands[0].owner, BroadcastToOp) or not is_symbolic(result):
            return
        if (number := filled_value(op.operands[0])) is not None and not in_kernel(op):
            rewriter.replace(op, broadcast_number(number, result))


class EvaluateFilled(Rewrite):
    """`f(broadcast_to(c), d)` -> `broadcast_to(f(c, d))`, where all operands are constants but for
    their sizes."""

    roots = (
        AddOp,
        AndOp,
        CastOp,
        EqualOp,
        GreaterEqualOp,
        GreaterOp,
        LessEqualOp,
        LessOp,
        LogicalNotOp,
        MulOp,
        OrOp,
        SelectOp,
        SubOp,
    )
    reads = (BroadcastToOp, ConstantOp)
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        result = op.results[0]
        if not is_symbolic(result) or in_kernel(op):
            return
        numbers = [filled_value(operand) for operand in op.operands]
        known = [number for number in numbers if number is not None]
        if len(known) != len(numbers):
            return
        operands = list(op.operands)
        scalars = [_scalar(*one) for one in zip(known, operands, strict=True)]
        alone = op.clone(dict(zip(operands, [scalar.result for scalar in scalars], strict=True)))
        set_type(alone.results[0], tensor_type(element_type_of(result), ()))
        found = evaluate_constant(alone)
        if not isinstance(found, str):
            rewriter.replace(op, _broadcast(found[0], result))


class DecideByFilled(Rewrite):
    """`x and true`, `x or false` -> `x`; `x and false` -> false, `x or true` -> true."""

    roots = (AndOp, OrOp)
    reads = (BroadcastToOp, ConstantOp)
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, AndOp | OrOp)
        if not is_symbolic(op.result) or in_kernel(op):
            return
        for value, other in commuted(op):
            if (number := filled_value(other)) is None:
                continue
            if bool(number) is not isinstance(op, AndOp):
                rewriter.replace(op, broadcast_number(number, op.result))
            elif value.type == op.result.type:
                rewriter.replace(op, (), [value])
            else:
                rewriter.replace(op, BroadcastToOp(value, value_shape(op.result)))
            return


FILLED_PATTERNS = (MoveFilled, EvaluateFilled, DecideByFilled)
