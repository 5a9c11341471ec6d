"""The reference runtime: plans executed on arenas, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.attributes import NamedWeight, WeightAttr
from ge_dialect.ge_exec import PlanOp
from ge_dialect.tools.runtime import arenas, executor, schedule
from ge_dialect.tools.runtime.executor import Executor
from ge_dialect.weights import MemoryWeight
from tests.plan_texts import (
    CHAIN,
    FEEDS,
    FORK,
    KERNELS,
    M4,
    Array,
    X,
    Y,
    array,
    launch,
    module_of,
    output,
    placed,
    stream,
)

SCHEDULES: Sequence[int | None] = (None, 0, 1, 2, 3)


@pytest.mark.parametrize("poison", [False, True])
@pytest.mark.parametrize("seed", [None, 0])
def test_a_chain_computes_what_its_kernels_say(seed: int | None, poison: bool):
    result = Executor(module_of(CHAIN)).run(FEEDS, schedule_seed=seed, poison=poison)
    assert list(result) == ["z"]
    np.testing.assert_array_equal(result["z"], np.maximum(X + Y, 0) - X)


@pytest.mark.parametrize("seed", SCHEDULES)
def test_streams_with_events_compute_the_same_in_every_order(seed: int | None):
    result = Executor(module_of(FORK)).run(FEEDS, schedule_seed=seed, poison=True)
    np.testing.assert_array_equal(result["c"], np.maximum(X + Y, 0))
    np.testing.assert_array_equal(result["d"], X + Y + X)


def test_runs_are_independent_and_outputs_are_copies():
    runner = Executor(module_of(CHAIN))
    first = runner.run(FEEDS)["z"]
    second = runner.run({"x": Y, "y": X})["z"]
    np.testing.assert_array_equal(first, np.maximum(X + Y, 0) - X)
    np.testing.assert_array_equal(second, np.maximum(X + Y, 0) - Y)
    first[:] = 0
    assert runner.run(FEEDS)["z"].any()


@pytest.mark.parametrize("poison", [False, True])
def test_views_share_bytes_and_copies_keep_them(poison: bool):
    square = 'memref<2x2xf32, "hbm">'
    two = 'memref<2xf32, "hbm">'
    plan = "\n".join(
        (
            placed(256, ("%a", 128), ("%out", 192)),
            f"%v = ge_exec.view %a offset 0 : {M4} -> {square}",
            f"%w = ge_exec.view %v offset 8 : {square} -> {two}",
            f"%t = ge_exec.view %x offset 4 : {M4} -> {two}",
            f"%o = ge_exec.view %out offset 0 : {M4} -> {square}",
            stream(
                0,
                launch(0, "neg", "%x", "%a"),
                f"ge_exec.copy 1 %t to %w : {two} to {two}",
                f"ge_exec.copy 2 %v to %o : {square} to {square}",
            ),
            output("z", "%out"),
        )
    )
    result = Executor(module_of(plan)).run(FEEDS, poison=poison)
    np.testing.assert_array_equal(result["z"], array(-1, 2, -2, 3))


@pytest.mark.parametrize("target", ["%a", "%b"])
def test_an_op_may_write_over_its_operand(target: str):
    """In place on the same buffer, and on another buffer at the same address."""
    plan = "\n".join(
        (
            placed(192, ("%a", 128), ("%b", 128)),
            stream(0, launch(0, "neg", "%x", "%a"), launch(1, "relu", "%a", target)),
            output("z", target),
        )
    )
    result = Executor(module_of(plan)).run(FEEDS, poison=True)
    np.testing.assert_array_equal(result["z"], np.maximum(-X, 0))


def test_inputs_and_weights_survive_a_run():
    weight = f'ge_exec.weight <"w", "", 512, 16> in %weights offset 512 : {M4}'
    plan = "\n".join(
        (
            placed(192, ("%b", 128)),
            '%weights = ge_exec.arena "weights" tier <hbm> size 1024 lower_bound 1024',
            f"%w = {weight}",
            stream(0, launch(0, "add", "%x, %w", "%b")),
            output("z", "%b"),
        )
    )
    partition = bytes(512) + Y.tobytes() + bytes(496)
    module = module_of(plan)
    result = Executor(module, memoryview(partition)).run(FEEDS, poison=True)
    np.testing.assert_array_equal(result["z"], X + Y)
    with pytest.raises(GEError, match="weight 'w' ends at byte 528 of 520"):
        Executor(module, memoryview(partition[:520])).run(FEEDS)

    (plan_op,) = (op for op in module.body.block.ops if isinstance(op, PlanOp))
    plan_op.weights[0].properties["value"] = WeightAttr(NamedWeight("w", MemoryWeight(X.tobytes())))
    np.testing.assert_array_equal(Executor(module).run(FEEDS)["z"], X + X)


def test_narrow_types_and_scalars_have_their_places():
    import ml_dtypes

    kernel = """
