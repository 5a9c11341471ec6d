"""Import of ONNX control flow."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper
from xdsl.utils.exceptions import InterpretationError

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.interpreters.functions import run_function
from tests.onnx_models import imported, model, names_of, node, ops_of, run, value

F32 = np.float32
X = {"x": ("float32", (2, 3, 4))}
A = np.linspace(-2, 2, 24, dtype=F32).reshape(2, 3, 4)


def _branches(then: onnx.NodeProto, otherwise: onnx.NodeProto) -> onnx.NodeProto:
    graphs = [
        helper.make_graph([body], name, [], [value("y", "float32", None)])
        for name, body in (("then", then), ("else", otherwise))
    ]
    return node("If", "c", then_branch=graphs[0], else_branch=graphs[1])


def test_both_branches_of_an_if_see_values_around_it():
    proto = model(
        [_branches(node("Add", "x", "x"), node("Relu", "x"))],
        {**X, "c": ("bool", ())},
        ["y"],
    )
    assert names_of(imported(proto)) == ["ge.if"]
    for condition, expected in ((True, A + A), (False, np.maximum(A, 0))):
        (found,) = run(proto, A, np.array(condition))
        np.testing.assert_array_equal(found, expected)


def test_only_the_branch_that_a_constant_takes_is_imported():
    # The other branch squeezes a dimension of 2: TorchScript writes such branches.
    squeeze = node("Squeeze", "x", "zero")
    proto = model(
        [_branches(squeeze, node("Relu", "x"))],
        X,
        ["y"],
        {"c": np.array(False), "zero": np.array([0])},
    )
    assert names_of(imported(proto)) == ["ge.relu"]


def test_a_branch_that_does_not_fit_stops_the_run_that_takes_it():
    squeeze = node("Squeeze", "x", "zero")
    inputs = {**X, "c": ("bool", ())}
    proto = model([_branches(squeeze, node("Relu", "x"))], inputs, ["y"], {"zero": np.array([0])})
    (found,) = run(proto, A, np.array(False))
    np.testing.assert_array_equal(found, np.maximum(A, 0))
    with pytest.raises(InterpretationError, match=r"Squeeze_node.*expected"):
        run(proto, A, np.array(True))


def test_two_branches_that_do_not_fit_are_an_error():
    squeeze = node("Squeeze", "x", "zero")
    inputs = {**X, "c": ("bool", ())}
    proto = model([_branches(squeeze, squeeze)], inputs, ["y"], {"zero": np.array([0])})
    with pytest.raises(GEError, match="Squeeze_node") as raised:
        imported(proto)
    assert raised.value.code == "GE0221"


def _loop(*outer: str) -> onnx.NodeProto:
    body = helper.make_graph(
        [
            node("Identity", "go", out="still"),
            node("Concat", "v", "x", axis=0, out="w"),
            node("ReduceSum", "w", keepdims=0, out="total"),
        ],
        "body",
        [value("i", "int64", ()), value("go", "bool", ()), value("v", "float32", None)],
        [
            value("still", "bool", ()),
            value("w", "float32", None),
            value("total", "float32", ()),
        ],
    )
    return node("Loop", *outer, body=body, out="y, totals")


def test_a_loop_has_the_types_of_all_iterations():
    proto = model([_loop("n", "", "x")], X, ["y", "totals"], {"n": np.array(3)})
    module = imported(proto)
    (loop,) = ops_of(module)
    assert [str(result.type) for result in loop.results] == ["tensor<?x3x4xf32>", "tensor<3xf32>"]
    last, totals = run_function(module, [A])
    assert last.shape == (8, 3, 4)
    np.testing.assert_allclose(totals, [A.sum() * k for k in (2, 3, 4)], atol=1e-5)


def test_a_loop_without_limits_gets_constants():
    (loop,) = ops_of(imported(model([_loop("", "c", "x")], {**X, "c": ("bool", ())}, ["y"])))
    trip_count = loop.operands[0].owner
    assert isinstance(trip_count, ConstantOp)
    assert "9223372036854775807" in str(trip_count.value)
