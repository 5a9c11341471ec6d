"""What stays in the L2: chosen by benefit, within capacity, and proved like any other place."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import BufferOp, PlanOp
from ge_dialect.lowering.memory.memory_map import memory_map
from ge_dialect.lowering.memory.plan_l2 import Candidate, choose, plan_residency
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.tools.ge_compile import run as ge_compile
from ge_dialect.tools.runtime.executor import Executor, load_plan
from tests.plan_texts import module_of
from tests.test_zoo import arrays, compiled

CAPACITIES = (0, 512, 4096, 1 << 16, 1 << 20)


def candidate(size: int, begin: int, end: int, saved: int) -> Candidate:
    return Candidate(None, size, begin, end, saved)  # pyright: ignore[reportArgumentType]


def test_the_bytes_saved_per_byte_and_moment_decide() -> None:
    long_lived, hot, cold = (
        candidate(512, 0, 8, 4096),
        candidate(512, 2, 4, 4096),
        candidate(512, 5, 7, 2048),
    )
    assert choose([long_lived, hot, cold], 512, 8) == [hot, cold]
    assert choose([long_lived, hot, cold], 1024, 8) == [hot, cold, long_lived]
    assert choose([long_lived, hot, cold], 511, 8) == []


@given(
    st.lists(
        st.tuples(st.integers(1, 9), st.integers(0, 9), st.integers(1, 5), st.integers(1, 99)),
        max_size=12,
    ),
    st.integers(0, 20),
)
def test_no_moment_is_over_capacity(rows: list[tuple[int, int, int, int]], capacity: int) -> None:
    every = [candidate(size, begin, begin + n, saved) for size, begin, n, saved in rows]
    chosen = choose(every, capacity, 16)
    for moment in range(16):
        assert sum(one.bytes for one in chosen if one.begin <= moment < one.end) <= capacity
    assert len(chosen) == len(set(map(id, chosen)))


@pytest.mark.parametrize("capacity", CAPACITIES)
@pytest.mark.parametrize("streams", [1, 3])
def test_real_plans_are_proved(zoo: Path, capacity: int, streams: int) -> None:
    plan = plan_of(compiled(zoo / "unet.ts-static", level=1, streams=streams).module)
    plan_residency(plan, capacity, 512)
    verify_plan(plan)
    ends = [op.l2_offset + op.size for op in plan.buffers if op.l2_offset is not None]
    assert bool(ends) == (capacity > 0)
    assert max(ends, default=0) <= capacity


def test_every_shift_that_does_harm_is_caught(zoo: Path) -> None:
    """A buffer is moved over each other one that is alive at the same time."""
    plan = plan_of(compiled(zoo / "llama-layer.ts-static", level=1).module)
    plan_residency(plan, 1 << 20, 512)
    lives = _lives(plan)
    residents = [op for op in plan.buffers if op.l2_offset is not None]
    clashes = 0
    for op in residents:
        for other in residents:
            (begin, end), (start, stop) = lives[op], lives[other]
            if op is not other and max(begin, start) < min(end, stop):
                before = op.l2_offset
                op.stay_in_l2(other.l2_offset)
                with pytest.raises(GEError, match=r"reads|of the L2|ordered"):
                    verify_plan(plan)
                op.stay_in_l2(before)
                clashes += 1
    assert clashes > 50
    verify_plan(plan)


def _lives(plan: PlanOp) -> dict[BufferOp, tuple[int, int]]:
    regions = memory_map(plan).regions[len(plan.inputs) + len(plan.weights) :]
    return {
        op: (region.begin, region.end) for op, region in zip(plan.buffers, regions, strict=True)
    }


def test_what_lies_beyond_the_l2_of_the_target_is_caught(zoo: Path) -> None:
    module = compiled(zoo / "llama-layer.ts-static", level=1).module
    plan = plan_of(module)
    plan.buffers[0].stay_in_l2(201326592)
    with pytest.raises(GEError, match="of the L2, which has 201326592"):
        verify_plan(plan)


def test_places_are_in_the_file_and_change_no_result(zoo: Path, tmp_path: Path) -> None:
    folder = zoo / "unet.ts-static"
    found, summary = tmp_path / "u.om", tmp_path / "s.json"
    arguments = [str(folder / "model.onnx"), "-o", str(found), f"--summary={summary}", "-q"]
    ge_compile([*arguments, "-O1", "--memory-limit=l2=16K"])
    loaded = load_plan(str(found))
    plan = plan_of(loaded.module)
    resident = [op for op in plan.buffers if op.l2_offset is not None]
    l2 = json.loads(summary.read_text())["memory"]["l2"]
    assert l2["buffers"] == len(resident) > 100
    assert l2["peak"] <= 16384
    wanted = arrays(folder / "io.npz", "output")
    outputs = Executor(loaded.module, loaded.weights).run(arrays(folder / "io.npz", "input"))
    for name, array in wanted.items():
        np.testing.assert_allclose(outputs[name], array, rtol=1e-3, atol=1e-4)


def test_a_negative_place_is_refused() -> None:
    with pytest.raises(Exception, match="'resident' >= 0"):
        module_of('%b = ge_exec.buffer resident -1 : memref<4xf32, "hbm">')
