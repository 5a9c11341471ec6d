"""Scatters that write every element of a tensor: exporters fill a new one part by part."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.constants import ConstantOp, constant_array
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.scatter import ScatterNdOp
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.canonicalization.index_grids import Follower
from ge_dialect.passes.driver import Rewrite, can_stand_for
from ge_dialect.symbols import Dim

MOST_WRITES = 64
"""Scatters that are looked at in a row."""
MOST_INDICES = 1 << 20


@dataclass(frozen=True)
class _Part:
    """A part of a tensor that is whole along all dimensions but one.

    Attributes:
        axis: The dimension; None where the part is everything.
        start, count: What of it is taken.
        value: What the part becomes.
    """

    axis: int | None
    start: int
    count: int
    value: SSAValue


def _written(op: ScatterNdOp) -> _Part | None:
    """Returns what a scatter replaces, None where that is not known to be such a part."""
    shape, grid = value_shape(op.input), value_shape(op.indices)[:-1]
    if op.reduction.data != "none" or len(grid) != value_shape(op.indices)[-1] or None in grid:
        return None
    starts = _constant_starts(op) if isinstance(op.indices.owner, ConstantOp) else _starts(op)
    if starts is None:
        return None
    cut = [
        (axis, start, size)
        for axis, (start, size) in enumerate(zip(starts, grid, strict=True))
        if size != shape[axis]
    ]
    if not cut:
        return None if any(starts) else _Part(None, 0, 0, op.updates)
    (axis, start, size), *others = cut
    if others or any(starts[:axis]) or any(starts[axis + 1 :]) or not isinstance(size, int):
        return None
    return _Part(axis, start, size, op.updates)


def _constant_starts(op: ScatterNdOp) -> list[int] | None:
    """Returns the first coordinate along each dimension, where they count up from there."""
    import numpy as np

    indices = constant_array(op.indices, MOST_INDICES)
    if indices is None or indices.size == 0 or indices.min() < 0:
        return None
    starts = [int(start) for start in indices.reshape(-1, indices.shape[-1])[0]]
    coordinates = np.indices(indices.shape[:-1], sparse=True)
    for axis, (start, count) in enumerate(zip(starts, coordinates, strict=True)):
        if (indices[..., axis] != start + count).any():
            return None
    return starts


def _starts(op: ScatterNdOp) -> list[int] | None:
    """Returns the same of computed coordinates that are joined."""
    joined, grid = op.indices.owner, value_shape(op.indices)[:-1]
    if not isinstance(joined, ConcatOp) or joined.dimension != len(grid):
        return None
    if any(value_shape(one)[-1] != 1 for one in joined.inputs):
        return None
    follower, starts = Follower(), list[int]()
    for axis, value in enumerate(joined.inputs):
        if (index := follower.of(value)) is None or not isinstance(index.base, int):
            return None
        factors: list[Dim] = [0] * len(index.factors)
        factors[axis] = 0 if grid[axis] == 1 else 1
        if index.base < 0 or list(index.factors) != factors:
            return None
        starts.append(index.base)
    return starts


class JoinWrittenParts(Rewrite):
    """`scatter_nd(scatter_nd(x, [0, 1], u), [2, 3], v)` -> `concat(u, v)`, for x of 4 rows.

    Parts may lie side by side along any dimension; of a scatter that writes everything only its
    updates are left. What two scatters write stays as it is.
    """

    roots = (ScatterNdOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        parts, value = list[_Part](), op.results[0]
        while len(parts) < MOST_WRITES and isinstance(value.owner, ScatterNdOp):
            if (part := _written(value.owner)) is None:
                return
            if part.axis is None and not parts:
                if can_stand_for(part.value, op.results[0]):
                    rewriter.replace(op, (), [part.value])
                return
            parts.append(part)
            value = value.owner.input
            if (axis := _covered(parts, value)) is not None:
                parts.sort(key=lambda part: part.start)
                rewriter.replace(op, ConcatOp([part.value for part in parts], axis))
                return


def _covered(parts: list[_Part], value: SSAValue) -> int | None:
    """Returns the dimension along which parts are all of a value, each element once, or None."""
    axis = parts[0].axis
    if axis is None or any(part.axis != axis for part in parts):
        return None
    size = value_shape(value)[axis]
    if sum(part.count for part in parts) != size:
        return None
    end = 0
    for part in sorted(parts, key=lambda part: part.start):
        if part.start != end:
            return None
        end += part.count
    return axis


SCATTER_PATTERNS = (JoinWrittenParts,)