ge_exec.kernel @less "Less" engine "vector" flops 1 {
^bb0(%a: tensor<3xbf16>, %b: tensor<bf16>):
  %s = ge.less %a, %b : (tensor<3xbf16>, tensor<bf16>) -> tensor<3xi1>
  ge.yield %s : tensor<3xi1>
}"""
    wide, scalar = 'memref<3xbf16, "hbm">', 'memref<bf16, "hbm">'
    bits = 'memref<3xi1, "hbm">'
    plan = f"""
%work = ge_exec.arena "work" tier <hbm> size 64 lower_bound 0
%x = ge_exec.input "x" in %work offset 0 : {wide}
%y = ge_exec.input "y" in %work offset 6 : {scalar}
%b = ge_exec.buffer in %work offset 9 : {bits}
ge_exec.stream 0 {{
  ge_exec.launch 0 @less ins(%x, %y : {wide}, {scalar}) outs(%b : {bits})
}}
ge_exec.output "z" %b : {bits}"""
    feeds = {
        "x": np.array([1, 2, 3], ml_dtypes.bfloat16),
        "y": np.array(2.5, ml_dtypes.bfloat16),
    }
    result = Executor(module_of(plan, kernel)).run(feeds, poison=True)["z"]
    assert result.dtype == bool
    assert result.tolist() == [True, True, False]


def unchecked(monkeypatch: pytest.MonkeyPatch, plan: str) -> Executor:
    """An executor that does not know that its plan is wrong."""

    def accept(plan: PlanOp) -> None:
        pass

    with pytest.raises(GEError, match="GE0540"):
        Executor(module_of(plan))
    monkeypatch.setattr(executor, "verify_plan", accept)
    return Executor(module_of(plan))


@pytest.mark.parametrize("seed", [None, 7])
def test_poison_shows_a_lifetime_that_ends_too_early(
    monkeypatch: pytest.MonkeyPatch, seed: int | None
):
    """%b is meant to be %a, which nobody counted on being read once more."""
    plan = "\n".join(
        (
            placed(256, ("%a", 128), ("%b", 128), ("%c", 192), ("%d", 224)),
            stream(
                0,
                launch(0, "neg", "%x", "%a"),
                launch(1, "relu", "%a", "%c"),
                launch(2, "neg", "%b", "%d"),
            ),
            output("c", "%c"),
            output("d", "%d"),
        )
    )
    runner = unchecked(monkeypatch, plan)
    np.testing.assert_array_equal(runner.run(FEEDS, schedule_seed=seed)["d"], X)
    poisoned = runner.run(FEEDS, schedule_seed=seed, poison=True)
    np.testing.assert_array_equal(poisoned["c"], np.maximum(-X, 0))
    assert np.isnan(poisoned["d"]).all()


def test_poison_shows_bytes_that_nobody_wrote(monkeypatch: pytest.MonkeyPatch):
    plan = "\n".join(
        (
            placed(256, ("%a", 128), ("%b", 192)),
            stream(0, launch(0, "neg", "%a", "%b")),
            output("z", "%b"),
        )
    )
    assert np.isnan(unchecked(monkeypatch, plan).run(FEEDS, poison=True)["z"]).all()


CROSSED = "\n".join(
    (
        placed(256),
        stream(0, "ge_exec.wait 1", "ge_exec.record 0"),
        stream(1, "ge_exec.wait 0", "ge_exec.record 1"),
    )
)


@pytest.mark.parametrize("seed", [None, 0])
def test_streams_that_wait_for_each_other_end(monkeypatch: pytest.MonkeyPatch, seed: int | None):
    with pytest.raises(GEError, match="GE0810: streams stand still: waits for events 0, 1 are"):
        unchecked(monkeypatch, CROSSED).run(FEEDS, schedule_seed=seed)


GATHER = """
ge_exec.kernel @gather "Gather" engine "vector" flops 0 {
^bb0(%a: tensor<4xf32>, %i: tensor<1xi64>):
  %s = ge.gather %a, %i axis 0 : (tensor<4xf32>, tensor<1xi64>) -> tensor<1xf32>
  ge.yield %s : tensor<1xf32>
}"""


@pytest.mark.parametrize("seed", [None, 0])
def test_a_failing_kernel_is_named_and_stops_all_streams(seed: int | None):
    index, one = 'memref<1xi64, "hbm">', 'memref<1xf32, "hbm">'
    bad = f'ge_exec.launch 0 @gather ins(%x, %i : {M4}, {index}) outs(%g : {one}) loc("node_7")'
    plan = "\n".join(
        (
            placed(512, ("%a", 256), ("%b", 320)),
            f'%i = ge_exec.input "i" in %work offset 128 : {index}',
            f"%g = ge_exec.buffer in %work offset 192 : {one}",
            stream(0, bad, "ge_exec.record 0"),
            stream(1, "ge_exec.wait 0", launch(1, "neg", "%x", "%a")),
            stream(2, launch(2, "neg", "%x", "%b")),
        )
    )
    runner = Executor(module_of(plan, KERNELS + GATHER))
    feeds = {**FEEDS, "i": np.array([9])}
    with pytest.raises(GEError, match=r"GE0808: task 0 @gather \('node_7'\) failed: ") as caught:
        runner.run(feeds, schedule_seed=seed)
    assert "\n" not in str(caught.value)


def test_a_kernel_that_computes_another_type_is_refused(monkeypatch: pytest.MonkeyPatch):
    def wrong(*_: object) -> tuple[Array, ...]:
        return (np.zeros((2, 2), np.float64),)

    def compiled(_: object) -> object:
        return wrong

    monkeypatch.setattr("ge_dialect.tools.runtime.executor.compile_block", compiled)
    runner = Executor(module_of(CHAIN))
    message = r"GE0809: task 0 @add: expected result 0 to be float32\[4\], got float64\[2, 2\]"
    with pytest.raises(GEError, match=message):
        runner.run(FEEDS)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (launch(0, "mul", "%x, %y", "%a"), "task 0 @mul: there is no kernel of that name"),
        (
            launch(0, "neg", "%x, %y", "%a"),
            'kernel takes inputs (memref<4xf32, "hbm">), it is launched on',
        ),
    ],
)
def test_a_launch_has_to_fit_its_kernel(task: str, message: str):
    plan = placed(256, ("%a", 128)) + stream(0, task)
    with pytest.raises(GEError) as caught:
        Executor(module_of(plan))
    assert caught.value.code == "GE0807"
    assert message in caught.value.message


def test_claims_of_memory_are_checked_before_it_is_taken():
    with pytest.raises(GEError, match="GE0806: arena 'work' claims 1099511627776 bytes"):
        Executor(module_of(placed(1 << 40))).run(FEEDS)
    huge = f'%h = ge_exec.buffer in %work offset 4096 : memref<{1 << 58}xf32, "hbm">'
    with pytest.raises(GEError, match=r"GE0806: the plan needs \d+ bytes of memory"):
        Executor(module_of(placed((1 << 60) + 4096) + huge)).run(FEEDS)


def test_the_times_of_a_profile_are_in_the_order_of_the_plan():
    runner = Executor(module_of(FORK))
    assert runner.run(FEEDS) and list(runner.times) == []
    runner.run(FEEDS, profile=True)
    found = [(entry.task, entry.stream, entry.what) for entry in runner.times]
    assert found == [(0, 0, "add"), (1, 1, "neg"), (2, 1, "relu"), (3, 0, "sub")]
    assert all(entry.seconds >= 0 for entry in runner.times)


@st.composite
def forked_plans(draw: st.DrawFn) -> tuple[str, str]:
    """A random DAG on up to three streams with an event for each edge between two, and on one."""
    count, streams = draw(st.integers(1, 8)), draw(st.integers(2, 3))
    where = [draw(st.integers(0, streams - 1)) for _ in range(count)]
    split: list[list[str]] = [[] for _ in range(streams)]
    single: list[str] = []
    events = 0
    for task in range(count):
        known = ["%x", "%y", *(f"%b{i}" for i in range(task))]
        kernel = draw(st.sampled_from(["add", "sub", "relu", "neg"]))
        inputs = [draw(st.sampled_from(known)) for _ in range(2 if kernel in ("add", "sub") else 1)]
        for source in dict.fromkeys(inputs):
            if source.startswith("%b") and where[int(source[2:])] != where[task]:
                # The producer's stream may have gone on: recording late is right as well.
                split[where[int(source[2:])]].append(f"ge_exec.record {events}")
                split[where[task]].append(f"ge_exec.wait {events}")
                events += 1
        op = launch(task, kernel, ", ".join(inputs), f"%b{task}")
        split[where[task]].append(op)
        single.append(op)
    memory = placed(4096, *((f"%b{i}", 128 + 64 * i) for i in range(count)))
    results = "\n".join(output(f"r{i}", f"%b{i}") for i in range(max(0, count - 3), count))
    many = "\n".join(stream(i, *ops) for i, ops in enumerate(split) if ops)
    return f"{memory}\n{many}\n{results}", f"{memory}\n{stream(0, *single)}\n{results}"


@settings(max_examples=20)
@given(forked_plans(), st.integers(0, 1000))
def test_every_interleaving_computes_what_one_stream_does(plans: tuple[str, str], seed: int):
    many, single = (Executor(module_of(plan)) for plan in plans)
    expected = single.run(FEEDS)
    for schedule_seed in (None, seed, seed + 1):
        found = many.run(FEEDS, schedule_seed=schedule_seed, poison=True)
        assert {name: value.tolist() for name, value in found.items()} == {
            name: value.tolist() for name, value in expected.items()
        }


def test_many_streams_take_turns(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(executor, "MAX_THREADS", 1)

    def refuse(*_: object) -> None:
        raise AssertionError("no threads wanted")

    monkeypatch.setattr(schedule, "Thread", refuse)
    assert list(Executor(module_of(FORK)).run(FEEDS)) == ["c", "d"]


def test_poison_spares_what_a_task_wrote_over_a_dead_buffer():
    plan = "\n".join((placed(256, ("%a", 128)), stream(0, launch(0, "neg", "%x", "%a"))))
    (plan_op,) = (op for op in module_of(plan).body.block.ops if isinstance(op, PlanOp))
    memory = arenas.Layout(plan_op, None).allocate()
    (buffer,) = plan_op.buffers
    memory.poison(buffer, [(136, 140), (100, 130), (142, 300)])
    (raw,) = memory.arenas.values()
    assert [i for i, byte in enumerate(raw) if byte] == [*range(130, 136), *range(140, 142)]


def test_objects_and_empty_tensors_need_no_bytes():
    words = "!ge_exec.object<tensor<2x!ge.string>>"
    empty = 'memref<0x3xf32, "hbm">'
    plan = f"""
%work = ge_exec.arena "work" tier <hbm> size 0 lower_bound 0
%x = ge_exec.input "x" : {words}
%e = ge_exec.input "e" in %work offset 0 : {empty}
%b = ge_exec.object : {words}
%c = ge_exec.buffer in %work offset 0 : {empty}
ge_exec.stream 0 {{
  ge_exec.copy 0 %x to %b : {words} to {words}
  ge_exec.copy 1 %e to %c : {empty} to {empty}
}}
ge_exec.output "z" %b : {words}
ge_exec.output "c" %c : {empty}"""
    feeds = {"x": np.array(["a", "longer"]), "e": np.zeros((0, 3), np.float32)}
    result = Executor(module_of(plan)).run(feeds, poison=True)
    assert result["z"].tolist() == ["a", "longer"]
    assert result["c"].shape == (0, 3)
