"""`ge-insert-events`: waits where streams have to wait for each other, and nowhere else.

A dependency across streams gets an event only if nothing else orders the two tasks. An id is used
again once the wait it served is certainly over; each wait says which dependency it is for.

Example: tests/filecheck/lowering/insert_events.mlir.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.ge.access import ops_of
from ge_dialect.ge_exec import PlanOp, RecordOp, WaitOp
from ge_dialect.lowering.dependencies import TaskGraph, streams_of, task_graph
from ge_dialect.lowering.schedule.events import Sync, insert_events


@dataclass(frozen=True)
class InsertEventsPass(ModulePass):
    """Adds records and waits so that every dependency across streams is kept."""

    name = "ge-insert-events"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ge_dialect.targets.dlti import target_of

        limit = target_of(op).limits.events
        for plan in [inner for inner in op.body.block.ops if isinstance(inner, PlanOp)]:
            _forget(plan)
            if len(plan.streams) < 2:
                continue  # every dependency holds by the order of the stream
            graph = task_graph(plan)
            order = range(len(graph.tasks))
            streams = streams_of(plan, graph)
            for sync in insert_events(order, streams, graph.dependencies, limit=limit):
                _insert(graph, sync)


def _forget(plan: PlanOp) -> None:
    for stream in plan.streams:
        for op in ops_of(stream.body.block):
            if isinstance(op, RecordOp | WaitOp):
                op.detach()
                op.erase()


def _insert(graph: TaskGraph, sync: Sync) -> None:
    producer, consumer = graph.tasks[sync.producer], graph.tasks[sync.consumer]
    wait = WaitOp(sync.event, sync.why)
    wait.location = consumer.location
    record = RecordOp(sync.event)
    record.location = producer.location
    block = consumer.parent
    assert block is not None
    block.insert_op_before(wait, consumer)
    _insert_after(record, producer)


def _insert_after(record: Operation, task: Operation) -> None:
    """Puts a record behind a task, and behind the records that are there already."""
    block, last = task.parent, task
    assert block is not None
    while isinstance(following := last.next_op, RecordOp):
        last = following
    block.insert_op_after(record, last)
