"""Unary arithmetic and tests, one function an element function."""

from __future__ import annotations

import numpy as np

from ge_dialect.interpreters.kernels import special
from ge_dialect.interpreters.kernels.numeric import Array, is_float, rounded, wide


@rounded
def abs_(x: Array) -> Array:
    """Returns `|x|`; the least signed integer wraps to itself."""
    return np.abs(x)


@rounded
def ceil(x: Array) -> Array:
    """Returns the least whole number not below `x`."""
    return np.ceil(x)


@rounded
def floor(x: Array) -> Array:
    """Returns the greatest whole number not above `x`."""
    return np.floor(x)


@rounded
def round_(x: Array) -> Array:
    """Returns the nearest whole number, halves to even."""
    return np.rint(x)


@rounded
def sign(x: Array) -> Array:
    """Returns -1, 0 or 1; NaN stays NaN."""
    return np.sign(x)


@rounded
def neg(x: Array) -> Array:
    """Returns `-x`; integers wrap."""
    return np.negative(x)


@rounded
def reciprocal(x: Array) -> Array:
    """Returns `1 / x`."""
    return np.reciprocal(x)


@rounded
def sqrt(x: Array) -> Array:
    """Returns the square root; NaN below zero."""
    return np.sqrt(x)


@rounded
def rsqrt(x: Array) -> Array:
    """Returns `1 / sqrt(x)`; NaN below zero."""
    return np.reciprocal(np.sqrt(x))


@rounded
def exp(x: Array) -> Array:
    """Returns `e ** x`."""
    return np.exp(x)


@rounded
def log(x: Array) -> Array:
    """Returns the natural logarithm; NaN below zero."""
    return np.log(x)


@rounded
def erf(x: Array) -> Array:
    """Returns the error function."""
    return special.erf(x)


@rounded
def sin(x: Array) -> Array:
    """Returns the sine of radians."""
    return np.sin(x)


@rounded
def cos(x: Array) -> Array:
    """Returns the cosine of radians."""
    return np.cos(x)


@rounded
def tan(x: Array) -> Array:
    """Returns the tangent of radians."""
    return np.tan(x)


@rounded
def atan(x: Array) -> Array:
    """Returns the arc tangent, in radians."""
    return np.arctan(x)


@rounded
def asin(x: Array) -> Array:
    """Returns the arc sine, in radians; NaN beyond -1 and 1."""
    return np.arcsin(x)


@rounded
def acos(x: Array) -> Array:
    """Returns the arc cosine, in radians; NaN beyond -1 and 1."""
    return np.arccos(x)


@rounded
def sinh(x: Array) -> Array:
    """Returns the hyperbolic sine."""
    return np.sinh(x)


@rounded
def cosh(x: Array) -> Array:
    """Returns the hyperbolic cosine."""
    return np.cosh(x)


@rounded
def asinh(x: Array) -> Array:
    """Returns the inverse of the hyperbolic sine."""
    return np.arcsinh(x)


@rounded
def acosh(x: Array) -> Array:
    """Returns the inverse of the hyperbolic cosine; NaN below 1."""
    return np.arccosh(x)


@rounded
def atanh(x: Array) -> Array:
    """Returns the inverse of the hyperbolic tangent; NaN beyond -1 and 1."""
    return np.arctanh(x)


@rounded
def bitwise_not(x: Array) -> Array:
    """Returns every bit of an integer inverted."""
    return np.invert(x)


def logical_not(x: Array) -> Array:
    """Returns `not x`, of bool."""
    return np.asarray(np.logical_not(x))


def is_nan(x: Array) -> Array:
    """Returns whether `x` is not a number, of bool."""
    if not is_float(x.dtype):
        return np.zeros(x.shape, np.bool_)
    return np.asarray(np.isnan(wide(x)))


def is_inf(x: Array, *, detect_positive: bool = True, detect_negative: bool = True) -> Array:
    """Returns whether `x` is an infinity of a sign asked for, of bool."""
    found = np.zeros(x.shape, np.bool_)
    if is_float(x.dtype):
        if detect_positive:
            found |= wide(x) == np.inf
        if detect_negative:
            found |= wide(x) == -np.inf
    return found
