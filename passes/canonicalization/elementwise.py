"""Elementwise ops that are the identity, undo each other, or have their constant on the left.

Every rule is exact to the bit. `x + 0.0` is none: it makes -0.0 positive.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.activations import ReluOp
from ge_dialect.ge.binary import (
    AddOp,
    AndOp,
    BitwiseAndOp,
    BitwiseOrOp,
    BitwiseXorOp,
    DivOp,
    EqualOp,
    MaximumOp,
    MinimumOp,
    MulOp,
    OrOp,
    PowOp,
    SubOp,
    XorOp,
)
from ge_dialect.ge.constants import ConstantOp, constant_scalar
from ge_dialect.ge.dtypes import is_float
from ge_dialect.ge.elementwise import BinaryOp, SelectOp, UnaryOp
from ge_dialect.ge.movement import BroadcastToOp
from ge_dialect.ge.types import broadcast_shapes, element_type_of, value_shape
from ge_dialect.ge.unary import AbsOp, BitwiseNotOp, LogicalNotOp, NegOp
from ge_dialect.passes.canonicalization.groups import same_shape
from ge_dialect.passes.canonicalization.operands import is_constant, is_uniform
from ge_dialect.passes.driver import Rewrite


def is_neutral(op: BinaryOp) -> bool:
    """Whether the right operand of a binary op changes nothing, to the bit."""
    match op:
        case MulOp() | DivOp():
            return is_uniform(op.rhs, 1)
        case SubOp():
            return is_uniform(op.rhs, 0.0)
        case AddOp():
            return is_uniform(op.rhs, -0.0 if is_float(element_type_of(op.rhs)) else 0)
        case AndOp():
            return is_uniform(op.rhs, True)
        case OrOp() | XorOp():
            return is_uniform(op.rhs, False)
        case _:
            return False


class ElideNeutralOperand(Rewrite):
    """`x * 1`, `x / 1`, `x - 0`, `x + -0.0`, `x and true`, `x or false` -> `x`."""

    roots = (MulOp, DivOp, SubOp, AddOp, AndOp, OrOp, XorOp)
    reads = (ConstantOp,)
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, BinaryOp)
        if op.result.type == op.lhs.type and is_neutral(op):
            rewriter.replace(op, (), [op.lhs])


class ElideEqualOperands(Rewrite):
    """`max(x, x)`, `min(x, x)`, `x and x`, `x or x` -> `x`."""

    roots = (MaximumOp, MinimumOp, AndOp, OrOp, BitwiseAndOp, BitwiseOrOp)
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, BinaryOp)
        if op.lhs is op.rhs and op.result.type == op.lhs.type:
            rewriter.replace(op, (), [op.lhs])


class ElideInversePair(Rewrite):
    """`-(-x)`, `not not x` -> `x`."""

    roots = (NegOp, LogicalNotOp, BitwiseNotOp)
    reads = roots

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, UnaryOp)
        inner = op.input.owner
        # `not` of what is no truth value is a test, not an inverse.
        if not isinstance(inner, UnaryOp) or type(inner) is not type(op):
            return
        if inner.input.type == op.result.type:
            rewriter.replace(op, (), [inner.input])


class ElideRepetition(Rewrite):
    """`relu(relu(x))`, `abs(abs(x))` -> the inner one."""

    roots = (ReluOp, AbsOp)
    reads = roots

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, UnaryOp)
        if type(op.input.owner) is type(op):
            rewriter.replace(op, (), [op.input])


class PutConstantRight(Rewrite):
    """`constant + x` -> `x + constant`, and so for every op whose operands may be swapped.

    Not for `maximum` and `minimum`: which of 0.0 and -0.0 they give depends on the order.
    """

    roots = (AddOp, MulOp, AndOp, OrOp, XorOp, BitwiseAndOp, BitwiseOrOp, BitwiseXorOp, EqualOp)
    reads = (ConstantOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, BinaryOp)
        if is_constant(op.lhs) and not is_constant(op.rhs):
            rewriter.replace(op, type(op)(op.rhs, op.lhs))


class MultiplyForSquare(Rewrite):
    """`x ** 2` -> `x * x`: both are the square rounded once."""

    roots = (PowOp,)
    reads = (ConstantOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, PowOp)
        if constant_scalar(op.rhs) != 2 or op.result.type != op.lhs.type:
            return
        if is_float(element_type_of(op.lhs)) or isinstance(element_type_of(op.rhs), IntegerType):
            rewriter.replace(op, MulOp(op.lhs, op.lhs))


class AbsorbBroadcast(Rewrite):
    """`f(broadcast_to(x), y)` -> `f(x, y)`, where `f` broadcasts to the same shape by itself."""

    roots = (AddOp, SubOp, MulOp, DivOp, AndOp, OrOp, SelectOp)
    reads = (BroadcastToOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        operands = list(op.operands)
        for place, operand in enumerate(operands):
            if not isinstance(broadcast := operand.owner, BroadcastToOp):
                continue
            narrow: list[SSAValue] = [*operands[:place], broadcast.input, *operands[place + 1 :]]
            shape = broadcast_shapes([value_shape(value) for value in narrow])
            if same_shape(shape, value_shape(op.results[0])):
                op.operands[place] = broadcast.input
                rewriter.notify_op_modified(op)
                rewriter.notify_op_modified(broadcast)  # which may be dead now
                return


ELEMENTWISE_PATTERNS = (
    ElideNeutralOperand,
    ElideEqualOperands,
    ElideInversePair,
    ElideRepetition,
    PutConstantRight,
    MultiplyForSquare,
    AbsorbBroadcast,
)
