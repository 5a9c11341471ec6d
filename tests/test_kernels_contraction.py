from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.interpreters.kernels import contraction, convolution
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

I32 = np.dtype(np.int32)
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3, 4), (4, 5)),
    ((2, 1, 3, 4), (6, 4, 5)),
    ((4,), (4, 5)),
    ((2, 3, 4), (4,)),
    ((4,), (4,)),
    ((0, 4), (4, 3)),
    ((3, 0), (0, 2)),
]


@pytest.mark.parametrize("dtype", [*FLOATS, I32, np.dtype(np.uint8)], ids=str)
@pytest.mark.parametrize(("left", "right"), SHAPES, ids=str)
def test_matmul_agrees_with_onnx(left: Any, right: Any, dtype: np.dtype[Any]):
    a, b = random(dtype, *left), random(dtype, *right, seed=1)
    assert_same(contraction.matmul(a, b), reference("MatMul", a, b), dtype, ulps=4, scale=4)


def test_half_precision_products_accumulate_in_single():
    a = np.full((1, 4096), 0.5, F16)
    assert contraction.matmul(a, a.T)[0, 0] == 1024


def test_integer_products_wrap():
    a = np.full((2, 3), 2**31 - 1, np.int32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(contraction.matmul(a, a.T), np.matmul(a, a.T))
    small = np.full((2, 3), 100, np.int8)
    np.testing.assert_array_equal(contraction.matmul(small, small.T), np.int8(30000 % 256))


@given(st.integers(1, 2**62), st.integers(1, 2**62))
def test_integer_products_are_exact_modulo_the_width(a: int, b: int):
    found = contraction.matmul(np.array([[a]]), np.array([[b]]))
    assert int(found[0, 0]) % 2**64 == a * b % 2**64


@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("dtype", [F16, F32, F64, I32], ids=str)
def test_gemm_agrees_with_onnx(dtype: np.dtype[Any], trans_a: bool, trans_b: bool):
    a = random(dtype, *((4, 3) if trans_a else (3, 4)))
    b = random(dtype, *((5, 4) if trans_b else (4, 5)), seed=1)
    attributes: dict[str, Any] = {
        "alpha": 0.5,
        "beta": 2.0,
        "transA": int(trans_a),
        "transB": int(trans_b),
    }
    for c in (None, random(dtype, 5), random(dtype, 3, 1), random(dtype)):
        found = contraction.gemm(a, b, c, alpha=0.5, beta=2.0, trans_a=trans_a, trans_b=trans_b)
        expected = reference("Gemm", a, b, c, **attributes)
        assert_same(found, np.trunc(expected) if dtype == I32 else expected, dtype, 4, 4)


EQUATIONS: list[tuple[str, list[tuple[int, ...]]]] = [
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    ("bhid,bhjd->bhij", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ("i,j", [(3,), (4,)]),
    ("ii->i", [(3, 3)]),
    ("...ij->...ji", [(2, 3, 4)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("bij, bkj -> bik", [(2, 3, 4), (2, 5, 4)]),
]


@pytest.mark.parametrize("dtype", [BF16, F32], ids=str)
@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS, ids=[e for e, _ in EQUATIONS])
def test_einsum_agrees_with_onnx(equation: str, shapes: Any, dtype: np.dtype[Any]):
    operands = [random(dtype, *shape, seed=i) for i, shape in enumerate(shapes)]
    expected = reference("Einsum", *operands, equation=equation)
    assert_same(contraction.einsum(*operands, equation=equation), expected, dtype, 4, 8)


def test_einsum_refuses_an_equation_that_does_not_fit():
    with pytest.raises(ValueError, match="label 'j'"):
        contraction.einsum(np.ones((2, 3)), np.ones((4, 5)), equation="ij,jk->ik")


@pytest.mark.parametrize("dtype", [np.uint8, np.int8], ids=str)
def test_matmul_integer_agrees_with_onnx(dtype: Any):
    a, b = random(dtype, 2, 3, 40, low=-128, high=127), random(dtype, 40, 5, low=-128, high=127)
    points = np.array(3, dtype), np.array(5, dtype)
    assert_same(contraction.matmul_integer(a, b), reference("MatMulInteger", a, b), I32)
    found = contraction.matmul_integer(a, b, *points)
    assert_same(found, reference("MatMulInteger", a, b, *points), I32)


def test_matmul_integer_takes_zero_points_by_row_and_column():
    a, b = random(np.uint8, 3, 4, high=9), random(np.uint8, 4, 2, high=9)
    rows, columns = np.array([1, 2, 3], np.uint8), np.array([4, 5], np.uint8)
    expected = (a.astype(int) - rows[:, None]) @ (b.astype(int) - columns)
    assert_same(contraction.matmul_integer(a, b, rows, columns), expected, I32)


CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 8), (4, 3, 3), {}),
    ((2, 3, 8), (4, 3, 3), {"strides": [2], "pads": [1, 2]}),
    ((1, 4, 7, 6), (6, 4, 3, 2), {"strides": [2, 1], "pads": [1, 0, 2, 1]}),
    ((1, 4, 7, 6), (6, 2, 3, 2), {"group": 2}),
    ((1, 4, 7, 6), (8, 1, 3, 3), {"group": 4, "pads": [1, 1, 1, 1]}),
    ((1, 3, 9, 9), (2, 3, 3, 3), {"dilations": [2, 3], "strides": [1, 2]}),
    ((2, 2, 5, 5), (3, 2, 1, 1), {}),
    ((1, 2, 4, 5, 4), (3, 2, 2, 3, 2), {"pads": [0, 1, 0, 1, 0, 1]}),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("shape", "kernel", "attributes"), CONVOLUTIONS, ids=str)
