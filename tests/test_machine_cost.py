"""The roofline of a kernel, against arithmetic and published measurements."""

from __future__ import annotations

import statistics

import pytest

from ge_dialect.lowering.machine.cost import Work, copy_cost, kernel_cost
from ge_dialect.lowering.machine.simulate import sim_task, simulate
from ge_dialect.targets import load_target, target_names
from tests.published_kernels import PUBLISHED, comparisons, lines, spearman


def test_a_matmul_is_limited_by_computing():
    target = load_target("Ascend910B3")
    flops = 2.0 * 2048 * 4096 * 4096
    cost = kernel_cost(Work({("cube", "f16"): flops}, 50331648, 16777216), target)
    compute = flops / (20 * 8192 * 1.8e9 * 0.78) * 1e6
    moving = 67108864 / (1.6e12 * 0.79) * 1e6
    assert cost.device_us == pytest.approx(1.2 + compute + 0.05 * moving)
    assert cost.us == pytest.approx(cost.device_us + 3.0)
    assert cost.limited_by == "compute"
    assert cost.label == "predicted"


def test_a_copy_is_limited_by_hbm_and_a_small_kernel_by_its_launch():
    target = load_target("Ascend910A")
    assert copy_cost(1 << 28, target).limited_by == "hbm"
    assert copy_cost(64, target).limited_by == "launch"
    assert copy_cost(0, target).us == pytest.approx(4.2)


def test_cores_of_both_kinds_are_one_resource_where_they_are_fused():
    work = Work({("cube", "f16"): 1e9, ("vector", "f16"): 1e7}, 1 << 20, 1 << 20)
    assert list(kernel_cost(work, load_target("Ascend910B1")).demands) == [
        "cube",
        "hbm",
        "l2",
        "vector",
    ]
    assert list(kernel_cost(work, load_target("Ascend910A")).demands) == ["core", "hbm", "l2"]


@pytest.mark.parametrize("name", target_names())
@pytest.mark.parametrize("flops", [0.0, 1e6, 1e12])
@pytest.mark.parametrize("size", [0, 4096, 1 << 32])
def test_the_estimate_is_never_below_the_bound(name: str, flops: float, size: int):
    cost = kernel_cost(Work({("cube", "f16"): flops}, size, size), load_target(name))
    assert cost.device_us >= cost.bound_us * (1 - 1e-12)
    alone = simulate([sim_task(cost, 0)], [])
    assert alone.makespan_us == pytest.approx(cost.us)


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="one of cube, vector, got 'host'"):
        kernel_cost(Work({("host", "f16"): 1.0}, 0, 0), load_target("Ascend910A"))


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="../shared/facts is not here")
def test_published_kernels_are_ranked_and_none_beats_the_bound():
    found = comparisons()
    assert len(found) == 25
    for one in found:
        assert one.measured_us >= one.bound_us, one.kernel
    measured = [one.measured_us for one in found]
    assert spearman(measured, [one.predicted_us for one in found]) >= 0.9
    assert statistics.median(one.error for one in found) <= 0.2
    assert lines(found, markdown=True)[0].startswith("| chip")
