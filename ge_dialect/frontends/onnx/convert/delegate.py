"""Nodes that stand for others: what an operator is defined by, converted in its place."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.node import AttrValue, Node, OnHost, converters
from ge_dialect.ge.types import MaybeDim, value_shape

OPSET = 21
"""The operator set whose operators a node of another domain is expressed in."""


def apply(
    node: Node, op_type: str, *operands: SSAValue | None, **attributes: AttrValue
) -> SSAValue:
    """Adds what an ONNX operator of one result becomes in the place of `node`; returns the result.

    Args:
        node: Says where ops go, and which node a message names.
        op_type: Of ONNX's own domain: of the operator set of `node` where that is ONNX's too,
            else of `OPSET`.
        operands: One an input slot.
        attributes: Of `op_type`.

    Raises:
        OnHost: The operator has no op of `ge` as it stands.
    """
    version = node.version if node.domain == "" else OPSET
    inner = replace(
        node,
        op_type=op_type,
        domain="",
        version=version,
        operands=operands,
        attributes=attributes,
        used=(True,),
    )
    try:
        return converters()[op_type](inner)[0]
    except OnHost as refusal:  # its types are those of another operator
        raise OnHost(f"{op_type}: {refusal}") from refusal


def positions(node: Node, value: SSAValue, axis: int) -> SSAValue:
    """Returns the numbers from 0 on of the places along a dimension, in i64."""
    size: MaybeDim = value_shape(value)[axis]
    if isinstance(size, int):
        return node.builder.ints(range(size))
    length = length_of(node, value, axis)
    return apply(node, "Range", node.builder.ints(0), length, node.builder.ints(1))


def length_of(node: Node, value: SSAValue, axis: int) -> SSAValue:
    """Returns the size of a dimension as a scalar of i64."""
    if isinstance(size := value_shape(value)[axis], int):
        return node.builder.ints(size)
    return apply(node, "Squeeze", apply(node, "Shape", value, start=axis, end=axis + 1))
