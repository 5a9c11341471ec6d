"""Quantisation."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge import quantization
from ge_dialect.ge.dtypes import dtype_of, from_onnx, is_float
from ge_dialect.ge.types import element_type_of, num_elements, value_shape


@converts("QuantizeLinear")
def quantize_linear(node: Node) -> SSAValue:
    """`QuantizeLinear`."""
    if not is_float(node.element_type(1)):
        raise OnHost("the scale is no float")
    wanted = _output_type(node)
    if (zero_point := _zero_point(node)) is not None:
        wanted = _agreed(node, wanted, element_type_of(zero_point))
    op = quantization.QuantizeLinearOp(
        node[0],
        node[1],
        zero_point,
        axis=node.get_int("axis", 1),
        block_size=node.get_int("block_size", 0),
        element_type=wanted,
        precision=_float_type(node, "precision"),
        unsaturated=_is_unsaturated(node, wanted),
    )
    op.refine_types()  # it was given its type, and has checked nothing yet
    return node.emit(op)


def _agreed(node: Node, wanted: Attribute | None, found: Attribute) -> Attribute:
    if wanted not in (None, found):
        node.fail(f"expected a zero point of {wanted}, as 'output_dtype' says, got {found}")
    return found


def _is_unsaturated(node: Node, element_type: Attribute | None) -> bool:
    """Whether the node turns saturation off, and has a result for which that means something."""
    if element_type is None or not is_float(element_type) or dtype_of(element_type).bits != 8:
        return False
    return not node.get_flag("saturate", True)


@converts("DequantizeLinear")
def dequantize_linear(node: Node) -> SSAValue:
    """`DequantizeLinear`."""
    return node.emit(
        quantization.DequantizeLinearOp(
            node[0],
            node[1],
            _zero_point(node),
            axis=node.get_int("axis", 1),
            block_size=node.get_int("block_size", 0),
            element_type=_float_type(node, "output_dtype"),
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
    return _type_attribute(node, "output_dtype")


def _float_type(node: Node, name: str) -> Attribute | None:
    found = _type_attribute(node, name)
    if found is not None and not is_float(found):
        node.fail(f"expected '{name}' to be a type of floats, got {found}")
    return found


def _type_attribute(node: Node, name: str) -> Attribute | None:
    """Returns the element type that an attribute names; None where it is absent or 0."""
    if not (number := node.get_int(name, 0)):
        return None
    if (found := from_onnx(number)) is None:
        raise OnHost(f"'{name}' is of a type that is not supported")
    return found


@converts("DynamicQuantizeLinear")
def dynamic_quantize_linear(node: Node) -> list[SSAValue]:
    """`DynamicQuantizeLinear`."""
    return node.emit_all(quantization.DynamicQuantizeLinearOp(node[0]))
