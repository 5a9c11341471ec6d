"""Control flow: operators whose bodies are graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import onnx
from xdsl.dialects.builtin import TensorType, UnrankedTensorType, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.frontends.onnx.convert.node import Node
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.structure import IfOp, LoopOp
from ge_dialect.ge.types import MaybeDim, element_type_of, tensor_type, value_shape

if TYPE_CHECKING:
    from ge_dialect.frontends.onnx.importer import Importer, Scope

CONTROL = ("If", "Loop")
"""The operators of this file."""

_MAX_DEPTH = 4
"""Bodies nested deeper are imported once: each round of refinement would multiply with theirs."""
_MAX_TRIPS = 2**31 - 1
_FOREVER = 2**63 - 1


def convert_control(
    importer: Importer, node: Node, proto: onnx.NodeProto, scope: Scope
) -> Sequence[SSAValue]:
    """Returns the values of an `If` or a `Loop`.

    Raises:
        GEError: The bodies do not fit the operands (GE0221).
    """
    graphs = {attribute.name: attribute.g for attribute in proto.attribute}
    wanted = ("then_branch", "else_branch") if node.op_type == "If" else ("body",)
    if missing := [name for name in wanted if name not in graphs]:
        node.fail(f"expected an attribute '{missing[0]}', got none")
    if node.op_type == "If":
        return _if(importer, node, graphs["then_branch"], graphs["else_branch"], scope)
    return _loop(importer, node, graphs["body"], scope)


def _if(
    importer: Importer,
    node: Node,
    then_graph: onnx.GraphProto,
    else_graph: onnx.GraphProto,
    scope: Scope,
) -> Sequence[SSAValue]:
    """Adds both branches; of a constant condition only the one taken.

    The other one is often no valid graph for the shapes at hand: hence the condition.
    """
    for graph in (then_graph, else_graph):
        if graph.input or len(graph.output) != len(node.used):
            node.fail(f"expected branches without inputs and with {len(node.used)} outputs")
    condition = node[0]
    if (taken := constant_scalar(condition)) is not None:
        return importer.inline(then_graph if taken else else_graph, scope)
    _expect_ranked(node, "cond", condition)
    then_region, then_values = importer.region(then_graph, scope, ())
    else_region, else_values = importer.region(else_graph, scope, ())
    types = [
        _join(node, first.type, second.type)
        for first, second in zip(then_values, else_values, strict=True)
    ]
    op = IfOp(condition, types, then_region, else_region)
    return _emit_checked(node, op)


def _expect_ranked(node: Node, name: str, value: SSAValue) -> None:
    if not isinstance(value.type, TensorType):
        node.fail(f"expected '{name}' of known rank, got {value.type}")


def _join(node: Node, first: Attribute, second: Attribute) -> Attribute:
    from ge_dialect.frontends.onnx.values import join_types

    if (joined := join_types(first, second)) is None:
        node.fail(f"expected values of one element type, got {first} and {second}")
    return joined


def _loop(
    importer: Importer, node: Node, body: onnx.GraphProto, scope: Scope
) -> Sequence[SSAValue]:
    """Adds the body with the types that hold in every iteration."""
    builder = node.builder
    trip_count, condition = node.optional(0), node.optional(1)
    if trip_count is None:
        trip_count = builder.ints(_FOREVER)
    if condition is None:
        condition = builder.number(1, i1)
    for name, value in (("M", trip_count), ("cond", condition)):
        _expect_ranked(node, name, value)
    carried = [node[slot] for slot in range(2, len(node.operands))]
    if len(body.input) != 2 + len(carried) or len(body.output) != 1 + len(node.used):
        node.fail(f"expected a body of {2 + len(carried)} inputs and {1 + len(node.used)} outputs")
    if len(node.used) < len(carried):
        node.fail(f"expected {len(carried)} outputs or more, got {len(node.used)}")
    scalars = [tensor_type(i64, ()), tensor_type(i1, ())]
    types = [_initial_type(importer, value) for value in carried]
    while True:
        mark = builder.mark()
        region, yielded = importer.region(body, scope, [*scalars, *types])
        after = [value.type for value in yielded[1 : 1 + len(carried)]]
        joined = [_join(node, a, b) for a, b in zip(types, after, strict=True)]
        if joined == types:
            break
        builder.undo(mark)
        # A dimension that changes may change others in the next round: two rounds are usual.
        types = joined
    goes_on = yielded[0] is region.block.args[1] or constant_scalar(yielded[0]) is True
    trips = _known_trips(trip_count, condition) if goes_on else None
    scans = [_stacked(value, trips) for value in yielded[1 + len(carried) :]]
    op = LoopOp(trip_count, condition, carried, [*types, *scans], region)
    return _emit_checked(node, op)


def _emit_checked(node: Node, op: IfOp | LoopOp) -> Sequence[SSAValue]:
    """Adds an op whose operands its constructor did not check."""
    try:
        op.verify_()
    except VerifyException as error:
        node.fail(str(error))
    return node.emit_all(op)


def _initial_type(importer: Importer, value: SSAValue) -> Attribute:
    if importer.depth < _MAX_DEPTH:
        return value.type
    return UnrankedTensorType(element_type_of(value))


def _known_trips(trip_count: SSAValue, condition: SSAValue) -> MaybeDim:
    """Returns how often a loop that never stops by itself runs, where that is a number."""
    trips = constant_scalar(trip_count)
    known = isinstance(trips, int) and constant_scalar(condition) is True
    return max(trips, 0) if known and isinstance(trips, int) and trips <= _MAX_TRIPS else None


def _stacked(value: SSAValue, trips: MaybeDim) -> Attribute:
    """Returns the type of the slices of all iterations, along a new first dimension."""
    if not isinstance(value.type, TensorType):
        return UnrankedTensorType(element_type_of(value))
    return tensor_type(element_type_of(value), (trips, *value_shape(value)))
