"""Import of operators with bodies: `Scan`, `SequenceMap`, `FlexAttention`, and odd operands."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.interpreters.functions import run_function
from tests.onnx_models import Array, Shape, imported, main_of, model, names_of, node, run, value

F32 = np.float32
RANDOM = np.random.default_rng(0)


def _types(module: ModuleOp) -> list[str]:
    return [str(type_) for type_ in main_of(module).function_type.outputs]


def _body(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[str],
    outputs: Sequence[str],
    constants: dict[str, Array] | None = None,
) -> onnx.GraphProto:
    return helper.make_graph(
        list(nodes),
        "body",
        [value(name, "float32", None) for name in inputs],
        [value(name, "float32", None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )


RUNNING = _body(
    [node("Add", "s", "x", out="t"), node("Mul", "t", "x", out="z")], ["s", "x"], ["t", "z"]
)
"""Adds up the slices; gives each sum times the slice."""


def _running(start: Array, slices: Sequence[Array]) -> tuple[Array, list[Array]]:
    given: list[Array] = []
    for one in slices:
        start = start + one
        given.append(start * one)
    return start, given


def _scan(shape: Sequence[int | str], start: Sequence[int | str], **attributes: Any):
    scan = node("Scan", "init", "a", out="last, zs", num_scan_inputs=1, body=RUNNING, **attributes)
    inputs = {"init": ("float32", start), "a": ("float32", shape)}
    return model([scan], inputs, ["last", "zs"], opset=21)


@pytest.mark.parametrize("named", [False, True])
def test_a_scan_goes_along_any_axis_in_any_direction(named: bool):
    a = RANDOM.standard_normal((2, 3, 4)).astype(F32)
    shape = ("P", "Q", "R") if named else a.shape
    for axis, out_axis, turned, out_turned in product((-3, 1, 2), (-1, 0, 1), (0, 1), (0, 1)):
        slices: list[Array] = list(np.moveaxis(a, axis, 0))
        start: Array = RANDOM.standard_normal(np.shape(slices[0])).astype(F32)
        proto = _scan(
            shape,
            start.shape,
            scan_input_axes=[axis],
            scan_input_directions=[turned],
            scan_output_axes=[out_axis],
            scan_output_directions=[out_turned],
        )
        last, given = _running(start, slices[::-1] if turned else slices)
        expected = np.stack(given[::-1] if out_turned else given, axis=out_axis)
        module = imported(proto)
        assert all(name.startswith("ge.") for name in names_of(module))
        for found, want in zip(run_function(module, [start, a]), (last, expected), strict=True):
            np.testing.assert_array_equal(found, want)


def test_the_iterations_of_a_scan_are_a_dimension():
    assert _types(imported(_scan((3, 2), (2,))))[1] == "tensor<3x2xf32>"
    named = imported(_scan(("N", 2), (2,)))
    assert _types(named)[1] == 'tensor<?x2xf32, #ge.dims<"N">>'
    last, zs = run_function(named, [np.ones(2, F32), np.zeros((0, 2), F32)])
    np.testing.assert_array_equal(last, np.ones(2, F32))
    assert zs.shape == (0, 2)


def test_scan_inputs_have_one_length():
    body = _body([node("Add", "p", "q", out="z")], ["p", "q"], ["z"])
    scan = node("Scan", "a", "b", out="zs", num_scan_inputs=2, body=body)
    inputs: dict[str, tuple[str, Shape]] = {
        "a": ("float32", (3, 2)),
        "b": ("float32", (4, 2)),
    }
    with pytest.raises(GEError, match=r"GE0221.*scan inputs of one length, got \[3, 4\]"):
        import_onnx(model([scan], inputs, ["zs"]))
    inputs["a"] = ("float32", ("N", 2))
    a, b = RANDOM.standard_normal((2, 4, 2)).astype(F32)
    module = imported(model([scan], inputs, ["zs"]))
    assert _types(module) == ["tensor<4x2xf32>"]
    np.testing.assert_array_equal(run_function(module, [a, b])[0], a + b)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"scan_input_axes": [5]}, r"expected 'axis' in \[-2, 2\), got 5"),
        ({"scan_output_axes": [2]}, r"expected 'axis' in \[-2, 2\), got 2"),
        ({"scan_input_directions": [2]}, "expected 'scan_input_directions' of 1 numbers"),
        ({"scan_output_directions": [0, 0]}, "expected 'scan_output_directions' of 1 numbers"),
    ],
)
def test_a_malformed_scan_is_refused(attributes: dict[str, Any], message: str):
    with pytest.raises(GEError, match=f"GE0221.*{message}"):
        import_onnx(_scan((3, 2), (2,), **attributes))


@pytest.mark.parametrize("turned", [0, 1])
def test_the_first_scan_has_a_batch_and_lengths(turned: int):
    scan = node(
        "Scan", "n", "init", "a", out="last, zs", num_scan_inputs=1, body=RUNNING,
        directions=[turned],
    )  # fmt: skip
    inputs = {
        "n": ("int64", ("B",)),
        "init": ("float32", ("B", 2)),
        "a": ("float32", ("B", "L", 2)),
    }
    module = imported(model([scan], inputs, ["last", "zs"], opset=8))
    assert _types(module) == [
        'tensor<?x2xf32, #ge.dims<"B">>',
        'tensor<?x?x2xf32, #ge.dims<"B", "L">>',
    ]
    lengths = np.array([4, 1, 0, 3])
    start = RANDOM.standard_normal((4, 2)).astype(F32)
    a = RANDOM.standard_normal((4, 4, 2)).astype(F32)
    last, zs = run_function(module, [lengths, start, a])
    assert zs.shape == a.shape
    for member, length in enumerate(lengths):
        slices = list(a[member, :length])
        expected, given = _running(start[member], slices[::-1] if turned else slices)
        np.testing.assert_array_equal(last[member], expected)
        np.testing.assert_array_equal(zs[member, :length], np.reshape(given, (length, 2)))


SEQUENCE = helper.make_sequence_type_proto(
    helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [None])
)


def _with_sequence(proto: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """Declares an input as a sequence."""
    proto.graph.input.append(helper.make_value_info(name, SEQUENCE))
    return proto


def test_a_body_is_mapped_over_sequences():
    # The names are those that the function of ONNX has for values of its own.
    body = _body(
        [
            node("Add", "input_sequence", "SequenceMap_input_sequence_seqlen", out="a/b:0"),
            node("Mul", "a/b:0", "two", out="z"),
        ],
        ["input_sequence"],
        ["z"],
        {"two": np.asarray(2, F32)},
    )
    mapped = node("SequenceMap", "s", body=body)
    inputs = {"SequenceMap_input_sequence_seqlen": ("float32", (1,))}
    module = imported(_with_sequence(model([mapped], inputs, ["y"]), "s"))
    items = [np.full(size, size, F32) for size in (1, 3)]
    (found,) = run_function(module, [np.ones(1, F32), items])
    for have, item in zip(found, items, strict=True):
        np.testing.assert_array_equal(have, (item + 1) * 2)
    assert run_function(module, [np.ones(1, F32), []]) == ([],)


def test_maps_nest():
    inner = node(
        "SequenceMap", "parts", out="inner", body=_body([node("Neg", "p", out="q")], ["p"], ["q"])
    )
    body = _body(
        [
            node("SplitToSequence", "x", out="parts", axis=0),
            inner,
            node("ConcatFromSequence", "inner", out="z", axis=0),
        ],
        ["x"],
        ["z"],
    )
    module = imported(_with_sequence(model([node("SequenceMap", "s", body=body)], {}, ["y"]), "s"))
    (found,) = run_function(module, [[np.arange(3, dtype=F32)]])
    np.testing.assert_array_equal(found[0], -np.arange(3, dtype=F32))


def _flex(**attributes: Any) -> onnx.ModelProto:
    flex = node("FlexAttention", "Q", "K", "V", domain="ai.onnx.preview", **attributes)
    inputs = dict.fromkeys("QKV", ("float32", (1, 2, "L", 4)))
    proto = model([flex], {**inputs, "Score": ("float32", ())}, ["y"], opset=26)
    proto.opset_import.append(helper.make_opsetid("ai.onnx.preview", 1))
    return proto


def test_attention_is_expanded_with_its_bodies():
    q, k, v = RANDOM.standard_normal((3, 1, 2, 3, 4)).astype(F32)
    # `Score` is also a name of the function of ONNX.
    bias = _body([node("Add", "s", "Score", out="t")], ["s"], ["t"])
    double = _body([node("Mul", "p", "two", out="r")], ["p"], ["r"], {"two": np.asarray(2, F32)})
    weights = np.exp(q @ k.swapaxes(2, 3) / 2)
    weights /= weights.sum(-1, keepdims=True)
    for attributes, factor in (({}, 1), ({"score_mod": bias}, 1), ({"prob_mod": double}, 2)):
        module = imported(_flex(**attributes))
        assert all(name.startswith("ge.") for name in names_of(module))
        (found,) = run_function(module, [q, k, v, np.asarray(0.5, F32)])
        np.testing.assert_allclose(found, factor * weights @ v, rtol=1e-5, atol=1e-6)
    scores = _body([node("Mul", "s", "Score", out="t")], ["s"], ["t"])
    (found,) = run(_flex(score_mod=scores), q, k, v, np.asarray(0, F32))
    mean = np.broadcast_to(v.mean(2, keepdims=True), v.shape)
    np.testing.assert_allclose(found, mean, rtol=1e-5, atol=1e-6)


def test_a_body_that_does_not_fit_its_operator_is_refused():
    two = _body([node("Add", "s", "t", out="u")], ["s", "t"], ["u"])
    with pytest.raises(GEError, match=r"GE0221.*FlexAttention"):
        import_onnx(_flex(score_mod=two))


def test_conditions_and_limits_of_unknown_rank_are_scalars():
    branches: dict[str, Any] = {
        f"{name}_branch": helper.make_graph([one], name, [], [value("z", "float32", None)])
        for name, one in (("then", node("Neg", "x", out="z")), ("else", node("Abs", "x", out="z")))
    }
    body = helper.make_graph(
        [node("Add", "v", "v", out="w"), node("Identity", "go", out="on")],
        "body",
        [value("i", "int64", ()), value("go", "bool", ()), value("v", "float32", None)],
        [value("on", "bool", ()), value("w", "float32", None)],
    )
    inputs = {"x": ("float32", (2,)), "c": ("bool", ()), "n": ("int64", ())}
    nodes = [node("If", "c", out="z", **branches), node("Loop", "n", "c", "z", body=body)]
    proto = model(nodes, inputs, ["y"])
    for declared in proto.graph.input[1:]:
        declared.type.tensor_type.ClearField("shape")
    module = imported(proto)
    x = np.array([-1, 2], F32)
    for shape in ((), (1,), (1, 1)):
        flag, trips = np.full(shape, True), np.full(shape, 3)
        np.testing.assert_array_equal(run_function(module, [x, flag, trips])[0], -x * 8)
    np.testing.assert_array_equal(run_function(module, [x, np.array([False]), trips])[0], [1, 2])


def _growing(*operands: str) -> onnx.NodeProto:
    """A loop whose body adds one item to a sequence; an absent one starts with that item."""
    start = helper.make_graph(
        [node("SequenceEmpty", out="e")], "then", [], [helper.make_value_info("e", SEQUENCE)]
    )
    rest = helper.make_graph(
        [node("OptionalGetElement", "v", out="g")],
        "else",
        [],
        [helper.make_value_info("g", SEQUENCE)],
    )
    nodes = [
        node("OptionalHasElement", "v", out="has"),
        node("Not", "has", out="lacks"),
        node("If", "lacks", out="u", then_branch=start, else_branch=rest),
        node("SequenceInsert", "u", "x", out="w"),
    ]
    body = helper.make_graph(
        nodes,
        "body",
        [
            value("i", "int64", ()),
            value("go", "bool", ()),
            helper.make_value_info("v", helper.make_optional_type_proto(SEQUENCE)),
        ],
        [value("go", "bool", ()), helper.make_value_info("w", SEQUENCE)],
    )
    return node("Loop", *operands, body=body)


def test_a_loop_carries_a_sequence_that_may_be_absent_at_first():
    proto = model([_growing("n", "", "o")], {"x": ("float32", (2,)), "n": ("int64", ())}, ["y"])
    optional = helper.make_optional_type_proto(SEQUENCE)
    proto.graph.input.append(helper.make_value_info("o", optional))
    module = imported(proto)
    assert _types(module) == ["!ge.optional<!ge.sequence<tensor<*xf32>>>"]
    x = np.ones(2, F32)
    for start, trips, length in ((None, 3, 3), ([x], 2, 3), ([], 0, 0)):
        (found,) = run_function(module, [x, np.asarray(trips), start])
        assert len(found) == length
    assert run_function(module, [x, np.asarray(0), None]) == (None,)


def test_what_iterations_stack_is_a_tensor():
    body = helper.make_graph(
        [node("SequenceConstruct", "x", out="s")],
        "body",
        [value("i", "int64", ()), value("go", "bool", ())],
        [value("go", "bool", ()), helper.make_value_info("s", SEQUENCE)],
    )
    proto = model(
        [node("Loop", "n", "", body=body)], {"x": ("float32", (2,)), "n": ("int64", ())}, ["y"]
    )
    with pytest.raises(GEError, match=r"GE0221.*expected tensors as what each iteration adds"):
        import_onnx(proto)


def test_branches_give_sequences_of_different_items():
    branches: dict[str, Any] = {
        f"{name}_branch": helper.make_graph(
            [node("SequenceConstruct", *items, out="z")],
            name,
            [],
            [helper.make_value_info("z", SEQUENCE)],
        )
        for name, items in (("then", ("a",)), ("else", ("b", "b")))
    }
    inputs = {"c": ("bool", ()), "a": ("float32", (2,)), "b": ("float32", (3,))}
    module = imported(model([node("If", "c", **branches)], inputs, ["y"]))
    assert _types(module) == ["!ge.sequence<tensor<?xf32>>"]
    a, b = np.ones(2, F32), np.ones(3, F32)
    assert [len(run_function(module, [np.array(c), a, b])[0]) for c in (True, False)] == [1, 2]


def test_training_is_refused():
    gradient = node("Gradient", "x", domain="ai.onnx.preview.training", xs=["x"], y="x")
    proto = model([gradient], {"x": ("float32", (2,))}, ["y"])
    proto.opset_import.append(helper.make_opsetid("ai.onnx.preview.training", 1))
    with pytest.raises(GEError, match=r"GE0220.*Gradient' belongs to the training of a model"):
        import_onnx(proto)
