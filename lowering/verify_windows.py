"""The check of tiles that overlap: whether each has all that windows read of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from xdsl.ir import SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.types import tensor_of
from ge_dialect.ge.windows import slides, window_axes, window_span
from ge_dialect.ge_exec.tiling import Cut, TileBuffer, Tiling, cut_text
from ge_dialect.lowering.tile_body import TileCutter

Span = tuple[int, int]


def check_reach(
    op: GEOp,
    cutter: TileCutter,
    names: Mapping[SSAValue, str],
    buffers: Mapping[str, TileBuffer],
) -> str | None:
    """Returns what the tile of an operand lacks in some turn; None where nothing is missing.

    Args:
        op: Of the body of a kernel.
        cutter: Of the body.
        names: Of the values that have tiles.
        buffers: By name.
    """
    result = op.results[0]
    if result not in names:
        return None
    own = buffers[names[result]]
    for index, operand in enumerate(operands_of(op)):
        if operand not in names:
            continue
        buffer = buffers[names[operand]]
        for axis, made in _axes(op, index, cutter):
            ends = (own, made), (buffer, axis)
            if (missing := _missing(op, cutter.tiling, *ends, operand)) is not None:
                return missing
    return None


def _missing(
    op: GEOp,
    tiling: Tiling,
    made: tuple[TileBuffer, int],
    read: tuple[TileBuffer, int],
    operand: SSAValue,
) -> str | None:
    """Returns what a dimension of an operand lacks of what a dimension of the result is made of."""
    (own, own_axis), (buffer, axis) = made, read
    wanted = _cut_for(op, axis, own.cuts[own_axis])
    cut = set(buffer.cuts[axis])
    if not cut <= set(wanted) or (slides(op) and len(cut) < len(wanted)):
        return (
            f"'{buffer.name}' is cut along {cut_text(buffer.cuts[axis])} in dimension {axis},"
            f" expected {cut_text(wanted)}, as '{own.name}' is"
        )
    if not cut or (not slides(op) and _is_same(own, own_axis, buffer, axis)):
        return None  # a whole has every part
    size = tensor_of(operand).get_shape()[axis]
    whole = tensor_of(op.results[0]).get_shape()[own_axis]
    for spans in turns(tiling, own.cuts[own_axis], buffer.cuts[axis]):
        span = own.span(own_axis, spans, whole)
        start, end = window_span(op, axis, span) if slides(op) else span
        has = buffer.span(axis, spans, size)
        if has[0] > max(0, start) or has[1] < min(size, end):
            return (
                f"'{buffer.name}' has elements {has[0]} to {has[1]} of dimension {axis}, where"
                f" '{own.name}' is computed from {max(0, start)} to {min(size, end)}"
            )
    return None


def _is_same(own: TileBuffer, made: int, buffer: TileBuffer, axis: int) -> bool:
    """Whether the tile of an operand has exactly the elements of that of the result."""
    alike = own.cuts[made] == buffer.cuts[axis]
    return alike and own.halo(made) is None and buffer.halo(axis) is None


def _cut_for(op: GEOp, axis: int, cut: Cut) -> Cut:
    """Returns how an operand has to be cut for a result that is cut."""
    if not slides(op):
        return cut
    start, after = (window_span(op, axis, (place, place + 1))[0] for place in (0, 1))
    return tuple((loop, stride * (after - start)) for loop, stride in cut)


def _axes(op: GEOp, index: int, cutter: TileCutter) -> Sequence[tuple[int, int]]:
    """Returns the axes of an operand that are looked at, with those of the result they make."""
    if slides(op):
        return [(axis, axis) for axis in window_axes(op)] if index == 0 else ()
    return cutter.aligned[op].get(index, ())


def turns(tiling: Tiling, *cuts: Cut) -> Iterator[list[Span]]:
    """Yields spans of all loops, for every turn of the loops of some cuts."""
    used = sorted({loop for cut in cuts for loop, _ in cut})
    for indices in product(*(range(tiling.loops[loop].trips) for loop in used)):
        found = [(0, 1)] * len(tiling.loops)
        for loop, index in zip(used, indices, strict=True):
            found[loop] = tiling.loops[loop].span(index)
        yield found


def largest_tile(
    tiling: Tiling, buffer: TileBuffer, shape: Sequence[int], first: Sequence[Span]
) -> list[int]:
    """Returns the most elements that tiles of a value of some shape have along each dimension.

    Args:
        tiling: Of the kernel.
        buffer: Of the value.
        shape: Of the value.
        first: Spans of all loops in the first turn.
    """
    found: list[int] = []
    for axis, size in enumerate(shape):
        if buffer.halo(axis) is None:
            start, end = buffer.span(axis, first, size)  # the first is the largest
            found.append(end - start)
        else:
            ends = [buffer.span(axis, one, size) for one in turns(tiling, buffer.cuts[axis])]
            found.append(max([end - start for start, end in ends]))
    return found


def probes(tiling: Tiling) -> Iterator[list[Span]]:
    """Yields tiles in which what one loop cuts is told from what others cut: first and last turns,
    then one step of each loop beside all steps of others."""
    outer = tiling.outer
    most = max((loop.trips for loop in outer), default=1)
    if most == 1:
        return
    overlap = any(halo is not None for buffer in tiling.buffers for halo in buffer.halos)
    middle = {1, most // 2, most - 2} if overlap else set[int]()
    for turn in sorted(({0, most - 1} | middle) & set(range(most))):
        yield [loop.span(min(turn, loop.trips - 1)) for loop in outer]
    nested = [cut for buffer in tiling.buffers for cut in buffer.cuts if len(cut) > 1]
    outside = [_outside(nested, index) for index in range(len(outer))]
    for index in range(len(outer)):
        single, waiting = {index}, [index]
        while waiting:  # a loop of one step needs those outside of it to be of one step
            more = outside[waiting.pop()] - single
            single |= more
            waiting += more
        yield [(0, 1) if i in single else (0, loop.extent) for i, loop in enumerate(outer)]


def _outside(nested: Sequence[Cut], loop: int) -> set[int]:
    """Returns the loops outside of one in some dimension: only of one step are tiles contiguous."""
    found: set[int] = set()
    for cut in nested:
        order = [index for index, _ in cut]
        if loop in order:
            found.update(order[: order.index(loop)])
    return found
