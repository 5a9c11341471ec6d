"""Rules that are exact to the bit on every float, infinities, NaN and signed zeros included.

The sign and payload of a NaN are nobody's business. Most rules hold for integers as well.
"""

from __future__ import annotations

from math import inf, isinf
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.activations import ReluOp, SigmoidOp
from ge_dialect.ge.binary import AddOp, DivOp, MaximumOp, MinimumOp, MulOp, PowOp, SubOp
from ge_dialect.ge.constants import ConstantOp, array_constant, constant_scalar
from ge_dialect.ge.dtypes import is_integer
from ge_dialect.ge.elementwise import BinaryOp, CastOp, ClipOp, UnaryOp
from ge_dialect.ge.reductions import SoftmaxOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.ge.unary import (
    AbsOp,
    CeilOp,
    ExpOp,
    FloorOp,
    NegOp,
    ReciprocalOp,
    RoundOp,
    RsqrtOp,
    SqrtOp,
)
from ge_dialect.passes.algebra.common import (
    Simpler,
    Simplify,
    array_of,
    filled,
    number,
    of_floats,
    of_plain_floats,
    uniform,
)
from ge_dialect.passes.canonicalization.operands import is_uniform
from ge_dialect.passes.values import commuted, owner

if TYPE_CHECKING:
    import numpy.typing as npt


class SubtractForAddedNegation(Simplify):
    """`x + -y`, `-y + x` -> `x - y`."""

    roots = (AddOp,)
    reads = (NegOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, AddOp)
        for value, other in commuted(op):
            if (negation := owner(other, NegOp)) is not None:
                return [SubOp(value, negation.input)]
        return None


class AddForSubtractedNegation(Simplify):
    """`x - -y` -> `x + y`."""

    roots = (SubOp,)
    reads = (NegOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, SubOp)
        negation = owner(op.rhs, NegOp)
        return None if negation is None else [AddOp(op.lhs, negation.input)]


class DropNegatedPair(Simplify):
    """`-x * -y` -> `x * y`, `-x / -y` -> `x / y`, `|x| * |x|` -> `x * x`, `|-x|` -> `|x|`."""

    roots = (MulOp, DivOp, AbsOp)
    reads = (NegOp, AbsOp)

    def simplify(self, op: Operation) -> Simpler:
        if isinstance(op, AbsOp):
            inner = owner(op.input, NegOp)
            return None if inner is None else [AbsOp(inner.input)]
        assert isinstance(op, MulOp | DivOp)
        if isinstance(op, DivOp) and not of_floats(op.lhs):
            return None  # the least integer has no negation
        pair = owner(op.lhs, NegOp), owner(op.rhs, NegOp)
        if pair[0] is not None and pair[1] is not None:
            return [type(op)(pair[0].input, pair[1].input)]
        same = owner(op.lhs, AbsOp) if op.lhs is op.rhs and isinstance(op, MulOp) else None
        return None if same is None else [MulOp(same.input, same.input)]


