"""Texts of a model are texts: ONNX's protobuf takes any bytes and hands them out as such."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.rows import NodeRow, kinds_of, rows_of

_TEXT = {str}


@dataclass(frozen=True)
class DescribedValues:
    """The values of a graph whose types it says: a model repeats a few types, and comparing their
    bytes is quicker than looking into each.

    Attributes:
        all: The values.
        types: The type of each as bytes.
        by_type: One value of each type.
    """

    all: Sequence[onnx.ValueInfoProto]
    types: Sequence[bytes]
    by_type: Mapping[bytes, onnx.ValueInfoProto]


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
    if not set(map(type, _texts(model, nodes, values))) <= _TEXT:
        raise GEError(
            "GE0202",
            f"'{where}' is not a valid ONNX model: it holds a name that is not UTF-8",
            hint="copy or export the file again",
        )


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
    found += [value.name for value in values.all]
    for value in values.by_type.values():
        if value.type.WhichOneof("value") == "tensor_type":
            found += [dim.dim_param for dim in value.type.tensor_type.shape.dim]
    _add_nodes(nodes, found)


def values_of(graph: onnx.GraphProto) -> DescribedValues:
    """Returns the inputs and outputs of a graph and what it says of other values."""
    found = [*graph.input, *graph.output, *graph.value_info]
    types = [value.type.SerializeToString() for value in found]
    return DescribedValues(found, types, dict(zip(types, found, strict=True)))


def _add_nodes(nodes: Sequence[NodeRow], found: list[object]) -> None:
    found += [row.name for row in nodes]
    for row in nodes:
        found += row.inputs
        found += row.outputs
    for kind in kinds_of(nodes):
        found += (kind.op_type, kind.domain)
        for attribute in kind.attributes:
            found += (attribute.name, attribute.ref_attr_name)
        for graph in kind.bodies:
            _add_graph(graph, rows_of(graph.node), values_of(graph), found)
