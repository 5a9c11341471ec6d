"""Normalisations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge import channel_normalization, normalization
from ge_dialect.ge.base import expect_min_rank, float_attr, int_attr
from ge_dialect.ge.extents import known_product
from ge_dialect.ge.movement import BroadcastToOp
from ge_dialect.ge.structure import HostCallOp
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


@converts("SimplifiedLayerNormalization")
def simplified_layer_norm(node: Node) -> SSAValue:
    """RMS normalisation by the name that ONNX Runtime gives it in ONNX's own domain."""
    if node.is_used(1):
        raise OnHost("the deviation is used")
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
def batch_norm(node: Node) -> SSAValue | Sequence[SSAValue]:
    """`BatchNormalization` in inference; before opset 9 perhaps with numbers of each feature."""
    if node.version < 14 and _trains(node):
        return _old_training(node)
    if node.get_flag("training_mode") or any(node.used[1:]):
        raise OnHost("training")
    _one_type(node)
    shape, operands = node.shape(), [node[slot] for slot in range(5)]
    by_feature = node.version < 9 and not node.get_flag("spatial", True)
    if by_feature:
        operands = _joined_features(node, operands)
    epsilon = node.get_float("epsilon", 1e-5)
    result = node.emit(channel_normalization.BatchNormOp(*operands, epsilon=epsilon))
    return node.reshape(result, shape) if by_feature and len(shape) > 2 else result


def _trains(node: Node) -> bool:
    """Whether an old node trains: an attribute says so, later on the number of outputs."""
    return not node.get_flag("is_test") if node.version < 7 else any(node.used[1:])


def _old_training(node: Node) -> list[SSAValue]:
    """Adds a node of opset 14 that trains, whose three outputs the first three once were."""
    if node.version < 9 and not node.get_flag("spatial", True):
        node.fail("expected 'spatial' 1 in training, got 0")
    attrs = DictionaryAttr(
        {
            "epsilon": float_attr(node.get_float("epsilon", 1e-5)),
            "momentum": float_attr(node.get_float("momentum", 0.9)),
            "training_mode": int_attr(1),
        }
    )
    operands = [node[slot] for slot in range(5)]
    types = [operands[slot].type for slot in (0, 3, 4)]
    return node.emit_all(HostCallOp("ai.onnx::BatchNormalization", 14, operands, types, attrs))


def _joined_features(node: Node, operands: list[SSAValue]) -> list[SSAValue]:
    """Returns the operands with all dimensions but the first one joined: a feature is a channel."""
    shape = node.shape()
    for slot, value in enumerate(operands[1:], 1):
        if value_shape(value) != shape[1:]:
            node.fail(f"expected input {slot} of one number a feature, got {value.type}")
    if len(shape) < 3:
        return operands
    count = known_product(shape[1:])
    joined = [node.reshape(value, (count,)) for value in operands[1:]]
    return [node.reshape(operands[0], (shape[0], count)), *joined]


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
