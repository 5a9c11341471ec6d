"""Nodes of a graph with their texts read once: protobuf makes a text anew whenever it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import onnx


class NodeRow(NamedTuple):
    """A node and its texts.

    Attributes:
        node: The message.
        name: Of the node, empty where it has none.
        op_type: Of the node.
        domain: As it is written.
        inputs: Names, empty where an input is left out.
        outputs: Names, empty where nobody wants an output.
        attributes: Those of the node.
        bodies: The graphs in them.
    """

    node: onnx.NodeProto
    name: str
    op_type: str
    domain: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: Sequence[onnx.AttributeProto]
    bodies: Sequence[onnx.GraphProto]

    @property
    def known_as(self) -> str:
        """What the user knows the node by: its name, or that of its first output."""
        return self.name or next(filter(None, self.outputs), "")


def rows_of(nodes: Iterable[onnx.NodeProto]) -> list[NodeRow]:
    """Returns the nodes of a graph with their texts."""
    return [
        NodeRow(
            node,
            node.name,
            node.op_type,
            node.domain,
            node.input[:],
            node.output[:],
            attributes := node.attribute[:],
            [graph for one in attributes for graph in graphs_of(one)] if attributes else (),
        )
        for node in nodes
    ]


def graphs_of(attribute: onnx.AttributeProto) -> Sequence[onnx.GraphProto]:
    """Returns the graphs that an attribute holds: a body or branches."""
    many = attribute.graphs
    if attribute.HasField("g"):
        return (attribute.g, *many)
    return many
