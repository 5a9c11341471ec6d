"""Solvers against the checker: live buffers never overlap, bounds hold, plans are repeatable."""

from __future__ import annotations

import random
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.memory.check import check_plan, violations
from ge_dialect.lowering.memory.conflicts import Conflicts
from ge_dialect.lowering.memory.exact import Answer, fit
from ge_dialect.lowering.memory.heuristics import MemoryFullError, minimise, solve
from ge_dialect.lowering.memory.problem import (
    Buffer,
    Lifetime,
    Plan,
    Problem,
    interval_problem,
)
from ge_dialect.lowering.memory.table import read_problem

INSTANCES = Path(__file__).parents[2] / "shared" / "minimalloc"

K33 = [(4, 7, 3), (0, 3, 3), (0, 2, 2), (3, 5, 1), (2, 4, 1), (2, 5, 1), (6, 7, 2)]


def problem_of(
    rows: list[tuple[int, int, int]], capacity: int | None = None, alignment: int = 1
) -> Problem:
    buffers = [Buffer(f"b{i}", size, alignment) for i, (_, _, size) in enumerate(rows)]
    return interval_problem(buffers, [(lower, upper) for lower, upper, _ in rows], capacity)


@st.composite
def interval_problems(draw: st.DrawFn, most: int = 24) -> Problem:
    count = draw(st.integers(0, most))
    buffers: list[Buffer] = []
    intervals: list[tuple[int, int]] = []
    for i in range(count):
        lower = draw(st.integers(0, 12))
        intervals.append((lower, lower + draw(st.integers(1, 6))))
        alignment = draw(st.sampled_from([1, 32, 512]))
        buffers.append(Buffer(f"b{i}", draw(st.integers(0, 3000)), alignment))
    return interval_problem(buffers, intervals)


@st.composite
def partial_orders(draw: st.DrawFn, most: int = 16) -> Problem:
    """Lives over two or three streams, as counts; any such numbers are a valid problem."""
    width = draw(st.integers(2, 3))
    count = draw(st.integers(0, most))
    clock = st.tuples(*[st.integers(0, 8)] * width)
    lives: list[Lifetime] = []
    for _ in range(count):
        start, length = draw(clock), draw(clock)
        end = (
            start[0] + 1 + length[0],
            *(s + n for s, n in zip(start[1:], length[1:], strict=True)),
        )
        lives.append(Lifetime(start, end))
    buffers = [Buffer(f"b{i}", draw(st.integers(0, 64)), 16) for i in range(count)]
    return Problem(tuple(buffers), tuple(lives))


@given(interval_problems())
def test_live_buffers_never_overlap(problem: Problem):
    plan = minimise(problem, effort=200)
    assert violations(problem, plan) == ()
    assert (
        plan.lower_bound
        <= plan.peak
        <= sum(b.footprint for b in problem.buffers) + 512 * len(problem.buffers)
    )
    assert minimise(problem, effort=200) == plan


@given(partial_orders())
def test_live_buffers_never_overlap_on_several_streams(problem: Problem):
    assert violations(problem, minimise(problem, effort=200)) == ()


@given(st.one_of(interval_problems(), partial_orders()))
def test_listed_and_computed_conflicts_are_those_of_the_definition(problem: Problem):
    listed, computed = Conflicts(problem), Conflicts(problem, max_pairs=-1)
    assert listed.sparse
    assert not computed.sparse
    everyone = range(len(problem.buffers))
    for i in everyone:
        expected = [j for j in everyone if j != i and problem.conflict(i, j)]
        assert listed.near(i).tolist() == expected
        assert computed.near(i).tolist() == expected


@given(interval_problems())
def test_plans_do_not_depend_on_how_conflicts_are_kept(problem: Problem):
    with pytest.MonkeyPatch.context() as patch:
        expected = minimise(problem, effort=0)
        patch.setattr(Conflicts.__init__, "__defaults__", (-1,))
        assert minimise(problem, effort=0) == expected


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(4, 9), st.integers(0, 3000)), max_size=9),
    st.sampled_from([1, 64, 512]),
    st.sampled_from([None, 4096]),
)
def test_buffers_that_all_live_together_have_the_places_of_the_first_heuristic(
    rows: list[tuple[int, int, int]], alignment: int, capacity: int | None
):
    problem = problem_of(rows, capacity, alignment)
    wanted = minimise(problem, effort=0)
    if capacity is None or wanted.peak <= capacity:
        assert solve(problem, effort=0) == wanted
        assert wanted.optimal
    else:
        with pytest.raises(MemoryFullError):
            solve(problem, effort=0)


