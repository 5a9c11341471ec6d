"""What the machine model says of a plan: the cost of each task, and a predicted run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import Engine, GEOp
from ge_dialect.ge.dtypes import dtype_of
from ge_dialect.ge.types import is_tensor
from ge_dialect.ge_exec import CopyOp, KernelOp, LaunchOp, PlanOp, kernels_by_name
from ge_dialect.ge_exec.memory import buffer_bytes
from ge_dialect.ge_exec.tasks import TaskOp, reads, writes
from ge_dialect.lowering.dependencies import streams_of, task_graph
from ge_dialect.lowering.machine.cost import KernelCost, Work, copy_cost, kernel_cost
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
    """Returns the predicted cost of each task of a plan; each kernel is looked at once."""
    kernels = kernels_by_name(plan)
    operations = {name: kernel_operations(kernel) for name, kernel in kernels.items()}
    costs: list[TaskCost] = []
    for task in tasks:
        if isinstance(task, CopyOp):
            cost = copy_cost(buffer_bytes(task.source.type), target)
            costs.append(TaskCost(cost, str(Engine.DMA)))
        else:
            name = task.kernel.string_value()
            costs.append(_launch_cost(task, kernels[name], operations[name], target))
    return costs


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
