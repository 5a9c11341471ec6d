"""A run as a trace that Perfetto and Chrome show: what was predicted, or what `ge-run` measured.

Streams are tracks, tasks slices, events arrows from the task that records to the one that waits,
bytes of live buffers a counter. Format: Trace Event Format, JSON object form; times in us.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ge_dialect.ge_exec import BufferOp, LaunchOp, PlanOp
from ge_dialect.ge_exec.control import TaskOp, reads, task_id, writes
from ge_dialect.ge_exec.memory import Storage, base_of
from ge_dialect.json_text import json_text
from ge_dialect.locations import location_name
from ge_dialect.lowering.event_pairs import event_pairs
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.predict import predict_module
from ge_dialect.lowering.size_texts import size_lines
from ge_dialect.targets.dlti import target_of

if TYPE_CHECKING:
    from ge_dialect.lowering.predict import Prediction
    from ge_dialect.tools.api import CompiledPlan
    from ge_dialect.tools.runtime.executor import TaskTime

_PID = 1
_FIRST_THREAD = 1
"""Of stream 0: thread 0 is the idle thread to Perfetto, which merges its track with another's."""
_DIGITS = 3
"""Of us: nanoseconds, the unit of Perfetto."""


@dataclass(frozen=True)
class Slice:
    """A task in time.

    Attributes:
        task: The task.
        stream: The id of its stream.
        start_us, end_us: Since the run began.
        details: What a viewer shows beside it.
    """

    task: TaskOp
    stream: int
    start_us: float
    end_us: float
    details: Mapping[str, Any]


def trace_of(compiled: CompiledPlan) -> str:
    """Returns the trace of the predicted run of a compilation, as JSON."""
    title = f"{compiled.name} on {target_of(compiled.module).name}"
    found = predict_module(compiled.module)
    return predicted_trace(plan_of(compiled.module), found, title)


def predicted_trace(plan: PlanOp, found: Prediction, title: str) -> str:
    """Returns the trace of a predicted run, as JSON.

    Args:
        plan: With records and waits.
        found: The prediction for it.
        title: Of the model and machine.
    """
    ids = [stream.id.value.data for stream in plan.streams]
    slices: list[Slice] = []
    critical = set(found.run.critical_path)
    for number, (task, cost) in enumerate(zip(found.graph.tasks, found.costs, strict=True)):
        start, end = found.run.starts[number], found.run.ends[number]
        details = {
            "engine": cost.engine,
            "limited by": cost.cost.limited_by,
            "alone (us)": round(cost.us, _DIGITS),
            "bound (us)": round(cost.cost.bound_us, _DIGITS),
            "HBM bytes": cost.cost.hbm_bytes,
            "critical path": number in critical,
        }
        cause = found.run.causes[number]
        if cause >= 0:
            details["waited for task"] = task_id(found.graph.tasks[cause])
        slices.append(Slice(task, ids[found.streams[number]], start, end, details))
    return _trace(plan, slices, f"{title}, predicted")


def measured_trace(plan: PlanOp, times: Sequence[TaskTime], title: str) -> str:
    """Returns the trace of a run on the host, as JSON.

    Args:
        plan: That was run.
        times: Of its tasks; those inside branches and loops are slices in their slice.
        title: Of the model.
    """
    tasks = {task_id(task): task for task in plan.all_tasks()}
    slices = [
        Slice(tasks[t.task], t.stream, t.start * 1e6, (t.start + t.seconds) * 1e6, {})
        for t in times
    ]
    return _trace(plan, slices, f"{title}, reference kernels on the host")


def _trace(plan: PlanOp, slices: Sequence[Slice], title: str) -> str:
    events = [_metadata("process_name", _FIRST_THREAD, title)]
    if sizes := size_lines(plan):  # viewers show labels beside the name
        labels = {"labels": ", ".join(sizes)}
        events.append(_metadata("process_labels", _FIRST_THREAD, "") | {"args": labels})
    for stream in plan.streams:
        number = stream.id.value.data
        events.append(_metadata("thread_name", _thread(number), f"stream {number}"))
    ordered = sorted(slices, key=lambda s: (s.start_us, -s.end_us, task_id(s.task)))
    events += [_slice(one) for one in ordered]
    by_task = {one.task: one for one in ordered}
    events += _flows(plan, by_task)
    events += _memory(plan, by_task)
    return json_text({"displayTimeUnit": "ns", "traceEvents": events}, indent=1)


def _metadata(name: str, thread: int, text: str) -> dict[str, Any]:
    return {"ph": "M", "pid": _PID, "tid": thread, "name": name, "args": {"name": text}}


def _thread(stream: int) -> int:
    return stream + _FIRST_THREAD


def _slice(one: Slice) -> dict[str, Any]:
    task = one.task
    kind = task.name.removeprefix("ge_exec.")
    name = task.kernel.string_value() if isinstance(task, LaunchOp) else kind
    start = round(one.start_us, _DIGITS)
    args = {"task": task_id(task), "node": location_name(task) or "", **one.details}
    return {
        "ph": "X",
        "pid": _PID,
        "tid": _thread(one.stream),
        "ts": start,
        "dur": round(round(one.end_us, _DIGITS) - start, _DIGITS),
        "name": name,
        "cat": kind,
        "args": args,
    }


def _flows(plan: PlanOp, slices: Mapping[TaskOp, Slice]) -> Iterator[dict[str, Any]]:
    """Yields arrows: they leave just before the end of a slice, and arrive at the start of one."""
    for number, pair in enumerate(event_pairs(plan)):
        source, target = slices.get(pair.recorded), slices.get(pair.waiting)
        if source is None or target is None:
            continue
        common = {"pid": _PID, "id": number, "name": pair.why or "event", "cat": "event"}
        leaves = round(max(source.start_us, source.end_us - 10**-_DIGITS), _DIGITS)
        yield {"ph": "s", "tid": _thread(source.stream), "ts": leaves, **common}
        arrives = round(target.start_us, _DIGITS)
        yield {"ph": "f", "bp": "e", "tid": _thread(target.stream), "ts": arrives, **common}


def _memory(plan: PlanOp, slices: Mapping[TaskOp, Slice]) -> Iterator[dict[str, Any]]:
    """Yields the bytes of buffers from their first writer's start to their last reader's end."""
    spans: dict[Storage, tuple[float, float]] = {}
    for task, one in slices.items():
        for value in (*reads(task), *writes(task)):
            owner, _ = base_of(value)
            if isinstance(owner, BufferOp):
                first, last = spans.get(owner, (one.start_us, one.end_us))
                spans[owner] = (min(first, one.start_us), max(last, one.end_us))
    changes: dict[float, int] = {}
    for owner, (first, last) in spans.items():
        assert isinstance(owner, BufferOp)
        for moment, size in ((first, owner.size), (last, -owner.size)):
            moment = round(moment, _DIGITS)
            changes[moment] = changes.get(moment, 0) + size
    live = 0
    for moment in sorted(changes):
        live += changes[moment]
        yield {
            "ph": "C",
            "pid": _PID,
            "ts": moment,
            "name": "live buffers",
            "args": {"bytes": live},
        }
