"""Nodes of a graph, read once: each access to a field of a message takes as long as ten lines.

What a node says but for names is its kind: a model has thousands of nodes and some dozen kinds, and
what is asked of a kind is asked once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import onnx


_PLAIN = frozenset((1, 2, 3, 6, 7, 8))
"""Kinds of attributes that hold numbers or strings. Source: `AttributeProto.AttributeType`."""


@dataclass(frozen=True, eq=False, slots=True)
class NodeKind:
    """What nodes have in common that differ in names only.

    Nodes that hold tensors or graphs, which have names and places of their own, have kinds of their
    own.

    Attributes:
        op_type: Of the nodes.
        domain: As it is written.
        rest: These two, the overload, how many inputs there are, and which outputs are wanted.
        attributes: Those of the first of the nodes.
        bodies: The graphs in them.
        is_shared: Whether other nodes may be of this kind.
    """

    op_type: str
    domain: str
    rest: tuple[Hashable, ...]
    attributes: Sequence[onnx.AttributeProto]
    bodies: Sequence[onnx.GraphProto]
    is_shared: bool


class NodeRow(NamedTuple):
    """A node and its texts.

    Attributes:
        node: The message.
        name: Of the node, empty where it has none.
        inputs: Names, empty where an input is left out.
        outputs: Names, empty where nobody wants an output.
        kind: All else.
    """

    node: onnx.NodeProto
    name: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    kind: NodeKind

    @property
    def known_as(self) -> str:
        """What the user knows the node by: its name, or that of its first output."""
        return self.name or next(filter(None, self.outputs), "")


def rows_of(nodes: Iterable[onnx.NodeProto]) -> list[NodeRow]:
    """Returns the nodes of a graph with their texts."""
    nodes = list(nodes)
    inputs = [node.input[:] for node in nodes]
    outputs = [node.output[:] for node in nodes]
    kinds = _kinds_of(nodes, inputs, outputs)
    rows = zip(nodes, [node.name for node in nodes], inputs, outputs, kinds, strict=True)
    # As `starmap(NodeRow, rows)`, which takes two calls a row.
    return list(map(tuple[object, ...].__new__, repeat(NodeRow), rows))


def _kinds_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[Sequence[str]],
    outputs: Sequence[Sequence[str]],
) -> list[NodeKind]:
    """Returns the kind of each node, given the names of what it reads and makes."""
    attributes = [some and some[:] for some in [node.attribute for node in nodes]]
    written = [tuple(map(_plain_text, some)) if some else () for some in attributes]
    counts = map(len, inputs)
    wanted = [tuple(map(bool, names)) if "" in names else len(names) for names in outputs]
    called = [node.op_type for node in nodes], [node.domain for node in nodes]
    rests = zip(*called, [node.overload for node in nodes], counts, wanted, strict=True)
    known: dict[Hashable, NodeKind] = {}
    found: list[NodeKind] = []
    for key, some in zip(zip(rests, written, strict=True), attributes, strict=True):
        if (kind := known.get(key)) is None:
            rest, texts = key
            bodies = [graph for one in some for graph in graphs_of(one)]
            is_own = bool(bodies) or None in texts or any(map(holds_tensors, some))
            kind = NodeKind(rest[0], rest[1], rest, some, bodies, not is_own)
            if not is_own:
                known[key] = kind
        found.append(kind)
    return found


def _plain_text(attribute: onnx.AttributeProto) -> bytes | None:
    """Returns an attribute as bytes; None where it is none of numbers or strings."""
    return attribute.SerializeToString() if attribute.type in _PLAIN else None


def holds_tensors(attribute: onnx.AttributeProto) -> bool:
    """Whether an attribute holds tensors, those in its graphs not counted."""
    return attribute.HasField("t") or bool(attribute.tensors)


def graphs_of(attribute: onnx.AttributeProto) -> Sequence[onnx.GraphProto]:
    """Returns the graphs that an attribute holds: a body or branches."""
    many = attribute.graphs
    if attribute.HasField("g"):
        return (attribute.g, *many)
    return many


def kinds_of(rows: Iterable[NodeRow]) -> list[NodeKind]:
    """Returns the kinds that there are among nodes, in the order of their first nodes."""
    return list(dict.fromkeys([row.kind for row in rows]))
