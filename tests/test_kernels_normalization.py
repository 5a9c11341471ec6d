from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ge_dialect.interpreters.kernels import normalization
from tests.kernel_reference import BF16, F16, F32, F64, FLOATS, assert_same, random, reference

EPS = 2.0**-10
"""A power of two, so that f32 attributes of the reference are exact."""


@pytest.mark.parametrize("axis", [-1, 1, 0])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_layer_norm_agrees_with_onnx(dtype: np.dtype[Any], axis: int):
    x = random(dtype, 3, 4, 5)
    shape = x.shape[axis % 3 :]
    scale, bias = random(dtype, *shape, seed=1), random(dtype, *shape, seed=2)
    expected = reference("LayerNormalization", x, scale, bias, axis=axis, epsilon=EPS)
    found = normalization.layer_norm(x, scale, bias, axis=axis, eps=EPS)
    assert_same(found, expected, dtype, ulps=4, scale=2)


def test_layer_norm_without_scale_and_bias_has_mean_0_and_variance_1():
    found = normalization.layer_norm(random(F64, 4, 50), eps=0)
    np.testing.assert_allclose(found.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(found.var(axis=1), 1)


def test_layer_norm_of_large_half_precision_numbers():
    x = np.array([[60000, -60000, 60000, -60000]], F16)
    assert_same(normalization.layer_norm(x), [[1, -1, 1, -1]], F16)


def test_layer_norm_propagates_nan_by_row():
    found = normalization.layer_norm(np.array([[1, np.nan], [1, 3]], BF16))
    np.testing.assert_array_equal(np.isnan(found.astype(F32)), [[True, True], [False, False]])


@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rms_norm_agrees_with_onnx(dtype: np.dtype[Any], axis: int):
    x, scale = random(dtype, 3, 4, 5), random(dtype, *(3, 4, 5)[axis % 3 :], seed=1)
    expected = reference("RMSNormalization", x, scale, axis=axis, epsilon=EPS)
    found = normalization.rms_norm(x, scale, axis=axis, eps=EPS)
    assert_same(found, expected, dtype, ulps=4, scale=1)


@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("dtype", [F16, F32], ids=str)
def test_group_norm_agrees_with_onnx(dtype: np.dtype[Any], groups: int):
    x, scale, bias = random(dtype, 2, 6, 3, 4), random(dtype, 6, seed=1), random(dtype, 6, seed=2)
    expected = reference("GroupNormalization", x, scale, bias, num_groups=groups, epsilon=EPS)
    found = normalization.group_norm(x, scale, bias, groups=groups, eps=EPS)
    assert_same(found, expected, dtype, ulps=8, scale=2)


def test_group_norm_refuses_groups_that_do_not_divide():
    with pytest.raises(ValueError, match="multiples of 4, got 6"):
        normalization.group_norm(np.ones((1, 6, 2)), np.ones(6), np.ones(6), groups=4)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_instance_norm_agrees_with_onnx(dtype: np.dtype[Any]):
    x, scale, bias = random(dtype, 2, 3, 4, 5), random(dtype, 3, seed=1), random(dtype, 3, seed=2)
    expected = reference("InstanceNormalization", x, scale, bias, epsilon=EPS)
    assert_same(normalization.instance_norm(x, scale, bias, eps=EPS), expected, dtype, 4, 2)


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (4, 3)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_batch_norm_agrees_with_onnx(dtype: np.dtype[Any], shape: Any):
    x = random(dtype, *shape)
    parameters = [random(dtype, 3, seed=i) for i in range(1, 5)]
    parameters[3] = np.abs(parameters[3])
    expected = reference("BatchNormalization", x, *parameters, epsilon=EPS)
    assert_same(normalization.batch_norm(x, *parameters, eps=EPS), expected, dtype, 4, 2)


def test_batch_norm_takes_statistics_of_a_wider_type():
    x, parameter = random(F16, 2, 3), np.ones(3, F32)
    found = normalization.batch_norm(x, parameter, parameter, parameter, parameter, eps=0)
    assert_same(found, x, F16)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("axis", [1, -1])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_lp_normalization_agrees_with_onnx(dtype: np.dtype[Any], axis: int, p: int):
    x = np.abs(random(dtype, 3, 4))
    expected = reference("LpNormalization", x, axis=axis, p=p)
    assert_same(normalization.lp_normalization(x, axis=axis, p=p), expected, dtype, ulps=4)


def test_lp_normalization_of_signs_and_zeros():
    x = np.array([[3, -4], [0, 0]], F32)
    assert_same(normalization.lp_normalization(x, p=2), [[0.6, -0.8], [0, 0]], F32)
    assert_same(normalization.lp_normalization(x, p=1), [[3 / 7, -4 / 7], [0, 0]], F32)
    with pytest.raises(ValueError, match="expected 'p' to be 1 or 2, got 3"):
        normalization.lp_normalization(x, p=3)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_lrn_sums_the_channels_around(size: int):
    x = random(F64, 2, 5, 3, 3)
    found = normalization.lrn(x, size=size, alpha=0.5, beta=0.75, bias=2.0)
    for c in range(5):
        first, last = max(0, c - (size - 1) // 2), min(4, c + size // 2)
        squares = np.sum(x[:, first : last + 1] ** 2, axis=1)
        expected = x[:, c] / (2 + 0.5 / size * squares) ** 0.75
        np.testing.assert_allclose(found[:, c], expected, rtol=1e-12)


def test_lrn_agrees_with_onnx_on_as_many_images_as_channels():
    # The reference counts images where it means channels.
    x = random(F32, 5, 5, 2, 3)
    expected = reference("LRN", x, size=3, alpha=0.5, beta=0.5, bias=2.0)
    found = normalization.lrn(x, size=3, alpha=0.5, beta=0.5, bias=2.0)
    assert_same(found, expected, F32, ulps=4)
