"""Matrix products: matmul, gemm, einsum and the integer matmul."""

from __future__ import annotations

import numpy as np

from ge_dialect.interpreters.kernels.elementwise import cast
from ge_dialect.interpreters.kernels.numeric import (
    EXACT_IN_F64,
    F64,
    Array,
    is_float,
    narrow,
    quiet,
    wide,
)


def _magnitude(x: Array) -> int:
    return max(abs(int(np.min(x, initial=0))), abs(int(np.max(x, initial=0))))


@quiet
def product(a: Array, b: Array) -> Array:
    """Returns `a @ b` of two wide arrays, in their type; integers wrap.

    numpy multiplies integer matrices element by element; where no sum can leave the whole numbers
    of an f64, the fast product of floats gives the same.
    """
    if is_float(a.dtype):
        return np.matmul(a, b)
    depth = a.shape[-1] if a.ndim else 1
    if _magnitude(a) * _magnitude(b) * depth < EXACT_IN_F64:
        exact = np.matmul(a.astype(F64), b.astype(F64))
        return narrow(np.asarray(exact).astype(np.int64), a.dtype)
    return np.matmul(a, b)


@quiet
def matmul(a: Array, b: Array) -> Array:
    """Returns the matrix product `a @ b` with numpy's rules for ranks and broadcasting.

    Args:
        a: `[..., M, K]`, or `[K]`.
        b: `[..., K, N]`, or `[K]`.

    Raises:
        ValueError: The shapes do not fit.
    """
    return narrow(product(wide(a), wide(b)), a.dtype)


@quiet
def gemm(
    a: Array,
    b: Array,
    c: Array | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    trans_a: bool = False,
    trans_b: bool = False,
) -> Array:
    """Returns `alpha * a @ b + beta * c`.

    Args:
        a: `[M, K]`, or `[K, M]` with `trans_a`.
        b: `[K, N]`, or `[N, K]` with `trans_b`.
        c: Broadcastable to `[M, N]`.

    Raises:
        ValueError: The shapes do not fit.
    """
    left = wide(a.T if trans_a else a)
    right = wide(b.T if trans_b else b)
    result = product(left, right)
    if alpha != 1:
        result = result * alpha
    if c is not None:
        result = result + (wide(c) if beta == 1 else wide(c) * beta)
    return cast(np.asarray(result), a.dtype)


@quiet
def einsum(*operands: Array, equation: str) -> Array:
    """Returns Einstein's summation of the operands.

    Args:
        equation: As in numpy, `bij,bjk->bik`.

    Raises:
        ValueError: The equation does not fit the operands.
    """
    values = [wide(operand) for operand in operands]
    # The greedy order pairs operands, so that each pair is one matrix product.
    result = np.einsum(equation, *values, optimize="greedy" if len(values) > 1 else False)
    return narrow(result, operands[0].dtype)


def shifted(x: Array, zero_point: Array | None) -> Array:
    """Returns `x - zero_point` in i32, as all integer products take their operands."""
    values = x.astype(np.int32)
    return values if zero_point is None else values - zero_point.astype(np.int32)


def matmul_integer(
    a: Array, b: Array, a_zero_point: Array | None = None, b_zero_point: Array | None = None
) -> Array:
    """Returns `(a - a_zero_point) @ (b - b_zero_point)` in i32; sums wrap.

    Args:
        a: `[..., M, K]` of i8 or u8.
        b: `[..., K, N]` of i8 or u8.
        a_zero_point: A scalar, or one a row: `[M]` or `[..., M, 1]`.
        b_zero_point: A scalar, or one a column: `[N]` or `[..., 1, N]`.

    Raises:
        ValueError: The shapes do not fit.
    """
    if a_zero_point is not None and a_zero_point.ndim == 1 and a_zero_point.size > 1:
        a_zero_point = a_zero_point[:, None]
    return product(shifted(a, a_zero_point), shifted(b, b_zero_point))
