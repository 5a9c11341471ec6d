"""Reading and writing elements at places that are values themselves.

Indices may be negative, counting from the end. One outside its dimension raises `IndexError`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ge_dialect.interpreters.kernels.numeric import (
    Array,
    iota,
    narrow,
    normalized_axis,
    quiet,
    wide,
)


def _checked(indices: Array, size: int) -> Array:
    """Returns indices of a dimension of `size` counted from the front.

    Raises:
        IndexError: One is outside the dimension.
    """
    places = indices.astype(np.int64, copy=False)
    if places.size:
        low, high = int(np.min(places)), int(np.max(places))
        if low < -size or high >= size:
            found = low if low < -size else high
            raise IndexError(f"expected indices in [{-size}, {size - 1}], got {found}")
        if low < 0:
            places = np.where(places < 0, places + size, places)
    return places


def gather(x: Array, indices: Array, *, axis: int = 0) -> Array:
    """Returns the slices of `x` at `indices` along `axis`.

    The result has the shape of `x` with dimension `axis` replaced by the shape of `indices`.
    """
    axis = normalized_axis(axis, x.ndim)
    return np.take(x, _checked(indices, x.shape[axis]), axis=axis)


def _element_index(x: Array, indices: Array, axis: int) -> tuple[Array, ...]:
    """Returns where each element of `indices` lies in `x`, one index array a dimension."""
    axis = normalized_axis(axis, x.ndim)
    if indices.ndim != x.ndim:
        raise ValueError(f"expected indices of rank {x.ndim}, got {indices.ndim}")
    grid: list[Array] = list(np.ogrid[tuple(slice(size) for size in indices.shape)])
    grid[axis] = _checked(indices, x.shape[axis])
    return tuple(grid)


def gather_elements(x: Array, indices: Array, *, axis: int = 0) -> Array:
    """Returns `x[i, indices[i, j], j]` for each element of `indices` (with `axis` 1 of rank 3).

    Args:
        indices: Of the rank of `x`, no longer than it in any dimension but `axis`.
        axis: The dimension that `indices` replaces.

    Raises:
        ValueError: The ranks differ.
    """
    return x[_element_index(x, indices, axis)]


def scatter_elements(
    x: Array, indices: Array, updates: Array, *, axis: int = 0, reduction: str = "none"
) -> Array:
    """Returns `x` with `updates[i, j]` written where `gather_elements` would read.

    Args:
        indices: Of the rank of `x`.
        updates: Of the shape of `indices` and the type of `x`.
        axis: The dimension that `indices` replaces.
        reduction: `none` (of equal indices the last wins), `add`, `mul`, `max` or `min`.

    Raises:
        ValueError: The shapes do not fit, or the reduction is another.
    """
    index = np.broadcast_arrays(*_element_index(x, indices, axis))
    return _scatter(x, tuple(index), updates, reduction)


def _nd_index(x: Array, indices: Array, batch_dims: int) -> tuple[Array, ...]:
    """Returns the index arrays of tuples held in the last dimension of `indices`."""
    depth = indices.shape[-1]
    if batch_dims + depth > x.ndim:
        raise ValueError(f"expected tuples of at most {x.ndim - batch_dims} indices, got {depth}")
    batch = list(np.ogrid[tuple(slice(size) for size in indices.shape[:batch_dims])])
    spare = (1,) * (indices.ndim - 1 - batch_dims)
    index: list[Array] = [axis.reshape(*axis.shape, *spare) for axis in batch]
    index += [_checked(indices[..., i], x.shape[batch_dims + i]) for i in range(depth)]
    return tuple(index)


def gather_nd(x: Array, indices: Array, *, batch_dims: int = 0) -> Array:
    """Returns the slices of `x` at the index tuples of `indices`.

    Args:
        indices: `[*batch, ..., depth]`: each tuple indexes the `depth` dimensions after the batch.
        batch_dims: How many dimensions the two share.

    Raises:
        ValueError: A tuple is longer than `x` has dimensions.
    """
    index = _nd_index(x, indices, batch_dims)
    if not index:
        return np.broadcast_to(x, (*indices.shape[:-1], *x.shape))
    return x[index]


def scatter_nd(x: Array, indices: Array, updates: Array, *, reduction: str = "none") -> Array:
    """Returns `x` with slices of `updates` written where `gather_nd` would read.

    Args:
        indices: `[..., depth]`.
        updates: Of the shape `gather_nd` would return, and the type of `x`.
        reduction: `none` (of equal indices the last wins), `add`, `mul`, `max` or `min`.

    Raises:
        ValueError: The shapes do not fit, or the reduction is another.
    """
    if indices.shape[-1] == 0:
        raise ValueError("expected tuples of one index or more, got none")
    return _scatter(x, _nd_index(x, indices, 0), updates, reduction)


_REDUCTIONS: dict[str, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


@quiet
def _scatter(x: Array, index: tuple[Array, ...], updates: Array, reduction: str) -> Array:
    if reduction == "none":
        result = np.array(x)
        result[index] = updates
        return result
    if reduction not in _REDUCTIONS:
        raise ValueError(
            f"expected 'reduction' to be none or {', '.join(_REDUCTIONS)}, got {reduction}"
        )
    result = np.array(wide(x))
    _REDUCTIONS[reduction].at(result, index, wide(updates))
    return narrow(result, x.dtype)


def one_hot(indices: Array, *, depth: int, values: Array, axis: int = -1) -> Array:
    """Returns `values[1]` at each index along a new dimension `axis`, and `values[0]` elsewhere.

    Args:
        indices: Any numeric type; one outside `[-depth, depth - 1]` has no element switched on.
        depth: Elements of the new dimension.
        values: `[2]`: off and on; they give the result's type.

    Raises:
        ValueError: There is no such axis.
    """
    axis = normalized_axis(axis, indices.ndim + 1)
    places = np.expand_dims(np.where(indices < 0, indices + depth, indices), axis)
    steps = iota(depth).reshape(-1, *(1,) * (indices.ndim - axis))
    return values[(places == steps).astype(np.intp)]


def non_zero(x: Array) -> Array:
    """Returns where `x` is not zero, `[rank, count]` of i64, in row-major order.

    A scalar gives `[0, 1]` or `[0, 0]`.
    """
    if x.ndim == 0:  # numpy would treat it as one of rank 1
        return np.zeros((0, int(bool(x))), np.int64)
    return np.stack(np.nonzero(wide(x))).astype(np.int64, copy=False)
