"""Normalisations."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge import channel_normalization, normalization
from ge_dialect.ge.base import expect_min_rank
from ge_dialect.ge.movement import BroadcastToOp
from ge_dialect.ge.types import value_shape


def _one_type(node: Node) -> None:
    """Sees to it that all operands have one element type, as the ops of `ge` want it."""
    types = [node.element_type(slot) for slot, v in enumerate(node.operands) if v is not None]
    if any(type_ != types[0] for type_ in types):
        raise OnHost("operands of several element types")


@converts("LayerNormalization")
def layer_norm(node: Node) -> SSAValue:
    """`LayerNormalization` whose mean and deviation nobody wants."""
    if node.is_used(1) or node.is_used(2):
        raise OnHost("mean or deviation is used")
    _one_type(node)
    return node.emit(
        normalization.LayerNormOp(
            node[0],
            node[1],
            node.optional(2),
            axis=node.get_int("axis", -1),
            epsilon=node.get_float("epsilon", 1e-5),
        )
    )


@converts("RMSNormalization")
def rms_norm(node: Node) -> SSAValue:
    """`RMSNormalization`."""
    _one_type(node)
    axis, epsilon = node.get_int("axis", -1), node.get_float("epsilon", 1e-5)
    return node.emit(normalization.RMSNormOp(node[0], node[1], axis=axis, epsilon=epsilon))


@converts("GroupNormalization")
def group_norm(node: Node) -> SSAValue:
    """`GroupNormalization`; before opset 21 scale and bias are those of groups, not of channels."""
    _one_type(node)
    groups = node.get_int("num_groups")
    scale, bias = node[1], node[2]
    if node.version < 21:
        scale, bias = (_per_channel(node, value, groups) for value in (scale, bias))
    return node.emit(
        channel_normalization.GroupNormOp(
            node[0],
            scale,
            bias,
            num_groups=groups,
            epsilon=node.get_float("epsilon", 1e-5),
        )
    )


def _per_channel(node: Node, value: SSAValue, groups: int) -> SSAValue:
    """Returns numbers of groups, each repeated for the channels of its group."""
    channels = expect_min_rank(node[0], 2, "X")[1]
    if not isinstance(channels, int) or groups < 1:
        raise OnHost("the number of channels is not known")
    if value_shape(value) == (channels,) and channels != groups:
        return value  # some exporters give them for channels already
    repeated = BroadcastToOp(node.reshape(value, (groups, 1)), (groups, channels // groups))
    return node.reshape(node.emit(repeated), (channels,))


@converts("InstanceNormalization")
def instance_norm(node: Node) -> SSAValue:
    """`InstanceNormalization`."""
    epsilon = node.get_float("epsilon", 1e-5)
    return node.emit(
        channel_normalization.InstanceNormOp(node[0], node[1], node[2], epsilon=epsilon)
    )


@converts("BatchNormalization")
def batch_norm(node: Node) -> SSAValue:
    """`BatchNormalization` in inference."""
    if node.get_flag("training_mode") or any(node.used[1:]):
        raise OnHost("training")
    _one_type(node)
    return node.emit(
        channel_normalization.BatchNormOp(
            node[0],
            node[1],
            node[2],
            node[3],
            node[4],
            epsilon=node.get_float("epsilon", 1e-5),
        )
    )


@converts("LpNormalization")
def lp_norm(node: Node) -> SSAValue:
    """`LpNormalization`."""
    axis, power = node.get_int("axis", -1), node.get_int("p", 2)
    return node.emit(normalization.LpNormOp(node[0], axis=axis, p=power))


@converts("LRN")
def lrn(node: Node) -> SSAValue:
    """`LRN`."""
    return node.emit(
        normalization.LRNOp(
            node[0],
            size=node.get_int("size"),
            alpha=node.get_float("alpha", 1e-4),
            beta=node.get_float("beta", 0.75),
            bias=node.get_float("bias", 1.0),
        )
    )
