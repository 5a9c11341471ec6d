"""Quantisation."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge import quantization
from ge_dialect.ge.dtypes import from_onnx, is_float
from ge_dialect.ge.types import element_type_of, num_elements, value_shape


@converts("QuantizeLinear")
def quantize_linear(node: Node) -> SSAValue:
    """`QuantizeLinear` of floats."""
    exotic = node.get_int("precision", 0) or not node.get_flag("saturate", True)
    if exotic or not is_float(node.element_type()) or not is_float(node.element_type(1)):
        raise OnHost("an exotic conversion")
    op = quantization.QuantizeLinearOp(
        node[0],
        node[1],
        _zero_point(node),
        axis=node.get_int("axis", 1),
        block_size=node.get_int("block_size", 0),
        element_type=_output_type(node),
    )
    op.refine_types()  # it was given its type, and has checked nothing yet
    return node.emit(op)


@converts("DequantizeLinear")
def dequantize_linear(node: Node) -> SSAValue:
    """`DequantizeLinear` to the type of the scale."""
    wanted = _output_type(node)
    if wanted not in (None, element_type_of(node[1])):
        raise OnHost("a result of another type than the scale")
    return node.emit(
        quantization.DequantizeLinearOp(
            node[0],
            node[1],
            _zero_point(node),
            axis=node.get_int("axis", 1),
            block_size=node.get_int("block_size", 0),
        )
    )


def _zero_point(node: Node) -> SSAValue | None:
    """Returns the zero point in the shape of the scale, where both are one number."""
    zero_point = node.optional(2)
    if zero_point is None or value_shape(zero_point) == node.shape(1):
        return zero_point
    if num_elements(zero_point.type) != 1 or num_elements(node[1].type) != 1:
        return zero_point
    return node.reshape(zero_point, node.shape(1))


def _output_type(node: Node) -> Attribute | None:
    """Returns the element type of `output_dtype`, or None where the node does not say one."""
    number = node.get_int("output_dtype", 0)
    return from_onnx(number) if number else None


@converts("DynamicQuantizeLinear")
def dynamic_quantize_linear(node: Node) -> list[SSAValue]:
    """`DynamicQuantizeLinear`."""
    return node.emit_all(quantization.DynamicQuantizeLinearOp(node[0]))
