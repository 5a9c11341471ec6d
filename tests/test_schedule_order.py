"""What happens before what, and what that means for memory."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.memory.check import violations
from ge_dialect.lowering.memory.heuristics import minimise
from ge_dialect.lowering.memory.problem import Buffer, interval_problem
from ge_dialect.lowering.schedule.happens_before import (
    Accesses,
    HappensBefore,
    happens_before,
    memory_problem,
)

Deps = list[tuple[int, int]]


@st.composite
def schedules(draw: st.DrawFn) -> tuple[list[list[int]], Deps]:
    """Queues of one to three streams and dependencies that point forwards."""
    count = draw(st.integers(0, 14))
    width = draw(st.integers(1, 3))
    queues: list[list[int]] = [[] for _ in range(width)]
    for task in range(count):
        queues[draw(st.integers(0, width - 1))].append(task)
    pairs = [(a, b) for b in range(count) for a in range(b)]
    deps = draw(st.lists(st.sampled_from(pairs), max_size=20)) if pairs else []
    return queues, deps


def reachable(queues: list[list[int]], deps: Deps) -> set[tuple[int, int]]:
    """All ordered pairs, by the definition."""
    edges = {*deps, *(pair for q in queues for pair in pairwise(q))}
    closed = set(edges)
    while True:
        more = {(a, d) for a, b in closed for c, d in edges if b == c} - closed
        if not more:
            return closed
        closed |= more


@given(schedules())
def test_clocks_say_what_reachability_says(schedule: tuple[list[list[int]], Deps]):
    order = happens_before(*schedule)
    closed = reachable(*schedule)
    everyone = range(len(order.stream))
    for a in everyone:
        for b in everyone:
            assert order.before(a, b) == ((a, b) in closed)
    after = order.first_after()
    for a in everyone:
        for s, queue in enumerate(order.queues):
            later = [p for p, b in enumerate(queue, start=1) if b == a or (a, b) in closed]
            assert after[a][s] == min(later, default=len(queue) + 1)


def test_tasks_that_wait_for_each_other_are_named():
    with pytest.raises(GEError, match=r"tasks wait for each other: 0 -> 3 -> 2 -> 0$|; ") as raised:
        happens_before([[0, 3], [1, 2]], [(3, 2), (2, 0)])
    assert raised.value.code == "GE0506"
    assert raised.value.message == "tasks wait for each other: 0 -> 3 -> 2 -> 0"
    with pytest.raises(GEError, match="1 -> 1"):
        happens_before([[0, 1]], [(1, 1)])


@pytest.mark.parametrize("queues", [[[0, 0]], [[0], [2]], [[-1]]])
def test_queues_hold_each_task_once(queues: list[list[int]]):
    with pytest.raises(ValueError, match="once"):
        happens_before(queues, [])


def test_dependencies_are_between_tasks():
    with pytest.raises(ValueError, match="below 1"):
        happens_before([[0]], [(0, 1)])


def test_a_sibling_of_an_ancestor_orders_nothing():
    """The memo of `dependLife` in an old GE says otherwise, and frees a buffer that is being read.

    N reads P1 and P2, and is visited first; M reads P2 only, so nothing orders it after P1.
    """
    p1, p2, n, m = range(4)
    order = happens_before([[n], [p1], [p2], [m]], [(p1, n), (p2, n), (p2, m)])
    assert order.before(p2, m)
    assert not order.before(p1, m)
    buffers = [Buffer("read by P1", 512), Buffer("written by M", 512)]
    problem = memory_problem(order, buffers, [Accesses(readers=(p1,)), Accesses(writers=(m,))])
    assert problem.conflict(0, 1)
    assert minimise(problem).peak == 1024


def test_order_through_an_earlier_wait_lets_bytes_be_reused():
    """Stream 1 waits for task 0 once; all its later tasks come after that, too."""
    order = happens_before([[0], [1, 2]], [(0, 1)])
    accesses = [Accesses(readers=(0,)), Accesses(writers=(2,))]
    problem = memory_problem(order, [Buffer("a", 512), Buffer("b", 512)], accesses)
    assert not problem.conflict(0, 1)


def one_stream(count: int) -> HappensBefore:
    return happens_before([list(range(count))], [])


def test_a_task_that_reads_one_and_writes_the_other_keeps_them_apart():
    accesses = [
        Accesses(writers=(0,), readers=(1,)),
        Accesses(writers=(1,), readers=(2,)),
        Accesses(writers=(2,)),
    ]
    problem = memory_problem(one_stream(3), [Buffer("s", 512)] * 3, accesses)
    assert problem.conflict(0, 1)
    assert problem.conflict(1, 2)
    assert not problem.conflict(0, 2)


def test_inputs_live_from_the_start_and_outputs_to_the_end():
    accesses = [
        Accesses(live_in=True),
        Accesses(readers=(1,), live_in=True),
        Accesses(writers=(0,), readers=(1,)),
        Accesses(writers=(0,), live_out=True),
        Accesses(writers=(2,), live_out=True),
        Accesses(writers=(2,)),
    ]
    problem = memory_problem(one_stream(3), [Buffer("b", 512)] * 6, accesses)
    unread, read, early, out, late_out, late = range(6)
    assert problem.conflict(unread, read)
    assert not problem.conflict(unread, early)
    assert problem.conflict(read, early)
    assert not problem.conflict(read, late)
    assert problem.conflict(out, late)
    assert problem.conflict(out, late_out)
    assert problem.lower_bound == 3 * 512


def test_inputs_and_outputs_of_a_plan_without_tasks_keep_their_bytes():
    accesses = [Accesses(live_in=True), Accesses(live_in=True, live_out=True), Accesses()]
    problem = memory_problem(happens_before([], []), [Buffer("b", 512)] * 3, accesses)
    assert problem.conflict(0, 1)
    assert not problem.conflict(0, 2)
    assert problem.lower_bound == 1024


@st.composite
def buffers_of(draw: st.DrawFn, count: int) -> tuple[list[Buffer], list[Accesses]]:
    tasks = st.integers(0, count - 1)
    some = st.lists(tasks, max_size=3).map(tuple) if count else st.just(())
    accesses = draw(
        st.lists(st.builds(Accesses, some, some, st.booleans(), st.booleans()), max_size=10)
    )
    sizes = draw(st.lists(st.integers(0, 99), min_size=len(accesses), max_size=len(accesses)))
    return [Buffer(f"b{i}", size, 32) for i, size in enumerate(sizes)], accesses


@given(st.data())
def test_plans_on_streams_respect_every_pair_of_accesses(data: st.DataObject):
    queues, deps = data.draw(schedules())
    order = happens_before(queues, deps)
    closed = reachable(queues, deps)
    buffers, accesses = data.draw(buffers_of(len(order.stream)))
    problem = memory_problem(order, buffers, accesses)
    plan = minimise(problem)
    assert violations(problem, plan) == ()
    assert plan.lower_bound <= plan.peak

    def dead_before(one: Accesses, other: Accesses) -> bool:
        if one.live_out or other.live_in:
            return False
        return all(
            (a, b) in closed
            for a in (*one.writers, *one.readers)
            for b in (*other.writers, *other.readers)
        )

    for i, a in enumerate(accesses):
        for j, b in enumerate(accesses[:i]):
            untouched = Accesses() in (a, b)
            apart = untouched or dead_before(a, b) or dead_before(b, a)
            assert problem.conflict(i, j) == (not apart)


@given(st.data())
def test_on_one_stream_the_bound_is_that_of_intervals(data: st.DataObject):
    count = data.draw(st.integers(1, 10))
    spans = data.draw(
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=8)
    )
    spans = [(min(span), max(span)) for span in spans]
    buffers = [Buffer(f"b{i}", 32 * (i + 1), 32) for i in range(len(spans))]
    accesses = [Accesses(writers=(first,), readers=(last,)) for first, last in spans]
    expected = interval_problem(buffers, [(first, last + 1) for first, last in spans])
    found = memory_problem(one_stream(count), buffers, accesses)
    assert found.lower_bound == expected.lower_bound
    pairs = [(i, j) for i in range(len(spans)) for j in range(i)]
    assert [found.conflict(*p) for p in pairs] == [expected.conflict(*p) for p in pairs]
