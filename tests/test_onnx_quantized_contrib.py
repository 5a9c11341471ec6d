"""Quantised operators of onnxruntime's domain, against the formulas of its documentation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ge_dialect.diagnostics import GEError
from tests.kernel_reference import F16, F32, Array, assert_same
from tests.onnx_models import imported, names_of, run
from tests.test_onnx_contrib import run as run_contrib
from tests.test_onnx_quantized import built, levels, real

MS = "com.microsoft"
BYTES = [np.uint8, np.int8]


def converted(op_type: str, *operands: Array | None, **attributes: Any) -> Array:
    """What an operator computes, after checking that it became ops of `ge`."""
    proto, feeds = built(op_type, *operands, domain=MS, opset=17, **attributes)
    assert all(name.startswith("ge.") for name in names_of(imported(proto)))
    (found,) = run(proto, *feeds.values())
    return found


def dequantized(q: Array, scale: Array, zero: Array) -> Array:
    return (q.astype(F32) - zero.astype(F32)) * scale


def quantized(x: Array, scale: Array, zero: Array) -> Array:
    info = np.iinfo(zero.dtype)
    whole = np.rint(x / scale) + zero.astype(F32)
    return np.clip(whole, info.min, info.max).astype(zero.dtype)


def level(dtype: Any, *shape: int, scale: float = 0.02) -> tuple[Array, Array, Array]:
    """A tensor with its scale and zero point."""
    return levels(dtype, *shape), real(scale), np.asarray(5, dtype)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize(
    ("op_type", "function"), [("QLinearAdd", np.add), ("QLinearMul", np.multiply)]
)
def test_arithmetic_broadcasts(
    op_type: str, function: Callable[[Array, Array], Array], dtype: Any
) -> None:
    a, b = level(dtype, 2, 3, 4), level(dtype, 3, 1, scale=0.03)
    scale, zero = real(0.05), np.asarray(7, dtype)
    found = converted(op_type, *a, *b, scale, zero)
    assert_same(found, quantized(function(dequantized(*a), dequantized(*b)), scale, zero), dtype)


@pytest.mark.parametrize("dtype", BYTES)
def test_an_absent_zero_point_is_0_and_the_type_stays(dtype: Any) -> None:
    a, b = levels(dtype, 2, 3), levels(dtype, 2, 3)
    scale = real(0.25)
    found = converted("QLinearAdd", a, scale, None, b, scale, None, scale)
    info = np.iinfo(dtype)
    assert_same(found, np.clip(a.astype(int) + b, info.min, info.max), dtype)


@pytest.mark.parametrize("dtype", BYTES)
def test_activations(dtype: Any) -> None:
    x, scale, zero = level(dtype, 3, 50), real(0.01), np.asarray(-3 % 256, np.uint8).astype(dtype)
    values = dequantized(*x)
    found = converted("QLinearLeakyRelu", *x, scale, zero, alpha=0.25)
    assert_same(
        found, quantized(np.where(values < 0, values * F32.type(0.25), values), scale, zero), dtype
    )
    found = converted("QLinearSigmoid", *x, real(1 / 256), zero)
    wanted = quantized(1 / (1 + np.exp(-values.astype(np.float64))), real(1 / 256), zero)
    assert np.abs(found.astype(int) - wanted).max() <= 1


@pytest.mark.parametrize(("opset", "axis"), [(11, 1), (13, -1)])
def test_softmax_is_that_of_its_operator_set(opset: int, axis: int) -> None:
    q, scale, zero = level(np.uint8, 2, 3, 4, scale=0.1)
    x = dequantized(q, scale, zero).astype(np.float64)
    flat = x.reshape(2, 12) if opset < 13 else x
    weights = np.exp(flat - flat.max(-1, keepdims=True))
    inputs: list[Array | None] = [q, scale, zero, real(1 / 256), np.asarray(0, np.uint8)]
    (found,) = run_contrib("QLinearSoftmax", inputs, opset=opset, axis=axis)
    wanted = (weights / weights.sum(-1, keepdims=True)).reshape(x.shape)
    wanted = quantized(wanted, real(1 / 256), np.asarray(0, np.uint8))
    assert np.abs(found.astype(int) - wanted).max() <= 1


def test_where_and_mean() -> None:
    condition, x, y = np.array([[True], [False]]), level(np.int8, 2, 3), level(np.int8, 3)
    scale, zero = real(0.05), np.asarray(-2, np.int8)
    found = converted("QLinearWhere", condition, *x, *y, scale, zero)
    wanted = quantized(np.where(condition, dequantized(*x), dequantized(*y)), scale, zero)
    assert_same(found, wanted, np.int8)
    found = converted("QLinearReduceMean", *x, scale, zero, axes=[1], keepdims=0)
    wanted = quantized(dequantized(*x).mean(1), scale, zero)
    assert np.abs(found.astype(int) - wanted).max() <= 1


def test_convolutions_may_have_channels_last() -> None:
    x, w = level(np.uint8, 1, 5, 5, 4), level(np.int8, 3, 4, 3, 3)
    scale, zero = real(0.2), np.asarray(128, np.uint8)
    tail = (*w, scale, zero)
    found = converted("QLinearConv", *x, *tail, channels_last=1, pads=[1, 1, 1, 1])
    first = np.ascontiguousarray(np.moveaxis(x[0], -1, 1)), *x[1:]
    wanted = converted("QLinearConv", *first, *tail, channels_last=0, pads=[1, 1, 1, 1])
    assert_same(found, np.moveaxis(wanted, 1, -1), np.uint8)


@pytest.mark.parametrize("channels_last", [0, 1])
def test_pools(channels_last: int) -> None:
    q, scale, zero = level(np.uint8, 2, 3, 4, 4, scale=0.5)
    values = dequantized(q, scale, zero)
    if channels_last:
        q = np.ascontiguousarray(np.moveaxis(q, 1, -1))
    found = converted(
        "QLinearGlobalAveragePool", q, scale, zero, real(1), zero, channels_last=channels_last
    )
    wanted = quantized(values.mean((2, 3), keepdims=True), real(1), zero)
    found = np.moveaxis(found, -1, 1) if channels_last else found
    assert_same(found, wanted, np.uint8)
    found = converted(
        *("QLinearAveragePool", q, scale, zero, real(1), zero),
        channels_last=channels_last,
        kernel_shape=[2, 2],
        strides=[2, 2],
    )
    found = np.moveaxis(found, -1, 1) if channels_last else found
    windows = values.reshape(2, 3, 2, 2, 2, 2).mean((3, 5))
    assert_same(found, quantized(windows, real(1), zero), np.uint8)


def test_concat_requantises_only_what_has_another_scale() -> None:
    same, other = level(np.uint8, 2, 3, scale=0.25), level(np.uint8, 2, 4, scale=0.5)
    found = converted("QLinearConcat", same[1], same[2], *same, *other, axis=1)
    wanted = [same[0], quantized(dequantized(*other), same[1], same[2])]
    assert_same(found, np.concatenate(wanted, 1), np.uint8)
    with pytest.raises(GEError, match="expected a tensor, scale and zero point each, got 6 inputs"):
        converted("QLinearConcat", same[1], same[2], *same, other[0], axis=1)


@pytest.mark.parametrize("bias", [False, True])
def test_a_product_with_dynamic_quantisation(bias: bool) -> None:
    a = np.arange(-8, 16, dtype=F32).reshape(3, 8) * F32.type(4)
    b, scales = levels(np.int8, 8, 5), np.array([1, 0.5, 0.25, 2, 1], F32)
    added = np.arange(5, dtype=F32) if bias else None
    found = converted("DynamicQuantizeMatMul", a, b, scales, None, added)
    step = F32.type(a.max() - a.min()) / F32.type(255)
    zero = np.rint(-a.min() / step)
    sums = (np.clip(np.rint(a / step) + zero, 0, 255) - zero).astype(int) @ b.astype(int)
    wanted = sums.astype(F32) * (step * scales)
    assert_same(found, wanted if added is None else wanted + added, F32)


@pytest.mark.parametrize("dtype", [F32, F16])
def test_an_integer_product_in_floats(dtype: Any) -> None:
    a, b = levels(np.uint8, 3, 4), levels(np.int8, 4, 5)
    zero, by_column = np.asarray(9, np.uint8), real([1, 0.5, 2, 0.25, 1], dtype)
    bias = np.arange(5).astype(dtype)
    found = converted("MatMulIntegerToFloat", a, b, real(0.125, dtype), by_column, zero, None, bias)
    sums = (a.astype(int) - 9) @ b.astype(int)
    scaled = (sums.astype(F32) * (by_column * dtype.type(0.125)).astype(F32)).astype(dtype)
    assert_same(found, scaled + bias, dtype)


@pytest.mark.parametrize("quantise", [False, True])
def test_gemm(quantise: bool) -> None:
    a, b = level(np.uint8, 4, 3, scale=0.5), level(np.int8, 5, 4, scale=0.25)
    c = np.arange(-2, 3, dtype=np.int32) * 100
    tail = (real(0.5), np.asarray(100, np.uint8)) if quantise else ()
    found = converted("QGemm", *a, *b, c, *tail, transA=1, transB=1, alpha=2.0)
    sums = (a[0].astype(int) - 5).T @ (b[0].astype(int) - 5).T + c
    values = sums.astype(F32) * F32.type(0.25)
    if quantise:
        assert_same(found, np.clip(np.rint(sums * 0.5 + 100), 0, 255), np.uint8)
    else:
        assert_same(found, values, F32)


def test_the_linear_operators_are_those_of_onnx() -> None:
    x, scale, zero = np.linspace(-4, 4, 24, dtype=F32).reshape(4, 6), real(0.25), real(3, np.int8)
    q = converted("QuantizeLinear", x, scale, zero)
    assert_same(q, quantized(x, scale, zero), np.int8)
    assert_same(converted("DequantizeLinear", q, scale, zero), dequantized(q, scale, zero), F32)


def test_what_can_not_be_converted_is_said_with_its_node() -> None:
    x, scales = levels(np.uint8, 2, 3), np.ones((2, 3), F32)
    proto, _ = built("QLinearAdd", x, scales, None, x, scales, None, scales, domain=MS, opset=17)
    with pytest.raises(GEError, match="the_node") as caught:
        imported(proto)
    assert caught.value.code == "GE0221"
    proto, _ = built("QuantizeLinear", np.ones((2, 3), F32), np.ones((), np.int32), domain=MS)
    with pytest.raises(GEError, match=r"the_node.*the scale is no float") as caught:
        imported(proto)
    assert caught.value.code == "GE0220"
