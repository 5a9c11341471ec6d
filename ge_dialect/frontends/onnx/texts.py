"""Texts of a model are texts: ONNX's protobuf takes any bytes and hands them out as such."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import onnx

from ge_dialect.frontends.onnx.described import DescribedValues, check_all_text, values_of
from ge_dialect.frontends.onnx.rows import NodeRow, kinds_of, rows_of


def check_texts(
    model: onnx.ModelProto, nodes: Sequence[NodeRow], values: DescribedValues, where: str
) -> None:
    """Checks that every name in a model is UTF-8.

    Args:
        model: As parsed.
        nodes: Of its graph.
        values: Of its graph.
        where: Its file, for the message.

    Raises:
        GEError: One is not (GE0202).
    """
    check_all_text(_texts(model, nodes, values), where)


def _texts(
    model: onnx.ModelProto, nodes: Sequence[NodeRow], values: DescribedValues
) -> list[object]:
    found: list[object] = [model.producer_name, model.producer_version, model.domain]
    found += [entry.domain for entry in model.opset_import]
    _add_graph(model.graph, nodes, values, found)
    for function in model.functions:
        found += (function.name, function.domain, *function.input, *function.output)
        found += function.attribute
        found += [entry.domain for entry in function.opset_import]
        _add_nodes(rows_of(function.node), found)
    return found


def _add_graph(
    graph: onnx.GraphProto, nodes: Sequence[NodeRow], values: DescribedValues, found: list[object]
) -> None:
    found.append(graph.name)
    found += [tensor.name for tensor in graph.initializer]
    found += values.texts()
    _add_nodes(nodes, found)


def _add_nodes(nodes: Sequence[NodeRow], found: list[object]) -> None:
    found += [row.name for row in nodes]
    found += chain.from_iterable([row.inputs for row in nodes])
    found += chain.from_iterable([row.outputs for row in nodes])
    for kind in kinds_of(nodes):
        found += (kind.op_type, kind.domain)
        for attribute in kind.attributes:
            found += (attribute.name, attribute.ref_attr_name)
        for graph in kind.bodies:
            _add_graph(graph, rows_of(graph.node), values_of(graph), found)
