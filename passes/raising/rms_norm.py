"""RMS norm out of square, mean, sum, root, quotient and scale.

Source of the formula: Zhang, Sennrich, "Root Mean Square Layer Normalization" (2019), equation 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.binary import DivOp, MulOp
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.normalization import LayerNormOp, RMSNormOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.passes.canonicalization.cast import keeps_every_value
from ge_dialect.passes.raising.match import Found, Raise
from ge_dialect.passes.raising.normalization import ROOTS, find_normalized, parameter_after
from ge_dialect.passes.values import owner


@dataclass
class FoundRMSNorm(Found):
    """An RMS norm, with or without scale."""

    input: SSAValue
    scale: SSAValue | None
    axis: int
    epsilon: float

    def build(self) -> list[Operation]:
        return [RMSNormOp(self.input, self.scale, axis=self.axis, epsilon=self.epsilon)]


class RaiseRMSNorm(Raise):
    """`x / sqrt(mean(x * x) + eps) [* scale]` -> `rms_norm(x)`.

    The quotient may be a product with a reciprocal, and operands may be swapped.
    """

    roots = (DivOp, MulOp)
    reads = ROOTS
    benefit = 3
    composite: ClassVar = "rms_norm"

    def find(self, op: Operation) -> Found | None:
        if (normal := find_normalized(op)) is None:
            return None
        ops, scale = normal.ops, None
        if (after := parameter_after(op, MulOp, normal.input, normal.axis)) is not None:
            scale = after[1]
            ops = [after[0], *ops]
        normal.note(type(self).__name__, op)
        return FoundRMSNorm(normal.input, scale, normal.axis, normal.epsilon, ops=ops)


@dataclass
class _Narrow(Found):
    """A norm without parameters between two casts."""

    input: SSAValue
    norm: LayerNormOp | RMSNormOp

    def build(self) -> list[Operation]:
        axis, epsilon = self.norm.axis.value.data, self.norm.epsilon.value.data
        return [type(self.norm)(self.input, axis=axis, epsilon=epsilon)]


class AbsorbCasts(Raise):
    """`cast(norm(cast(x)))` -> `norm(x)`, where `x` is narrower than f32 and the norm is in f32.

    Exact: the norm computes in f32 and rounds once, just as the casts do.
    """

    roots = (CastOp,)
    reads = (LayerNormOp, RMSNormOp)
    composite: ClassVar = "rms_norm"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, CastOp)
        norm = op.input.owner
        if not isinstance(norm, LayerNormOp | RMSNormOp) or len(norm.operands) != 1:
            return None
        widen = owner(norm.input, CastOp)
        if widen is None or widen.input.type != op.result.type:
            return None
        narrow, wide = element_type_of(widen.input), element_type_of(norm.input)
        if str(wide) != "f32" or not keeps_every_value(narrow, wide):
            return None
        return _Narrow(widen.input, norm, ops=[op, norm])
