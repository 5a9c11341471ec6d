from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.interpreters.kernels import activations, elementwise, special, unary
from tests.kernel_reference import (
    BF16,
    F16,
    F32,
    F64,
    FLOATS,
    Array,
    assert_same,
    random,
    reference,
)

SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 1e-30, 6e4, -6e4)

FUNCTIONS: list[tuple[str, Callable[..., Array], dict[str, Any]]] = [
    ("Abs", unary.abs_, {}),
    ("Ceil", unary.ceil, {}),
    ("Floor", unary.floor, {}),
    ("Round", unary.round_, {}),
    ("Sign", unary.sign, {}),
    ("Neg", unary.neg, {}),
    ("Reciprocal", unary.reciprocal, {}),
    ("Sqrt", unary.sqrt, {}),
    ("Exp", unary.exp, {}),
    ("Log", unary.log, {}),
    ("Erf", unary.erf, {}),
    ("Sin", unary.sin, {}),
    ("Cos", unary.cos, {}),
    ("Tan", unary.tan, {}),
    ("Atan", unary.atan, {}),
    ("Asin", unary.asin, {}),
    ("Acos", unary.acos, {}),
    ("Sinh", unary.sinh, {}),
    ("Cosh", unary.cosh, {}),
    ("Asinh", unary.asinh, {}),
    ("Acosh", unary.acosh, {}),
    ("Atanh", unary.atanh, {}),
    ("Tanh", activations.tanh, {}),
    ("Sigmoid", activations.sigmoid, {}),
    ("Relu", activations.relu, {}),
    ("LeakyRelu", activations.leaky_relu, {"alpha": 0.25}),
    ("Elu", activations.elu, {"alpha": 1.5}),
    ("Selu", activations.selu, {"alpha": 1.5, "gamma": 1.25}),
    ("Celu", activations.celu, {"alpha": 2.0}),
    ("HardSigmoid", activations.hard_sigmoid, {"alpha": 0.25, "beta": 0.5}),
    ("HardSwish", activations.hard_swish, {}),
    ("Swish", activations.silu, {}),
    ("Swish", activations.quick_gelu, {"alpha": 1.75}),
    ("Softplus", activations.softplus, {}),
    ("Softsign", activations.softsign, {}),
]
IDS = [function.__name__ for _, function, _ in FUNCTIONS]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("op_type", "function", "attributes"), FUNCTIONS, ids=IDS)
def test_functions_agree_with_onnx(
    op_type: str, function: Callable[..., Array], attributes: dict[str, Any], dtype: np.dtype[Any]
):
    x = (random(dtype, 3, 40).astype(F64) * 3).astype(dtype)
    expected = reference(op_type, x, **attributes)
    found = function(x, **attributes)
    if dtype == F64 and op_type in ("Erf", "HardSwish"):
        # The reference computes these two in f32 whatever it is given.
        found, dtype = found.astype(F32), F32
    assert_same(found, expected, dtype, ulps=4, scale=1e-3)


@pytest.mark.parametrize(("op_type", "function", "attributes"), FUNCTIONS, ids=IDS)
def test_functions_take_special_values_without_warnings(
    op_type: str, function: Callable[..., Array], attributes: dict[str, Any]
):
    x = np.array(SPECIAL, F32)
    x = x[:-2] if op_type in ("Sin", "Cos", "Tan") else x
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = function(x, **attributes)
    if op_type in ("Erf", "Elu", "Selu"):
        # math.erf and numpy's where agree; the reference of Elu computes both branches.
        assert np.isnan(found[0])
        return
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = reference(op_type, x, **attributes)
    assert_same(found, expected, F32, scale=1e-30)


@pytest.mark.parametrize(("_op_type", "function", "attributes"), FUNCTIONS, ids=IDS)
def test_functions_keep_scalars_and_empty_arrays_arrays(
    _op_type: str, function: Callable[..., Array], attributes: dict[str, Any]
):
    for shape in ((), (0,), (2, 0, 3)):
        for dtype in (F16, BF16, F32):
            found = function(np.ones(shape, dtype), **attributes)
            assert type(found) is np.ndarray
            assert (found.shape, found.dtype) == (shape, dtype)


def test_negative_zero_keeps_its_sign():
    x = np.array([-0.0], F16)
    for function in (unary.sqrt, unary.ceil, unary.round_, activations.tanh, unary.erf):
        assert np.signbit(function(x))[0], function.__name__
    assert not np.signbit(unary.neg(x))[0]


