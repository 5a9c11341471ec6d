"""Hard sigmoid and hard swish out of sum, clip, product and quotient.

Source of the formulas: the docstrings of `ge_dialect.ge.activations`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import Float16Type
from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.activations import HardSigmoidOp, HardSwishOp
from ge_dialect.ge.binary import AddOp, DivOp, MulOp
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.elementwise import ClipOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.match import (
    FACTORS,
    Found,
    Raise,
    near,
    product_of,
    scaled,
    with_scalar,
)
from ge_dialect.passes.values import owner
from ge_dialect.remarks import ReasonClass


@dataclass
class _HardSigmoid(Found):
    input: SSAValue
    alpha: float
    beta: float

    def build(self) -> list[Operation]:
        return [HardSigmoidOp(self.input, self.alpha, self.beta)]


@dataclass
class _HardSwish(Found):
    input: SSAValue

    def build(self) -> list[Operation]:
        return [HardSwishOp(self.input)]


@dataclass(frozen=True)
class _Ramp:
    """`clip(input * alpha + beta, 0, top)`; `ops` compute it, the last first."""

    input: SSAValue
    alpha: float
    beta: float
    top: float
    ops: list[Operation]


def _ramp(value: SSAValue) -> _Ramp | None:
    clip = owner(value, ClipOp)
    if clip is None or clip.min is None or clip.max is None or constant_scalar(clip.min) != 0:
        return None
    top, add = constant_scalar(clip.max), owner(clip.input, AddOp)
    shifted = None if add is None else with_scalar(add)
    if not top or top < 0 or shifted is None or add is None:
        return None
    input, beta = shifted
    part, ops = scaled(input), list[Operation]([clip, add])
    if part is not None and isinstance(factor := input.owner, Operation):
        return _Ramp(part[0], part[1], beta, float(top), [*ops, factor])
    return _Ramp(input, 1.0, beta, float(top), ops)


class RaiseHardSigmoid(Raise):
    """`clip(x * a + b, 0, 1)`, `clip(x + 3, 0, 6) / 6` -> `hard_sigmoid(x)`."""

    roots = (ClipOp, DivOp, MulOp)
    reads = (AddOp, ClipOp)
    composite: ClassVar = "hard_sigmoid"

    def find(self, op: Operation) -> Found | None:
        value, factor = op.results[0], 1.0
        ops: list[Operation] = []
        if not isinstance(op, ClipOp):
            if (part := scaled(value)) is None:
                return None
            (value, factor), ops = part, [op]
        ramp = _ramp(value)
        if ramp is None or ramp.input.type != op.results[0].type:
            return None
        if not near(ramp.top * factor, 1.0, value):
            return None
        alpha, beta = (_sixth(number * factor, value) for number in (ramp.alpha, ramp.beta))
        return _HardSigmoid(ramp.input, alpha, beta, ops=[*ops, *ramp.ops])


def _sixth(number: float, value: SSAValue) -> float:
    """Returns 1/6 and 1/2 where `number` is that but for its rounding."""
    return next((one for one in (1 / 6, 1 / 2) if near(number, one, value)), number)


class RaiseHardSwish(Raise):
    """`x * clip(x + 3, 0, 6) / 6` -> `hard_swish(x)`, factors in any order.

    Not in f16, where the product overflows before the quotient.
    """

    roots = (MulOp, DivOp)
    reads = (ClipOp, *FACTORS)
    benefit = 2
    composite: ClassVar = "hard_swish"

    def find(self, op: Operation) -> Found | None:
        product = product_of(op.results[0])
        if len(product.factors) != 2:
            return None
        for x, factor in (product.factors, product.factors[::-1]):
            ramp = _ramp(factor)
            if ramp is None or ramp.input is not x or (ramp.beta, ramp.top) != (3, 6):
                continue
            if product.scalar == 1 or x.type != op.results[0].type:  # the sixth comes outside
                return None
            if not near(product.scalar, 1 / 6, x) or ramp.alpha != 1:
                text = "the factor of the product is not one sixth"
                raise NearMissError(ReasonClass.CONST, text, product.scalar, 1 / 6)
            if isinstance(element_type := element_type_of(x), Float16Type):
                text = "the product overflows where a hard swish does not"
                raise NearMissError(ReasonClass.DTYPE, text, str(element_type), "f32")
            return _HardSwish(x, ops=[*product.ops, *ramp.ops])
        return None
