"""Constants, and operators that read or change nothing but shapes."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds
from tests.random_onnx.values import DTYPES, F16, Shape, Value, make_array


@builds("Constant")
def constant(g: Grower, op_type: str) -> None:
    """In every form that holds numbers."""
    match g.int(0, 4):
        case 0:
            g.emit(op_type, [], value_float=g.one_of((0.0, -1.5, 3.0)))
        case 1:
            g.emit(op_type, [], value_floats=[1.5, -2.0, 0.0][: g.int(1, 3)])
        case 2:
            g.emit(op_type, [], value_int=g.int(-3, 3))
        case 3:
            g.emit(op_type, [], value_ints=[4, -1, 0][: g.int(1, 3)])
        case _:
            rng = np.random.default_rng(g.int(0, 99))
            array = make_array(rng, g.dtype(DTYPES), g.shape(), "special")
            g.emit(op_type, [], value=numpy_helper.from_array(array))


@builds("ConstantOfShape")
def constant_of_shape(g: Grower, op_type: str) -> None:
    """Of a shape that is written down, or of one that a value has."""
    shape = shape_operand(g)
    dtype = g.dtype([dtype for dtype in DTYPES if dtype.name != "bfloat16" or g.opset >= 20])
    number = np.array([g.int(0, 1 if dtype.kind == "b" else 5)]).astype(dtype)
    value = numpy_helper.from_array(number) if g.flag() else None
    g.emit(op_type, [shape], value=value)


def shape_operand(g: Grower) -> Value:
    """Returns a shape as an operand, small enough to be the shape of something."""
    known = [value for value in g.values if value.rank and value.array.size <= 100]
    if known and g.flag():
        return g.emit("Shape", [g.one_of(known)])[0]
    return g.ints(g.shape(0, 3))


@builds("Expand")
def expand(g: Grower, op_type: str) -> None:
    """Both ways: a 1 of the target keeps the dimension of the operand."""
    value = g.operand(g.types(op_type), (0, 3))
    dims = value.shape[g.int(0, value.rank) :]
    target = [g.int(0 if g.rarely() else 1, 3) if dim == 1 else g.one_of((1, dim)) for dim in dims]
    if len(target) == value.rank and g.flag():
        target.insert(0, g.int(1, 3))
    g.emit(op_type, [value, g.ints(target)])


@builds("Range")
def range_(g: Grower, op_type: str) -> None:
    """Up, down and empty."""
    dtype = g.dtype([dtype for dtype in g.types(op_type) if dtype != F16])
    delta = g.one_of((1, 2, -1, -3))
    numbers = np.array([g.int(-4, 6), g.int(-4, 6), delta]).astype(dtype)
    if dtype.kind == "f" and g.flag():
        numbers = (numbers * 0.5).astype(dtype)
    g.emit(op_type, [g.given(np.array(number, dtype), fixed=True) for number in numbers])


@builds("EyeLike")
def eye_like(g: Grower, op_type: str) -> None:
    """Diagonals of all places, also outside of the matrix."""
    value = g.operand(g.types(op_type), (2, 2))
    to = g.maybe(helper.np_dtype_to_tensor_dtype(g.one_of((F16, np.dtype(np.int64)))))
    g.emit(op_type, [value], k=g.maybe(g.int(-4, 4)), dtype=to)


@builds("Shape")
def shape(g: Grower, op_type: str) -> None:
    """From opset 15 on of a part of the dimensions."""
    value = g.operand(g.types(op_type))

    def limit() -> int:
        return g.int(-value.rank, value.rank)

    part: dict[str, Any] = (
        {} if g.opset < 15 else {end: g.maybe(limit()) for end in ("start", "end")}
    )
    g.emit(op_type, [value], **part)


@builds("Size")
def size(g: Grower, op_type: str) -> None:
    """Of anything."""
    g.emit(op_type, [g.operand(g.types(op_type))])


@builds("Reshape")
def reshape(g: Grower, op_type: str) -> None:
    """With 0, which copies, and -1, which is worked out; or to the shape of another value."""
    value = g.operand(g.types(op_type))
    same = [v for v in g.values if v.array.size == value.array.size and v.rank]
    if same and g.rarely():
        g.emit(op_type, [value, g.emit("Shape", [g.one_of(same)])[0]])
        return
    target = list(_split_up(g, value.array.size))
    if 0 in target and g.opset < 14:
        target = list(value.shape)  # each 0 copies itself
    copied = [i for i, dim in enumerate(target) if i < value.rank and value.shape[i] == dim != 0]
    zero = g.opset >= 14 and 0 in target
    if zero:
        # Without the flag a 0 would copy the dimension of the operand, which is another one.
        g.emit(op_type, [value, g.ints(target)], allowzero=1)
        return
    if copied and g.flag():
        target[g.one_of(copied)] = 0
    known = [i for i, dim in enumerate(target) if dim]
    if known and g.flag() and 0 not in value.shape:
        target[g.one_of(known)] = -1
    g.emit(op_type, [value, g.ints(target)])


def _split_up(g: Grower, size: int) -> Shape:
    """Returns a shape of so many elements."""
    dims: list[int] = []
    while len(dims) < 4 and g.int(0, 3):
        rest = size // max(prod(dims), 1)
        factors = [d for d in range(1, rest + 1) if rest and rest % d == 0] or [1]
        dims.append(g.one_of(factors))
    rest = size // prod(dims) if prod(dims) else 0
    if rest != 1 or not size:
        dims.insert(g.int(0, len(dims)), rest)
    return tuple(dims)


@builds("Flatten")
def flatten(g: Grower, op_type: str) -> None:
    """From any axis."""
    value = g.operand(g.types(op_type), (0, 4), empty=False)
    g.emit(op_type, [value], axis=g.int(-value.rank, value.rank))


@builds("Squeeze")
def squeeze(g: Grower, op_type: str) -> None:
    """Of all, or of some, dimensions of 1."""
    value = g.operand(g.types(op_type), test=lambda value: 1 in value.shape)
    ones = [axis for axis, dim in enumerate(value.shape) if dim == 1]
    if g.flag() and value.rank:
        g.emit(op_type, [value])
        return
    some = [axis - value.rank * g.flag() for axis in ones[: g.int(0, len(ones))]]
    g.emit(op_type, [value, g.ints(some)] if some else [value])


@builds("Unsqueeze")
def unsqueeze(g: Grower, op_type: str) -> None:
    """At places of the result, in any order."""
    value = g.operand(g.types(op_type), (0, 3))
    count = g.int(1, 2)
    rank = value.rank + count
    places = g.axes(rank, count)[:count]
    g.emit(op_type, [value, g.ints(places)])
