"""Discrete-event simulation of streams that share the machine.

A stream runs its tasks in order. A task first spends time of its own (launch, start-up), then uses
several resources at once, each for as long as it would take alone; tasks that use a resource at
the same time share it equally. A task ends with its last demand.

Source: processor sharing with virtual time, as in Kleinrock, "Queueing Systems II" (1976), 4.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ge_dialect.lowering.machine.cost import KernelCost


_NOISE = 1e-9
"""What rounding makes of equal times."""


@dataclass(frozen=True, slots=True)
class SimTask:
    """A task on a stream.

    Attributes:
        stream: Any number; tasks of one stream run in the order they are given.
        fixed_us: Time that no other task can lengthen.
        demands: us of each resource at its full rate.
        launch_us: The part of `fixed_us` before the device begins.
    """

    stream: int
    fixed_us: float
    demands: Mapping[str, float]
    launch_us: float = 0.0

    @property
    def alone_us(self) -> float:
        """Time the task takes when it has the machine to itself."""
        return self.fixed_us + max(self.demands.values(), default=0.0)


@dataclass(frozen=True, slots=True)
class Simulation:
    """A predicted run.

    Attributes:
        makespan_us: When the last task ends.
        starts, ends: us, of each task.
        critical_path: Tasks each of which let the next one start, up to the one that ends last.
        busy_us: Of each resource, the time it would take at full rate: divided by the makespan,
            its utilisation.
        causes: Of each task, the one whose end let it start; -1 where it was ready from the start.
        limits: Of each task, the resource it used last; empty where it used none.
    """

    makespan_us: float
    starts: tuple[float, ...]
    ends: tuple[float, ...]
    critical_path: tuple[int, ...]
    busy_us: Mapping[str, float]
    causes: tuple[int, ...] = ()
    limits: tuple[str, ...] = ()

    def utilisation(self) -> dict[str, float]:
        """Returns the part of the makespan in which each resource is busy, from 0 to 1."""
        whole = self.makespan_us
        return {name: us / whole if whole else 0.0 for name, us in self.busy_us.items()}


@dataclass(frozen=True, slots=True)
class TimePart:
    """A part of the time of a run: what a task of its critical path waited for.

    Attributes:
        task: Its number.
        reason: `event` (for another stream), `launch`, `start`, the resource it used last, or
            `RESOURCE shared` for what other tasks on the resource cost it.
        us: How long.
    """

    task: int
    reason: str
    us: float

    @property
    def resource(self) -> str:
        """The resource where it is one."""
        return self.reason.removesuffix(" shared")


def time_parts(tasks: Sequence[SimTask], run: Simulation) -> list[TimePart]:
    """Returns what each task of the critical path waited for, in order; it is the whole makespan.

    Args:
        tasks: Of the run.
        run: Their simulation.
    """
    parts: list[TimePart] = []
    before = 0.0
    for number in run.critical_path:
        task, start, end = tasks[number], run.starts[number], run.ends[number]
        limit = run.limits[number]
        working = max(0.0, end - start - task.fixed_us)
        alone = min(working, max(task.demands.values(), default=0.0))
        if working - alone < _NOISE * (1 + end):
            alone = working
        found = (
            ("event", start - before),
            ("launch", task.launch_us),
            ("start", task.fixed_us - task.launch_us),
            (limit, alone),
            (f"{limit} shared", working - alone),
        )
        parts += [TimePart(number, reason, us) for reason, us in found if us > 0]
        before = end
    return parts


def sim_task(cost: KernelCost, stream: int) -> SimTask:
    """Returns the task of a kernel; alone, it takes `cost.us`."""
    return SimTask(stream, cost.launch_us + cost.exposed_us, cost.demands, cost.launch_us)


def simulate(
    tasks: Sequence[SimTask], deps: Sequence[tuple[int, int]], *, event_us: float = 0.0
) -> Simulation:
    """Returns the predicted run of tasks on streams. Deterministic.

    Args:
        tasks: In the order of the program.
        deps: Pairs of a task and one that waits for it.
        event_us: What waiting for a task of another stream costs.

    Raises:
        ValueError: A time is negative or not a number, or tasks wait for each other.
    """
    run = _Run(tasks, _Graph.of(tasks, deps, event_us))
    run.to_end()
    if run.left:
        stuck = next(i for i, end in enumerate(run.ends) if end < 0)
        raise ValueError(f"expected tasks that can all run, got task {stuck} in a cycle")
    makespan = max(run.ends, default=0.0)
    busy: dict[str, float] = {}
    for task in tasks:
        for name, amount in task.demands.items():
            busy[name] = busy.get(name, 0.0) + amount
    return Simulation(
        makespan,
        tuple(run.starts),
        tuple(run.ends),
        _trace(run.ends, run.causes),
        MappingProxyType(dict(sorted(busy.items()))),
        tuple(run.causes),
        tuple(run.limits),
    )


def makespan_bound(
    tasks: Sequence[SimTask], deps: Sequence[tuple[int, int]], *, event_us: float = 0.0
) -> float:
    """Returns us that no run of the tasks can go below.

    The longest chain of tasks that have the machine to themselves, or the total demand for one
    resource, whichever is longer. Arguments as for `simulate`, without cycles.
    """
    graph = _Graph.of(tasks, deps, event_us)
    waiting, ready = list(graph.waiting), [0.0] * len(tasks)
    stack = [task for task, count in enumerate(waiting) if count == 0]
    totals: dict[str, float] = {}
    bound = 0.0
    while stack:
        task = stack.pop()
        end = ready[task] + tasks[task].alone_us
        bound = max(bound, end)
        for name, amount in tasks[task].demands.items():
            totals[name] = totals.get(name, 0.0) + amount
        for follower, delay in graph.followers[task]:
            ready[follower] = max(ready[follower], end + delay)
            waiting[follower] -= 1
            if waiting[follower] == 0:
                stack.append(follower)
    return max(bound, *totals.values()) if totals else bound


def _trace(ends: Sequence[float], causes: Sequence[int]) -> tuple[int, ...]:
    if not ends:
        return ()
    task = max(range(len(ends)), key=lambda i: (ends[i], -i))
    path: list[int] = []
    while task >= 0:
        path.append(task)
        task = causes[task]
    return tuple(reversed(path))


@dataclass(frozen=True)
class _Graph:
    """Who waits for whom: followers with the delay after the end, and how many lead to each."""

    followers: Sequence[Sequence[tuple[int, float]]]
    waiting: Sequence[int]

    @classmethod
    def of(
        cls, tasks: Sequence[SimTask], deps: Sequence[tuple[int, int]], event_us: float
    ) -> _Graph:
        for task in tasks:
            if not all(0 <= us < inf for us in (task.fixed_us, *task.demands.values())):
                raise ValueError(f"expected times >= 0, got {task}")
        edges = set(deps)
        last: dict[int, int] = {}
        for number, task in enumerate(tasks):
            if task.stream in last:
                edges.add((last[task.stream], number))
            last[task.stream] = number
        followers: list[list[tuple[int, float]]] = [[] for _ in tasks]
        waiting = [0] * len(tasks)
        for producer, consumer in sorted(edges):
            crosses = tasks[producer].stream != tasks[consumer].stream
            followers[producer].append((consumer, event_us if crosses else 0.0))
            waiting[consumer] += 1
        return cls(followers, waiting)


@dataclass
class _Shared:
    """A resource that its users share equally.

    Virtual time is the work that each user has had so far; a demand ends at a virtual time that is
    known when it begins, whoever comes and goes.
    """

    name: str
    clock: float = 0.0
    heap: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])

    def wait(self) -> float:
        """us until the next demand ends."""
        return (self.heap[0][0] - self.clock) * len(self.heap) if self.heap else inf

    def pass_time(self, us: float) -> None:
        """Serves all users for some time, at most up to the end of the next demand."""
        if self.heap:
            self.clock = min(self.clock + us / len(self.heap), self.heap[0][0])


class _Run:
    """The state of a run at one moment."""

    def __init__(self, tasks: Sequence[SimTask], graph: _Graph):
        self.tasks = tasks
        self.graph = graph
        self.now = 0.0
        self.left = len(tasks)
        self.starts = [-1.0] * len(tasks)
        self.ends = [-1.0] * len(tasks)
        self.causes = [-1] * len(tasks)
        self.limits = [""] * len(tasks)
        self._waiting = list(graph.waiting)
        self._ready = [0.0] * len(tasks)
        self._open = [len(task.demands) for task in tasks]
        self._timers: list[tuple[float, int]] = []
        names = sorted({name for task in tasks for name in task.demands})
        self._shared = {name: _Shared(name) for name in names}

    def to_end(self) -> None:
        """Runs until nothing is left to happen."""
        for task, count in enumerate(self._waiting):
            if count == 0:
                self._start(task)
        while (resource := self._next()) is not None:
            if isinstance(resource, _Shared):
                _, task = heappop(resource.heap)
                self._open[task] -= 1
                self.limits[task] = resource.name
            else:
                _, task = heappop(self._timers)
                for name, amount in self.tasks[task].demands.items():
                    shared = self._shared[name]
                    heappush(shared.heap, (shared.clock + amount, task))
            if self._open[task] == 0:
                self._end(task)

    def _next(self) -> _Shared | str | None:
        """Lets time pass until something ends; says which resource, or that it is a timer."""
        wait = self._timers[0][0] - self.now if self._timers else inf
        found: _Shared | str | None = "timer" if self._timers else None
        for shared in self._shared.values():
            if (until := shared.wait()) < wait:
                wait, found = until, shared
        if found is None:
            return None
        for shared in self._shared.values():
            shared.pass_time(wait)
        if isinstance(found, _Shared):
            found.clock = found.heap[0][0]
            self.now += wait
        else:
            self.now = self._timers[0][0]
        return found

    def _start(self, task: int) -> None:
        self.starts[task] = self._ready[task]
        heappush(self._timers, (self._ready[task] + self.tasks[task].fixed_us, task))

    def _end(self, task: int) -> None:
        self.ends[task] = self.now
        self.left -= 1
        for follower, delay in self.graph.followers[task]:
            if self.causes[follower] < 0 or self.now + delay > self._ready[follower]:
                self._ready[follower] = self.now + delay
                self.causes[follower] = task
            self._waiting[follower] -= 1
            if self._waiting[follower] == 0:
                self._start(follower)
