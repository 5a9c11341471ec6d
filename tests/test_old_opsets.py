"""Import of ONNX: operators as operator sets 1 to 8 had them, and models of old IR versions."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.version_converter
import pytest
from onnx import helper, numpy_helper

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.convert import find_converter
from ge_dialect.frontends.onnx.convert.node import converters
from ge_dialect.frontends.onnx.convert.since import COMPLETE_FROM, SINCE
from ge_dialect.frontends.onnx.load import load_proto
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.interpreters.functions import run_function
from tests.onnx_models import Array, imported, model, names_of, node, ops_of, run

F32 = np.float32
A = np.linspace(-2, 2, 24, dtype=F32).reshape(2, 3, 4)
IMAGE = np.arange(24, dtype=F32).reshape(1, 2, 3, 4)
X = {"x": ("float32", A.shape)}
TWO = np.array([1, -2], F32)
THREE = np.array([1, 2, -3], F32)
FOUR = np.array([1, 2, -3, 4], F32)
LAST = A[..., 0] * A[..., 0]


def _elu(x: Array, alpha: float, gamma: float) -> Array:
    return gamma * np.where(x > 0, x, alpha * np.expm1(x))


def _softmax(x: Any) -> Any:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@pytest.mark.parametrize(
    ("opset", "spelling", "constants", "expected"),
    [
        (6, node("Add", "x", "b", broadcast=1), {"b": FOUR}, A + FOUR),
        (1, node("Add", "x", "b", broadcast=1, axis=1, consumed_inputs=[0, 0]), {"b": THREE},
         A + THREE[:, None]),
        (6, node("Sub", "x", "b", broadcast=1, axis=0), {"b": TWO}, A - TWO[:, None, None]),
        (6, node("Mul", "x", "b", broadcast=1, axis=-2), {"b": THREE}, A * THREE[:, None]),
        (6, node("Mul", "x", "b", broadcast=1, axis=0), {"b": LAST[:, :1]}, A * LAST[:, :1, None]),
        (6, node("Div", "x", "b", broadcast=1), {"b": np.full((1,) * 5, 4, F32)}, A / 4),
        (6, node("Div", "x", "b", broadcast=1, axis=1), {"b": np.full((1,), 4, F32)}, A / 4),
        (1, node("Pow", "x", "b", broadcast=1), {"b": np.array(2, F32)}, A * A),
        (1, node("Greater", "x", "b", broadcast=1, axis=1), {"b": THREE}, THREE[:, None] < A),
        (1, node("Less", "x", "b"), {"b": -A}, A < -A),
        (7, node("Equal", "i", "b"), {"i": np.arange(3), "b": np.array(1)}, [False, True, False]),
        (1, node("Xor", "i", "b", broadcast=1),
         {"i": np.array([[True], [False]]), "b": np.array(True)}, [[False], [True]]),
        (1, node("Not", "b"), {"b": np.array([True, False])}, [False, True]),
        (6, node("Sum", "x", "x", "x"), {}, A * 3),
        (1, node("Mean", "x", "b", consumed_inputs=[0, 0]), {"b": A + 2}, A + 1),
        (6, node("Max", "x", "b"), {"b": -A}, np.abs(A)),
        (8, node("Min", "x", "b"), {"b": FOUR}, np.minimum(A, FOUR)),
        (6, node("PRelu", "x", "b"), {"b": THREE}, np.where(A < 0, A * THREE[:, None], A)),
        (1, node("PRelu", "x", "b", consumed_inputs=[0]), {"b": np.array([3], F32)},
         np.where(A < 0, A * 3, A)),
        (7, node("PRelu", "x", "b"), {"b": FOUR}, np.where(A < 0, A * FOUR, A)),
        (6, node("Gemm", "m", "m", "b", broadcast=1, transB=1, beta=2.0),
         {"m": A[0], "b": THREE}, A[0] @ A[0].T + 2 * THREE),
        (1, node("Gemm", "m", "m", "b", transA=1), {"m": A[0], "b": np.eye(4, dtype=F32)},
         A[0].T @ A[0] + np.eye(4)),
        (1, node("Reshape", "x", shape=[0, -1]), {}, A.reshape(2, 12)),
        (5, node("Reshape", "x", "s"), {"s": np.array([4, -1])}, A.reshape(4, 6)),
        (1, node("Pad", "x", paddings=[0, 1, 0, 0, 0, 2], value=3.0), {},
         np.pad(A, [(0, 0), (1, 0), (0, 2)], constant_values=3)),
        (2, node("Pad", "x", pads=[0, 0, 1, 0, 0, 1], mode="reflect"), {},
         np.pad(A, [(0, 0), (0, 0), (1, 1)], mode="reflect")),
        (1, node("Slice", "x", starts=[1, -2], ends=[9, -1], axes=[1, 2]), {}, A[:, 1:, -2:-1]),
        (1, node("Concat", "x", "x"), {}, np.concatenate([A, A], 1)),
        (4, node("Concat", "x", "x", axis=0), {}, np.concatenate([A, A], 0)),
        (1, node("Split", "x", "s", axis=2, out="a, y"), {"s": np.array([1, 3], F32)}, A[:, :, 1:]),
        (1, node("Split", "x", axis=1, split=[2, 1], out="y, b"), {}, A[:, :2]),
        (2, node("Split", "x", out="a, y"), {}, A[1:]),
        (1, node("Tile", "x", "n", "a"), {"n": np.array([2], F32), "a": np.array([1], F32)},
         np.tile(A, (1, 2, 1))),
        (6, node("Tile", "x", "n"), {"n": np.array([1, 1, 2])}, np.tile(A, (1, 1, 2))),
        (1, node("Cast", "x", to="INT32"), {}, A.astype(np.int32)),
        (6, node("Cast", "x", to=7), {}, A.astype(np.int64)),
        (1, node("Clip", "x", min=-1.0, max=0.5, consumed_inputs=[0]), {}, A.clip(-1, 0.5)),
        (6, node("Clip", "x", max=0.5), {}, np.minimum(A, 0.5)),
        (1, node("Softmax", "x"), {}, _softmax(A.reshape(2, 12)).reshape(A.shape)),
        (1, node("LogSoftmax", "x", axis=0), {},
         np.log(_softmax(A.reshape(1, -1))).reshape(A.shape)),
        (1, node("Selu", "x"), {}, _elu(A, 1.6732, 1.0507)),
        (6, node("Selu", "x"), {}, _elu(A, 1.6732632, 1.050701)),
        (1, node("Elu", "x", consumed_inputs=[0]), {}, _elu(A, 1, 1)),
        (1, node("HardSigmoid", "x"), {}, (A * 0.2 + 0.5).clip(0, 1)),
        (1, node("Relu", "x", consumed_inputs=[0]), {}, np.maximum(A, 0)),
        (1, node("TopK", "x", axis=1, k=1, out="y, i"), {}, A.max(1, keepdims=True)),
        (1, node("ArgMax", "x", axis=2, keepdims=0), {}, A.argmax(2)),
        (1, node("ReduceMean", "x", axes=[0, 2]), {}, A.mean((0, 2), keepdims=True)),
        (1, node("Squeeze", "u", axes=[0]), {"u": A[None]}, A),
        (1, node("Unsqueeze", "x", axes=[1]), {}, A[:, None]),
        (1, node("Flatten", "x"), {}, A.reshape(2, 12)),
        (1, node("Gather", "x", "i", axis=2), {"i": np.array([3, 0], np.int32)}, A[:, :, [3, 0]]),
        (8, node("Expand", "b", "s"), {"b": FOUR, "s": np.array([3, 1])}, np.tile(FOUR, (3, 1))),
        (6, node("Dropout", "x", is_test=1, ratio=0.9), {}, A),
        (1, node("Dropout", "x", is_test=1, consumed_inputs=[0], out="a, y"), {}, np.ones_like(A)),
        (7, node("Dropout", "x"), {}, A),
        (1, node("AveragePool", "x", kernel_shape=[3], pads=[1, 1], strides=[2]), {},
         np.stack([A[..., :2].mean(-1), A[..., 1:].mean(-1)], -1)),
        (1, node("MaxPool", "x", kernel_shape=[2]), {}, np.maximum(A[..., 1:], A[..., :-1])),
        (8, node("MaxPool", "x", kernel_shape=[2], out="a, y"), {},
         np.arange(24).reshape(A.shape)[..., 1:]),
        (1, node("LpPool", "x", kernel_shape=[4], p=2.0), {},
         np.sqrt((A * A).sum(-1, keepdims=True))),
        (1, node("GlobalLpPool", "x", p=1.0), {}, np.abs(A).sum(-1, keepdims=True)),
        (2, node("GlobalLpPool", "x", p=3), {},
         np.cbrt((np.abs(A) ** 3).sum(-1, keepdims=True))),
        (1, node("InstanceNormalization", "x", "b", "b", epsilon=0.0, consumed_inputs=[0]),
         {"b": np.ones(3, F32)},
         (A - A.mean(-1, keepdims=True)) / A.std(-1, keepdims=True) + 1),
    ],
)  # fmt: skip
def test_old_forms_mean_what_they_did(
    opset: int, spelling: onnx.NodeProto, constants: dict[str, Any], expected: Any
):
    module = imported(model([spelling], X, ["y"], constants, opset))
    assert not any(isinstance(op, HostCallOp) for op in ops_of(module))
    (found,) = run_function(module, [A])
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("opset", "spelling"),
    [
        (1, node("Upsample", "x", height_scale=2.0, width_scale=3.0)),
        (7, node("Upsample", "x", scales=[1.0, 1.0, 2.0, 3.0], mode="nearest")),
    ],
)
def test_upsample_repeats(opset: int, spelling: onnx.NodeProto):
    (found,) = run(model([spelling], {"x": ("float32", IMAGE.shape)}, ["y"], opset=opset), IMAGE)
    assert found.tolist() == IMAGE.repeat(2, 2).repeat(3, 3).tolist()


def test_upsample_interpolates_from_the_corner():
    spelling = node("Upsample", "x", height_scale=1.0, width_scale=2.0, mode="bilinear")
    (found,) = run(model([spelling], {"x": ("float32", IMAGE.shape)}, ["y"], opset=1), IMAGE)
    assert found[0, 0, 0].tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3, 3]


def _batch_norm(opset: int, shape: tuple[int, ...], out: str = "y", **how: int) -> onnx.ModelProto:
    numbers = np.arange(1, 1 + np.prod(shape), dtype=F32).reshape(shape)
    constants = {name: numbers * factor for factor, name in enumerate("sbmv", 1)}
    spelling = node("BatchNormalization", "x", "s", "b", "m", "v", out=out, **how)
    return model([spelling], X, out.split(", "), constants, opset)


@pytest.mark.parametrize(
    ("opset", "shape", "how"),
    [
        (1, (3,), {"is_test": 1, "consumed_inputs": [0, 0, 0, 1, 1]}),
        (6, (3,), {"is_test": 1}),
        (7, (3,), {}),
        (6, (3, 4), {"is_test": 1, "spatial": 0}),
        (7, (3, 4), {"spatial": 0}),
    ],
)
def test_batch_normalization_in_inference(opset: int, shape: tuple[int, ...], how: Any):
    numbers = np.arange(1, 1 + np.prod(shape), dtype=F32).reshape(*shape, *(1,) * (2 - len(shape)))
    expected = (A - 3 * numbers) / np.sqrt(4 * numbers + 1e-5) * numbers + 2 * numbers
    (found,) = run(_batch_norm(opset, shape, **how), A)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize(("opset", "out"), [(6, "y"), (6, "y, m1, v1"), (7, "y, m1, v1")])
def test_batch_normalization_in_training(opset: int, out: str):
    found = run(_batch_norm(opset, (3,), out), A)
    numbers = np.arange(1, 4, dtype=F32)
    mean, variance = A.mean((0, 2)), A.var((0, 2))
    normal = (A - mean[:, None]) / np.sqrt(variance[:, None] + 1e-5)
    expected = [
        normal * numbers[:, None] + 2 * numbers[:, None],
        0.9 * 3 * numbers + 0.1 * mean,
        0.9 * 4 * numbers + 0.1 * variance,
    ]
    for have, want in zip(found, expected[: len(out.split(", "))], strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-6)


def test_dropout_without_is_test_trains():
    (found,) = run(model([node("Dropout", "x", ratio=0.5)], X, ["y"], opset=6), A)
    kept = found != 0
    assert 0 < kept.sum() < A.size
    np.testing.assert_allclose(found[kept], (A * 2)[kept])


@pytest.mark.parametrize(("op_type", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_recurrent_nodes_give_their_sequence(op_type: str, gates: int):
    rng = np.random.default_rng(0)
    constants = {
        "w": rng.normal(size=(1, gates * 5, 4)).astype(F32),
        "r": rng.normal(size=(1, gates * 5, 5)).astype(F32),
    }
    found: list[tuple[Array, ...]] = []
    for opset, more in ((1, {"output_sequence": 1}), (7, {}), (14, {})):
        spelling = node(op_type, "x", "w", "r", hidden_size=5, out="y, h", **more)
        module = imported(model([spelling], X, ["y", "h"], constants, opset))
        assert "tensor<2x1x3x5xf32>, tensor<1x3x5xf32>" in str(module)
        found.append(run_function(module, [A]))
    for sequence, last in found[:2]:
        np.testing.assert_allclose(sequence, found[2][0], rtol=1e-6)
        np.testing.assert_allclose(last, found[2][1], rtol=1e-6)


@pytest.mark.parametrize(
    ("opset", "spelling", "constants", "words"),
    [
        (6, node("Add", "x", "b"), {"b": FOUR}, "input 1, as 'broadcast' is 0, of shape [2, 3, 4]"),
        (6, node("Add", "x", "b", broadcast=1), {"b": THREE}, "input 1 of shape [4], got [3]"),
        (6, node("Add", "x", "b", broadcast=1, axis=2), {"b": A[0]}, "at 2, got [3, 4]"),
        (6, node("Add", "x", "b", broadcast=1, axis=3), {"b": FOUR}, "3"),
        (6, node("Sum", "x", "b"), {"b": FOUR}, "expected input 1 of shape [2, 3, 4], got [4]"),
        (6, node("PRelu", "x", "b"), {"b": FOUR}, "expected input 1 of shape [3], got [4]"),
        (6, node("Gemm", "m", "n", "b"), {"m": A[0], "n": A[0].T, "b": THREE}, "of shape [3, 3]"),
        (1, node("Reshape", "x"), {}, "expected an attribute 'shape', got none"),
        (1, node("Cast", "x", to="f32"), {}, "the name of an element type, got 'F32'"),
        (1, node("Upsample", "x", height_scale=1.0, width_scale=1.0), {}, "of rank 4, got 3"),
        (1, node("Tile", "x", "n", "n"), {"n": np.array([1.5], F32)}, "whole numbers, got [1.5]"),
        (7, node("BatchNormalization", "x", "b", "b", "b", "b", spatial=0), {"b": THREE},
         "expected input 1 of one number a feature"),
    ],
)  # fmt: skip
def test_misfits_say_what_the_old_form_wants(
    opset: int, spelling: onnx.NodeProto, constants: dict[str, Any], words: str
):
    with pytest.raises(GEError) as caught:
        imported(model([spelling], X, ["y"], constants, opset))
    assert caught.value.code == "GE0221"
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("op_type", "opset", "since"), [("EyeLike", 8, 9), ("Acosh", 6, 9), ("Det", 10, 11)]
)
def test_an_operator_that_came_later_is_no_operator_of_the_opset(
    op_type: str, opset: int, since: int
):
    words = f"'ai.onnx::{op_type}' is no operator of opset {opset}, only from {since} on"
    with pytest.raises(GEError, match=words):
        imported(model([node(op_type, "x")], X, ["y"], opset=opset))


def test_the_opsets_that_operators_came_with_are_those_of_onnx():
    find_converter("", "Add")
    versions = {
        name: min(
            (one for one in range(1, 40) if onnx.defs.has(name, one, "")), default=COMPLETE_FROM
        )
        for name in converters()
    }
    assert {name: one for name, one in versions.items() if one > COMPLETE_FROM} == SINCE


def test_layer_norms_came_before_onnx_had_them():
    spelling = node("LayerNormalization", "x", "f")
    found = run(model([spelling], X, ["y"], {"f": FOUR}, opset=11), A)
    centred = A - A.mean(-1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * FOUR
    np.testing.assert_allclose(found[0], expected, rtol=1e-5)


def test_a_loop_of_opset_1_runs():
    body = helper.make_graph(
        [node("Add", "v", "x", out="w"), node("Identity", "c", out="d")],
        "body",
        [
            helper.make_tensor_value_info("i", 7, []),
            helper.make_tensor_value_info("c", 9, []),
            helper.make_tensor_value_info("v", 1, A.shape),
        ],
        [onnx.ValueInfoProto(name=name) for name in ("d", "w", "w")],
    )
    constants = {"n": np.array(3), "t": np.array(True)}
    spelling = node("Loop", "n", "t", "x", body=body, out="y, z")
    found = run(model([spelling], X, ["y", "z"], constants, opset=1), A)
    np.testing.assert_allclose(found[0], 4 * A, rtol=1e-6)
    np.testing.assert_allclose(found[1], np.stack([2 * A, 3 * A, 4 * A]), rtol=1e-6)


def test_old_and_converted_models_agree():
    rng = np.random.default_rng(0)
    proto = model(
        [
            node("Conv", "x", "w", kernel_shape=[3, 3], pads=[1, 1, 1, 1], out="c"),
            node("Add", "c", "a", broadcast=1, out="d"),
            node("BatchNormalization", "d", "b", "b", "b", "s", is_test=1, out="e"),
            node("Relu", "e", out="r"),
            node("MaxPool", "r", kernel_shape=[2, 2], strides=[2, 2], out="p"),
            node("Flatten", "p", out="f"),
            node("Gemm", "f", "g", "h", broadcast=1, out="l"),
            node("Dropout", "l", is_test=1, out="o"),
            node("Softmax", "o"),
        ],
        {"x": ("float32", (2, 2, 4, 4))},
        ["y"],
        {
            "w": rng.normal(size=(3, 2, 3, 3)).astype(F32),
            "a": FOUR,
            "b": THREE,
            "s": np.abs(THREE),
            "g": rng.normal(size=(12, 5)).astype(F32),
            "h": rng.normal(size=(5,)).astype(F32),
        },
        6,
    )
    proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, [2, 5]))
    for tensor in proto.graph.initializer:
        proto.graph.input.append(helper.make_tensor_value_info(tensor.name, 1, tensor.dims))
    proto.ir_version = 3
    x = rng.normal(size=(2, 2, 4, 4)).astype(F32)
    (found,) = run(proto, x)
    (expected,) = run(onnx.version_converter.convert_version(proto, 13), x)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def _of_ir_version(version: int) -> onnx.ModelProto:
    proto = model([node("Mul", "x", "b", broadcast=1)], X, ["y"], {"b": FOUR}, 1)
    proto.ir_version = version
    proto.graph.input.append(helper.make_tensor_value_info("b", 1, [4]))
    return proto


def test_initializers_that_are_inputs_are_constants():
    loaded = load_proto(_of_ir_version(3))
    assert [value.name for value in loaded.inputs] == ["x"]
    np.testing.assert_allclose(run(_of_ir_version(3), A)[0], A * FOUR, rtol=1e-6)


def test_the_first_ir_versions_say_neither_opset_nor_kinds():
    proto = _of_ir_version(1)
    proto.ClearField("opset_import")
    shape = onnx.AttributeProto(name="shape", ints=[6, 4])
    value = onnx.AttributeProto(name="value", t=numpy_helper.from_array(np.array([2], F32)))
    flag = onnx.AttributeProto(name="broadcast", i=1)
    for attribute in proto.graph.node[0].attribute:
        attribute.ClearField("type")
    proto.graph.node[0].output[0] = "z"
    proto.graph.node.extend(
        [
            onnx.NodeProto(op_type="Reshape", input=["z"], output=["q"], attribute=[shape]),
            onnx.NodeProto(op_type="Constant", output=["k"], attribute=[value]),
            onnx.NodeProto(op_type="Div", input=["q", "k"], output=["y"], attribute=[flag]),
        ]
    )
    module = imported(proto)
    assert names_of(module) == ["ge.mul", "ge.reshape", "ge.div"]
    np.testing.assert_allclose(
        run_function(module, [A])[0], (A * FOUR).reshape(6, 4) / 2, rtol=1e-6
    )
    assert not proto.opset_import


def test_later_ir_versions_need_an_opset():
    proto = _of_ir_version(3)
    proto.ClearField("opset_import")
    with pytest.raises(GEError, match="no opset"):
        load_proto(proto)
