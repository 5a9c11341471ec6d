"""Element types of kernels: what they compute in and how they round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
DType: TypeAlias = np.dtype[Any]
P = ParamSpec("P")

F32 = np.dtype(np.float32)
F64 = np.dtype(np.float64)

EXACT_IN_F64 = 2**53
"""Every whole number below this magnitude is an f64."""


@cache
def is_float(dtype: DType) -> bool:
    """Whether the type is a floating-point one of any width, those of ml_dtypes included."""
    return dtype.name.startswith(("float", "bfloat"))


@cache
def is_integer(dtype: DType) -> bool:
    """Whether the type is an integer of any width, those of ml_dtypes included; not bool."""
    return dtype.name.startswith(("int", "uint"))


def compute_dtype(dtype: DType) -> DType:
    """Returns the type in which arrays of `dtype` are computed: f32 for narrower floats."""
    return F32 if is_float(dtype) and dtype.itemsize < F32.itemsize else dtype


def real_dtype(dtype: DType) -> DType:
    """Returns the floating-point type that computes functions of `dtype`: f64 for integers."""
    return compute_dtype(dtype) if is_float(dtype) else F64


def wide(x: Array) -> Array:
    """Returns `x` in its compute type."""
    return x.astype(compute_dtype(x.dtype), copy=False)


def narrow(x: npt.ArrayLike, dtype: DType) -> Array:
    """Returns `x` as an array of `dtype`, rounding once; a numpy scalar becomes rank 0."""
    return np.asarray(x).astype(dtype, copy=False)


def quiet(function: Callable[P, Array]) -> Callable[P, Array]:
    """Keeps numpy's floating-point warnings inside `function`."""

    @wraps(function)
    def kernel(*args: P.args, **kwargs: P.kwargs) -> Array:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return kernel


def rounded(
    function: Callable[Concatenate[Array, P], npt.ArrayLike],
) -> Callable[Concatenate[Array, P], Array]:
    """Makes `function` of a wide array one of any array, with a result of the array's type."""

    @wraps(function)
    def kernel(x: Array, *args: P.args, **kwargs: P.kwargs) -> Array:
        with np.errstate(all="ignore"):
            return narrow(function(wide(x), *args, **kwargs), x.dtype)

    return kernel


def iota(count: int) -> Array:
    """Returns 0, 1, ... `count - 1`, of i64."""
    return np.arange(count, dtype=np.int64)


def lowest(dtype: DType) -> Any:
    """Returns the least value of a compute type: -inf, an integer's minimum, or false."""
    if is_float(dtype):
        return -np.inf
    return np.iinfo(dtype).min if is_integer(dtype) else False


def highest(dtype: DType) -> Any:
    """Returns the greatest value of a compute type: inf, an integer's maximum, or true."""
    if is_float(dtype):
        return np.inf
    return np.iinfo(dtype).max if is_integer(dtype) else True


def normalized_axis(axis: int, rank: int) -> int:
    """Returns `axis` counted from the front.

    Raises:
        ValueError: There is no such axis.
    """
    if not -rank <= axis < rank:
        raise ValueError(f"expected an axis in [{-rank}, {rank - 1}], got {axis}")
    return axis % rank


def spatial_pads(pads: Sequence[int] | None, rank: int) -> list[tuple[int, int]]:
    """Returns ONNX pads, all begins and then all ends, as one pair a spatial dimension.

    Raises:
        ValueError: There are not two pads a dimension.
    """
    if pads is None or len(pads) == 0:
        return [(0, 0)] * rank
    if len(pads) != 2 * rank:
        raise ValueError(f"expected {2 * rank} pads, got {len(pads)}")
    return list(zip(pads[:rank], pads[rank:], strict=True))


def per_dimension(values: Sequence[int] | None, rank: int, name: str) -> tuple[int, ...]:
    """Returns strides or dilations, one a spatial dimension; absent ones are 1.

    Raises:
        ValueError: The count is wrong, or one is not positive.
    """
    found = tuple(values) if values is not None and len(values) else (1,) * rank
    if len(found) != rank or min(found, default=1) < 1:
        raise ValueError(f"expected {rank} positive {name}, got {list(found)}")
    return found
