"""Random ONNX models: what `onnx.reference` computes comes out of the whole pipeline."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ge_dialect.frontends.onnx.convert import find_converter
from ge_dialect.frontends.onnx.convert.control import CONTROL
from ge_dialect.frontends.onnx.convert.node import converters
from ge_dialect.tools.api import CompiledPlan, compile
from ge_dialect.tools.runtime.compare import EXACT, tolerance_of
from ge_dialect.tools.runtime.executor import Executor, load_plan
from tests.random_onnx.evaluate import spread_of
from tests.random_onnx.models import Case, cases
from tests.random_onnx.registry import builders
from tests.random_onnx.values import Array, Value, is_float, widened

EXAMPLES = int(os.environ.get("GE_FUZZ_EXAMPLES", "100"))
"""Graphs to try; `make fuzz-graphs` tries more."""

UNCOVERED = {
    "SimplifiedLayerNormalization": "no operator of ONNX, whatever its domain says",
    "Scatter": "deprecated since opset 11; test_onnx_opsets.py has its spelling",
    "Upsample": "deprecated since opset 10; test_onnx_opsets.py has its spelling",
}
"""Operators with a converter but no builder, and why."""


def expect(got: dict[str, Array], case: Case, how: str) -> None:
    """Asserts that outputs are what they have to be."""
    assert list(got) == [value.name for value in case.outputs]
    for value in case.outputs:
        found = got[value.name]
        assert found.dtype == value.dtype, (how, value.name, found.dtype)
        assert found.shape == value.shape, (how, value.name, found.shape)
        wrong = differences(found, value)
        assert not wrong.any(), (
            f"{how}: '{value.name}' is {found[wrong][:5]}, expected {value.array[wrong][:5]}"
        )


def differences(found: Array, value: Value) -> Array:
    """Returns which elements are further off than rounding explains."""
    want = value.array
    tolerance = tolerance_of(want.dtype)
    if tolerance == EXACT:
        return np.asarray(found != want)
    a, b = widened(found), widened(want)
    finite = np.isfinite(b)
    magnitude = np.where(finite, np.abs(b), 0.0)
    scale = max(1.0, float(magnitude.max(initial=0.0)))
    allowed = tolerance.atol * scale + tolerance.rtol * magnitude
    allowed = allowed + 8 * spread_of(want, value.shaken)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        wrong = np.where(finite & np.isfinite(a), np.abs(a - b) > allowed, ~same)
    if value.exact and is_float(want.dtype):
        wrong |= ~same | ((a == 0) & (np.signbit(a) != np.signbit(b)))
    return np.asarray(wrong)


def check(case: Case, seed: int) -> None:
    """Runs a case through the pipeline at every level, and once more another way."""
    plan = compile(case.model, level=0)
    expect(plan.run(case.feeds), case, "level 0")
    plan = compile(case.model)
    expect(plan.run(case.feeds), case, "level 2")
    match seed % 4:
        case 0:
            plan = compile(case.model, streams=2, level=1)
            found = Executor(plan.module).run(case.feeds, schedule_seed=seed, poison=True)
            expect(found, case, "two streams")
        case 1:
            plan = compile(case.model, streams=3)
            found = Executor(plan.module).run(case.feeds, schedule_seed=seed, poison=True)
            expect(found, case, "three streams")
        case 2:
            model, input_shapes = with_symbols(case.model)
            plan = compile(model, input_shapes=input_shapes or None)
            expect(plan.run(case.feeds), case, f"with {input_shapes}")
        case _:
            expect(from_file(plan, case.feeds), case, "from a file")


def with_symbols(model: onnx.ModelProto) -> tuple[onnx.ModelProto, str]:
    """Returns a model whose inputs have dynamic dimensions, and what they are, as for ATC."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    shapes: list[str] = []
    for value in copy.graph.input:
        dims = value.type.tensor_type.shape.dim
        sizes = [dim.dim_value for dim in dims]
        if sizes and 0 not in sizes:
            shapes.append(f"{value.name}:{','.join(map(str, sizes))}")
            for place, dim in enumerate(dims):
                dim.dim_param = f"{value.name}_{place}"
    for value in copy.graph.output:
        value.type.tensor_type.ClearField("shape")
    return copy, ";".join(shapes)


def from_file(plan: CompiledPlan, feeds: dict[str, Array]) -> dict[str, Array]:
    """Returns what a plan computes that was written to a file."""
    with TemporaryDirectory() as folder:
        path = f"{folder}/plan.om"
        plan.save(path)
        loaded = load_plan(path)
        return Executor(loaded.module, loaded.weights).run(feeds)


@given(cases(), st.integers(0, 7))
@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_the_pipeline_computes_what_the_reference_does(case: Case, seed: int) -> None:
    check(case, seed)


@pytest.mark.parametrize("name", builders())
def test_each_operator_computes_what_the_reference_does(name: str) -> None:
    @given(st.data())
    @settings(max_examples=max(EXAMPLES // 40, 1))
    def run(data: st.DataObject) -> None:
        check(data.draw(cases(first=name)), data.draw(st.integers(0, 3)))

    run()


def test_every_operator_has_a_builder() -> None:
    assert find_converter("", "Add") is not None
    expected = {*converters(), *CONTROL}
    assert expected - builders().keys() == UNCOVERED.keys()
