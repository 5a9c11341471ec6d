"""Scatters that write every element of a tensor: exporters fill a new one part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.constants import ConstantOp, constant_array
from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.scatter import ScatterElementsOp, ScatterNdOp, ScatterOp
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.canonicalization.gather import MOST_INDICES
from ge_dialect.passes.canonicalization.index_grids import Follower
from ge_dialect.passes.driver import Rewrite, can_stand_for
from ge_dialect.symbols import Dim

if TYPE_CHECKING:
    import numpy.typing as npt

MOST_WRITES = 64
"""Scatters that are looked at in a row."""


@dataclass(frozen=True)
class _Part:
    """A part of a tensor that is whole along all dimensions but one.

    Attributes:
        axis: The dimension; None where the part is everything.
        start, count, step: What of it is taken.
        value: What the part becomes.
    """

    axis: int | None
    start: int
    count: int
    step: int
    value: SSAValue


def _written(op: ScatterOp) -> _Part | None:
    """Returns what a scatter replaces, None where that is not known to be such a part."""
    if op.reduction.data != "none":
        return None
    return _elements(op) if isinstance(op, ScatterElementsOp) else _slices(op)


def _elements(op: ScatterElementsOp) -> _Part | None:
    """Returns the part whose places along an axis are constant."""
    import numpy as np

    shape, rank = value_shape(op.input), len(value_shape(op.input))
    axis = op.axis.value.data % rank
    indices = constant_array(op.indices, MOST_INDICES)
    if indices is None or indices.size == 0 or indices.min() < 0:
        return None
    if any(indices.shape[other] != shape[other] for other in range(rank) if other != axis):
        return None
    counts = np.indices(indices.shape, sparse=True)[axis]
    if (start := _progression(indices, counts, axis)) is None:
        return None
    if (count := indices.shape[axis]) == shape[axis]:
        return _Part(None, 0, 0, 1, op.updates) if start == (0, 1) else None
    return _Part(axis, start[0], count, start[1], op.updates)


def _slices(op: ScatterOp) -> _Part | None:
    shape, grid = value_shape(op.input), value_shape(op.indices)[:-1]
    if len(grid) != value_shape(op.indices)[-1] or None in grid:
        return None
    starts = _constant_starts(op) if isinstance(op.indices.owner, ConstantOp) else _starts(op)
    if starts is None:
        return None
    cut = [axis for axis, size in enumerate(grid) if size != shape[axis]]
    if any(starts[axis] != (0, 1) for axis in range(len(grid)) if axis not in cut):
        return None
    if not cut:
        return _Part(None, 0, 0, 1, op.updates)
    size, (start, step) = grid[cut[0]], starts[cut[0]]
    if len(cut) > 1 or not isinstance(size, int):
        return None
    return _Part(cut[0], start, size, step, op.updates)


_Starts = list[tuple[int, int]]
"""The first coordinate along each dimension, and by how much they grow from there."""


def _progression(
    indices: npt.NDArray[Any], count: npt.NDArray[Any], axis: int
) -> tuple[int, int] | None:
    """Returns the first index and by how much they grow; None where not along the axis alone."""
    along = indices.swapaxes(axis, 0).reshape(count.size, -1)[:, 0]
    start, step = int(along[0]), int(along[1] - along[0]) if along.size > 1 else 1
    return None if step < 1 or (indices != start + step * count).any() else (start, step)


def _constant_starts(op: ScatterOp) -> _Starts | None:
    """Returns the coordinates of constant indices."""
    import numpy as np

    indices = constant_array(op.indices, MOST_INDICES)
    if indices is None or indices.size == 0 or indices.min() < 0:
        return None
    starts: _Starts = []
    for axis, count in enumerate(np.indices(indices.shape[:-1], sparse=True)):
        if (found := _progression(indices[..., axis], count, axis)) is None:
            return None
        starts.append(found)
    return starts


def _starts(op: ScatterOp) -> _Starts | None:
    """Returns those of computed coordinates that are joined."""
    joined, grid = op.indices.owner, value_shape(op.indices)[:-1]
    if not isinstance(joined, ConcatOp) or joined.dimension != len(grid):
        return None
    if any(value_shape(one)[-1] != 1 for one in joined.inputs):
        return None
    follower, starts = Follower(), list[tuple[int, int]]()
    for axis, value in enumerate(joined.inputs):
        if (index := follower.of(value)) is None or not isinstance(index.base, int):
            return None
        factors: list[Dim] = [0] * len(index.factors)
        factors[axis] = 0 if grid[axis] == 1 else 1
        if index.base < 0 or list(index.factors) != factors:
            return None
        starts.append((index.base, 1))
    return starts


class JoinWrittenParts(Rewrite):
    """`scatter_nd(scatter_nd(x, [0, 1], u), [2, 3], v)` -> `concat(u, v)`, for x of 4 rows; so for
    `scatter_elements` whose indices are those of rows.

    Parts may lie side by side along any dimension, or alternate; of a scatter that writes
    everything only its updates are left. What two scatters write stays as it is.
    """

    roots = (ScatterNdOp, ScatterElementsOp)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        parts, value = list[_Part](), op.results[0]
        while len(parts) < MOST_WRITES and isinstance(value.owner, ScatterOp):
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
                rewriter.replace(op, _join([part.value for part in parts], axis, parts[0].step))
                return


def _covered(parts: list[_Part], value: SSAValue) -> int | None:
    """Returns the dimension along which parts are all of a value, each element once, or None."""
    axis, step, count = parts[0].axis, parts[0].step, parts[0].count
    if axis is None or any((part.axis, part.step) != (axis, step) for part in parts):
        return None
    if sum(part.count for part in parts) != value_shape(value)[axis]:
        return None
    if step > 1:
        alike = step == len(parts) and all(part.count == count for part in parts)
        return axis if alike and {part.start for part in parts} == set(range(step)) else None
    end = 0
    for part in sorted(parts, key=lambda part: part.start):
        if part.start != end:
            return None
        end += part.count
    return axis


def _join(values: Sequence[SSAValue], axis: int, step: int) -> list[Operation]:
    """Returns ops that put parts side by side or, with a step, alternately; parts that are
    transposed alike are transposed afterwards."""
    owners = [value.owner for value in values]
    moves = [owner for owner in owners if isinstance(owner, TransposeOp)]
    perms = {move.permutation for move in moves}
    if len(moves) == len(values) and len(perms) == 1:
        (perm,) = perms
        joined = _join([move.input for move in moves], perm[axis], step)
        return [*joined, TransposeOp(joined[-1].results[0], perm)]
    if step == 1:
        return [ConcatOp(values, axis)]
    shape = value_shape(values[0])
    columns = [ReshapeOp(value, (*shape[: axis + 1], 1, *shape[axis + 1 :])) for value in values]
    concat = ConcatOp([column.result for column in columns], axis + 1)
    size = shape[axis]
    assert isinstance(size, int)
    whole = (*shape[:axis], size * step, *shape[axis + 1 :])
    return [*columns, concat, ReshapeOp(concat.result, whole)]


SCATTER_PATTERNS = (JoinWrittenParts,)
