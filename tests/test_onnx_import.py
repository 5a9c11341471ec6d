"""Import of ONNX models: what the module says, and that it computes what the model does."""

from __future__ import annotations

import random

import numpy as np
import onnx
import pytest
from onnx import helper
from xdsl.dialects.builtin import DictionaryAttr

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.frontends.onnx.promote import promote
from ge_dialect.ge.attributes import SymbolAttr
from ge_dialect.ge.constants import array_constant
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.interpreters.functions import run_function
from ge_dialect.locations import location_names
from tests.onnx_models import (
    imported,
    main_of,
    model,
    names_of,
    node,
    ops_of,
    run,
)

F32 = np.float32
X = {"x": ("float32", (2, 3, 4))}
A = np.linspace(-2, 2, 24, dtype=F32).reshape(2, 3, 4)


def test_arguments_results_and_module_carry_the_names_of_the_model():
    proto = model([node("Relu", "x:0")], {"x:0": ("float32", (2,))}, ["y"], opset=17)
    proto.producer_name, proto.producer_version = "pytorch", "2.13"
    module = imported(proto)
    function = main_of(module)
    assert function.sym_name.data == "main"
    assert function.arg_attrs is not None
    assert function.res_attrs is not None
    assert str(function.arg_attrs.data[0]) == '{ge.name = "x:0"}'
    assert str(function.res_attrs.data[0]) == '{ge.name = "y"}'
    assert str(module.attributes["ge.opset"]) == "17 : i64"
    assert str(module.attributes["ge.producer"]) == '"pytorch 2.13"'
    (relu,) = ops_of(module)
    assert location_names(relu) == ("Relu_node",)
    assert relu.results[0].name_hint == "y"


def test_symbols_are_declared_with_their_origin():
    inputs = {"ids": ("float32", ("B", "S")), "past": ("float32", ("B", "S + 1"))}
    proto = model([node("Concat", "ids", "past", axis=1)], inputs, ["y"])
    module = imported(proto, input_shapes="ids:-1,1~64")
    symbols = main_of(module).attributes["ge.symbols"]
    assert isinstance(symbols, DictionaryAttr)
    found = {name: attr.data for name, attr in symbols.data.items() if isinstance(attr, SymbolAttr)}
    assert found["B"].origin == "dim 0 of input 'ids'"
    assert (found["S"].lo, found["S"].hi) == (1, 64)
    assert "2*S + 1" in str(main_of(module).function_type)


def test_an_unnamed_dimension_becomes_a_symbol():
    proto = model([node("Relu", "x")], {"x": ("float32", ("B", "S"))}, ["y"])
    proto.graph.input[0].type.tensor_type.shape.dim[1].ClearField("dim_param")
    assert 'ge.dims<"B", "x_d1">' in str(main_of(imported(proto)).function_type)


def test_shape_arithmetic_makes_symbolic_types():
    nodes = [
        node("Shape", "x", out="shape"),
        node("Gather", "shape", "zero", out="batch"),
        node("Concat", "batch", "minus", axis=0, out="target"),
        node("Reshape", "x", "target"),
    ]
    constants = {"zero": np.array([0]), "minus": np.array([-1])}
    module = imported(model(nodes, {"x": ("float32", ("B", "S", 4))}, ["y"], constants))
    assert "HostCall" not in names_of(module)
    assert '#ge.dims<"B", "4*S">' in str(main_of(module).function_type)


def test_computed_shapes_of_static_tensors_leave_no_ops():
    nodes = [
        node("Shape", "x", out="shape"),
        node("Slice", "shape", "one", "two", out="part"),
        node("Mul", "part", "two", out="double"),
        node("Concat", "two", "double", "minus", axis=0, out="target"),
        node("Reshape", "x", "target"),
    ]
    constants = {"one": np.array([1]), "two": np.array([2]), "minus": np.array([-1])}
    module = imported(model(nodes, X, ["y"], constants))
    assert names_of(module) == ["ge.reshape"]
    assert "tensor<2x6x2xf32>" in str(main_of(module).function_type)


def test_an_unknown_target_stays_on_the_host():
    inputs = {**X, "s": ("int64", (2,))}
    module = imported(model([node("Reshape", "x", "s")], inputs, ["y"]))
    assert names_of(module) == ["Reshape"]


def test_every_unsupported_operator_is_named_at_once():
    nodes = [
        node("Frobnicate", "x", out="a"),
        node("Frobnicate", "a", out="b"),
        node("CastMap", "b", domain="ai.onnx.ml"),
    ]
    proto = model(nodes, X, ["y"])
    proto.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    with pytest.raises(GEError) as caught:
        import_onnx(proto)
    assert caught.value.code == "GE0220"
    for part in ("Frobnicate' is no operator", "2 nodes", "CastMap' works on maps"):
        assert part in caught.value.message


def test_an_operator_of_another_domain_is_refused():
    proto = model([helper.make_node("Gelu", ["x"], ["y"], domain="com.example")], X, ["y"])
    proto.opset_import.append(helper.make_opsetid("com.example", 1))
    with pytest.raises(GEError, match=r"GE0220.*com\.example::Gelu"):
        import_onnx(proto)


