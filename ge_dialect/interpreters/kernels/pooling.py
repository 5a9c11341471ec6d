"""Pooling over sliding windows of any rank.

A window is folded one kernel position at a time, each a strided view of the padded input: no
window is ever copied out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ge_dialect.interpreters.kernels.numeric import (
    Array,
    iota,
    lowest,
    narrow,
    per_dimension,
    quiet,
    spatial_pads,
    wide,
)


@dataclass(frozen=True)
class Windows:
    """Where the windows of a pooling lie.

    Attributes:
        kernel: Elements of a window, one count a spatial dimension.
        strides: Steps from window to window.
        dilations: Steps within a window.
        pads: Elements before and after the input.
        output: Windows, one count a spatial dimension.
        extra: Elements after the padding that the last windows reach, under `ceil_mode`.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    output: tuple[int, ...]
    extra: tuple[int, ...]

    def padded(self, x: Array, value: Any) -> Array:
        """Returns `x` with `value` all around, as far as the windows reach."""
        widths = [(b, e + more) for (b, e), more in zip(self.pads, self.extra, strict=True)]
        spare = [(0, 0)] * (x.ndim - len(widths))
        return np.pad(x, [*spare, *widths], constant_values=value)

    def positions(self, padded: Array) -> Iterator[Array]:
        """Yields, for each place in a window, that element of every window."""
        for place in product(*map(range, self.kernel)):
            index = [
                slice(first * dilation, first * dilation + (count - 1) * stride + 1, stride)
                for first, dilation, stride, count in zip(
                    place, self.dilations, self.strides, self.output, strict=True
                )
            ]
            yield padded[(..., *index)]

    def fold(self, padded: Array, combine: Callable[[Array, Array], Array]) -> Array:
        """Returns all places of each window combined."""
        positions = self.positions(padded)
        result = np.array(next(positions))
        for values in positions:
            result = combine(result, values)
        return result