def _erf_grid() -> Array:
    return np.concatenate([np.linspace(-6, 6, 4001), np.geomspace(1e-300, 30, 500)])


def test_erf_is_exact_to_f64():
    x = _erf_grid()
    expected = np.array([math.erf(value) for value in x])
    np.testing.assert_allclose(special.erf(x), expected, rtol=5e-16)


def test_erfc_is_exact_to_f64_in_the_tail():
    x = _erf_grid()[np.abs(_erf_grid()) < 26]
    expected = np.array([math.erfc(value) for value in x])
    np.testing.assert_allclose(special.erfc(x), expected, rtol=2e-15)


def test_erf_of_infinities_and_nan():
    found = special.erf(np.array([np.inf, -np.inf, np.nan, -0.0]))
    np.testing.assert_array_equal(found, [1, -1, np.nan, 0])
    assert np.signbit(found[3])


@pytest.mark.parametrize("approximate", ["none", "tanh"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gelu_agrees_with_onnx(approximate: str, dtype: np.dtype[Any]):
    x = random(dtype, 200)
    expected = reference("Gelu", x, approximate=approximate)
    found = activations.gelu(x, approximate=approximate)
    if dtype == F64:  # the reference's constants are f32
        found, dtype = found.astype(F32), F32
    assert_same(found, expected, dtype, ulps=4, scale=0.1)


def test_gelu_keeps_the_left_tail():
    found = activations.gelu(np.array([-10.0]))
    np.testing.assert_allclose(found, -5 * math.erfc(10 / math.sqrt(2)), rtol=1e-13)


def test_gelu_refuses_another_approximation():
    with pytest.raises(ValueError, match="none or tanh, got fast"):
        activations.gelu(np.ones(1), approximate="fast")


def test_rsqrt_rounds_once():
    x = np.array([2.0, 0.0, -1.0, np.inf], F16)
    np.testing.assert_array_equal(
        unary.rsqrt(x), np.array([1 / math.sqrt(2), np.inf, np.nan, 0], F16)
    )


def test_mish_is_x_tanh_softplus():
    x = random(F64, 50)
    assert_same(activations.mish(x), x * np.tanh(np.log1p(np.exp(x))), F64, ulps=8)


def test_sigmoid_keeps_the_left_tail():
    found = activations.sigmoid(np.array([-80.0, 80.0], F32))
    np.testing.assert_allclose(found, [math.exp(-80), 1], rtol=1e-6)


def test_integer_functions_wrap():
    x = np.array([-128, -1, 0, 5], np.int8)
    np.testing.assert_array_equal(unary.abs_(x), np.array([-128, 1, 0, 5], np.int8))
    np.testing.assert_array_equal(unary.neg(x), np.array([-128, 1, 0, -5], np.int8))
    np.testing.assert_array_equal(unary.sign(x), np.array([-1, -1, 0, 1], np.int8))
    np.testing.assert_array_equal(unary.bitwise_not(x), ~x)
    np.testing.assert_array_equal(activations.relu(x), np.array([0, 0, 0, 5], np.int8))


def test_tests_return_bool():
    x = np.array([np.nan, np.inf, -np.inf, 1], BF16)
    np.testing.assert_array_equal(unary.is_nan(x), [True, False, False, False])
    np.testing.assert_array_equal(unary.is_inf(x), [False, True, True, False])
    np.testing.assert_array_equal(
        unary.is_inf(x, detect_negative=False), [False, True, False, False]
    )
    assert not unary.is_nan(np.array([1, 2])).any()
    assert unary.logical_not(np.array(True)).dtype == np.bool_


BINARY: list[tuple[str, Callable[[Array, Array], Array]]] = [
    ("Add", elementwise.add),
    ("Sub", elementwise.sub),
    ("Mul", elementwise.mul),
    ("Div", elementwise.div),
    ("Max", elementwise.maximum),
    ("Min", elementwise.minimum),
    ("PRelu", elementwise.prelu),
]
COMPARE: list[tuple[str, Callable[[Array, Array], Array]]] = [
    ("Equal", elementwise.equal),
    ("Less", elementwise.less),
    ("LessOrEqual", elementwise.less_equal),
    ("Greater", elementwise.greater),
    ("GreaterOrEqual", elementwise.greater_equal),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("op_type", "function"), BINARY, ids=[name for name, _ in BINARY])
def test_binary_floats_agree_with_onnx(
    op_type: str, function: Callable[[Array, Array], Array], dtype: np.dtype[Any]
):
    a, b = random(dtype, 4, 1, 5), random(dtype, 3, 1, seed=1)
    b = b if op_type != "PRelu" else b[:1]
    assert_same(function(a, b), reference(op_type, a, b), dtype, ulps=1)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint64], ids=str)
