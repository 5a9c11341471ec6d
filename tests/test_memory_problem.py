"""The planning problem as a value: footprints, lives, bounds, tables."""

from __future__ import annotations

import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.memory.problem import (
    Buffer,
    Lifetime,
    Plan,
    Problem,
    heaviest_set,
    interval_problem,
)
from ge_dialect.lowering.memory.table import read_problem, write_problem


def test_footprint_is_rounded_up_to_the_alignment():
    assert Buffer("a", 513, 512).footprint == 1024
    assert Buffer("a", 512, 512).footprint == 512
    assert Buffer("a", 0, 512).footprint == 0
    assert Buffer("scores", 549755813888).footprint == 549755813888


@pytest.mark.parametrize(
    "arguments", [("a", -1), ("a", 1, 3), ("a", 1, 0), ("a", 1, 512, 100), ("a", 1, 512, -512)]
)
def test_impossible_buffers_are_refused(arguments: tuple[str, int]):
    with pytest.raises(ValueError, match="expected"):
        Buffer(*arguments)


def test_intervals_that_touch_do_not_conflict():
    problem = interval_problem(
        [Buffer("a", 8), Buffer("b", 8), Buffer("c", 8)], [(0, 2), (2, 4), (1, 3)]
    )
    assert not problem.conflict(0, 1)
    assert problem.conflict(0, 2)
    assert problem.conflict(1, 2)


def test_lower_bound_is_the_heaviest_moment():
    buffers = [Buffer("a", 3, 1), Buffer("b", 4, 1), Buffer("c", 5, 1)]
    problem = interval_problem(buffers, [(0, 2), (1, 3), (2, 4)])
    assert problem.peak_set == (1, 2)
    assert problem.lower_bound == 9


def test_lower_bound_covers_given_places():
    problem = interval_problem([Buffer("a", 1, 1, offset=9), Buffer("b", 4, 1)], [(0, 1), (0, 1)])
    assert problem.lower_bound == 10


def test_heaviest_set_takes_the_first_of_equal_moments():
    assert heaviest_set([(0, (0, 1)), (1, (5, 6))], [7, 7]) == (0,)
    assert heaviest_set([], []) == ()


def test_problem_refuses_parts_that_do_not_match():
    with pytest.raises(ValueError, match="lifetime for each"):
        Problem((Buffer("a", 1),), ())
    with pytest.raises(ValueError, match="as many streams"):
        Problem((Buffer("a", 1),), (Lifetime((0,), (1, 2)),))
    with pytest.raises(ValueError, match="lower < upper"):
        interval_problem([Buffer("a", 1)], [(2, 2)])
    with pytest.raises(ValueError, match="'capacity' >= 0"):
        interval_problem([], [], capacity=-1)
    with pytest.raises(ValueError, match="together"):
        interval_problem([Buffer("a", 1 << 62)], [(0, 1)])


def test_gap_and_optimal_speak_of_the_lower_bound():
    assert Plan((0,), 10, 10).optimal
    assert not Plan((0,), 11, 10).optimal
    assert Plan((0,), 11, 10).gap == pytest.approx(0.1)
    assert Plan((), 0, 0).gap == 0


def test_table_round_trips():
    text = "id,lower,upper,size\na,0,4,16\nb,2,6,8\n"
    problem = read_problem(text, capacity=32)
    assert write_problem(problem) == text
    assert problem.capacity == 32
    assert write_problem(problem, Plan((0, 16), 24, 24)).splitlines()[2] == "b,2,6,8,16"


def test_table_takes_columns_in_any_order():
    problem = read_problem("size,id,offset,upper,lower\n16,a,0,4,1\n\n")
    assert problem.buffers[0] == Buffer("a", 16, 1)
    assert problem.lifetimes[0] == Lifetime((1,), (4,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected the columns id, lower, upper, size, without id"),
        ("id,lower,size\n", "without upper"),
        ("id,lower,upper,size\na,0,4\n", "line 2: expected 4 cells"),
        ("id,lower,upper,size\na,0,4,1\nb,0,x,1\n", "line 3: expected 'upper' to be a count"),
        ("id,lower,upper,size\na,0,4,-1\n", "'size'"),
        ("id,lower,upper,size\na,4,4,1\n", "lower < upper, got 4 and 4"),
        (f"id,lower,upper,size\na,0,4,{'9' * 30}\n", "at most 15 digits"),
    ],
)
def test_broken_tables_name_the_line(text: str, message: str):
    with pytest.raises(GEError, match=message) as raised:
        read_problem(text)
    assert raised.value.code == "GE0501"
