"""Quantisation: between floats and scaled integers or narrow floats."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ge_dialect.interpreters.kernels.elementwise import cast
from ge_dialect.interpreters.kernels.numeric import (
    F32,
    F64,
    Array,
    DType,
    iota,
    is_float,
    is_integer,
    narrow,
    normalized_axis,
    quiet,
    wide,
)

_BYTE_FLOATS = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
"""Types whose zero point is always 0, so that ONNX does not add it: -0.0 stays."""


def _spread(parameter: Array, x: Array, axis: int, block_size: int) -> Array:
    """Returns a scale or zero point in a shape that broadcasts to `x`.

    Raises:
        ValueError: It has neither one element, nor one an element of `axis`, nor one a block.
    """
    if parameter.size == 1 and not block_size:
        return parameter.reshape(())
    axis = normalized_axis(axis, x.ndim)
    if block_size:
        repeated = np.repeat(parameter, block_size, axis=axis)
        repeated = np.take(repeated, iota(min(x.shape[axis], repeated.shape[axis])), axis=axis)
        if repeated.shape != x.shape:
            raise ValueError(
                f"expected parameters of blocks of {block_size} along axis {axis} of {x.shape}, "
                f"got {parameter.shape}"
            )
        return repeated
    if parameter.shape != (x.shape[axis],):
        raise ValueError(f"expected {x.shape[axis]} parameters, got {parameter.shape}")
    return parameter.reshape(-1, *(1,) * (x.ndim - axis - 1))


@quiet
def quantize_linear(
    x: Array,
    scale: Array,
    zero_point: Array | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    dtype: npt.DTypeLike | None = None,
    precision: npt.DTypeLike | None = None,
    saturate: bool = True,
) -> Array:
    """Returns `saturate(round(x / scale) + zero_point)`, halves rounded to even.

    Args:
        scale: A scalar, one an element of `axis`, or one a block along it.
        zero_point: Of the shape of `scale` and the result's type; 0 where absent.
        axis: The dimension that scales follow; ignored for a scalar.
        block_size: Elements of `axis` that share a scale; 0 where not in blocks.
        dtype: The result's type where there is no zero point; default u8.
        precision: The type in which the quotient is rounded; default that of `scale`, or f32
            where that holds no fractions.
        saturate: Whether values outside the range of an 8-bit float become its largest ones.

    NaN becomes the zero point of an integer type.

    Raises:
        ValueError: The shapes do not fit.
    """
    target = np.dtype(np.uint8 if dtype is None else dtype)
    target = zero_point.dtype if zero_point is not None else target
    divided_in = _division_type(scale.dtype if precision is None else np.dtype(precision))
    divisor = wide(_spread(scale, x, axis, block_size).astype(divided_in))
    quotient = narrow(wide(x.astype(divided_in)) / divisor, divided_in)
    if not is_integer(target):
        if zero_point is not None and target.name not in _BYTE_FLOATS:
            quotient = quotient + _spread(zero_point, x, axis, block_size).astype(divided_in)
        return cast(quotient, target, saturate=saturate)
    # In f64 the sum of a whole f32 and a zero point is exact wherever it is in range.
    whole = np.asarray(np.rint(wide(quotient).astype(F64)))
    whole = np.where(np.isnan(whole), 0, whole)
    if zero_point is not None:
        whole = whole + _integers(_spread(zero_point, x, axis, block_size))
    info = ml_dtypes.iinfo(target)
    return cast(np.clip(whole, info.min, info.max), target)


def _division_type(dtype: DType) -> DType:
    """Returns the type that rounds quotients: f32 for scales that hold no quotient."""
    return dtype if is_float(dtype) and dtype.itemsize > 1 else F32


@quiet
def requantize(
    x: Array,
    multiplier: Array,
    zero_point: Array | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    zero_point_last: bool = False,
) -> Array:
    """Returns `saturate(round(x * multiplier + zero_point))`, in f64 and rounded once.

    Halves go to even, NaN to the zero point.

    Args:
        x: Of i32.
        multiplier: Floats that broadcast to `x`.
        zero_point: Of the result's type, broadcasts to `x`; 0 where absent.
        dtype: The result's type where there is no zero point; default u8.
        zero_point_last: Whether the zero point is added after the rounding.
    """
    target = np.dtype(np.uint8 if dtype is None else dtype)
    target = zero_point.dtype if zero_point is not None else target
    product = x.astype(F64) * multiplier.astype(F64)
    levels = np.where(np.isnan(product), 0, product)
    if zero_point_last:
        levels = np.rint(levels)
    if zero_point is not None:
        levels = levels + _integers(zero_point)
    info = ml_dtypes.iinfo(target)
    return cast(np.clip(np.rint(levels), info.min, info.max), target)


def _integers(x: Array) -> Array:
    return x.astype(np.int64).astype(F64)


@quiet
def dequantize_linear(
    x: Array,
    scale: Array,
    zero_point: Array | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    dtype: npt.DTypeLike | None = None,
) -> Array:
    """Returns `(x - zero_point) * scale`, computed in f32 and rounded once.

    Args:
        x: Integers or narrow floats.
        scale: A scalar, one an element of `axis`, or one a block along it.
        zero_point: Of the shape of `scale` and the type of `x`; 0 where absent.
        axis: The dimension that scales follow; ignored for a scalar.
        block_size: Elements of `axis` that share a scale; 0 where not in blocks.
        dtype: The result's type; default that of `scale`.

    Raises:
        ValueError: The shapes do not fit.
    """
    target: DType = scale.dtype if dtype is None else np.dtype(dtype)
    values = x.astype(F32)
    if zero_point is not None:
        values = values - _spread(zero_point, x, axis, block_size).astype(F32)
    return narrow(values * wide(_spread(scale, x, axis, block_size)), target)


def dynamic_quantize_linear(x: Array) -> tuple[Array, Array, Array]:
    """Returns `x` in u8, its scale in f32 and its zero point in u8.

    The range covered is the smallest one that holds all of `x` and 0.

    Args:
        x: Of f32.
    """
    with np.errstate(all="ignore"):
        high = np.float32(np.max(x, initial=0))
        low = np.float32(np.min(x, initial=0))
        scale = np.float32(1 if high == low else high - low) / np.float32(255)
        zero_point = np.rint(np.clip(-low / scale, 0, 255))
        levels = np.clip(np.rint(x / scale) + zero_point, 0, 255)
    u8 = np.dtype(np.uint8)
    return cast(np.asarray(levels), u8), narrow(scale, F32), cast(np.asarray(zero_point), u8)