class NegateForMinusOne(Simplify):
    """`x * -1`, `x / -1`, `-0.0 - x` -> `-x`; of integers `0 - x` as well."""

    roots = (MulOp, DivOp, SubOp)
    reads = (ConstantOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        if isinstance(op, SubOp):
            zero = -0.0 if of_floats(op.lhs) else 0
            return [NegOp(op.rhs)] if is_uniform(op.lhs, zero) else None
        return [NegOp(op.lhs)] if is_uniform(op.rhs, -1) else None


def powers_of_two(value: SSAValue) -> npt.NDArray[Any] | None:
    """Returns a constant of floats whose elements are all powers of two, of either sign."""
    import numpy as np

    array = array_of(value) if of_plain_floats(value) else None
    if array is None or not array.size:
        return None
    wide = array.astype(np.float64)
    alike = np.isfinite(wide) & (np.abs(np.frexp(wide)[0]) == 0.5)
    return wide if alike.all() else None


class MultiplyForPowerOfTwo(Simplify):
    """`x / c` -> `x * (1 / c)`, where every element of the constant c is a power of two.

    Exact, since 1 / c is a normal number of the type.
    """

    roots = (DivOp,)
    reads = (ConstantOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, DivOp)
        divisor, array = powers_of_two(op.rhs), array_of(op.rhs)
        if divisor is None or array is None:
            return None
        import ml_dtypes

        limits = cast(Any, ml_dtypes).finfo(array.dtype)
        inverse = 1 / divisor
        if (abs(inverse) < float(limits.tiny)).any() or (abs(inverse) > float(limits.max)).any():
            return None
        factor = array_constant(inverse.astype(array.dtype))
        return [factor, MulOp(op.lhs, factor)]


class MergePowersOfTwo(Simplify):
    """`(x * c) * d` -> `x * (c * d)`, where c and d are powers of two, none between -1 and 1.

    Exact: a product is only rounded where it overflows, and then both are infinite.
    """

    roots = (MulOp,)
    reads = (MulOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, MulOp)
        inner = owner(op.lhs, MulOp)
        if inner is None or not inner.result.has_one_use():
            return None
        if (first := powers_of_two(inner.rhs)) is None:
            return None
        second, array = powers_of_two(op.rhs), array_of(op.rhs)
        if second is None or array is None or first.size * second.size != 1:
            return None
        import ml_dtypes

        limits = cast(Any, ml_dtypes).finfo(array.dtype)
        factor = (first * second).reshape(array.shape)
        if min(abs(first.min()), abs(second.min())) < 1 or abs(factor.min()) > float(limits.max):
            return None
        merged = array_constant(factor.astype(array.dtype))
        return [merged, MulOp(inner.lhs, merged)]


def _no_limit(value: SSAValue, upper: bool) -> bool:
    """Whether a constant is the greatest of its type (or the least), so that it limits nothing."""
    import numpy as np

    found = uniform(value)
    if found is None or isinstance(found, bool):
        return False
    if of_floats(value):
        return found == (inf if upper else -inf)
    array = array_of(value)
    if array is None or array.dtype.kind not in "iu":
        return False
    limits = np.iinfo(array.dtype)
    return found == (limits.max if upper else limits.min)


class DropNeutralLimit(Simplify):
    """`max(x, -inf)`, `min(x, inf)` -> `x`; so with the least and the greatest integer."""

    roots = (MaximumOp, MinimumOp)
    reads = (ConstantOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        for value, other in commuted(op):
            if _no_limit(other, isinstance(op, MinimumOp)):
                return value
        return None


class DropNeutralBound(Simplify):
    """`clip(x, -inf, b)` -> `clip(x, b)`, `clip(x)` without bounds -> `x`."""

    roots = (ClipOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, ClipOp)
        low = None if op.min is None or _no_limit(op.min, upper=False) else op.min
        high = None if op.max is None or _no_limit(op.max, upper=True) else op.max
        if low is None and high is None:
            return op.input
        return None if (low, high) == (op.min, op.max) else [ClipOp(op.input, low, high)]


def _bounds(op: ClipOp) -> tuple[float, float] | None:
    """Returns the bounds of a clip where they are constants and the lower one is not above."""
    low = -inf if op.min is None else constant_scalar(op.min)
    high = inf if op.max is None else constant_scalar(op.max)
    if low is None or high is None or not low <= high:
        return None
    return float(low), float(high)


class MergeClips(Simplify):
    """`clip(clip(x, a, b), c, d)` -> `clip(x, clip(a, c, d), clip(b, c, d))`, of floats.

    For constants with `a <= b` and `c <= d`, among which there are not both zeros.
    """

    roots = (ClipOp,)
    reads = (ClipOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, ClipOp)
        inner = owner(op.input, ClipOp)
        if inner is None or not of_floats(op.input):
            return None
        first, second = _bounds(inner), _bounds(op)
        if first is None or second is None:
            return None
        zeros = {str(bound) for bound in (*first, *second) if bound == 0}
        if len(zeros) > 1:
            return None
        merged = [min(max(bound, second[0]), second[1]) for bound in first]
        if merged[0] == inf or merged[1] == -inf:
            return None
        limits = [None if isinf(bound) else number(bound, op.input) for bound in merged]
        constants = [limit for limit in limits if limit is not None]
        return [*constants, ClipOp(inner.input, *limits)]


class DropTrivialPower(Simplify):
    """`x ** 1` -> `x`, `x ** 0` -> 1, which holds for NaN as well."""

    roots = (PowOp,)
    reads = (ConstantOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, PowOp)
        match uniform(op.rhs):
            case 1:
                return op.lhs
            case 0:
                return filled(1, op.result)
            case _:
                return None


class ReciprocalForQuotient(Simplify):
    """`1 / x` -> `reciprocal(x)`."""

    roots = (DivOp,)
    reads = (ConstantOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, DivOp)
        matches = of_plain_floats(op.rhs) and is_uniform(op.lhs, 1)
        return [ReciprocalOp(op.rhs)] if matches else None


class RsqrtForReciprocal(Simplify):
    """`reciprocal(sqrt(x))` -> `rsqrt(x)`, of f32 and f64, where nobody else reads the root.

    In narrower types the root would be rounded once less.
    """

    roots = (ReciprocalOp,)
    reads = (SqrtOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, ReciprocalOp)
        root = owner(op.input, SqrtOp)
        wide = isinstance(element_type_of(op.input), Float32Type | Float64Type)
        if root is None or not wide or not root.result.has_one_use():
            return None
        return [RsqrtOp(root.input)]


class DropReluOfPositive(Simplify):
    """`relu(f(x))` -> `f(x)` with f one of `|x|`, exp, sigmoid, softmax, of floats."""

    roots = (ReluOp,)
    reads = (AbsOp, ExpOp, SigmoidOp, SoftmaxOp)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, ReluOp)
        positive = isinstance(op.input.owner, AbsOp | ExpOp | SigmoidOp | SoftmaxOp)
        return op.input if positive and of_floats(op.input) else None


class DropRounding(Simplify):
    """`round(f(x))` -> `f(x)`, where f gives whole numbers; so for floor and ceil."""

    roots = (RoundOp, FloorOp, CeilOp)
    reads = (RoundOp, FloorOp, CeilOp, CastOp)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, UnaryOp)
        inner = op.input.owner
        whole = isinstance(inner, RoundOp | FloorOp | CeilOp)
        if isinstance(inner, CastOp):
            whole = is_integer(element_type_of(inner.input))
        return op.input if whole else None


EXACT_RULES = (
    SubtractForAddedNegation,
    AddForSubtractedNegation,
    DropNegatedPair,
    NegateForMinusOne,
    MultiplyForPowerOfTwo,
    MergePowersOfTwo,
    DropNeutralLimit,
    DropNeutralBound,
    MergeClips,
    DropTrivialPower,
    ReciprocalForQuotient,
    RsqrtForReciprocal,
    DropReluOfPositive,
    DropRounding,
)
