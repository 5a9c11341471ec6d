"""Binary arithmetic, comparison and logic with broadcasting; select, clip and cast."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ge_dialect.interpreters.kernels.numeric import (
    F32,
    F64,
    Array,
    DType,
    is_float,
    is_integer,
    narrow,
    quiet,
    wide,
)


def _arithmetic(ufunc: Callable[[Array, Array], Any], doc: str) -> Callable[[Array, Array], Array]:
    def kernel(a: Array, b: Array) -> Array:
        with np.errstate(all="ignore"):
            return narrow(ufunc(wide(a), wide(b)), a.dtype)

    kernel.__doc__ = doc
    return kernel


def _comparison(ufunc: Callable[[Array, Array], Any], doc: str) -> Callable[[Array, Array], Array]:
    def kernel(a: Array, b: Array) -> Array:
        with np.errstate(all="ignore"):
            return narrow(ufunc(wide(a), wide(b)), np.dtype(np.bool_))

    kernel.__doc__ = doc
    return kernel


add = _arithmetic(np.add, "Returns `a + b`; integers wrap.")
sub = _arithmetic(np.subtract, "Returns `a - b`; integers wrap.")
mul = _arithmetic(np.multiply, "Returns `a * b`; integers wrap.")
maximum = _arithmetic(np.maximum, "Returns the greater; NaN where one is NaN.")
minimum = _arithmetic(np.minimum, "Returns the lesser; NaN where one is NaN.")
bitwise_and = _arithmetic(np.bitwise_and, "Returns the bits set in both integers.")
bitwise_or = _arithmetic(np.bitwise_or, "Returns the bits set in one integer or both.")
bitwise_xor = _arithmetic(np.bitwise_xor, "Returns the bits set in one integer but not both.")

equal = _comparison(np.equal, "Returns whether `a = b`, of bool; NaN equals nothing.")
not_equal = _comparison(np.not_equal, "Returns whether `a` and `b` differ, of bool.")
less = _comparison(np.less, "Returns whether `a < b`, of bool.")
less_equal = _comparison(np.less_equal, "Returns whether `a <= b`, of bool.")
greater = _comparison(np.greater, "Returns whether `a > b`, of bool.")
greater_equal = _comparison(np.greater_equal, "Returns whether `a >= b`, of bool.")
logical_and = _comparison(np.logical_and, "Returns whether both hold, of bool.")
logical_or = _comparison(np.logical_or, "Returns whether one holds or both, of bool.")
logical_xor = _comparison(np.logical_xor, "Returns whether one holds but not both, of bool.")


@quiet
def div(a: Array, b: Array) -> Array:
    """Returns `a / b`; integers truncate toward zero, and give 0 for a zero divisor."""
    if not is_integer(a.dtype):
        return narrow(np.divide(wide(a), wide(b)), a.dtype)
    quotient = np.floor_divide(a, b)
    # Floor and truncation differ by one where the signs differ and something is left over.
    adjust = (np.multiply(quotient, b) != a) & (np.less(a, 0) != np.less(b, 0))
    quotient = quotient + adjust.astype(a.dtype)
    return narrow(np.where(b == 0, 0, quotient), a.dtype)


@quiet
def mod(a: Array, b: Array, *, fmod: bool = False) -> Array:
    """Returns the remainder of `a / b`; of integers 0 for a zero divisor.

    Args:
        fmod: Whether the remainder has the sign of `a`, as C's `fmod`, or that of `b`.
    """
    return narrow((np.fmod if fmod else np.mod)(wide(a), wide(b)), a.dtype)


@quiet
def pow_(a: Array, b: Array) -> Array:
    """Returns `a ** b` in the type of `a`; `b` may be of another type.

    An integer to a negative integer power truncates toward zero: 0 but for the bases 1 and -1.
    """
    if not is_integer(a.dtype):
        return narrow(np.power(wide(a), wide(b).astype(wide(a).dtype)), a.dtype)
    if not is_integer(b.dtype):
        return cast(np.asarray(np.power(a.astype(F64), b.astype(F64))), a.dtype)
    # Modulo 2**64, whose low bits are those of any narrower integer.
    power = np.power(a.astype(np.uint64), np.abs(b).astype(np.uint64)).astype(a.dtype)
    inverse = np.where(np.abs(a.astype(F64)) == 1, power, 0)
    return narrow(np.where(np.less(b, 0), inverse, power), a.dtype)


@quiet
def prelu(x: Array, slope: Array) -> Array:
    """Returns `x` where it is not negative, else `slope * x`; `slope` broadcasts to `x`."""
    x_wide = wide(x)
    return narrow(np.where(np.less(x_wide, 0), wide(slope) * x_wide, x_wide), x.dtype)


def where(condition: Array, a: Array, b: Array) -> Array:
    """Returns `a` where `condition` holds, else `b`; all three broadcast."""
    return narrow(np.where(condition, a, b), a.dtype)


@quiet
def clip(x: Array, lo: Array | None = None, hi: Array | None = None) -> Array:
    """Returns `x` limited to `[lo, hi]`, `hi` where the two contradict; NaN stays NaN."""
    result = wide(x)
    if lo is not None:
        result = np.maximum(result, wide(lo.reshape(())))
    if hi is not None:
        result = np.minimum(result, wide(hi.reshape(())))
    return narrow(result, x.dtype)


@quiet
def cast(x: Array, dtype: npt.DTypeLike, *, saturate: bool = True) -> Array:
    """Returns `x` converted to `dtype`, as ONNX `Cast`.

    To an integer, floats truncate toward zero, integers wrap; to bool, `x != 0`. What ONNX leaves
    open is fixed here so that machines agree: a float outside the range of an integer saturates;
    one of 2 or 4 bits it wraps into, unless it exceeds 64 bits, as ONNX's own tests have it. NaN
    gives 0.

    Args:
        dtype: Any numpy or ml_dtypes type.
        saturate: Whether values outside the range of an 8-bit float become its largest ones.
    """
    target = np.dtype(dtype)
    if target == x.dtype:
        return x
    if target == np.bool_ and x.dtype != np.object_:
        return narrow(wide(x) != 0, target)
    if is_float(x.dtype) and is_integer(target):
        return _float_to_integer(wide(x), target)
    if target.itemsize == 1 and is_float(target) and saturate:
        return _saturate_to_float8(x, target)
    return _convert(x, target)


def _convert(x: Array, target: DType) -> Array:
    """Converts in two steps where numpy and ml_dtypes have no direct one."""
    if target.kind == "V" and is_integer(target):
        return x.astype(np.int64).astype(target)
    if x.dtype.kind == "V" and is_float(x.dtype):
        return x.astype(F32).astype(target)
    return x.astype(target)


def _float_to_integer(x: Array, target: DType) -> Array:
    info = ml_dtypes.iinfo(target)
    # The greatest integer may be no float, but the power of two above it always is one.
    above = float(info.max) + 1
    whole = np.asarray(np.trunc(x.astype(F64)))
    is_narrow = target.kind not in "iu"
    holder = np.dtype(np.int8) if is_narrow else target
    result = np.zeros(x.shape, holder)
    result[whole >= above] = info.max
    result[whole < info.min] = info.min
    if is_narrow:
        fits = np.abs(whole) < 2.0**63
        result[fits] = _convert(whole[fits].astype(np.int64), target)
    else:
        inside = (whole >= info.min) & (whole < above)
        result[inside] = whole[inside].astype(holder)
    return narrow(result, target)


def _saturate_to_float8(x: Array, target: DType) -> Array:
    info = typing.cast(Any, ml_dtypes.finfo(target))
    return narrow(np.clip(wide(x), float(info.min), float(info.max)), target)
