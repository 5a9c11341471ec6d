"""Nodes that stand for others: what an operator is defined by, converted in its place."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.node import AttrValue, Node, converters

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
    return converters()[op_type](inner)[0]
