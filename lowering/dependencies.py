"""Who depends on whom among the tasks of a plan, from the buffers they read and write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ge_dialect.ge_exec import PlanOp
from ge_dialect.ge_exec.control import TaskOp, reads, writes
from ge_dialect.ge_exec.memory import Storage, base_of
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
    dependencies: Sequence[Dependency]
    readers: dict[Storage, list[int]]
    writers: dict[Storage, list[int]]

    def edges(self) -> list[tuple[int, int]]:
        """Returns the dependencies as pairs of positions."""
        return [(d.producer, d.consumer) for d in self.dependencies]


def task_graph(plan: PlanOp) -> TaskGraph:
    """Returns the dependencies of a plan's tasks; linear in accesses.

    A buffer is what owns the bytes: views count as what they show.
    """
    tasks = plan.tasks()
    readers: dict[Storage, list[int]] = defaultdict(list)
    writers: dict[Storage, list[int]] = defaultdict(list)
    since_write: dict[Storage, list[int]] = defaultdict(list)
    found: dict[tuple[int, int], str] = {}
    owners: dict[SSAValue, Storage] = {}
    for position, task in enumerate(tasks):
        read = _owners(reads(task), owners)
        written = _owners(writes(task), owners)
        for owner in read:
            if writers[owner]:
                _add(found, writers[owner][-1], position, "RAW", owner)
        for owner in written:
            for reader in since_write[owner]:
                _add(found, reader, position, "WAR", owner)
            if writers[owner] and not since_write[owner]:
                _add(found, writers[owner][-1], position, "WAW", owner)
        for owner in read:
            readers[owner].append(position)
            since_write[owner].append(position)
        for owner in written:
            writers[owner].append(position)
            since_write[owner] = []
    ordered = sorted(found.items(), key=lambda item: (item[0][1], item[0][0]))
    dependencies = [Dependency(a, b, why) for (a, b), why in ordered]
    return TaskGraph(tasks, dependencies, dict(readers), dict(writers))


def _owners(values: Sequence[SSAValue], known: dict[SSAValue, Storage]) -> list[Storage]:
    """Returns what owns the bytes of buffer values, each once; `known` holds those seen before."""
    for value in values:
        if value not in known:
            known[value] = base_of(value)[0]
    return list(dict.fromkeys(known[value] for value in values))


def _add(
    found: dict[tuple[int, int], str], earlier: int, later: int, kind: str, owner: Storage
) -> None:
    if earlier != later:
        name = owner.result.name_hint or "a buffer"
        found.setdefault((earlier, later), f"{kind} on %{name}")


def streams_of(plan: PlanOp, graph: TaskGraph) -> list[int]:
    """Returns the stream of each task, counted by the order of the streams in the plan."""
    index = {
        op: number for number, stream in enumerate(plan.streams) for op in stream.body.block.ops
    }
    return [index[task] for task in graph.tasks]


def plan_order(plan: PlanOp, graph: TaskGraph) -> HappensBefore:
    """Returns what the streams and the dependencies of a plan force to happen before what."""
    queues: list[list[int]] = [[] for _ in plan.streams]
    for task, stream in enumerate(streams_of(plan, graph)):
        queues[stream].append(task)
    return happens_before(queues, graph.edges())