@given(st.one_of(interval_problems(), partial_orders()))
def test_without_a_capacity_solving_is_minimising(problem: Problem):
    assert solve(problem, effort=0) == minimise(problem, effort=0)


def test_k33_finds_six_and_never_reports_the_bound_as_the_peak():
    plan = solve(problem_of(K33, capacity=6))
    assert (plan.peak, plan.lower_bound, plan.optimal) == (6, 5, False)
    with pytest.raises(MemoryFullError) as raised:
        solve(problem_of(K33, capacity=5))
    assert raised.value.plan.peak == 6
    assert raised.value.missing == 1
    assert (raised.value.code, raised.value.proved) == ("GE0502", True)
    assert "6 bytes needed, 5 available, 1 missing (proved; lower bound 5)" in str(raised.value)


def bottom_up(problem: Problem, order: tuple[int, ...]) -> int:
    """The peak when each buffer lies right above those before it that it conflicts with."""
    tops: dict[int, int] = {}
    for i in order:
        buffer = problem.buffers[i]
        below = max((tops[j] for j in tops if problem.conflict(i, j)), default=0)
        tops[i] = -(-below // buffer.alignment) * buffer.alignment + buffer.footprint
    return max(tops.values(), default=0)


@given(st.one_of(interval_problems(6), partial_orders(6)))
def test_exact_search_decides_as_trying_everything_does(problem: Problem):
    used = [i for i, buffer in enumerate(problem.buffers) if buffer.size]
    best = min(bottom_up(problem, order) for order in permutations(used))
    conflicts = Conflicts(problem)
    answer, offsets = fit(problem, conflicts, best, 10_000)
    assert answer is Answer.FITS
    found = Plan(tuple(max(0, offset) for offset in offsets), best, problem.lower_bound)
    assert violations(problem, found) == ()
    if best:
        assert fit(problem, conflicts, best - 1, 10_000) == (Answer.INFEASIBLE, ())
        assert fit(problem, conflicts, best, 0)[0] is Answer.UNKNOWN


def test_what_search_cannot_decide_is_not_called_proved(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ge_dialect.lowering.memory.heuristics._PROOF_EFFORT", 2)
    with pytest.raises(MemoryFullError, match="not proved; lower bound 5") as raised:
        solve(problem_of(K33, capacity=5), effort=2)
    assert raised.value.code == "GE0503"


def test_exact_search_works_around_given_places():
    buffers = [Buffer("io", 2, 1, offset=3), Buffer("a", 3, 1), Buffer("b", 2, 1)]
    problem = interval_problem(buffers, [(0, 4), (0, 2), (1, 3)])
    conflicts = Conflicts(problem)
    answer, offsets = fit(problem, conflicts, 7, 1000)
    assert answer is Answer.FITS
    check_plan(problem, Plan(tuple(offsets), 7, problem.lower_bound))
    assert fit(problem, conflicts, 6, 1000)[0] is Answer.INFEASIBLE


def test_k34_reservation_is_placed_and_others_share():
    rows = [(0, 1, 32), (1, 2, 32), (0, 2, 32)]
    plan = solve(problem_of(rows, capacity=64))
    assert plan.offsets[0] == plan.offsets[1] != plan.offsets[2]
    assert plan.optimal


def test_given_places_are_kept_and_filled_around():
    buffers = [Buffer("io", 64, 32, offset=32), Buffer("a", 32, 32), Buffer("b", 32, 32)]
    problem = interval_problem(buffers, [(0, 9), (0, 2), (1, 3)])
    plan = solve(problem)
    assert plan.offsets == (32, 0, 96)
    check_plan(problem, plan)


def test_given_places_that_overlap_are_refused():
    buffers = [Buffer("x", 64, 32, offset=0), Buffer("y", 32, 32, offset=32)]
    with pytest.raises(GEError, match="'x' at bytes 0 to 64 and 'y' at bytes 32 to 64") as raised:
        solve(interval_problem(buffers, [(0, 2), (1, 3)]))
    assert raised.value.code == "GE0504"
    assert solve(interval_problem(buffers, [(0, 1), (1, 3)])).peak == 64


def test_what_does_not_fit_names_the_bytes_and_who_is_alive():
    buffers = [Buffer("scores", 100, 1), Buffer("q", 30, 1), Buffer("late", 50, 1)]
    problem = interval_problem(buffers, [(0, 2), (1, 3), (2, 3)], capacity=120, space="hbm")
    with pytest.raises(MemoryFullError) as raised:
        solve(problem)
    error = raised.value
    assert (error.code, error.proved, error.missing, error.live) == ("GE0502", True, 10, (0, 1))
    assert error.message == (
        "hbm is full: 130 bytes needed, 120 available, 10 missing (proved; lower bound 130);"
        " alive at the peak, when 'q' begins: 'scores' (100), 'q' (30)"
    )


def test_empty_problems_and_empty_buffers_take_nothing():
    assert solve(interval_problem([], [], capacity=0)) == Plan((), 0, 0)
    assert solve(interval_problem([Buffer("a", 0)], [(0, 1)], capacity=0)) == Plan((0,), 0, 0)


@pytest.mark.parametrize(
    ("plan", "finding"),
    [
        (Plan((0, 32), 96, 64), "overlap while both may be alive"),
        (Plan((0, 8), 72, 64), "a multiple of 32"),
        (Plan((0, 64), 100, 64), "expected a peak of 128 bytes, got 100"),
        (Plan((0, 64), 128, 200), "lower bound up to 128"),
        (Plan((0, -64), 64, 64), "a multiple of 32 bytes, got -64"),
        (Plan((0, 128), 192, 64), "inside 160 bytes"),
        (Plan((0,), 64, 64), "expected 2 offsets, got 1"),
    ],
)
def test_checker_refuses_broken_plans(plan: Plan, finding: str):
    problem = problem_of([(0, 4, 64), (2, 6, 64)], capacity=160, alignment=32)
    check_plan(problem, Plan((0, 64), 128, 128))
    with pytest.raises(GEError, match=finding) as raised:
        check_plan(problem, plan)
    assert raised.value.code == "GE0505"


def test_checker_refuses_a_bound_that_nothing_backs():
    problem = problem_of([(0, 2, 8), (2, 4, 8)])
    backed = Problem(problem.buffers, problem.lifetimes, peak_set=(0, 1))
    assert "alive together" in " ".join(violations(backed, Plan((0, 8), 16, 16)))


def test_checker_refuses_a_moved_reservation():
    problem = interval_problem([Buffer("io", 8, 1, offset=8)], [(0, 1)])
    assert violations(problem, Plan((0,), 8, 8))[0] == "expected 'io' at byte 8, got 0"


@given(interval_problems(), st.randoms(use_true_random=False))
def test_moving_a_buffer_onto_a_live_one_is_always_found(problem: Problem, random: random.Random):
    plan = minimise(problem, effort=0)
    used = [i for i, buffer in enumerate(problem.buffers) if buffer.size]
    pairs = [(i, j) for i in used for j in used if i != j and problem.conflict(i, j)]
    if pairs:
        moved, onto = random.choice(pairs)
        offsets = list(plan.offsets)
        offsets[moved] = offsets[onto]
        assert any("overlap" in v for v in violations(problem, Plan(tuple(offsets), plan.peak, 0)))


def test_many_buffers_are_planned_close_to_the_bound():
    chance = random.Random(0)
    rows = [
        (i, i + 1 + min(int(chance.expovariate(1 / 20)), 400), chance.randint(1, 1 << 20))
        for i in range(3000)
    ]
    problem = problem_of(rows, alignment=512)
    plan = minimise(problem)
    assert violations(problem, plan) == ()
    assert plan.gap < 0.12


@pytest.mark.skipif(not INSTANCES.is_dir(), reason="../shared/minimalloc is not here")
@pytest.mark.parametrize("name", ["A", "D", "K"])
def test_hard_instances_are_planned_soundly(name: str):
    problem = read_problem((INSTANCES / f"{name}.1048576.csv").read_text())
    plan = minimise(problem)
    assert violations(problem, plan) == ()
    assert plan.gap < 0.36