@pytest.mark.parametrize(("op_type", "function"), BINARY[:-1], ids=[n for n, _ in BINARY[:-1]])
def test_binary_integers_agree_with_onnx(
    op_type: str, function: Callable[[Array, Array], Array], dtype: Any
):
    a = random(dtype, 4, 50, low=-100, high=100)
    b = random(dtype, 50, low=1, high=9) * (random(dtype, 50, low=0, high=1) + 1).astype(dtype)
    assert_same(function(a, b), reference(op_type, a, b), dtype)


@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype(np.int32)], ids=str)
@pytest.mark.parametrize(("op_type", "function"), COMPARE, ids=[name for name, _ in COMPARE])
def test_comparisons_agree_with_onnx(
    op_type: str, function: Callable[[Array, Array], Array], dtype: np.dtype[Any]
):
    a = random(np.int32, 6, 7, low=-2, high=3).astype(dtype)
    b = random(np.int32, 7, seed=3, low=-2, high=3).astype(dtype)
    assert_same(function(a, b), reference(op_type, a, b), np.bool_)


def test_nothing_compares_with_nan():
    nan, one = np.array(np.nan, F32), np.array(1, F32)
    for _, function in COMPARE:
        assert not function(nan, one)
        assert not function(nan, nan)
    assert elementwise.not_equal(nan, nan)


def test_maximum_and_minimum_propagate_nan():
    a, b = np.array([np.nan, 1, 2], F16), np.array([1, np.nan, 3], F16)
    np.testing.assert_array_equal(elementwise.maximum(a, b), np.array([np.nan, np.nan, 3], F16))
    np.testing.assert_array_equal(elementwise.minimum(a, b), np.array([np.nan, np.nan, 2], F16))


