"""Exact search and what it is made of, the planner on its own, and its command line."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.memory import Interval, plan_buffers
from ge_dialect.lowering.memory.check import violations
from ge_dialect.lowering.memory.conflicts import Conflicts
from ge_dialect.lowering.memory.dive import Dive
from ge_dialect.lowering.memory.exact import fit
from ge_dialect.lowering.memory.heuristics import MemoryFullError, minimise, solve
from ge_dialect.lowering.memory.problem import Buffer, Lifetime, Plan, Problem, interval_problem
from ge_dialect.lowering.memory.spans import Spans, components
from ge_dialect.lowering.memory.table import read_problem
from ge_dialect.lowering.memory.tree import Answer, Tree
from ge_dialect.tools.plan_buffers import main

INSTANCES = Path(__file__).parents[2] / "shared" / "minimalloc"
CAPACITY = 1_048_576
K33 = [(4, 7, 3), (0, 3, 3), (0, 2, 2), (3, 5, 1), (2, 4, 1), (2, 5, 1), (6, 7, 2)]


def problem_of(rows: list[tuple[int, int, int]]) -> Problem:
    buffers = [Buffer(f"b{i}", size, 1) for i, (_, _, size) in enumerate(rows)]
    return interval_problem(buffers, [(lower, upper) for lower, upper, _ in rows])


def chain(count: int, seed: int = 0) -> Problem:
    chance = random.Random(seed)
    rows = [
        (i, i + 1 + min(int(chance.expovariate(1 / 20)), 400), chance.randint(1, 1 << 20))
        for i in range(count)
    ]
    return problem_of(rows)


def only_part(problem: Problem) -> Spans:
    parts = components(problem, Conflicts(problem))
    assert parts is not None
    (part,) = parts
    return part


def test_spans_are_where_the_same_buffers_live():
    part = only_part(problem_of([(0, 4, 8), (2, 6, 4), (3, 4, 2)]))
    assert part.load.tolist() == [8, 12, 14, 4, 0]
    assert [(where.start, where.stop) for where in part.where] == [(0, 3), (1, 4), (2, 3)]
    assert part.members[2].tolist() == [0, 1, 2]
    assert part.heaviest(part.load).tolist() == [14, 14, 14]
    assert part.around == [(0, 4), (0, 4), (0, 4)]


def test_lives_that_nothing_connects_are_problems_of_their_own():
    problem = problem_of([(0, 2, 8), (5, 7, 8), (1, 3, 8), (3, 4, 0), (6, 9, 1)])
    parts = components(problem, Conflicts(problem))
    assert parts is not None
    assert [part.ids.tolist() for part in parts] == [[0, 2], [1, 4]]


def test_spans_of_several_streams_hold_only_buffers_that_conflict():
    lives = (
        Lifetime((0, 0), (2, 1)),
        Lifetime((2, 0), (3, 2)),
        Lifetime((2, 2), (3, 3)),
    )
    problem = Problem(tuple(Buffer(f"b{i}", 4, 1) for i in range(3)), lives)
    part = only_part(problem)
    for members in part.members:
        alive = [i for i in members.tolist() if i < part.count]
        assert all(problem.conflict(i, j) for i in alive for j in alive if i != j)
    assert max(part.load) == 8


@pytest.mark.parametrize("goal", [5, 6])
def test_a_tree_ends_in_a_proof_or_a_plan(goal: int):
    problem = problem_of(K33)
    part = only_part(problem)
    tree = Tree(part, goal, np.arange(part.count))
    answer = tree.search(1_000)
    assert answer is (Answer.INFEASIBLE if goal == 5 else Answer.FITS)
    if answer is Answer.FITS:
        assert violations(problem, Plan(tuple(tree.offsets.tolist()), 6, 5)) == ()
    else:
        assert (tree.offsets == -1).all()  # everything was taken back
        assert tree.left.tolist() == part.load.tolist()


def test_a_dive_says_what_it_could_not_place_and_where():
    part = only_part(problem_of(K33))
    dive = Dive(part, 5, np.arange(part.count))
    missing = dive.search(1_000)
    assert missing == int((dive.offsets < 0).sum()) > 0
    assert dive.failures.sum() > 0
    assert Dive(part, 7, np.arange(part.count)).search(1_000) == 0
    assert Dive(part, 7, np.arange(part.count)).search(3) == part.count - 3


def test_mixed_alignments_and_given_places_are_kept_by_search():
    buffers = [
        Buffer("io", 64, 32, offset=96),
        Buffer("a", 96, 32),
        Buffer("b", 8, 8),
        Buffer("c", 24, 8),
        Buffer("d", 64, 64),
    ]
    problem = interval_problem(buffers, [(0, 9), (0, 3), (2, 5), (3, 6), (4, 9)])
    answer, offsets = fit(problem, Conflicts(problem), 192, 1_000)
    assert answer is Answer.FITS
    peak = max(o + b.footprint for o, b in zip(offsets, buffers, strict=True))
    assert violations(problem, Plan(tuple(offsets), peak, problem.lower_bound)) == ()


def test_effort_lowers_the_peak_and_none_is_allowed():
    problem = chain(300, seed=1)
    without, some = minimise(problem, effort=0), minimise(problem)
    assert violations(problem, some) == ()
    assert some.peak < without.peak
    assert minimise(problem) == some


def test_plans_do_not_depend_on_hash_seeds(tmp_path: Path):
    table = tmp_path / "t.csv"
    rows = [f"{i},{life.start[0]},{life.end[0]}" for i, life in enumerate(chain(60).lifetimes)]
    sizes = [buffer.size for buffer in chain(60).buffers]
    lines = [f"{row},{size}" for row, size in zip(rows, sizes, strict=True)]
    table.write_text("\n".join(["id,lower,upper,size", *lines]))
    command = [sys.executable, "-m", "ge_dialect.tools.plan_buffers", str(table), "--effort", "500"]
    outputs = {
        subprocess.run(
            command, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True, timeout=60
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1


def test_many_buffers_are_checked_and_a_clash_is_found():
    problem = chain(20_000)
    plan = minimise(problem, effort=0)
    assert violations(problem, plan) == ()
    offsets = list(plan.offsets)
    offsets[9_001] = offsets[9_000]
    assert "'b9000'" in violations(problem, Plan(tuple(offsets), plan.peak, plan.lower_bound))[0]


def test_the_checker_looks_by_address_where_all_live_together():
    rows = [(0, 10, 4)] * 400
    problem = problem_of(rows)
    plan = Plan(tuple(range(0, 1600, 4)), 1600, 1600)
    assert violations(problem, plan) == ()
    clash = (*plan.offsets[:-1], 1593)
    (found,) = violations(problem, Plan(clash, 1597, 1596))
    assert found.startswith("'b398' at bytes 1592 to 1596 and 'b399' at bytes 1593 to 1597 overlap")


@pytest.mark.skipif(not INSTANCES.is_dir(), reason="../shared/minimalloc is not here")
@pytest.mark.parametrize("name", ["B", "C", "E", "F", "G", "J", "K"])
def test_hard_instances_fit(name: str):
    problem = read_problem((INSTANCES / f"{name}.{CAPACITY}.csv").read_text(), CAPACITY)
    plan = solve(problem)
    assert violations(problem, plan) == ()
    assert plan.peak <= CAPACITY
    assert plan.optimal == (name != "J")


def test_k33_fits_six_bytes_and_provably_not_five():
    assert plan_buffers(K33, capacity=6).peak == 6
    with pytest.raises(MemoryFullError) as raised:
        plan_buffers(K33, capacity=5)
    assert (raised.value.proved, raised.value.plan.peak, raised.value.plan.lower_bound) == (
        True,
        6,
        5,
    )


def test_k34_a_reservation_for_all_time_leaves_the_rest_to_share():
    rows = [Interval(0, 1, 32), Interval(1, 2, 32), Interval(0, 2, 32, "fifo", offset=32)]
    assert plan_buffers(rows, capacity=64).offsets == (0, 0, 32)


def test_k35_sizes_beyond_32_bits_are_exact():
    scores = 32 * 65536 * 65536 * 4
    plan = plan_buffers([(0, 2, scores), (1, 3, scores), (2, 4, 1)])
    assert plan.offsets == (0, scores, 0)
    assert plan.peak == 2 * 549_755_813_888
    with pytest.raises(MemoryFullError, match="549755813888 bytes needed, 68719476736 available"):
        plan_buffers([Interval(0, 1, scores, "scores")], capacity=1 << 36)


def test_k36_nothing_to_plan_is_a_plan():
    assert plan_buffers([]) == Plan((), 0, 0)
    assert plan_buffers([(0, 1, 0)], capacity=0) == Plan((0,), 0, 0)


def test_plain_buffers_take_numpy_integers_and_refuse_the_rest():
    rows = [(int(a), int(b), np.int32(8)) for a, b in ((0, 2), (1, 3))]
    assert plan_buffers(rows).offsets == (0, 8)  # pyright: ignore[reportArgumentType]  # on purpose
    with pytest.raises(TypeError):
        plan_buffers([(0, 1, 8.5)])  # pyright: ignore[reportArgumentType]  # on purpose
    with pytest.raises(ValueError, match="expected lower < upper"):
        plan_buffers([(2, 2, 8)])
    with pytest.raises(ValueError, match="power of two"):
        plan_buffers([Interval(0, 1, 8, alignment=3)])


def write_table(folder: Path) -> Path:
    table = folder / "k33.csv"
    lines = [f"{i},{lower},{upper},{size}" for i, (lower, upper, size) in enumerate(K33)]
    table.write_text("\n".join(["id,lower,upper,size", *lines]))
    return table


def test_command_line_writes_the_table_with_offsets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    table, output = write_table(tmp_path), tmp_path / "out.csv"
    assert main([str(table), "--capacity", "6", "--output", str(output)]) == 0
    assert "7 buffers, peak 6 bytes, lower bound 5 (20.0% above it)" in capsys.readouterr().err
    header, first, *_ = output.read_text().splitlines()
    assert header == "id,lower,upper,size,offset"
    assert first.startswith("0,4,7,3,")
    assert main([str(table)]) == 0
    assert capsys.readouterr().out == output.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--capacity", "5"], "GE0502: memory is full: 6 bytes needed, 5 available"),
        (["--capacity", "-1"], "GE0105: argument --capacity: expected a number from 0 on"),
        (["--alignment", "3"], "GE0105: expected --alignment to be a power of two, got 3"),
        (["--output", "/nowhere/out.csv"], "GE0103: cannot write '/nowhere/out.csv'"),
        (["--what"], "GE0105: unrecognized arguments: --what"),
    ],
)
def test_command_line_says_what_is_wrong_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
):
    assert main([str(write_table(tmp_path)), *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", "is not text: byte 0"),
        (b"id,lower,upper,size\n0,0,1,999999999999999\n", None),
        (b"id,size\n", "expected the columns"),
    ],
)
def test_command_line_survives_strange_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, message: str | None
):
    table = tmp_path / "t.csv"
    table.write_bytes(content)
    assert main([str(table)]) == (0 if message is None else 1)
    assert (message or "") in capsys.readouterr().err


def test_tables_of_too_many_bytes_or_lines_are_refused(monkeypatch: pytest.MonkeyPatch):
    rows = [f"{i},0,1,{10**15 - 1}" for i in range(4_700)]
    with pytest.raises(GEError, match="bytes together") as raised:
        read_problem("\n".join(["id,lower,upper,size", *rows]))
    assert raised.value.code == "GE0501"
    monkeypatch.setattr("ge_dialect.lowering.memory.table._MAX_ROWS", 10)
    with pytest.raises(GEError, match="at most 10 lines, got 4701"):
        read_problem("\n".join(["id,lower,upper,size", *rows]))
