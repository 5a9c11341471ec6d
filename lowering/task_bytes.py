"""What a task moves to and from HBM, counted the same for prediction and for reports.

Source: the definition of traffic in the machine model: each operand read and each result written by
each task, weights included, views nothing, and what the tiles of a kernel read again.
"""

from __future__ import annotations

from ge_dialect.ge_exec import KernelOp, StoreOp
from ge_dialect.ge_exec.control import TaskOp, own_reads, own_writes
from ge_dialect.ge_exec.memory import buffer_bytes


def bytes_read(task: TaskOp, kernel: KernelOp | None) -> int:
    """Returns the bytes that a task itself reads; objects count 0.

    Args:
        task: Of a plan; of a branch or loop only what it reads itself.
        kernel: What a launch runs.
    """
    found = sum(buffer_bytes(value.type) for value in own_reads(task))
    return found if kernel is None else found + kernel.reread_bytes


def bytes_written(task: TaskOp) -> int:
    """Returns the bytes that a task itself writes; of what it stores, those of the slice."""
    if isinstance(task, StoreOp):
        return buffer_bytes(task.source.type)
    return sum(buffer_bytes(value.type) for value in own_writes(task))
