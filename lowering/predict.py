"""What the machine model says of a plan: the cost of each task, and a predicted run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Region

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import Engine, GEOp
from ge_dialect.ge.dtypes import dtype_of
from ge_dialect.ge.types import is_tensor
from ge_dialect.ge_exec import BranchOp, KernelOp, LaunchOp, LoopOp, PlanOp, kernels_by_name
from ge_dialect.ge_exec.control import TaskOp, reads, writes
from ge_dialect.ge_exec.memory import buffer_bytes
from ge_dialect.lowering.at_sizes import bound_kernel, greatest_sizes
from ge_dialect.lowering.dependencies import streams_of, task_graph
from ge_dialect.lowering.machine.cost import (
    KernelCost,
    Work,
    copy_cost,
    kernel_cost,
    repeated_cost,
)
from ge_dialect.lowering.machine.simulate import Simulation, sim_task, simulate

if TYPE_CHECKING:
    from ge_dialect.targets import Target


@dataclass(frozen=True)
class TaskCost:
    """The predicted cost of a task, and the engine that runs it."""

    cost: KernelCost
    engine: str

    @property
    def us(self) -> float:
        """Predicted us of the task alone on the machine."""
        return self.cost.us


def task_costs(plan: PlanOp, tasks: Sequence[TaskOp], target: Target) -> list[TaskCost]:
    """Returns the predicted cost of each task of a plan; each kernel is looked at once.

    Kernels with symbols are taken at the greatest sizes.

    A branch costs what its more expensive side does; a loop its tasks times the iterations, one
    where their number is not known before the run.
    """
    kernels = kernels_by_name(plan)
    sizes = greatest_sizes(plan)
    operations = {
        name: kernel_operations(bound_kernel(kernel, sizes)) for name, kernel in kernels.items()
    }
    model = _Costs(kernels, operations, target)
    return [model.of(task) for task in tasks]


@dataclass(frozen=True)
class _Costs:
    kernels: Mapping[str, KernelOp]
    operations: Mapping[str, dict[tuple[str, str], float]]
    target: Target

    def of(self, task: TaskOp) -> TaskCost:
        if isinstance(task, LaunchOp):
            name = task.kernel.string_value()
            return _launch_cost(task, self.kernels[name], self.operations[name], self.target)
        if isinstance(task, BranchOp):
            sides = (self._region(region, 1) for region in task.regions)
            return TaskCost(max(sides, key=lambda cost: cost.us), str(Engine.HOST))
        if isinstance(task, LoopOp):
            trips = 1 if task.known_trips is None else task.known_trips
            return TaskCost(self._region(task.tasks, trips), str(Engine.HOST))
        return TaskCost(copy_cost(buffer_bytes(task.source.type), self.target), str(Engine.DMA))

    def _region(self, region: Region, times: int) -> KernelCost:
        costs: list[KernelCost] = []
        for op in region.block.ops:
            assert isinstance(op, TaskOp)
            costs.append(self.of(op).cost)
        return repeated_cost(costs, times)


def _launch_cost(
    task: LaunchOp,
    kernel: KernelOp,
    operations: dict[tuple[str, str], float],
    target: Target,
) -> TaskCost:
    work = Work(
        operations,
        sum(buffer_bytes(value.type) for value in reads(task)),
        sum(buffer_bytes(value.type) for value in writes(task)),
        any(isinstance(op, FlashAttentionOp) for op in kernel.body.block.ops),
    )
    return TaskCost(kernel_cost(work, target), kernel.engine.data)


def kernel_operations(kernel: KernelOp) -> dict[tuple[str, str], float]:
    """Returns the work of a kernel by engine and element type.

    Data movement and host ops count as bytes only: the machine model has no rate for them.
    """
    found: dict[tuple[str, str], float] = {}
    for op in kernel.body.block.ops:
        if isinstance(op, GEOp) and op.ENGINE in (Engine.CUBE, Engine.VECTOR) and op.results:
            key = (str(op.ENGINE), _element_type(op))
            found[key] = found.get(key, 0.0) + op.flops()
    return found


def _element_type(op: GEOp) -> str:
    """The element type an op computes in: that of its first operand, or of its result."""
    values = [*op.operands, *op.results]
    type_ = values[0].type
    return dtype_of(type_.element_type).name if is_tensor(type_) else "f32"


def predict_plan(plan: PlanOp, target: Target) -> Simulation:
    """Returns the run of a plan that the machine model of a target predicts."""
    graph = task_graph(plan)
    streams = streams_of(plan, graph)
    costs = task_costs(plan, graph.tasks, target)
    tasks = [sim_task(cost.cost, stream) for cost, stream in zip(costs, streams, strict=True)]
    return simulate(tasks, graph.edges(), event_us=target.overhead.event_us)
