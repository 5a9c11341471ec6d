"""Branches and loops: tasks that run tasks."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Region, SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import BranchOp, LoopOp, StoreOp
from ge_dialect.ge_exec.control import ControlOp, TaskOp
from ge_dialect.lowering.plan_names import describe_task
from ge_dialect.tools.runtime.arenas import Memory


def run_control(task: ControlOp, memory: Memory, run: Callable[[TaskOp], None]) -> None:
    """Runs a branch or a loop.

    Args:
        task: The branch or loop.
        memory: Of the execution.
        run: Runs one task inside it.

    Raises:
        GEError: A loop runs another number of times than it says (GE0809), or a task fails.
    """
    if isinstance(task, BranchOp):
        _run_region(task.then_tasks if _truth(memory, task.condition) else task.else_tasks, run)
    else:
        _run_loop(task, memory, run)


def _run_loop(task: LoopOp, memory: Memory, run: Callable[[TaskOp], None]) -> None:
    limit = int(memory.read(task.limit).reshape(-1)[0])
    iteration = 0
    while iteration < limit and _truth(memory, task.go_on):
        memory.writable[task.iteration].fill(iteration)
        _run_region(task.tasks, run)
        iteration += 1
    if task.known_trips not in (None, iteration):
        raise GEError(
            "GE0809",
            f"{describe_task(task)}: expected {task.known_trips} iterations, got {iteration}",
            hint="the model declares a result with one slice for each iteration",
        )
    for store in task.tasks.block.ops:
        if isinstance(store, StoreOp) and store.target in memory.tellers.growing:
            memory.read(store.target)  # joins the slices, which tells how many there are
            memory.tellers.check(store.target, memory.sizes)


def _truth(memory: Memory, value: SSAValue) -> bool:
    return bool(memory.read(value).reshape(-1)[0])


def _run_region(region: Region, run: Callable[[TaskOp], None]) -> None:
    for op in region.block.ops:
        assert isinstance(op, TaskOp)
        run(op)
