"""GELU in both spellings, by the error function and by the hyperbolic tangent.

Source of the formulas: Hendrycks, Gimpel, "Gaussian Error Linear Units" (2016), section 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.activations import GeluOp, TanhOp
from ge_dialect.ge.binary import AddOp, MulOp
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.unary import ErfOp
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.match import (
    FACTORS,
    Found,
    Raise,
    near,
    product_of,
)
from ge_dialect.passes.values import commuted, owner
from ge_dialect.remarks import ReasonClass

_CUBIC = 0.044715


@dataclass
class FoundGelu(Found):
    """A GELU of `input`; `approximate` as the op has it."""

    input: SSAValue
    approximate: str

    def build(self) -> list[Operation]:
        return [GeluOp(self.input, self.approximate)]


def _one_plus(value: SSAValue) -> tuple[AddOp, ErfOp | TanhOp] | None:
    """Returns the ops of `1 + f(x)`."""
    if (add := owner(value, AddOp)) is None:
        return None
    for function, one in commuted(add):
        if isinstance(op := function.owner, ErfOp | TanhOp) and constant_scalar(one) == 1:
            return add, op
    return None


class RaiseGelu(Raise):
    """`0.5 * x * (1 + erf(x / sqrt(2)))`, and that with tanh -> `gelu(x)`.

    The three factors may be multiplied in any order.
    """

    roots = (MulOp,)
    reads = (AddOp, *FACTORS)
    composite: ClassVar = "gelu"

    def find(self, op: Operation) -> Found | None:
        product = product_of(op.results[0])
        if len(product.factors) != 2:
            return None
        for x, factor in (product.factors, product.factors[::-1]):
            parts = _one_plus(factor)
            if parts is None or x.type != op.results[0].type:
                continue
            if product.scalar == 1:  # the half comes outside of this product
                return None
            if not near(product.scalar, 0.5, x):
                text = "the factor of the product is not one half"
                raise NearMissError(ReasonClass.CONST, text, product.scalar, 0.5)
            add, function = parts
            inner = _erf_argument if isinstance(function, ErfOp) else _tanh_argument
            ops = [*product.ops, add, function, *inner(function.input, x)]
            mode = "none" if isinstance(function, ErfOp) else "tanh"
            return FoundGelu(x, mode, ops=ops)
        return None


def _erf_argument(value: SSAValue, x: SSAValue) -> list[Operation]:
    """Returns the ops of `x / sqrt(2)`.

    Raises:
        NearMissError: `value` is something else.
    """
    product = product_of(value)
    if product.factors != [x]:
        text = "the argument of 'ge.erf' is no multiple of the other factor"
        raise NearMissError(ReasonClass.CONST, text)
    if not near(product.scalar, math.sqrt(0.5), x):
        text = "the argument of 'ge.erf' has another factor"
        raise NearMissError(ReasonClass.CONST, text, product.scalar, math.sqrt(0.5))
    return product.ops


def _tanh_argument(value: SSAValue, x: SSAValue) -> list[Operation]:
    """Returns the ops of `sqrt(2 / pi) * (x + 0.044715 * x**3)`.

    Raises:
        NearMissError: `value` is something else.
    """
    product = product_of(value)
    text = "the argument of 'ge.tanh' is not that of GELU"
    rest = [one for one in product.factors if one is x]  # may be a sum itself, with a bias
    sums = [add for one in product.factors if (add := owner(one, AddOp)) and one is not x]
    if len(sums) != 1 or len(rest) + len(sums) != len(product.factors) or len(rest) > 1:
        raise NearMissError(ReasonClass.CONST, text)
    if not near(product.scalar, math.sqrt(2 / math.pi), x):
        raise NearMissError(ReasonClass.CONST, text, product.scalar, math.sqrt(2 / math.pi))
    for first, power in commuted(sums[0]):
        is_first = first is x if not rest else constant_scalar(first) == 1
        cubic = product_of(power)
        if is_first and cubic.factors == [x] * (3 - len(rest)):
            if not near(cubic.scalar, _CUBIC, x):
                raise NearMissError(ReasonClass.CONST, text, cubic.scalar, _CUBIC)
            return [*product.ops, sums[0], *cubic.ops]
    raise NearMissError(ReasonClass.CONST, text)
