"""Operators of ONNX Runtime's domain on images and on what diffusion models make of them.

Channels come last in most of them; those of `ge` come first, so that transposes go around them, and
cancel where two operators meet.

Source: ONNX Runtime, "Contrib operators" (docs/ContribOperators.md), the page of each operator.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.contrib import DOMAIN, activated, summed
from ge_dialect.frontends.onnx.convert.delegate import OPSET, apply
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converters, converts
from ge_dialect.ge.activations import GeluOp, SiluOp
from ge_dialect.ge.base import expect_min_rank, expect_rank
from ge_dialect.ge.binary import AddOp, MulOp
from ge_dialect.ge.channel_normalization import GroupNormOp
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.movement import TransposeOp
from ge_dialect.ge.types import element_type_of, value_shape


def channels_first(node: Node, x: SSAValue) -> SSAValue:
    """Returns `[N, ..., C]` as `[N, C, ...]`."""
    rank = len(expect_min_rank(x, 3, "X"))
    return node.emit(TransposeOp(x, (0, rank - 1, *range(1, rank - 1))))


def channels_last(node: Node, x: SSAValue) -> SSAValue:
    """Returns `[N, C, ...]` as `[N, ..., C]`."""
    return node.emit(TransposeOp(x, (0, *range(2, len(value_shape(x))), 1)))


def _convolved(node: Node, weight: SSAValue) -> SSAValue:
    """Returns a convolution of channels that come last, by a weight of ONNX's layout."""
    operands = (channels_first(node, node[0]), weight, node.optional(2))
    inner = replace(node, op_type="Conv", domain="", version=OPSET, operands=operands)
    return channels_last(node, converters()["Conv"](inner)[0])


@converts("NhwcConv", domain=DOMAIN)
def nhwc_conv(node: Node) -> SSAValue:
    """`NhwcConv`: the channels of image and weight come last."""
    return _convolved(node, channels_first(node, node[1]))


@converts("NhwcFusedConv", domain=DOMAIN)
def nhwc_fused_conv(node: Node) -> SSAValue:
    """`activation(conv(X, W, B) + Z)`; only the channels of images come last."""
    total = summed(node, (_convolved(node, node[1]), node.optional(3)))
    return activated(node, total, "activation_params")


@converts("NhwcMaxPool", domain=DOMAIN)
def nhwc_max_pool(node: Node) -> SSAValue:
    """`MaxPool` of channels that come last."""
    result = apply(node, "MaxPool", channels_first(node, node[0]), **node.attributes)
    return channels_last(node, result)


@converts("GroupNorm", domain=DOMAIN)
def group_norm(node: Node) -> SSAValue:
    """`GroupNorm`, with SiLU behind it or not."""
    return _grouped(node, node[0])


@converts("SkipGroupNorm", domain=DOMAIN)
def skip_group_norm(node: Node) -> list[SSAValue]:
    """`group_norm(X + skip + bias)`, and the sum as a second output."""
    parts = [node[0], _per_pixel(node, node[3])]
    if (bias := node.optional(4)) is not None:
        parts.append(_per_channel(node, bias))
    total = summed(node, parts)
    return [_grouped(node, total), total][: len(node.used)]


def _is_last(node: Node) -> bool:
    return node.get_flag("channels_last", True)


def _per_pixel(node: Node, skip: SSAValue) -> SSAValue:
    """Returns what is added to an image, where it may be one number a channel `[N, C]`."""
    if len(shape := value_shape(skip)) != 2:
        return skip
    ones = [1] * (len(node.shape()) - 2)
    return node.reshape(skip, (shape[0], *ones, shape[1]) if _is_last(node) else (*shape, *ones))


def _per_channel(node: Node, bias: SSAValue) -> SSAValue:
    """Returns `[C]` in a shape that is added to an image."""
    if _is_last(node):
        return bias
    (size,) = expect_rank(bias, 1, "bias")
    return node.reshape(bias, (size, *[1] * (len(node.shape()) - 2)))


def _grouped(node: Node, x: SSAValue) -> SSAValue:
    """Adds the norm, in the type of its parameters, and what follows it."""
    activation = node.get_int("activation", 0)
    if activation not in (0, 1):
        node.fail(f"expected 'activation' of 0 or 1, got {activation}")
    own, wide = element_type_of(x), node.element_type(1)
    if own != wide:
        x = node.emit(CastOp(x, wide))
    groups, epsilon = node.get_int("groups"), node.get_float("epsilon", 1e-5)
    first = channels_first(node, x) if _is_last(node) else x
    result = node.emit(GroupNormOp(first, node[1], node[2], num_groups=groups, epsilon=epsilon))
    result = channels_last(node, result) if _is_last(node) else result
    if activation:
        result = node.emit(SiluOp(result))
    return result if own == wide else node.emit(CastOp(result, own))


@converts("BiasAdd", domain=DOMAIN)
def bias_add(node: Node) -> SSAValue:
    """`X + bias + skip`."""
    return summed(node, (node[0], node[1], node[2]))


@converts("BiasSplitGelu", domain=DOMAIN)
def bias_split_gelu(node: Node) -> SSAValue:
    """`left * gelu(right)` of the halves of `X + bias`, by the error function."""
    left, right = halves(node, node.emit(AddOp(node[0], node[1])))
    return node.emit(MulOp(left, node.emit(GeluOp(right))))


def halves(node: Node, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Returns both halves of the last dimension, which must be known."""
    size = expect_min_rank(x, 1, "X")[-1]
    if not isinstance(size, int):
        raise OnHost("the size of its halves is not known")
    if size % 2:
        node.fail(f"expected an even last dimension, got {size}")
    ends = (0, size // 2, size)
    axis = node.builder.ints([-1])
    left, right = (
        apply(node, "Slice", x, node.builder.ints([start]), node.builder.ints([end]), axis)
        for start, end in pairwise(ends)
    )
    return left, right
