"""Streams without races: every edge across streams is ordered, and no event can be dropped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import PlanOp
from ge_dialect.lowering.assign_streams import AssignStreamsPass, distribute
from ge_dialect.lowering.bufferize import BufferizePass
from ge_dialect.lowering.dependencies import task_graph
from ge_dialect.lowering.event_pairs import VerifyEventsPass, event_pairs, needed_events, redundant
from ge_dialect.lowering.insert_events import InsertEventsPass
from ge_dialect.lowering.memory.plan_memory import PlanMemoryPass
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.verify_plan import VerifyPlanPass, verify_plan
from ge_dialect.tools.api import compile as compile_model
from ge_dialect.tools.api import make_context
from ge_dialect.tools.runtime.executor import Executor
from tests.fusion_graphs import parse
from tests.plan_texts import M4, launch, module_of, output, placed, stream
from tests.zoo_streams import check, same

T = "tensor<4xf32>"

# A -> {B, C} -> D, A -> E -> F, and F and D are added.
DIAMOND = (
    ("relu", (0,)),
    ("neg", (1,)),
    ("exp", (1,)),
    ("add", (2, 3)),
    ("abs", (1,)),
    ("neg", (5,)),
    ("add", (4, 6)),
)


def graph_of(ops: Sequence[tuple[str, tuple[int, ...]]]) -> ModuleOp:
    """A graph of the argument, value 0, and of ops that read earlier values."""
    lines: list[str] = []
    for number, (name, operands) in enumerate(ops, start=1):
        types = ", ".join([T] * len(operands))
        read = ", ".join(f"%v{operand}" for operand in operands)
        lines.append(f"%v{number} = ge.{name} {read} : ({types}) -> {T}")
    body = "\n".join(lines)
    return parse(f"func.func @main(%v0: {T}) -> {T} {{\n{body}\nfunc.return %v{len(ops)} : {T}\n}}")


def on_streams(module: ModuleOp, streams: Sequence[int]) -> PlanOp:
    """Plans a module on given streams."""
    ctx = make_context()
    BufferizePass(in_place_shared=False).apply(ctx, module)
    plan = plan_of(module)
    graph = task_graph(plan)
    distribute(plan, graph, streams)
    for pass_ in (PlanMemoryPass(), InsertEventsPass(), VerifyPlanPass()):
        pass_.apply(ctx, module)
    return plan


def test_streams_by_level_with_ids_used_again_are_right_and_every_event_is_needed():
    # Streams by level, numbered from 0 on each level: B and E are both on stream 0.
    module = graph_of(DIAMOND)
    plan = on_streams(module, [0, 0, 1, 0, 2, 1, 0])
    pairs = event_pairs(plan)
    assert len(pairs) == 5
    assert all(pair.why for pair in pairs)
    checked = needed_events(plan)
    assert len(checked) == len(pairs)
    assert not redundant(checked)
    verify_plan(plan)
    x = np.array([1, -2, 3, -4], np.float32)
    wanted = Executor(on_one_stream(DIAMOND)).run({"arg0": x})
    for seed in range(10):
        got = Executor(module).run({"arg0": x}, schedule_seed=seed, poison=True)
        assert all(same(got[name], wanted[name]) for name in wanted)


def on_one_stream(ops: Sequence[tuple[str, tuple[int, ...]]]) -> ModuleOp:
    module = graph_of(ops)
    on_streams(module, [0] * len(ops))
    return module


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[tuple[str, tuple[int, ...]]], list[int]]:
    count = draw(st.integers(2, 9))
    ops: list[tuple[str, tuple[int, ...]]] = []
    for number in range(1, count + 1):
        operands = st.integers(0, number - 1)
        if draw(st.booleans()):
            ops.append(("add", (draw(operands), draw(operands))))
        else:
            ops.append((draw(st.sampled_from(["neg", "relu", "abs"])), (draw(operands),)))
    return ops, draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))


@settings(max_examples=40)
@given(cases())
def test_any_streams_are_made_right_and_no_event_can_go(
    case: tuple[list[tuple[str, tuple[int, ...]]], list[int]],
):
    ops, streams = case
    module = graph_of(ops)
    plan = on_streams(module, streams)
    assert not redundant(needed_events(plan))
    x = np.array([1, -2, 3, -4], np.float32)
    wanted = Executor(on_one_stream(ops)).run({"arg0": x})
    got = Executor(module).run({"arg0": x}, schedule_seed=1, poison=True)
    assert all(same(got[name], wanted[name]) for name in wanted)


RACES = {
    "two streams use the bytes of one buffer, one after the other": (
        stream(0, launch(0, "relu", "%x", "%a"), launch(1, "neg", "%a", "%b")),
        stream(1, launch(2, "relu", "%y", "%d"), launch(3, "neg", "%d", "%e")),
    ),
    "a writer does not wait for a reader": (
        stream(0, launch(0, "relu", "%x", "%a"), "ge_exec.record 0", launch(3, "neg", "%y", "%d")),
        stream(1, "ge_exec.wait 0", launch(1, "neg", "%a", "%b")),
    ),
    "the second of three streams passes the order on too early": (
        stream(0, launch(0, "relu", "%x", "%a"), "ge_exec.record 0"),
        stream(1, launch(1, "neg", "%y", "%b"), "ge_exec.record 1", "ge_exec.wait 0"),
        stream(2, "ge_exec.wait 1", launch(2, "neg", "%a", "%e")),
    ),
}


@pytest.mark.parametrize("name", RACES)
def test_a_race_is_found(name: str):
    buffers = placed(512, ("%a", 128), ("%b", 192), ("%d", 128), ("%e", 256))
    module = module_of("\n".join((buffers, *RACES[name], output("z", "%b"))))
    # An unordered writer shows as the race itself, or as the value that it destroyed.
    with pytest.raises(GEError, match=r"are not ordered|where the buffer of .d. is") as raised:
        verify_plan(plan_of(module))
    assert raised.value.code == "GE0540"


def test_order_through_a_third_stream_is_enough():
    lines = (
        placed(512, ("%a", 128), ("%b", 192), ("%e", 256)),
        stream(0, launch(0, "relu", "%x", "%a"), "ge_exec.record 0"),
        stream(1, "ge_exec.wait 0", launch(1, "neg", "%y", "%b"), "ge_exec.record 1"),
        stream(2, "ge_exec.wait 1", launch(2, "neg", "%a", "%e")),
        output("z", "%e"),
    )
    plan = plan_of(module_of("\n".join(lines)))
    verify_plan(plan)
    assert not redundant(needed_events(plan))


def test_a_redundant_event_is_told():
    lines = (
        placed(512, ("%a", 128), ("%b", 192)),
        stream(0, launch(0, "relu", "%x", "%a"), "ge_exec.record 0"),
        stream(1, 'ge_exec.wait 0 why "RAW on %a"', launch(1, "neg", "%y", "%b")),
        output("z", "%b"),
    )
    module = module_of("\n".join(lines))
    before = str(module)
    with remarks.collect() as found:
        VerifyEventsPass().apply(make_context(), module)
    assert str(module) == before
    assert [r.message for r in found.remarks] == ["event 0, for RAW on %a is redundant"]
    assert M4 in before


@pytest.mark.parametrize(
    ("model", "level", "streams"),
    [
        ("clip.ts-static", 2, 3),
        ("mamba.dynamo-static", 2, 4),
        ("llama-layer.dynamo23-static", 0, 4),
        ("control-flow.dynamo-static", 0, 2),
        ("resnet50.ts-static", 0, 2),
    ],
)
def test_models_on_several_streams(zoo: Path, model: str, level: int, streams: int):
    row = check(zoo / model, level)
    assert row.streams == streams
    assert row.faults == ()


TWO = """
func.func @main(%x: tensor<512x512xf16>) -> (tensor<512x512xf16>, tensor<512x512xf16>) {
  %a = ge.softmax %x axis -1 {ge.stream_label = "soft"}
    : (tensor<512x512xf16>) -> tensor<512x512xf16> loc("first")
  %b = ge.matmul %x, %x
    : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16> loc("second")
  func.return %a, %b : tensor<512x512xf16>, tensor<512x512xf16>
}
"""


def test_a_label_of_an_op_is_a_stream():
    for labels in ((), ("second=product",)):
        found = compile_model(parse(TWO), level=0, streams=2, stream_labels=labels)
        plan = plan_of(found.module)
        names = [[t.name for t in s.body.block.ops] for s in plan.streams]
        assert names == [["ge_exec.launch"], ["ge_exec.launch"]]
        assert "stream_label" not in str(found.module)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ({"streams": 0}, "GE0530", "expected 'streams' >= 1, got 0"),
        ({"streams": 1985}, "GE0530", "at most the 1984 of Ascend910B1, got 1985"),
        ({"streams": 1}, "GE0530", ">= 2, one for each of 1 labels and one for the tasks without"),
        ({"streams": 2, "stream_labels": ("third=a",)}, "GE0532", "from a node 'third'"),
        ({"streams": 2, "stream_labels": ("third",)}, "GE0532", "NODE=LABEL, got 'third'"),
    ],
)
def test_what_cannot_be_is_refused_with_numbers(options: dict[str, Any], code: str, message: str):
    with pytest.raises(GEError, match=message) as raised:
        compile_model(parse(TWO), level=0, **options)
    assert raised.value.code == code


def test_limits_of_events_and_tasks_are_checked_before_memory_is_planned(tmp_path: Path):
    from importlib.resources import files

    text = files("ge_dialect.targets").joinpath("Ascend910B1.toml").read_text()
    few = tmp_path / "few.toml"
    few.write_text(text.replace("events = 65535", "events = 1\ntasks = 3"))
    module = graph_of(DIAMOND)
    BufferizePass().apply(make_context(), module)
    with pytest.raises(GEError, match="stream 0 has 7 tasks, records and waits") as raised:
        AssignStreamsPass(1, str(few)).apply(make_context(), module)
    assert (raised.value.code, raised.value.hint) == ("GE0531", "compile for at least 3 streams")
    wide = parse(TWO.replace("%x, %x\n", "%a, %x\n").replace("%a, %b :", "%b, %b :"))
    BufferizePass().apply(make_context(), wide)
    labels = ("first=a", "second=b")
    few.write_text(text.replace("events = 65535", "events = 1"))
    AssignStreamsPass(2, str(few), labels).apply(make_context(), wide)
    assert "ge_exec.wait" not in str(wide)  # events come after memory


def test_streams_that_do_not_pay_are_told():
    with remarks.collect() as found:
        compile_model(graph_of((("neg", (0,)), ("exp", (1,)))), level=0, streams=2)
    told = [r for r in found.remarks if r.pass_name == "ge-assign-streams"]
    assert [r.message for r in told] == ["one stream is kept, several would not be faster"]
    with remarks.collect() as found:
        compile_model(graph_of(DIAMOND), level=0, streams=3)
    told = [r for r in found.remarks if r.pass_name == "ge-assign-streams"]
    assert told[0].kind is remarks.Kind.PASSED
    assert "streams take" in told[0].message
