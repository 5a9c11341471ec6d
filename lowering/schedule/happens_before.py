"""What certainly happens before what, when several streams run at once.

Tasks are numbers from 0. Each stream runs its tasks in order; a dependency orders two tasks on
whatever streams. The relation is kept as one vector clock a task: how many tasks of each stream are
finished when it is.

Source: Fidge (1988), Mattern (1989), vector clocks of a static partial order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.memory.problem import Buffer, Lifetime, Problem, heaviest_set


@dataclass(frozen=True, slots=True)
class HappensBefore:
    """The order that streams and dependencies force on tasks.

    Attributes:
        queues: The tasks of each stream, in order.
        stream: Of each task, an index into `queues`.
        position: Of each task in its stream, from 1.
        clocks: Of each task: how many tasks of each stream are finished when the task is, itself
            included.
        order: All tasks in an order that respects the relation.
        followers: Of each task, the tasks that directly depend on it, the next of its stream
            included.
    """

    queues: tuple[tuple[int, ...], ...]
    stream: tuple[int, ...]
    position: tuple[int, ...]
    clocks: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    followers: tuple[tuple[int, ...], ...]

    def before(self, a: int, b: int) -> bool:
        """Whether task `a` is certainly finished when task `b` starts."""
        return a != b and self.clocks[b][self.stream[a]] >= self.position[a]

    def ordered(self, a: int, b: int) -> bool:
        """Whether tasks `a` and `b` never run at the same time."""
        return self.before(a, b) or self.before(b, a)

    def started(self, task: int) -> tuple[int, ...]:
        """Returns how many tasks of each stream are certainly finished when `task` starts."""
        home = self.stream[task]
        return tuple([n - (s == home) for s, n in enumerate(self.clocks[task])])

    def first_after(self) -> tuple[tuple[int, ...], ...]:
        """Returns of each task the first position of each stream that it is at or before.

        One past the end of a stream where the stream never learns of the task.
        """
        never = tuple(len(queue) + 1 for queue in self.queues)
        found: list[tuple[int, ...]] = [never] * len(self.stream)
        for task in reversed(self.order):
            home, position = self.stream[task], self.position[task]
            reach = tuple(position if s == home else n for s, n in enumerate(never))
            for follower in self.followers[task]:
                reach = tuple(map(min, reach, found[follower]))
            found[task] = reach
        return tuple(found)


def happens_before(
    queues: Sequence[Sequence[int]], deps: Iterable[tuple[int, int]]
) -> HappensBefore:
    """Returns the order that streams and dependencies force on tasks.

    Args:
        queues: The tasks of each stream, in order; together each of 0 to n - 1 once.
        deps: Pairs of a task and one that must wait for it.

    Raises:
        ValueError: The queues do not hold each task once, or a dependency names no task.
        GEError: GE0506, tasks wait for each other; the message names the shortest cycle through
            one of them.
    """
    held = tuple(tuple(queue) for queue in queues) or ((),)
    count = sum(len(queue) for queue in held)
    stream, position = [-1] * count, [0] * count
    edges: set[tuple[int, int]] = set()
    for number, queue in enumerate(held):
        for place, task in enumerate(queue, start=1):
            if not 0 <= task < count or stream[task] >= 0:
                raise ValueError(f"expected each of {count} tasks once, got task {task} again")
            stream[task], position[task] = number, place
        edges.update(pairwise(queue))
    for pair in deps:
        if not all(0 <= task < count for task in pair):
            raise ValueError(f"expected a dependency between tasks below {count}, got {pair}")
        edges.add(pair)
    followers: list[list[int]] = [[] for _ in range(count)]
    for producer, consumer in sorted(edges):
        followers[producer].append(consumer)
    order = _topological(followers)
    clocks = _clocks(len(held), stream, position, followers, order)
    return HappensBefore(
        held, tuple(stream), tuple(position), clocks, order, tuple(map(tuple, followers))
    )


def _topological(followers: Sequence[Sequence[int]]) -> tuple[int, ...]:
    waiting = [0] * len(followers)
    for targets in followers:
        for target in targets:
            waiting[target] += 1
    ready = deque(task for task, count in enumerate(waiting) if count == 0)
    order: list[int] = []
    while ready:
        task = ready.popleft()
        order.append(task)
        for target in followers[task]:
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    if len(order) < len(followers):
        stuck = {task for task, count in enumerate(waiting) if count}
        cycle = _cycle(followers, stuck)
        raise GEError(
            "GE0506",
            f"tasks wait for each other: {' -> '.join(map(str, [*cycle, cycle[0]]))}",
            hint="no schedule can run them; reorder a stream or drop a dependency",
        )
    return tuple(order)


def _cycle(followers: Sequence[Sequence[int]], stuck: set[int]) -> list[int]:
    """Returns tasks that wait for each other in a ring, among those that can never start."""
    sources: dict[int, int] = {}
    for task in sorted(stuck):
        for target in followers[task]:
            sources.setdefault(target, task)
    seen: dict[int, int] = {}
    task = min(stuck)
    while task not in seen:  # every stuck task waits for a stuck one
        seen[task] = len(seen)
        task = sources[task]
    ring = [found for found, place in seen.items() if place >= seen[task]]
    start = ring.index(min(ring))
    forward = ring[start:] + ring[:start]
    return [forward[0], *reversed(forward[1:])]


def _clocks(
    width: int,
    stream: Sequence[int],
    position: Sequence[int],
    followers: Sequence[Sequence[int]],
    order: Sequence[int],
) -> tuple[tuple[int, ...], ...]:
    clocks: list[tuple[int, ...]] = [(0,) * width] * len(stream)
    for task in order:
        home = stream[task]
        clock = (*clocks[task][:home], position[task], *clocks[task][home + 1 :])
        clocks[task] = clock
        for follower in followers[task]:
            clocks[follower] = tuple(map(max, clocks[follower], clock))
    return tuple(clocks)


@dataclass(frozen=True, slots=True)
class Accesses:
    """The tasks that touch a buffer.

    Attributes:
        writers: Tasks that write it.
        readers: Tasks that read it.
        live_in: Whether it holds something before the first task.
        live_out: Whether somebody reads it after the last task.
    """

    writers: tuple[int, ...] = ()
    readers: tuple[int, ...] = ()
    live_in: bool = False
    live_out: bool = False


def memory_problem(
    order: HappensBefore,
    buffers: Sequence[Buffer],
    accesses: Sequence[Accesses],
    capacity: int | None = None,
    space: str = "memory",
) -> Problem:
    """Returns the planning problem of buffers that tasks on streams touch.

    Two buffers may share bytes only if every access of one happens before every access of the
    other; a task that reads one and writes the other keeps them apart. The lower bound is the
    heaviest moment of any stream: what is certainly alive while one of its tasks runs. On one
    stream that is the exact bound for intervals.

    Args:
        order: Of the tasks.
        buffers: In the order of the program.
        accesses: One a buffer.
        capacity: In bytes.
        space: What the space is called in messages.
    """
    weights = [buffer.footprint for buffer in buffers]
    if len(order.queues) == 1:  # every buffer is certainly alive for all of its life
        lives = [_interval(order, access) for access in accesses]
        there = [(index, life) for index, life in enumerate(lives) if life[0] < life[1]]
        return Problem(
            tuple(buffers),
            tuple([Lifetime((start,), (end,)) for start, end in lives]),
            heaviest_set(there, weights),
            capacity,
            space,
        )
    after = order.first_after()
    spans: list[list[tuple[int, tuple[int, int]]]] = [[] for _ in order.queues]
    lifetimes: list[Lifetime] = []
    for index, (_, access) in enumerate(zip(buffers, accesses, strict=True)):
        lifetimes.append(_lifetime(order, access))
        for s, span in enumerate(_certain_spans(order, after, access)):
            if span[0] < span[1]:
                spans[s].append((index, span))
    sets = [heaviest_set(stream_spans, weights) for stream_spans in spans]
    heaviest = max(sets, key=lambda ids: sum(weights[i] for i in ids), default=())
    return Problem(tuple(buffers), tuple(lifetimes), heaviest, capacity, space)


def _interval(order: HappensBefore, access: Accesses) -> tuple[int, int]:
    """Returns the life of a buffer of one stream: as `_lifetime`, and one of `_certain_spans`."""
    last = len(order.queues[0]) + 2
    positions = [order.position[task] for task in (*access.writers, *access.readers)]
    start = 0 if access.live_in else min(positions, default=last - 1)
    end = last if access.live_out else max(positions, default=int(access.live_in) - 1) + 1
    return start, end


def _lifetime(order: HappensBefore, access: Accesses) -> Lifetime:
    """Counts one more task at both ends of each stream: the caller's, before and after the plan."""
    last = tuple(len(queue) + 2 for queue in order.queues)
    tasks = (*access.writers, *access.readers)
    start = (0,) * len(last) if access.live_in else tuple(n - 1 for n in last)
    end = last if access.live_out else (int(access.live_in),) * len(last)
    for task in tasks:
        home, position = order.stream[task], order.position[task] + 1
        start = tuple(map(min, start, [n + 1 for n in order.started(task)]))
        if end[home] < position:
            end = (*end[:home], position, *end[home + 1 :])
    return Lifetime(start, end)


def _certain_spans(
    order: HappensBefore, after: Sequence[tuple[int, ...]], access: Accesses
) -> Sequence[tuple[int, int]]:
    """Returns for each stream the half-open span of positions at which a buffer is alive for sure.

    That is, after one of its accesses or during it, and before one or during it.
    """
    tasks = (*access.writers, *access.readers)
    begins = [len(queue) + 1 for queue in order.queues]
    ends = [0] * len(begins)
    for task in tasks:
        begins = list(map(min, begins, after[task]))
        ends = list(map(max, ends, order.clocks[task]))
    if access.live_in:
        begins = [0] * len(begins)
    if access.live_out:
        ends = [len(queue) + 1 for queue in order.queues]
    return [(begin, end + 1) for begin, end in zip(begins, ends, strict=True)]
