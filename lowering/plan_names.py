"""How messages name what is in a plan."""

from __future__ import annotations

from ge_dialect.ge_exec import InputOp, LaunchOp, ObjectOp, WeightOp
from ge_dialect.ge_exec.control import TaskOp, task_id
from ge_dialect.ge_exec.memory import Storage
from ge_dialect.locations import location_name


def describe(op: Storage) -> str:
    """Returns how a message names a buffer or object."""
    if isinstance(op, InputOp):
        return f"input '{op.io_name.data}'"
    if isinstance(op, WeightOp):
        return f"weight '{op.value.data.name}'"
    kind = "object" if isinstance(op, ObjectOp) else "buffer"
    return f"the {kind} of '{location_name(op) or op.result.name_hint or 'an op without a name'}'"


def describe_task(task: TaskOp) -> str:
    """Returns how a message names a task."""
    what = (
        f"@{task.kernel.string_value()}"
        if isinstance(task, LaunchOp)
        else task.name.removeprefix("ge_exec.")
    )
    where = location_name(task)
    return f"task {task_id(task)} {what}" + (f" ('{where}')" if where else "")
