"""Tasks to streams: list scheduling along the critical path, on a model of the machine.

The model: a stream runs its tasks in the order of the program; an engine runs one task at a time,
first come, first served; a task that waits for another stream starts `sync_us` later. Of the
assignments that this gives, and of one stream, the one that a judge finds fastest is taken, so that
more streams are never slower than one in the judge's eyes.

Source: Topcuoglu, Hariri, Wu, "Performance-effective and low-complexity task scheduling for
heterogeneous computing" (2002), upward ranks and earliest finish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeAlias

_WORTH = 0.99
"""More streams must finish in less than this part of the time of fewer: they cost memory and
events."""

Judge: TypeAlias = Callable[[Sequence[int]], float]
"""Returns the us until the last task ends, of the streams of all tasks."""


@dataclass(frozen=True)
class Assignment:
    """Where tasks run, and what the judge says of it.

    Attributes:
        streams: Of each task: numbers from 0 without holes, that of task 0 is 0.
        us: Until the last task ends.
        single_us: The same on one stream.
        best_us: Of the fastest assignment to several streams that was tried.
    """

    streams: Sequence[int]
    us: float
    single_us: float
    best_us: float


def assign_streams(
    durations: Sequence[float],
    deps: Sequence[tuple[int, int]],
    engines: Sequence[str],
    k: int,
    *,
    sync_us: float = 0.0,
) -> list[int]:
    """Returns the stream of each task, as `choose_streams` does by `estimate_makespan`."""

    def judge(streams: Sequence[int]) -> float:
        return estimate_makespan(durations, deps, engines, streams, sync_us=sync_us)

    return list(choose_streams(durations, deps, engines, k, judge, sync_us=sync_us).streams)


def choose_streams(
    durations: Sequence[float],
    deps: Sequence[tuple[int, int]],
    engines: Sequence[str],
    k: int,
    judge: Judge,
    *,
    sync_us: float = 0.0,
    fixed: Mapping[int, int] | None = None,
) -> Assignment:
    """Returns the fastest assignment found; one stream where several are not worth it.

    Each stream runs its tasks in the order they are given. By the judge the answer is never slower
    than one stream, but for tasks whose streams are fixed.

    Args:
        durations: In us, one a task, in an order that respects `deps`.
        deps: Pairs of a task and a later one that waits for it.
        engines: What each task runs on; tasks of one engine take turns.
        k: Streams at most, those of fixed tasks included.
        judge: Says how long an assignment takes.
        sync_us: What waiting for another stream costs.
        fixed: Streams below `k` of some tasks; nothing else runs there.

    Raises:
        ValueError: `k` < 1, a duration is negative, or a dependency points backwards.
    """
    count = len(durations)
    _check(durations, deps, engines, k)
    single = [0] * count
    single_us = judge(single)
    best: tuple[float, list[int]] | None = None if fixed else (single_us, single)
    fastest = float("inf")
    for found in _candidates(durations, deps, engines, k, sync_us, fixed or {}):
        us = judge(found)
        fastest = min(fastest, us)
        if best is None or us < _WORTH * best[0]:
            best = (us, found)
    assert best is not None
    return Assignment(best[1], best[0], single_us, fastest)


def _candidates(
    durations: Sequence[float],
    deps: Sequence[tuple[int, int]],
    engines: Sequence[str],
    k: int,
    sync_us: float,
    fixed: Mapping[int, int],
) -> Iterator[list[int]]:
    """Yields assignments to try: fewer streams first, each once."""
    count = len(durations)
    inputs: list[list[int]] = [[] for _ in range(count)]
    for producer, consumer in sorted(set(deps)):
        inputs[consumer].append(producer)
    ranks = _ranks(durations, inputs)
    by_rank = sorted(range(count), key=lambda task: (-ranks[task], task))
    free = k - len(set(fixed.values()))
    widths = {min(2, free), min(4, free), free} - (set[int]() if fixed else {1})
    apart = [str(task) for task in range(count)]  # engines that serve any number of tasks
    seen: set[tuple[int, ...]] = set()
    for width in sorted(widths):
        for order in (by_rank, range(count)):
            for units in (engines, apart):
                plan = _Schedule(durations, inputs, units, width, k, sync_us, fixed)
                found = tuple(_compact(plan.run(order)))
                if found not in seen:
                    seen.add(found)
                    yield list(found)


def estimate_makespan(
    durations: Sequence[float],
    deps: Sequence[tuple[int, int]],
    engines: Sequence[str],
    streams: Sequence[int],
    *,
    sync_us: float = 0.0,
) -> float:
    """Returns the us until the last task ends, by the model of this module.

    Args:
        durations, deps, engines, sync_us: As for `assign_streams`.
        streams: Of each task.
    """
    followers, waiting = _graph(deps, streams)
    ready_at = [0.0] * len(durations)
    free: dict[str, float] = {}
    heap = [(0.0, task) for task, count in enumerate(waiting) if count == 0]
    makespan = 0.0
    while heap:
        ready, task = heappop(heap)
        finish = max(ready, free.get(engines[task], 0.0)) + durations[task]
        free[engines[task]] = finish
        makespan = max(makespan, finish)
        for follower in followers[task]:
            delay = sync_us if streams[follower] != streams[task] else 0.0
            ready_at[follower] = max(ready_at[follower], finish + delay)
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heappush(heap, (ready_at[follower], follower))
    return makespan


def _check(
    durations: Sequence[float], deps: Sequence[tuple[int, int]], engines: Sequence[str], k: int
) -> None:
    if k < 1:
        raise ValueError(f"expected 'k' >= 1, got {k}")
    if len(engines) != len(durations):
        raise ValueError(f"expected {len(durations)} engines, got {len(engines)}")
    if durations and not min(durations) >= 0:
        raise ValueError(f"expected durations >= 0, got {min(durations)}")
    for producer, consumer in deps:
        if not 0 <= producer < consumer < len(durations):
            raise ValueError(f"expected a dependency on a later task, got {(producer, consumer)}")


def _graph(
    deps: Sequence[tuple[int, int]], streams: Sequence[int]
) -> tuple[list[list[int]], list[int]]:
    """Returns the followers of each task, the next of its stream included, and how many lead."""
    edges = set(deps)
    last: dict[int, int] = {}
    for task, stream in enumerate(streams):
        if stream in last:
            edges.add((last[stream], task))
        last[stream] = task
    followers: list[list[int]] = [[] for _ in streams]
    waiting = [0] * len(streams)
    for producer, consumer in sorted(edges):
        followers[producer].append(consumer)
        waiting[consumer] += 1
    return followers, waiting


def _ranks(durations: Sequence[float], inputs: Sequence[Sequence[int]]) -> list[float]:
    """Returns the us from the start of each task to the end of the longest chain behind it."""
    ranks = list(durations)
    tails = [0.0] * len(durations)
    for task in reversed(range(len(durations))):
        ranks[task] = durations[task] + tails[task]
        for producer in inputs[task]:
            tails[producer] = max(tails[producer], ranks[task])
    return ranks


@dataclass
class _Schedule:
    """A list schedule under construction.

    Each task goes to the stream on which it would end first; among equals, to one that runs a task
    it waits for, so that no event is needed; then to the one that has been idle for the shortest
    time.

    Attributes:
        durations, engines, sync_us, fixed: As for `choose_streams`.
        inputs: Tasks that each one waits for.
        width: Streams for tasks that are not fixed.
        k: All streams.
    """

    durations: Sequence[float]
    inputs: Sequence[Sequence[int]]
    engines: Sequence[str]
    width: int
    k: int
    sync_us: float
    fixed: Mapping[int, int]

    def run(self, order: Sequence[int]) -> list[int]:
        """Returns the stream of each task, given to them in `order`."""
        streams, ends = [0] * len(self.durations), [0.0] * len(self.durations)
        free = [0.0] * self.k
        engine_free: dict[str, float] = {}
        for task in order:
            engine = engine_free.get(self.engines[task], 0.0)
            arrivals = [0.0] * self.k
            inputs = self.inputs[task]
            _arrive(arrivals, [(streams[p], ends[p]) for p in inputs], self.sync_us)
            starts = [max(free[s], engine, arrivals[s]) for s in range(self.k)]
            if (chosen := self.fixed.get(task)) is None:
                homes = {streams[p] for p in inputs}
                keys = ((starts[s], s not in homes, -free[s], s) for s in range(self.width))
                chosen = min(keys)[-1]
            streams[task] = chosen
            end = starts[chosen] + self.durations[task]
            ends[task] = free[chosen] = engine_free[self.engines[task]] = end
        return streams


def _arrive(arrivals: list[float], inputs: Sequence[tuple[int, float]], sync_us: float) -> None:
    """Raises `arrivals` to when all inputs, as (stream, end), are there, on each stream."""
    if not inputs:
        return
    per_stream: dict[int, float] = {}
    for stream, end in inputs:
        per_stream[stream] = max(per_stream.get(stream, 0.0), end)
    by_end = sorted(per_stream.items(), key=lambda item: (-item[1], item[0]))
    latest, latest_end = by_end[0]
    for s in range(len(arrivals)):
        elsewhere = latest_end if s != latest else (by_end[1][1] if len(by_end) > 1 else None)
        synced = 0.0 if elsewhere is None else elsewhere + sync_us
        arrivals[s] = max(arrivals[s], per_stream.get(s, 0.0), synced)


def _compact(streams: Sequence[int]) -> list[int]:
    """Renumbers streams by first use."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(stream, len(numbers)) for stream in streams]
