"""Convolutions of any rank, as matrix products over unfolded windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product as cartesian
from typing import Any

import numpy as np

from ge_dialect.interpreters.kernels.contraction import product, shifted
from ge_dialect.interpreters.kernels.numeric import (
    Array,
    narrow,
    per_dimension,
    quiet,
    spatial_pads,
    wide,
)

_UNFOLDED_ELEMENTS = 1 << 23
"""How many elements of unfolded windows are held at a time."""


def _windows(
    x: Array, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Array:
    """Returns the view `[N, C, *output, *kernel]` of a padded `x`."""
    spans = tuple((size - 1) * step + 1 for size, step in zip(kernel, dilations, strict=True))
    if any(span > size for span, size in zip(spans, x.shape[2:], strict=True)):
        raise ValueError(f"expected a padded input of at least {spans}, got {x.shape[2:]}")
    axes = tuple(range(2, x.ndim))
    view = np.lib.stride_tricks.sliding_window_view(x, spans, axis=axes)
    every = [slice(None, None, step) for step in (*strides, *dilations)]
    return view[(slice(None), slice(None), *every)]


def _multiply(windows: Array, weights: Array, group: int) -> Array:
    """Returns `[N, M, *output]` of windows `[N, C, *output, *kernel]`, weights `[g, M/g, K]`."""
    rank = (windows.ndim - 2) // 2
    batch, output = windows.shape[0], windows.shape[2 : 2 + rank]
    order = (0, 1, *range(2 + rank, 2 + 2 * rank), *range(2, 2 + rank))
    size = math.prod(output)
    columns = windows.transpose(order).reshape(batch, group, weights.shape[2], size)
    return product(weights, columns).reshape(batch, -1, *output)


def _convolve(x: Array, w: Array, group: int, windows: Array) -> Array:
    rank = x.ndim - 2
    output = windows.shape[2 : 2 + rank]
    weights = w.reshape(group, w.shape[0] // group, math.prod(w.shape[1:]))
    result = np.empty((x.shape[0], w.shape[0], *output), x.dtype)
    row = math.prod(windows.shape[1:2] + windows.shape[3:])  # one step of the first dimension
    rows = max(1, _UNFOLDED_ELEMENTS // max(row, 1))
    for image, start in cartesian(range(x.shape[0]), range(0, output[0], rows)):
        part = (slice(image, image + 1), slice(None), slice(start, start + rows))
        result[part] = _multiply(windows[part], weights, group)
    return result


@quiet
def conv(
    x: Array,
    w: Array,
    b: Array | None = None,
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    group: int = 1,
) -> Array:
    """Returns the convolution of `x` by `w`, `[N, M, *output]`.

    Args:
        x: `[N, C, *input]` with one spatial dimension or more.
        w: `[M, C / group, *kernel]`.
        b: `[M]`.
        strides: One a spatial dimension; absent ones are 1.
        pads: All begins, then all ends; absent ones are 0.
        dilations: One a spatial dimension; absent ones are 1.
        group: How many independent parts the channels have.

    Raises:
        ValueError: The shapes do not fit.
    """
    rank = x.ndim - 2
    if w.ndim != x.ndim or w.shape[1] * group != x.shape[1] or w.shape[0] % group:
        raise ValueError(f"expected weights of {group} groups for {x.shape}, got {w.shape}")
    widths = [(0, 0), (0, 0), *spatial_pads(pads, rank)]
    padded = np.pad(wide(x), widths)
    windows = _windows(
        padded,
        w.shape[2:],
        per_dimension(strides, rank, "strides"),
        per_dimension(dilations, rank, "dilations"),
    )
    result = _convolve(padded, wide(w), group, windows)
    if b is not None:
        result += wide(b).reshape(-1, *(1,) * rank)
    return narrow(result, x.dtype)


@quiet
def conv_transpose(
    x: Array,
    w: Array,
    b: Array | None = None,
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    group: int = 1,
    output_padding: Sequence[int] | None = None,
) -> Array:
    """Returns the transposed convolution of `x` by `w`, `[N, M, *output]`.

    A dimension of the output has
    `stride * (input - 1) + output_padding + (kernel - 1) * dilation + 1 - begin - end` elements.

    Args:
        x: `[N, C, *input]` with one spatial dimension or more.
        w: `[C, M / group, *kernel]`.
        b: `[M]`.
        strides: One a spatial dimension; absent ones are 1.
        pads: What is cut off: all begins, then all ends; absent ones are 0.
        dilations: One a spatial dimension; absent ones are 1.
        group: How many independent parts the channels have.
        output_padding: Elements added at the end of each spatial dimension.

    Raises:
        ValueError: The shapes do not fit.
    """
    rank = x.ndim - 2
    if w.ndim != x.ndim or w.shape[0] != x.shape[1] or w.shape[0] % group:
        raise ValueError(f"expected weights of {group} groups for {x.shape}, got {w.shape}")
    steps = per_dimension(strides, rank, "strides")
    full = _scatter_windows(
        _columns_of(wide(x), wide(w), group),
        steps,
        per_dimension(dilations, rank, "dilations"),
        tuple(output_padding)
        if output_padding is not None and len(output_padding)
        else (0,) * rank,
    )
    crop = [
        slice(begin, size - end)
        for (begin, end), size in zip(spatial_pads(pads, rank), full.shape[2:], strict=True)
    ]
    result = full[(slice(None), slice(None), *crop)]
    if b is not None:
        result = result + wide(b).reshape(-1, *(1,) * rank)
    return narrow(result, x.dtype)


def _columns_of(x: Array, w: Array, group: int) -> Array:
    """Returns what each input element adds to each output window, `[N, M, *kernel, *input]`."""
    batch, channels = x.shape[:2]
    depth = channels // group
    weights = w.reshape(group, depth, -1).transpose(0, 2, 1)
    columns = product(weights, x.reshape(batch, group, depth, math.prod(x.shape[2:])))
    return columns.reshape(batch, group * w.shape[1], *w.shape[2:], *x.shape[2:])


def _scatter_windows(
    columns: Array, strides: Sequence[int], dilations: Sequence[int], extra: Sequence[int]
) -> Array:
    """Returns the sums `[N, M, *output]` of overlapping windows `[N, M, *kernel, *input]`."""
    rank = len(strides)
    kernel, size = columns.shape[2 : 2 + rank], columns.shape[2 + rank :]
    full = [
        max(strides[i] * (size[i] - 1), 0) + (kernel[i] - 1) * dilations[i] + 1 + extra[i]
        for i in range(rank)
    ]
    result = np.zeros((*columns.shape[:2], *full), columns.dtype)
    for place in cartesian(*map(range, kernel)):
        target: list[Any] = [
            slice(
                place[i] * dilations[i], place[i] * dilations[i] + strides[i] * size[i], strides[i]
            )
            for i in range(rank)
        ]
        result[(..., *target)] += columns[(slice(None), slice(None), *place)]
    return result


def conv_integer(
    x: Array,
    w: Array,
    x_zero_point: Array | None = None,
    w_zero_point: Array | None = None,
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    group: int = 1,
) -> Array:
    """Returns the convolution of `x - x_zero_point` by `w - w_zero_point` in i32; sums wrap.

    Padding stands for the value 0, that is for elements equal to the zero point.

    Args:
        x: `[N, C, *input]` of i8 or u8.
        w: `[M, C / group, *kernel]` of i8 or u8.
        x_zero_point: A scalar.
        w_zero_point: A scalar, or `[M]`.

    Raises:
        ValueError: The shapes do not fit.
    """
    if w_zero_point is not None and w_zero_point.size > 1:
        w_zero_point = w_zero_point.reshape(-1, *(1,) * (w.ndim - 1))
    return conv(
        shifted(x, x_zero_point),
        shifted(w, w_zero_point),
        strides=strides,
        pads=pads,
        dilations=dilations,
        group=group,
    )
