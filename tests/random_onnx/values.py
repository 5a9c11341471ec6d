"""Values of a random model, and the numbers they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper

from tests.kernel_reference import BF16, F16, F32, F64, FLOATS

Array = npt.NDArray[Any]
DType = np.dtype[Any]
Shape = tuple[int, ...]

I64 = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)
INTS = tuple(np.dtype(f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64))
DTYPES = (F32, F64, F16, BF16, *INTS, BOOL)

# As ONNX's schemas call them.
SCHEMA_NAMES: dict[str, DType] = {
    "tensor(float)": F32,
    "tensor(double)": F64,
    "tensor(float16)": F16,
    "tensor(bfloat16)": BF16,
    "tensor(bool)": BOOL,
    **{f"tensor({dtype.name})": dtype for dtype in INTS},
}

MAX_ELEMENTS = 400
"""Of a value: graphs are small, so that thousands of them run in minutes."""

SPECIAL = (0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1.0, -1.0, 0.5, 2.5, 1e-3)


@dataclass(frozen=True)
class Value:
    """A value of the model.

    Attributes:
        name: In the model.
        array: What it is.
        shaken: What it would be with other roundings on the way, more than once.
        exact: Whether nothing on the way to it may round, so that it has to come out bit by bit.
        fixed: Whether it depends on no input of the model.
    """

    name: str
    array: Array
    shaken: tuple[Array, ...]
    exact: bool
    fixed: bool

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.array.dtype

    @property
    def shape(self) -> Shape:
        """The dimensions."""
        return self.array.shape

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self.array.ndim


def names(text: str) -> tuple[str, ...]:
    """Returns words; so many operators are easier to read without their quotes."""
    return tuple(text.split())


def is_float(dtype: DType) -> bool:
    """Whether a type is one of the four floats; numpy knows but three."""
    return dtype in FLOATS


def widened(array: Array) -> Array:
    """Returns floats as f64, anything else as it is."""
    return array.astype(F64) if is_float(array.dtype) else array


def eps_of(dtype: DType) -> float:
    """Returns the distance from 1 to the next float."""
    return float(cast(Any, ml_dtypes.finfo(dtype)).eps)


def is_finite(array: Array) -> bool:
    """Whether no element is infinite or no number."""
    return not is_float(array.dtype) or bool(np.isfinite(widened(array)).all())


def make_array(rng: np.random.Generator, dtype: DType, shape: Sequence[int], kind: str) -> Array:
    """Returns random numbers.

    Args:
        rng: Where they come from.
        dtype: Any of `DTYPES`.
        shape: Of the array.
        kind: "special" has zeros of both signs, infinities and NaN among its floats, and the
            limits among its integers; "whole" is small whole numbers, "positive" lies between 0.1
            and 2, "normal" is anything of a modest magnitude.
    """
    if dtype == BOOL:
        return rng.integers(0, 2, shape).astype(dtype)
    if not is_float(dtype):
        return _integers(rng, dtype, shape, kind)
    match kind:
        case "special":
            some = rng.choice(SPECIAL, shape)
            found = np.where(rng.random(shape) < 0.5, some, rng.normal(size=shape))
        case "whole":
            found = rng.integers(-4, 5, shape).astype(F64)
        case "positive":
            found = rng.uniform(0.1, 2.0, shape)
        case _:
            found = rng.normal(size=shape) * 2
    return np.asarray(found).astype(dtype)


def _integers(rng: np.random.Generator, dtype: DType, shape: Sequence[int], kind: str) -> Array:
    info = np.iinfo(dtype)
    if kind == "special":
        ends = np.array([info.min, info.max, 0, 1], dtype)
        small = rng.integers(max(info.min, -9), 10, shape).astype(dtype)
        return np.where(rng.random(shape) < 0.3, rng.choice(ends, shape), small).astype(dtype)
    low = 1 if kind == "positive" else max(info.min, -9)
    return rng.integers(low, 10, shape).astype(dtype)


def value_info(value: Value) -> onnx.ValueInfoProto:
    """Returns how a graph declares a value."""
    number = helper.np_dtype_to_tensor_dtype(value.dtype)
    return helper.make_tensor_value_info(value.name, number, value.shape)
