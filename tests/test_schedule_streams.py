"""Tasks to streams: never slower than one, compact, repeatable."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.lowering.schedule.events import Dependency, insert_events
from ge_dialect.lowering.schedule.streams import assign_streams, estimate_makespan

Graph = tuple[list[float], list[tuple[int, int]], list[str]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    count = draw(st.integers(0, 20))
    durations = draw(st.lists(st.integers(0, 50).map(float), min_size=count, max_size=count))
    engines = draw(
        st.lists(st.sampled_from(["cube", "vector", "host"]), min_size=count, max_size=count)
    )
    pairs = [(a, b) for b in range(count) for a in range(b)]
    deps = draw(st.lists(st.sampled_from(pairs), max_size=24)) if pairs else []
    return durations, deps, engines


@given(graphs(), st.integers(1, 4), st.sampled_from([0.0, 2.0]))
def test_never_slower_than_one_stream(graph: Graph, k: int, sync_us: float):
    durations, deps, engines = graph
    streams = assign_streams(durations, deps, engines, k, sync_us=sync_us)
    assert len(streams) == len(durations)
    used = list(dict.fromkeys(streams))
    assert used == list(range(len(used)))
    assert len(used) <= k
    time = estimate_makespan(durations, deps, engines, streams, sync_us=sync_us)
    assert time <= sum(durations)
    assert streams == assign_streams(durations, deps, engines, k, sync_us=sync_us)


@given(graphs())
def test_the_estimate_is_between_the_bounds(graph: Graph):
    durations, deps, engines = graph
    streams = assign_streams(durations, deps, engines, 3)
    time = estimate_makespan(durations, deps, engines, streams)
    for engine in set(engines):
        assert time >= sum(d for d, e in zip(durations, engines, strict=True) if e == engine)
    one = estimate_makespan(durations, deps, engines, [0] * len(durations))
    assert one == sum(durations)


def test_independent_engines_get_streams_of_their_own():
    durations, engines = [10.0] * 6, ["cube", "cube", "cube", "vector", "vector", "vector"]
    streams = assign_streams(durations, [(0, 1), (1, 2), (3, 4), (4, 5)], engines, 4)
    assert streams == [0, 0, 0, 1, 1, 1]
    assert estimate_makespan(durations, [], engines, streams) == 30


def test_branches_on_one_engine_stay_on_one_stream():
    assert assign_streams([10.0] * 4, [(0, 1), (2, 3)], ["cube"] * 4, 4) == [0] * 4


def test_a_chain_stays_on_one_stream():
    deps = [(i, i + 1) for i in range(5)]
    assert assign_streams([1.0] * 6, deps, ["cube", "vector"] * 3, 2) == [0] * 6


def test_waiting_costs_more_than_it_saves():
    durations, deps, engines = [9.0, 1.0, 9.0], [(0, 2), (1, 2)], ["cube", "vector", "cube"]
    assert assign_streams(durations, deps, engines, 2) == [0, 1, 0]
    assert assign_streams(durations, deps, engines, 2, sync_us=9.0) == [0, 0, 0]


def test_one_stream_is_trivial():
    assert assign_streams([1.0, 2.0], [(0, 1)], ["cube", "vector"], 1) == [0, 0]
    assert assign_streams([], [], [], 3) == []


@pytest.mark.parametrize(
    ("durations", "deps", "engines", "k", "message"),
    [
        ([1.0], [], ["cube"], 0, "'k' >= 1"),
        ([-1.0], [], ["cube"], 1, "durations >= 0"),
        ([1.0, 1.0], [(1, 0)], ["cube"] * 2, 1, "later task"),
        ([1.0], [], [], 1, "1 engines"),
    ],
)
def test_wrong_arguments_are_refused(
    durations: list[float], deps: list[tuple[int, int]], engines: list[str], k: int, message: str
):
    with pytest.raises(ValueError, match=message):
        assign_streams(durations, deps, engines, k)


def test_streams_and_events_of_a_large_graph_fit_together():
    chance = random.Random(1)
    count = 2000
    deps = [(chance.randrange(max(0, i - 9), i), i) for i in range(1, count) for _ in range(2)]
    engines = [chance.choice(["cube", "vector"]) for _ in range(count)]
    durations = [chance.uniform(1, 50) for _ in range(count)]
    streams = assign_streams(durations, deps, engines, 4, sync_us=2.0)
    assert 1 < max(streams) + 1 <= 4
    syncs = insert_events(range(count), streams, [Dependency(*dep) for dep in deps])
    assert len({s.event for s in syncs}) < len(syncs) / 10
