"""What layer and RMS norms share: the root of a mean of squares, and what may follow it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import Operation, SSAValue

from ge_dialect import remarks
from ge_dialect.ge.base import float_attr
from ge_dialect.ge.binary import AddOp, DivOp, MulOp, PowOp
from ge_dialect.ge.constants import ConstantOp, constant_scalar
from ge_dialect.ge.elementwise import BinaryOp, UnaryOp
from ge_dialect.ge.normalization import LayerNormOp, RMSNormOp
from ge_dialect.ge.reductions import ReduceMeanOp
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.ge.types import element_type_of, value_shape
from ge_dialect.ge.unary import ReciprocalOp, RsqrtOp, SqrtOp
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.match import NAME, Found, Raise
from ge_dialect.passes.raising.variance import is_square_of, variance_of
from ge_dialect.passes.values import commuted, owner
from ge_dialect.remarks import ReasonClass

ROOTS = (SqrtOp, RsqrtOp, ReciprocalOp, DivOp, PowOp)
"""What may give one operand where the other one is divided by a root."""


@dataclass
class Normalized:
    """`input / sqrt(mean(input ** 2) + epsilon)`.

    Attributes:
        input: What is normalised.
        axis: The first of the dimensions that the mean is over.
        epsilon: Exactly as the graph has it.
        ops: The ops of the formula, the last first.
        cancels: Whether the mean of squares is spelled as a difference, which loses digits.
    """

    input: SSAValue
    axis: int
    epsilon: float
    ops: list[Operation]
    cancels: bool = False

    def note(self, rule: str, op: Operation) -> None:
        """Tells the user where the one op is more exact than the ops of the graph."""
        if self.cancels:
            text = "the variance is that of differences: mean(x * x) - mean(x) ** 2 loses digits"
            remarks.analysis(NAME, rule, op, text)


def find_normalized(op: Operation) -> Normalized | None:
    """Returns the normalisation whose result is that of `op`.

    Raises:
        NearMissError: It looks like one, and an attribute or a constant does not fit.
    """
    for value, root in _numerators(op):
        total, ops = root
        if value.type != op.results[0].type:
            continue
        for mean, epsilon, add in _sums(total):
            if (variance := variance_of(mean, value)) is not None:
                axis, ops = mean_axis(variance.mean.result), [op, *ops, *add, *variance.ops]
                return Normalized(value, axis, _exact_epsilon(epsilon), ops, cancels=True)
            if (squares := mean_input(mean)) is None or not is_square_of(squares, value):
                continue
            axis = mean_axis(mean)
            found = [op, *ops, *add, mean.owner, squares.owner]
            ops = [one for one in found if isinstance(one, Operation)]
            return Normalized(value, axis, _exact_epsilon(epsilon), ops)
    return None


def _sums(total: SSAValue) -> list[tuple[SSAValue, SSAValue | None, list[Operation]]]:
    """Returns what may be the mean and the epsilon of a sum, with the sum; no epsilon is 0, as
    exporters write one that they take for nothing."""
    if (add := owner(total, AddOp)) is None:
        return [(total, None, [])]
    return [(mean, epsilon, [add]) for mean, epsilon in commuted(add)]


_Root = tuple[SSAValue, list[Operation]]


def _numerators(op: Operation) -> list[tuple[SSAValue, _Root]]:
    """Returns x and y of `x / sqrt(y)` in any spelling, with the ops of the root."""
    if isinstance(op, DivOp):
        root = _power(op.rhs, SqrtOp, 0.5)
        return [] if root is None else [(op.lhs, root)]
    if not isinstance(op, MulOp):
        return []
    pairs = [(value, _inverse_root(other)) for value, other in commuted(op)]
    return [(value, root) for value, root in pairs if root is not None]


def _power(value: SSAValue, op_class: type[UnaryOp], exponent: float) -> _Root | None:
    """Returns x of a root of x, an op of its own or a power."""
    match value.owner:
        case UnaryOp() as op if isinstance(op, op_class):
            return op.input, [op]
        case PowOp() as op if constant_scalar(op.rhs) == exponent:
            return op.lhs, [op]
        case _:
            return None


def _inverse_root(value: SSAValue) -> _Root | None:
    if (found := _power(value, RsqrtOp, -0.5)) is not None:
        return found
    match value.owner:
        case ReciprocalOp() as op:
            below = op.input
        case DivOp() as op if constant_scalar(op.lhs) == 1:
            below = op.rhs
        case _:
            return None
    sqrt = _power(below, SqrtOp, 0.5)
    return None if sqrt is None else (sqrt[0], [op, *sqrt[1]])


def mean_input(value: SSAValue) -> SSAValue | None:
    """Returns what a mean is of, or None for what is no mean; its axes may be unknown."""
    match value.owner:
        case ReduceMeanOp() as op:
            return op.input
        case HostCallOp() as op if op.op_type == "ReduceMean":
            return op.arguments[0]
        case _:
            return None


def mean_axis(value: SSAValue) -> int:
    """Returns the first dimension of a mean over all dimensions from there on.

    Raises:
        NearMissError: The mean is over others, drops them, or its axes are no constants.
    """
    if (op := owner(value, ReduceMeanOp)) is None:
        raise NearMissError(ReasonClass.CONST, "'axes' is not a constant", "a value", "a constant")
    rank, axes = len(value_shape(op.input)), sorted(op.reduced_axes)
    if not axes or axes != list(range(axes[0], rank)):
        wanted = str(list(range(rank - max(len(axes), 1), rank)))
        raise NearMissError(
            ReasonClass.ATTR, "'axes' are not the last dimensions", str(axes), wanted
        )
    if not bool(op.keepdims):
        raise NearMissError(ReasonClass.ATTR, "'keepdims' of the mean is false", "false", "true")
    return axes[0]


def _exact_epsilon(value: SSAValue | None) -> float:
    if value is None:
        return 0.0
    epsilon = constant_scalar(value)
    if epsilon is None:
        raise NearMissError(
            ReasonClass.CONST, "'epsilon' is not a constant", "a value", "a constant"
        )
    rounded = float_attr(float(epsilon)).value.data
    if rounded != epsilon:
        raise NearMissError(ReasonClass.CONST, "'epsilon' is no f32", float(epsilon), rounded)
    if not epsilon >= 0:
        raise NearMissError(ReasonClass.CONST, "'epsilon' is negative", float(epsilon), "0 or more")
    return float(epsilon)


def is_parameter(value: SSAValue, input: SSAValue, axis: int) -> bool:
    """Whether a value scales or shifts features: it does not differ between rows.

    A value with a dimension for rows is something else, such as a residual, unless it is constant
    and that dimension is 1.
    """
    rank, shape = len(value_shape(input)), value_shape(value)
    if element_type_of(value) != element_type_of(input) or len(shape) > rank:
        return False
    rows = shape[: max(len(shape) - (rank - axis), 0)]
    return not rows or (isinstance(value.owner, ConstantOp) and all(dim == 1 for dim in rows))


def parameter_after(
    op: Operation, op_class: type[BinaryOp], input: SSAValue, axis: int
) -> tuple[BinaryOp, SSAValue] | None:
    """Returns the only user of `op` and its other operand, where that is a parameter."""
    result = op.results[0]
    use = result.get_user_of_unique_use()
    if not isinstance(use, op_class) or use.result.type != result.type:
        return None
    other = use.rhs if use.lhs is result else use.lhs
    return (use, other) if is_parameter(other, input, axis) else None


@dataclass
class _Absorbed(Found):
    """A norm and the scale or shift after it."""

    norm: LayerNormOp | RMSNormOp
    scale: SSAValue | None
    bias: SSAValue | None

    def build(self) -> list[Operation]:
        norm = self.norm
        axis, epsilon = norm.axis.value.data, norm.epsilon.value.data
        if isinstance(norm, RMSNormOp):
            return [RMSNormOp(norm.input, self.scale, axis=axis, epsilon=epsilon)]
        return [LayerNormOp(norm.input, self.scale, self.bias, axis=axis, epsilon=epsilon)]


def _norm_and_parameter(op: BinaryOp) -> tuple[LayerNormOp | RMSNormOp, SSAValue] | None:
    for value, parameter in commuted(op):
        norm = value.owner
        if isinstance(norm, LayerNormOp | RMSNormOp) and op.result.type == value.type:
            axis = norm.axis.value.data
            axis += len(value_shape(norm.input)) if axis < 0 else 0
            if is_parameter(parameter, norm.input, axis):
                return norm, parameter
    return None


def _expect_wide(value: SSAValue) -> None:
    """Refuses types in which the norm rounds before the parameter, and the one op does not."""
    element_type = element_type_of(value)
    if not isinstance(element_type, Float32Type | Float64Type):
        text = "the norm is rounded before the parameter"
        raise NearMissError(ReasonClass.DTYPE, text, str(element_type), "f32 or f64")


class AbsorbScale(Raise):
    """`mul(norm(x), scale)` -> `norm(x, scale)`."""

    roots = (MulOp,)
    reads = (LayerNormOp, RMSNormOp)
    composite: ClassVar = "affine"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, MulOp)
        if (match := _norm_and_parameter(op)) is None:
            return None
        norm, scale = match
        if norm.scale is not None or (isinstance(norm, LayerNormOp) and norm.bias is not None):
            return None
        _expect_wide(norm.input)
        return _Absorbed(norm, scale, None, ops=[op, norm])


class AbsorbBias(Raise):
    """`add(layer_norm(x, scale), bias)` -> `layer_norm(x, scale, bias)`."""

    roots = (AddOp,)
    reads = (LayerNormOp, RMSNormOp)
    composite: ClassVar = "affine"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, AddOp)
        if (match := _norm_and_parameter(op)) is None:
            return None
        norm, bias = match
        if not isinstance(norm, LayerNormOp) or norm.bias is not None:
            return None
        _expect_wide(norm.input)
        return _Absorbed(norm, norm.scale, bias, ops=[op, norm])
