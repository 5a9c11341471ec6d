"""Events: enough, none too many, and ids that are used again only where nothing can go wrong."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.schedule.events import Dependency, Sync, insert_events
from ge_dialect.lowering.schedule.happens_before import HappensBefore, happens_before


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], list[Dependency]]:
    count = draw(st.integers(0, 16))
    streams = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    pairs = [(a, b) for b in range(count) for a in range(b)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=24)) if pairs else []
    return streams, [Dependency(a, b, f"RAW on %{a}") for a, b in chosen]


def order_of(streams: list[int], pairs: list[tuple[int, int]]) -> HappensBefore:
    queues = [[t for t, s in enumerate(streams) if s == stream] for stream in range(3)]
    return happens_before(queues, pairs)


@given(graphs())
def test_every_dependency_holds_and_no_event_can_go(graph: tuple[list[int], list[Dependency]]):
    streams, deps = graph
    syncs = insert_events(range(len(streams)), streams, deps)
    pairs = [(sync.producer, sync.consumer) for sync in syncs]
    order = order_of(streams, pairs)
    assert all(order.before(dep.producer, dep.consumer) for dep in deps)
    for sync in syncs:
        assert streams[sync.producer] != streams[sync.consumer]
        assert sync.why == f"RAW on %{sync.producer}"
        left = [pair for pair in pairs if pair != (sync.producer, sync.consumer)]
        assert not order_of(streams, left).before(sync.producer, sync.consumer)


def run(streams: list[int], syncs: list[Sync], chance: random.Random) -> list[int]:
    """Runs the streams in some interleaving; an event is a flag that its wait clears."""
    queues: list[list[tuple[str, int, int]]] = [[], [], []]
    for task, stream in enumerate(streams):
        queues[stream] += [("wait", s.event, s.producer) for s in syncs if s.consumer == task]
        queues[stream].append(("task", task, -1))
        queues[stream] += [("record", s.event, task) for s in syncs if s.producer == task]
    flags: dict[int, int] = {}
    done: list[int] = []
    while any(queues):
        able = [q for q in queues if q and (q[0][0] != "wait" or q[0][1] in flags)]
        assert able, "deadlock"
        kind, number, task = chance.choice(able).pop(0)
        if kind == "task":
            done.append(number)
        elif kind == "record":
            assert number not in flags, "recorded again before its wait"
            flags[number] = task
        else:
            assert flags.pop(number) == task, "a wait took the record of another"
    return done


@given(graphs(), st.integers(0, 1 << 30))
def test_ids_used_again_are_safe_in_every_interleaving(
    graph: tuple[list[int], list[Dependency]], seed: int
):
    streams, deps = graph
    syncs = insert_events(range(len(streams)), streams, deps)
    chance = random.Random(seed)
    for _ in range(4):
        done = run(streams, syncs, chance)
        place = {task: i for i, task in enumerate(done)}
        assert all(place[dep.producer] < place[dep.consumer] for dep in deps)


@given(graphs())
def test_ids_are_compact_and_reuse_only_saves(graph: tuple[list[int], list[Dependency]]):
    streams, deps = graph
    syncs = insert_events(range(len(streams)), streams, deps)
    fresh = insert_events(range(len(streams)), streams, deps, reuse=False)
    assert [s.event for s in fresh] == list(range(len(fresh)))
    used = sorted({s.event for s in syncs})
    assert used == list(range(len(used)))
    assert [(s.producer, s.consumer) for s in syncs] == [(s.producer, s.consumer) for s in fresh]


def test_what_holds_anyway_needs_no_event():
    deps = [Dependency(0, 1), Dependency(1, 2), Dependency(0, 2), Dependency(0, 3)]
    syncs = insert_events(range(4), [0, 1, 2, 0], deps)
    assert [(s.producer, s.consumer) for s in syncs] == [(0, 1), (1, 2)]


def test_back_and_forth_uses_one_id_in_each_direction_again_and_again():
    deps = [Dependency(i, i + 1, f"RAW on %{i}") for i in range(9)]
    syncs = insert_events(range(10), [0, 1] * 5, deps)
    assert len(syncs) == 9
    assert max(s.event for s in syncs) <= 2


def test_reasons_of_one_pair_are_joined_once_each():
    deps = [
        Dependency(0, 1, "RAW on %a"),
        Dependency(0, 1, "WAR on %b"),
        Dependency(0, 1, "RAW on %a"),
    ]
    assert insert_events([0, 1], [0, 1], deps) == [Sync(0, 1, 0, "RAW on %a; WAR on %b")]


def test_k38_levels_that_share_a_stream_id_keep_all_syncs():
    """A -> {B, C} -> D, A -> E -> F, D and F joined; B and E landed on one stream."""
    a, b, c, e, d, f, join = range(7)
    streams = [0, 1, 2, 1, 0, 1, 0]
    edges = [(a, b), (a, c), (b, d), (c, d), (a, e), (e, f), (d, join), (f, join)]
    syncs = insert_events(range(7), streams, [Dependency(*edge, "RAW") for edge in edges])
    pairs = [(s.producer, s.consumer) for s in syncs]
    assert pairs == [(a, b), (a, c), (b, d), (c, d), (f, join)]
    for lost in pairs:
        order = order_of(streams, [pair for pair in pairs if pair != lost])
        assert not all(order.before(*edge) for edge in edges)


def test_too_few_events_and_cycles_are_refused():
    deps = [Dependency(0, 2), Dependency(1, 3)]
    with pytest.raises(GEError, match="needs 2 events, the target has 1") as raised:
        insert_events(range(4), [0, 0, 1, 1], deps, limit=1)
    assert raised.value.code == "GE0507"
    with pytest.raises(GEError, match="wait for each other"):
        insert_events([0, 1], [0, 1], [Dependency(0, 1), Dependency(1, 0)])
