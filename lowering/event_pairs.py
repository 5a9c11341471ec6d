"""`ge-verify-events`: drops each event of a plan in turn, and says what goes wrong without it.

Also the events of a plan as pairs of a record and its wait.
Example: tests/filecheck/lowering/stream_labels.mlir.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import PlanOp, RecordOp, WaitOp
from ge_dialect.ge_exec.control import TaskOp, task_id


@dataclass(frozen=True)
class EventPair:
    """A record and the wait it serves.

    Attributes:
        record, wait: The two ops, on different streams.
        recorded: The task before the record.
        waiting: The task after the wait.
    """

    record: RecordOp
    wait: WaitOp
    recorded: TaskOp
    waiting: TaskOp

    @property
    def event(self) -> int:
        """The id, which may serve other pairs as well."""
        return self.record.event.value.data

    @property
    def why(self) -> str:
        """The dependency that the wait is for."""
        return "" if self.wait.why is None else self.wait.why.data


def event_pairs(plan: PlanOp) -> list[EventPair]:
    """Returns the events of a plan that is right, by id, then in the order of the plan.

    An id serves one pair after the other, so that its records and waits pair up in order.
    """
    records: dict[int, list[tuple[int, RecordOp, TaskOp]]] = {}
    waits: dict[int, list[tuple[int, WaitOp, TaskOp]]] = {}
    for stream in plan.streams:
        last: TaskOp | None = None
        pending: list[WaitOp] = []
        for op in stream.body.block.ops:
            if isinstance(op, TaskOp):
                for wait in pending:
                    found = waits.setdefault(wait.event.value.data, [])
                    found.append((task_id(op), wait, op))
                last, pending = op, []
            elif isinstance(op, WaitOp):
                pending.append(op)
            elif isinstance(op, RecordOp) and last is not None:
                found_records = records.setdefault(op.event.value.data, [])
                found_records.append((task_id(last), op, last))
    pairs: list[EventPair] = []
    for event in sorted(records):
        first = sorted(records[event], key=lambda item: item[0])
        second = sorted(waits.get(event, ()), key=lambda item: item[0])
        for (_, record, recorded), (_, wait, waiting) in zip(first, second, strict=False):
            pairs.append(EventPair(record, wait, recorded, waiting))
    return pairs


def needed_events(plan: PlanOp) -> list[tuple[EventPair, str]]:
    """Drops each event in turn, and returns what the check of plans says; empty where nothing.

    An event that can be dropped is redundant: the plan is right without it. The plan is the same
    afterwards.

    Cost: a check of the plan for each event.
    """
    from ge_dialect.lowering.verify_plan import verify_plan

    found: list[tuple[EventPair, str]] = []
    for pair in event_pairs(plan):
        places = [(op, op.next_op, op.parent) for op in (pair.record, pair.wait)]
        for op, _, _ in places:
            op.detach()
        try:
            verify_plan(plan)
            complaint = ""
        except GEError as error:
            complaint = error.message
        for op, following, block in reversed(places):
            assert block is not None
            if following is None:
                block.add_op(op)
            else:
                block.insert_op_before(op, following)
        found.append((pair, complaint))
    return found


def redundant(pairs: Sequence[tuple[EventPair, str]]) -> list[EventPair]:
    """Returns the events of `needed_events` that can be dropped."""
    return [pair for pair, complaint in pairs if not complaint]


@dataclass(frozen=True)
class VerifyEventsPass(ModulePass):
    """Says of each event by a remark what `ge-verify-plan` finds without it, or that nothing.

    Costs a check of the plan for each event; changes nothing.
    """

    name = "ge-verify-events"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for plan in [inner for inner in op.body.block.ops if isinstance(inner, PlanOp)]:
            for pair, complaint in needed_events(plan):
                what = f"event {pair.event}, for {pair.why or 'no reason given'}"
                if complaint:
                    text = f"{what}: without it {complaint}"
                    remarks.analysis(self.name, "needed", pair.wait, text)
                else:
                    remarks.missed(self.name, "needed", pair.wait, f"{what} is redundant")
