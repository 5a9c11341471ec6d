"""Nodes without an op of `ge`: host calls, with the types that ONNX infers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import onnx
import onnx.checker
import onnx.defs
from xdsl.dialects.builtin import DictionaryAttr, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.convert.node import Node
from ge_dialect.frontends.onnx.convert.old_forms import host_form
from ge_dialect.ge.base import ints_attr
from ge_dialect.ge.constants import constant_array
from ge_dialect.ge.containers import Container
from ge_dialect.ge.host import attrs_from_node, callee_of, infer_host_call_types
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.ge.types import element_type_of, value_shape

if TYPE_CHECKING:
    import numpy.typing as npt

    from ge_dialect.frontends.onnx.values import Tensors

_AXES = frozenset(("axis", "axes", "time_axis", "batch_axis"))
"""Attributes that name dimensions of the first operand."""

_MAX_CONSTANT = 4096
"""Elements of an operand that inference may look at; shapes and axes have fewer."""


def convert_to_host_call(
    node: Node,
    proto: onnx.NodeProto,
    tensors: Tensors,
    types: Sequence[Attribute] | None,
    declared: Sequence[Attribute | None],
) -> Sequence[SSAValue]:
    """Adds a host call and returns its results, one an output.

    Args:
        node: What `proto` says, with operands as values.
        proto: The node as the model has it.
        tensors: Reads the node's tensors.
        types: Of the results, where the converter knows them; None asks ONNX.
        declared: The types that the exporter wrote down, for what ONNX can not infer.

    Raises:
        GEError: The operands do not fit the node (GE0221), or the types of its results are not
            known (GE0223).
    """
    node, proto = host_form(node, proto)
    present = [value for value in node.operands if value is not None]
    absent = [slot for slot, value in enumerate(node.operands) if value is None]
    while absent and absent[-1] == len(present) + len(absent) - 1:
        absent.pop()  # empty slots at the end say nothing
    results = _types(node, proto, declared) if types is None else list(types)
    attrs = DictionaryAttr({})
    try:
        attrs = attrs_from_node(proto, lambda tensor: tensors.value(tensor, tensor.name).value)
    except ValueError as error:
        node.fail(str(error))
    op = HostCallOp(
        callee_of(proto) if proto.domain else f"ai.onnx::{proto.op_type}",
        node.version,
        present,
        results,
        attrs if attrs.data else None,
        ints_attr(absent) if absent else None,
    )
    return node.emit_all(op)


def _types(
    node: Node, proto: onnx.NodeProto, declared: Sequence[Attribute | None]
) -> list[Attribute]:
    """Returns the result types: as inferred, else as declared, else with an element type only."""
    _check_axes(node)
    operand_types = [None if value is None else value.type for value in node.operands]
    try:
        inferred = infer_host_call_types(proto, node.version, operand_types, _constants(node))
    except (ValueError, RuntimeError, onnx.checker.ValidationError) as error:
        if not any(type_ is not None and _is_unranked(type_) for type_ in operand_types):
            reason = str(error).strip().splitlines() or [type(error).__name__]
            node.fail(reason[0])
        inferred = None  # some of ONNX's functions refuse a rank that is not known
    found: list[Attribute] = []
    for index, said in enumerate(declared):
        type_ = None if inferred is None else inferred[index]
        if said is not None and (type_ is None or _is_unranked(type_)):
            type_ = said
        found.append(_element_only(node, proto, index) if type_ is None else type_)
    return found


def _check_axes(node: Node) -> None:
    """Checks axes before ONNX sees them: some of its functions write beyond a shape otherwise."""
    first = node.optional(0)
    if first is None or not isinstance(first.type, TensorType):
        return
    rank = max(len(value_shape(first)), 1) + (node.op_type == "OneHot")
    for name in sorted(_AXES & node.attributes.keys()):
        value = node.attributes[name]
        for axis in value if isinstance(value, tuple) else (value,):
            if isinstance(axis, int) and not -rank <= axis < rank:
                node.fail(f"expected '{name}' in [{-rank}, {rank}), got {axis}")


def _is_unranked(type_: Attribute) -> bool:
    return isinstance(type_, UnrankedTensorType)


def _constants(node: Node) -> dict[int, npt.NDArray[Any]]:
    found: dict[int, npt.NDArray[Any]] = {}
    for slot, value in enumerate(node.operands):
        if value is not None:
            array = constant_array(value, _MAX_CONSTANT)
            if array is not None and array.dtype.kind in "biuf":
                found[slot] = array
    return found


def _element_only(node: Node, proto: onnx.NodeProto, index: int) -> Attribute:
    """Returns the loosest type that the operator's schema allows for the operands."""
    schema = onnx.defs.get_schema(proto.op_type, node.version, proto.domain)
    formal = schema.outputs[min(index, len(schema.outputs) - 1)]
    for slot, value in enumerate(node.operands):
        same = schema.inputs[min(slot, len(schema.inputs) - 1)].type_str == formal.type_str
        if value is not None and same:
            if isinstance(value.type, Container):
                return value.type
            return UnrankedTensorType(element_type_of(value))
    raise GEError(
        "GE0223",
        f"{node.label}: the type of output {index} is not known",
        hint="run onnx.shape_inference on the model, so that it declares the types of its values",
    )
