"""`ge-schedule`: what it says about memory is what the plan needs, and it never needs more."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import PlanOp
from ge_dialect.ge_exec.memory import base_of
from ge_dialect.interpreters.functions import run_function
from ge_dialect.lowering.bufferize import BufferizePass
from ge_dialect.lowering.memory.plan_memory import Request, work_problem
from ge_dialect.passes.schedule.exact import best_order, segment
from ge_dialect.passes.schedule.model import model_of
from ge_dialect.passes.schedule.orders import candidates, segments_of, settled
from ge_dialect.passes.schedule.profile import profile_of
from ge_dialect.passes.schedule.schedule import SchedulePass
from ge_dialect.passes.schedule.tasks import Tasks, peaks, tasks_of
from ge_dialect.passes.zero_copy.zero_copy import ZeroCopyPass
from ge_dialect.targets.reader import builtin_target
from ge_dialect.tools.api import make_context
from tests.test_bufferize import parse

ALIGNMENT = 512


def random_graph(seed: int, ops: int) -> str:
    """A function of unary and binary ops, reshapes, joined values and pieces, some given out."""
    pick = random.Random(seed)
    sizes = {"%x": 256}
    lines: list[str] = []
    for i in range(ops):
        name, a = f"%v{i}", pick.choice(list(sizes)[-6:])
        same = [v for v in sizes if sizes[v] == sizes[a]]
        t = f"tensor<{sizes[a]}xf32>"
        kind = pick.choice(["exp", "neg", "sub", "sub", "reshape", "concat", "slice", "tile"])
        size = sizes[a]
        if kind in ("exp", "neg", "reshape"):
            text = f"ge.{kind} {a} : ({t}) -> {t}"
        elif kind == "sub":
            text = f"ge.sub {a}, {pick.choice(same)} : ({t}, {t}) -> {t}"
        elif kind == "concat" and size <= 1024:
            size *= 2
            other = pick.choice(same)
            text = f"ge.concat {a}, {other} axis 0 : ({t}, {t}) -> tensor<{size}xf32>"
        elif kind == "slice" and size >= 64:
            size //= 2
            text = (
                f"ge.slice {a} starts [{size}] ends [{2 * size}] axes [0] steps [1]"
                f" : ({t}) -> tensor<{size}xf32>"
            )
        else:
            size = min(size * 2, 4096)
            text = f"ge.tile {a} repeats [{size // sizes[a]}] : ({t}) -> tensor<{size}xf32>"
        lines.append(f"{name} = {text}")
        sizes[name] = size
    given_out = [f"%v{ops - 1}", *pick.sample([f"%v{i}" for i in range(ops - 1)], min(2, ops - 1))]
    types = ", ".join(f"tensor<{sizes[v]}xf32>" for v in given_out)
    body = "\n".join(lines)
    return (
        f"func.func @main(%x: tensor<256xf32>) -> ({types}) {{\n{body}\n"
        f"func.return {', '.join(given_out)} : {types}\n}}"
    )


def body_of(module: ModuleOp) -> Block:
    return next(op for op in module.body.block.ops if isinstance(op, FuncOp)).body.block


def predicted(module: ModuleOp) -> int:
    model = model_of(body_of(module), ALIGNMENT, {})
    assert model is not None
    return profile_of(model, range(len(model.units))).peak


def planned(module: ModuleOp) -> int:
    """The bytes that the buffers of the plan have alive at the peak, outputs left out."""
    BufferizePass().apply(make_context(), module)
    plan = next(op for op in module.body.block.ops if isinstance(op, PlanOp))
    outputs = {base_of(op.buffer)[0] for op in plan.outputs}
    buffers = [op for op in plan.buffers if op not in outputs]
    problem = work_problem(plan, buffers, (), Request(builtin_target("Ascend910B1"), ALIGNMENT))
    return problem.lower_bound


@pytest.mark.parametrize("zero_copy", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_predicted_peak_is_that_of_the_plan(seed: int, zero_copy: bool):
    module = parse(random_graph(seed, 24))
    if zero_copy:
        ZeroCopyPass(grow=seed % 2 == 0).apply(make_context(), module)
    before = predicted(module)
    assert before == planned(module.clone())
    SchedulePass().apply(make_context(), module)
    module.verify()
    assert predicted(module) == planned(module.clone()) <= before


@pytest.mark.parametrize("policy", ["throughput", "balanced", "conservative"])
def test_a_new_order_computes_the_same(policy: str):
    x = np.linspace(-2, 2, 256, dtype=np.float32)
    for seed in range(4):
        module = parse(random_graph(seed, 20))
        expected = run_function(module, [x])
        SchedulePass(policy).apply(make_context(), module)
        module.verify()
        for found, wanted in zip(run_function(module, [x]), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_two_runs_give_the_same_order():
    texts: list[str] = []
    for _ in range(2):
        module = parse(random_graph(3, 40))
        SchedulePass().apply(make_context(), module)
        texts.append(str(module))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("policy", ["throughput", "balanced", "conservative"])
def test_a_second_run_changes_nothing(policy: str):
    for seed in range(10):
        module = parse(random_graph(seed, 30))
        SchedulePass(policy).apply(make_context(), module)
        once = str(module)
        SchedulePass(policy).apply(make_context(), module)
        assert str(module) == once


def orders(tasks: Tasks) -> list[list[int]]:
    """All orders that respect what the tasks need."""
    count = len(tasks.units)
    return [
        list(order)
        for order in itertools.permutations(range(count))
        if all(order.index(n) < order.index(t) for t in range(count) for n in tasks.needs[t])
    ]


def small_tasks(seed: int, ops: int) -> Tasks:
    model = model_of(body_of(parse(random_graph(seed, ops))), ALIGNMENT, {})
    assert model is not None
    return tasks_of(model)


def whole_peak(tasks: Tasks, order: Sequence[int]) -> int:
    return peaks(tasks, order, [range(len(order))])[0]


@pytest.mark.parametrize("seed", range(8))
def test_the_search_over_sets_finds_the_best_of_all_orders(seed: int):
    tasks = small_tasks(seed, 8)
    best = min(whole_peak(tasks, order) for order in orders(tasks))
    part = segment(tasks, range(len(tasks.units)), 0)
    found = best_order(part, limit=1 << 40, budget=1 << 20)
    assert found is not None
    assert whole_peak(tasks, found[0]) == found[1] == best
    assert best_order(part, limit=best, budget=1 << 20) is None  # nothing is below the best


@given(st.integers(0, 10_000), st.integers(1, 30))
def test_every_candidate_respects_what_tasks_need(seed: int, ops: int):
    tasks = small_tasks(seed, ops)
    for order in (*candidates(tasks), settled(tasks)):
        position = {task: i for i, task in enumerate(order)}
        assert sorted(order) == list(range(len(tasks.units)))
        for task, needs in enumerate(tasks.needs):
            assert all(position[need] < position[task] for need in needs)
    positions = [task for group in segments_of(tasks) for task in group]
    assert positions == list(range(len(tasks.units)))


@given(st.integers(0, 10_000))
def test_an_order_read_backwards_costs_the_same(seed: int):
    tasks = small_tasks(seed, 16)
    order = list(range(len(tasks.units)))
    assert whole_peak(tasks, order) == whole_peak(tasks.reversed(), order[::-1])


def test_throughput_only_moves_what_is_equally_urgent():
    for seed in range(12):
        module = parse(random_graph(seed, 30))
        before = predicted(module)
        original = [op.name for op in body_of(module).ops]
        tasks = tasks_of(model) if (model := model_of(body_of(module), 512, {})) else Tasks()
        urgency = urgencies(tasks)
        SchedulePass("throughput").apply(make_context(), module)
        assert predicted(module) <= before
        assert sorted(op.name for op in body_of(module).ops) == sorted(original)
        model = model_of(body_of(module), 512, {})
        assert model is not None
        assert urgencies(tasks_of(model)) == urgency


def urgencies(tasks: Tasks) -> list[int]:
    """The longest chain behind each task, in the order of the block."""
    found = [0] * len(tasks.units)
    for task in reversed(range(len(tasks.units))):
        for need in tasks.needs[task]:
            found[need] = max(found[need], found[task] + 1)
    return found


def test_an_unknown_policy_is_an_error():
    with pytest.raises(GEError, match="throughput, balanced, conservative") as caught:
        SchedulePass("fast").apply(make_context(), parse(random_graph(0, 3)))
    assert caught.value.code == "GE0431"
