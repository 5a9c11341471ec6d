"""The machine model on whole plans: bounds, monotonicity, and what tiles and waves cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.lowering.machine.tiles import Product, again_bytes, choose_tiling
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.predict import Prediction, predict_plan
from ge_dialect.targets import Target, load_target, target_names
from ge_dialect.tools import api
from ge_dialect.tools.report.traffic import compulsory_traffic, plan_traffic
from tests.fusion_graphs import parse

MODELS = (
    "bert.dynamo-static",
    "resnet50.ts-static",
    "llama-prefill.dynamo-static",
    "mamba.ts-static",
    "control-flow.ts-static",
    "gpt2-prefill.ts-static",
)


def product(m: int, n: int, k: int, batch: int = 1) -> Product:
    return Product(batch, m, n, k, "f16", 2 * batch * m * k, 2 * batch * n * k)


def faster(target: Target, **changes: float) -> Target:
    """The target with bandwidths times a factor."""
    tiers = {
        name: replace(
            tier,
            bandwidth=tier.bandwidth * changes.get(name, 1),
            write_bandwidth=tier.write_bandwidth * changes.get(name, 1),
        )
        for name, tier in target.tiers.items()
    }
    return replace(target, tiers=MappingProxyType(tiers))


@pytest.fixture(scope="module", params=MODELS)
def plans(request: pytest.FixtureRequest, zoo: Path) -> list[api.CompiledPlan]:
    """A model unfused and fused."""
    path = zoo / request.param / "model.onnx"
    return [api.compile(path, level=level) for level in (0, 2)]


def test_no_run_beats_its_bound_on_any_target(plans: list[api.CompiledPlan]):
    for compiled in plans:
        plan = plan_of(compiled.module)
        for name in target_names():
            found = predict_plan(plan, load_target(name))
            assert found.makespan_us >= found.bound_us > 0
            for cost in found.costs:
                assert cost.cost.device_us >= cost.cost.bound_us * (1 - 1e-12)
            check_parts(found)


def check_parts(found: Prediction) -> None:
    assert sum(found.reasons().values()) == pytest.approx(found.makespan_us)
    assert 0 <= found.assumed_share <= 1 + 1e-9
    assert all(part <= 1 + 1e-9 for part in found.run.utilisation().values())
    assert sum(found.limits().values()) == len(found.costs)


def test_fusing_moves_no_more_bytes_and_more_bandwidth_is_never_slower(
    plans: list[api.CompiledPlan],
):
    target = load_target("Ascend910B1")
    unfused, fused = (plan_of(compiled.module) for compiled in plans)
    assert plan_traffic(fused) <= plan_traffic(unfused)
    before, after = predict_plan(unfused, target), predict_plan(fused, target)
    assert after.hbm_bytes <= before.hbm_bytes * 1.01
    for plan, found in ((unfused, before), (fused, after)):
        for change in ({"hbm": 2.0}, {"l2": 2.0}, {"hbm": 4.0, "l2": 4.0}):
            assert predict_plan(plan, faster(target, **change)).makespan_us <= (
                found.makespan_us * 1.01
            )


@given(st.integers(1, 3000), st.integers(1, 3000), st.integers(1, 3000), st.integers(1, 8))
def test_tiles_cover_the_result_and_fit_the_accumulators(m: int, n: int, k: int, batch: int):
    for name in target_names():
        target = load_target(name)
        tiling = choose_tiling(product(m, n, k, batch), target)
        assert tiling.stretch >= 1
        assert 4 * tiling.rows * tiling.columns <= target.tiers["l0c"].size
        assert tiling.l2_bytes >= 2 * batch * k * (m + n)


def test_cores_that_wait_in_the_last_wave_cost_time():
    target = load_target("Ascend910B1")  # 24 cores
    full, one_more = product(128 * 24, 256, 4096), product(128 * 24 + 16, 256, 4096)
    assert choose_tiling(full, target).stretch == 1
    assert choose_tiling(one_more, target).stretch > 1.005
    few = choose_tiling(product(16, 256, 4096), target)
    assert few.columns < 256  # smaller tiles keep more cores busy


def test_operands_that_l2_cannot_keep_are_read_again():
    small, large = load_target("Ascend310P3"), load_target("Ascend910B1")
    wide = product(2048, 11008, 4096)
    assert again_bytes(wide, large) == 0
    assert again_bytes(wide, small) == 2 * 11008 * 4096
    assert again_bytes(product(2048, 2048, 2048), small) == 0


TABLE = """
func.func @main(%t: tensor<32000x4096xf16>, %i: tensor<8xi64>) -> tensor<8x4096xf16> {
  %y = ge.gather %t, %i axis 0
    : (tensor<32000x4096xf16>, tensor<8xi64>) -> tensor<8x4096xf16>
  func.return %y : tensor<8x4096xf16>
}
"""


def test_a_gather_reads_what_it_gives_and_not_the_table():
    plan = plan_of(api.compile(parse(TABLE), level=0).module)
    found = predict_plan(plan, load_target("Ascend910B1"))
    assert found.hbm_bytes == 2 * 8 * 4096 * 2 + 8 * 8
    assert found.hbm_bytes == plan_traffic(plan) == compulsory_traffic(plan)


def test_weights_past_l2_leave_it_to_activations(zoo: Path):
    plan = plan_of(api.compile(zoo / "llama-layer.ts-static" / "model.onnx", level=0).module)
    target = load_target("Ascend910B1")
    small = replace(target.l2, size=16 << 10)
    target = replace(target, tiers=MappingProxyType({**target.tiers, "l2": small}))
    kept = predict_plan(plan, target, stream_weights=True)
    assert kept.hbm_bytes <= predict_plan(plan, target).hbm_bytes
    assert kept.makespan_us >= kept.bound_us
