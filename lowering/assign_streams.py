"""`ge-assign-streams`: distributes the tasks of a plan over streams, by the machine model.

Runs before memory is planned and before events are inserted, as in GE. Every stream keeps its tasks
in the order of the plan; one stream is always possible, and kept where more would not be faster.

Example: tests/filecheck/lowering/assign_streams.mlir.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import PlanOp, StreamOp
from ge_dialect.lowering.dependencies import TaskGraph, task_graph

if TYPE_CHECKING:
    from ge_dialect.targets import Target


@dataclass(frozen=True)
class AssignStreamsPass(ModulePass):
    """Puts the tasks of every plan on streams.

    Options:
    - `streams`: at most this many. Default 1.
    - `target`: name of a chip, or path of a TOML file. Default: the target of the module.
    """

    name = "ge-assign-streams"

    streams: int = 1
    target: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.streams < 1:
            raise GEError("GE0530", f"expected 'streams' >= 1, got {self.streams}")
        from ge_dialect.targets.dlti import target_of

        target = target_of(op, self.target)
        if self.streams > target.limits.streams:
            raise GEError(
                "GE0530",
                f"expected 'streams' to be at most the {target.limits.streams} of {target.name},"
                f" got {self.streams}",
            )
        for plan in [inner for inner in op.body.block.ops if isinstance(inner, PlanOp)]:
            graph = task_graph(plan)
            distribute(plan, graph, self._assign(plan, graph, target))

    def _assign(self, plan: PlanOp, graph: TaskGraph, target: Target) -> Sequence[int]:
        if self.streams == 1:
            return [0] * len(graph.tasks)
        from ge_dialect.lowering.predict import task_costs
        from ge_dialect.lowering.schedule.streams import assign_streams

        costs = task_costs(plan, graph.tasks, target)
        return assign_streams(
            [cost.us for cost in costs],
            graph.edges(),
            [cost.engine for cost in costs],
            self.streams,
            sync_us=target.overhead.event_us,
        )


def distribute(plan: PlanOp, graph: TaskGraph, streams: Sequence[int]) -> None:
    """Moves the tasks of a plan to new streams, in the order of the plan; events are dropped."""
    old = plan.streams
    new = [StreamOp(number) for number in range(max(streams, default=0) + 1)]
    block = plan.body.block
    for stream in new:
        if old:
            block.insert_op_before(stream, old[0])
        else:
            block.add_op(stream)
    for task, number in zip(graph.tasks, streams, strict=True):
        task.detach()
        new[number].body.block.add_op(task)
    for stream in old:
        stream.detach()
        stream.erase()
