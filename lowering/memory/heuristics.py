"""Greedy placement: several orders, first fit and best fit, the best plan kept.

Every run places one buffer after the other at the lowest (or tightest) gap between the buffers
that are placed and conflict with it. A run stops as soon as it can no longer beat the best plan,
the search as soon as a plan meets the lower bound. Budgets count placements, not seconds, so that
the same problem gives the same plan on every machine.

Source: the orders are those of TensorFlow Lite's and XLA's planners (size, length of life, and the
product of both); moving whatever stuck out to the front is squeaky wheel optimisation, Joslin and
Clements (1999).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.memory.api import EFFORT
from ge_dialect.lowering.memory.at_once import place_at_once
from ge_dialect.lowering.memory.conflicts import Conflicts
from ge_dialect.lowering.memory.exact import fit
from ge_dialect.lowering.memory.problem import Plan, Problem
from ge_dialect.lowering.memory.spans import Spans, components
from ge_dialect.lowering.memory.tree import Answer

_REPAIR_ROUNDS = 64
_WORK = 500_000_000
_WORK_PER_PLACEMENT = 3_000
"""Limits of the search: rounds of repair, and all work, in conflicts that are looked at, where the
fixed cost of placing one buffer counts as so many."""

_PROOF_EFFORT = 200_000
"""Nodes of exact search, at least, to decide whether the capacity is enough."""

_BISECTIONS = 4

_NAMES_SHOWN = 5


class MemoryFullError(GEError):
    """A problem does not fit its capacity.

    Attributes:
        plan: The best plan found; its peak is above the capacity.
        missing: Bytes by which that plan exceeds the capacity.
        live: Indices of the buffers alive at the heaviest moment, the largest first.
        proved: Whether no plan at all can fit.
    """

    def __init__(self, problem: Problem, plan: Plan, capacity: int, *, proved: bool = False):
        buffers = problem.buffers
        self.plan = plan
        self.missing = plan.peak - capacity
        self.live = tuple(sorted(problem.peak_set, key=lambda i: (-buffers[i].footprint, i)))
        self.proved = proved or plan.lower_bound > capacity
        shown = [f"'{buffers[i].name}' ({buffers[i].footprint})" for i in self.live[:_NAMES_SHOWN]]
        more = f" and {len(self.live) - len(shown)} more" if len(self.live) > len(shown) else ""
        proof = "proved" if self.proved else "not proved"
        youngest = max(self.live, key=lambda i: problem.lifetimes[i].start, default=None)
        born = "" if youngest is None else f" when '{buffers[youngest].name}' begins"
        super().__init__(
            "GE0502" if self.proved else "GE0503",
            f"{problem.space} is full: {plan.peak} bytes needed, {capacity} available,"
            f" {self.missing} missing ({proof}; lower bound {plan.lower_bound});"
            f" alive at the peak,{born}: {', '.join(shown)}{more}",
            hint=f"raise the limit to {plan.peak} bytes, or reduce the batch or sequence length",
        )


def solve(problem: Problem, effort: int = EFFORT) -> Plan:
    """Returns the best plan found, or the first one that fits where the best is hard to find.

    Deterministic. Heuristics come first; where they miss the lower bound, exact search looks for a
    lower peak, and where the capacity is exceeded, decides whether it is enough.

    Args:
        problem: With or without a capacity.
        effort: Nodes of exact search for a lower peak; some 20,000 take a second. 0: heuristics
            only. The capacity gets 200,000, or more if the effort is more.

    Raises:
        GEError: The best plan exceeds the capacity (`MemoryFullError`: GE0502 where a bound or a
            search proves that none fits, GE0503 where one may), or buffers of given places
            overlap (GE0504).
    """
    capacity = problem.capacity
    found = place_at_once(problem)
    if found is not None and (capacity is None or found.peak <= capacity):
        return found
    search = _Search(problem, Conflicts(problem))
    search.place(effort)
    if capacity is None or search.peak <= capacity:
        return search.minimise(effort)
    answer = search.decide(capacity, effort)
    if answer is Answer.FITS:
        return search.plan()
    best = search.minimise(effort)  # for the hint; it may fit after all where nothing is proved
    if best.peak <= capacity:
        return best
    raise MemoryFullError(problem, best, capacity, proved=answer is Answer.INFEASIBLE)


def minimise(problem: Problem, effort: int = EFFORT) -> Plan:
    """Returns the plan of the lowest peak found, whatever the capacity.

    Args:
        problem: Its capacity is ignored.
        effort: As of `solve`.

    Raises:
        GEError: GE0504, buffers of given places overlap.
    """
    search = _Search(problem, Conflicts(problem))
    search.place(effort)
    return search.minimise(effort)


class _Search:
    """The best placement so far, and what is needed to look for a better one."""

    def __init__(self, problem: Problem, conflicts: Conflicts):
        self.problem = problem
        self.conflicts = conflicts
        self.bound = problem.lower_bound
        buffers = problem.buffers
        self.sizes: npt.NDArray[Any] = np.array([b.footprint for b in buffers], dtype=np.int64)
        self.alignments = [b.alignment for b in buffers]
        self.fixed = [i for i, b in enumerate(buffers) if b.offset is not None and b.footprint]
        self.free = [i for i, b in enumerate(buffers) if b.offset is None and b.footprint]
        self.best: npt.NDArray[Any] | None = None
        self.best_order: Sequence[int] = ()
        self.peak = int(self.sizes.sum()) + problem.fixed_top + sum(self.alignments) + 1
        self.work = 0
        self.work_per_run = len(buffers) * _WORK_PER_PLACEMENT + conflicts.count
        self._check_fixed()

    @property
    def done(self) -> bool:
        """Whether the best placement cannot be improved."""
        return self.peak == self.bound

    def plan(self) -> Plan:
        """The best placement; buffers without bytes lie at their given place, or at 0."""
        assert self.best is not None  # the first run accepts whatever it finds
        given = [buffer.offset for buffer in self.problem.buffers]
        offsets = tuple(
            max(int(found), 0) if place is None else place
            for found, place in zip(self.best, given, strict=True)
        )
        return Plan(offsets, self.peak, self.bound)

    def place(self, effort: int) -> None:
        """Tries one heuristic after the other, until one meets the bound.

        The later ones are left out on one stream, where search does better.
        """
        single = self.conflicts.starts.shape[1] == 1
        for order, best_fit in self.attempts():
            if best_fit and effort and single and self.parts is not None:
                return
            self.run(order, best_fit)
            if self.done:
                return
        self.repair()

    def minimise(self, effort: int) -> Plan:
        """Looks for a lower peak, as far as the effort goes."""
        if effort and not self.done and self.parts is not None:
            self.descend(effort)
        return self.plan()

    @cached_property
    def parts(self) -> list[Spans] | None:
        """The parts for exact search; None where they are too large."""
        return components(self.problem, self.conflicts)

    def descend(self, effort: int) -> None:
        """Looks for the lower bound with half of the effort, then for half of what is missing.

        However many buffers there are, each search may at least place all of them once.
        """
        once = len(self.free) + len(self.free) // 4
        self.exact(self.bound, max(effort // 2, once))
        missed = self.bound
        for _ in range(_BISECTIONS):
            if self.done or self.peak - missed <= 1:
                return
            goal = (missed + self.peak) // 2
            if self.exact(goal, max(effort // (2 * _BISECTIONS), once)) is not Answer.FITS:
                missed = goal

    def decide(self, capacity: int, effort: int) -> Answer:
        """Looks for the lower bound, then only for what fits the capacity."""
        if self.bound > capacity:
            return Answer.INFEASIBLE
        if not effort or self.parts is None:
            return Answer.UNKNOWN
        if self.bound < capacity and self.exact(self.bound, effort // 2) is Answer.FITS:
            return Answer.FITS
        return self.exact(capacity, max(effort, _PROOF_EFFORT))

    def exact(self, goal: int, nodes: int) -> Answer:
        """Looks for a placement within `goal` bytes, and keeps it."""
        answer, offsets = fit(self.problem, self.conflicts, goal, nodes, self.parts)
        if answer is Answer.FITS:
            self.best = np.array(offsets, dtype=np.int64)
            self.peak = int((self.best + self.sizes)[self.sizes > 0].max(initial=0))
        return answer

    @property
    def exhausted(self) -> bool:
        """Whether the budget does not allow another run."""
        return self.work + self.work_per_run > _WORK

    def attempts(self) -> Iterator[tuple[list[int], bool]]:
        """Orders of placement to try with first and best fit, the most promising first."""
        reach = np.maximum(self.conflicts.ends - self.conflicts.starts, 0).sum(axis=1)
        sizes, lengths = self.sizes.tolist(), reach.tolist()
        keys: tuple[Callable[[int], tuple[int, ...]], ...] = (
            lambda i: (-sizes[i], -lengths[i], i),
            lambda i: (-sizes[i] * lengths[i], i),
            lambda i: (-lengths[i], -sizes[i], i),
            lambda i: (i,),
        )
        for best_fit in (False, True):
            for key in keys:
                if self.best is None or not self.exhausted:
                    yield sorted(self.free, key=key), best_fit

    def repair(self) -> None:
        """Places again and again, whatever stuck out of the lower bound first."""
        order = list(self.best_order)
        for _ in range(_REPAIR_ROUNDS):
            offsets = None if self.exhausted else self.run(order, best_fit=False, whole=True)
            if self.done or offsets is None:
                return
            tops = offsets + self.sizes
            high = [i for i in order if tops[i] > self.bound]
            if not high or high == order[: len(high)]:
                return
            out = set(high)
            order = high + [i for i in order if i not in out]

    def run(
        self, order: Sequence[int], best_fit: bool, whole: bool = False
    ) -> npt.NDArray[Any] | None:
        """Places all buffers in an order and keeps the result if it is the best.

        Args:
            order: The buffers without a given place.
            best_fit: Whether to take the tightest gap instead of the lowest.
            whole: Whether to go on where the placement can no longer be the best.

        Returns:
            The offsets, or None if the run was given up.
        """
        self.work += self.work_per_run
        placement = _Placement(self.conflicts, self.sizes)
        peak = self.problem.fixed_top
        for i in self.fixed:
            placement.put(i, self.problem.buffers[i].offset or 0)
        for i in order:
            offset = placement.gap(i, self.alignments[i], best_fit)
            placement.put(i, offset)
            peak = max(peak, offset + int(self.sizes[i]))
            if peak >= self.peak and not whole:
                return None
        if peak < self.peak:
            self.best, self.best_order, self.peak = placement.offsets, order, peak
        return placement.offsets

    def _check_fixed(self) -> None:
        buffers = self.problem.buffers
        taken = set(self.fixed)
        for i in self.fixed:
            begin = buffers[i].offset or 0
            for j in map(int, self.conflicts.near(i)):
                other = buffers[j].offset
                if j > i and j in taken and other is not None:
                    ends = begin + buffers[i].footprint, other + buffers[j].footprint
                    if begin < ends[1] and other < ends[0]:
                        raise GEError(
                            "GE0504",
                            f"'{buffers[i].name}' at bytes {begin} to {ends[0]} and"
                            f" '{buffers[j].name}' at bytes {other} to {ends[1]} overlap while"
                            " both are alive",
                            hint="move one of the two, or leave its place open",
                        )


class _Placement:
    """Buffers that have a place so far, at most one place a buffer."""

    def __init__(self, conflicts: Conflicts, sizes: npt.NDArray[Any]):
        self.conflicts = conflicts
        self.sizes = sizes
        self.offsets: npt.NDArray[Any] = np.full(len(sizes), -1, dtype=np.int64)
        # By offset; only kept where neighbours are not listed, else sorting those is cheaper.
        self._placed: npt.NDArray[Any] = np.zeros(len(sizes), dtype=np.int64)
        self._keys: npt.NDArray[Any] = np.zeros(len(sizes), dtype=np.int64)
        self._count = 0

    def put(self, index: int, offset: int) -> None:
        """Gives a buffer its place."""
        self.offsets[index] = offset
        if self.conflicts.sparse:
            return
        count = self._count
        at = int(np.searchsorted(self._keys[:count], offset, side="right"))
        for array, value in ((self._keys, offset), (self._placed, index)):
            array[at + 1 : count + 1] = array[at:count].copy()
            array[at] = value
        self._count += 1

    def gap(self, index: int, alignment: int, best_fit: bool) -> int:
        """Returns an offset at which a buffer touches no placed one that it conflicts with."""
        near = self._near(index)
        if not len(near):
            return 0
        lower = self.offsets[near]
        tops = np.maximum.accumulate(lower + self.sizes[near])
        if alignment > 1:
            tops = -(-tops // alignment) * alignment
        room = lower.copy()
        room[1:] -= tops[:-1]
        fits = (room >= self.sizes[index]).nonzero()[0]
        if not len(fits):
            return int(tops[-1])
        chosen = int(fits[room[fits].argmin()] if best_fit else fits[0])
        return int(tops[chosen - 1]) if chosen else 0

    def _near(self, index: int) -> npt.NDArray[Any]:
        """The placed buffers that conflict with one, by offset."""
        if not self.conflicts.sparse:
            placed = self._placed[: self._count]
            return placed[self.conflicts.row(index)[placed]]
        near = self.conflicts.near(index)
        offsets = self.offsets[near]
        placed = offsets >= 0
        return near[placed][offsets[placed].argsort(kind="stable")]
