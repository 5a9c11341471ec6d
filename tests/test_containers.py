"""Sequences, optionals and maps: types, what operators on them give, and their import."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from xdsl.dialects.builtin import UnrankedTensorType, f32, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError, VerifyException

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.frontends.onnx.values import join_types
from ge_dialect.ge.attributes import StringType
from ge_dialect.ge.containers import MapType, OptionalType, SequenceType
from ge_dialect.ge.host import attrs_from_node, infer_host_call_types, make_node
from ge_dialect.ge.onnx_types import from_type_proto, static_dim, to_type_proto
from ge_dialect.ge.types import compatible, tensor_type
from ge_dialect.interpreters.functions import run_function
from ge_dialect.symbols import symbol
from tests.onnx_models import Array, imported, main_of, model, names_of, node

F32 = np.float32
A, B, C = (np.full(size, size, F32) for size in (1, 2, 3))
S = symbol("S")


def typed(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, onnx.TypeProto],
    outputs: list[str],
    constants: dict[str, Array] | None = None,
) -> onnx.ModelProto:
    """Returns a model with inputs of any type."""
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_value_info(name, type_) for name, type_ in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets)


TENSOR = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, ["N"])
SEQUENCE = helper.make_sequence_type_proto(TENSOR)
OPTIONAL = helper.make_optional_type_proto(TENSOR)
OPTIONAL_SEQUENCE = helper.make_optional_type_proto(SEQUENCE)


def same(found: Any, expected: Any) -> bool:
    """Whether two values are equal, tensors bit by bit."""
    if isinstance(expected, list):
        items = cast("list[Any]", expected)
        return len(found) == len(items) and all(map(same, found, items))
    if isinstance(expected, dict):
        by_key = cast("dict[Any, Any]", expected)
        return list(found) == list(by_key) and all(map(same, found.values(), by_key.values()))
    if expected is None:
        return found is None
    return found.dtype == expected.dtype and np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SequenceType(f32), "expected items that are tensors or containers, got f32"),
        (lambda: OptionalType(StringType()), "expected items"),
        (lambda: MapType(f32, tensor_type(f32, ())), "expected keys of integers or strings"),
    ],
)
def test_items_and_keys_are_checked(build: Any, message: str):
    with pytest.raises(VerifyException, match=message):
        build()


def test_types_go_to_onnx_and_back():
    for type_ in (
        SequenceType(tensor_type(f32, (2, None))),
        OptionalType(SequenceType(UnrankedTensorType(f32))),
        SequenceType(MapType(StringType(), tensor_type(f32, ()))),
        MapType(i64, tensor_type(StringType(), (3,))),
    ):
        assert from_type_proto(to_type_proto(type_), static_dim) == type_


def test_sparse_tensors_have_no_type():
    sparse = helper.make_sparse_tensor_type_proto(onnx.TensorProto.FLOAT, [2])
    assert from_type_proto(sparse, static_dim) is None
    assert from_type_proto(helper.make_sequence_type_proto(sparse), static_dim) is None


def test_items_may_be_less_precise_than_declared():
    two, any_ = tensor_type(f32, (2,)), tensor_type(f32, (None,))
    assert compatible(SequenceType(any_), SequenceType(two))
    assert not compatible(SequenceType(tensor_type(f32, (3,))), SequenceType(two))
    assert not compatible(SequenceType(two), OptionalType(two))
    assert not compatible(UnrankedTensorType(f32), SequenceType(two))
    assert not compatible(MapType(i64, two), MapType(StringType(), two))
    assert compatible(OptionalType(any_), two)
    assert not compatible(two, OptionalType(two))


def test_joined_types_hold_for_both():
    two, three = tensor_type(f32, (2,)), tensor_type(f32, (3,))
    any_ = tensor_type(f32, (None,))
    cases: list[tuple[Attribute, Attribute, Attribute | None]] = [
        (SequenceType(two), SequenceType(three), SequenceType(any_)),
        (OptionalType(two), three, OptionalType(any_)),
        (two, OptionalType(two), OptionalType(two)),
        (SequenceType(two), two, None),
        (SequenceType(two), SequenceType(tensor_type(i64, (2,))), None),
        (MapType(i64, two), MapType(StringType(), two), None),
    ]
    for first, second, expected in cases:
        assert join_types(first, second) == expected
        assert join_types(second, first) == expected


def test_attributes_that_are_types_survive():
    optional = helper.make_node("Optional", [], ["y"], type=SEQUENCE)
    attrs = attrs_from_node(optional)
    again = make_node("ai.onnx::Optional", attrs, (), 0, 1)
    assert attrs_from_node(again) == attrs
    item = tensor_type(f32, (None,))
    assert infer_host_call_types(again, 18, []) == [OptionalType(SequenceType(item))]


def test_items_of_different_shapes_have_no_common_dimension():
    insert = helper.make_node("SequenceInsert", ["s", "x"], ["y"])
    types = [SequenceType(tensor_type(f32, (S,))), tensor_type(f32, (2,))]
    assert infer_host_call_types(insert, 18, types) == [SequenceType(tensor_type(f32, (None,)))]
    at = helper.make_node("SequenceAt", ["s", "i"], ["y"])
    found = infer_host_call_types(at, 18, [types[0], tensor_type(i64, ())])
    assert found == [tensor_type(f32, (S,))]


@pytest.mark.parametrize(
    ("proto", "position", "expected"),
    [
        (node("SequenceInsert", "s", "x"), None, [A, B, C]),
        (node("SequenceInsert", "s", "x", "i"), 0, [C, A, B]),
        (node("SequenceInsert", "s", "x", "i"), 2, [A, B, C]),
        (node("SequenceInsert", "s", "x", "i"), -1, [A, C, B]),
        (node("SequenceInsert", "s", "x", "i"), -2, [C, A, B]),
        (node("SequenceErase", "s"), None, [A]),
        (node("SequenceErase", "s", "i"), 0, [B]),
        (node("SequenceErase", "s", "i"), -2, [B]),
        (node("SequenceAt", "s", "i"), 1, B),
        (node("SequenceAt", "s", "i"), -2, A),
        (node("SequenceLength", "s"), None, np.asarray(2)),
        (node("SequenceConstruct", "x", "x"), None, [C, C]),
        (node("SequenceEmpty"), None, []),
        (node("ConcatFromSequence", "s", axis=0), None, np.concatenate([A, B])),
        (node("Identity", "s"), None, [A, B]),
    ],
)
def test_sequences(proto: onnx.NodeProto, position: int | None, expected: Any):
    constants = {} if position is None else {"i": np.asarray(position)}
    wanted = typed([proto], {"s": SEQUENCE, "x": TENSOR}, ["y"], constants)
    given = [A, B]
    (found,) = run_function(imported(wanted), [given, C])
    assert same(found, expected)
    assert same(given, [A, B])


def test_an_empty_sequence_takes_a_first_item():
    insert = typed([node("SequenceInsert", "s", "x", "x0")], {"s": SEQUENCE, "x": TENSOR}, ["y"])
    insert.graph.initializer.append(numpy_helper.from_array(np.asarray(0), "x0"))
    (found,) = run_function(imported(insert), [[], C])
    assert same(found, [C])


@pytest.mark.parametrize(
    ("proto", "position", "message"),
    [
        (node("SequenceInsert", "s", "x", "i"), 3, r"expected 'position' in \[-2, 2\], got 3"),
        (node("SequenceErase", "s", "i"), 2, r"in \[-2, 1\], got 2"),
        (node("SequenceAt", "s", "i"), -3, r"in \[-2, 1\], got -3"),
    ],
)
def test_positions_outside_are_errors(proto: onnx.NodeProto, position: int, message: str):
    wanted = typed([proto], {"s": SEQUENCE, "x": TENSOR}, ["y"], {"i": np.asarray(position)})
    with pytest.raises(InterpretationError, match=message):
        run_function(imported(wanted), [[A, B], C])


def test_nothing_is_not_concatenated():
    concat = typed([node("ConcatFromSequence", "s", axis=0)], {"s": SEQUENCE}, ["y"])
    with pytest.raises(InterpretationError, match="expected a sequence of at least one tensor"):
        run_function(imported(concat), [[]])


def test_tensors_are_stacked_along_a_new_axis():
    for axis in (0, 1, -1):
        stack = node("ConcatFromSequence", "s", axis=axis, new_axis=1)
        module = imported(typed([stack], {"s": SEQUENCE}, ["y"]))
        (found,) = run_function(module, [[B, B + 1]])
        assert same(found, np.stack([B, B + 1], axis))


@pytest.mark.parametrize(
    ("attributes", "lengths", "expected"),
    [
        ({}, None, [(1, 5), (1, 5)]),
        ({"axis": 1, "keepdims": 0}, None, [(2,)] * 5),
        ({"axis": -1}, np.asarray(2), [(2, 2), (2, 2), (2, 1)]),
        ({"axis": 1, "keepdims": 0}, np.asarray(2), [(2, 2), (2, 2), (2, 1)]),
        ({"axis": 1}, np.asarray([1, 4]), [(2, 1), (2, 4)]),
        ({"axis": 1}, np.asarray([0, 5]), [(2, 0), (2, 5)]),
    ],
)
def test_parts_of_a_tensor(
    attributes: dict[str, Any], lengths: Array | None, expected: list[tuple[int, ...]]
):
    x = np.arange(10, dtype=F32).reshape(2, 5)
    operands = ("x",) if lengths is None else ("x", "n")
    constants = {} if lengths is None else {"n": lengths}
    split = node("SplitToSequence", *operands, **attributes)
    (found,) = run_function(
        imported(model([split], {"x": ("float32", ("N", 5))}, ["y"], constants)), [x]
    )
    assert [part.shape for part in found] == expected
    axis = attributes.get("axis", 0)
    joined = np.stack if found[0].ndim == 1 else np.concatenate
    assert same(joined(found, axis=axis), x)


def test_lengths_that_do_not_fit_are_errors():
    split = node("SplitToSequence", "x", "n", axis=0)
    inputs = {"x": ("float32", ("N",)), "n": ("int64", (2,))}
    module = imported(model([split], inputs, ["y"]))
    with pytest.raises(InterpretationError, match=r"cut a dimension of 3, got \[1, 1\]"):
        run_function(module, [C, np.array([1, 1])])


@pytest.mark.parametrize("type_", [TENSOR, SEQUENCE, OPTIONAL, OPTIONAL_SEQUENCE])
def test_optionals(type_: onnx.TypeProto):
    nodes = [node("OptionalHasElement", "o", out="has"), node("OptionalGetElement", "o", out="v")]
    module = imported(typed(nodes, {"o": type_}, ["has", "v"]))
    value = [A, B] if "sequence" in str(type_) else A
    has, found = run_function(module, [value])
    assert has.dtype == bool
    assert has
    assert same(found, value)
    asked = imported(typed(nodes[:1], {"o": type_}, ["has"]))
    if type_.HasField("optional_type"):
        assert not run_function(asked, [None])[0]
        with pytest.raises(InterpretationError, match="expected an optional that holds a value"):
            run_function(module, [None])


def test_an_optional_is_made_with_a_value_and_without():
    full, none = node("Optional", "x", out="y"), node("Optional", out="z", type=SEQUENCE)
    module = imported(typed([full, none], {"x": TENSOR}, ["y", "z"]))
    y, z = run_function(module, [A])
    assert same(y, A)
    assert z is None
    types = [str(type_) for type_ in main_of(module).function_type.outputs]
    assert types == [
        '!ge.optional<tensor<?xf32, #ge.dims<"N">>>',
        "!ge.optional<!ge.sequence<tensor<?xf32>>>",
    ]


def test_items_of_an_input_share_no_symbol():
    module = imported(typed([node("Identity", "s")], {"s": SEQUENCE, "x": TENSOR}, ["y"]))
    types = [str(type_) for type_ in main_of(module).function_type.inputs]
    assert types == ["!ge.sequence<tensor<?xf32>>", 'tensor<?xf32, #ge.dims<"N">>']


def test_a_tensor_in_a_sequence_is_a_copy():
    x = C.copy()
    module = imported(typed([node("SequenceConstruct", "x")], {"x": TENSOR}, ["y"]))
    ((item,),) = run_function(module, [x])
    x[:] = 0
    assert same(item, C)


def _ml(op_type: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op_type, ["x"], ["y"], domain="ai.onnx.ml", **attributes)


def test_scores_get_labels():
    x = np.array([[1, 2], [3, 4]], F32)
    for keys in ({"classlabels_int64s": [7, 5]}, {"classlabels_strings": ["b", "a"]}):
        names = next(iter(keys.values()))
        matrix = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, ["N", 2])
        module = imported(typed([_ml("ZipMap", **keys)], {"x": matrix}, ["y"]))
        (found,) = run_function(module, [x])
        assert same(found, [dict(zip(names, row, strict=True)) for row in x])


def test_a_map_becomes_a_vector():
    number = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [])
    map_ = helper.make_map_type_proto(onnx.TensorProto.STRING, number)
    vectorize = _ml("DictVectorizer", string_vocabulary=["a", "c", "b", "z"])
    module = imported(typed([vectorize], {"x": map_}, ["y"]))
    (found,) = run_function(module, [{"a": np.asarray(4, F32), "c": np.asarray(8, F32)}])
    assert same(found, np.array([4, 8, 0, 0], F32))
    with pytest.raises(InterpretationError, match="expected keys of the vocabulary, got 'q'"):
        run_function(module, [{"q": np.asarray(1, F32)}])


def test_what_nothing_implements_is_refused_at_import():
    number = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [])
    cast = typed([_ml("CastMap")], {"x": helper.make_map_type_proto(7, number)}, ["y"])
    with pytest.raises(GEError, match=r"GE0220.*CastMap' works on maps, and nothing implements it"):
        import_onnx(cast)


def test_sequences_go_through_a_chain_of_ops():
    nodes = [
        node("SplitToSequence", "x", out="s", axis=0),
        node("SequenceAt", "s", "i", out="first"),
        node("SequenceInsert", "s", "first", out="t"),
        node("ConcatFromSequence", "t", axis=0),
    ]
    proto = model(nodes, {"x": ("float32", (2, 3))}, ["y"], {"i": np.asarray(0)})
    module = imported(proto)
    assert names_of(module) == [one.op_type for one in nodes]
    x = np.arange(6, dtype=F32).reshape(2, 3)
    assert same(run_function(module, [x])[0], np.concatenate([x, x[:1]]))
