"""Control flow: operators whose bodies are graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import onnx
from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Region, SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.convert.loops import LoopLimits, emit_checked, emit_loop, join
from ge_dialect.frontends.onnx.convert.node import Node
from ge_dialect.frontends.onnx.convert.scan import convert_scan
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.fail import FailOp
from ge_dialect.ge.structure import IfOp
from ge_dialect.ge.types import MaybeDim

if TYPE_CHECKING:
    from ge_dialect.frontends.onnx.importer import Importer, Scope

CONTROL = ("If", "Loop", "Scan")
"""The operators that become ops with regions."""

_MAX_TRIPS = 2**31 - 1
_FOREVER = 2**63 - 1
_RESHAPE_VERSION = 14


def convert_control(
    importer: Importer, node: Node, proto: onnx.NodeProto, scope: Scope
) -> Sequence[SSAValue]:
    """Returns the values of an `If`, a `Loop` or a `Scan`.

    Raises:
        GEError: The bodies do not fit the operands (GE0221).
    """
    graphs = {attribute.name: attribute.g for attribute in proto.attribute}
    wanted = ("then_branch", "else_branch") if node.op_type == "If" else ("body",)
    if missing := [name for name in wanted if name not in graphs]:
        node.fail(f"expected an attribute '{missing[0]}', got none")
    if node.op_type == "If":
        return _if(importer, node, graphs["then_branch"], graphs["else_branch"], scope)
    convert = _loop if node.op_type == "Loop" else convert_scan
    return convert(importer, node, graphs["body"], scope)


def _if(
    importer: Importer,
    node: Node,
    then_graph: onnx.GraphProto,
    else_graph: onnx.GraphProto,
    scope: Scope,
) -> Sequence[SSAValue]:
    """Adds both branches; of a constant condition only the one taken.

    The other one is often no valid graph for the shapes at hand: hence the condition. So where
    only the run knows the condition, a branch that is none becomes one that stops the run.
    """
    for graph in (then_graph, else_graph):
        if graph.input or len(graph.output) != len(node.used):
            node.fail(f"expected branches without inputs and with {len(node.used)} outputs")
    condition = node[0]
    if (taken := constant_scalar(condition)) is not None:
        return importer.inline(then_graph if taken else else_graph, scope)
    condition = _ranked(importer, node, condition)
    then_branch, else_branch = (_branch(importer, g, scope) for g in (then_graph, else_graph))
    if isinstance(then_branch, GEError):
        if isinstance(else_branch, GEError):
            raise then_branch
        then_branch = _failing(importer, then_branch, else_branch[1])
    elif isinstance(else_branch, GEError):
        else_branch = _failing(importer, else_branch, then_branch[1])
    (then_region, then_values), (else_region, else_values) = then_branch, else_branch
    types = [
        join(node, first.type, second.type)
        for first, second in zip(then_values, else_values, strict=True)
    ]
    return emit_checked(node, IfOp(condition, types, then_region, else_region))


_Branch: TypeAlias = tuple[Region, Sequence[SSAValue]]


def _branch(importer: Importer, graph: onnx.GraphProto, scope: Scope) -> _Branch | GEError:
    """Returns a branch, or why it does not fit the operands; then nothing is left of it."""
    builder = importer.builder
    before = builder.block, builder.location, importer.depth
    mark = builder.mark()
    try:
        return importer.region((), lambda _: importer.inline(graph, scope))
    except GEError as error:
        if error.code != "GE0221":
            raise
        builder.block, builder.location, importer.depth = before
        builder.undo(mark)
        return error


def _failing(importer: Importer, error: GEError, other: Sequence[SSAValue]) -> _Branch:
    """Returns a branch that stops the run and has the types of the other branch."""
    op = FailOp(error.message, [value.type for value in other])
    return importer.region((), lambda _: importer.builder.emit(op))


def _ranked(importer: Importer, node: Node, value: SSAValue) -> SSAValue:
    """Returns one number of unknown rank as a scalar; a run checks that it is one."""
    if isinstance(value.type, TensorType):
        return value
    return importer.apply(node, "Reshape", _RESHAPE_VERSION, [value, node.builder.ints(())])


def _loop(
    importer: Importer, node: Node, body: onnx.GraphProto, scope: Scope
) -> Sequence[SSAValue]:
    builder = node.builder
    trip_count, condition = node.optional(0), node.optional(1)
    if trip_count is None:
        trip_count = builder.ints(_FOREVER)
    if condition is None:
        condition = builder.number(1, i1)
    trip_count = _ranked(importer, node, trip_count)
    condition = _ranked(importer, node, condition)
    carried = [node[slot] for slot in range(2, len(node.operands))]
    if len(body.input) != 2 + len(carried) or len(body.output) != 1 + len(node.used):
        node.fail(f"expected a body of {2 + len(carried)} inputs and {1 + len(node.used)} outputs")
    if len(node.used) < len(carried):
        node.fail(f"expected {len(carried)} outputs or more, got {len(node.used)}")
    limits = LoopLimits(trip_count, condition, _known_trips(trip_count, condition))
    return emit_loop(
        importer, node, limits, carried, lambda args: importer.inline(body, scope, args)
    )


def _known_trips(trip_count: SSAValue, condition: SSAValue) -> MaybeDim:
    """Returns how often a loop that never stops by itself runs, where that is a number."""
    trips = constant_scalar(trip_count)
    known = isinstance(trips, int) and constant_scalar(condition) is True
    return max(trips, 0) if known and isinstance(trips, int) and trips <= _MAX_TRIPS else None
