"""Finds everything in a model that can not be imported, before anything is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import onnx
import onnx.defs

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.convert import find_converter
from ge_dialect.frontends.onnx.convert.control import CONTROL
from ge_dialect.frontends.onnx.convert.since import COMPLETE_FROM, SINCE
from ge_dialect.frontends.onnx.rows import NodeKind, NodeRow, kinds_of, rows_of
from ge_dialect.frontends.onnx.validate import domain_of, has_subgraphs, node_label
from ge_dialect.ge.host import callee_of
from ge_dialect.interpreters.containers import CONTAINER_OPS

_MAX_SHOWN = 10
_HINT = "export the model with operators of ONNX, or as local functions made of them"
_BLOCKED = "com.microsoft.nchwc::"
_BLOCKED_HINT = (
    "give the model before ONNX Runtime optimised it, or as it saves it at level 'extended', or "
    "without the optimizer 'NchwcTransformer': its weights lie as one machine wants them"
)
_ONNX = ("", "ai.onnx.ml")
_EARLY = frozenset({"LayerNormalization"})
"""Operators that files hold from before ONNX had them: ONNX Runtime wrote, and takes, them so."""
_TRAINING = ("ai.onnx.preview.training::Gradient",)
"""Operators about the graph around them, which nothing implements."""


@dataclass
class _Finding:
    """One reason for one operator."""

    reason: str
    first: str
    count: int = 0


def _reason(node: onnx.NodeProto, opset: Mapping[str, int]) -> str | None:
    """Says why a node, and others of its kind, is not supported; None where it is."""
    domain = domain_of(node.domain)
    if domain == "" and node.op_type in CONTROL:
        return None
    body, version = has_subgraphs(node), opset.get(domain, 1)
    if not body and find_converter(domain, node.op_type) is not None:
        early = _is_early(node.op_type, version, domain)
        return _early_reason(node.op_type, version, domain) if early else None
    try:
        schema = onnx.defs.get_schema(node.op_type, version, domain)
    except onnx.defs.SchemaError:
        return _early_reason(node.op_type, version, domain) or "is no operator of this opset"
    if callee_of(node) in _TRAINING:
        return "belongs to the training of a model"
    if body:
        defined = getattr(schema, "has_context_dependent_function", False)
        return None if defined else "has a body"
    if callee_of(node) not in CONTAINER_OPS and _needs_containers(node, schema):
        return "works on maps, and nothing implements it"
    return None


def _is_early(op_type: str, version: int, domain: str) -> bool:
    """Whether an operator with a converter may be younger than the version a model asks for."""
    if domain not in _ONNX or op_type in _EARLY:
        return False
    return bool(domain) or version < COMPLETE_FROM or SINCE.get(op_type, 0) > version


def _early_reason(op_type: str, version: int, domain: str) -> str | None:
    """Says that an operator came to ONNX later than the version a model asks for."""
    if onnx.defs.has(op_type, version, domain) or not onnx.defs.has(op_type, domain):
        return None
    since = next(one for one in count(version) if onnx.defs.has(op_type, one, domain))
    return f"is no operator of opset {version}, only from {since} on"


def _needs_containers(node: onnx.NodeProto, schema: onnx.defs.OpSchema) -> bool:
    """Whether a node has an operand or a result that can not be a tensor."""
    pairs = ((schema.inputs, len(node.input)), (schema.outputs, len(node.output)))
    return any(
        not any(str(type_).startswith("tensor(") for type_ in formal.types)
        for formals, count in pairs
        for formal in formals[:count]
    )


def check_supported(nodes: Sequence[NodeRow], opset: Mapping[str, int]) -> None:
    """Checks that every node of a graph, and of its bodies, can be imported.

    Args:
        nodes: Of the graph.
        opset: Domain -> version.

    Raises:
        GEError: Some can not; names all operators with counts and their first node (GE0220).
    """
    found: dict[tuple[str, str], _Finding] = {}
    for rows in _graphs(nodes):
        reasons = {kind: _reason(node, opset) for kind, node in _examples(rows).items()}
        if not any(reasons.values()):
            continue
        for index, row in enumerate(rows):
            if (reason := reasons[row.kind]) is not None:
                key = (callee_of(row.node), reason)
                found.setdefault(key, _Finding(reason, node_label(row.node, index))).count += 1
    if not found:
        return
    shown = [_show(callee, finding) for (callee, _), finding in found.items()]
    more = f" and {len(shown) - _MAX_SHOWN} more" if len(shown) > _MAX_SHOWN else ""
    what = "1 operator is" if len(shown) == 1 else f"{len(shown)} operators are"
    blocked = any(callee.startswith(_BLOCKED) for callee, _ in found)
    raise GEError(
        "GE0220",
        f"{what} not supported: {'; '.join(shown[:_MAX_SHOWN])}{more}",
        hint=_BLOCKED_HINT if blocked else _HINT,
    )


def not_supported(label: str, reason: str) -> GEError:
    """Returns the error for one node that can not be imported as it stands (GE0220)."""
    return GEError(
        "GE0220",
        f"1 operator is not supported: {label}: {reason}",
        hint=_HINT,
    )


def _show(callee: str, finding: _Finding) -> str:
    nodes = "1 node" if finding.count == 1 else f"{finding.count} nodes"
    return f"'{callee}' {finding.reason} ({nodes}, the first is {finding.first})"


def _graphs(nodes: Sequence[NodeRow]) -> Iterator[Sequence[NodeRow]]:
    """Yields the nodes of a graph, and those of each body in it."""
    pending = [nodes]
    while pending:
        yield (rows := pending.pop())
        pending += [rows_of(body.node) for kind in kinds_of(rows) for body in kind.bodies]


def _examples(rows: Sequence[NodeRow]) -> dict[NodeKind, onnx.NodeProto]:
    return {row.kind: row.node for row in rows}
