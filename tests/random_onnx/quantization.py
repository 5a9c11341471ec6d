"""Quantisation: of the whole tensor, along an axis, in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper

from tests.kernel_reference import F32
from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds
from tests.random_onnx.values import DType, Shape, Value

_I32 = np.dtype(np.int32)


def _scale_shape(g: Grower, value: Value, op_type: str) -> tuple[Shape, dict[str, Any]]:
    """Returns the shape of the scale, and attributes that go with it."""
    if value.rank == 0 or g.flag():
        return (), {}
    axis = g.axis(value.rank)
    size = value.shape[axis]
    if g.version(op_type) >= 21 and g.flag():
        block = g.int(1, size)
        shape = list(value.shape)
        shape[axis] = -(-size // block)
        return tuple(shape), {"axis": axis, "block_size": block}
    default = value.rank > 1 and axis % value.rank == 1 and g.flag()
    return (size,), {} if default else {"axis": axis}


def _narrow(g: Grower, op_type: str, slot: int) -> list[DType]:
    found = [dtype for dtype in g.types(op_type, slot) if dtype.kind in "iu"]
    return [dtype for dtype in found if dtype.itemsize <= 2]


@builds("QuantizeLinear")
def quantize_linear(g: Grower, op_type: str) -> None:
    """To the type of the zero point, or to the one that is asked for."""
    value = g.operand([F32], (0, 4), empty=False, finite=True)
    shape, attributes = _scale_shape(g, value, op_type)
    scale = g.fresh(value.dtype, shape, "positive")
    dtype = g.one_of(_narrow(g, op_type, 2))
    zero = g.maybe(g.fresh(dtype, shape, "normal"))
    if zero is None and g.version(op_type) >= 21 and g.flag():
        attributes["output_dtype"] = helper.np_dtype_to_tensor_dtype(dtype)
    g.emit(op_type, [value, scale, zero], **attributes)


@builds("DequantizeLinear")
def dequantize_linear(g: Grower, op_type: str) -> None:
    """To the type of the scale."""
    value = g.operand([*_narrow(g, op_type, 0), _I32], (0, 4), empty=False)
    shape, attributes = _scale_shape(g, value, op_type)
    scale = g.fresh(g.dtype(g.floats(op_type, 1)), shape, "positive")
    zero = None if value.dtype == _I32 else g.maybe(g.fresh(value.dtype, shape, "normal"))
    g.emit(op_type, [value, scale, zero], **attributes)


@builds("DynamicQuantizeLinear")
def dynamic_quantize_linear(g: Grower, op_type: str) -> None:
    """Bytes, scale and zero point."""
    g.emit(op_type, [g.operand([F32], (1, 3), empty=False, finite=True)], 3)


def _given(g: Grower, op_type: str, slot: int, shape: Shape) -> list[Value]:
    """Returns bytes with their scale and zero point."""
    dtype = g.one_of([dtype for dtype in g.types(op_type, slot) if dtype.itemsize == 1])
    return [
        g.fresh(dtype, shape, "normal"),
        g.fresh(F32, (), "positive"),
        g.fresh(dtype, (), "normal"),
    ]


@builds("QLinearMatMul")
def qlinear_matmul(g: Grower, op_type: str) -> None:
    """Matrices, with one scale each."""
    rows, inner, columns = g.int(1, 3), g.int(1, 4), g.int(1, 3)
    left, right = _given(g, op_type, 0, (rows, inner)), _given(g, op_type, 3, (inner, columns))
    g.emit(op_type, [*left, *right, *_given(g, op_type, 7, ())[1:]])


@builds("QLinearConv")
def qlinear_conv(g: Grower, op_type: str) -> None:
    """Two spatial dimensions, scales of filters, a bias."""
    channels, filters = g.int(1, 2), g.int(1, 3)
    image = _given(g, op_type, 0, (1, channels, g.int(2, 4), g.int(2, 4)))
    filter_ = _given(g, op_type, 3, (filters, channels, g.int(1, 2), g.int(1, 2)))
    if g.flag():
        filter_[1] = g.fresh(F32, (filters,), "positive")
    bias = g.maybe(g.fresh(_I32, (filters,), "normal"))
    g.emit(op_type, [*image, *filter_, *_given(g, op_type, 7, ())[1:], bias])
