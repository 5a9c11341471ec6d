from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.interpreters.kernels import indexing
from tests.kernel_reference import BF16, F16, F32, Array, assert_same, random, reference

I64 = np.dtype(np.int64)
TYPES = [F16, BF16, F32, np.dtype(np.int32), np.dtype(np.bool_)]
REDUCTIONS = ["none", "add", "mul", "max", "min"]


def _indices(size: int, *shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(-size, size, shape)


@pytest.mark.parametrize("shape", [(), (3,), (2, 4), (0,)], ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_gather_agrees_with_onnx(dtype: np.dtype[Any], axis: int, shape: tuple[int, ...]):
    x = random(dtype, 3, 4, 5)
    indices = _indices(x.shape[axis], *shape)
    expected = reference("Gather", x, indices, axis=axis)
    assert_same(indexing.gather(x, indices, axis=axis), expected, dtype)


@pytest.mark.parametrize("index", [4, -5])
def test_an_index_outside_is_refused(index: int):
    x, indices = random(F32, 4, 2), np.array([[index, 0]])
    message = rf"expected indices in \[-4, 3\], got {index}"
    with pytest.raises(IndexError, match=message):
        indexing.gather(x, indices)
    with pytest.raises(IndexError, match=message):
        indexing.gather_elements(x, indices)
    with pytest.raises(IndexError, match=message):
        indexing.scatter_nd(x, indices, np.ones(1, F32))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_gather_elements_agrees_with_onnx(dtype: np.dtype[Any], axis: int):
    x = random(dtype, 3, 4, 5)
    indices = _indices(x.shape[axis], 3, 4, 5)
    expected = reference("GatherElements", x, indices, axis=axis)
    assert_same(indexing.gather_elements(x, indices, axis=axis), expected, dtype)


def test_gather_elements_takes_shorter_indices():
    x = random(F32, 3, 4)
    found = indexing.gather_elements(x, np.array([[2], [0]]), axis=1)
    assert_same(found, [[x[0, 2]], [x[1, 0]]], F32)
    with pytest.raises(ValueError, match="indices of rank 2, got 1"):
        indexing.gather_elements(x, np.array([0]))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("dtype", [F16, F32, np.dtype(np.int32)], ids=str)
def test_scatter_elements_agrees_with_onnx(dtype: np.dtype[Any], axis: int, reduction: str):
    x, updates = random(dtype, 4, 5), random(dtype, 3, 4, seed=1)
    indices = _indices(4, 3, 4)
    if reduction == "none":
        indices = np.argsort(random(F32, 3, 4), axis=axis)
    found = indexing.scatter_elements(x, indices, updates, axis=axis, reduction=reduction)
    expected = reference("ScatterElements", x, indices, updates, axis=axis, reduction=reduction)
    assert_same(found, expected, dtype, ulps=4, scale=1)


ND: list[tuple[tuple[int, ...], int]] = [((2,), 0), ((5, 1), 0), ((3, 2, 3), 0), ((2, 4, 1), 1)]


@pytest.mark.parametrize(("shape", "batch_dims"), ND, ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_gather_nd_agrees_with_onnx(dtype: np.dtype[Any], shape: Any, batch_dims: int):
    x, indices = random(dtype, 2, 3, 4), _indices(2, *shape) % 2
    expected = reference("GatherND", x, indices, batch_dims=batch_dims)
    assert_same(indexing.gather_nd(x, indices, batch_dims=batch_dims), expected, dtype)


def test_gather_nd_refuses_long_tuples():
    with pytest.raises(ValueError, match="at most 1 indices, got 2"):
        indexing.gather_nd(np.ones((2, 2)), np.zeros((2, 2), I64), batch_dims=1)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("dtype", [F16, F32, np.dtype(np.int32)], ids=str)
def test_scatter_nd_agrees_with_onnx(dtype: np.dtype[Any], depth: int, reduction: str):
    x = random(dtype, 4, 3, 2)
    indices = np.stack([np.array([3, 0, -1, 1])] + [np.array([0, 1, 2, -2])] * (depth - 1), -1)
    if reduction == "none":
        indices = indices[1:]
    updates = random(dtype, len(indices), *x.shape[depth:], seed=1)
    found = indexing.scatter_nd(x, indices, updates, reduction=reduction)
    expected = reference("ScatterND", x, indices, updates, reduction=reduction)
    assert_same(found, expected, dtype, ulps=4, scale=1)


@given(st.lists(st.tuples(st.integers(-4, 3), st.integers(-9, 9)), max_size=10))
def test_the_last_of_equal_indices_wins(writes: list[tuple[int, int]]):
    expected = [0, 0, 0, 0]
    for index, value in writes:
        expected[index] = value
    indices = np.array([index for index, _ in writes], I64)
    updates = np.array([value for _, value in writes], I64)
    zeros = np.zeros(4, I64)
    assert indexing.scatter_elements(zeros, indices, updates).tolist() == expected
    assert indexing.scatter_nd(zeros, indices[:, None], updates).tolist() == expected
    assert not zeros.any()


def test_half_precision_scatter_adds_in_single():
    indices, updates = np.zeros(3000, I64), np.ones(3000, F16)
    found = indexing.scatter_elements(np.zeros(1, F16), indices, updates, reduction="add")
    assert found[0] == 3000


def test_scatter_refuses_an_unknown_reduction():
    with pytest.raises(ValueError, match="got mean"):
        indexing.scatter_nd(np.ones(2), np.array([[0]]), np.ones(1), reduction="mean")


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [F16, F32, np.dtype(np.int32)], ids=str)
def test_one_hot_agrees_with_onnx(dtype: np.dtype[Any], axis: int):
    indices, values = np.array([[0, 3, -1], [4, -5, 2]]), np.array([2, 7], dtype)
    expected = reference("OneHot", indices, np.array(4), values, axis=axis)
    assert_same(indexing.one_hot(indices, depth=4, values=values, axis=axis), expected, dtype)


def test_one_hot_of_a_scalar_with_an_infinite_value():
    found = indexing.one_hot(np.array(1), depth=3, values=np.array([0, np.inf], F32))
    assert_same(found, [0, np.inf, 0], F32)


@pytest.mark.parametrize("dtype", [F32, BF16, np.dtype(np.bool_)], ids=str)
def test_non_zero_agrees_with_onnx(dtype: np.dtype[Any]):
    x = np.array([[0, 1, np.nan], [-0.0, 2, 0]]).astype(dtype)
    assert_same(indexing.non_zero(x), reference("NonZero", x), I64)


def test_non_zero_of_scalars_and_nothing():
    assert indexing.non_zero(np.array(5)).shape == (0, 1)
    assert indexing.non_zero(np.array(0)).shape == (0, 0)
    assert indexing.non_zero(np.zeros((2, 0))).shape == (2, 0)
