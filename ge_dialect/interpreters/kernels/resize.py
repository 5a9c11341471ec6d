"""Resize: one axis after the other, each a weighted sum of neighbours.

Source: ONNX `Resize`, version 19; cubic weights by Keys, "Cubic Convolution Interpolation for
Digital Image Processing" (1981), equation 15 with the coefficient left free.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ge_dialect.interpreters.kernels.elementwise import cast
from ge_dialect.interpreters.kernels.numeric import (
    Array,
    iota,
    is_float,
    normalized_axis,
    quiet,
    real_dtype,
)

T = TypeVar("T")


@dataclass(frozen=True)
class _Axis:
    """How one axis is resized.

    Attributes:
        size: Elements of the input.
        count: Elements of the output.
        scale: Elements of the output for one of the input.
        roi: Begin and end of the part taken, as fractions of the input.
    """

    size: int
    count: int
    scale: float
    roi: tuple[float, float]

    @property
    def length(self) -> float:
        """Elements of the output before rounding to a whole number."""
        return self.scale * self.size

    @property
    def is_identity(self) -> bool:
        return self.count == self.size and math.isclose(self.scale, 1) and self.roi == (0, 1)


def _align_corners(y: Array, axis: _Axis) -> Array:
    if axis.length == 1:
        return np.zeros_like(y)
    return y * (axis.size - 1) / (axis.length - 1)


def _asymmetric(y: Array, axis: _Axis) -> Array:
    return y / axis.scale


def _half_pixel(y: Array, axis: _Axis) -> Array:
    return (y + 0.5) / axis.scale - 0.5


def _half_pixel_for_nearest(y: Array, axis: _Axis) -> Array:
    # Of ONNX's versions 11 and 12; converters from TensorFlow still write it.
    return (y + 0.5) / axis.scale


def _pytorch_half_pixel(y: Array, axis: _Axis) -> Array:
    # With one element of output the first input element is taken, not the middle one.
    return np.full_like(y, -0.5) if axis.length == 1 else _half_pixel(y, axis)


def _half_pixel_symmetric(y: Array, axis: _Axis) -> Array:
    offset = axis.size / 2 * (1 - axis.count / axis.length)
    return offset + _half_pixel(y, axis)


def _crop_and_resize(y: Array, axis: _Axis) -> Array:
    (begin, end), last = axis.roi, axis.size - 1
    if axis.length == 1:
        inside = np.full_like(y, (end - begin) * last / 2)
    else:
        inside = y * (end - begin) * last / (axis.length - 1)
    return inside + begin * last


_COORDINATES: dict[str, Callable[[Array, _Axis], Array]] = {
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": _pytorch_half_pixel,
    "align_corners": _align_corners,
    "asymmetric": _asymmetric,
    "tf_crop_and_resize": _crop_and_resize,
    "tf_half_pixel_for_nn": _half_pixel_for_nearest,
}


def _round_prefer_floor(at: Array) -> Array:
    return np.ceil(at - 0.5)


def _round_prefer_ceil(at: Array) -> Array:
    return np.floor(at + 0.5)


_NEAREST: dict[str, Callable[[Array], Array]] = {
    "round_prefer_floor": _round_prefer_floor,
    "round_prefer_ceil": _round_prefer_ceil,
    "floor": np.floor,
    "ceil": np.ceil,
}


def _linear_weights(ratio: Array, _: float) -> Array:
    return np.stack((1 - ratio, ratio), axis=-1)


def _cubic_weights(ratio: Array, a: float) -> Array:
    def far(x: Array) -> Array:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    def near(x: Array) -> Array:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    return np.stack((far(ratio + 1), near(ratio), near(1 - ratio), far(2 - ratio)), axis=-1)


_WEIGHTS: dict[str, tuple[int, Callable[[Array, float], Array]]] = {
    "linear": (0, _linear_weights),
    "cubic": (-1, _cubic_weights),
}
"""The first neighbour, counted from the element before the place, and the weights from there on."""

_MODES = {mode: mode for mode in ("nearest", *_WEIGHTS)}


@dataclass(frozen=True)
class _Rules:
    mode: str
    coordinates: Callable[[Array, _Axis], Array]
    nearest: Callable[[Array], Array]
    cubic_coeff_a: float
    exclude_outside: bool


def _choose(table: dict[str, T], key: str, name: str) -> T:
    if key not in table:
        raise ValueError(f"expected '{name}' to be one of {', '.join(table)}, got {key}")
    return table[key]


@quiet
def resize(
    x: Array,
    *,
    sizes: Sequence[int] | None = None,
    scales: Sequence[float] | None = None,
    axes: Sequence[int] | None = None,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    cubic_coeff_a: float = -0.75,
    exclude_outside: bool = False,
    extrapolation_value: float = 0.0,
    roi: Sequence[float] | None = None,
    antialias: bool = False,
) -> Array:
    """Returns `x` sampled at another resolution; integers round, halves to even, and saturate.

    Args:
        sizes: Elements of the output, one count an axis; or else
        scales: Elements of the output for one of the input, one an axis.
        axes: Default all.
        mode: `nearest`, `linear` or `cubic`.
        coordinate_transformation_mode: Any of ONNX; `cubic_coeff_a` is Keys' coefficient.
        nearest_mode: `round_prefer_floor`, `round_prefer_ceil`, `floor` or `ceil`.
        exclude_outside: Whether neighbours outside have no weight, instead of repeating the edge.
        extrapolation_value: What lies outside the input, under `tf_crop_and_resize`.
        roi: All begins, then all ends, as fractions of the input, under `tf_crop_and_resize`.

    Raises:
        ValueError: An attribute has another value, or `antialias` is set.
    """
    if antialias:
        raise ValueError("expected 'antialias' = 0, got 1")
    rules = _Rules(
        _choose(_MODES, mode, "mode"),
        _choose(_COORDINATES, coordinate_transformation_mode, "coordinate_transformation_mode"),
        _choose(_NEAREST, nearest_mode, "nearest_mode"),
        cubic_coeff_a,
        exclude_outside,
    )
    outside = extrapolation_value if rules.coordinates is _crop_and_resize else None
    dims = range(x.ndim) if axes is None else [normalized_axis(axis, x.ndim) for axis in axes]
    # Nearest elements are copied, so they need no arithmetic type.
    result = x if mode == "nearest" else x.astype(real_dtype(x.dtype), copy=False)
    for dim, axis in zip(dims, _axes_of(x, dims, sizes, scales, roi), strict=True):
        if not axis.is_identity:
            result = _resize_axis(result, dim, axis, rules, outside)
    if result.dtype != x.dtype and not is_float(x.dtype):
        result = np.rint(result)
    return cast(np.asarray(result), x.dtype)


def _axes_of(
    x: Array,
    dims: Sequence[int],
    sizes: Sequence[int] | None,
    scales: Sequence[float] | None,
    roi: Sequence[float] | None,
) -> list[_Axis]:
    count = len(dims)
    given = sizes if sizes is not None else scales
    if given is None or len(given) != count:
        raise ValueError(f"expected 'sizes' or 'scales' of {count} axes, got {given}")
    if roi is None or len(roi) == 0:
        roi = [0.0] * count + [1.0] * count
    axes: list[_Axis] = []
    for i, dim in enumerate(dims):
        size = x.shape[dim]
        if sizes is not None:
            length, scale = sizes[i], sizes[i] / max(size, 1)
        else:
            scale = float(given[i])
            length = int(scale * size)
        axes.append(_Axis(size, length, scale, (float(roi[i]), float(roi[count + i]))))
    return axes


def _resize_axis(x: Array, dim: int, axis: _Axis, rules: _Rules, outside: float | None) -> Array:
    at = rules.coordinates(np.arange(axis.count, dtype=np.float64), axis)
    if rules.mode == "nearest":
        nearest = np.clip(rules.nearest(at), 0, axis.size - 1).astype(np.intp)
        result = np.take(x, nearest, axis=dim)
    else:
        result = _interpolate(x, dim, axis, rules, at)
    if outside is not None:
        beyond = (at < 0) | (at > axis.size - 1)
        beyond = beyond.reshape(-1, *(1,) * (x.ndim - dim - 1))
        result = np.where(beyond, np.asarray(outside).astype(result.dtype), result)
    return result


def _interpolate(x: Array, dim: int, axis: _Axis, rules: _Rules, at: Array) -> Array:
    first, weigh = _WEIGHTS[rules.mode]
    before = np.floor(at)
    weights = weigh(at - before, rules.cubic_coeff_a)
    places = before.astype(np.intp)[:, None] + first + iota(weights.shape[1])
    if rules.exclude_outside:
        weights = np.where((places < 0) | (places >= axis.size), 0, weights)
        total = np.sum(weights, axis=-1, keepdims=True)
        weights = weights / np.where(total == 0, 1, total)
    places = np.clip(places, 0, axis.size - 1)
    weights = weights.astype(x.dtype).reshape(*weights.shape, *(1,) * (x.ndim - dim - 1))
    result = np.take(x, places[:, 0], axis=dim) * weights[:, 0]
    for i in range(1, places.shape[1]):
        result += np.take(x, places[:, i], axis=dim) * weights[:, i]
    return result
