"""Reductions, running sums, softmax and selection along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ge_dialect.interpreters.kernels.elementwise import cast, div
from ge_dialect.interpreters.kernels.numeric import (
    Array,
    highest,
    iota,
    is_float,
    is_integer,
    lowest,
    narrow,
    normalized_axis,
    quiet,
    real_dtype,
    wide,
)

Axes: TypeAlias = Sequence[int] | None
"""Dimensions to reduce, negative ones from the back; None for all of them, empty for none."""


def _axes(axes: Axes) -> tuple[int, ...] | None:
    return None if axes is None else tuple(axes)


def _sum(x: Array, axes: Axes, keepdims: bool) -> Array:
    return np.asarray(np.sum(x, axis=_axes(axes), keepdims=keepdims, dtype=x.dtype))


def _max(x: Array, axes: Axes, keepdims: bool) -> Array:
    return np.asarray(np.max(x, axis=_axes(axes), keepdims=keepdims, initial=lowest(x.dtype)))


def _real(x: Array) -> Array:
    return x.astype(real_dtype(x.dtype), copy=False)


@quiet
def reduce_sum(x: Array, axes: Axes = None, *, keepdims: bool = True) -> Array:
    """Returns the sum over `axes`; 0 of nothing, integers wrap."""
    return narrow(_sum(wide(x), axes, keepdims), x.dtype)


@quiet
def reduce_mean(x: Array, axes: Axes = None, *, keepdims: bool = True) -> Array:
    """Returns the mean over `axes`; NaN of nothing, integers truncate toward zero."""
    total = _sum(wide(x) if is_float(x.dtype) else x.astype(np.int64), axes, keepdims)
    count = x.size // total.size if total.size else 1
    return narrow(div(total, np.asarray(count, total.dtype)), x.dtype)


@quiet
def reduce_max(x: Array, axes: Axes = None, *, keepdims: bool = True) -> Array:
    """Returns the greatest over `axes`; NaN where one is NaN, the type's least of nothing."""
    return narrow(_max(wide(x), axes, keepdims), x.dtype)


@quiet
def reduce_min(x: Array, axes: Axes = None, *, keepdims: bool = True) -> Array:
    """Returns the least over `axes`; NaN where one is NaN, the type's greatest of nothing."""
    values = wide(x)
    limit = highest(values.dtype)
    return narrow(np.min(values, axis=_axes(axes), keepdims=keepdims, initial=limit), x.dtype)


@quiet
def reduce_prod(x: Array, axes: Axes = None, *, keepdims: bool = True) -> Array:
    """Returns the product over `axes`; 1 of nothing, integers wrap."""
    values = wide(x)
    product = np.prod(values, axis=_axes(axes), keepdims=keepdims, dtype=values.dtype)
    return narrow(product, x.dtype)


@quiet
def reduce_l1(x: Array, axes: Axes = None, *, keepdims: bool = True) -> Array:
    """Returns the sum of `|x|` over `axes`."""
    return narrow(_sum(np.abs(wide(x)), axes, keepdims), x.dtype)


@quiet
def reduce_l2(x: Array, axes: Axes = None, *, keepdims: bool = True) -> Array:
    """Returns the square root of the sum of `x**2` over `axes`; integers truncate."""
    values = _real(x)
    return cast(np.asarray(np.sqrt(_sum(values * values, axes, keepdims))), x.dtype)


@quiet
def reduce_sum_square(x: Array, axes: Axes = None, *, keepdims: bool = True) -> Array:
    """Returns the sum of `x**2` over `axes`; integers wrap."""
    values = wide(x)
    return narrow(_sum(values * values, axes, keepdims), x.dtype)


@quiet
def reduce_log_sum(x: Array, axes: Axes = None, *, keepdims: bool = True) -> Array:
    """Returns the logarithm of the sum over `axes`; -inf of nothing."""
    return cast(np.asarray(np.log(_sum(_real(x), axes, keepdims))), x.dtype)


