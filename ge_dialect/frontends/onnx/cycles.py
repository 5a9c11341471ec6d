"""Finds a cycle among the nodes of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx


def find_cycle(nodes: Sequence[onnx.NodeProto]) -> list[int] | None:
    """Returns the positions of nodes that need each other in a circle, or None.

    A node needs what makes its inputs and what its subgraphs capture. Linear in nodes and edges.
    """
    producer = {name: i for i, node in enumerate(nodes) for name in node.output if name}
    needs = [_needs(node, producer) for node in nodes]
    waiting = [len(needed) for needed in needs]
    users: list[list[int]] = [[] for _ in nodes]
    for index, needed in enumerate(needs):
        for other in needed:
            users[other].append(index)
    ready = [index for index, count in enumerate(waiting) if count == 0]
    while ready:
        for user in users[ready.pop()]:
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    stuck = [index for index, count in enumerate(waiting) if count > 0]
    return _walk(stuck[0], needs, set(stuck)) if stuck else None


def _walk(start: int, needs: list[list[int]], stuck: set[int]) -> list[int]:
    """Follows needs among nodes that all wait for one another, until one comes again."""
    path: dict[int, int] = {}
    current = start
    while current not in path:
        path[current] = len(path)
        current = next(other for other in needs[current] if other in stuck)
    circle = list(path)[path[current] :][::-1]  # from what makes a value to what uses it
    first = circle.index(min(circle))
    return circle[first:] + circle[:first]


def _needs(node: onnx.NodeProto, producer: dict[str, int]) -> list[int]:
    return list(dict.fromkeys(producer[name] for name in _names(node) if name in producer))


def _names(node: onnx.NodeProto) -> list[str]:
    """Every name that a node, or a node within it, takes as an input."""
    names: list[str] = []
    pending = [node]
    while pending:
        current = pending.pop()
        names.extend(current.input)
        for attribute in current.attribute:
            graphs = [attribute.g] if attribute.HasField("g") else []
            for graph in (*graphs, *attribute.graphs):
                pending.extend(graph.node)
                names.extend(value.name for value in graph.output)
    return names
