"""No single corruption of a right plan does harm: the check finds it, or the values stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from xdsl.parser import Parser

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import ArenaOp, PlanOp, RecordOp, WaitOp
from ge_dialect.ge_exec.memory import PlacedOp, offset_of
from ge_dialect.lowering.assign_streams import distribute
from ge_dialect.lowering.bufferize import BufferizePass
from ge_dialect.lowering.dependencies import task_graph
from ge_dialect.lowering.insert_events import InsertEventsPass
from ge_dialect.lowering.memory.plan_memory import PlanMemoryPass
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.tools.api import make_context
from ge_dialect.tools.runtime.executor import Executor
from tests.plan_mutations import corruptions, drop, move, shrink, swap
from tests.plan_texts import CHAIN, FEEDS, FORK, T4, module_of
from tests.test_zoo import arrays, compiled

GRAPH = f"""
func.func @main(%x: {T4} {{ge.name = "x"}}, %y: {T4} {{ge.name = "y"}}) -> ({T4}, {T4}) {{
  %a = ge.add %x, %y : ({T4}, {T4}) -> {T4}
  %b = ge.neg %a : ({T4}) -> {T4}
  %c = ge.relu %a : ({T4}) -> {T4}
  %d = ge.sub %b, %c : ({T4}, {T4}) -> {T4}
  %e = ge.neg %c : ({T4}) -> {T4}
  %f = ge.mul %e, %d : ({T4}, {T4}) -> {T4}
  %g = ge.relu %f : ({T4}) -> {T4}
  %h = ge.sub %g, %e : ({T4}, {T4}) -> {T4}
  func.return %h, %d : {T4}, {T4}
}}"""


def planned(streams: tuple[int, ...]) -> str:
    """The planned graph as text, its tasks on the given streams."""
    ctx = make_context()
    module = Parser(ctx, GRAPH).parse_module()
    BufferizePass().apply(ctx, module)
    plan = plan_of(module)
    distribute(plan, task_graph(plan), streams)
    PlanMemoryPass().apply(ctx, module)
    InsertEventsPass().apply(ctx, module)
    verify_plan(plan_of(module))
    return str(module)


# The plan's text, and the kernels it needs: None where both are in the first.
TEXTS = {
    "chain": CHAIN,
    "fork": FORK,
    "one stream": planned((0,) * 8),
    "two streams": planned((0, 1, 0, 0, 1, 0, 1, 1)),
    "three streams": planned((0, 1, 2, 0, 2, 1, 0, 2)),
}


def fresh(name: str) -> PlanOp:
    """The plan, in a module of its own."""
    text = TEXTS[name]
    if "ge_exec.plan" not in text:
        return plan_of(module_of(text))
    return plan_of(Parser(make_context(), text).parse_module())


def executor(plan: PlanOp) -> Executor:
    module = plan.get_toplevel_object()
    return Executor(module)  # pyright: ignore[reportArgumentType]  # the module of `fresh`


def moved(name: str) -> Iterator[tuple[str, PlanOp]]:
    """Yields the plan with each thing in an arena at another place."""
    for index, sample in enumerate(fresh(name).body.block.ops):
        for shift in (-512, -64, -4, 4, 64, 512) if isinstance(sample, PlacedOp) else ():
            plan = fresh(name)
            op = list(plan.body.block.ops)[index]
            assert isinstance(op, PlacedOp)
            if (offset := offset_of(op)) is not None and offset + shift >= 0:
                move(op, offset + shift)
                yield f"op {index} moved by {shift}", plan


def unsynchronised(name: str) -> Iterator[tuple[str, PlanOp]]:
    """Yields the plan without each of its records and waits."""
    count = sum(isinstance(op, RecordOp | WaitOp) for op in fresh(name).walk())
    for index in range(count):
        plan = fresh(name)
        op = [op for op in plan.walk() if isinstance(op, RecordOp | WaitOp)][index]
        drop(op)
        yield f"without {op.name} {index}", plan


def swapped(name: str) -> Iterator[tuple[str, PlanOp]]:
    """Yields the plan with each two tasks in the place of each other; they keep their numbers."""
    for first, second in combinations(range(len(fresh(name).tasks())), 2):
        plan = fresh(name)
        swap(plan.tasks()[first], plan.tasks()[second])
        yield f"tasks {first} and {second} swapped", plan


def cut(name: str) -> Iterator[tuple[str, PlanOp]]:
    """Yields the plan in an arena that is too small."""
    for missing in (1, 16, 64):
        plan = fresh(name)
        end = max((offset_of(op) or 0) + op.size for op in (*plan.inputs, *plan.buffers))
        for op in plan.body.block.ops:
            if isinstance(op, ArenaOp):
                shrink(op, end - missing)
        yield f"arena cut by {missing}", plan


def is_caught(plan: PlanOp) -> bool:
    try:
        verify_plan(plan)
    except GEError as error:
        assert error.code == "GE0540"
        return True
    return False


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_not_caught_does_no_harm(name: str):
    right = executor(fresh(name)).run(FEEDS)
    caught = 0
    for what, plan in (*moved(name), *swapped(name)):
        if is_caught(plan):
            caught += 1
            continue
        for seed in range(2):
            found = executor(plan).run(FEEDS, schedule_seed=seed, poison=True)
            for output, value in right.items():
                np.testing.assert_array_equal(found[output], value, err_msg=what)
    assert caught > 4


@pytest.mark.parametrize("name", ["fork", "two streams", "three streams"])
def test_every_record_and_every_wait_is_needed(name: str):
    corrupted = dict(unsynchronised(name))
    assert len(corrupted) >= 4
    assert [what for what, plan in corrupted.items() if not is_caught(plan)] == []


@pytest.mark.parametrize("name", TEXTS)
def test_an_arena_that_is_too_small_is_caught(name: str):
    assert all(is_caught(plan) for _, plan in cut(name))


def test_corruptions_of_a_real_plan_are_caught_or_harmless(zoo: Path):
    """As benchmarks/mutations.py does with every model, with more corruptions."""
    folder = zoo / "llama-layer.ts-static"
    module = compiled(folder, level=1, streams=3).module
    plan, feeds = plan_of(module), arrays(folder / "io.npz", "input")
    right = Executor(module).run(feeds)
    kinds: Counter[str] = Counter()
    for kind, undo in corruptions(plan, Random(0), 6):
        if is_caught(plan):
            kinds[kind] += 1
        else:
            found = Executor(module).run(feeds, schedule_seed=0, poison=True)
            for output, value in right.items():
                np.testing.assert_array_equal(found[output], value, err_msg=kind)
        undo()
    verify_plan(plan)
    events = {kind for kind in kinds if kind.endswith("dropped")}
    assert events == {"record dropped", "wait dropped"}
    assert min(kinds["address moved"], kinds["address of another"], kinds["tasks swapped"]) > 1
    assert kinds["arena cut"] == 2
