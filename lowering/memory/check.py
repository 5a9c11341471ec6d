"""The independent judge of a plan, written from the definition and sharing nothing with solvers.

*Buffers that may be alive at the same moment have no byte in common; every offset is aligned and
as given; everything lies inside the capacity; the peak is what it says; the lower bound is backed
by buffers that are all alive together.*
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.memory.problem import Plan, Problem

if TYPE_CHECKING:
    import numpy.typing as npt

_PAIRS = 1 << 20
"""Pairs of buffers that are looked at together; one buffer with more conflicts goes beyond."""


def check_plan(problem: Problem, plan: Plan) -> None:
    """Checks a plan against its problem.

    Raises:
        GEError: GE0505, naming the first thing that is wrong and how many are.
    """
    if found := violations(problem, plan):
        first, *others = found
        more = f" (and {len(others)} more)" if others else ""
        raise GEError("GE0505", f"{first}{more}", hint="report this as a bug of the planner")


def violations(problem: Problem, plan: Plan, limit: int = 100) -> tuple[str, ...]:
    """Returns what is wrong with a plan, at most `limit` findings; empty where it is sound.

    Looks at every two buffers that are alive together or that have bytes in common, whichever are
    fewer.
    """
    if len(plan.offsets) != len(problem.buffers):
        return (f"expected {len(problem.buffers)} offsets, got {len(plan.offsets)}",)
    checks = (_places(problem, plan), _totals(problem, plan), _overlaps(problem, plan))
    return tuple(islice((finding for check in checks for finding in check), limit))


def _places(problem: Problem, plan: Plan) -> Iterator[str]:
    for buffer, offset in zip(problem.buffers, plan.offsets, strict=True):
        if offset < 0 or offset % buffer.alignment != 0:
            yield (
                f"expected '{buffer.name}' at a multiple of {buffer.alignment} bytes, got {offset}"
            )
        if buffer.offset is not None and offset != buffer.offset:
            yield f"expected '{buffer.name}' at byte {buffer.offset}, got {offset}"
        if problem.capacity is not None and offset + buffer.size > problem.capacity:
            yield (
                f"expected '{buffer.name}' inside {problem.capacity} bytes,"
                f" got {offset} to {offset + buffer.size}"
            )


def _totals(problem: Problem, plan: Plan) -> Iterator[str]:
    tops = [0]
    for buffer, offset in zip(problem.buffers, plan.offsets, strict=True):
        if buffer.size > 0:
            padding = -buffer.size % buffer.alignment
            tops.append(offset + buffer.size + padding)
    if plan.peak != max(tops):
        yield f"expected a peak of {max(tops)} bytes, got {plan.peak}"
    if plan.lower_bound > plan.peak:
        yield f"expected a lower bound up to {plan.peak} bytes, got {plan.lower_bound}"
    yield from _apart(problem, sorted(set(problem.peak_set)))


def _apart(problem: Problem, alive: list[int]) -> Iterator[str]:
    """Buffers of the set behind the lower bound that are not alive together after all."""
    import numpy as np

    starts = np.array([problem.lifetimes[i].start for i in alive], dtype=np.int64)
    ends = np.array([problem.lifetimes[i].end for i in alive], dtype=np.int64)
    if alive and (starts.max(axis=0) < ends.min(axis=0)).any():
        return  # a moment of one stream lies in all of these lives
    for row, i in enumerate(alive):
        over = np.ones(len(alive), dtype=np.bool_)
        for start, end in zip(starts.T, ends.T, strict=True):
            over &= end[row] <= start
        over[row] = False
        for other in map(int, over.nonzero()[0]):
            names = problem.buffers[i].name, problem.buffers[alive[other]].name
            yield f"expected '{names[0]}' and '{names[1]}' of the lower bound alive together"


def _overlaps(problem: Problem, plan: Plan) -> Iterator[str]:
    import numpy as np

    used = [i for i, buffer in enumerate(problem.buffers) if buffer.size > 0]
    if not used:
        return
    starts = np.array([problem.lifetimes[i].start for i in used], dtype=np.int64)
    ends = np.array([problem.lifetimes[i].end for i in used], dtype=np.int64)
    low = np.array([plan.offsets[i] for i in used], dtype=np.int64)
    high = low + np.array([problem.buffers[i].size for i in used], dtype=np.int64)
    axes = [(low, high)]
    if starts.shape[1] == 1:
        axes.append((starts[:, 0], ends[:, 0]))
    for a, b in _pairs(*min(axes, key=lambda axis: int(_reach(*axis)[1].sum()))):
        shared = (low[a] < high[b]) & (low[b] < high[a])
        a, b = a[shared], b[shared]
        alive = (ends[a] > starts[b]).any(axis=1) & (ends[b] > starts[a]).any(axis=1)
        for i, j in zip(map(int, a[alive]), map(int, b[alive]), strict=True):
            yield _overlap(problem, plan, used[min(i, j)], used[max(i, j)])


def _overlap(problem: Problem, plan: Plan, *indices: int) -> str:
    places = [
        f"'{problem.buffers[i].name}' at bytes {plan.offsets[i]} to"
        f" {plan.offsets[i] + problem.buffers[i].size}"
        for i in indices
    ]
    return f"{' and '.join(places)} overlap while both may be alive"


def _reach(
    begins: npt.NDArray[Any], ends: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Ranges by their begin, and how many of those after each begin before it ends."""
    import numpy as np

    order = np.argsort(begins, kind="stable")
    limits = np.searchsorted(begins[order], ends[order], side="left")
    return order, np.maximum(limits - np.arange(1, len(order) + 1), 0)


def _pairs(
    begins: npt.NDArray[Any], ends: npt.NDArray[Any]
) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """Every two ranges that overlap, some at a time, and maybe others."""
    import numpy as np

    order, counts = _reach(begins, ends)
    total = np.cumsum(counts)
    cuts = np.searchsorted(total, np.arange(_PAIRS, int(total[-1]) + _PAIRS, _PAIRS))
    row = 0
    for cut in (min(int(cut) + 1, len(order)) for cut in cuts):
        some = counts[row:cut]
        first = np.repeat(np.arange(row, cut), some)
        within = np.arange(len(first)) - np.repeat(np.cumsum(some) - some, some)
        yield order[first], order[first + 1 + within]
        row = cut
