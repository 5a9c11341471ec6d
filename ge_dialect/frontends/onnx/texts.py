"""Texts of a model are texts: ONNX's protobuf takes any bytes and hands them out as such."""

from __future__ import annotations

from collections.abc import Iterable

import onnx

from ge_dialect.diagnostics import GEError

_TEXT = {str}


def check_texts(model: onnx.ModelProto, where: str) -> None:
    """Checks that every name in a model is UTF-8.

    Args:
        model: As parsed.
        where: Its file, for the message.

    Raises:
        GEError: One is not (GE0202).
    """
    if not set(map(type, _texts(model))) <= _TEXT:
        raise GEError(
            "GE0202",
            f"'{where}' is not a valid ONNX model: it holds a name that is not UTF-8",
            hint="copy or export the file again",
        )


def _texts(model: onnx.ModelProto) -> list[object]:
    found: list[object] = [model.producer_name, model.producer_version, model.domain]
    found += [entry.domain for entry in model.opset_import]
    _add_graph(model.graph, found)
    for function in model.functions:
        found += (function.name, function.domain, *function.input, *function.output)
        found += function.attribute
        found += [entry.domain for entry in function.opset_import]
        _add_nodes(function.node, found)
    return found


def _add_graph(graph: onnx.GraphProto, found: list[object]) -> None:
    found.append(graph.name)
    found += [tensor.name for tensor in graph.initializer]
    values = (*graph.input, *graph.output, *graph.value_info)
    found += [value.name for value in values]
    for type_ in different_types(values):
        if type_.WhichOneof("value") == "tensor_type":
            found += [dim.dim_param for dim in type_.tensor_type.shape.dim]
    _add_nodes(graph.node, found)


def different_types(values: Iterable[onnx.ValueInfoProto]) -> Iterable[onnx.TypeProto]:
    """Returns the types of values, each once: a model repeats a few, and comparing their bytes is
    quicker than looking into each."""
    return {(type_ := value.type).SerializeToString(): type_ for value in values}.values()


def _add_nodes(nodes: Iterable[onnx.NodeProto], found: list[object]) -> None:
    for node in nodes:
        found += (node.name, node.op_type, node.domain)
        found += node.input
        found += node.output
        for attribute in node.attribute:
            found += (attribute.name, attribute.ref_attr_name)
            if attribute.HasField("g"):
                _add_graph(attribute.g, found)
            for graph in attribute.graphs:
                _add_graph(graph, found)
