"""Reference semantics of ops that address elements by index, and of those that read shapes."""

from __future__ import annotations

import numpy as np

from ge_dialect.ge.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    OneHotOp,
    ShapeOp,
    SizeOp,
)
from ge_dialect.ge.scatter import ScatterElementsOp, ScatterNdOp
from ge_dialect.interpreters.kernels import indexing as kernels
from ge_dialect.interpreters.registry import Array, semantics


@semantics(GatherOp)
def gather(op: GatherOp, x: Array, indices: Array) -> Array:
    """Evaluates `ge.gather`."""
    return np.asarray(kernels.gather(x, indices, axis=op.axis.value.data))


@semantics(GatherElementsOp)
def gather_elements(op: GatherElementsOp, x: Array, indices: Array) -> Array:
    """Evaluates `ge.gather_elements`."""
    return kernels.gather_elements(x, indices, axis=op.axis.value.data)


@semantics(GatherNdOp)
def gather_nd(op: GatherNdOp, x: Array, indices: Array) -> Array:
    """Evaluates `ge.gather_nd`."""
    return np.asarray(kernels.gather_nd(x, indices, batch_dims=op.batch_dims.value.data))


@semantics(ScatterNdOp)
def scatter_nd(op: ScatterNdOp, x: Array, indices: Array, updates: Array) -> Array:
    """Evaluates `ge.scatter_nd`."""
    return kernels.scatter_nd(x, indices, updates, reduction=op.reduction.data)


@semantics(ScatterElementsOp)
def scatter_elements(op: ScatterElementsOp, x: Array, indices: Array, updates: Array) -> Array:
    """Evaluates `ge.scatter_elements`."""
    return kernels.scatter_elements(
        x, indices, updates, axis=op.axis.value.data, reduction=op.reduction.data
    )


@semantics(OneHotOp)
def one_hot(op: OneHotOp, indices: Array, values: Array) -> Array:
    """Evaluates `ge.one_hot`."""
    return kernels.one_hot(
        indices, depth=op.depth.value.data, values=values, axis=op.axis.value.data
    )


@semantics(ShapeOp)
def shape(op: ShapeOp, x: Array) -> Array:
    """Evaluates `ge.shape`."""
    end = None if op.end is None else op.end.value.data
    return np.asarray(x.shape[op.start.value.data : end], np.int64)


@semantics(SizeOp)
def size(_: SizeOp, x: Array) -> Array:
    """Evaluates `ge.size`."""
    return np.asarray(x.size, np.int64)
