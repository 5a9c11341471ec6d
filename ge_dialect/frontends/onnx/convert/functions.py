"""Operators with bodies that ONNX itself defines by a function of simpler operators."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import onnx
import onnx.defs
from google.protobuf.message import DecodeError
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.node import Node
from ge_dialect.frontends.onnx.normalize import normalize_body
from ge_dialect.frontends.onnx.validate import has_subgraphs, subgraphs
from ge_dialect.ge.host import callee_of
from ge_dialect.ge.onnx_types import to_type_proto

if TYPE_CHECKING:
    from ge_dialect.frontends.onnx.importer import Importer, Scope

_ALWAYS = ("ai.onnx.preview::FlexAttention",)
"""Operators to expand even without bodies: what they are made of, `ge` compiles and fuses."""

_FOREIGN = re.compile(r"\W", re.ASCII)


def is_expanded(proto: onnx.NodeProto) -> bool:
    """Whether a node is imported as the nodes of the function that defines it."""
    return callee_of(proto) in _ALWAYS or has_subgraphs(proto)


def expand_function(
    importer: Importer, node: Node, proto: onnx.NodeProto, scope: Scope
) -> Sequence[SSAValue]:
    """Adds the nodes that define an operator; returns its outputs.

    The nodes are read in the operator set of the model, as those of the bodies are.

    Raises:
        GEError: The operands or the bodies do not fit the operator (GE0221).
    """
    own = onnx.NodeProto()
    own.CopyFrom(proto)
    inner = type(scope)()
    for name, renamed in _rename(own).items():
        if (value := scope.get(name)) is not None:
            inner.values[renamed] = value
    function = _function(node, own)
    if len(function.input) != len(node.operands) or len(function.output) < len(node.used):
        inputs, outputs = len(function.input), len(function.output)
        node.fail(f"expected {inputs} inputs and at most {outputs} outputs")
    for slot, name in enumerate(function.input):
        inner.values[name] = node[slot]
    importer.graph(normalize_body(importer.loaded, function), inner)
    return [inner.find(name) for name in function.output[: len(node.used)]]


def _function(node: Node, proto: onnx.NodeProto) -> onnx.FunctionProto:
    """Returns the function that ONNX makes of a node."""
    schema: Any = onnx.defs.get_schema(proto.op_type, node.version, proto.domain)
    types = [
        onnx.TypeProto() if value is None else to_type_proto(value.type) for value in node.operands
    ]
    function = onnx.FunctionProto()
    try:
        encoded = schema.get_context_dependent_function(
            proto.SerializeToString(), [type_.SerializeToString() for type_ in types]
        )
        function.ParseFromString(encoded)
    except (RuntimeError, ValueError, DecodeError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        node.fail(reason[0])
    if not function.node:
        node.fail("its operands and attributes give no function")
    return function


def _rename(node: onnx.NodeProto) -> Mapping[str, str]:
    """Renames every value in the bodies of a node, in place; returns the new names by the old ones.

    The function around the bodies has names of its own, and ONNX makes some of them from text.
    """
    found: dict[str, str] = {}

    def renamed(name: str) -> str:
        if name and name not in found:
            found[name] = f"body{len(found)}_{_FOREIGN.sub('_', name)}"
        return found.get(name, "")

    pending = list(subgraphs(node))
    while pending:
        graph = pending.pop()
        for named in (*graph.initializer, *graph.input, *graph.output, *graph.value_info):
            named.name = renamed(named.name)
        for inner in graph.node:
            inner.input[:] = [renamed(name) for name in inner.input]
            inner.output[:] = [renamed(name) for name in inner.output]
            pending.extend(subgraphs(inner))
    return found
