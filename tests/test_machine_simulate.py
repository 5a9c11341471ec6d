"""Streams that share the machine: bounds, sharing, and the critical path."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.lowering.machine.simulate import SimTask, makespan_bound, simulate, time_parts

Case = tuple[list[SimTask], list[tuple[int, int]]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    count = draw(st.integers(0, 14))
    us = st.integers(0, 40).map(float)
    demands = st.dictionaries(st.sampled_from(["cube", "vector", "hbm"]), us, max_size=3)
    tasks = [SimTask(draw(st.integers(0, 2)), draw(us), draw(demands)) for _ in range(count)]
    pairs = [(a, b) for b in range(count) for a in range(b)]
    deps = draw(st.lists(st.sampled_from(pairs), max_size=16)) if pairs else []
    return tasks, deps


@given(cases(), st.sampled_from([0.0, 2.0]))
def test_a_run_respects_bounds_order_and_causes(case: Case, event_us: float):
    tasks, deps = case
    run = simulate(tasks, deps, event_us=event_us)
    slack = 1e-9 * (1 + run.makespan_us)
    assert run.makespan_us >= makespan_bound(tasks, deps, event_us=event_us) - slack
    serial = sum(task.alone_us for task in tasks) + event_us * len(deps)
    one_after_the_other = sum(task.fixed_us + sum(task.demands.values()) for task in tasks)
    assert run.makespan_us <= max(serial, one_after_the_other) + event_us * len(deps) + slack
    for start, end, task in zip(run.starts, run.ends, tasks, strict=True):
        assert end - start >= task.alone_us - slack
    for producer, consumer in deps:
        gap = event_us if tasks[producer].stream != tasks[consumer].stream else 0.0
        assert run.starts[consumer] >= run.ends[producer] + gap - slack
    if tasks:
        assert run.ends[run.critical_path[-1]] == run.makespan_us
        assert run.starts[run.critical_path[0]] == 0
    assert run == simulate(tasks, deps, event_us=event_us)


def test_equal_kernels_of_one_unit_gain_nothing_from_a_second_stream():
    one = simulate([SimTask(0, 0, {"cube": 10}), SimTask(0, 0, {"cube": 10})], [])
    two = simulate([SimTask(0, 0, {"cube": 10}), SimTask(1, 0, {"cube": 10})], [])
    assert one.makespan_us == two.makespan_us == 20


def test_kernels_of_different_units_overlap_fully():
    two = simulate([SimTask(0, 0, {"cube": 10}), SimTask(1, 0, {"hbm": 10})], [])
    assert two.makespan_us == 10


def test_a_shared_resource_is_shared_equally():
    tasks = [SimTask(0, 0, {"hbm": 10}), SimTask(1, 0, {"hbm": 30}), SimTask(2, 15, {"hbm": 10})]
    run = simulate(tasks, [])
    # Halves until 15, thirds until the first has its 10 at 22.5, halves again until 37.5.
    assert run.ends == pytest.approx((22.5, 50.0, 37.5))
    assert run.busy_us == {"hbm": 50}


def test_launches_overlap_with_the_work_of_other_streams():
    run = simulate([SimTask(0, 0, {"hbm": 10}), SimTask(1, 5, {"hbm": 5})], [])
    assert run.ends == (15.0, 15.0) or run.ends == pytest.approx((15, 15))


def test_the_critical_path_follows_what_let_a_task_start():
    tasks = [SimTask(0, 5, {}), SimTask(1, 9, {}), SimTask(0, 1, {}), SimTask(1, 1, {})]
    run = simulate(tasks, [(1, 2)], event_us=2)
    assert run.starts == (0, 0, 11, 9)
    assert run.critical_path == (1, 2)
    assert run.makespan_us == 12


def test_nothing_takes_no_time():
    assert simulate([], []).makespan_us == 0
    assert simulate([], []).critical_path == ()
    assert makespan_bound([], []) == 0
    assert simulate([SimTask(0, 0, {"hbm": 0}), SimTask(0, 0, {})], []).makespan_us == 0


@pytest.mark.parametrize("us", [-1.0, float("nan"), float("inf")])
def test_impossible_times_are_refused(us: float):
    with pytest.raises(ValueError, match="times >= 0"):
        simulate([SimTask(0, us, {})], [])


def test_tasks_that_wait_for_each_other_are_refused():
    tasks = [SimTask(0, 1, {}), SimTask(1, 1, {})]
    with pytest.raises(ValueError, match="task 0 in a cycle"):
        simulate(tasks, [(0, 1), (1, 0)])


def test_a_long_program_is_simulated():
    chance = random.Random(0)
    tasks = [
        SimTask(chance.randrange(4), 3.0, {"cube": chance.random() * 9, "hbm": chance.random() * 9})
        for _ in range(4000)
    ]
    deps = [(chance.randrange(max(0, i - 9), i), i) for i in range(1, 4000)]
    run = simulate(tasks, deps, event_us=2.0)
    assert run.makespan_us >= makespan_bound(tasks, deps, event_us=2.0)
    assert len(run.critical_path) > 100


@given(cases(), st.sampled_from([0.0, 2.0]))
def test_the_parts_of_the_critical_path_are_the_makespan(case: Case, event_us: float):
    tasks, deps = case
    run = simulate(tasks, deps, event_us=event_us)
    parts = time_parts(tasks, run)
    assert sum(part.us for part in parts) == pytest.approx(run.makespan_us)
    assert all(part.us > 0 and part.task in run.critical_path for part in parts)
    kinds = {"event", "launch", "start", "cube", "vector", "hbm"}
    assert {part.resource for part in parts} <= kinds


def test_what_tasks_cost_each_other_is_told_apart():
    run = simulate(tasks := [SimTask(0, 3, {"hbm": 10}, 1), SimTask(1, 3, {"hbm": 10}, 1)], [])
    found = [(part.reason, part.us) for part in time_parts(tasks, run)]
    assert found == [("launch", 1), ("start", 2), ("hbm", 10), ("hbm shared", 10)]
    assert run.utilisation() == {"hbm": pytest.approx(20 / 23)}
