"""Poisoning of dead bytes, so that a read after the end of a lifetime shows."""

from __future__ import annotations

from collections import Counter
from threading import Lock

from ge_dialect.ge_exec import BufferOp, PlanOp
from ge_dialect.ge_exec.memory import base_of
from ge_dialect.ge_exec.tasks import TaskOp, reads, writes
from ge_dialect.tools.runtime.arenas import Memory, byte_range


class Lifetimes:
    """Counts the accesses to each buffer off while a plan runs; of outputs they never end.

    Args:
        plan: The plan.
        memory: Of the execution.
    """

    def __init__(self, plan: PlanOp, memory: Memory):
        self._memory = memory
        self._lock = Lock()
        outputs = {base_of(output.buffer)[0] for output in plan.outputs}
        self._left = Counter(
            buffer for task in plan.tasks() for buffer in touched(task) if buffer not in outputs
        )

    def finished(self, task: TaskOp) -> None:
        """Poisons the buffers that no task but this one had still to touch.

        Called by the task's stream before it goes on, so that whoever takes the bytes next, and
        has to wait for this task, comes later.
        """
        with self._lock:
            dead: list[BufferOp] = []
            for buffer in touched(task):
                if buffer in self._left:
                    self._left[buffer] -= 1
                    if self._left[buffer] == 0:
                        dead.append(buffer)
        for buffer in dead:
            self._memory.poison(buffer, written_over(buffer, task))


def touched(task: TaskOp) -> list[BufferOp]:
    """Returns the buffers whose bytes a task reads or writes, each once."""
    bases = (base_of(value)[0] for value in (*reads(task), *writes(task)))
    return list(dict.fromkeys(base for base in bases if isinstance(base, BufferOp)))


def written_over(buffer: BufferOp, task: TaskOp) -> list[tuple[int, int]]:
    """Returns the byte ranges that a task wrote for another buffer in the arena of `buffer`."""
    found: list[tuple[int, int]] = []
    for value in writes(task):
        base, start, end = byte_range(value)
        if base is not buffer and base.arena is buffer.arena and start < end:
            found.append((start, end))
    return found
