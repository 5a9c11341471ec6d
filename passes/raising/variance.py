"""The variance as the mean of squares less the square of the mean, as Flax writes it.

In exact arithmetic it is the mean of `(x - mean(x)) ** 2`. Rounded it is the worse of the two: of
rows whose mean is far from 0 digits cancel, which is why a floor of 0 is part of the spelling.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.binary import MaximumOp, MulOp, PowOp, SubOp
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.reductions import ReduceMeanOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.passes.values import commuted, owner


@dataclass(frozen=True)
class Variance:
    """`mean(x * x) - mean(x) ** 2`.

    Attributes:
        mean: That of the squares.
        ops: All ops of the formula, the last first.
    """

    mean: ReduceMeanOp
    ops: list[Operation]


def is_square_of(squares: SSAValue, value: SSAValue) -> bool:
    """Whether a value is the square of another, a product or a power."""
    match squares.owner:
        case MulOp() as op:
            return op.lhs is value and op.rhs is value
        case PowOp() as op:
            return op.lhs is value and constant_scalar(op.rhs) == 2
        case _:
            return False


def variance_of(value: SSAValue, centred: SSAValue) -> Variance | None:
    """Returns how `value` is the variance of `x`, where `centred` is `x - mean(x)`; else None.

    Not in types narrower than f32, of which squares overflow where differences do not.
    """
    difference = owner(centred, SubOp)
    if difference is None or element_type_of(value) not in (f32, f64):
        return None
    x, centre = difference.lhs, owner(difference.rhs, ReduceMeanOp)
    ops: list[Operation] = []
    if (floor := owner(value, MaximumOp)) is not None:
        kept = [one for one, other in commuted(floor) if constant_scalar(other) == 0]
        if not kept or kept[0].type != value.type:
            return None
        ops.append(floor)
        value = kept[0]
    reduced = owner(value, SubOp)
    mean = None if reduced is None else owner(reduced.lhs, ReduceMeanOp)
    if reduced is None or mean is None or centre is None or centre.input is not x:
        return None
    alike = mean.result.type == centre.result.type and mean.reduced_axes == centre.reduced_axes
    if not alike or not is_square_of(mean.input, x) or not is_square_of(reduced.rhs, centre.result):
        return None
    found = [*ops, reduced, reduced.rhs.owner, mean, mean.input.owner]
    return Variance(mean, [op for op in found if isinstance(op, Operation)])
