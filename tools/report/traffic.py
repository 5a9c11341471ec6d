"""HBM traffic, counted the same everywhere.

Traffic is the bytes of each HBM operand read and each HBM result written by each task, weights
included, views nothing, and what the tiles of a kernel read again from HBM. Source: the definition
in the machine model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.greatest import byte_size, greatest_of
from ge_dialect.ge.picking import may_pick, parts_of
from ge_dialect.ge.structure import FusionOp
from ge_dialect.ge_exec import BranchOp, KernelOp, LaunchOp, LoopOp, PlanOp, kernels_by_name
from ge_dialect.ge_exec.control import TaskOp, own_reads
from ge_dialect.ge_exec.memory import base_of, buffer_bytes
from ge_dialect.lowering.task_bytes import bytes_read, bytes_written, operand_bytes


def graph_ops(module: ModuleOp) -> Sequence[GEOp]:
    """Returns the ops of a graph that are not constants, those in branches and loops as well.

    What is inside a kernel is not counted.
    """
    found: list[GEOp] = []
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and not function.is_declaration:
            _add_ops(function.body, found)
    return found


def _add_ops(region: Region, found: list[GEOp]) -> None:
    for op in region.block.ops:
        if type(op) is ConstantOp or not isinstance(op, GEOp):
            continue
        found.append(op)
        if op.regions and not isinstance(op, FusionOp):
            for inner in op.regions:
                _add_ops(inner, found)


def count_ops(module: ModuleOp, times: Mapping[Operation, int] | None = None) -> int:
    """Returns the number of ops of a graph, constants left out.

    Args:
        module: Holds the graph.
        times: For ops that stand for several, how many these are.
    """
    often: Mapping[Operation, int] = {} if times is None else times
    return sum(often.get(op, 1) for op in graph_ops(module))


def graph_traffic(module: ModuleOp, times: Mapping[Operation, int] | None = None) -> int:
    """Returns the bytes that a graph moves where every op is a kernel; unknown sizes count 0.

    Symbols count as their greatest values.

    Args:
        module: Holds the graph.
        times: For ops that stand for several, how many these are.
    """
    total = 0
    often: Mapping[Operation, int] = {} if times is None else times
    known: dict[int, tuple[Attribute, int]] = {}  # by identity: equal types are mostly one object

    def size_of(value: SSAValue) -> int:
        type_ = value.type
        if (found := known.get(id(type_))) is None:
            found = known[id(type_)] = type_, byte_size(type_) or 0
        return found[1]

    with greatest_of(module):
        for op in graph_ops(module):
            if op.view_of() is not None or (op.regions and not isinstance(op, FusionOp)):
                continue
            moved = sum(map(size_of, op.results))
            for index, value in enumerate(operands_of(op)):
                parts = parts_of(op, index) if may_pick(op) else None
                size = size_of(value)
                moved += size if parts is None else min(size, sum(map(size_of, parts)))
            total += moved * often.get(op, 1)
    return total


def plan_traffic(plan: PlanOp) -> int:
    """Returns the bytes that the tasks of a plan move; objects count 0, as their bytes are unknown.

    Of a branch the side that moves more; of a loop its tasks times the iterations, one where their
    number is not known before the run.
    """
    kernels = kernels_by_name(plan)
    return sum(task_traffic(task, kernels) for task in plan.tasks())


def task_traffic(task: TaskOp, kernels: Mapping[str, KernelOp]) -> int:
    """Returns the bytes that a task moves, given the kernels of the module by symbol."""
    kernel = kernels.get(task.kernel.string_value()) if isinstance(task, LaunchOp) else None
    own = bytes_read(task, kernel) + bytes_written(task)
    if isinstance(task, BranchOp):
        return own + max(_region_traffic(region, kernels) for region in task.regions)
    if isinstance(task, LoopOp):
        return own + _region_traffic(task.tasks, kernels) * (
            1 if task.known_trips is None else task.known_trips
        )
    return own


def _region_traffic(region: Region, kernels: Mapping[str, KernelOp]) -> int:
    return sum(task_traffic(op, kernels) for op in region.block.ops if isinstance(op, TaskOp))


def compulsory_traffic(plan: PlanOp) -> int:
    """Returns the bytes that no plan can avoid: weights and inputs read, outputs written, once.

    Of a weight or an input of which tasks only pick parts, those parts.
    """
    read = _picked(plan)
    placed = sum(min(op.size, read.get(op, op.size)) for op in (*plan.weights, *plan.inputs))
    return placed + sum(buffer_bytes(op.buffer.type) for op in plan.outputs)


def _picked(plan: PlanOp) -> dict[Operation, int]:
    """Returns the bytes that tasks pick out of weights and inputs; those inside loops, all."""
    kernels, own = kernels_by_name(plan), set(plan.tasks())
    sizes: dict[Operation, int] = {op: op.size for op in (*plan.weights, *plan.inputs)}
    read: dict[Operation, int] = {}
    for task in plan.all_tasks():
        kernel = kernels.get(task.kernel.string_value()) if isinstance(task, LaunchOp) else None
        for index, value in enumerate(own_reads(task)):
            owner = base_of(value)[0]
            if (size := sizes.get(owner)) is None:
                continue
            if kernel is not None and task in own:
                size = operand_bytes(kernel, index, value)
            read[owner] = read.get(owner, 0) + size
    return read
