"""The independent judge of a plan, written from the definition and sharing nothing with solvers.

*Buffers that may be alive at the same moment have no byte in common; every offset is aligned and
as given; everything lies inside the capacity; the peak is what it says; the lower bound is backed
by buffers that are all alive together.*
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.memory.problem import Plan, Problem


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

    Quadratic in the number of buffers, a row at a time: 20,000 take seconds.
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
    starts = np.array([problem.lifetimes[i].start for i in used], dtype=np.int64).T.copy()
    ends = np.array([problem.lifetimes[i].end for i in used], dtype=np.int64).T.copy()
    low = np.array([plan.offsets[i] for i in used], dtype=np.int64)
    high = low + np.array([problem.buffers[i].size for i in used], dtype=np.int64)
    for row, i in enumerate(used):
        rest = slice(row + 1, None)
        shared = ((low[rest] < high[row]) & (low[row] < high[rest])).nonzero()[0] + row + 1
        dead_before = born_after = np.ones(len(shared), dtype=np.bool_)
        for start, end in zip(starts, ends, strict=True):
            dead_before = dead_before & (end[row] <= start[shared])
            born_after = born_after & (end[shared] <= start[row])
        for other in map(int, shared[~(dead_before | born_after)]):
            a, b = problem.buffers[i], problem.buffers[used[other]]
            yield (
                f"'{a.name}' at bytes {low[row]} to {high[row]} and '{b.name}' at bytes"
                f" {low[other]} to {high[other]} overlap while both may be alive"
            )