def test_conv_agrees_with_onnx(
    shape: Any, kernel: Any, attributes: dict[str, Any], dtype: np.dtype[Any]
):
    x, w, b = random(dtype, *shape), random(dtype, *kernel, seed=1), random(dtype, kernel[0])
    expected = reference("Conv", x, w, b, **attributes)
    assert_same(convolution.conv(x, w, b, **attributes), expected, dtype, ulps=8, scale=4)


def test_conv_in_pieces_is_the_same(monkeypatch: pytest.MonkeyPatch):
    x, w = random(F32, 2, 3, 9, 8), random(F32, 4, 3, 3, 3, seed=1)
    whole = convolution.conv(x, w, pads=[1, 1, 1, 1])
    monkeypatch.setattr(convolution, "_UNFOLDED_ELEMENTS", 500)
    np.testing.assert_allclose(convolution.conv(x, w, pads=[1, 1, 1, 1]), whole, rtol=1e-5)


def test_conv_refuses_what_does_not_fit():
    x = np.zeros((1, 4, 5), F32)
    with pytest.raises(ValueError, match="expected weights of 2 groups"):
        convolution.conv(x, np.zeros((2, 4, 3), F32), group=2)
    with pytest.raises(ValueError, match="expected 2 pads, got 1"):
        convolution.conv(x, np.zeros((2, 4, 3), F32), pads=[1])
    with pytest.raises(ValueError, match="padded input of at least"):
        convolution.conv(x, np.zeros((2, 4, 6), F32))


TRANSPOSED: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 5), (3, 4, 3), {}),
    ((1, 3, 5, 4), (3, 2, 3, 3), {"strides": [2, 3], "pads": [1, 0, 0, 2]}),
    ((1, 3, 4, 4), (3, 2, 2, 3), {"dilations": [2, 1]}),
    ((2, 2, 4, 4), (2, 3, 3, 3), {"strides": [2, 2], "output_padding": [1, 1]}),
    ((1, 2, 3, 3, 3), (2, 2, 2, 2, 2), {"strides": [1, 2, 1]}),
]


@pytest.mark.parametrize("dtype", [F16, F32, F64], ids=str)
@pytest.mark.parametrize(("shape", "kernel", "attributes"), TRANSPOSED, ids=str)
def test_conv_transpose_agrees_with_onnx(
    shape: Any, kernel: Any, attributes: dict[str, Any], dtype: np.dtype[Any]
):
    x, w, b = random(dtype, *shape), random(dtype, *kernel, seed=1), random(dtype, kernel[1])
    expected = reference("ConvTranspose", x, w, b, group=1, **attributes)
    assert_same(convolution.conv_transpose(x, w, b, **attributes), expected, dtype, 8, 4)


def test_groups_of_a_transposed_convolution_are_independent():
    x, w = random(F64, 2, 4, 5, 5), random(F64, 4, 3, 3, 3, seed=1)
    parts = [
        convolution.conv_transpose(x[:, i : i + 2], w[i : i + 2], strides=[2, 1]) for i in (0, 2)
    ]
    found = convolution.conv_transpose(x, w, strides=[2, 1], group=2)
    np.testing.assert_allclose(found, np.concatenate(parts, axis=1), rtol=1e-12)


def test_transposed_convolution_is_the_adjoint():
    x, w = random(F64, 1, 3, 7, 8), random(F64, 4, 3, 3, 2, seed=1)
    rules: dict[str, Any] = {"strides": [2, 3], "pads": [1, 0, 1, 0]}
    y = convolution.conv(x, w, **rules)
    u = random(F64, *y.shape, seed=2)
    back = convolution.conv_transpose(u, w, output_padding=[0, 0], **rules)
    assert back.shape == x.shape
    np.testing.assert_allclose(np.sum(y * u), np.sum(x * back), rtol=1e-10)


@pytest.mark.parametrize("group", [1, 2])
def test_conv_integer_agrees_with_onnx(group: int):
    x = random(np.uint8, 1, 4, 6, 6, low=0, high=255)
    w = random(np.uint8, 4, 4 // group, 3, 3, seed=1, low=0, high=255)
    points: list[Array] = [np.array(7, np.uint8), np.array(9, np.uint8)]
    found = convolution.conv_integer(x, w, *points, group=group, pads=[1, 1, 1, 1])
    expected = reference("ConvInteger", x, w, *points, group=group, pads=[1, 1, 1, 1])
    assert_same(found, expected, I32)


def test_conv_integer_takes_a_zero_point_for_each_channel():
    x, w = random(np.uint8, 1, 2, 5, high=9), random(np.uint8, 3, 2, 2, high=9)
    points = np.array([1, 2, 3], np.uint8)
    found = convolution.conv_integer(x, w, None, points)
    expected = convolution.conv(x.astype(F64), w.astype(F64) - points.reshape(3, 1, 1))
    np.testing.assert_array_equal(found, expected)
