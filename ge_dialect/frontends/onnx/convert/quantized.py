"""Operators on quantised tensors: integer contractions, and the scales applied to their sums."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.delegate import apply
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge import binary, integer_contractions
from ge_dialect.ge.dtypes import is_integer
from ge_dialect.ge.requantization import RequantizeOp
from ge_dialect.ge.types import Shape, num_elements, value_shape


@converts("QLinearMatMul")
def qlinear_matmul(node: Node) -> SSAValue:
    """`QLinearMatMul`: scales and zero points one for all, one a row of `a`, one a column of `b`.

    The sums times `a_scale * b_scale / y_scale`, rounded once, as ONNX's reference has it.
    """
    if not all(is_integer(node.element_type(slot)) for slot in (0, 3, 7)):
        raise OnHost("it works on narrow floats")
    sums = node.emit(integer_contractions.MatmulIntegerOp(node[0], node[3], node[2], node[5]))
    scale = multiplier(node, by_row(node, node[1]), scalar(node, node[4]), scalar(node, node[6]))
    return node.emit(RequantizeOp(sums, scale, scalar(node, node[7])))


@converts("QLinearConv")
def qlinear_conv(node: Node) -> SSAValue:
    """`QLinearConv`: the scale and zero point of the filter one for all, or one a result channel.

    The sums and the bias, which has the scale of the sums, times `x_scale * w_scale / y_scale`,
    rounded once.
    """
    sums = apply(node, "ConvInteger", node[0], node[3], node[2], node[5], **node.attributes)
    rank = len(value_shape(sums))
    if (bias := node.optional(8)) is not None:
        sums = node.emit(binary.AddOp(sums, by_channel(node, bias, rank)))
    filter_scale = by_channel(node, node[4], rank)
    scale = multiplier(node, scalar(node, node[1]), filter_scale, scalar(node, node[6]))
    return node.emit(RequantizeOp(sums, scale, scalar(node, node[7])))


def multiplier(
    node: Node, first: SSAValue, second: SSAValue, over: SSAValue | None = None
) -> SSAValue:
    """Adds `first * second / over`, in the type of the scales."""
    product = node.emit(binary.MulOp(first, second))
    return product if over is None else node.emit(binary.DivOp(product, over))


def scalar(node: Node, value: SSAValue) -> SSAValue:
    """Returns a scale or zero point of one element as a scalar, another one as it is."""
    if num_elements(value.type) == 1 and value_shape(value):
        return node.reshape(value, ())
    return value


def by_row(node: Node, value: SSAValue) -> SSAValue:
    """Returns numbers of the rows of a matrix in a shape that broadcasts to it."""
    value = scalar(node, value)
    shape = value_shape(value)
    return node.reshape(value, (*shape, 1)) if len(shape) == 1 else value


def by_channel(node: Node, value: SSAValue, rank: int) -> SSAValue:
    """Returns numbers of the channels of a tensor of `rank` in a shape that broadcasts to it."""
    value = scalar(node, value)
    shape: Shape = value_shape(value)
    return node.reshape(value, (*shape, *(1,) * (rank - 2))) if shape else value