def windows_of(
    size: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int] | None,
    pads: Sequence[int] | None,
    dilations: Sequence[int] | None,
    ceil_mode: bool,
) -> Windows:
    """Returns the windows over spatial dimensions of `size`.

    Under `ceil_mode` a last window may reach beyond the padding, but starts inside the input or
    the padding before it.

    Raises:
        ValueError: The attributes do not fit, or there is no window.
    """
    rank = len(size)
    if len(kernel) != rank or min(kernel, default=0) < 1:
        raise ValueError(f"expected a kernel of {rank} dimensions, got {list(kernel)}")
    steps = per_dimension(strides, rank, "strides")
    spread = per_dimension(dilations, rank, "dilations")
    widths = spatial_pads(pads, rank)
    counts: list[int] = []
    extra: list[int] = []
    for dim, (begin, end) in enumerate(widths):
        span = (kernel[dim] - 1) * spread[dim] + 1
        room = size[dim] + begin + end - span
        count = (-(-room // steps[dim]) if ceil_mode else room // steps[dim]) + 1
        if ceil_mode and (count - 1) * steps[dim] >= size[dim] + begin:
            count -= 1
        if count < 1:
            raise ValueError(f"expected windows of at most {span + room}, got {span}")
        counts.append(count)
        extra.append(max((count - 1) * steps[dim] - room, 0))
    return Windows(tuple(kernel), steps, spread, tuple(widths), tuple(counts), tuple(extra))


@quiet
def max_pool(
    x: Array,
    *,
    kernel: Sequence[int],
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Array:
    """Returns the greatest element of each window; NaN where one is NaN.

    Args:
        x: `[N, C, *input]`.
        kernel: One size a spatial dimension, as `strides` and `dilations`, which default to 1.
        pads: All begins, then all ends; padding never wins.
        ceil_mode: Whether the number of windows rounds up.

    Raises:
        ValueError: The attributes do not fit.
    """
    windows = windows_of(x.shape[2:], kernel, strides, pads, dilations, ceil_mode)
    values = wide(x)
    return narrow(windows.fold(windows.padded(values, lowest(values.dtype)), np.maximum), x.dtype)


@quiet
def max_pool_indices(
    x: Array,
    *,
    kernel: Sequence[int],
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: bool = False,
    storage_order: int = 0,
) -> Array:
    """Returns where `max_pool` found its elements, of i64: the first of equal ones.

    An index counts elements of the whole `x` in row-major order; with `storage_order` 1 the
    spatial dimensions count in column-major order.
    """
    windows = windows_of(x.shape[2:], kernel, strides, pads, dilations, ceil_mode)
    values = wide(x)
    places = iota(math.prod(x.shape[2:])).reshape(x.shape[2:], order="F" if storage_order else "C")
    best = np.full((*x.shape[:2], *windows.output), lowest(values.dtype), values.dtype)
    found = np.full(best.shape, -1, np.int64)
    for value, place in zip(
        windows.positions(windows.padded(values, lowest(values.dtype))),
        windows.positions(windows.padded(places, -1)),
        strict=True,
    ):
        # NaN beats every number, a real element beats padding; a later equal one does not win.
        wins = (value > best) | (np.isnan(value) & ~np.isnan(best)) | (found < 0)
        wins &= place >= 0
        best = np.where(wins, value, best)
        found = np.where(wins, place, found)
    planes = iota(math.prod(x.shape[:2])).reshape(*x.shape[:2], *(1,) * (x.ndim - 2))
    return found + planes * math.prod(x.shape[2:])


@quiet
def average_pool(
    x: Array,
    *,
    kernel: Sequence[int],
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Array:
    """Returns the mean of each window.

    Args:
        x: `[N, C, *input]`.
        kernel: One size a spatial dimension, as `strides` and `dilations`, which default to 1.
        pads: All begins, then all ends.
        ceil_mode: Whether the number of windows rounds up; what lies beyond the padding never
            counts.
        count_include_pad: Whether padding counts, as zeros.

    Raises:
        ValueError: The attributes do not fit.
    """
    windows = windows_of(x.shape[2:], kernel, strides, pads, dilations, ceil_mode)
    values = wide(x)
    total = windows.fold(windows.padded(values, 0), np.add)
    counted = np.ones(x.shape[2:], values.dtype)
    if count_include_pad:
        counted = np.pad(counted, windows.pads, constant_values=1)
        windows = replace(windows, pads=((0, 0),) * len(windows.kernel))
    return narrow(total / windows.fold(windows.padded(counted, 0), np.add), x.dtype)


@quiet
def lp_pool(
    x: Array,
    *,
    kernel: Sequence[int],
    p: int = 2,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Array:
    """Returns `sum(|x|**p) ** (1 / p)` of each window.

    Args:
        x: `[N, C, *input]`.
        kernel: One size a spatial dimension, as `strides` and `dilations`, which default to 1.
        p: At least 1.
        pads: All begins, then all ends; padding is 0.
        ceil_mode: Whether the number of windows rounds up.

    Raises:
        ValueError: The attributes do not fit.
    """
    windows = windows_of(x.shape[2:], kernel, strides, pads, dilations, ceil_mode)
    powers = np.abs(wide(x)) ** p
    total = windows.fold(windows.padded(powers, 0), np.add)
    return narrow(total ** (1 / p), x.dtype)


def _spatial(x: Array) -> tuple[int, ...]:
    return tuple(range(2, x.ndim))


@quiet
def global_average_pool(x: Array) -> Array:
    """Returns the mean over the spatial dimensions, `[N, C, 1, ...]`."""
    return narrow(np.mean(wide(x), axis=_spatial(x), keepdims=True), x.dtype)


@quiet
def global_max_pool(x: Array) -> Array:
    """Returns the greatest element over the spatial dimensions, `[N, C, 1, ...]`."""
    return narrow(np.max(wide(x), axis=_spatial(x), keepdims=True), x.dtype)


@quiet
def global_lp_pool(x: Array, *, p: int = 2) -> Array:
    """Returns `sum(|x|**p) ** (1 / p)` over the spatial dimensions, `[N, C, 1, ...]`."""
    total = np.sum(np.abs(wide(x)) ** p, axis=_spatial(x), keepdims=True)
    return narrow(total ** (1 / p), x.dtype)
