"""Group norm out of an instance norm over groups, with a scale and a shift for each channel.

Source of the formula: Wu, He, "Group Normalization" (2018), equations 1 to 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.binary import AddOp, MulOp
from ge_dialect.ge.channel_normalization import GroupNormOp, InstanceNormOp
from ge_dialect.ge.constants import splat_constant
from ge_dialect.ge.elementwise import BinaryOp
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.types import Shape, element_type_of, show_shape, tensor_type, value_shape
from ge_dialect.passes.canonicalization.operands import uniform_value
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.heads import Chain
from ge_dialect.passes.raising.match import Found, Raise
from ge_dialect.passes.values import owner
from ge_dialect.remarks import ReasonClass


@dataclass
class FoundGroupNorm(Found):
    """A group norm of an input in a shape; a scale or bias that is absent is 1 or 0."""

    input: SSAValue
    shape: Shape
    scale: SSAValue | None
    bias: SSAValue | None
    groups: int
    epsilon: float

    def build(self) -> list[Operation]:
        chain = Chain()
        scale = self._per_channel(chain, self.scale, 1.0)
        bias = self._per_channel(chain, self.bias, 0.0)
        source = chain.reshape(self.input, self.shape)
        chain.add(GroupNormOp(source, scale, bias, num_groups=self.groups, epsilon=self.epsilon))
        return chain.ops

    def _per_channel(self, chain: Chain, value: SSAValue | None, default: float) -> SSAValue:
        channels = self.shape[1]
        if value is not None:
            return chain.reshape(value, (channels,))
        type_ = tensor_type(element_type_of(self.input), (channels,))
        return chain.add(splat_constant(default, type_))


class RaiseGroupNorm(Raise):
    """`reshape(instance_norm(reshape(x))) [* scale] [+ bias]` -> `group_norm(x)`.

    The inner reshape makes `[N, groups, *]`, the outer one `[N, C, ...]`, mostly the shape of `x`
    again; where it is another, `x` is reshaped to it. The instance norm has no scale and no bias
    of its own.
    """

    roots = (InstanceNormOp,)
    reads = (ReshapeOp,)
    composite: ClassVar = "group_norm"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, InstanceNormOp)
        before = owner(op.input, ReshapeOp)
        after = op.result.get_user_of_unique_use()
        if before is None or not isinstance(after, ReshapeOp):
            return None
        shape, grouped = value_shape(after.result), value_shape(op.input)
        if len(shape) < 2 or None in shape or grouped[0] != shape[0]:
            return None
        groups, channels = grouped[1], shape[1]
        if not isinstance(channels, int):
            return None
        if len(grouped) != 3 or not isinstance(groups, int) or channels % max(groups, 1):
            if value_shape(before.input) != shape:
                return None
            text = "the groups of 'ge.instance_norm' are no channels of its input"
            raise NearMissError(ReasonClass.SHAPE, text, show_shape(grouped), show_shape(shape))
        if uniform_value(op.scale) != 1 or uniform_value(op.bias) != 0:
            text = "'ge.instance_norm' over groups scales or shifts by itself"
            raise NearMissError(ReasonClass.CONST, text)
        ops: list[Operation] = [after, op, before]
        scale = _absorb(ops, MulOp, shape)
        bias = _absorb(ops, AddOp, shape)
        epsilon = op.epsilon.value.data
        return FoundGroupNorm(before.input, shape, scale, bias, groups, epsilon, ops=ops)


def _absorb(ops: list[Operation], op_class: type[BinaryOp], shape: Shape) -> SSAValue | None:
    """Returns what the only user of the first op multiplies or adds per channel; adds that user."""
    result = ops[0].results[0]
    use = result.get_user_of_unique_use()
    if not isinstance(use, op_class) or use.result.type != result.type:
        return None
    other = use.rhs if use.lhs is result else use.lhs
    padded = (*(1,) * (len(shape) - len(value_shape(other))), *value_shape(other))
    if padded != (1, shape[1], *(1,) * (len(shape) - 2)):
        return None
    ops.insert(0, use)
    return other
