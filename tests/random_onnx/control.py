"""Control flow, with bodies that are grown as the graph around them is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.random_onnx.evaluate import COPIES
from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builders, builds
from tests.random_onnx.values import BOOL, F32, I64, Value, names, value_info

# What is defined for any finite number, and keeps the shape or is small.
_BODY = names(
    "Add Mul Sub Tanh Sigmoid Relu Neg Abs Transpose Softmax MatMul Concat Slice ReduceMean "
    "Unsqueeze Max Where Cos"
)


def _body(g: Grower, seen: Sequence[Value]) -> Grower:
    """Returns the grower of a body that sees given values."""
    body = Grower(g.draw, g.opset, g.names, list(seen), body=True)
    for _ in range(g.int(0, 3)):
        name = g.one_of(_BODY)
        builders()[name](body, name)
    return body


def _graph(body: Grower, inputs: Sequence[Value], outputs: Sequence[Value]) -> onnx.GraphProto:
    return helper.make_graph(
        body.nodes,
        "body",
        [value_info(value) for value in inputs],
        [value_info(value) for value in outputs],
        [numpy_helper.from_array(value.array, value.name) for value in body.constants],
    )


def _captured(g: Grower, *bodies: Grower) -> list[Value]:
    used = {name for body in bodies for node in body.nodes for name in node.input}
    return [value for value in g.values if value.name in used]


def _result(body: Grower, like: Value) -> Value:
    """Returns a value of the body with the type of another one, made by a node of its own."""
    fits = [v for v in body.values if v.dtype == like.dtype and v.shape == like.shape]
    source = body.one_of(fits[-4:]) if fits else body.fresh(like.dtype, like.shape, "normal")
    return body.emit("Tanh" if body.flag() else "Identity", [source])[0]


def _seen(g: Grower) -> list[Value]:
    """Returns what a body may use: numbers whose values stay where they are defined."""
    return [v for v in g.values if v.dtype == F32 and np.isfinite(v.array).all()][-6:]


@builds("If")
def if_(g: Grower, op_type: str) -> None:
    """Branches of one shape, under a condition that is known or is not."""
    seen = _seen(g)
    first, second = _body(g, seen), _body(g, seen)
    base = first.operand([F32], (0, 3), finite=True)
    outputs = [_result(first, base), _result(second, base)]
    known = [v for v in g.values if v.dtype == BOOL and v.array.size == 1 and v.rank == 0]
    condition = g.one_of(known) if known and g.flag() else g.given(np.array(g.flag()))
    g.emit(
        op_type,
        [condition],
        captured=_captured(g, first, second),
        then_branch=_graph(first, [], outputs[:1]),
        else_branch=_graph(second, [], outputs[1:]),
    )


@builds("Loop")
def loop(g: Grower, op_type: str) -> None:
    """A carried value, a scanned one where the trips are known, and perhaps an early end."""
    carried = g.operand([F32], (0, 3), finite=True)
    argument = replace(carried, name=g.names.new("b"), exact=False, fixed=False)
    index, going = (
        Value(g.names.new("b"), array, (array,) * COPIES, exact=True, fixed=False)
        for array in (np.array(0, I64), np.array(True))
    )
    body = _body(g, [*_seen(g), argument])
    stops = g.rarely()
    if stops:
        limit = body.number(g.int(0, 3))
        keep = body.emit("Less", [index, limit])[0]
    else:
        keep = body.emit("Identity", [going])[0]
    outputs = [keep, _result(body, argument)]
    trips = g.given(np.array(g.int(0, 3), I64), fixed=True)
    scans = not stops and bool(trips.array) and argument.rank == 1 and g.flag()
    if scans:
        outputs.append(_result(body, argument))
    g.emit(
        op_type,
        [trips, g.given(np.array(True), fixed=True), carried],
        1 + scans,
        captured=_captured(g, body),
        body=_graph(body, [index, going, argument], outputs),
    )


@builds("Scan")
def scan(g: Grower, op_type: str) -> None:
    """A state and a scanned input, along its first dimension."""
    rows = g.operand([F32], (1, 3), finite=True, empty=False)
    state = g.operand([F32], (0, 2), finite=True, empty=False)
    arguments = [
        Value(g.names.new("b"), array, (array,) * COPIES, exact=False, fixed=False)
        for array in (state.array, np.asarray(rows.array[0]))
    ]
    body = _body(g, [*_seen(g), *arguments])
    outputs = [_result(body, argument) for argument in arguments]
    g.emit(
        op_type,
        [state, rows],
        2,
        captured=_captured(g, body),
        body=_graph(body, arguments, outputs),
        num_scan_inputs=1,
    )
