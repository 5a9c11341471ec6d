from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ge_dialect.ge.attributes import FloatFormatType
from ge_dialect.ge.quantization import (
    DequantizeLinearOp,
    DynamicQuantizeLinearOp,
    QuantizeLinearOp,
)
from ge_dialect.ge.types import tensor_of
from tests.kernel_reference import F16, F32, assert_same, random, reference
from tests.op_checks import run, value


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
@pytest.mark.parametrize(
    ("scales", "axis", "block_size"),
    [((), 1, 0), ((1,), 7, 0), ((6,), 1, 0), ((4,), -2, 0), ((4, 3), 1, 2), ((4, 2), 1, 4)],
)
def test_linear_quantisation_is_that_of_onnx(
    dtype: type[Any], scales: tuple[int, ...], axis: int, block_size: int
) -> None:
    x = 20 * random(F32, 4, 6)
    scale = np.abs(random(F32, *scales, seed=1)) + 0.25
    zero = random(dtype, *scales, low=0, high=9)
    blocks: dict[str, Any] = {"axis": axis, "block_size": block_size}
    (levels,) = run(QuantizeLinearOp, x, scale, zero, **blocks)
    (back,) = run(DequantizeLinearOp, levels, scale, zero, **blocks)
    assert levels.dtype == dtype
    assert back.dtype == F32
    if block_size in (0, 2) and axis != 7:  # ONNX's reference takes whole blocks only
        expected = reference("QuantizeLinear", x, scale, zero, **blocks)
        np.testing.assert_array_equal(levels, expected)
    inside = (levels > np.iinfo(dtype).min) & (levels < np.iinfo(dtype).max)
    assert np.abs(back - x)[inside].max() <= scale.max() / 2 + 1e-5


def test_the_result_type_is_that_of_the_zero_point_or_as_asked() -> None:
    x, scale = value(random(F32, 4, 6)), value(np.asarray(0.5, F32))
    narrow = FloatFormatType("f8E4M3FN")
    assert str(tensor_of(QuantizeLinearOp(x, scale).result)) == "tensor<4x6xui8>"
    asked = QuantizeLinearOp(x, scale, element_type=narrow)
    assert tensor_of(asked.result).element_type == narrow
    (found,) = run(QuantizeLinearOp, random(F32, 4), np.asarray(0.5, F32), element_type=narrow)
    assert found.dtype == ml_dtypes.float8_e4m3fn


def test_dequantisation_has_the_type_of_the_scale() -> None:
    (found,) = run(DequantizeLinearOp, random(np.int8, 3), np.asarray(0.5, F16))
    assert found.dtype == F16


def test_dynamic_quantisation_is_that_of_onnx() -> None:
    x = random(F32, 4, 6)
    levels, scale, zero = run(DynamicQuantizeLinearOp, x)
    expected = reference("DynamicQuantizeLinear", x, outputs=3)
    np.testing.assert_array_equal(levels, expected[0])
    assert_same(scale, expected[1], F32)
    np.testing.assert_array_equal(zero, expected[2])
