"""The order of the nodes of a graph: brings them into one, and finds the cycle where there is none.

ONNX wants what makes a value before what uses it. Tools that add nodes at the end of a graph, such
as converters to half precision, leave that to whoever loads the model.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import onnx

from ge_dialect.frontends.onnx.rows import NodeRow, kinds_of, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def is_in_turn(graph: onnx.GraphProto, rows: Sequence[NodeRow]) -> bool:
    """Whether no node has a body, each value is defined once, and before it is used."""
    if any(kind.bodies for kind in kinds_of(rows)):
        return False
    defined = {"", *[value.name for value in graph.input]}
    defined.update([tensor.name for tensor in graph.initializer])
    given = len(defined)
    for row in rows:
        if not defined.issuperset(row.inputs):
            return False
        defined.update(row.outputs)
    made = [name for row in rows for name in row.outputs if name]
    used = [value.name for value in graph.output]
    return len(defined) == given + len(made) and defined.issuperset(used)


def in_order(graph: onnx.GraphProto | onnx.FunctionProto, rows: list[NodeRow]) -> list[NodeRow]:
    """Brings the nodes of a graph, and of bodies in it, into an order where values come first.

    A graph that is in order stays as it is, and so does one with a cycle. Of those that may come
    next, the one that is written first does.

    Args:
        graph: Is changed where its nodes are out of order.
        rows: Of its nodes.

    Returns:
        Those of the nodes as they are now.
    """
    for kind in kinds_of(rows):
        for body in kind.bodies:
            in_order(body, rows_of(body.node))
    if not _any_is_early(rows):
        return rows
    order, stuck, _ = _sorted(graph.node)
    if stuck:
        return rows
    nodes: list[onnx.NodeProto] = []
    for index in order:
        node = onnx.NodeProto()
        node.CopyFrom(graph.node[index])
        nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)
    return rows_of(graph.node)


def _any_is_early(rows: Sequence[NodeRow]) -> bool:
    """Whether a node uses what a later one, or it itself, makes."""
    later = {name for row in rows for name in row.outputs if name}
    for row in rows:
        if not later.isdisjoint(_names(row.node) if row.kind.bodies else row.inputs):
            return True
        later.difference_update(row.outputs)
    return False


def find_cycle(nodes: Sequence[onnx.NodeProto]) -> list[int] | None:
    """Returns the positions of nodes that need each other in a circle, or None.

    A node needs what makes its inputs and what its subgraphs capture. Linear in nodes and edges.
    """
    _, stuck, needs = _sorted(nodes)
    return _walk(stuck[0], needs, set(stuck)) if stuck else None


def _sorted(nodes: Sequence[onnx.NodeProto]) -> tuple[list[int], list[int], list[list[int]]]:
    """Returns positions in order, those that wait for one another, and which each node needs."""
    producer = {name: i for i, node in enumerate(nodes) for name in node.output if name}
    needs = [_needs(node, producer) for node in nodes]
    waiting = [len(needed) for needed in needs]
    users: list[list[int]] = [[] for _ in nodes]
    for index, needed in enumerate(needs):
        for other in needed:
            users[other].append(index)
    order: list[int] = []
    ready = [index for index, count in enumerate(waiting) if count == 0]
    while ready:
        order.append(heapq.heappop(ready))
        for user in users[order[-1]]:
            waiting[user] -= 1
            if waiting[user] == 0:
                heapq.heappush(ready, user)
    return order, [index for index, count in enumerate(waiting) if count > 0], needs


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
