"""`ge.host_call`: the way to ONNX nodes and back, types and values by ONNX itself."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from xdsl.dialects.builtin import UnrankedTensorType, f16, f32, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError
from xdsl.utils.test_value import create_ssa_value

from ge_dialect.ge.base import ints_attr
from ge_dialect.ge.dtypes import from_numpy
from ge_dialect.ge.host import (
    attrs_from_node,
    callee_of,
    infer_host_call_types,
    node_from_host_call,
)
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.ge.types import TensorT, tensor_type
from ge_dialect.interpreters.registry import evaluate
from ge_dialect.parsing import TextParser
from ge_dialect.symbols import symbol
from tests.kernel_reference import F32, Array, assert_same, random, reference
from tests.op_samples import context

OPSET = 22
S = symbol("S")


def call(node: onnx.NodeProto, *arrays: Array, results: int = 1) -> HostCallOp:
    """Returns a host call of a node on arrays in its slots, with inferred types."""
    slots = [slot for slot, name in enumerate(node.input) if name]
    types: list[TensorT | None] = [None] * len(node.input)
    for slot, array in zip(slots, arrays, strict=True):
        types[slot] = tensor_type(from_numpy(array.dtype), array.shape)
    inferred = infer_host_call_types(node, OPSET, types)
    absent = [slot for slot, name in enumerate(node.input) if not name]
    return HostCallOp(
        callee_of(node),
        OPSET,
        [create_ssa_value(type_) for type_ in types if type_ is not None],
        inferred or [UnrankedTensorType(f32)] * results,
        attrs_from_node(node),
        ints_attr(absent) if absent else None,
    )


def test_attributes_survive_both_ways() -> None:
    node = helper.make_node("Op", ["a", "", "b"], ["c"], domain="com.example")
    node.attribute.extend(
        [
            helper.make_attribute("count", 3),
            helper.make_attribute("empty", [], attr_type=onnx.AttributeProto.INTS),
            helper.make_attribute("half", 0.1),
            helper.make_attribute("list", [1, -(2**63)]),
            helper.make_attribute("mode", "linear"),
            helper.make_attribute("names", ["x", "ü"]),
            helper.make_attribute("no_floats", [], attr_type=onnx.AttributeProto.FLOATS),
            helper.make_attribute("no_names", [], attr_type=onnx.AttributeProto.STRINGS),
            helper.make_attribute("weights", [0.5, float("inf")]),
        ]
    )
    op = HostCallOp(
        callee_of(node), 1, [create_ssa_value(tensor_type(f32, ()))] * 2, [tensor_type(f32, ())],
        attrs_from_node(node), ints_attr([1]),
    )  # fmt: skip
    op.verify()
    assert op.attrs is not None
    assert TextParser(context(), str(op.attrs)).parse_attribute() == op.attrs
    found = node_from_host_call(op)
    assert list(found.input) == ["x0", "", "x2"]
    assert (found.domain, found.op_type) == ("com.example", "Op")
    assert list(found.attribute) == list(node.attribute)


@pytest.mark.parametrize(
    "array",
    [
        np.array([1.5, -0.0, np.nan], F32),
        np.arange(4000, dtype=np.int64).reshape(2, -1),
        np.array([[True, False]]),
        np.array([1, -2], ml_dtypes.int4),
        np.array([0.5, 1.5], ml_dtypes.float8_e4m3fn),
        np.array([0.5, 1.5], ml_dtypes.bfloat16),
        np.array(["a", "ß"], object),
        np.zeros((0, 3), F32),
    ],
    ids=lambda array: str(array.dtype),
)
def test_tensors_survive_both_ways(array: Array) -> None:
    node = helper.make_node("Op", [], ["y"], value=numpy_helper.from_array(array))
    op = HostCallOp(callee_of(node), 1, [], [tensor_type(f32, ())], attrs_from_node(node))
    (attribute,) = node_from_host_call(op).attribute
    found = numpy_helper.to_array(attribute.t)
    assert found.shape == array.shape
    np.testing.assert_array_equal(found, array)


def test_unsupported_attributes_are_named() -> None:
    graph = helper.make_graph([], "body", [], [])
    node = helper.make_node("Scan", ["a"], ["b"], body=graph)
    with pytest.raises(ValueError, match=r"'ai.onnx::Scan', got 'body' of kind GRAPH"):
        attrs_from_node(node)


def test_types_keep_the_symbols_of_the_operands() -> None:
    def inferred(node: onnx.NodeProto, *types: Attribute, **options: Any) -> list[Attribute] | None:
        return infer_host_call_types(node, OPSET, types, **options)

    wide = tensor_type(f16, (S, 2 * S, 4))
    hann = helper.make_node("HannWindow", ["n"], ["w"])
    assert inferred(helper.make_node("Hardmax", ["a"], ["b"]), wide) == [wide]
    transposed = helper.make_node("Transpose", ["a"], ["b"], perm=[1, 0, 2])
    assert inferred(transposed, wide) == [tensor_type(f16, (2 * S, S, 4))]
    found = inferred(helper.make_node("NonZero", ["a"], ["b"]), wide)
    assert found == [tensor_type(i64, (3, None))]
    unranked = inferred(helper.make_node("Hardmax", ["a"], ["b"]), UnrankedTensorType(f32))
    assert unranked == [UnrankedTensorType(f32)]
    size = tensor_type(i64, ())
    assert inferred(hann, size, constants={0: np.asarray(9)}) == [tensor_type(f32, (9,))]


def test_types_of_several_outputs_and_empty_slots() -> None:
    node = helper.make_node("GRU", ["x", "w", "r", "", "", "h"], ["", "last"], hidden_size=5)
    x, w, r = (
        tensor_type(f32, (7, S, 3)),
        tensor_type(f32, (1, 15, 3)),
        tensor_type(f32, (1, 15, 5)),
    )
    h = tensor_type(f32, (1, S, 5))
    found = infer_host_call_types(node, OPSET, [x, w, r, None, None, h])
    assert found == [tensor_type(f32, (7, 1, S, 5)), tensor_type(f32, (1, S, 5))]


def test_what_onnx_does_not_know_has_no_types() -> None:
    node = helper.make_node("Gizmo", ["a"], ["b"], domain="com.example")
    assert infer_host_call_types(node, 1, [tensor_type(f32, (2,))]) is None


def test_contradictions_are_errors() -> None:
    det = helper.make_node("Det", ["a"], ["b"])
    with pytest.raises(ValueError, match=r"'ai.onnx::Det'"):
        infer_host_call_types(det, OPSET, [tensor_type(f32, (2, 3))])


def test_values_are_those_of_onnx() -> None:
    x = random(F32, 3, 3)
    (found,) = evaluate(call(helper.make_node("Det", ["a"], ["b"]), x), [x])
    assert_same(found, reference("Det", x), F32, ulps=16)


def test_empty_slots_and_several_results_reach_the_reference() -> None:
    arrays = [random(F32, 4, 2, 3), random(F32, 1, 15, 3), random(F32, 1, 15, 5)]
    start = random(F32, 1, 2, 5)
    node = helper.make_node("GRU", ["x", "w", "r", "", "", "h"], ["y", "last"], hidden_size=5)
    op = call(node, *arrays, start)
    found = evaluate(op, [*arrays, start])
    expected = reference("GRU", *arrays, None, None, start, outputs=2, hidden_size=5)
    for one, other in zip(found, expected, strict=True):
        assert_same(one, other, F32, ulps=64, scale=1)


@pytest.mark.parametrize("rank", [0, 1])
def test_limits_of_non_max_suppression_may_be_scalars(rank: int) -> None:
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]]], F32)
    scores = np.array([[[0.9, 0.8, 0.7]]], F32)
    limits = [np.array(2, np.int64), np.array(0.5, F32), np.array(0.0, F32)]
    limits = [limit.reshape((1,) * rank) for limit in limits]
    node = helper.make_node("NonMaxSuppression", ["b", "s", "m", "i", "t"], ["y"])
    (found,) = evaluate(call(node, boxes, scores, *limits), [boxes, scores, *limits])
    np.testing.assert_array_equal(found, [[0, 0, 0], [0, 0, 2]])


@pytest.mark.parametrize(("shape", "wanted"), [((1, 40), (1, 2)), ((2, 40), (1, 2))])
def test_indices_of_gather_elements_may_be_short(
    shape: tuple[int, int], wanted: tuple[int, int]
) -> None:
    x = random(F32, *shape)
    indices = np.array([[39, 2]]).reshape(wanted)
    node = helper.make_node("GatherElements", ["a", "b"], ["c"], axis=1)
    (found,) = evaluate(call(node, x, indices), [x, indices])
    np.testing.assert_array_equal(found, x[:1, [39, 2]])
    with pytest.raises(InterpretationError, match=r"'ai\.onnx::GatherElements' failed"):
        evaluate(call(node, x, indices), [x, indices + 1])


def test_attributes_and_version_reach_the_reference() -> None:
    x = random(F32, 2, 6)
    for axis in (0, 1):
        op = call(helper.make_node("Hardmax", ["a"], ["b"], axis=axis), x)
        assert_same(evaluate(op, [x])[0], reference("Hardmax", x, axis=axis), F32)


def test_results_have_the_declared_element_type() -> None:
    x = random(np.float16, 3, 3)
    op = HostCallOp(
        "ai.onnx::Det",
        OPSET,
        [create_ssa_value(tensor_type(f16, (3, 3)))],
        [tensor_type(f16, ())],
    )
    (found,) = evaluate(op, [x.astype(np.float32)])
    assert found.dtype == np.float16


def test_strings_reach_the_reference() -> None:
    text = np.array(["a", "b"], object)
    node = helper.make_node("StringConcat", ["a", "b"], ["c"])
    (found,) = evaluate(call(node, text, text), [text, text])
    assert found.tolist() == ["aa", "bb"]


def test_ops_without_an_implementation_say_so() -> None:
    op = HostCallOp("com.example::Gizmo", 1, [], [tensor_type(f32, ())])
    with pytest.raises(InterpretationError, match=r"'com.example::Gizmo' failed in onnx.reference"):
        evaluate(op, [])


def test_ops_without_operands_run() -> None:
    node = helper.make_node("Constant", [], ["y"], value_ints=[1, 2])
    (found,) = evaluate(call(node), [])
    np.testing.assert_array_equal(found, [1, 2])
