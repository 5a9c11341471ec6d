"""Data movement: pieces, permutations, padding."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds
from tests.random_onnx.values import I64, Value

_FAR = (-(2**63), 2**63 - 1, 2**31 - 1, -(2**31), 100, -100)


@builds("Transpose")
def transpose(g: Grower, op_type: str) -> None:
    """Any permutation, or the default."""
    value = g.operand(g.types(op_type))
    perm = list(g.draw(st.permutations(range(value.rank))))
    g.emit(op_type, [value], perm=g.maybe(perm) if value.rank else None)


@builds("Concat")
def concat(g: Grower, op_type: str) -> None:
    """One to three parts, of which some have no element."""
    first = g.operand(g.types(op_type), (1, 4))
    axis = g.axis(first.rank)
    place = axis % first.rank

    def fits(value: Value) -> bool:
        rest = [list(v.shape) for v in (first, value)]
        return (
            value.dtype == first.dtype
            and value.rank == first.rank
            and all(a == b for i, (a, b) in enumerate(zip(*rest, strict=True)) if i != place)
        )

    parts = [first]
    for _ in range(g.int(0, 2)):
        known = [value for value in g.values if fits(value)]
        if g.flag():
            parts.append(g.one_of(known))
        else:
            dims = list(first.shape)
            dims[place] = g.int(0 if g.rarely() else 1, 3)
            parts.append(g.fresh(first.dtype, dims))
    g.emit(op_type, parts if g.flag() else parts[::-1], axis=axis)


@builds("Split")
def split(g: Grower, op_type: str) -> None:
    """Into parts of given sizes, or into equal ones; from opset 18 on the last may be smaller."""
    value = g.operand(g.types(op_type), (1, 4))
    axis = g.axis(value.rank)
    size = value.shape[axis]
    if g.flag():
        sizes = [g.int(0, size)]
        sizes.append(size - sizes[0])
        g.emit(op_type, [value, g.ints(sizes)], 2, axis=axis)
        return
    count = g.int(1, 3)
    if g.opset < 18:
        count = count if size % count == 0 else 1
        g.emit(op_type, [value], count, axis=axis)
        return
    # The last part is what is left; of fewer elements than parts ONNX does not say what it is.
    count = count if -(-size // count) * (count - 1) < size else 1
    g.emit(op_type, [value], count, axis=axis, num_outputs=count)


@builds("Slice")
def slice_(g: Grower, op_type: str) -> None:
    """Starts, ends and steps of both signs, inside and far outside."""
    value = g.operand(g.types(op_type), (1, 4))
    axes = g.axes(value.rank, 1)
    bounds = [g.int(-6, 6) if g.int(0, 3) else g.one_of(_FAR) for _ in range(2 * len(axes))]
    steps = [g.one_of((1, 1, 2, 3, -1, -2)) for _ in axes]
    for i, (axis, step) in enumerate(zip(axes, steps, strict=True)):
        if step < 0:
            bounds[i] = max(bounds[i], -value.shape[axis])
    operands = [g.ints(bounds[: len(axes)]), g.ints(bounds[len(axes) :]), g.ints(axes)]
    if any(step != 1 for step in steps) or g.flag():
        operands.append(g.ints(steps))
    g.emit(op_type, [value, *operands])


@builds("Tile")
def tile(g: Grower, op_type: str) -> None:
    """Every dimension up to three times."""
    value = g.operand(g.types(op_type), (0, 3), test=lambda value: value.array.size <= 60)
    repeats = [g.int(0 if g.rarely() else 1, 3) for _ in value.shape]
    g.emit(op_type, [value, g.ints(repeats)])


@builds("Pad")
def pad(g: Grower, op_type: str) -> None:
    """All modes, perhaps of some axes."""
    modes = ("constant", "reflect", "edge", *(("wrap",) if g.version(op_type) >= 19 else ()))
    mode = g.one_of((None, *modes))
    value = g.operand(
        g.types(op_type), (1, 4), empty=False, test=lambda value: value.array.size <= 100
    )
    axes = g.axes(value.rank, 1) if g.version(op_type) >= 18 and g.flag() else None
    dims = value.shape if axes is None else tuple(value.shape[axis] for axis in axes)
    pads = [_pad(g, mode, dim) for _ in range(2) for dim in dims]
    fill = None
    if mode in (None, "constant"):
        fill = g.maybe(g.fresh(value.dtype, (), "special"))
    axes_operand = None if axes is None else g.ints(axes)
    g.emit(op_type, [value, g.ints(pads), fill, axes_operand], mode=mode)


def _pad(g: Grower, mode: str | None, dim: int) -> int:
    if mode in (None, "constant"):
        return g.int(0, 2)
    return g.int(0, min(dim - 1, 2)) if mode == "reflect" else g.int(0, min(dim, 2))


@builds("Trilu")
def trilu(g: Grower, op_type: str) -> None:
    """Both triangles, from any diagonal."""
    value = g.operand(g.types(op_type), (2, 4))
    diagonal = g.number(g.int(-5, 5)) if g.flag() else None
    g.emit(op_type, [value, diagonal], upper=g.one_of((None, 0, 1)))


@builds("DepthToSpace")
def depth_to_space(g: Grower, op_type: str) -> None:
    """Blocks of 1 and 2, in both orders."""
    block = g.int(1, 2)
    value = g.operand(
        g.types(op_type),
        (4, 4),
        test=lambda value: value.shape[1] % block**2 == 0,
    )
    if value.shape[1] % block**2:
        value = g.fresh(value.dtype, (g.int(1, 2), block**2 * g.int(1, 2), 2, 3))
    g.emit(op_type, [value], blocksize=block, mode=g.one_of((None, "DCR", "CRD")))


@builds("SpaceToDepth")
def space_to_depth(g: Grower, op_type: str) -> None:
    """Blocks of 1 to 3."""
    block = g.int(1, 3)
    shape = (g.int(1, 2), g.int(1, 3), block * g.int(1, 2), block * g.int(1, 2))
    g.emit(op_type, [g.fresh(g.dtype(g.types(op_type)), shape)], blocksize=block)


@builds("ReverseSequence")
def reverse_sequence(g: Grower, op_type: str) -> None:
    """Time first or batch first; every sequence has a length of its own."""
    value = g.operand(g.types(op_type), (2, 4), empty=False)
    time = g.int(0, 1)
    rng = np.random.default_rng(g.int(0, 99))
    lengths = rng.integers(1, value.shape[time] + 1, value.shape[1 - time])
    default = time == 0 and g.flag()
    given: dict[str, Any] = {} if default else {"time_axis": time, "batch_axis": 1 - time}
    g.emit(op_type, [value, g.given(lengths.astype(I64))], **given)