@given(st.integers(-128, 127), st.integers(-128, 127))
def test_integer_division_truncates_and_wraps(a: int, b: int):
    found = int(elementwise.div(np.array(a, np.int8), np.array(b, np.int8)))
    exact = 0 if b == 0 else int(math.copysign(1, a * b)) * (abs(a) // abs(b))
    assert found == (exact + 128) % 256 - 128


@given(st.integers(-128, 127), st.integers(-128, 127))
def test_integer_remainders_have_the_sign_asked_for(a: int, b: int):
    x, y = np.array(a, np.int8), np.array(b, np.int8)
    assert int(elementwise.mod(x, y)) == (a % b if b else 0)
    assert int(elementwise.mod(x, y, fmod=True)) == (int(math.fmod(a, b)) if b else 0)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_float_remainder_agrees_with_onnx(dtype: np.dtype[Any]):
    a, b = random(dtype, 30), random(dtype, 30, seed=5)
    assert_same(elementwise.mod(a, b, fmod=True), reference("Mod", a, b, fmod=1), dtype)


@pytest.mark.parametrize("exponent", [F32, np.dtype(np.int64), F64], ids=str)
@pytest.mark.parametrize("base", [*FLOATS, np.dtype(np.int32)], ids=str)
def test_power_agrees_with_onnx(base: np.dtype[Any], exponent: np.dtype[Any]):
    a = np.abs(random(base, 20)).astype(base)
    b = random(np.int64, 20, low=0, high=4).astype(exponent)
    assert_same(elementwise.pow_(a, b), reference("Pow", a, b), base)


def test_integer_power_wraps_and_truncates():
    a = np.array([2, 3, 1, -1, 0, 2], np.int8)
    b = np.array([7, 200, -3, -3, -1, -1], np.int64)
    expected = [-128, (3**200 + 128) % 256 - 128, 1, -1, 0, 0]
    np.testing.assert_array_equal(elementwise.pow_(a, b), np.array(expected, np.int8))


def test_logic_and_bits_agree_with_onnx():
    a, b = random(np.bool_, 4, 4), random(np.bool_, 4, seed=2)
    assert_same(elementwise.logical_and(a, b), reference("And", a, b), np.bool_)
    assert_same(elementwise.logical_or(a, b), reference("Or", a, b), np.bool_)
    assert_same(elementwise.logical_xor(a, b), reference("Xor", a, b), np.bool_)
    x, y = random(np.uint8, 4, 4, high=255), random(np.uint8, 4, seed=2, high=255)
    assert_same(elementwise.bitwise_and(x, y), reference("BitwiseAnd", x, y), np.uint8)
    assert_same(elementwise.bitwise_or(x, y), reference("BitwiseOr", x, y), np.uint8)
    assert_same(elementwise.bitwise_xor(x, y), reference("BitwiseXor", x, y), np.uint8)


def test_where_broadcasts_all_three():
    condition, a, b = random(np.bool_, 3, 1), random(BF16, 1, 4), np.ones((), BF16)
    assert_same(elementwise.where(condition, a, b), np.where(condition, a, b), BF16)


def test_clip_limits_and_keeps_nan():
    x = np.array([np.nan, -2, 0.5, 9], F16)
    lo, hi = np.array(0, F16), np.array([1], F16)
    np.testing.assert_array_equal(elementwise.clip(x, lo, hi), np.array([np.nan, 0, 0.5, 1], F16))
    np.testing.assert_array_equal(elementwise.clip(x), x)
    np.testing.assert_array_equal(elementwise.clip(x, hi, lo)[1:], np.zeros(3, F16))
    integers = np.array([-5, 3, 250], np.int64)
    np.testing.assert_array_equal(elementwise.clip(integers, hi=np.array(7)), [-5, 3, 7])


NUMERIC = [*FLOATS, *(np.dtype(t) for t in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"))]


@pytest.mark.parametrize("target", NUMERIC, ids=str)
@pytest.mark.parametrize("source", NUMERIC, ids=str)
def test_cast_agrees_with_numpy_in_range(source: np.dtype[Any], target: np.dtype[Any]):
    x = np.array([0, 1, 1.75, 100.5, 3], F32).astype(source)
    found = elementwise.cast(x, target)
    assert_same(found, x.astype(target), target, ulps=0)


def test_cast_of_integers_wraps():
    x = np.array([200, -1, 256, 2**40 + 7])
    np.testing.assert_array_equal(elementwise.cast(x, np.int8), np.array([-56, -1, 0, 7], np.int8))
    int4 = elementwise.cast(np.array([9, -9, 7]), ml_dtypes.int4)
    np.testing.assert_array_equal(int4.astype(np.int8), [-7, 7, 7])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("int4", [7, -8, 7, -8, -1, 0, 7, -8, 0]),
        ("uint4", [7, 8, 7, 8, 15, 0, 15, 0, 0]),
        ("int2", [-1, 0, -1, 0, -1, 0, 1, -2, 0]),
        ("uint2", [3, 0, 3, 0, 3, 0, 3, 0, 0]),
    ],
)
def test_a_float_wraps_into_few_bits(name: str, expected: list[int]):
    x = np.array([-9, -8.7, 7.9, 8, 15, 16, np.inf, -np.inf, np.nan], F32)
    found = elementwise.cast(x, getattr(ml_dtypes, name))
    np.testing.assert_array_equal(found.astype(np.int8), expected)


@pytest.mark.parametrize("target", ["i1", "i4", "i8", "u1", "u8"])
def test_cast_of_floats_saturates(target: str):
    dtype = np.dtype(target)
    info = np.iinfo(dtype)
    x = np.array([np.inf, -np.inf, np.nan, 1e30, -1e30, 1.9, -0.9, float(info.max)], F64)
    expected = np.array([info.max, info.min, 0, info.max, info.min, 1, 0, info.max], dtype)
    np.testing.assert_array_equal(elementwise.cast(x, dtype), expected)
    np.testing.assert_array_equal(elementwise.cast(x[:3], ml_dtypes.int4).astype(int), [7, -8, 0])


def test_cast_to_bool_asks_for_zero():
    x = np.array([0, -0.0, np.nan, 0.5], BF16)
    np.testing.assert_array_equal(elementwise.cast(x, np.bool_), [False, False, True, True])


@pytest.mark.parametrize("saturate", [True, False])
def test_cast_to_eight_bit_floats(saturate: bool):
    x = np.array([1e6, -np.inf, np.nan, 448, 1.1], F32)
    found = elementwise.cast(x, ml_dtypes.float8_e4m3fn, saturate=saturate).astype(F64)
    edge = 448 if saturate else np.nan
    np.testing.assert_array_equal(found, [edge, -edge, np.nan, 448, 1.125])


def test_cast_of_scalars_and_empty_arrays():
    assert elementwise.cast(np.array(2.5, F16), np.int32).shape == ()
    assert elementwise.cast(np.zeros((0, 2), F32), np.uint8).shape == (0, 2)
