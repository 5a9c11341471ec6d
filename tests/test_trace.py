"""Traces: predicted and measured runs in the Trace Event Format."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.tools import api, ge_compile, ge_run
from tests.test_streams_race import DIAMOND, graph_of

Event = dict[str, Any]


def events_of(text: str) -> list[Event]:
    found = json.loads(text)
    assert found["displayTimeUnit"] == "ns"
    return found["traceEvents"]


def of_kind(events: list[Event], phase: str) -> list[Event]:
    return [event for event in events if event["ph"] == phase]


def check_format(events: list[Event]) -> None:
    """What a viewer needs: tracks with names, slices that nest, arrows that start in slices."""
    assert {event["ph"] for event in events} <= set("MXsfC")
    slices = of_kind(events, "X")
    named = {e["tid"] for e in of_kind(events, "M") if e["name"] == "thread_name"}
    assert {event["tid"] for event in slices} <= named
    for thread in named:
        own = sorted((e["ts"], e["ts"] + e["dur"]) for e in slices if e["tid"] == thread)
        assert all(first[1] <= second[0] + 1e-6 for first, second in pairwise(own))
    starts = {flow["id"]: flow for flow in of_kind(events, "s")}
    ends = {flow["id"]: flow for flow in of_kind(events, "f")}
    assert set(starts) == set(ends)
    for flow in (*starts.values(), *ends.values()):
        inside = [e for e in slices if e["tid"] == flow["tid"]]
        assert any(e["ts"] <= flow["ts"] <= e["ts"] + e["dur"] for e in inside)
    assert all(starts[key]["ts"] <= ends[key]["ts"] for key in starts)
    counters = of_kind(events, "C")
    assert all(event["args"]["bytes"] >= 0 for event in counters)
    assert not counters or counters[-1]["args"]["bytes"] == 0


def test_a_predicted_run_is_a_trace():
    plan = api.compile(graph_of(DIAMOND), level=0, streams=3)
    text = plan.trace()
    events = events_of(text)
    check_format(events)
    slices = of_kind(events, "X")
    assert len(slices) == plan.summary["tasks"] == len(DIAMOND)
    assert len(of_kind(events, "s")) == plan.summary["events"] > 0
    end = max(event["ts"] + event["dur"] for event in slices)
    assert end == pytest.approx(plan.summary["predicted_us"], abs=1e-3)
    assert min(event["ts"] for event in slices) == 0
    assert {"limited by", "HBM bytes", "critical path", "task"} <= set(slices[0]["args"])
    assert text == api.compile(graph_of(DIAMOND), level=0, streams=3).trace()
    assert len({event["tid"] for event in slices}) == len(plan_of(plan.module).streams) > 1


def test_the_tools_write_traces(tmp_path: Path, root: Path):
    om, predicted, measured = (tmp_path / name for name in ("m.om", "p.json", "m.json"))
    summary = tmp_path / "s.json"
    model = str(root / "examples" / "bert_tiny.onnx")
    compile_arguments = [model, "-o", str(om), "--trace", str(predicted), "-q"]
    assert ge_compile.run([*compile_arguments, "--summary", str(summary)]) == 0
    assert ge_run.main_with([str(om), "--random-inputs", "0", "--trace", str(measured)]) == 0
    for path in (predicted, measured):
        check_format(events_of(path.read_text()))
    slices = of_kind(events_of(predicted.read_text()), "X")
    makespan = max(event["ts"] + event["dur"] for event in slices)
    assert makespan == pytest.approx(json.loads(summary.read_text())["predicted_us"], abs=1e-3)
    assert "predicted" in predicted.read_text()
    assert "on the host" in measured.read_text()


def test_a_trace_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path, root: Path):
    from ge_dialect.diagnostics import GEError

    model = str(root / "examples" / "bert_tiny.onnx")
    om = tmp_path / "m.om"
    with pytest.raises(GEError, match="cannot write"):
        ge_compile.run([model, "-o", str(om), "--trace", str(tmp_path), "-q"])
    assert not om.exists()


def test_the_trace_processor_of_perfetto_reads_a_trace(tmp_path: Path):
    processor = pytest.importorskip("perfetto.trace_processor", reason="perfetto is not installed")
    binary = os.environ.get("GE_TRACE_PROCESSOR")
    if binary is None:
        pytest.skip("set GE_TRACE_PROCESSOR to the trace_processor_shell of Perfetto")
    plan = api.compile(graph_of(DIAMOND), level=0, streams=3)
    path = tmp_path / "trace.json"
    path.write_text(plan.trace())
    config = processor.TraceProcessorConfig(bin_path=binary)
    with processor.TraceProcessor(trace=str(path), config=config) as reader:
        row = next(iter(reader.query("select min(ts) a, max(ts + dur) b, count(*) n from slice")))
        assert (row.b - row.a) / 1000 == pytest.approx(plan.summary["predicted_us"], abs=2e-3)
        assert row.n == plan.summary["tasks"]
        flows = next(iter(reader.query("select count(*) n from flow")))
        assert flows.n == plan.summary["events"]
