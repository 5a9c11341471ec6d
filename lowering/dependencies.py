"""Who depends on whom among the tasks of a plan, from the buffers they read and write."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import SSAValue

from ge_dialect.ge.access import ops_of
from ge_dialect.ge_exec import PlanOp, WeightOp
from ge_dialect.ge_exec.control import TaskOp, reads, writes
from ge_dialect.ge_exec.memory import Storage, base_of
from ge_dialect.ge_exec.spans import span_of
from ge_dialect.lowering.schedule.events import Dependency
from ge_dialect.lowering.schedule.happens_before import HappensBefore, happens_before


@dataclass(frozen=True)
class TaskGraph:
    """The tasks of a plan in order, their dependencies, and who touches which buffer.

    Attributes:
        tasks: In the order of the plan.
        dependencies: Each pair once, sorted by consumer, then producer.
        readers: Positions of the tasks that read a buffer.
        writers: Positions of the tasks that write it.
    """

    tasks: Sequence[TaskOp]
    dependencies: Sequence[Dependency] = ()
    readers: dict[Storage, list[int]] = field(default_factory=dict[Storage, list[int]])
    writers: dict[Storage, list[int]] = field(default_factory=dict[Storage, list[int]])

    def edges(self) -> list[tuple[int, int]]:
        """Returns the dependencies as pairs of positions."""
        return [(d.producer, d.consumer) for d in self.dependencies]


def touched_buffers(plan: PlanOp) -> TaskGraph:
    """Returns the tasks of a plan and who touches which buffer, weights left out, without the
    dependencies: on one stream they hold by its order."""
    tasks = plan.tasks()
    readers: dict[Storage, list[int]] = defaultdict(list)
    writers: dict[Storage, list[int]] = defaultdict(list)
    for position, task in enumerate(tasks):
        for owners, values in ((readers, reads(task)), (writers, writes(task))):
            changing = [value for value in values if type(value.owner) is not WeightOp]
            for owner in dict.fromkeys([base_of(value)[0] for value in changing]):
                owners[owner].append(position)
    return TaskGraph(tasks, (), readers, writers)


def task_graph(plan: PlanOp) -> TaskGraph:
    """Returns the dependencies of a plan's tasks; linear in accesses and the views they go through.

    Readers and writers are those of what owns the bytes; dependencies are between tasks that touch
    the same bytes of it, so that parts of one value can be written at the same time.
    """
    tasks = plan.tasks()
    touched = _Accesses()
    accesses = [(touched.all(reads(task)), touched.all(writes(task))) for task in tasks]
    # Nobody waits for what nobody writes, such as weights.
    changing = {owner for _, written in accesses for owner, _, _ in written}
    readers: dict[Storage, list[int]] = defaultdict(list)
    writers: dict[Storage, list[int]] = defaultdict(list)
    history: dict[_Stretch, _History] = defaultdict(_History)
    found: dict[tuple[int, int], str] = {}
    for position, (read, written) in enumerate(accesses):
        written_stretches = touched.split(written)
        for stretch in touched.split([access for access in read if access[0] in changing]):
            if (writer := history[stretch].writer) is not None:
                _add(found, writer, position, "RAW", stretch[0])
            history[stretch].readers.append(position)
        for stretch in written_stretches:
            for earlier, kind in history[stretch].before_write(position):
                _add(found, earlier, position, kind, stretch[0])
            history[stretch] = _History(position)
        for owner in dict.fromkeys(owner for owner, _, _ in read):
            readers[owner].append(position)
        for owner in dict.fromkeys(owner for owner, _, _ in written):
            writers[owner].append(position)
    ordered = sorted(found.items(), key=lambda item: (item[0][1], item[0][0]))
    dependencies = [Dependency(a, b, why) for (a, b), why in ordered]
    return TaskGraph(tasks, dependencies, dict(readers), dict(writers))


_Access: TypeAlias = tuple[Storage, int, int]
"""What owns the bytes, and where they start and end in it; an object has one byte."""

_Stretch: TypeAlias = tuple[Storage, int]
"""Bytes of an owner that no access cuts, by where they start."""


@dataclass
class _History:
    """Who wrote a stretch last, and who has read it since."""

    writer: int | None = None
    readers: list[int] = field(default_factory=list[int])

    def before_write(self, position: int) -> list[tuple[int, str]]:
        """Returns the tasks that a writer has to wait for, and why; itself left out."""
        found = [(reader, "WAR") for reader in self.readers if reader != position]
        if not found and self.writer is not None:
            return [(self.writer, "WAW")]
        return found


class _Accesses:
    """The accesses of a plan, and where they cut what they touch."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, _Access] = {}
        self._cuts: dict[Storage, set[int]] = defaultdict(set)
        self._sorted: dict[Storage, list[int]] = {}

    def all(self, values: Sequence[SSAValue]) -> list[_Access]:
        """Returns the accesses of values, each once."""
        return list(dict.fromkeys(map(self._one, values)))

    def _one(self, value: SSAValue) -> _Access:
        if (known := self._known.get(value)) is None:
            owner, start, end = span_of(value)
            known = self._known[value] = (owner, start, max(start + 1, end))
            self._cuts[owner].update(known[1:])
        return known

    def split(self, accesses: Sequence[_Access]) -> list[_Stretch]:
        """Returns what accesses touch as stretches, each once; called when all are known."""
        found: dict[_Stretch, None] = {}
        for owner, start, end in accesses:
            if len(self._cuts[owner]) == 2:
                found[owner, start] = None
                continue
            if (cuts := self._sorted.get(owner)) is None:
                cuts = self._sorted[owner] = sorted(self._cuts[owner])
            first = bisect_left(cuts, start)
            found |= dict.fromkeys((owner, cut) for cut in cuts[first : bisect_left(cuts, end)])
        return list(found)


def _add(
    found: dict[tuple[int, int], str], earlier: int, later: int, kind: str, owner: Storage
) -> None:
    if earlier != later:
        name = owner.result.name_hint or "a buffer"
        found.setdefault((earlier, later), f"{kind} on %{name}")


def streams_of(plan: PlanOp, graph: TaskGraph) -> list[int]:
    """Returns the stream of each task, counted by the order of the streams in the plan."""
    index = {
        op: number for number, stream in enumerate(plan.streams) for op in ops_of(stream.body.block)
    }
    return [index[task] for task in graph.tasks]


def plan_order(plan: PlanOp, graph: TaskGraph) -> HappensBefore:
    """Returns what the streams and the dependencies of a plan force to happen before what."""
    queues: list[list[int]] = [[] for _ in plan.streams]
    for task, stream in enumerate(streams_of(plan, graph)):
        queues[stream].append(task)
    return happens_before(queues, graph.edges())
