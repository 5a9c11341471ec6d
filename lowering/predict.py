"""What the machine model says of a plan: the cost of each task, a predicted run, and its bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ge_dialect.ge_exec import PlanOp
from ge_dialect.ge_exec.control import TaskOp
from ge_dialect.lowering.dependencies import TaskGraph, streams_of, task_graph
from ge_dialect.lowering.machine.plan_cost import PlanCosts, TaskCost
from ge_dialect.lowering.machine.simulate import (
    Simulation,
    TimePart,
    sim_task,
    simulate,
    time_parts,
)
from ge_dialect.targets.target import ASSUMED

if TYPE_CHECKING:
    from ge_dialect.targets import Target

TRUSTED = 0.9
"""A time is called an estimate on assumptions where less of it rests on figures with a source."""

_US = 1e6
_FIXED = {
    "launch": ("overhead_us.launch",),
    "start": ("overhead_us.kernel_floor",),
    "event": ("overhead_us.event",),
}


@dataclass(frozen=True)
class Prediction:
    """What the machine model says of a plan.

    Attributes:
        costs: Of each task, in the order of the plan.
        graph: The tasks, and who waits for whom.
        streams: Of each task.
        run: The simulated run.
        parts: What the run waited for along its critical path, in order.
        hbm_bytes: That reach HBM in a run from a cold cache.
        bound_us: What no run of these tasks on this machine goes below, by the data sheet alone.
        assumed_us: us of the run that rest on each figure of the target without a source; where
            several figures make one time, on the first of them.
    """

    costs: Sequence[TaskCost]
    graph: TaskGraph
    streams: Sequence[int]
    run: Simulation
    parts: Sequence[TimePart]
    hbm_bytes: int
    bound_us: float
    assumed_us: Mapping[str, float]

    @property
    def makespan_us(self) -> float:
        """When the last task ends, predicted."""
        return self.run.makespan_us

    @property
    def assumed_share(self) -> float:
        """The part of the time that rests on figures without a source, from 0 to 1."""
        return sum(self.assumed_us.values()) / self.makespan_us if self.makespan_us else 0.0

    @property
    def is_trusted(self) -> bool:
        """Whether at most a tenth of the time rests on figures without a source."""
        return self.assumed_share <= 1 - TRUSTED + 1e-9

    def reasons(self) -> dict[str, float]:
        """Returns us of the run by what it waited for; they add up to the makespan."""
        found: dict[str, float] = {}
        for part in self.parts:
            found[part.reason] = found.get(part.reason, 0.0) + part.us
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def limits(self) -> dict[str, int]:
        """Returns how many tasks are limited by what, most often first."""
        found: dict[str, int] = {}
        for cost in self.costs:
            found[cost.cost.limited_by] = found.get(cost.cost.limited_by, 0) + 1
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def predict_module(module: ModuleOp) -> Prediction:
    """Returns the predicted run of the plan of a module, on the target that it is for."""
    from ge_dialect.lowering.om.encode import plan_of
    from ge_dialect.targets.dlti import target_of

    return predict_plan(plan_of(module), target_of(module))


def predict_plan(plan: PlanOp, target: Target, *, stream_weights: bool = False) -> Prediction:
    """Returns the run of a plan that the machine model of a target predicts.

    Args:
        plan: With addresses, or without: then every buffer has bytes of its own.
        target: The machine.
        stream_weights: Whether weights pass by L2 when they are read (an L2 no-allocate hint), so
            that they leave it to activations.
    """
    graph = task_graph(plan)
    streams = streams_of(plan, graph)
    model = PlanCosts.of(plan, target)
    costs = _costs(model, graph.tasks, stream_weights)
    tasks = [sim_task(cost.cost, stream) for cost, stream in zip(costs, streams, strict=True)]
    run = simulate(tasks, graph.edges(), event_us=target.overhead.event_us)
    parts = time_parts(tasks, run)
    return Prediction(
        costs=costs,
        graph=graph,
        streams=streams,
        run=run,
        parts=parts,
        hbm_bytes=sum(cost.cost.hbm_bytes for cost in costs),
        bound_us=plan_bound(model, graph, costs),
        assumed_us=_assumed(target, costs, parts),
    )


def task_costs(plan: PlanOp, tasks: Sequence[TaskOp], target: Target) -> list[TaskCost]:
    """Returns the predicted cost of each task of a plan; each kernel is looked at once."""
    return _costs(PlanCosts.of(plan, target), tasks, False)


def _costs(model: PlanCosts, tasks: Sequence[TaskOp], stream_weights: bool) -> list[TaskCost]:
    missed = model.missed(tasks, stream_weights=stream_weights)
    return [model.cost(task, own.bytes) for task, own in zip(tasks, missed, strict=True)]


def plan_bound(model: PlanCosts, graph: TaskGraph, costs: Sequence[TaskCost]) -> float:
    """Returns us that no schedule of the tasks goes below, by the data sheet alone.

    The longest of: a chain of tasks that wait for each other, each at its bound; what all tasks
    together ask of one resource; the compulsory bytes at the bandwidth of HBM.

    Source: Graham, "Bounds on multiprocessing timing anomalies" (1969).
    """
    ready = [0.0] * len(costs)
    followers: list[list[int]] = [[] for _ in costs]
    for producer, consumer in graph.edges():
        followers[producer].append(consumer)
    longest = 0.0
    for task, cost in enumerate(costs):  # the order of the plan respects the dependencies
        end = ready[task] + cost.cost.bound_us
        longest = max(longest, end)
        for follower in followers[task]:
            ready[follower] = max(ready[follower], end)
    totals: dict[str, float] = {}
    for task in graph.tasks:
        for name, us in model.totals(task).items():
            totals[name] = totals.get(name, 0.0) + us
    hbm = model.compulsory_bytes(graph.tasks) / model.target.hbm.bandwidth * _US
    return max(longest, hbm, *totals.values())


def _assumed(
    target: Target, costs: Sequence[TaskCost], parts: Sequence[TimePart]
) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for part in parts:
        figures = _FIXED.get(part.reason)
        if figures is None:
            figures = costs[part.task].cost.figures.get(part.resource, ())
        unknown = [figure for figure in figures if target.confidence(figure) == ASSUMED]
        if unknown and part.us > 0:
            found[unknown[0]] = found.get(unknown[0], 0.0) + part.us
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