@pytest.mark.parametrize(
    ("proto", "message"),
    [
        (
            model([node("Add", "x", "w")], X, ["y"], {"w": np.ones(5, F32)}),
            "Add_node.*expected shapes that broadcast",
        ),
        (model([node("Softmax", "x", axis=3)], X, ["y"]), "Softmax_node.*'axis'"),
        (model([node("Concat", "x", axis=1.5)], X, ["y"]), "'axis' of an integer"),
        (model([node("Add", "x")], X, ["y"]), "expected an input 1"),
        (model([node("Relu", "x", out="y, z")], X, ["y"]), "got 'z' as well"),
    ],
)
def test_a_node_that_does_not_fit_is_named(proto: onnx.ModelProto, message: str):
    with pytest.raises(GEError, match=f"GE0221.*{message}"):
        import_onnx(proto)


def test_an_input_of_an_unknown_type_is_refused():
    proto = model([node("Relu", "x")], X, ["y"])
    proto.graph.input[0].type.sparse_tensor_type.elem_type = 1
    with pytest.raises(GEError, match=r"GE0222.*'x'.*sparse_tensor"):
        import_onnx(proto)


def test_a_host_call_is_promoted_once_its_operands_are_constant():
    inputs = {**X, "s": ("int64", (1,)), "e": ("int64", (1,))}
    module = imported(model([node("Slice", "x", "s", "e")], inputs, ["y"]))
    (call,) = ops_of(module)
    assert isinstance(call, HostCallOp)
    assert promote(call) is None
    block = main_of(module).body.block
    for argument, number in zip(block.args[1:], (1, 2), strict=True):
        constant = array_constant(np.array([number]))
        block.insert_op_before(constant, call)
        argument.replace_all_uses_with(constant.result)
    values = promote(call)
    assert values is not None
    main_of(module).update_function_type()
    module.verify()
    assert names_of(module) == ["ge.slice"]
    (found,) = run_function(module, [A, np.array([1]), np.array([2])])
    np.testing.assert_array_equal(found, A[1:2])


def test_a_node_that_cannot_be_spelled_out_keeps_its_own_type():
    """Sizes that nothing relates cannot be broadcast: that index is of another type."""
    inputs = {"x": ("float32", ("a", 4, 8)), "u": ("float32", ("b", 1, 8)), "w": ("int64", ("c",))}
    module = imported(model([node("TensorScatter", "x", "u", "w")], inputs, ["y"], opset=24))
    call = ops_of(module)[-1]
    assert isinstance(call, HostCallOp)
    assert str(element_type_of(call.results[0])) == "f32"


def test_narrow_integers_are_unpacked():
    tensor = helper.make_tensor("w", onnx.TensorProto.INT4, [3], [-8, 7, -1])
    proto = model(
        [node("DequantizeLinear", "w", "s")],
        {"s": ("float32", ())},
        ["y"],
        opset=21,
    )
    proto.graph.initializer.append(tensor)
    (found,) = run(proto, np.array(2, F32))
    np.testing.assert_array_equal(found, [-16, 14, -2])


def test_large_tensors_are_never_made():
    size = np.array([1 << 40])
    proto = model([node("ConstantOfShape", "n")], {"unused": ("float32", ())}, ["y"], {"n": size})
    assert names_of(imported(proto)) == ["ge.broadcast_to"]


def _mutated(proto: onnx.ModelProto, rng: random.Random) -> onnx.ModelProto:
    """Returns a model with one thing wrong, perhaps."""
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    chosen = rng.choice(copy.graph.node)
    numbers = [0, 1, -1, 3, 100, 2**31, 2**63 - 1, -(2**63)]
    match rng.randrange(5):
        case 0 if chosen.attribute:
            attribute = rng.choice(chosen.attribute)
            values = [rng.choice(numbers), 2.5, "x", [rng.choice(numbers)] * 2, [1.5]]
            attribute.CopyFrom(helper.make_attribute(attribute.name, rng.choice(values)))
        case 1:
            chosen.input[0] = rng.choice([*chosen.input, ""])
        case 2:
            dims = copy.graph.input[0].type.tensor_type.shape.dim
            dims[rng.randrange(len(dims))].dim_param = rng.choice(["N", "N+1", "a b", "N//0"])
        case 3:
            copy.graph.input[0].type.tensor_type.elem_type = rng.choice([0, 2, 7, 8, 9, 14, 99])
        case _:
            dims = copy.graph.input[0].type.tensor_type.shape.dim
            dims[rng.randrange(len(dims))].dim_value = rng.choice(numbers)
    return copy


_FUZZED = [
    node("Conv", "x", "w", strides=[1], pads=[1, 1]),
    node("Concat", "x", "x", axis=1),
    node("Transpose", "x", perm=[2, 0, 1]),
    node("LayerNormalization", "x", "b", axis=-1, out="y, m"),
    node("Attention", "x", "x", "x", q_num_heads=2, kv_num_heads=1),
    node("DepthToSpace", "x", blocksize=2),
    node("Hardmax", "x", axis=1),
    node("TopK", "x", "t", axis=1, out="y, i"),
    node("Reshape", "x", "t"),
]


@pytest.mark.parametrize("start", _FUZZED, ids=lambda start: start.op_type)
def test_damaged_models_end_in_one_kind_of_error(start: onnx.NodeProto):
    constants = {"w": np.ones((2, 3, 3), F32), "b": np.ones(4, F32), "t": np.array([-1])}
    proto = model([start], X, ["y"], constants)
    rng = random.Random(start.op_type)
    for _ in range(60):
        damaged = _mutated(proto, rng)
        try:
            import_onnx(damaged).verify()
        except GEError as error:
            assert error.code.startswith("GE02")
