"""Layer norm out of nine ops: mean, difference, square, mean, sum, root, quotient, scale, shift.

Source of the formula: Ba, Kiros, Hinton, "Layer Normalization" (2016), equations 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.binary import AddOp, DivOp, MulOp, SubOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.match import Found, Raise
from ge_dialect.passes.raising.normalization import (
    ROOTS,
    find_normalized,
    mean_axis,
    mean_input,
    parameter_after,
)
from ge_dialect.passes.values import owner
from ge_dialect.remarks import ReasonClass


@dataclass
class FoundLayerNorm(Found):
    """A layer norm, with or without scale and bias."""

    input: SSAValue
    scale: SSAValue | None
    bias: SSAValue | None
    axis: int
    epsilon: float

    def build(self) -> list[Operation]:
        return [
            LayerNormOp(self.input, self.scale, self.bias, axis=self.axis, epsilon=self.epsilon)
        ]


class RaiseLayerNorm(Raise):
    """`d / sqrt(mean(d * d) + eps) [* scale] [+ bias]` with `d = x - mean(x)` -> `layer_norm(x)`.

    The quotient may be a product with a reciprocal, and operands may be swapped; the mean of
    squares may be `max(mean(x * x) - mean(x) ** 2, 0)`, in f32 and f64. Types narrower
    than f32 are raised as well: the nine ops round nine times, the one op once.
    """

    roots = (DivOp, MulOp)
    reads = ROOTS
    benefit = 4
    composite: ClassVar = "layer_norm"

    def find(self, op: Operation) -> Found | None:
        if (normal := find_normalized(op)) is None:
            return None
        difference = owner(normal.input, SubOp)
        if difference is None or mean_input(difference.rhs) is not difference.lhs:
            return None
        axis = mean_axis(difference.rhs)
        if axis != normal.axis:
            text = "'axes' of the means differ"
            raise NearMissError(ReasonClass.ATTR, text, f"from {axis}", f"from {normal.axis}")
        mean = difference.rhs.owner
        assert isinstance(mean, Operation)
        ops = [*normal.ops, difference, mean]
        x, scale, bias = difference.lhs, None, None
        if (after := parameter_after(ops[0], MulOp, x, axis)) is not None:
            scale = after[1]
            ops.insert(0, after[0])
        if (after := parameter_after(ops[0], AddOp, x, axis)) is not None:
            bias = after[1]
            ops.insert(0, after[0])
        normal.note(type(self).__name__, op)
        return FoundLayerNorm(x, scale, bias, axis, normal.epsilon, ops=ops)
