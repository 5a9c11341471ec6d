from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ge_dialect.interpreters.kernels import pooling, resize
from tests.kernel_reference import BF16, F16, F32, F64, FLOATS, assert_same, random, reference

I64 = np.dtype(np.int64)
POOLS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 8), {"kernel": [3]}),
    ((2, 3, 8), {"kernel": [3], "strides": [2], "pads": [1, 1]}),
    ((1, 2, 7, 6), {"kernel": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]}),
    ((1, 2, 7, 8), {"kernel": [3, 3], "strides": [2, 2], "ceil_mode": True}),
    ((1, 2, 9, 9), {"kernel": [2, 3], "dilations": [2, 2]}),
    ((1, 1, 4, 5, 6), {"kernel": [2, 2, 2], "strides": [2, 2, 2]}),
    ((1, 2, 5, 5), {"kernel": [2, 2], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": True}),
]


def _onnx(attributes: dict[str, Any]) -> dict[str, Any]:
    named = {"kernel": "kernel_shape"}
    return {
        named.get(name, name): int(value) if isinstance(value, bool) else value
        for name, value in attributes.items()
    }


@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype(np.int8)], ids=str)
@pytest.mark.parametrize(("shape", "attributes"), POOLS, ids=str)
def test_max_pool_agrees_with_onnx(shape: Any, attributes: dict[str, Any], dtype: np.dtype[Any]):
    if dtype == np.int8 and "pads" in attributes:
        attributes = {name: value for name, value in attributes.items() if name != "pads"}
    x = random(dtype, *shape)
    expected = reference("MaxPool", x.astype(F64), **_onnx(attributes))
    assert_same(pooling.max_pool(x, **attributes), expected, dtype)


@pytest.mark.parametrize("count", [False, True])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("shape", "attributes"), POOLS, ids=str)
def test_average_pool_agrees_with_onnx(
    shape: Any, attributes: dict[str, Any], dtype: np.dtype[Any], count: bool
):
    x = random(dtype, *shape)
    found = pooling.average_pool(x, count_include_pad=count, **attributes)
    if count and attributes.get("ceil_mode") and "pads" not in attributes:
        # What lies beyond the padding does not count; the reference counts it for some shapes.
        assert_same(found, pooling.average_pool(x, **attributes), dtype)
        return
    expected = reference("AveragePool", x, count_include_pad=int(count), **_onnx(attributes))
    assert_same(found, expected, dtype, ulps=4, scale=1)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize(("shape", "attributes"), POOLS[:3], ids=str)
def test_lp_pool_agrees_with_onnx(shape: Any, attributes: dict[str, Any], p: int):
    x = random(F32, *shape)
    expected = reference("LpPool", x, p=p, **_onnx(attributes))
    assert_same(pooling.lp_pool(x, p=p, **attributes), expected, F32, ulps=8)


@pytest.mark.parametrize(("shape", "attributes"), POOLS, ids=str)
def test_max_pool_indices_lead_to_the_maxima(shape: Any, attributes: dict[str, Any]):
    x = random(np.int8, *shape, low=-2, high=2).astype(F16)
    values = pooling.max_pool(x, **attributes)
    indices = pooling.max_pool_indices(x, **attributes)
    assert_same(indices, indices, I64)
    np.testing.assert_array_equal(x.reshape(-1)[indices], values)


@pytest.mark.parametrize("storage_order", [0, 1])
def test_max_pool_indices_agree_with_onnx(storage_order: int):
    x = random(F32, 2, 3, 6, 5)
    attributes: dict[str, Any] = {"kernel": [2, 2], "strides": [2, 2], "pads": [0, 0, 0, 1]}
    found = pooling.max_pool_indices(x, storage_order=storage_order, **attributes)
    expected = reference("MaxPool", x, outputs=2, storage_order=storage_order, **_onnx(attributes))
    assert_same(found, expected[1], I64)


def test_padding_never_wins_and_nan_always_does():
    x = np.array([[[-np.inf, -np.inf, np.nan, 1]]], BF16)
    rules: dict[str, Any] = {"kernel": [2], "strides": [2], "pads": [1, 1]}
    assert_same(pooling.max_pool(x, **rules), [[[-np.inf, np.nan, 1]]], BF16)
    assert_same(pooling.max_pool_indices(x, **rules), [[[0, 2, 3]]], I64)


def test_global_pools_agree_with_onnx():
    x = random(F16, 2, 3, 4, 5)
    expected = reference("GlobalAveragePool", x)
    assert_same(pooling.global_average_pool(x), expected, F16, ulps=2, scale=1)
    assert_same(pooling.global_max_pool(x), reference("GlobalMaxPool", x), F16)
    exact = np.sqrt(np.sum(x.astype(F64) ** 2, axis=(2, 3), keepdims=True))
    assert_same(pooling.global_lp_pool(x), exact, F16)


def test_pools_refuse_what_does_not_fit():
    x = np.zeros((1, 1, 4, 4), F32)
    with pytest.raises(ValueError, match="expected a kernel of 2 dimensions"):
        pooling.max_pool(x, kernel=[2])
    with pytest.raises(ValueError, match="expected 2 positive strides"):
        pooling.max_pool(x, kernel=[2, 2], strides=[0, 1])
    with pytest.raises(ValueError, match="expected windows of at most 4, got 5"):
        pooling.max_pool(x, kernel=[5, 5])


