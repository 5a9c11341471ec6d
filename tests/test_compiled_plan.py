"""A plan as a library object: run again and again, from several threads, without a leak."""

from __future__ import annotations

import gc
import os
import resource
import tracemalloc
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.parser import Parser

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.api import CompiledPlan, compile, make_context
from ge_dialect.tools.loading import load
from ge_dialect.tools.runtime import arenas

T = "tensor<64x64xf32>"
GRAPH = f"""
func.func @main(%x: {T} {{ge.name = "x"}}) -> ({T} {{ge.name = "y"}}) {{
  %w = ge.constant dense<0.5> : {T}
  %a = ge.matmul %x, %w : ({T}, {T}) -> {T}
  %b = ge.neg %x : ({T}) -> {T}
  %c = ge.softmax %b axis -1 : ({T}) -> {T}
  %y = ge.add %a, %c : ({T}, {T}) -> {T}
  func.return %y : {T}
}}"""


def plan_of(streams: int = 1) -> CompiledPlan:
    module = Parser(make_context(), GRAPH).parse_module()
    return compile(module, level=1, streams=streams)


def feeds(seed: int) -> dict[str, npt.NDArray[np.float32]]:
    return {"x": np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float32)}


def peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def traced() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def test_a_plan_is_verified_once_and_runs_again_and_again():
    plan = plan_of()
    executor = plan.executor
    first, second = plan.run(feeds(0))["y"], plan.run(feeds(1))["y"]
    assert plan.executor is executor
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(plan.run(feeds(0))["y"], first)
    assert [str(port) for port in plan.inputs] == ["'x' float32[64, 64]"]
    assert [port.name for port in plan.outputs] == ["y"]


def test_a_profile_has_a_time_for_each_task():
    plan = plan_of()
    times = plan.profile(feeds(0))
    assert [entry.task for entry in times] == list(range(plan.summary["tasks"]))


@pytest.mark.parametrize("streams", [1, 2])
def test_threads_may_share_a_plan(streams: int):
    """All start at once, so that the first run of all is one of many, too."""
    plan = plan_of(streams)
    count, rounds = 8, 20
    wanted = [plan_of().run(feeds(seed))["y"] for seed in range(count)]
    barrier = Barrier(count)

    def work(seed: int) -> bool:
        barrier.wait()
        return all(np.array_equal(plan.run(feeds(seed))["y"], wanted[seed]) for _ in range(rounds))

    with ThreadPoolExecutor(count) as pool:
        assert all(pool.map(work, range(count)))


def test_the_first_runs_of_an_executor_may_come_at_once(monkeypatch: pytest.MonkeyPatch):
    """What the first run finds is there at once for the others, or not at all."""
    plan = plan_of()
    layout = arenas.Layout(plan.executor.plan, plan.weights)
    barrier = Barrier(4)

    def allocate(_: int) -> int:
        barrier.wait()
        return len(layout.allocate().readable)

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(allocate, range(4)))) == 1


def test_the_memory_of_a_run_is_gone_when_it_returns(monkeypatch: pytest.MonkeyPatch):
    """Without a search for garbage: a cycle would keep whole arenas until then."""
    kept: list[weakref.ref[arenas.Memory]] = []
    allocate = arenas.Layout.allocate

    def watched(self: arenas.Layout, sizes: Mapping[str, int]) -> arenas.Memory:
        memory = allocate(self, sizes)
        kept.append(weakref.ref(memory))
        return memory

    monkeypatch.setattr(arenas.Layout, "allocate", watched)
    plan = plan_of(streams=2)
    gc.disable()
    try:
        plan.run(feeds(0))
        plan.run(feeds(0), schedule_seed=1, poison=True)
        plan.profile(feeds(0))
    finally:
        gc.enable()
    assert [reference() for reference in kept] == [None, None, None]


def test_two_hundred_runs_allocate_no_more_than_a_few():
    plan = plan_of(streams=2)
    given = feeds(0)
    for _ in range(20):
        plan.run(given)
    tracemalloc.start()
    for _ in range(10):
        plan.run(given)
    early = traced()
    for _ in range(200):
        plan.run(given)
    late = traced()
    tracemalloc.stop()
    assert late - early < 50_000  # bytes; an array a run would be three million


@pytest.mark.slow
def test_ten_thousand_runs_take_no_more_memory_than_a_hundred():
    plan = plan_of(streams=2)
    given = feeds(0)
    for _ in range(100):
        plan.run(given)
    before = peak_kib()
    for _ in range(10_000):
        plan.run(given)
    assert peak_kib() - before < 2048


def test_a_saved_plan_is_loaded_and_run(tmp_path: Path):
    path = tmp_path / "m.om"
    plan = plan_of()
    plan.save(path)
    loaded = load(path)
    (tmp_path / "other").write_bytes(b"something else")
    os.replace(tmp_path / "other", path)  # as every new compilation does: the old file stays mapped
    np.testing.assert_array_equal(loaded.run(feeds(3))["y"], plan.run(feeds(3))["y"])
    assert loaded.name == "main"
    assert loaded.summary["tasks"] == plan.summary["tasks"]


def test_a_loaded_plan_is_saved_with_the_same_bytes(tmp_path: Path):
    plan_of().save(tmp_path / "a.om")
    load(tmp_path / "a.om").save(tmp_path / "b.om")
    assert (tmp_path / "a.om").read_bytes() == (tmp_path / "b.om").read_bytes()


def test_a_file_that_is_no_plan_is_not_loaded(tmp_path: Path):
    (tmp_path / "m.om").write_bytes(b"something else")
    with pytest.raises(GEError, match="GE0603"):
        load(tmp_path / "m.om")
