"""The search for an order of tasks that needs less memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ge_dialect.passes.policy import Policy
from ge_dialect.passes.schedule.exact import best_order, segment
from ge_dialect.passes.schedule.orders import candidates, segments_of, settled
from ge_dialect.passes.schedule.tasks import Tasks, peaks

_BUDGETS = {Policy.THROUGHPUT: 0, Policy.BALANCED: 8_000, Policy.CONSERVATIVE: 200_000}
"""Steps of the exact search, one group of tasks."""

_MAX_TASKS = 160
"""Of a group that is searched exactly; larger ones get the heuristics alone."""


def better_order(tasks: Tasks, policy: Policy) -> Sequence[int]:
    """Returns an order that never needs more bytes than the given one, by `peaks`.

    Deterministic; near linear: each group of tasks is searched within a budget, equal groups once.

    Args:
        tasks: In an order that works.
        policy: How much may change.
    """
    count = len(tasks.units)
    if policy is Policy.THROUGHPUT:
        return _ties(tasks)
    base, given = settled(tasks), list(range(count))
    whole = [range(count)]
    if base == given or peaks(tasks, base, whole) > peaks(tasks, given, whole):
        return _Search(tasks, policy).run()
    search = _Search(tasks.permuted(base), policy)
    return [base[task] for task in search.run()]


@dataclass(frozen=True)
class _Candidate:
    """An order, split into the groups of another one, and the peak of each group in bytes."""

    parts: list[list[int]]
    peaks: list[int]


@dataclass
class _Search:
    """Improves the groups of an order, those that decide the peak first."""

    tasks: Tasks
    policy: Policy

    def __post_init__(self) -> None:
        self.segments = segments_of(self.tasks)
        self.orders: list[Sequence[int]] = [list(segment) for segment in self.segments]
        self.peaks = peaks(self.tasks, range(len(self.tasks.units)), self.segments)
        self.around = _around(self.tasks, self.segments)
        self.others: list[_Candidate] = []
        self.untried = self._heuristics()
        self.known: dict[tuple[object, ...], tuple[Sequence[int], int] | None] = {}

    def run(self) -> list[int]:
        """Returns the order."""
        floor = 0
        numbers = range(len(self.segments))
        for number in sorted(numbers, key=lambda number: (-self.peaks[number], number)):
            if self.peaks[number] <= floor and self.policy is not Policy.CONSERVATIVE:
                break  # others need as much anyway
            if len(self.segments[number]) > 1:
                self._improve(number)
            floor = max(floor, self.peaks[number])
        return [task for order in self.orders for task in order]

    def _improve(self, number: int) -> None:
        segment_range = self.segments[number]
        floor = self.around[number] + max(self._needed(task) for task in segment_range)
        tried = 0
        while self.peaks[number] > floor and (found := self._candidate(tried)) is not None:
            tried += 1
            if found.peaks[number] < self.peaks[number]:
                self.orders[number], self.peaks[number] = found.parts[number], found.peaks[number]
        if self.peaks[number] <= floor or len(segment_range) > _MAX_TASKS:
            return
        part = segment(self.tasks, segment_range, self.around[number])
        limit = self.peaks[number]
        key = (*part.key(), limit - part.around)
        if key not in self.known:
            self.known[key] = best_order(part, limit - part.around, _BUDGETS[self.policy])
        if (better := self.known[key]) is not None:
            order, peak = better
            self.orders[number] = [segment_range[i] for i in order]
            self.peaks[number] = peak + part.around

    def _needed(self, task: int) -> int:
        """Returns the bytes that a task touches, which no order goes below."""
        sizes = self.tasks.sizes
        touched = sum(sizes[root] for root in self.tasks.touches[task])
        shared = {b: min(sizes[a], sizes[b]) for a, b in self.tasks.pairs[task]}
        return touched - sum(shared.values()) + self.tasks.workspace[task]

    def _candidate(self, number: int) -> _Candidate | None:
        """Returns one of the candidates, which are made when they are asked for."""
        if number == len(self.others):
            self.others += [found for found in [next(self.untried, None)] if found is not None]
        return self.others[number] if number < len(self.others) else None

    def _heuristics(self) -> Iterator[_Candidate]:
        home = [0] * len(self.tasks.units)
        for number, positions in enumerate(self.segments):
            for task in positions:
                home[task] = number
        for order in candidates(self.tasks):
            parts: list[list[int]] = [[] for _ in self.segments]
            for task in order:
                parts[home[task]].append(task)
            joined = [task for part in parts for task in part]
            yield _Candidate(parts, peaks(self.tasks, joined, self.segments))


def _around(tasks: Tasks, segments: Sequence[range]) -> list[int]:
    """Returns the bytes that are alive throughout each group and that no task of it touches."""
    home = [0] * len(tasks.units)
    for number, positions in enumerate(segments):
        for task in positions:
            home[task] = number
    changes = [0] * (len(segments) + 1)
    touched = [0] * len(segments)
    for size, touchers in zip(tasks.sizes, tasks.touchers, strict=True):
        if not size or not touchers:
            continue
        homes = {home[task] for task in touchers}
        changes[min(homes)] += size
        changes[max(homes) + 1] -= size
        for number in homes:
            touched[number] += size
    found, live = list[int](), 0
    for number, change in enumerate(changes[:-1]):
        live += change
        found.append(live - touched[number])
    return found


def _ties(tasks: Tasks) -> list[int]:
    """Returns the given order, but with equally urgent neighbours in the order that frees more.

    Neighbours are tasks in a row of which none needs another; urgency is the number of tasks in the
    longest chain behind.
    """
    from ge_dialect.passes.schedule.orders import by_change

    count = len(tasks.units)
    urgency = [0] * count
    for task in range(count - 1, -1, -1):
        for need in tasks.needs[task]:
            urgency[need] = max(urgency[need], urgency[task] + 1)
    wanted = {task: i for i, task in enumerate(by_change(tasks, lambda task, _: task))}
    order, start = list[int](), 0
    while start < count:
        end = start + 1
        while end < count and not any(need >= start for need in tasks.needs[end]):
            end += 1
        order += _sorted_ties(range(start, end), urgency, wanted)
        start = end
    whole = [range(count)]
    is_better = peaks(tasks, order, whole) < peaks(tasks, range(count), whole)
    return order if is_better else list(range(count))


def _sorted_ties(row: range, urgency: Sequence[int], wanted: dict[int, int]) -> list[int]:
    """Returns a row of tasks; those of one urgency share their positions, in the order wanted."""
    queues: dict[int, list[int]] = {}
    for task in sorted(row, key=lambda task: -wanted[task]):
        queues.setdefault(urgency[task], []).append(task)
    return [queues[urgency[task]].pop() for task in row]
