"""When the tasks of a plan touch what: moments, where a branch or a loop is more than one.

On a stream every task is a moment; the tasks inside a branch or loop are moments of their own,
between one at which it is entered and one at which it is left. What a loop needs in its next
iteration lives as long as the loop: its life ends where the region closes, not at the last read.

Source: the rule is that of loop-carried liveness in Appel, "Modern Compiler Implementation",
section 10.1, for structured control flow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ge_dialect.ge_exec import LoopOp, PlanOp, StoreOp
from ge_dialect.ge_exec.control import ControlOp, TaskOp, inner_tasks, own_reads, own_writes
from ge_dialect.ge_exec.memory import Storage, base_of
from ge_dialect.lowering.dependencies import TaskGraph, plan_order, streams_of
from ge_dialect.lowering.schedule.happens_before import Accesses, HappensBefore, happens_before


@dataclass(frozen=True)
class Moments:
    """The order of the moments of a plan, and at which of them what is touched.

    Attributes:
        order: What happens before what.
        readers: Moments at which something is read.
        writers: Moments at which something is written.
        tasks: The task of each moment; None where a branch or loop is left.
    """

    order: HappensBefore
    readers: dict[Storage, list[int]]
    writers: dict[Storage, list[int]]
    tasks: Sequence[TaskOp | None]

    def accesses(self, storage: Storage, *, always: bool = False) -> Accesses:
        """Returns the accesses of a buffer; `always` keeps its bytes for the whole plan."""
        return Accesses(
            tuple(self.writers.get(storage, ())),
            tuple(self.readers.get(storage, ())),
            live_in=always,
            live_out=always,
        )


def moments(plan: PlanOp, graph: TaskGraph) -> Moments:
    """Returns the moments of a plan; linear in accesses times the depth of loops.

    Args:
        plan: With streams.
        graph: Of its tasks.
    """
    if not any(isinstance(task, ControlOp) for task in graph.tasks):
        return Moments(plan_order(plan, graph), graph.readers, graph.writers, graph.tasks)
    numbering = Numbering()
    spans = [numbering.add(task) for task in graph.tasks]
    for first, last in numbering.loops:
        numbering.extend(first, last)
    queues: list[list[int]] = [[] for _ in plan.streams]
    for (first, last), stream in zip(spans, streams_of(plan, graph), strict=True):
        queues[stream].extend(range(first, last + 1))
    edges = [(spans[a][1], spans[b][0]) for a, b in graph.edges()]
    order = happens_before(queues, edges)
    return Moments(order, numbering.readers, numbering.writers, numbering.tasks)


@dataclass
class Numbering:
    """Numbers moments in the order of the plan.

    Attributes:
        tasks: The task of each moment; None where a branch or loop is left.
        loops: First and last moment of each loop, inner ones first.
    """

    tasks: list[TaskOp | None] = field(default_factory=list["TaskOp | None"])
    readers: dict[Storage, list[int]] = field(default_factory=lambda: defaultdict(list))
    writers: dict[Storage, list[int]] = field(default_factory=lambda: defaultdict(list))
    loops: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    touched: list[list[Storage]] = field(default_factory=list[list[Storage]])

    def add(self, task: TaskOp) -> tuple[int, int]:
        """Numbers a task and those inside it; returns its first and last moment."""
        first = self._moment(task)
        if not isinstance(task, ControlOp):
            return first, first
        for inner in inner_tasks(task):
            self.add(inner)
        last = self._moment(None)
        if isinstance(task, LoopOp):
            self.loops.append((first, last))
        return first, last

    def _moment(self, task: TaskOp | None) -> int:
        moment = len(self.tasks)
        self.tasks.append(task)
        read = [] if task is None else _storages(own_reads(task))
        written = [] if task is None else _storages(own_writes(task))
        if isinstance(task, StoreOp):
            read += written  # the other slices stay
        for storage in read:
            self.readers[storage].append(moment)
        for storage in written:
            self.writers[storage].append(moment)
        self.touched.append(list(dict.fromkeys([*read, *written])))
        return moment

    def extend(self, first: int, last: int) -> None:
        """Lets what more than one iteration needs live from entering a loop to leaving it."""
        inside = {storage: None for moment in self.touched[first:last] for storage in moment}
        for storage in inside:
            if self._outlives_an_iteration(storage, first, last):
                self.readers[storage] += [first, last]
                self.touched[last].append(storage)

    def _outlives_an_iteration(self, storage: Storage, first: int, last: int) -> bool:
        reads, writes = self.readers.get(storage, []), self.writers.get(storage, [])
        if any(moment < first or moment > last for moment in (*reads, *writes)):
            return True
        return bool(reads) and (not writes or min(reads) <= min(writes))


def _storages(values: Sequence[SSAValue]) -> list[Storage]:
    return [base_of(value)[0] for value in values]
