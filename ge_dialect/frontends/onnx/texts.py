"""Texts of a model are texts: ONNX's protobuf takes any bytes and hands them out as such."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

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
    found = {type(text) for text in _texts(model)}
    if not found <= _TEXT:
        raise GEError(
            "GE0202",
            f"'{where}' is not a valid ONNX model: it holds a name that is not UTF-8",
            hint="copy or export the file again",
        )


def _texts(model: onnx.ModelProto) -> Iterator[object]:
    yield from (model.producer_name, model.producer_version, model.domain)
    yield from (entry.domain for entry in model.opset_import)
    yield from _graph(model.graph)
    for function in model.functions:
        yield from (function.name, function.domain, *function.input, *function.output)
        yield from function.attribute
        yield from (entry.domain for entry in function.opset_import)
        yield from _nodes(function.node)


def _graph(graph: onnx.GraphProto) -> Iterator[object]:
    yield graph.name
    for tensor in graph.initializer:
        yield tensor.name
    for value in chain(graph.input, graph.output, graph.value_info):
        yield value.name
        yield from _dims(value.type)
    yield from _nodes(graph.node)


def _dims(type_: onnx.TypeProto) -> Iterator[object]:
    if type_.WhichOneof("value") == "tensor_type":
        yield from (dim.dim_param for dim in type_.tensor_type.shape.dim)


def _nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[object]:
    for node in nodes:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        for attribute in node.attribute:
            yield from (attribute.name, attribute.ref_attr_name)
            if attribute.HasField("g"):
                yield from _graph(attribute.g)
            for graph in attribute.graphs:
                yield from _graph(graph)
