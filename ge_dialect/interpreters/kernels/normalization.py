"""Normalisations: statistics in f32 (f64 of f64), one rounding at the end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ge_dialect.interpreters.kernels.numeric import (
    Array,
    narrow,
    normalized_axis,
    quiet,
    wide,
)


def _standardized(x: Array, axes: Sequence[int], eps: float) -> Array:
    """Returns a wide `x` with mean 0 and variance 1 over `axes`."""
    over = tuple(axes)
    centred = x - np.mean(x, axis=over, keepdims=True)
    variance = np.mean(centred * centred, axis=over, keepdims=True)
    return centred / np.sqrt(variance + eps)


def _affine(x: Array, scale: Array | None, bias: Array | None) -> Array:
    if scale is not None:
        x = x * wide(scale).astype(x.dtype)
    return x if bias is None else x + wide(bias).astype(x.dtype)


def _per_channel(parameter: Array, rank: int) -> Array:
    """Returns `[C]` in a shape that broadcasts along dimension 1 of an array of `rank`."""
    return parameter.reshape(-1, *(1,) * max(rank - 2, 0))


@quiet
def layer_norm(
    x: Array,
    scale: Array | None = None,
    bias: Array | None = None,
    *,
    axis: int = -1,
    eps: float = 1e-5,
) -> Array:
    """Returns `(x - mean) / sqrt(variance + eps) * scale + bias` over dimensions from `axis` on.

    Args:
        scale: Broadcastable to `x`; 1 where absent.
        bias: Broadcastable to `x`; 0 where absent.
        eps: In squared units of `x`.

    Source: Ba, Kiros, Hinton, "Layer Normalization" (2016), equations 3 and 4.
    """
    axes = range(normalized_axis(axis, x.ndim), x.ndim)
    return narrow(_affine(_standardized(wide(x), axes, eps), scale, bias), x.dtype)


@quiet
def rms_norm(x: Array, scale: Array | None = None, *, axis: int = -1, eps: float = 1e-5) -> Array:
    """Returns `x / sqrt(mean(x**2) + eps) * scale` over dimensions from `axis` on.

    Args:
        scale: Broadcastable to `x`; 1 where absent.
        eps: In squared units of `x`.

    Source: Zhang, Sennrich, "Root Mean Square Layer Normalization" (2019), equation 4.
    """
    axes = tuple(range(normalized_axis(axis, x.ndim), x.ndim))
    values = wide(x)
    mean_square = np.mean(values * values, axis=axes, keepdims=True)
    return narrow(_affine(values / np.sqrt(mean_square + eps), scale, None), x.dtype)


@quiet
def group_norm(x: Array, scale: Array, bias: Array, *, groups: int, eps: float = 1e-5) -> Array:
    """Returns `x` standardised over each of `groups` parts of the channels, scaled and shifted.

    Args:
        x: `[N, C, ...]`.
        scale: `[C]`.
        bias: `[C]`.
        groups: A divisor of C.
        eps: In squared units of `x`.

    Raises:
        ValueError: C is no multiple of `groups`.

    Source: Wu, He, "Group Normalization" (2018), equations 1 to 6.
    """
    if groups < 1 or x.shape[1] % groups:
        raise ValueError(f"expected channels in multiples of {groups}, got {x.shape[1]}")
    parts = wide(x).reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
    normal = _standardized(parts, range(2, parts.ndim), eps).reshape(x.shape)
    return narrow(_affine(normal, _per_channel(scale, x.ndim), _per_channel(bias, x.ndim)), x.dtype)


@quiet
def instance_norm(x: Array, scale: Array, bias: Array, *, eps: float = 1e-5) -> Array:
    """Returns `x` standardised over the spatial dimensions, scaled and shifted.

    Args:
        x: `[N, C, ...]`.
        scale: `[C]`.
        bias: `[C]`.
        eps: In squared units of `x`.

    Source: Ulyanov, Vedaldi, Lempitsky, "Instance Normalization" (2016), equation 1.
    """
    normal = _standardized(wide(x), range(2, x.ndim), eps)
    return narrow(_affine(normal, _per_channel(scale, x.ndim), _per_channel(bias, x.ndim)), x.dtype)


@quiet
def batch_norm(
    x: Array, scale: Array, bias: Array, mean: Array, var: Array, *, eps: float = 1e-5
) -> Array:
    """Returns `(x - mean) / sqrt(var + eps) * scale + bias`, as in inference.

    Args:
        x: `[N, C, ...]`, or `[N]` of one channel.
        scale: `[C]`, as are `bias`, `mean` and `var`.
        eps: In squared units of `x`.

    Source: Ioffe, Szegedy, "Batch Normalization" (2015), algorithm 2.
    """
    values = wide(x)
    mean, var = (
        _per_channel(wide(statistic).astype(values.dtype), x.ndim) for statistic in (mean, var)
    )
    normal = (values - mean) / np.sqrt(var + eps)
    return narrow(_affine(normal, _per_channel(scale, x.ndim), _per_channel(bias, x.ndim)), x.dtype)


@quiet
def lp_normalization(x: Array, *, axis: int = -1, p: int = 2) -> Array:
    """Returns `x` divided by its L1 or L2 norm along `axis`; 0 where the norm is 0.

    Raises:
        ValueError: `p` is neither 1 nor 2.
    """
    if p not in (1, 2):
        raise ValueError(f"expected 'p' to be 1 or 2, got {p}")
    values = wide(x)
    powers = np.abs(values) if p == 1 else values * values
    total = np.sum(powers, axis=axis, keepdims=True)
    norm = total if p == 1 else np.sqrt(total)
    return narrow(np.where(norm == 0, 0, values / norm), x.dtype)


@quiet
def lrn(
    x: Array, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
) -> Array:
    """Returns `x / (bias + alpha / size * squares) ** beta`.

    `squares` is the sum of `x**2` over the channels from `c - floor((size - 1) / 2)` to
    `c + ceil((size - 1) / 2)`.

    Args:
        x: `[N, C, ...]`.
        size: Channels in the sum.

    Raises:
        ValueError: `size` is not positive.

    Source: Krizhevsky, Sutskever, Hinton, "ImageNet Classification" (2012), section 3.3.
    """
    if size < 1:
        raise ValueError(f"expected 'size' > 0, got {size}")
    values = wide(x)
    before = (size - 1) // 2
    widths = [(0, 0), (before, size - 1 - before), *[(0, 0)] * (x.ndim - 2)]
    padded = np.pad(values * values, widths)
    squares = np.zeros_like(values)
    for offset in range(size):
        squares += padded[:, offset : offset + x.shape[1]]
    return narrow(values / (bias + alpha / size * squares) ** beta, x.dtype)