@quiet
def reduce_log_sum_exp(x: Array, axes: Axes = None, *, keepdims: bool = True) -> Array:
    """Returns `log(sum(exp(x)))` over `axes`, without overflow on the way; -inf of nothing."""
    values = _real(x)
    top = _max(values, axes, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0)
    total = np.log(_sum(np.exp(values - shift), axes, keepdims))
    return cast(np.asarray(total + shift.reshape(total.shape)), x.dtype)


def arg_max(
    x: Array, *, axis: int = 0, keepdims: bool = True, select_last_index: bool = False
) -> Array:
    """Returns where the greatest is along `axis`, of i64; the first NaN if there is one.

    Args:
        select_last_index: Whether the last of equal ones counts, instead of the first.

    Raises:
        ValueError: The axis is empty.
    """
    values = wide(x)
    if not select_last_index:
        return narrow(np.argmax(values, axis=axis, keepdims=keepdims), np.dtype(np.int64))
    found = np.argmax(np.flip(values, axis), axis=axis, keepdims=keepdims)
    return narrow(x.shape[axis] - 1 - found, np.dtype(np.int64))


def arg_min(
    x: Array, *, axis: int = 0, keepdims: bool = True, select_last_index: bool = False
) -> Array:
    """Returns where the least is along `axis`, of i64; the first NaN if there is one.

    Args:
        select_last_index: Whether the last of equal ones counts, instead of the first.

    Raises:
        ValueError: The axis is empty.
    """
    values = wide(x)
    if not select_last_index:
        return narrow(np.argmin(values, axis=axis, keepdims=keepdims), np.dtype(np.int64))
    found = np.argmin(np.flip(values, axis), axis=axis, keepdims=keepdims)
    return narrow(x.shape[axis] - 1 - found, np.dtype(np.int64))


@quiet
def cumsum(x: Array, *, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Array:
    """Returns running sums along `axis`.

    Args:
        exclusive: Whether a sum leaves out its own element.
        reverse: Whether sums run from the back.
    """
    axis = normalized_axis(axis, x.ndim)
    values = np.flip(wide(x), axis) if reverse else wide(x)
    sums = np.cumsum(values, axis=axis, dtype=values.dtype)
    if exclusive:
        shifted = np.zeros_like(sums)
        before: list[Any] = [slice(None)] * axis
        shifted[(*before, slice(1, None))] = sums[(*before, slice(0, -1))]
        sums = shifted
    return narrow(np.flip(sums, axis) if reverse else sums, x.dtype)


def _shifted(x: Array, axis: int) -> Array:
    return x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)


@quiet
def softmax(x: Array, *, axis: int = -1) -> Array:
    """Returns `exp(x) / sum(exp(x))` along `axis`; NaN throughout a row that is -inf throughout."""
    powers = np.exp(_shifted(wide(x), axis))
    return narrow(powers / np.sum(powers, axis=axis, keepdims=True), x.dtype)


@quiet
def log_softmax(x: Array, *, axis: int = -1) -> Array:
    """Returns `x - log(sum(exp(x)))` along `axis`, without overflow on the way."""
    shifted = _shifted(wide(x), axis)
    return narrow(shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True)), x.dtype)


def top_k(x: Array, *, k: int, axis: int = -1, largest: bool = True) -> tuple[Array, Array]:
    """Returns the `k` greatest or least along `axis` in order, and where they are, of i64.

    Of equal elements the one of lower index comes first. NaN counts as greater than any number.

    Raises:
        ValueError: The axis has fewer than `k` elements.
    """
    axis = normalized_axis(axis, x.ndim)
    length = x.shape[axis]
    if not 0 <= k <= length:
        raise ValueError(f"expected 'k' in [0, {length}], got {k}")
    values = wide(x) if is_float(x.dtype) or is_integer(x.dtype) else x
    if largest:
        # Flipped twice, a stable ascending sort is a stable descending one.
        order = np.argsort(np.flip(values, axis), axis=axis, kind="stable")
        order = length - 1 - np.flip(order, axis)
    else:
        order = np.argsort(values, axis=axis, kind="stable")
    indices = np.take(order, iota(k), axis=axis).astype(np.int64)
    return np.take_along_axis(x, indices, axis=axis), indices
