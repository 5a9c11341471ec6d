from __future__ import annotations

import numpy as np
import pytest

from ge_dialect.ge.channel_normalization import BatchNormOp, GroupNormOp, InstanceNormOp
from ge_dialect.ge.normalization import LayerNormOp, LpNormOp, LRNOp, RMSNormOp
from tests.kernel_reference import F16, F32, Array, assert_same, random, reference
from tests.op_checks import run, value


@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("bias", [False, True])
def test_layer_norm_is_that_of_onnx(axis: int, bias: bool) -> None:
    x, scale = random(F32, 2, 3, 4), random(F32, *(2, 3, 4)[axis:], seed=1)
    shift = random(F32, *scale.shape, seed=2) if bias else None
    (found,) = run(LayerNormOp, x, scale, shift, axis=axis, epsilon=1e-3)
    # The property is of f32, and so 1e-3 is not quite 1e-3.
    epsilon = float(np.float32(1e-3))
    expected = reference("LayerNormalization", x, scale, shift, axis=axis, epsilon=epsilon)
    assert_same(found, expected, F32, ulps=16, scale=2)


def test_layer_norm_without_scale_has_mean_0_and_variance_1() -> None:
    (found,) = run(LayerNormOp, random(F32, 5, 64), epsilon=0.0)
    np.testing.assert_allclose(found.mean(1), 0, atol=1e-6)
    np.testing.assert_allclose(found.var(1), 1, rtol=1e-5)


@pytest.mark.parametrize("axis", [-1, -2])
def test_rms_norm_is_that_of_onnx(axis: int) -> None:
    x, scale = random(F32, 2, 3, 4), random(F32, *(2, 3, 4)[axis:], seed=1)
    (found,) = run(RMSNormOp, x, scale, axis=axis, epsilon=1e-2)
    epsilon = float(np.float32(1e-2))
    expected = reference("RMSNormalization", x, scale, axis=axis, epsilon=epsilon)
    assert_same(found, expected, F32, ulps=16, scale=2)


def _channels(count: int) -> tuple[Array, Array]:
    return random(F32, count, seed=1), random(F32, count, seed=2)


def test_norms_of_channels_are_those_of_onnx() -> None:
    x = random(F32, 2, 4, 3, 5)
    scale, bias = _channels(4)
    (groups,) = run(GroupNormOp, x, scale, bias, num_groups=2, epsilon=0.5)
    expected = reference("GroupNormalization", x, scale, bias, num_groups=2, epsilon=0.5)
    assert_same(groups, expected, F32, ulps=16, scale=2)
    (instances,) = run(InstanceNormOp, x, scale, bias, epsilon=0.5)
    expected = reference("InstanceNormalization", x, scale, bias, epsilon=0.5)
    assert_same(instances, expected, F32, ulps=16, scale=2)


@pytest.mark.parametrize("shape", [(2, 4, 3), (2, 4)])
def test_batch_norm_is_that_of_onnx(shape: tuple[int, ...]) -> None:
    x = random(F32, *shape)
    scale, bias = _channels(4)
    mean, variance = random(F32, 4, seed=3), np.abs(random(F32, 4, seed=4))
    operands = (x, scale, bias, mean, variance)
    (found,) = run(BatchNormOp, *operands, epsilon=0.25)
    expected = reference("BatchNormalization", *operands, epsilon=0.25)
    assert_same(found, expected, F32, ulps=16, scale=2)


@pytest.mark.parametrize("p", [1, 2])
def test_lp_norm_makes_the_norm_1(p: int) -> None:
    x = random(F32, 3, 4)
    (found,) = run(LpNormOp, x, axis=0, p=p)
    np.testing.assert_allclose((np.abs(found) ** p).sum(0), 1, rtol=1e-6)
    np.testing.assert_array_equal(np.sign(found), np.sign(x))


def test_lrn_is_that_of_onnx() -> None:
    # ONNX's reference is right only where there are as many images as channels.
    x = random(F32, 4, 4, 3, 3)
    (found,) = run(LRNOp, x, size=3, alpha=0.5, beta=0.5, bias=2.0)
    assert_same(found, reference("LRN", x, size=3, alpha=0.5, beta=0.5, bias=2.0), F32, ulps=8)


def test_narrow_floats_are_normalised_in_f32() -> None:
    # The sum of squares of these is beyond the greatest f16.
    x = np.full((1, 4), 300, F16)
    (found,) = run(RMSNormOp, x, epsilon=0.0)
    np.testing.assert_array_equal(found, np.ones((1, 4), F16))


def test_only_batch_norm_may_work_in_place() -> None:
    x, c = value(random(F32, 2, 4, 3)), value(random(F32, 4))
    assert list(BatchNormOp(x, c, c, c, c).in_place_pairs()) == [(0, 0)]
    assert list(LayerNormOp(x).in_place_pairs()) == []
