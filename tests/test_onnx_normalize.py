"""Local functions, spellings of `Constant`, and shapes that the caller fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.input_shapes import (
    DYNAMIC,
    DimRange,
    DimSpec,
    describe_input,
    parse_input_shapes,
    specialize,
)
from ge_dialect.frontends.onnx.load import LoadedModel, load_onnx, load_proto
from ge_dialect.frontends.onnx.normalize import align_opsets, normalize

if TYPE_CHECKING:
    from pathlib import Path

F = TensorProto.FLOAT


def model_of(
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto] | None = None,
    functions: list[onnx.FunctionProto] | None = None,
    output: onnx.ValueInfoProto | None = None,
) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", F, [4])
    y = output or helper.make_tensor_value_info("y", F, [4])
    graph = helper.make_graph(nodes, "main", inputs or [x], [y])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=imports, functions=functions or [])


def function_of(name: str, nodes: list[onnx.NodeProto], opset: int = 17) -> onnx.FunctionProto:
    """A function of one input `a` and one output `b`."""
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    return helper.make_function("local", name, ["a"], ["b"], nodes, imports)


def call(name: str, source: str, result: str) -> onnx.NodeProto:
    return helper.make_node(name, [source], [result], domain="local", name=f"{name}_{result}")


def refill(loaded: LoadedModel) -> onnx.ModelProto:
    """The model with the bytes of its big constants put back."""
    model = onnx.ModelProto()
    model.CopyFrom(loaded.model)
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.t.external_data:
                raw = loaded.weight(attribute.t).view().tobytes()
                attribute.t.ClearField("external_data")
                attribute.t.ClearField("data_location")
                attribute.t.raw_data = raw
    return model


def run(model: onnx.ModelProto) -> Any:
    evaluator: Any = ReferenceEvaluator(model)
    return evaluator.run(None, {"x": np.ones(4, np.float32)})[0]


def refused(code: str, act: Any, *arguments: Any) -> str:
    with pytest.raises(GEError) as caught:
        act(*arguments)
    assert caught.value.code == code, str(caught.value)
    return str(caught.value)


# Functions


def test_functions_are_inlined_with_their_big_constants(tmp_path: Path):
    big = np.random.default_rng(0).standard_normal((400, 4)).astype(np.float32)
    shift = function_of("Shift", [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(big)),
        helper.make_node("ReduceMean", ["c"], ["m"], axes=[0], keepdims=0),
        helper.make_node("Add", ["a", "m"], ["b"]),
    ])  # fmt: skip
    twice = function_of("Twice", [call("Shift", "a", "t"), call("Shift", "t", "b")])
    model = model_of([call("Twice", "x", "y")], functions=[shift, twice])
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    result = normalize(load_onnx(tmp_path / "m.onnx"))
    assert not result.model.functions
    assert {node.op_type for node in result.model.graph.node} == {"Constant", "ReduceMean", "Add"}
    np.testing.assert_array_equal(run(refill(result)), run(model))


def test_functions_of_another_opset_are_converted():
    old = function_of("Old", [helper.make_node("Upsample", ["a", "a"], ["b"])], opset=9)
    result = normalize(load_proto(model_of([call("Old", "x", "y")], functions=[old])))
    nodes = result.model.graph.node
    assert [node.op_type for node in nodes] == ["Constant", "Resize"]
    assert nodes[0].attribute[0].t.HasField("raw_data")


def test_functions_that_call_themselves_are_refused():
    even = function_of("Even", [call("Odd", "a", "b")])
    odd = function_of("Odd", [call("Even", "a", "b")])
    loaded = load_proto(model_of([call("Even", "x", "y")], functions=[even, odd]))
    assert "calls itself" in refused("GE0214", normalize, loaded)


def test_functions_that_explode_are_refused_before_they_do():
    def doubling(level: int) -> onnx.FunctionProto:
        inner = f"F{level - 1}"
        return function_of(f"F{level}", [call(inner, "a", "t"), call(inner, "t", "b")])

    leaf = function_of("F0", [helper.make_node("Relu", ["a"], ["b"])])
    functions = [leaf, *(doubling(level) for level in range(1, 40))]
    loaded = load_proto(model_of([call("F39", "x", "y")], functions=functions))
    assert f"grow to {2**39} nodes" in refused("GE0214", normalize, loaded)


# Constants


@pytest.mark.parametrize(
    ("attribute", "given", "expected"),
    [
        ("value_float", 1.5, np.array(1.5, np.float32)),
        ("value_floats", [1.5, 2.0], np.array([1.5, 2.0], np.float32)),
        ("value_floats", [0.5] * 2000, np.full(2000, 0.5, np.float32)),
        ("value_int", 3, np.array(3, np.int64)),
        ("value_ints", [3, -4], np.array([3, -4], np.int64)),
        ("value_string", "s", np.array("s")),
        ("value_strings", ["s", "t"], np.array(["s", "t"])),
        ("value", numpy_helper.from_array(np.eye(2)), np.eye(2)),
    ],
)
def test_constants_have_one_spelling(attribute: str, given: Any, expected: Any):
    node = helper.make_node("Constant", [], ["y"], name="c", **{attribute: given})
    result = normalize(load_proto(model_of([node])))
    (found,) = refill(result).graph.node[0].attribute
    assert found.name == "value"
    values = numpy_helper.to_array(found.t)
    assert values.dtype == expected.dtype or expected.dtype.kind == "U"
    np.testing.assert_array_equal(values.astype(expected.dtype), expected)


def test_constants_in_branches_are_rewritten_too():
    constant = helper.make_node("Constant", [], ["t"], value_floats=[1.0] * 4)
    branch = helper.make_graph([constant], "b", [], [helper.make_tensor_value_info("t", F, [4])])
    choose = helper.make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch)
    result = normalize(load_proto(model_of([choose])))
    for attribute in result.model.graph.node[0].attribute:
        assert attribute.g.node[0].attribute[0].name == "value"


def test_normalizing_leaves_the_loaded_model_alone():
    loaded = load_proto(model_of([helper.make_node("Constant", [], ["y"], value_int=1)]))
    before, keys = loaded.model.SerializeToString(), set(loaded.weights)
    normalize(loaded)
    assert loaded.model.SerializeToString() == before
    assert set(loaded.weights) == keys


def test_odd_constants_are_refused():
    none = helper.make_node("Constant", [], ["y"], name="none")
    assert "'none'" in refused("GE0215", normalize, load_proto(model_of([none])))
    two = helper.make_node("Constant", [], ["y"], value_int=1, value_float=1.0)
    assert "'value_int'" in refused("GE0215", normalize, load_proto(model_of([two])))
    wrong = helper.make_node("Constant", [], ["y"], value=1)
    assert "'value'" in refused("GE0215", normalize, load_proto(model_of([wrong])))
    number = helper.make_node("Constant", [], ["y"], value_float=1)
    message = refused("GE0215", normalize, load_proto(model_of([number])))
    assert "'value_float' of kind INT, expected FLOAT" in message
    unknown = helper.make_node("Constant", [], ["y"], values=[1.5])
    message = refused("GE0215", normalize, load_proto(model_of([unknown])))
    assert "'values' of kind FLOATS" in message
    unknown.attribute[0].CopyFrom(
        onnx.AttributeProto(name="value", type=onnx.AttributeProto.TENSOR)
    )
    assert "that is empty" in refused("GE0215", normalize, load_proto(model_of([unknown])))
    values = helper.make_tensor("s", F, [1], [1.0])
    sparse = helper.make_sparse_tensor(values, helper.make_tensor("", 7, [1], [0]), [4])
    node = helper.make_node("Constant", [], ["y"], name="sparse", sparse_value=sparse)
    assert "'sparse'" in refused("GE0213", normalize, load_proto(model_of([node])))


# Shapes


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("x:1,3,224,224", {"x": (1, 3, 224, 224)}),
        ("a:1,3;b:8,-1", {"a": (1, 3), "b": (8, DYNAMIC)}),
        ("x:1~10,4~4,2~-1", {"x": (DimRange(1, 10), 4, DimRange(2, None))}),
        ("s:", {"s": ()}),
        ("in:0: 2 , 3 ; ", {"in:0": (2, 3)}),
    ],
)
def test_shapes_are_parsed(text: str, shapes: dict[str, tuple[DimSpec, ...]]):
    assert parse_input_shapes(text) == shapes


@pytest.mark.parametrize(
    "text",
    ["", ";", "x", ":1", "x:1,,2", "x:a", "x:-2", "x:3~2", "x:-1~3", "x:1;x:2", "x:1~2~3",
     "x:" + "9" * 19, "x:" + "9" * 5000, "x:1.5", "x:\u0663"],
)  # fmt: skip
def test_malformed_shapes_are_refused(text: str):
    assert "x:1,3,224,224" in refused("GE0216", parse_input_shapes, text)


sizes = st.integers(0, 1 << 40)
ranges = st.tuples(sizes, sizes).filter(lambda r: r[0] < r[1]).map(lambda r: DimRange(*r))
dimensions = st.one_of(sizes, st.just(DYNAMIC), ranges)


@given(st.dictionaries(st.sampled_from("abc"), st.lists(dimensions).map(tuple), min_size=1))
def test_shapes_survive_printing(shapes: dict[str, tuple[DimSpec, ...]]):
    text = ";".join(f"{name}:{','.join(map(str, dims))}" for name, dims in shapes.items())
    assert parse_input_shapes(text) == shapes


@pytest.fixture
def dynamic() -> LoadedModel:
    shapes: dict[str, list[int | str | None]] = {
        "ids": ["B", "S"],
        "mask": ["B", "S"],
        "z": [None, 4],
    }
    inputs = [helper.make_tensor_value_info(name, F, dims) for name, dims in shapes.items()]
    y = helper.make_tensor_value_info("y", F, ["B", "S + 1", "T"])
    return load_proto(model_of([helper.make_node("Relu", ["ids"], ["y"])], inputs, output=y))


def described(loaded: LoadedModel) -> list[str]:
    return [describe_input(value) for value in (*loaded.inputs, *loaded.model.graph.output)]


def test_a_symbol_is_fixed_everywhere(dynamic: LoadedModel):
    result = specialize(dynamic, {"ids": [1, 128]})
    assert described(result.loaded) == ["ids[1, 128]", "mask[1, 128]", "z[?, 4]", "y[1, ?, T]"]
    assert described(dynamic)[0] == "ids[B, S]"


def test_ranges_belong_to_symbols(dynamic: LoadedModel):
    result = specialize(dynamic, {"ids": [-1, DimRange(1, 64)], "mask": [2, DimRange(8, None)]})
    assert result.ranges == {"S": DimRange(8, 64)}
    assert described(result.loaded)[:2] == ["ids[2, S]", "mask[2, S]"]
    named = specialize(dynamic, {"z": [DimRange(1, 4), 4]})
    (symbol,) = named.ranges
    assert described(named.loaded)[2] == f"z[{symbol}, 4]"


def test_a_size_within_a_range_wins(dynamic: LoadedModel):
    result = specialize(dynamic, {"ids": [1, DimRange(1, 64)], "mask": [1, 32]})
    assert result.ranges == {}
    assert described(result.loaded)[0] == "ids[1, 32]"


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ({"ids": [1, 128], "mask": [1, 64]}, "'S', which is 128 elsewhere, got 64"),
        ({"ids": [1, DimRange(1, 9)], "mask": [1, 64]}, "'S' of 1~9 elsewhere, got 64"),
        ({"ids": [1, 64], "mask": [1, DimRange(1, 9)]}, "'S' of 64 elsewhere, got 1~9"),
        ({"ids": [1, DimRange(1, 3)], "mask": [1, DimRange(5, 9)]}, "'S' of 1~3 elsewhere"),
        ({"z": [1, 5]}, "dimension 1 of input 'z' is 4 in the model, got 5"),
        ({"z": [1]}, "expected 2 dimensions of z[?, 4], got 1"),
        ({"z": [-3, 4]}, "0 or more, got -3"),
    ],
)
def test_contradicting_shapes_are_refused(
    dynamic: LoadedModel, shapes: dict[str, list[DimSpec]], words: str
):
    assert words in refused("GE0218", specialize, dynamic, shapes)


def test_unknown_inputs_list_the_known_ones(dynamic: LoadedModel):
    message = refused("GE0217", specialize, dynamic, {"images": [1]})
    assert "'images'" in message
    assert "ids[B, S], mask[B, S], z[?, 4]" in message


def test_functions_of_an_operator_set_that_says_the_same_are_inlined():
    """ONNX cannot convert every operator from one set to another."""
    body = [
        helper.make_node("Identity", ["a"], ["t"]),
        helper.make_node("Relu", ["t"], ["b"]),
    ]
    function = helper.make_function("local", "F", ["a"], ["b"], body, [helper.make_opsetid("", 20)])
    graph = helper.make_graph(
        [helper.make_node("F", ["x"], ["y"], domain="local")],
        "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, opset_imports=opsets, functions=[function])
    align_opsets(model)
    assert model.functions[0].opset_import[0].version == 20  # Identity is another one since 19
    del model.functions[0].node[0]
    model.functions[0].node[0].input[0] = "a"
    align_opsets(model)
    assert model.functions[0].opset_import[0].version == 18
