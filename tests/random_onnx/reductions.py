"""Reductions, softmax, and what searches along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds
from tests.random_onnx.values import Value, is_float, names

_REDUCE = names(
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
    "ReduceSum ReduceSumSquare"
)

_OVERFLOWING = frozenset(("ReduceL1", "ReduceL2", "ReduceMean"))

# Of no element at all they are 0 or 1; what the others are differs between opsets.
_OF_NOTHING = frozenset(("ReduceSum", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare"))


def _is_small(op_type: str) -> Callable[[Value], bool] | None:
    """Returns what keeps integers from overflowing on the way, where they do in the reference."""
    if op_type not in _OVERFLOWING:
        return None
    return lambda value: is_float(value.dtype) or bool((np.abs(value.array) <= 10).all())


@builds(*_REDUCE)
def reduce_op(g: Grower, op_type: str) -> None:
    """Axes as an attribute or an operand, whichever the opset has; none are all, or none."""
    since = g.version(op_type)
    empty = op_type in _OF_NOTHING
    log = op_type.startswith("ReduceLog")
    dtypes = g.floats(op_type) if log else g.types(op_type)
    small = _is_small(op_type)
    kind = "special" if small is None else "whole"
    value = g.operand(dtypes, (log, 4), kind=kind, empty=empty, finite=log, test=small)
    axes = g.axes(value.rank) if g.int(0, 3) else None
    keepdims = g.one_of((None, 0, 1))
    if since < (13 if op_type == "ReduceSum" else 18):
        g.emit(op_type, [value], axes=axes or None, keepdims=keepdims)
        return
    noop = g.one_of((None, 0, 1))
    operand = None if axes is None else g.ints(axes)
    g.emit(op_type, [value, operand], keepdims=keepdims, noop_with_empty_axes=noop)


@builds("Softmax", "LogSoftmax", "Hardmax")
def softmax(g: Grower, op_type: str) -> None:
    """Along one axis."""
    value = g.operand(g.types(op_type), (1, 4), empty=False, finite=True)
    g.emit(op_type, [value], axis=g.maybe(g.axis(value.rank)))


@builds("ArgMax", "ArgMin")
def arg_reduce(g: Grower, op_type: str) -> None:
    """The first or the last of equal elements."""
    value = g.operand(g.types(op_type), (1, 4), empty=False, finite=True)
    g.emit(
        op_type,
        [value],
        axis=g.maybe(g.axis(value.rank)),
        keepdims=g.one_of((None, 0, 1)),
        select_last_index=g.one_of((None, 0, 1)),
    )


@builds("CumSum")
def cumsum(g: Grower, op_type: str) -> None:
    """Forwards or backwards, with or without the element itself."""
    value = g.operand(g.types(op_type), (1, 3), empty=False)
    axis = g.number(g.axis(value.rank))
    flags: dict[str, Any] = {name: g.one_of((None, 0, 1)) for name in ("exclusive", "reverse")}
    g.emit(op_type, [value, axis], **flags)


@builds("TopK")
def top_k(g: Grower, op_type: str) -> None:
    """Unsorted only where that is the same."""
    value = g.operand(g.types(op_type), (1, 3), empty=False, finite=True)
    axis = g.axis(value.rank)
    count = g.int(0, value.shape[axis])
    ordered = g.one_of((None, 1) if count != 1 else (None, 0, 1))
    place = axis if g.flag() or axis not in (-1, value.rank - 1) else None
    g.emit(
        op_type,
        [value, g.ints([count])],
        2,
        axis=place,
        largest=g.one_of((None, 0, 1)),
        sorted=ordered,
    )
