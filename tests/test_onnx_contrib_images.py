"""Operators of com.microsoft on images, against what their documentation says, in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.interpreters.functions import run_function
from tests.test_onnx_contrib import contrib, f32, gelu, run

Array = npt.NDArray[Any]
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}
X = f32(2, 5, 4, 6)
GAMMA, BETA = f32(6), f32(6)


def first(x: Array) -> Array:
    """Channels first."""
    return np.moveaxis(x, -1, 1)


def convolved(x: Array, weight: Array, bias: Array, **attributes: Any) -> Array:
    """ONNX's `Conv` of channels that come last, by a weight of ONNX's layout."""
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], **attributes)
    arrays = {"x": first(x), "w": weight, "b": bias}
    values = [helper.make_tensor_value_info(k, 1, a.shape) for k, a in arrays.items()]
    graph = helper.make_graph([node], "g", values, [onnx.ValueInfoProto(name="y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    (found,) = run_function(import_onnx(model), list(arrays.values()))
    return np.moveaxis(found, 1, -1)


def normalized(x: Array, groups: int, epsilon: float) -> Array:
    """Group norm of channels that come last."""
    parts = x.reshape(x.shape[0], -1, groups, x.shape[-1] // groups)
    mean = parts.mean((1, 3), keepdims=True)
    spread = parts.var((1, 3), keepdims=True)
    return ((parts - mean) / np.sqrt(spread + epsilon)).reshape(x.shape) * GAMMA + BETA


def silu(x: Array) -> Array:
    """`x * sigmoid(x)`."""
    return x / (1 + np.exp(-x))


def test_channels_of_image_and_weight_come_last():
    weight, bias = f32(8, 3, 3, 6), f32(8)
    (found,) = run("NhwcConv", [X, weight, bias], pads=[1, 1, 1, 1])
    want = convolved(X, np.moveaxis(weight, -1, 1), bias, pads=[1, 1, 1, 1])
    np.testing.assert_allclose(found, want, **CLOSE)


def test_a_fused_convolution_has_a_weight_of_the_usual_layout():
    weight, bias, rest = f32(8, 3, 3, 3), f32(8), f32(2, 3, 2, 8)
    options: dict[str, Any] = {"group": 2, "activation": "LeakyRelu", "activation_params": [0.3]}
    (found,) = run("NhwcFusedConv", [X, weight, bias, rest], **options)
    total = convolved(X, weight, bias, group=2) + rest
    np.testing.assert_allclose(found, np.where(total < 0, 0.3 * total, total), **CLOSE)


def test_pools_of_bytes_whose_channels_come_last():
    x = np.arange(2 * 4 * 4 * 3, dtype=np.uint8).reshape(2, 4, 4, 3)
    (found,) = run("NhwcMaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    np.testing.assert_array_equal(found, x[:, 1::2, 1::2])


@pytest.mark.parametrize("activation", [0, 1])
def test_group_norm_of_channels_that_come_last(activation: int):
    (found,) = run("GroupNorm", [X, GAMMA, BETA], groups=2, activation=activation, epsilon=1e-3)
    want = normalized(X, 2, 1e-3)
    np.testing.assert_allclose(found, silu(want) if activation else want, **CLOSE)


def test_group_norm_of_channels_that_come_first():
    options: dict[str, Any] = {"groups": 3, "activation": 0, "channels_last": 0}
    (found,) = run("GroupNorm", [first(X), GAMMA, BETA], **options)
    np.testing.assert_allclose(found, first(normalized(X, 3, 1e-5)), **CLOSE)


def test_group_norm_computes_in_the_type_of_its_parameters():
    x = X.astype(np.float16)
    (found,) = run("GroupNorm", [x, GAMMA, BETA], groups=2, activation=0)
    assert found.dtype == np.float16
    want = normalized(x.astype(np.float32), 2, 1e-5).astype(np.float16)
    np.testing.assert_allclose(found, want, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("shape", [X.shape, (2, 1, 1, 6), (2, 6)])
def test_what_is_skipped_may_be_one_number_a_channel(shape: tuple[int, ...]):
    skip, bias = f32(*shape), f32(6)
    inputs = [X, GAMMA, BETA, skip, bias]
    found, total = run("SkipGroupNorm", inputs, "y s", groups=2, activation=1)
    want = X + (skip[:, None, None] if skip.ndim == 2 else skip) + bias
    np.testing.assert_allclose(total, want, **CLOSE)
    np.testing.assert_allclose(found, silu(normalized(want, 2, 1e-5)), **CLOSE)


def test_what_is_skipped_of_channels_that_come_first():
    skip, bias = f32(2, 6), f32(6)
    inputs = [first(X), GAMMA, BETA, skip, bias]
    options: dict[str, Any] = {"groups": 2, "activation": 0, "channels_last": 0}
    (found,) = run("SkipGroupNorm", inputs, **options)
    want = normalized(X + skip[:, None, None] + bias, 2, 1e-5)
    np.testing.assert_allclose(found, first(want), **CLOSE)


def test_sums_and_gates():
    x, bias, skip = f32(2, 3, 8), f32(8), f32(2, 3, 8)
    (found,) = run("BiasAdd", [x, bias, skip])
    np.testing.assert_allclose(found, x + bias + skip, **CLOSE)
    (found,) = run("BiasSplitGelu", [x, bias])
    left, right = np.split(x + bias, 2, axis=-1)
    np.testing.assert_allclose(found, left * gelu(right), **CLOSE)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "words"),
    [
        ("GroupNorm", [X, GAMMA, BETA], {"groups": 2, "activation": 2}, "expected 'activation'"),
        ("BiasSplitGelu", [f32(2, 3, 7), f32(7)], {}, "expected an even last dimension, got 7"),
        ("NhwcConv", [f32(4, 6), f32(8, 3, 3, 6)], {}, "rank"),
    ],
)
def test_what_does_not_fit_is_said(
    op: str, inputs: list[Array], attributes: dict[str, Any], words: str
):
    proto, _ = contrib(op, list(inputs), **attributes)
    with pytest.raises(GEError, match=words) as error:
        import_onnx(proto)
    assert error.value.code == "GE0221"
