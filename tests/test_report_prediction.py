"""What the summary says of the predicted time, and what it rests on."""

from __future__ import annotations

from typing import Any

import pytest

from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.predict import predict_plan
from ge_dialect.targets import load_target, target_names
from ge_dialect.tools import api
from ge_dialect.tools.report.text import render
from tests.fusion_graphs import parse

LARGE = """
func.func @main(%x: tensor<4096x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %y = ge.matmul %x, %w : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  func.return %y : tensor<4096x4096xf16>
}
"""


def compiled(text: str, **options: Any) -> api.CompiledPlan:
    return api.compile(parse(text), **options)


def test_a_small_model_is_all_launches_and_an_estimate_on_assumptions():
    text = LARGE.replace("4096", "16")
    plan = compiled(text)
    found = plan.summary["prediction"]
    assert found["limited_by"] == {"launch": 1}
    assert found["assumed_us"]["overhead_us.launch"] == 3.0
    assert not found["is_trusted"]
    assert "rests on assumed figures: overhead_us.launch" in plan.report()


def test_a_large_product_rests_on_figures_with_a_source():
    plan = compiled(LARGE, target="Ascend910B1")
    found = plan.summary["prediction"]
    assert found["is_trusted"]
    assert found["assumed_share"] < 0.02
    assert found["limited_by"] == {"compute": 1}
    assert 1 < found["bound_ratio"] < 2
    assert "assumed figures" not in plan.report()
    assert found["after_l2_bytes"] == 3 * 2 * 4096 * 4096


def test_the_same_in_f32_rests_on_an_assumed_rate():
    found = compiled(LARGE.replace("f16", "f32"), target="Ascend910B1").summary["prediction"]
    assert not found["is_trusted"]
    assert next(iter(found["assumed_us"])) == "cube_mkn.f32"


@pytest.mark.parametrize("name", target_names())
def test_the_parts_of_the_time_add_up(name: str):
    plan = compiled(LARGE, target=name)
    found = plan.summary["prediction"]
    assert sum(found["time_us"].values()) == pytest.approx(plan.summary["predicted_us"], abs=0.01)
    assert all(0 <= part <= 1 for part in found["utilisation"].values())
    prediction = predict_plan(plan_of(plan.module), load_target(name))
    assert prediction.makespan_us >= prediction.bound_us
    assert f"{plan.summary['predicted_us']:.1f} us predicted" in render(plan.summary)
