from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto

from ge_dialect.interpreters.kernels import quantization
from tests.kernel_reference import BF16, F16, F32, Array, assert_same, random, reference

U8 = np.dtype(np.uint8)
INT4 = np.dtype(ml_dtypes.int4)
F8 = np.dtype(ml_dtypes.float8_e4m3fn)
QUANTIZED = [np.dtype(t) for t in ("u1", "i1", "u2", "i2")]

PARAMETERS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((4,), {"axis": 1}),
    ((6,), {"axis": -1}),
    ((3, 2, 6), {"axis": 1, "block_size": 2}),
    ((3, 4, 2), {"axis": 2, "block_size": 4}),
]


def _scale(dtype: np.dtype[Any], *shape: int) -> Array:
    # Powers of two: quotients are exact whatever type divides.
    return (2.0 ** np.random.default_rng(1).integers(-4, 0, shape)).astype(dtype)


@pytest.mark.parametrize("target", QUANTIZED, ids=str)
@pytest.mark.parametrize(("shape", "attributes"), PARAMETERS, ids=str)
def test_quantize_agrees_with_onnx(shape: Any, attributes: dict[str, Any], target: np.dtype[Any]):
    x = random(F32, 3, 4, 6) * np.float32(10)
    scale, zero_point = _scale(F32, *shape), random(target, *shape, seed=2, low=0, high=9)
    found = quantization.quantize_linear(x, scale, zero_point, **attributes)
    expected = reference("QuantizeLinear", x, scale, zero_point, **attributes)
    assert_same(found, expected, target)


@pytest.mark.parametrize("dtype", [F16, BF16, F32], ids=str)
@pytest.mark.parametrize("source", QUANTIZED, ids=str)
@pytest.mark.parametrize(("shape", "attributes"), PARAMETERS, ids=str)
def test_dequantize_agrees_with_onnx(
    shape: Any, attributes: dict[str, Any], source: np.dtype[Any], dtype: np.dtype[Any]
):
    x = random(source, 3, 4, 6, low=0, high=100)
    scale, zero_point = _scale(dtype, *shape), random(source, *shape, seed=2, low=0, high=9)
    found = quantization.dequantize_linear(x, scale, zero_point, **attributes)
    expected = reference("DequantizeLinear", x, scale, zero_point, **attributes)
    assert_same(found, expected, dtype)


def test_a_quotient_is_rounded_in_the_type_of_the_scale():
    x, scale = np.array([1000.0], F32), np.array(3.0, F16)
    # 1000 / 3 = 333.33, in f16 333.25.
    assert quantization.quantize_linear(x, scale, dtype=np.int16)[0] == 333
    x = np.array([2051.0 / 2], F32)  # 1025.5, in f16 1026 after ties to even
    assert quantization.quantize_linear(x, np.array(1.0, F16), dtype=np.int16)[0] == 1026
    assert quantization.quantize_linear(x, np.array(1.0, F32), dtype=np.int16)[0] == 1026


def test_halves_round_to_even_and_the_rest_saturates():
    x = np.array([0.5, 1.5, 2.5, -0.5, 300, -3, np.inf, -np.inf, np.nan], F32)
    found = quantization.quantize_linear(x, np.array(1, F32))
    assert_same(found, [0, 2, 2, 0, 255, 0, 255, 0, 0], U8)
    found = quantization.quantize_linear(x, np.array(1, F32), np.array(10, np.int8))
    assert_same(found, [10, 12, 12, 10, 127, 7, 127, -128, 10], np.int8)


def test_four_bit_integers():
    x = np.array([-100.0, -3.4, 3.6, 100.0], F32)
    found = quantization.quantize_linear(x, np.array(1, F32), dtype=INT4)
    assert found.dtype == INT4
    assert found.astype(int).tolist() == [-8, -3, 4, 7]
    back = quantization.dequantize_linear(found, np.array(0.5, F16), np.array(1).astype(INT4))
    assert_same(back, [-4.5, -2, 1.5, 3], F16)


@pytest.mark.parametrize("saturate", [True, False])
def test_eight_bit_floats_agree_with_onnx(saturate: bool):
    x, scale = random(F32, 40) * np.float32(400), np.array(0.5, F32)
    found = quantization.quantize_linear(x, scale, dtype=F8, saturate=saturate)
    expected = reference(
        "QuantizeLinear",
        x,
        scale,
        saturate=int(saturate),
        output_dtype=TensorProto.FLOAT8E4M3FN,
    )
    np.testing.assert_array_equal(found.view(np.uint8), np.asarray(expected).view(np.uint8))
    back = quantization.dequantize_linear(found, scale)
    assert_same(back, found.astype(F32) * scale, F32)


@given(st.lists(st.integers(0, 255), min_size=1), st.integers(0, 255))
def test_dequantized_values_quantize_to_themselves(values: list[int], zero: int):
    x, scale, point = np.array(values, U8), np.array(0.037, F32), np.array(zero, U8)
    real = quantization.dequantize_linear(x, scale, point)
    assert_same(quantization.quantize_linear(real, scale, point), x, U8)


def test_the_last_block_may_be_shorter():
    x = np.arange(5, dtype=F32).reshape(1, 5)
    scale = np.array([[1, 2, 4]], F32)
    found = quantization.quantize_linear(x, scale, axis=1, block_size=2)
    assert_same(found, [[0, 1, 1, 2, 1]], U8)


def test_parameters_that_do_not_fit():
    x = np.zeros((2, 4), F32)
    with pytest.raises(ValueError, match=r"expected 4 parameters, got \(3,\)"):
        quantization.quantize_linear(x, np.ones(3, F32), axis=1)
    with pytest.raises(ValueError, match="blocks of 2 along axis 1"):
        quantization.quantize_linear(x, np.ones((2, 1), F32), axis=1, block_size=2)


@pytest.mark.parametrize("shift", [-10, 0, 10])
def test_dynamic_quantization_agrees_with_onnx(shift: int):
    x = random(F32, 3, 5) + np.float32(shift)
    levels, scale, zero_point = quantization.dynamic_quantize_linear(x)
    expected = reference("DynamicQuantizeLinear", x, outputs=3)
    assert_same(levels, expected[0], U8)
    assert_same(scale, expected[1], F32)
    assert_same(zero_point, expected[2], U8)


def test_dynamic_quantization_of_zeros_and_nothing():
    for x in (np.zeros(3, F32), np.zeros(0, F32)):
        levels, scale, zero_point = quantization.dynamic_quantize_linear(x)
        assert levels.shape == x.shape
        assert not levels.any()
        assert scale > 0
        assert zero_point == 0


def test_scales_that_hold_no_fractions_divide_in_f32():
    x, powers = np.array([7, -7, 100], np.int32), np.array(2).astype(ml_dtypes.float8_e8m0fnu)
    for scale in (np.array(2, np.int32), powers):
        found = quantization.quantize_linear(x, scale, dtype=np.int8)
        assert_same(found, [4, -4, 50], np.int8)
