"""Poisoning of dead bytes, so that a read after the end of a lifetime shows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from threading import Lock

from xdsl.ir import Operation

from ge_dialect.ge_exec import BufferOp, LoopOp, ObjectOp, PlanOp, StoreOp
from ge_dialect.ge_exec.control import TaskOp, flatten, own_reads, own_writes, writes
from ge_dialect.ge_exec.memory import base_of
from ge_dialect.tools.runtime.arenas import Memory, byte_range


class Lifetimes:
    """Knows after which task a buffer is dead; outputs never are.

    On the streams of the plan, which run at once, accesses are counted off. What only the tasks
    inside a branch or a loop touch is dead after the last of them, in every iteration.

    Args:
        plan: The plan.
        memory: Of the execution.
    """

    def __init__(self, plan: PlanOp, memory: Memory):
        self._memory = memory
        self._lock = Lock()
        outputs = {base_of(output.buffer)[0] for output in plan.outputs}
        self._inside = deaths_inside(plan)
        inner = {buffer for dead in self._inside.values() for buffer in dead}
        self._left = Counter(
            buffer
            for task in plan.tasks()
            for buffer in touched(task)
            if buffer not in outputs and buffer not in inner
        )

    def finished(self, task: TaskOp) -> None:
        """Poisons the buffers that no task but this one had still to touch.

        Called by the task's stream before it goes on, so that whoever takes the bytes next, and
        has to wait for this task, comes later.
        """
        dead = list(self._inside.get(task, ()))
        if isinstance(task.parent_op(), TaskOp):
            self._poison(dead, task)
            return
        with self._lock:
            for buffer in touched(task):
                if buffer in self._left:
                    self._left[buffer] -= 1
                    if self._left[buffer] == 0:
                        dead.append(buffer)
        self._poison(dead, task)

    def _poison(self, dead: list[BufferOp | ObjectOp], task: TaskOp) -> None:
        for buffer in dead:
            if isinstance(buffer, ObjectOp):
                self._memory.forget(buffer)
            else:
                self._memory.poison(buffer, written_over(buffer, task))


def touched(task: TaskOp) -> list[BufferOp | ObjectOp]:
    """Returns the buffers and objects that a task reads or writes, each once."""
    found = [
        base_of(value)[0]
        for inner in flatten(task)
        for value in (*own_reads(inner), *own_writes(inner))
    ]
    return list(dict.fromkeys(base for base in found if isinstance(base, BufferOp | ObjectOp)))


def written_over(buffer: BufferOp, task: TaskOp) -> list[tuple[int, int]]:
    """Returns the byte ranges that a task wrote for another buffer in the arena of `buffer`."""
    found: list[tuple[int, int]] = []
    for value in writes(task):
        if isinstance(base_of(value)[0], ObjectOp):
            continue
        base, start, end = byte_range(value)
        if base is not buffer and base.arena is buffer.arena and start < end:
            found.append((start, end))
    return found


def deaths_inside(plan: PlanOp) -> dict[TaskOp, list[BufferOp | ObjectOp]]:
    """Returns for tasks inside branches and loops what is dead after each.

    That is what nobody outside its branch or loop touches, and what an iteration writes before it
    reads it.
    """
    accesses: dict[BufferOp | ObjectOp, list[TaskOp]] = defaultdict(list)
    for task in plan.all_tasks():
        for value in dict.fromkeys((*own_reads(task), *own_writes(task))):
            if isinstance(base := base_of(value)[0], BufferOp | ObjectOp):
                accesses[base].append(task)
    found: dict[TaskOp, list[BufferOp | ObjectOp]] = defaultdict(list)
    for buffer, tasks in accesses.items():
        if (last := _last_inside(buffer, tasks)) is not None:
            found[last].append(buffer)
    return dict(found)


def _last_inside(buffer: BufferOp | ObjectOp, tasks: list[TaskOp]) -> TaskOp | None:
    """Returns the task inside a branch or loop after which a buffer is dead, if there is one."""
    paths = [list(reversed(list(_path(task)))) for task in tasks]
    depth = 0
    while all(len(path) > depth + 1 for path in paths) and len({p[depth] for p in paths}) == 1:
        depth += 1
    blocks = {path[depth].parent for path in paths}
    if depth == 0 or len(blocks) > 1 or _is_carried(buffer, tasks[0], paths[0][:depth]):
        return None
    return paths[-1][depth]


def _path(task: TaskOp) -> Iterator[TaskOp]:
    """Yields a task, and the branches and loops around it from the inside out."""
    around: Operation | None = task
    while isinstance(around, TaskOp):
        yield around
        around = around.parent_op()


def _is_carried(buffer: BufferOp | ObjectOp, first: TaskOp, around: list[TaskOp]) -> bool:
    """Whether the first access reads what an earlier iteration has left."""
    read = any(base_of(value)[0] is buffer for value in own_reads(first))
    partly = isinstance(first, StoreOp) and base_of(first.target)[0] is buffer
    return (read or partly) and any(isinstance(task, LoopOp) for task in around)
