"""Data movement: elements go to other places, and stay what they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from ge_dialect.interpreters.kernels.numeric import Array, iota, normalized_axis, quiet


def reshape(x: Array, *, shape: Sequence[int], allowzero: bool = False) -> Array:
    """Returns `x` in another shape, as ONNX `Reshape`.

    Args:
        shape: One dimension may be -1, for whatever is left. A 0 copies the dimension of `x`
            unless `allowzero`, where it is a dimension of nothing.

    Raises:
        ValueError: The element counts differ.
    """
    if not allowzero:
        if any(size == 0 and i >= x.ndim for i, size in enumerate(shape)):
            raise ValueError(f"expected each 0 of {tuple(shape)} to copy a dimension of {x.shape}")
        shape = [x.shape[i] if size == 0 else size for i, size in enumerate(shape)]
    if -1 in shape and x.size == 0:
        # numpy refuses to divide nothing by nothing.
        shape = [0 if size == -1 else size for size in shape]
    return x.reshape(tuple(shape))


def transpose(x: Array, *, perm: Sequence[int] | None = None) -> Array:
    """Returns `x` with dimension `i` taken from `perm[i]`; reversed without `perm`.

    Raises:
        ValueError: `perm` is no permutation.
    """
    return np.transpose(x, None if perm is None else tuple(perm))


def concat(*arrays: Array, axis: int) -> Array:
    """Returns the arrays one after the other along `axis`.

    Raises:
        ValueError: Other dimensions differ.
    """
    return np.concatenate(arrays, axis=axis)


def split(x: Array, *, sizes: Sequence[int], axis: int = 0) -> tuple[Array, ...]:
    """Returns pieces of the given sizes along `axis`.

    Raises:
        ValueError: The sizes do not add up to the dimension.
    """
    axis = normalized_axis(axis, x.ndim)
    if sum(sizes) != x.shape[axis] or min(sizes, default=0) < 0:
        raise ValueError(f"expected sizes that add up to {x.shape[axis]}, got {list(sizes)}")
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis=axis))


def slice_(
    x: Array,
    *,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None = None,
    steps: Sequence[int] | None = None,
) -> Array:
    """Returns `x[start:end:step]` along each of `axes`, as ONNX `Slice`.

    Args:
        starts: Negative ones from the back; clamped to the dimension.
        ends: Exclusive; negative ones from the back; clamped to the dimension.
        axes: Default the first ones.
        steps: Not 0; default 1.

    Raises:
        ValueError: A step is 0, or the lists differ in length.
    """
    axes = range(len(starts)) if axes is None else axes
    steps = (1,) * len(starts) if steps is None else steps
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        dim = normalized_axis(axis, x.ndim)
        index[dim] = _span(start, end, step, x.shape[dim])
    return x[tuple(index)]


def _span(start: int, end: int, step: int, size: int) -> slice:
    if step == 0:
        raise ValueError("expected steps other than 0, got 0")
    # Clamped as ONNX says, which for negative steps differs from Python: a start before the first
    # element is moved to it.
    low, high = (0, size) if step > 0 else (-1, size - 1)
    first = min(max(start + size if start < 0 else start, 0), high)
    last = min(max(end + size if end < 0 else end, low), high)
    if (last - first) * step <= 0:
        return slice(0, 0)
    return slice(first, None if last < 0 else last, step)


def expand(x: Array, *, shape: Sequence[int]) -> Array:
    """Returns `x` and `shape` broadcast to each other; a view that repeats elements.

    Raises:
        ValueError: They do not broadcast.
    """
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape)))


def tile(x: Array, *, repeats: Sequence[int]) -> Array:
    """Returns `x` repeated `repeats[i]` times along dimension `i`.

    Raises:
        ValueError: There is not one count a dimension, or one is negative.
    """
    if len(repeats) != x.ndim or min(repeats, default=0) < 0:
        raise ValueError(f"expected {x.ndim} counts, none negative, got {list(repeats)}")
    return np.tile(x, tuple(repeats))


_PadMode: TypeAlias = Literal["reflect", "edge", "wrap"]
_PAD_MODES: dict[str, _PadMode] = {"reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def pad(
    x: Array,
    *,
    pads: Sequence[int],
    mode: str = "constant",
    value: Any = 0,
    axes: Sequence[int] | None = None,
) -> Array:
    """Returns `x` with elements added at both ends of dimensions, or cut off by negative pads.

    Args:
        pads: All begins, then all ends, one an axis.
        mode: `constant`, `reflect` (without the edge), `edge`, or `wrap`.
        value: What is added in mode `constant`.
        axes: Default all.

    Raises:
        ValueError: The mode is another, or there are not two pads an axis.
    """
    axes = range(x.ndim) if axes is None else axes
    if len(pads) != 2 * len(axes):
        raise ValueError(f"expected {2 * len(axes)} pads, got {len(pads)}")
    widths, crop = [(0, 0)] * x.ndim, [slice(None)] * x.ndim
    for axis, begin, end in zip(axes, pads[: len(axes)], pads[len(axes) :], strict=True):
        dim = normalized_axis(axis, x.ndim)
        widths[dim] = max(begin, 0), max(end, 0)
        crop[dim] = slice(max(-begin, 0), min(end, 0) or None)
    if mode == "constant":
        return _pad_constant(x, widths, value)[tuple(crop)]
    if mode not in _PAD_MODES:
        raise ValueError(f"expected 'mode' to be constant, reflect, edge or wrap, got {mode}")
    return np.pad(x, widths, mode=_PAD_MODES[mode])[tuple(crop)]


def _pad_constant(x: Array, widths: Sequence[tuple[int, int]], value: Any) -> Array:
    shape = tuple(
        before + size + after for size, (before, after) in zip(x.shape, widths, strict=True)
    )
    result = np.full(shape, np.asarray(value).astype(x.dtype).reshape(()), x.dtype)
    inner = tuple(slice(b, b + size) for size, (b, _) in zip(x.shape, widths, strict=True))
    result[inner] = x
    return result


def trilu(x: Array, *, k: int = 0, upper: bool = True) -> Array:
    """Returns the upper or lower triangle of the last two dimensions, and zeros elsewhere.

    Args:
        k: Diagonals between the main one and the triangle's edge, to the right.
    """
    rows, columns = iota(x.shape[-2])[:, None], iota(x.shape[-1])[None, :]
    keep = columns >= rows + k if upper else columns <= rows + k
    return np.where(keep, x, np.zeros((), x.dtype))


@quiet
def range_(start: Array, limit: Array, delta: Array) -> Array:
    """Returns `start`, `start + delta`, ... before `limit`, three scalars of one type.

    Raises:
        ValueError: `delta` is 0.
    """
    first, last, step = (value.reshape(())[()] for value in (start, limit, delta))
    if step == 0:
        raise ValueError("expected 'delta' other than 0, got 0")
    if start.dtype.kind in "iu":
        count = -((int(last) - int(first)) // -int(step))
        return (int(first) + int(step) * iota(max(count, 0))).astype(start.dtype)
    count = math.ceil((float(last) - float(first)) / float(step))
    return (float(first) + float(step) * iota(max(count, 0))).astype(start.dtype)


def depth_to_space(x: Array, *, blocksize: int, mode: str = "DCR") -> Array:
    """Returns blocks of channels laid out in space, `[N, C / b**2, H * b, W * b]`.

    Args:
        x: `[N, C, H, W]`.
        blocksize: b.
        mode: Whether blocks (`DCR`) or channels (`CRD`) vary slower.

    Raises:
        ValueError: C is no multiple of `b**2`, or the mode is another.
    """
    batch, channels, height, width = x.shape
    depth = channels // blocksize**2
    if mode == "DCR":
        parts = x.reshape(batch, blocksize, blocksize, depth, height, width)
        parts = parts.transpose(0, 3, 4, 1, 5, 2)
    elif mode == "CRD":
        parts = x.reshape(batch, depth, blocksize, blocksize, height, width)
        parts = parts.transpose(0, 1, 4, 2, 5, 3)
    else:
        raise ValueError(f"expected 'mode' to be DCR or CRD, got {mode}")
    return parts.reshape(batch, depth, height * blocksize, width * blocksize)


def space_to_depth(x: Array, *, blocksize: int) -> Array:
    """Returns blocks of space laid out in channels, `[N, C * b**2, H / b, W / b]`.

    Args:
        x: `[N, C, H, W]`.
        blocksize: b.

    Raises:
        ValueError: H or W is no multiple of b.
    """
    batch, channels, height, width = x.shape
    rows, columns = height // blocksize, width // blocksize
    parts = x.reshape(batch, channels, rows, blocksize, columns, blocksize)
    parts = parts.transpose(0, 3, 5, 1, 2, 4)
    return parts.reshape(batch, channels * blocksize**2, rows, columns)


def reverse_sequence(
    x: Array, sequence_lens: Array, *, time_axis: int = 0, batch_axis: int = 1
) -> Array:
    """Returns `x` with the first `sequence_lens[b]` steps of each batch entry reversed.

    Args:
        sequence_lens: `[batch]`, integers.
        time_axis: The dimension of the steps.
        batch_axis: The dimension of the entries.
    """
    time_axis = normalized_axis(time_axis, x.ndim)
    batch_axis = normalized_axis(batch_axis, x.ndim)
    steps = iota(x.shape[time_axis])[:, None]
    lengths = sequence_lens.astype(np.int64)[None, :]
    source = np.where(steps < lengths, lengths - 1 - steps, steps)
    moved = np.moveaxis(x, (time_axis, batch_axis), (0, 1))
    result = moved[source, iota(x.shape[batch_axis])[None, :]]
    return np.moveaxis(result, (0, 1), (time_axis, batch_axis))
