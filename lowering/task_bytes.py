"""What a task moves to and from HBM, counted the same for prediction and for reports.

Source: the definition of traffic in the machine model: each operand read and each result written by
each task, weights included, views nothing, and what the tiles of a kernel read again. Of a table or
what is sliced, only the parts that are picked.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from ge_dialect.ge.picking import parts_of_value
from ge_dialect.ge.types import byte_size
from ge_dialect.ge_exec import KernelOp, StoreOp
from ge_dialect.ge_exec.control import TaskOp, own_reads, own_writes
from ge_dialect.ge_exec.memory import buffer_bytes


def bytes_read(task: TaskOp, kernel: KernelOp | None) -> int:
    """Returns the bytes that a task itself reads; objects count 0.

    Args:
        task: Of a plan; of a branch or loop only what it reads itself.
        kernel: What a launch runs.
    """
    values = own_reads(task)
    if kernel is None:
        return sum(buffer_bytes(value.type) for value in values)
    found = sum(operand_bytes(kernel, index, value) for index, value in enumerate(values))
    return found + kernel.reread_bytes


def operand_bytes(kernel: KernelOp, index: int, value: SSAValue) -> int:
    """Returns the bytes that a kernel reads of `value`, its operand of that index."""
    size, needed = buffer_bytes(value.type), needed_bytes(kernel.body.block.args[index])
    return size if needed is None else min(size, needed)


def needed_bytes(argument: SSAValue) -> int | None:
    """Returns the bytes that a kernel reads of an argument at most; None for all of it."""
    if argument.first_use is None or (parts := parts_of_value(argument)) is None:
        return None
    sizes = [byte_size(part.type) for part in parts]
    return None if None in sizes else sum(size or 0 for size in sizes)


def bytes_written(task: TaskOp) -> int:
    """Returns the bytes that a task itself writes; of what it stores, those of the slice."""
    if isinstance(task, StoreOp):
        return buffer_bytes(task.source.type)
    return sum(buffer_bytes(value.type) for value in own_writes(task))
