"""Tasks to streams: list scheduling along the critical path, on a model of the machine.

The model: a stream runs its tasks in the order of the program; an engine runs one task at a time,
first come, first served; a task that waits for another stream starts `sync_us` later. Streams only
help where tasks of different engines are independent, so the answer is often one stream.

Source: Topcuoglu, Hariri, Wu, "Performance-effective and low-complexity task scheduling for
heterogeneous computing" (2002), upward ranks and earliest finish.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

_WORTH = 0.99
"""More streams must finish in less than this part of the time of fewer: they cost memory and
events."""


def assign_streams(
    durations: Sequence[float],
    deps: Sequence[tuple[int, int]],
    engines: Sequence[str],
    k: int,
    *,
    sync_us: float = 0.0,
) -> list[int]:
    """Returns the stream of each task: numbers from 0 without holes, that of task 0 is 0.

    Each stream runs its tasks in the order they are given. By `estimate_makespan` the answer is
    never slower than one stream.

    Args:
        durations: In us, one a task, in an order that respects `deps`.
        deps: Pairs of a task and a later one that waits for it.
        engines: What each task runs on; tasks of one engine take turns.
        k: Streams at most.
        sync_us: What waiting for another stream costs.

    Raises:
        ValueError: `k` < 1, a duration is negative, or a dependency points backwards.
    """
    count = len(durations)
    _check(durations, deps, engines, k)
    best, best_time = [0] * count, sum(durations)
    inputs: list[list[int]] = [[] for _ in range(count)]
    for producer, consumer in sorted(set(deps)):
        inputs[consumer].append(producer)
    ranks = _ranks(durations, inputs)
    by_rank = sorted(range(count), key=lambda task: (-ranks[task], task))
    for width in sorted({min(2, k), k} - {1}):
        for order in (by_rank, range(count)):
            found = _compact(_list_schedule(durations, inputs, engines, width, order, sync_us))
            time = estimate_makespan(durations, deps, engines, found, sync_us=sync_us)
            if time < _WORTH * best_time:
                best, best_time = found, time
    return best


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


def _list_schedule(
    durations: Sequence[float],
    inputs: Sequence[Sequence[int]],
    engines: Sequence[str],
    width: int,
    order: Sequence[int],
    sync_us: float,
) -> list[int]:
    """Gives each task, in `order`, to the stream on which it would end first.

    Among equals, to one that runs a task it waits for, so that no event is needed; then to the one
    that has been idle for the shortest time.
    """
    streams, ends = [0] * len(durations), [0.0] * len(durations)
    free = [0.0] * width
    engine_free: dict[str, float] = {}
    for task in order:
        engine = engine_free.get(engines[task], 0.0)
        arrivals = [0.0] * width
        _arrive(arrivals, [(streams[p], ends[p]) for p in inputs[task]], sync_us)
        starts = [max(free[s], engine, arrivals[s]) for s in range(width)]
        homes = {streams[p] for p in inputs[task]}
        chosen = min(range(width), key=lambda s: (starts[s], s not in homes, -free[s], s))
        streams[task] = chosen
        ends[task] = free[chosen] = engine_free[engines[task]] = starts[chosen] + durations[task]
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
