from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ge_dialect.ge.pooling import AveragePoolOp, LpPoolOp, MaxPoolOp, MaxPoolWithIndicesOp
from tests.kernel_reference import F32, assert_same, random, reference
from tests.op_checks import run, value

WINDOWS: list[dict[str, Any]] = [
    {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1)},
    {"strides": (2, 3), "pads": (1, 0, 1, 1), "dilations": (1, 1)},
    {"strides": (2, 2), "pads": (1, 1, 1, 1), "dilations": (2, 1)},
]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_pools_are_those_of_onnx(window: dict[str, Any], ceil_mode: bool) -> None:
    x = random(F32, 2, 3, 7, 9)
    options: dict[str, Any] = {**window, "ceil_mode": ceil_mode}
    onnx: dict[str, Any] = {**window, "kernel_shape": (3, 2), "ceil_mode": int(ceil_mode)}
    (most,) = run(MaxPoolOp, x, kernel=(3, 2), **options)
    both = run(MaxPoolWithIndicesOp, x, kernel=(3, 2), **options)
    assert_same(most, reference("MaxPool", x, **onnx), F32)
    np.testing.assert_array_equal(both[0], most)
    np.testing.assert_array_equal(x.reshape(-1)[both[1]], most)
    for include in (False, True):
        (mean,) = run(AveragePoolOp, x, kernel=(3, 2), **options, count_include_pad=include)
        assert_same(
            mean,
            reference("AveragePool", x, **onnx, count_include_pad=int(include)),
            F32,
            ulps=8,
            scale=1,
        )


@pytest.mark.parametrize("p", [1, 2, 3])
def test_lp_pool_is_that_of_onnx(p: int) -> None:
    x = random(F32, 1, 2, 8)
    (found,) = run(LpPoolOp, x, kernel=(3,), p=p, strides=(2,), pads=(1, 1))
    expected = reference("LpPool", x, kernel_shape=(3,), p=p, strides=(2,), pads=(1, 1))
    assert_same(found, expected, F32, ulps=8)


def test_work_of_a_pool_counts_the_window() -> None:
    assert MaxPoolOp(value(random(F32, 1, 2, 4, 4)), (2, 2), strides=(2, 2)).flops() == 2 * 4 * 4
