"""Texts of a model are texts: ONNX's protobuf takes any bytes and hands them out as such."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import TypeAlias

import onnx

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.rows import NodeRow, rows_of

ValuesByType: TypeAlias = Collection[list[onnx.ValueInfoProto]]

_TEXT = {str}


def check_texts(
    model: onnx.ModelProto, nodes: Sequence[NodeRow], values: ValuesByType, where: str
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
    if not set(map(type, _texts(model, nodes, values))) <= _TEXT:
        raise GEError(
            "GE0202",
            f"'{where}' is not a valid ONNX model: it holds a name that is not UTF-8",
            hint="copy or export the file again",
        )


def _texts(model: onnx.ModelProto, nodes: Sequence[NodeRow], values: ValuesByType) -> list[object]:
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
    graph: onnx.GraphProto, nodes: Sequence[NodeRow], values: ValuesByType, found: list[object]
) -> None:
    found.append(graph.name)
    found += [tensor.name for tensor in graph.initializer]
    for alike in values:
        found += [value.name for value in alike]
        value = alike[0]
        if value.type.WhichOneof("value") == "tensor_type":
            found += [dim.dim_param for dim in value.type.tensor_type.shape.dim]
    _add_nodes(nodes, found)


def values_of(graph: onnx.GraphProto) -> ValuesByType:
    """Returns the inputs and outputs of a graph and what it says of other values, those of one type
    together: a model repeats a few types, and comparing their bytes is quicker than looking into
    each."""
    found: dict[bytes, list[onnx.ValueInfoProto]] = {}
    for value in chain(graph.input, graph.output, graph.value_info):
        found.setdefault(value.type.SerializeToString(), []).append(value)
    return found.values()


def _add_nodes(nodes: Sequence[NodeRow], found: list[object]) -> None:
    for row in nodes:
        found += (row.name, row.op_type, row.domain)
        found += row.inputs
        found += row.outputs
        for attribute in row.attributes:
            found += (attribute.name, attribute.ref_attr_name)
        for graph in row.bodies:
            _add_graph(graph, rows_of(graph.node), values_of(graph), found)
