"""Softplus with a branch for large arguments, which rounding takes as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import Float64Type
from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.activations import SoftplusOp
from ge_dialect.ge.binary import GreaterOp
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.elementwise import SelectOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.match import Found, Raise
from ge_dialect.passes.values import owner
from ge_dialect.remarks import ReasonClass

LEAST_THRESHOLD = 16.0
"""From here on `log(1 + exp(x))` exceeds x by less than half a unit in the last place of f32."""


@dataclass
class _Softplus(Found):
    input: SSAValue

    def build(self) -> list[Operation]:
        return [SoftplusOp(self.input)]


class RaiseSoftplus(Raise):
    """`select(x > 20, x, softplus(x))` -> `softplus(x)`.

    Exact in f32 and narrower types, where the two differ by less than a rounding.
    """

    roots = (SelectOp,)
    reads = (SoftplusOp,)
    composite: ClassVar = "softplus"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, SelectOp)
        inner, test = owner(op.on_false, SoftplusOp), owner(op.condition, GreaterOp)
        if inner is None or test is None or not inner.input is op.on_true is test.lhs:
            return None
        threshold = constant_scalar(test.rhs)
        if threshold is None or not threshold >= LEAST_THRESHOLD:
            found = "a value" if threshold is None else float(threshold)
            text = "the threshold may be below where softplus is its argument"
            raise NearMissError(ReasonClass.CONST, text, found, LEAST_THRESHOLD)
        if isinstance(element_type := element_type_of(op.result), Float64Type):
            text = "softplus differs from its argument in this type"
            raise NearMissError(ReasonClass.DTYPE, text, str(element_type), "f32")
        if op.result.type != inner.result.type:
            return None
        return _Softplus(inner.input, ops=[op, test], feeders=[inner])
