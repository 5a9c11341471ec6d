"""Rules that round elsewhere: constants and quotients put together, sums factored out."""

from __future__ import annotations

from math import isfinite

from xdsl.dialects.builtin import BFloat16Type, Float16Type
from xdsl.ir import Operation

from ge_dialect.ge.binary import (
    AddOp,
    DivOp,
    MulOp,
    PowOp,
    SubOp,
)
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.elementwise import BinaryOp
from ge_dialect.ge.reductions import ReduceSumOp, SoftmaxOp
from ge_dialect.ge.types import element_type_of, value_shape
from ge_dialect.ge.unary import ReciprocalOp, RsqrtOp, SqrtOp
from ge_dialect.passes.algebra.common import (
    CONTRACT,
    NO_INFS,
    NO_NANS,
    NO_SIGNED_ZEROS,
    REASSOCIATE,
    RECIPROCAL,
    Simpler,
    Simplify,
    filled,
    number,
    of_plain_floats,
    uniform,
)
from ge_dialect.passes.values import commuted, owner


class MergeConstantTerms(Simplify):
    """`(x + c) - d` -> `x + (c - d)`, and so for every mix of sums and differences, of floats."""

    roots = (AddOp, SubOp)
    reads = (AddOp, SubOp)
    flags = (REASSOCIATE,)
    integers = False

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        inner, second = op.lhs.owner, uniform(op.rhs)
        if not isinstance(inner, AddOp | SubOp) or not op.lhs.has_one_use() or second is None:
            return None
        if (first := uniform(inner.rhs)) is None or not of_plain_floats(op.lhs):
            return None
        signs = [-1 if isinstance(one, SubOp) else 1 for one in (inner, op)]
        term = signs[0] * first + signs[1] * second
        if not isfinite(term):
            return None
        constant = number(term, op.lhs)
        return [constant, AddOp(inner.lhs, constant)]


class MergeConstantFactors(Simplify):
    """`(x * c) / d` -> `x * (c / d)`, and so for every mix of products and quotients, of floats."""

    roots = (MulOp, DivOp)
    reads = (MulOp, DivOp)
    flags = (REASSOCIATE,)
    integers = False

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        inner, second = op.lhs.owner, uniform(op.rhs)
        if not isinstance(inner, MulOp | DivOp) or not op.lhs.has_one_use() or not second:
            return None
        if not (first := uniform(inner.rhs)) or not of_plain_floats(op.lhs):
            return None
        factor = 1 / first if isinstance(inner, DivOp) else first
        factor = factor / second if isinstance(op, DivOp) else factor * second
        constant = number(factor, op.lhs)
        rounded = uniform(constant.result)
        if not rounded or not isfinite(rounded):
            constant.erase()
            return None
        return [constant, MulOp(inner.lhs, constant)]


class FactorOut(Simplify):
    """`x * y + x * z` -> `x * (y + z)`, where nobody else reads the products."""

    roots = (AddOp, SubOp)
    reads = (MulOp,)
    flags = (REASSOCIATE, NO_NANS, NO_INFS)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, AddOp | SubOp)
        first, second = owner(op.lhs, MulOp), owner(op.rhs, MulOp)
        if first is None or second is None or first is second:
            return None
        if not first.result.has_one_use() or not second.result.has_one_use():
            return None
        for shared, rest in commuted(first):
            for other, last in commuted(second):
                if shared is other:
                    inner = type(op)(rest, last)
                    return [inner, MulOp(shared, inner)]
        return None


class SumOfSoftmax(Simplify):
    """`reduce_sum(softmax(x))` along the axis of the softmax -> 1."""

    roots = (ReduceSumOp,)
    reads = (SoftmaxOp,)
    flags = (REASSOCIATE, NO_NANS)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, ReduceSumOp)
        inner = owner(op.input, SoftmaxOp)
        if inner is None:
            return None
        axis = inner.axis.value.data % len(value_shape(inner.input))
        return filled(1, op.result) if op.reduced_axes == (axis,) else None


class MultiplyByReciprocal(Simplify):
    """`x / c` -> `x * (1 / c)`, for a constant c."""

    roots = (DivOp,)
    reads = (ConstantOp,)
    flags = (RECIPROCAL,)
    integers = False

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, DivOp)
        divisor = uniform(op.rhs) if of_plain_floats(op.rhs) else None
        if not divisor or not isfinite(divisor):
            return None
        constant = number(1 / divisor, op.rhs)
        rounded = uniform(constant.result)
        if not rounded or not isfinite(rounded):
            constant.erase()
            return None
        return [constant, MulOp(op.lhs, constant)]


class DivideForReciprocal(Simplify):
    """`x * reciprocal(y)` -> `x / y`, where nobody else reads the reciprocal."""

    roots = (MulOp,)
    reads = (ReciprocalOp,)
    flags = (RECIPROCAL,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, MulOp)
        for value, other in commuted(op):
            inner = owner(other, ReciprocalOp)
            if inner is not None and inner.result.has_one_use():
                return [DivOp(value, inner.input)]
        return None


class MultiplyByRsqrt(Simplify):
    """`x / sqrt(y)` -> `x * rsqrt(y)`, `reciprocal(sqrt(y))` -> `rsqrt(y)`."""

    roots = (DivOp, ReciprocalOp)
    reads = (SqrtOp,)
    flags = (RECIPROCAL,)

    def simplify(self, op: Operation) -> Simpler:
        root = owner(op.operands[-1], SqrtOp)
        if root is None or not root.result.has_one_use():
            return None
        inverse = RsqrtOp(root.input)
        return [inverse, MulOp(op.lhs, inverse)] if isinstance(op, DivOp) else [inverse]


class CancelReciprocals(Simplify):
    """`reciprocal(reciprocal(x))` -> `x`."""

    roots = (ReciprocalOp,)
    reads = (ReciprocalOp,)
    flags = (RECIPROCAL, NO_INFS)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, ReciprocalOp)
        inner = owner(op.input, ReciprocalOp)
        return None if inner is None else inner.input


class RootForPower(Simplify):
    """`x ** 0.5` -> `sqrt(x)`."""

    roots = (PowOp,)
    reads = (ConstantOp,)
    flags = (REASSOCIATE, NO_INFS, NO_SIGNED_ZEROS)
    integers = False

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, PowOp)
        matches = of_plain_floats(op.lhs) and uniform(op.rhs) == 0.5
        return [SqrtOp(op.lhs)] if matches else None


class ContractMatmulAdd(Simplify):
    """`matmul(a, b) + c` -> `gemm(a, b, c)` of f16 and bf16, which rounds once.

    For matrices, where c does not make the sum larger and nobody else reads the product.
    """

    roots = (AddOp,)
    reads = (MatmulOp,)
    flags = (CONTRACT,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, AddOp)
        for value, other in commuted(op):
            product = owner(value, MatmulOp)
            if product is None or not value.has_one_use() or value.type != op.result.type:
                continue
            narrow = isinstance(element_type_of(value), Float16Type | BFloat16Type)
            ranks = [len(value_shape(operand)) for operand in product.operands]
            if narrow and ranks == [2, 2] and len(value_shape(other)) <= 2:
                return [GemmOp(product.lhs, product.rhs, other)]
        return None


FAST_RULES = (
    MergeConstantTerms,
    MergeConstantFactors,
    FactorOut,
    SumOfSoftmax,
    MultiplyByReciprocal,
    DivideForReciprocal,
    MultiplyByRsqrt,
    CancelReciprocals,
    RootForPower,
    ContractMatmulAdd,
)
