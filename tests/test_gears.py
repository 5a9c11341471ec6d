"""Gears out of one graph that was optimised with its symbols: when, and that they are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import KernelOp
from ge_dialect.lowering.om.encode import gear_of, plans_of
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.tools import gear_sharing
from ge_dialect.tools.api import CompiledPlan, compile
from ge_dialect.tools.runtime.executor import load_plan
from ge_dialect.tools.runtime.gears import GearExecutor, make_executor
from tests.test_data_sizes import BOOL, FLOAT, INT, Array, floats, model, node

GEARS = ((4,), (9,), (16,))


def masked() -> onnx.ModelProto:
    """Rows of `x` below a diagonal that is computed from the length, a product, and a sum."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape zero", "rows"),
        node("Range", "zero rows one", "range"),
        node("Unsqueeze", "range last", "column"),
        node("LessOrEqual", "range column", "below"),
        node("MatMul", "x w", "h"),
        node("Transpose", "h", "t", perm=[1, 0]),
        node("MatMul", "h t", "scores"),
        node("Where", "below scores low", "kept"),
        node("Softmax", "kept", "p"),
        node("MatMul", "p h", "o"),
        node("Add", "o h", "y"),
    ]
    constants = {
        "zero": np.array(0),
        "one": np.array(1),
        "last": np.array([1]),
        "w": floats(8, 32),
        "low": np.array(-1e9, np.float32),
    }
    return model({"x": (FLOAT, ("S", 8))}, nodes, {"y": FLOAT, "below": BOOL}, constants)


def compiled(gears: Sequence[tuple[int, ...]] = GEARS, **options: Any) -> CompiledPlan:
    return compile(masked(), input_shapes="x:-1,8", dynamic_dims=gears, **options)


@pytest.fixture(name="shared")
def always_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gear_sharing, "TOLERANCE", 1e9)


def check(module: ModuleOp, weights: memoryview | None = None) -> None:
    executor = make_executor(module, weights)
    assert isinstance(executor, GearExecutor)
    reference: Any = ReferenceEvaluator(masked())
    for (rows,) in GEARS:
        feeds: Mapping[str, Array] = {"x": floats(rows, 8, seed=rows)}
        outputs = executor.run(feeds, poison=True)
        wanted: list[Array] = reference.run(None, dict(feeds))
        for got, want in zip(outputs.values(), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def split_count(plan: CompiledPlan) -> int:
    """How many gears were made out of one optimised graph."""
    return sum(one.rewrites for one in plan.passes if one.name == "ge-split-gears")


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("streams", [1, 2])
def test_gears_of_one_graph_are_right(streams: int, tmp_path: Path):
    plan = compiled(streams=streams)
    assert [gear_of(one) for one in plans_of(plan.module)] == ["S=4", "S=9", "S=16"]
    assert sum(one.name == "ge-raise" for one in plan.passes) == 2  # with symbols, and one gear
    plan.module.verify()
    for one in plans_of(plan.module):
        verify_plan(one)
        assert not one.symbols
        assert not one.guards
    check(plan.module)
    plan.save(tmp_path / "g.om")
    loaded = load_plan(str(tmp_path / "g.om"))
    check(loaded.module, loaded.weights)


@pytest.mark.usefixtures("shared")
def test_what_reads_no_input_is_a_weight_of_the_gear():
    plan = compiled()
    ranges = [
        op
        for op in plan.module.body.block.ops
        if isinstance(op, KernelOp) and "Range" in op.op_type.data
    ]
    assert ranges == []


@pytest.mark.usefixtures("shared")
def test_kernels_that_do_not_depend_on_a_gear_are_one():
    names = [
        op.sym_name.data for op in compiled().module.body.block.ops if isinstance(op, KernelOp)
    ]
    again = compiled()
    assert names == [
        op.sym_name.data for op in again.module.body.block.ops if isinstance(op, KernelOp)
    ]
    assert len(set(names)) == len(names)
    assert str(again.module) == str(compiled().module)


@pytest.mark.usefixtures("shared")
def test_a_gear_that_is_no_size_is_refused_before_anything_is_compiled():
    with pytest.raises(GEError, match=r"GE0331: gear 0 \(S=4\) leaves the range of 'S', 8 to 16"):
        module, _ = gear_sharing_module()
        compile(module, gears=("S=4", "S=16"))


def gear_sharing_module() -> tuple[ModuleOp, str]:
    from ge_dialect.tools.api import load_model

    return load_model(masked(), "x:8~16,8")


def test_graphs_that_lose_by_sharing_are_optimised_gear_by_gear(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(gear_sharing, "TOLERANCE", 0.0)
    slower = compiled()
    assert sum(one.name == "ge-raise" for one in slower.passes) == 1  # on all functions at once
    assert str(slower.module) == str(compiled().module)
    check(slower.module)


@pytest.mark.usefixtures("shared")
def test_gears_of_sizes_that_depend_on_data_are_optimised_gear_by_gear():
    nodes = [node("NonZero", "x", "found")]
    proto = model({"x": (FLOAT, ("S", 8))}, nodes, {"found": INT})
    plan = compile(proto, input_shapes="x:-1,8", dynamic_dims=GEARS)
    assert len(plans_of(plan.module)) == 3
    executor = make_executor(plan.module)
    assert executor.run({"x": np.ones((9, 8), np.float32)})["found"].shape == (2, 72)


@pytest.mark.usefixtures("shared")
def test_gears_of_the_zoo_are_right(zoo: Path):
    from tests.test_dynamic_zoo import Reference, feeds_of, read

    for name in ("vit.ts-dyn", "bert.ts-dyn", "gpt2-decode.dynamo-dyn"):
        proto = read(zoo / name)
        sizes = {"batch": 2, "seq": 6, "past": 5, "total": 6}
        dims = {v.name: v.type.tensor_type.shape.dim for v in proto.graph.input}
        shapes = ";".join(
            f"{n}:{','.join('-1' if d.dim_param else str(d.dim_value) for d in found)}"
            for n, found in dims.items()
        )
        order = [d.dim_param for found in dims.values() for d in found if d.dim_param]
        larger = {key: size * 2 for key, size in sizes.items()} | {"total": 11}
        gears = [[one[key] for key in order] for one in (sizes, larger)]
        executor = make_executor(compile(proto, input_shapes=shapes, dynamic_dims=gears).module)
        with np.load(zoo / name / "io.npz") as samples:
            feeds = feeds_of(proto, samples, larger, 1)
        wanted = Reference(proto)(feeds)
        for got, want in zip(executor.run(feeds).values(), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
