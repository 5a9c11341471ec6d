"""Sampling at places that a grid gives: a weighted sum of the neighbours of each place.

Source: ONNX `GridSample`, version 20; cubic weights by Keys, "Cubic Convolution Interpolation for
Digital Image Processing" (1981), equation 15 with the coefficient left free.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from ge_dialect.interpreters.kernels.numeric import Array, compute_dtype, narrow, quiet, wide

_CUBIC = -0.75
_Taps = list[tuple[Array, Array]]
"""Indices along one axis and their weights, `[N, P]`, of each neighbour."""


def _mirrored(x: Array, low: float, high: float) -> Array:
    """Returns places reflected at both ends until they are between them."""
    span = high - low
    if span <= 0:
        return np.full_like(x, low)
    turn = np.abs(x - low) % (2 * span)
    return np.asarray(low + np.where(turn > span, 2 * span - turn, turn))


def _within(x: Array, size: int, padding: str, align: bool) -> Array:
    """Returns places, or whole indices, inside of an axis of `size` elements."""
    if padding == "reflection":
        low, high = (0.0, size - 1.0) if align else (-0.5, size - 0.5)
        x = _mirrored(x, low, high)
    return np.asarray(np.clip(x, 0, size - 1)) if padding != "zeros" else x


def _cubic(distance: Array) -> Array:
    """Returns the weight of a neighbour at a distance of up to 2."""
    a, x = _CUBIC, np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.asarray(np.where(x <= 1, near, far))


def _taps(x: Array, size: int, mode: str, padding: str, align: bool) -> _Taps:
    """Returns the neighbours of places along one axis, the missing ones of weight 0."""
    if mode == "nearest":
        index = np.rint(_within(x, size, padding, align))
        found = [(index, np.ones_like(x))]
    elif mode == "linear":
        x = _within(x, size, padding, align)
        first = np.floor(x)
        found = [(first, first + 1 - x), (first + 1, x - first)]
    else:
        first = np.floor(x)
        steps = (-1, 0, 1, 2)
        found = [
            (_within(first + step, size, padding, align), _cubic(x - (first + step)))
            for step in steps
        ]
    taps: _Taps = []
    for index, weight in found:
        inside = (index >= 0) & (index <= size - 1)
        whole = np.where(inside, index, 0).astype(np.int64)
        taps.append((whole, np.where(inside, weight, 0).astype(x.dtype)))
    return taps


@quiet
def grid_sample(
    x: Array, grid: Array, *, mode: str, padding_mode: str, align_corners: bool
) -> Array:
    """Returns elements of `x` at the places of `grid`, `[N, C, E...]`.

    Args:
        x: `[N, C, D...]`.
        grid: `[N, E..., r]` for r dimensions D, the last of which comes first.
        mode: `nearest`, `linear` or `cubic`.
        padding_mode: `zeros`, `border` or `reflection`.
        align_corners: Whether -1 and 1 are the centres of the outermost elements, not their edges.
    """
    batch, channels, *sizes = x.shape
    result_shape = (batch, channels, *grid.shape[1:-1])
    if 0 in x.shape or 0 in result_shape:
        return np.zeros(result_shape, x.dtype)
    dtype = compute_dtype(x.dtype) if x.dtype.kind in "fV" else np.dtype(np.float32)
    places = wide(grid).astype(dtype).reshape(batch, -1, len(sizes))
    axes: list[_Taps] = []
    for axis, size in enumerate(sizes):
        place = places[..., len(sizes) - 1 - axis]
        at = (place + 1) / 2 * (size - 1) if align_corners else ((place + 1) * size - 1) / 2
        axes.append(_taps(at, size, mode, padding_mode, align_corners))
    flat = x.reshape(batch, channels, -1)
    total: Array | None = None
    for taps in product(*axes):
        index, weight = taps[0]
        for (more, factor), size in zip(taps[1:], sizes[1:], strict=True):
            index, weight = index * size + more, weight * factor
        found = np.take_along_axis(flat, index[:, None], axis=2)
        if mode == "nearest":
            zero = np.zeros((), x.dtype)
            return np.where(weight[:, None] != 0, found, zero).reshape(result_shape)
        part = narrow(found, dtype) * weight[:, None]
        total = part if total is None else total + part
    assert total is not None
    return narrow(total, x.dtype).reshape(result_shape)
