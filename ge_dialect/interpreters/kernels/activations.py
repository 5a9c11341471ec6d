"""Activations: functions of one element, some with parameters."""

from __future__ import annotations

import math

import numpy as np

from ge_dialect.interpreters.kernels.numeric import Array, rounded
from ge_dialect.interpreters.kernels.special import erfc

# ONNX's defaults, the f32 nearest to the constants of Klambauer et al., "Self-Normalizing Neural
# Networks" (2017).
_SELU_ALPHA = 1.67326319217681884765625
_SELU_GAMMA = 1.05070102214813232421875


def logistic(x: Array) -> Array:
    """Returns `1 / (1 + exp(-x))` in the type of `x`, not rounded to another."""
    # exp of a negative number only: never overflows, and keeps the tail on the left.
    power = np.exp(-np.abs(x))
    return np.where(x < 0, power, 1) / (1 + power)


def _softplus(x: Array) -> Array:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


@rounded
def tanh(x: Array) -> Array:
    """Returns the hyperbolic tangent."""
    return np.tanh(x)


@rounded
def sigmoid(x: Array) -> Array:
    """Returns `1 / (1 + exp(-x))`."""
    return logistic(x)


@rounded
def relu(x: Array) -> Array:
    """Returns `max(x, 0)`; NaN stays NaN."""
    return np.maximum(x, 0)


@rounded
def leaky_relu(x: Array, *, alpha: float = 0.01) -> Array:
    """Returns `x` where it is not negative, else `alpha * x`."""
    return np.where(x < 0, alpha * x, x)


@rounded
def elu(x: Array, *, alpha: float = 1.0) -> Array:
    """Returns `x` where it is not negative, else `alpha * (exp(x) - 1)`."""
    return np.where(x < 0, alpha * np.expm1(x), x)


@rounded
def selu(x: Array, *, alpha: float = _SELU_ALPHA, gamma: float = _SELU_GAMMA) -> Array:
    """Returns `gamma * x` where it is positive, else `gamma * alpha * (exp(x) - 1)`."""
    return gamma * np.where(x < 0, alpha * np.expm1(x), x)


@rounded
def celu(x: Array, *, alpha: float = 1.0) -> Array:
    """Returns `max(0, x) + min(0, alpha * (exp(x / alpha) - 1))`."""
    return np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(x / alpha))


@rounded
def hard_sigmoid(x: Array, *, alpha: float = 0.2, beta: float = 0.5) -> Array:
    """Returns `max(0, min(1, alpha * x + beta))`."""
    return np.clip(alpha * x + beta, 0, 1)


@rounded
def hard_swish(x: Array) -> Array:
    """Returns `x * max(0, min(1, x / 6 + 1 / 2))`; NaN at -inf."""
    return x * np.clip(x / 6 + 0.5, 0, 1)


@rounded
def gelu(x: Array, *, approximate: str = "none") -> Array:
    """Returns the Gaussian error linear unit, `x * P(X <= x)` for a standard normal X.

    Args:
        approximate: `none` by the error function, `tanh` by the cubic approximation.

    Raises:
        ValueError: `approximate` is neither.

    Source: Hendrycks, Gimpel, "Gaussian Error Linear Units" (2016), section 2.
    """
    if approximate == "none":
        return 0.5 * x * erfc(x * -math.sqrt(0.5))
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    raise ValueError(f"expected 'approximate' to be none or tanh, got {approximate}")


@rounded
def silu(x: Array) -> Array:
    """Returns `x * sigmoid(x)`; NaN at -inf."""
    return x * logistic(x)


@rounded
def quick_gelu(x: Array, *, alpha: float = 1.702) -> Array:
    """Returns `x * sigmoid(alpha * x)`; NaN at -inf."""
    return x * logistic(alpha * x)


@rounded
def softplus(x: Array) -> Array:
    """Returns `log(1 + exp(x))`."""
    return _softplus(x)


@rounded
def softsign(x: Array) -> Array:
    """Returns `x / (1 + |x|)`; NaN at infinities."""
    return x / (1 + np.abs(x))


@rounded
def mish(x: Array) -> Array:
    """Returns `x * tanh(softplus(x))`; NaN at -inf."""
    return x * np.tanh(_softplus(x))