MODES = [
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
]
SCALES = [[1.0, 1.0, 2.0, 1.5], [1.0, 1.0, 0.6, 0.5], [1.0, 1.0, 3.0, 0.25]]


def _resize_both(x: Any, dtype: Any = F32, ulps: float = 8, **attributes: Any) -> None:
    given = dict(attributes)
    sizes, scales, roi = (given.pop(name, None) for name in ("sizes", "scales", "roi"))
    expected = reference(
        "Resize",
        x,
        np.array([] if roi is None else roi, F32),
        None if scales is None else np.array(scales, F32),
        None if sizes is None else np.array(sizes),
        **{name: int(v) if isinstance(v, bool) else v for name, v in given.items()},
    )
    if scales is not None:
        attributes["scales"] = [float(np.float32(scale)) for scale in scales]
    assert_same(resize.resize(x, **attributes), expected, dtype, ulps=ulps, scale=4)


def test_resize_as_tensorflow_has_it_for_nearest():
    """Of operator sets 11 and 12: `(y + 0.5) / scale`, rounded down; onnx.reference has it not."""
    x = np.arange(6, dtype=F32).reshape(1, 1, 1, 6)
    mode: dict[str, Any] = {
        "coordinate_transformation_mode": "tf_half_pixel_for_nn",
        "nearest_mode": "floor",
    }
    for count in (3, 4, 9, 12):
        found = resize.resize(x, sizes=[1, 1, 1, count], mode="nearest", **mode)
        places = np.floor((np.arange(count) + 0.5) * 6 / count)
        assert found.reshape(-1).tolist() == places.tolist()


@pytest.mark.parametrize("scales", SCALES, ids=str)
@pytest.mark.parametrize("transformation", MODES)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_resize_by_scales_agrees_with_onnx(mode: str, transformation: str, scales: list[float]):
    x = random(F32, 1, 2, 5, 4)
    _resize_both(x, scales=scales, mode=mode, coordinate_transformation_mode=transformation)


@pytest.mark.parametrize("transformation", MODES)
@pytest.mark.parametrize("dtype", [F16, BF16, F64], ids=str)
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_resize_to_sizes_agrees_with_onnx(mode: str, dtype: np.dtype[Any], transformation: str):
    x = random(dtype, 1, 2, 5, 4)
    for sizes in ([1, 2, 7, 9], [1, 2, 3, 1]):
        _resize_both(
            x, dtype, 64, sizes=sizes, mode=mode, coordinate_transformation_mode=transformation
        )


def test_keys_cubic_reproduces_quadratics():
    x = np.arange(12.0)
    found = resize.resize(x * x - 3 * x, sizes=[36], mode="cubic", cubic_coeff_a=-0.5)
    at = ((np.arange(36) + 0.5) / 3 - 0.5)[6:-6]
    np.testing.assert_allclose(found[6:-6], at * at - 3 * at, rtol=1e-12)


@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("transformation", MODES)
def test_nearest_modes_agree_with_onnx(transformation: str, nearest: str):
    _resize_both(
        random(F32, 1, 1, 6, 4),
        scales=[1.0, 1.0, 0.5, 2.0],
        mode="nearest",
        nearest_mode=nearest,
        coordinate_transformation_mode=transformation,
    )


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_crop_and_resize_agrees_with_onnx(mode: str):
    _resize_both(
        random(F32, 1, 1, 5, 6),
        sizes=[1, 1, 4, 5],
        roi=[0, 0, 0.2, -0.3, 1, 1, 0.7, 1.4],
        mode=mode,
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=10.0,
    )


@pytest.mark.parametrize("coefficient", [-0.75, -0.5])
def test_cubic_attributes_agree_with_onnx(coefficient: float):
    _resize_both(
        random(F32, 1, 1, 5, 6),
        scales=[1.0, 1.0, 1.7, 0.6],
        mode="cubic",
        cubic_coeff_a=coefficient,
        exclude_outside=True,
    )


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_resize_of_some_axes_and_of_integers(mode: str):
    x = random(np.uint8, 2, 5, 4, low=0, high=255)
    found = resize.resize(x, sizes=[7, 3], axes=[1, -1], mode=mode)
    expected = resize.resize(x, sizes=[2, 7, 3], mode=mode)
    np.testing.assert_array_equal(found, expected)
    _resize_both(x, np.uint8, sizes=[2, 7, 3], mode=mode)


def test_resize_to_nothing():
    x = random(F32, 1, 1, 3, 3)
    assert resize.resize(x, sizes=[1, 1, 0, 3], mode="linear").shape == (1, 1, 0, 3)


def test_resize_refuses_what_it_does_not_know():
    x = random(F32, 2, 2)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"sizes": [4, 4], "antialias": True}, "expected 'antialias' = 0"),
        ({"sizes": [4, 4], "mode": "area"}, "nearest, linear, cubic, got area"),
        ({"sizes": [4, 4], "nearest_mode": "up"}, "got up"),
        ({"sizes": [4]}, "of 2 axes, got"),
        ({}, "of 2 axes, got None"),
    ]
    for attributes, message in cases:
        with pytest.raises(ValueError, match=message):
            resize.resize(x, **attributes)
