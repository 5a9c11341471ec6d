"""How each op acts on tensors of dimensions; see `dims.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import (
    AddOp,
    DivOp,
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
    MaximumOp,
    MinimumOp,
    ModOp,
    MulOp,
    SubOp,
)
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.extents import known_product
from ge_dialect.ge.indexing import GatherOp, ShapeOp, SizeOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp
from ge_dialect.ge.reductions import ReduceProdOp
from ge_dialect.ge.types import MaybeDim, static_shape, value_shape
from ge_dialect.ge.unary import NegOp
from ge_dialect.symbols import (
    Dim,
    DimLimitError,
    assumed,
    bounds,
    floor_div,
    maximum,
    minimum,
    mod,
    product,
    prove_equal,
    simplify,
)

Known: TypeAlias = npt.NDArray[Any]
Rule: TypeAlias = Callable[[Any, Sequence[Known]], Known | None]


def lifted(function: Callable[[Dim, Dim], Any]) -> Callable[[MaybeDim, MaybeDim], Any]:
    """Returns `function` on dimensions that may be unknown; the result is then unknown as well."""

    def apply(first: MaybeDim, second: MaybeDim) -> Any:
        if first is None or second is None:
            return None
        try:
            return function(first, second)
        except DimLimitError:
            return None

    return apply


def _binary(function: Callable[[Dim, Dim], Any]) -> Rule:
    vectorised = np.frompyfunc(lifted(function), 2, 1)

    def apply(_: Operation, known: Sequence[Known]) -> Known:
        return np.asarray(vectorised(*known), object)

    return apply


def _divide(first: Dim, second: Dim) -> Dim | None:
    """ONNX divides toward zero, which is down for what is not negative."""
    if second == 0:
        return None
    if isinstance(first, int) and isinstance(second, int):
        quotient = abs(first) // abs(second)
        return quotient if (first < 0) == (second < 0) else -quotient
    sizes = bounds(first, assumed())[0] >= 0 and bounds(second, assumed())[0] >= 0
    return floor_div(first, second) if sizes else None


def _modulo(first: Dim, second: Dim) -> Dim | None:
    return None if second == 0 else mod(first, second)


def _less(first: Dim, second: Dim) -> bool | None:
    low, high = bounds(first - second, assumed())
    if high is not None and high < 0:
        return True
    return False if low >= 0 else None


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _shape(op: ShapeOp, _: Sequence[Known]) -> Known:
    return _array(op.dims())


def _size(op: SizeOp, _: Sequence[Known]) -> Known:
    return _array([known_product(value_shape(op.input))])


def _array(items: Sequence[MaybeDim]) -> Known:
    found = np.empty(len(items), object)
    found[:] = items
    return found


def _gather(op: GatherOp, known: Sequence[Known]) -> Known | None:
    data, indices = known
    if not all(isinstance(index, int) for index in indices.reshape(-1)):
        return None
    places = np.array(indices.tolist(), np.int64)
    size = data.shape[op.axis.value.data]
    if not np.all((-size <= places) & (places < size)):
        return None
    return np.asarray(np.take(data, places, axis=op.axis.value.data), object)


def _slice(op: SliceOp, known: Sequence[Known]) -> Known | None:
    (data,) = known
    whole = [slice(None)] * data.ndim
    for axis, start, end, step in op.spans():
        if step < 0:
            return None
        whole[axis] = slice(start, end, step)
    return data[tuple(whole)]


def _concat(op: ConcatOp, known: Sequence[Known]) -> Known:
    return np.concatenate(known, axis=op.axis.value.data)


def _same_order(op: GEOp, known: Sequence[Known]) -> Known | None:
    shape = static_shape(op.results[0].type)
    return None if shape is None else known[0].reshape(shape)


def _broadcast(op: BroadcastToOp, known: Sequence[Known]) -> Known | None:
    shape = static_shape(op.result.type)
    return None if shape is None else np.broadcast_to(known[0], shape)


def _select(_: SelectOp, known: Sequence[Known]) -> Known:
    def choose(condition: bool | None, first: MaybeDim, second: MaybeDim) -> MaybeDim:
        if condition is None:
            return first if first == second else None
        return first if condition else second

    return np.asarray(np.frompyfunc(choose, 3, 1)(*known), object)


def _product(op: ReduceProdOp, known: Sequence[Known]) -> Known | None:
    (data,) = known
    if len(op.reduced_axes) != data.ndim:
        return None
    items: list[MaybeDim] = list(data.reshape(-1))
    return _array([known_product(items)])


_subtracted = _binary(lambda a, b: a - b)


RULES: dict[type[Operation], Rule] = {
    ShapeOp: _shape,
    SizeOp: _size,
    GatherOp: _gather,
    SliceOp: _slice,
    ConcatOp: _concat,
    ReshapeOp: _same_order,
    CastOp: _same_order,
    BroadcastToOp: _broadcast,
    SelectOp: _select,
    ReduceProdOp: _product,
    AddOp: _binary(lambda a, b: a + b),
    SubOp: _subtracted,
    NegOp: lambda op, known: _subtracted(op, (np.asarray(0, object), known[0])),
    MulOp: _binary(lambda a, b: product([a, b])),
    DivOp: _binary(_divide),
    ModOp: _binary(_modulo),
    MaximumOp: _binary(lambda a, b: simplify(maximum(a, b), assumed())),
    MinimumOp: _binary(lambda a, b: simplify(minimum(a, b), assumed())),
    EqualOp: _binary(lambda a, b: prove_equal(a, b, assumed())),
    LessOp: _binary(_less),
    GreaterOp: _binary(lambda a, b: _less(b, a)),
    LessEqualOp: _binary(lambda a, b: _not(_less(b, a))),
    GreaterEqualOp: _binary(lambda a, b: _not(_less(a, b))),
}
"""The ops that shapes are computed with."""
