"""The error function, vectorised.

Source: W. J. Cody, "Rational Chebyshev Approximations for the Error Function", Mathematics of
Computation 23 (1969), pages 631-637: the approximations of degree (4, 4), (8, 8) and (5, 5), each
of relative error below 6e-19 on its interval.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ge_dialect.interpreters.kernels.numeric import F64, Array, real_dtype

_SMALL = 0.46875
_LARGE = 4.0
_CHUNK = 1 << 13
"""Elements at a time: the f64 intermediates of a chunk stay in the cache."""

_INV_SQRT_PI = 5.6418958354775628695e-1

# |x| <= 0.46875: erf(x) = x * P(x**2) / Q(x**2). Highest power first, as in all tables below.
_P_SMALL = (
    1.85777706184603153e-1,
    3.16112374387056560e0,
    1.13864154151050156e2,
    3.77485237685302021e2,
    3.20937758913846947e3,
)
_Q_SMALL = (
    1.0,
    2.36012909523441209e1,
    2.44024637934444173e2,
    1.28261652607737228e3,
    2.84423683343917062e3,
)
# 0.46875 <= x <= 4: erfc(x) = exp(-x**2) * P(x) / Q(x).
_P_MIDDLE = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594e0,
    6.61191906371416295e1,
    2.98635138197400131e2,
    8.81952221241769090e2,
    1.71204761263407058e3,
    2.05107837782607147e3,
    1.23033935479799725e3,
)
_Q_MIDDLE = (
    1.0,
    1.57449261107098347e1,
    1.17693950891312499e2,
    5.37181101862009858e2,
    1.62138957456669019e3,
    3.29079923573345963e3,
    4.36261909014324716e3,
    3.43936767414372164e3,
    1.23033935480374942e3,
)
# x >= 4: erfc(x) = exp(-x**2) / x * (1 / sqrt(pi) - P(1 / x**2) / (x**2 * Q(1 / x**2))).
_P_LARGE = (
    1.63153871373020978e-2,
    3.05326634961232344e-1,
    3.60344899949804439e-1,
    1.25781726111229246e-1,
    1.60837851487422766e-2,
    6.58749161529837803e-4,
)
_Q_LARGE = (
    1.0,
    2.56852019228982242e0,
    1.87295284992346725e0,
    5.27905102951428412e-1,
    6.05183413124413191e-2,
    2.33520497626869185e-3,
)


def _horner(coefficients: Sequence[float], x: Array) -> Array:
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += coefficient
    return value


def _ratio(numerator: Sequence[float], denominator: Sequence[float], x: Array) -> Array:
    return _horner(numerator, x) / _horner(denominator, x)


def _exp_minus_square(x: Array) -> Array:
    # exp(-x*x) directly would amplify the rounding of x*x; x is split so that one square is exact.
    head = np.trunc(x * 16) / 16
    return np.exp(-head * head) * np.exp(-(x - head) * (x + head))


def _erf_small(x: Array) -> Array:
    return x * _ratio(_P_SMALL, _Q_SMALL, x * x)


def _erfc_tail(x: Array) -> Array:
    """erfc of `x > 0.46875`."""
    result = np.empty_like(x)
    middle = x <= _LARGE
    part = x[middle]
    result[middle] = _exp_minus_square(part) * _ratio(_P_MIDDLE, _Q_MIDDLE, part)
    part = np.minimum(x[~middle], 30.0)  # erfc(30) is 0 in f64 already
    inverse = 1 / (part * part)
    series = _INV_SQRT_PI - inverse * _ratio(_P_LARGE, _Q_LARGE, inverse)
    result[~middle] = _exp_minus_square(part) / part * series
    return result


def erf(x: Array) -> Array:
    """Returns the error function of `x`, computed in f64 and rounded once to its type.

    NaN gives NaN, the infinities -1 and 1. An integer array gives f64.
    """
    return _by_magnitude(x, complement=False)


def erfc(x: Array) -> Array:
    """Returns `1 - erf(x)` without the cancellation, in the type of `x`."""
    return _by_magnitude(x, complement=True)


def _by_magnitude(x: Array, complement: bool) -> Array:
    flat = x.reshape(-1)
    result = np.empty(flat.shape, real_dtype(x.dtype))
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            result[part] = _chunk(flat[part].astype(F64, copy=False), complement)
    return result.reshape(x.shape)


def _chunk(x: Array, complement: bool) -> Array:
    magnitude = np.abs(x)
    result = np.array(x)  # NaN stays NaN
    near, far = magnitude <= _SMALL, magnitude > _SMALL
    small = _erf_small(x[near])
    result[near] = 1 - small if complement else small
    tail, sign = _erfc_tail(magnitude[far]), np.sign(x[far])
    result[far] = np.where(sign > 0, tail, 2 - tail) if complement else sign * (1 - tail)
    return result
