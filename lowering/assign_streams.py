"""`ge-assign-streams`: distributes the tasks of a plan over streams, by the machine model.

Runs before memory is planned and before events are inserted, as in GE. Every stream keeps its tasks
in the order of the plan; one stream is always possible, and kept where more would not be faster in
the simulated run. Limits of the target are checked here, before any work on memory.

Example: tests/filecheck/lowering/assign_streams.mlir.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.access import ops_of
from ge_dialect.ge_exec import KernelOp, PlanOp, StreamOp
from ge_dialect.ge_exec.control import TaskOp
from ge_dialect.lowering.dependencies import TaskGraph, task_graph
from ge_dialect.lowering.schedule.labels import (
    forget_labels,
    label_streams,
    parse_labels,
    task_labels,
)
from ge_dialect.passes import statistics

if TYPE_CHECKING:
    from ge_dialect.lowering.schedule.streams import Assignment
    from ge_dialect.targets import Target


@dataclass(frozen=True)
class AssignStreamsPass(ModulePass):
    """Puts the tasks of every plan on streams.

    Options:
    - `streams`: at most this many, labels included. Default 1.
    - `target`: name of a chip, or path of a TOML file. Default: the target of the module.
    - `labels`: `NODE=LABEL` each: tasks of a node, or of all that fit a pattern with `*`, go to the
      stream of the label. Default: none but those of the attribute `ge.stream_label`.
    """

    name = "ge-assign-streams"

    streams: int = 1
    target: str | None = None
    labels: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ge_dialect.targets.dlti import target_of

        target = target_of(op, self.target)
        check_streams(self.streams, op, self.target)
        patterns = parse_labels(self.labels)
        for plan in [inner for inner in op.body.block.ops if isinstance(inner, PlanOp)]:
            # On one stream every dependency holds by its order.
            graph = TaskGraph(plan.tasks()) if self.streams == 1 else task_graph(plan)
            labels = task_labels(graph.tasks, patterns)
            streams = self._assign(plan, graph, target, labels)
            check_limits(graph, streams, target)
            distribute(plan, graph, streams)
            statistics.count(self.name, "streams beside the first", max(streams, default=0))
            if any(label is not None for label in labels):
                forget_labels(k for k in op.body.block.ops if isinstance(k, KernelOp | PlanOp))

    def _assign(
        self, plan: PlanOp, graph: TaskGraph, target: Target, labels: Sequence[str | None]
    ) -> Sequence[int]:
        homes = label_streams(labels, self.streams)
        if self.streams == 1:
            return [0] * len(graph.tasks)
        from ge_dialect.lowering.machine.simulate import sim_task, simulate
        from ge_dialect.lowering.predict import task_costs
        from ge_dialect.lowering.schedule.streams import choose_streams

        costs = task_costs(plan, graph.tasks, target)
        edges, event_us = graph.edges(), target.overhead.event_us

        def judge(streams: Sequence[int]) -> float:
            tasks = [sim_task(c.cost, s) for c, s in zip(costs, streams, strict=True)]
            return simulate(tasks, edges, event_us=event_us).makespan_us

        found = choose_streams(
            [cost.us for cost in costs],
            edges,
            [cost.engine for cost in costs],
            self.streams,
            judge,
            sync_us=event_us,
            fixed={i: homes[label] for i, label in enumerate(labels) if label is not None},
        )
        self._remark(plan, found)
        return found.streams

    def _remark(self, plan: PlanOp, found: Assignment) -> None:
        count = max(found.streams, default=0) + 1
        several, one = f"{found.us:.1f} us predicted", f"{found.single_us:.1f} us"
        if count > 1 and found.us <= found.single_us:
            text = f"{count} streams take {several}, one takes {one}"
            remarks.passed(self.name, "streams", plan, text)
        elif count > 1:
            remarks.missed(
                self.name,
                "streams",
                plan,
                "the labels make the plan slower than one stream",
                reason=remarks.ReasonClass.COST,
                found=several,
                wanted=f"at most {one}",
                fix="leave labels out",
            )
        elif len(found.streams) > 1:
            remarks.missed(
                self.name,
                "streams",
                plan,
                "one stream is kept, several would not be faster",
                reason=remarks.ReasonClass.COST,
                found=f"{found.best_us:.1f} us predicted",
                wanted=f"1 % less than the {one} of one stream",
            )


def check_streams(streams: int, module: ModuleOp, override: str | None = None) -> None:
    """Checks that a number of streams is possible at all.

    Args:
        streams: How many are wanted.
        module: Names the target.
        override: Name or path of a target that counts before that of the module.

    Raises:
        GEError: It is less than one, or the target has fewer (GE0530).
    """
    from ge_dialect.targets.dlti import target_of

    if streams < 1:
        raise GEError("GE0530", f"expected 'streams' >= 1, got {streams}")
    target = target_of(module, override)
    if streams > (limit := target.limits.streams):
        raise GEError(
            "GE0530",
            f"expected 'streams' to be at most the {limit} of {target.name}, got {streams}",
        )


def check_limits(graph: TaskGraph, streams: Sequence[int], target: Target) -> None:
    """Checks that a target has the events, and its streams the room, that a plan needs.

    Raises:
        GEError: There are too few events (GE0507), or too many tasks on a stream (GE0531).
    """
    from ge_dialect.lowering.schedule.events import insert_events

    syncs = insert_events(
        range(len(streams)), streams, graph.dependencies, limit=target.limits.events
    )
    if (limit := target.limits.tasks) is None:
        return
    counts: dict[int, int] = {}
    syncing = (streams[task] for sync in syncs for task in (sync.producer, sync.consumer))
    for stream in (*streams, *syncing):
        counts[stream] = counts.get(stream, 0) + 1
    for stream, count in sorted(counts.items()):
        if count > limit:
            raise GEError(
                "GE0531",
                f"stream {stream} has {count} tasks, records and waits, {target.name} takes"
                f" {limit} on one",
                hint=f"compile for at least {-(-len(streams) // limit)} streams",
            )


def _is_stream(stream: StreamOp, tasks: Sequence[TaskOp]) -> bool:
    """Whether a stream is the first one and has exactly these tasks."""
    return stream.id.value.data == 0 and ops_of(stream.body.block) == list(tasks)


def distribute(plan: PlanOp, graph: TaskGraph, streams: Sequence[int]) -> None:
    """Moves the tasks of a plan to new streams, in the order of the plan; events are dropped."""
    old = plan.streams
    if len(old) == 1 and not any(streams) and _is_stream(old[0], graph.tasks):
        return
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
