"""Operators that address elements by indices."""

from __future__ import annotations

import numpy as np

from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds
from tests.random_onnx.values import BOOL, I64, Array, DType, Shape, Value

_INDEX_TYPES = (I64, np.dtype(np.int32))


def _indices(g: Grower, shape: Shape, limit: int, dtype: DType | None = None) -> Array:
    """Returns indices below a limit, some of them counted from the back."""
    rng = np.random.default_rng(g.int(0, 99))
    low = -limit if g.flag() else 0
    return np.asarray(rng.integers(low, limit, shape)).astype(dtype or g.one_of(_INDEX_TYPES))


@builds("Gather")
def gather(g: Grower, op_type: str) -> None:
    """Indices of any rank."""
    value = g.operand(g.types(op_type), (1, 4), empty=False)
    axis = g.axis(value.rank)
    indices = _indices(g, g.shape(0, 2), value.shape[axis])
    g.emit(op_type, [value, g.given(indices)], axis=axis if axis or g.flag() else None)


@builds("GatherElements")
def gather_elements(g: Grower, op_type: str) -> None:
    """Indices of any number along the axis."""
    value = g.operand(g.types(op_type), (1, 3), empty=False)
    axis = g.axis(value.rank)
    axis = value.rank - 1 if axis == -1 else axis
    shape = list(value.shape)
    shape[axis] = g.int(0 if g.rarely() else 1, 5)
    indices = _indices(g, tuple(shape), value.shape[axis])
    g.emit(op_type, [value, g.given(indices)], axis=axis)


def _rows(g: Grower, shape: Shape, lead: Shape) -> Array:
    """Returns rows of indices into the first dimensions of a shape."""
    count = g.int(1, len(shape))
    columns = [_indices(g, lead, dim, I64) for dim in shape[:count]]
    return np.stack(columns, axis=-1)


@builds("GatherND")
def gather_nd(g: Grower, op_type: str) -> None:
    """With and without batches."""
    value = g.operand(g.types(op_type), (1, 4), empty=False)
    batch = g.int(0, min(value.rank - 1, 2))
    lead = (*value.shape[:batch], *g.shape(0 if batch else 1, 2))
    rows = _rows(g, value.shape[batch:], lead)
    g.emit(op_type, [value, g.given(rows)], batch_dims=batch or None)


def _reductions(g: Grower, op_type: str, value: Value) -> str | None:
    since = g.version(op_type)
    known = ["none", *(("add", "mul") if since >= 16 else ())]
    if since >= 18:
        known += ["max", "min"]
    if value.dtype.kind == "b":
        known = ["none"]
    return None if since < 16 else g.one_of((None, *known))


@builds("ScatterND")
def scatter_nd(g: Grower, op_type: str) -> None:
    """Rows that are all different: in which order the others were written ONNX leaves open."""
    value = g.operand(g.types(op_type), (1, 3), empty=False, finite=True)
    reduction = _reductions(g, op_type, value)
    rows = _rows(g, value.shape, (g.int(1, 4),))
    seen = np.unique(np.mod(rows, value.shape[: rows.shape[-1]]), axis=0, return_index=True)[1]
    rows = rows[np.sort(seen)]
    updates = g.fresh(value.dtype, (len(rows), *value.shape[rows.shape[-1] :]), "normal")
    g.emit(op_type, [value, g.given(rows), updates], reduction=reduction)


@builds("ScatterElements")
def scatter_elements(g: Grower, op_type: str) -> None:
    """Indices that are all different along the axis, unless they are added up."""
    value = g.operand(g.types(op_type), (1, 3), empty=False, finite=True)
    axis = g.axis(value.rank)
    reduction = _reductions(g, op_type, value)
    shape = [g.int(1, dim) for dim in value.shape]
    rng = np.random.default_rng(g.int(0, 99))
    limit = value.shape[axis]
    keys = rng.random([*shape[: axis % value.rank], limit, *_after(shape, axis)])
    indices = np.take(np.argsort(keys, axis=axis), range(shape[axis]), axis=axis)
    if reduction in ("add", "max", "min") and g.flag():
        indices = rng.integers(-limit, limit, shape)
    updates = g.fresh(value.dtype, shape, "normal")
    indices = np.asarray(indices).astype(g.one_of(_INDEX_TYPES))
    g.emit(op_type, [value, g.given(indices), updates], axis=axis, reduction=reduction)


def _after(shape: list[int], axis: int) -> list[int]:
    return shape[axis % len(shape) + 1 :]


@builds("TensorScatter")
def tensor_scatter(g: Grower, op_type: str) -> None:
    """Into a cache from its start on, from a place of each batch on, or around its end."""
    cache = g.operand(g.types(op_type), (2, 4), empty=False, finite=True)
    axis = g.int(1, cache.rank - 1)
    rows, length = g.int(1, cache.shape[axis]), cache.shape[axis]
    update = g.fresh(cache.dtype, (*cache.shape[:axis], rows, *cache.shape[axis + 1 :]), "normal")
    mode = g.one_of((None, "linear", "circular"))
    most = length if mode == "circular" else length - rows
    rng = np.random.default_rng(g.int(0, 99))
    first = g.maybe(rng.integers(0, most + 1, cache.shape[:1]))
    given = [cache, update] if first is None else [cache, update, g.given(first)]
    g.emit(op_type, given, axis=g.one_of((axis, axis - cache.rank)), mode=mode)


@builds("OneHot")
def one_hot(g: Grower, op_type: str) -> None:
    """Indices outside of the depth give off everywhere."""
    depth = g.int(1, 4)
    rng = np.random.default_rng(g.int(0, 99))
    indices = rng.integers(-depth, depth + g.int(0, 2), g.shape(1, 2))
    dtype = g.dtype([dtype for dtype in g.types(op_type, 2) if dtype != BOOL])
    values = g.fresh(dtype, (2,), "normal")
    g.emit(
        op_type,
        [g.given(np.asarray(indices).astype(I64)), g.number(depth), values],
        axis=g.maybe(g.int(-indices.ndim - 1, indices.ndim)),
    )
