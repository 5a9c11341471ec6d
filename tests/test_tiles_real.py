"""Layers of public models at their dimensions: what is fused has tiles that `verify_plan` accepts.

The same graphs, small, run in tiles and in one piece: the results are the same.
"""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.types import is_tensor, static_shape
from ge_dialect.ge_exec import KernelOp
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.pipelines import LowerPipeline
from ge_dialect.lowering.set_target import SetTargetPass
from ge_dialect.lowering.tile_kernels import NAME
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.passes.fusion.footprint import fit_in_tiles
from ge_dialect.passes.fusion.tiling import role_of
from ge_dialect.passes.pipelines import OptimizePipeline
from ge_dialect.targets.dlti import target_of
from ge_dialect.tools.api import CompiledPlan, CompileOptions, compile, make_context
from ge_dialect.tools.runtime.executor import Executor
from tests.real_graphs import GRAPHS, SMALL

LITTLE = (("l1", 65536), ("ub", 32768), ("l0c", 16384))
LEAST = (("l1", 8192), ("ub", 3072), ("l0c", 2048))
MACHINES: dict[str, dict[str, Any]] = {
    "Ascend910B1": {"target": "Ascend910B1"},
    "Ascend910A": {"target": "Ascend910A"},
    "little": {"core_limits": LITTLE},
}


def ops_of(kernel: KernelOp) -> list[GEOp]:
    """The ops of a kernel that compute something."""
    ops = kernel.body.block.ops
    return [op for op in ops if isinstance(op, GEOp) and not isinstance(op, ConstantOp)]


def kernels_of(plan: CompiledPlan) -> list[KernelOp]:
    """The kernels that keep something on the chip; sizes are not all known of every kernel."""
    kernels = [op for op in plan.module.body.block.ops if isinstance(op, KernelOp)]
    return [
        op
        for op in kernels
        if len(ops_of(op)) > 1 or role_of(type(ops_of(op)[0])).is_hard
        if all(
            is_static(value) for inner in ops_of(op) for value in (*inner.operands, *inner.results)
        )
    ]


def is_static(value: SSAValue) -> bool:
    """Whether the size of a value is known."""
    return is_tensor(value.type) and static_shape(value.type) is not None


def check_all_tiled(plan: CompiledPlan) -> None:
    """Every kernel has tiles, the footprint agrees, and the plan is right."""
    told = [r for r in plan.remarks if r.pass_name == NAME and r.kind.name != "PASSED"]
    assert not told, told[0].message
    target = target_of(plan.module)
    for kernel in kernels_of(plan):
        assert kernel.tiling is not None, kernel.sym_name.data
        results = list(kernel.body.block.last_op.operands) if kernel.body.block.last_op else []
        assert fit_in_tiles(ops_of(kernel), target, None, results).shortage is None
    verify_plan(plan_of(plan.module))


@pytest.mark.parametrize("name", GRAPHS)
def test_kernels_of_real_layers_have_tiles(name: str) -> None:
    graph = GRAPHS[name]()
    for options in MACHINES.values():
        check_all_tiled(compile(graph, options=CompileOptions(**options)))


@pytest.mark.parametrize("machine", ["Ascend910B1", "little"])
def test_kernels_of_the_zoo_have_tiles(machine: str, zoo: Path) -> None:
    families = {folder.name.partition(".")[0]: folder for folder in zoo.glob("*-static")}
    for folder in families.values():
        check_all_tiled(compile(folder / "model.onnx", options=CompileOptions(**MACHINES[machine])))


def attention_text() -> str:
    """The article's block of 1024 tokens, as the benchmark has it."""
    path = Path(__file__).resolve().parent.parent / "benchmarks" / "llama_graphs.py"
    spec = spec_from_file_location("llama_graphs", path)
    assert spec is not None
    assert spec.loader is not None
    graphs: Any = module_from_spec(spec)
    spec.loader.exec_module(graphs)
    return graphs.attention_text(1, 1024)


@pytest.mark.parametrize("machine", ["Ascend910B1", "Ascend910A"])
def test_the_attention_of_the_article_has_tiles(machine: str) -> None:
    ctx = make_context()
    module = Parser(ctx, attention_text()).parse_module()
    SetTargetPass(machine).apply(ctx, module)
    for pass_ in (*OptimizePipeline(2).passes(), *LowerPipeline().passes()):
        pass_.apply(ctx, module)
    (kernel,) = [op for op in module.body.block.ops if isinstance(op, KernelOp)]
    assert kernel.tiling is not None
    assert kernel.tiling.tiles > 1
    assert kernel.reread_bytes == 0
    verify_plan(plan_of(module))


@pytest.mark.parametrize("name", SMALL)
def test_tiles_give_what_whole_kernels_give(name: str) -> None:
    graph = SMALL[name]()
    random = np.random.default_rng(0)
    feeds = {
        one.name: random.normal(size=[d.dim_value for d in one.type.tensor_type.shape.dim]).astype(
            np.float16
        )
        for one in graph.graph.input
    }
    found: list[Any] = []
    for limits in ((), LEAST):
        plan = compile(graph, options=CompileOptions(core_limits=limits))
        tiles = sum(op.tiling.tiles for op in kernels_of(plan) if op.tiling is not None)
        assert tiles > len(kernels_of(plan)) or not limits
        (result,) = Executor(plan.module).run(feeds, poison=True).values()
        found.append(np.asarray(result, np.float64))
    scale = np.abs(found[0]).max()
    np.testing.assert_allclose(found[1] / scale, found[0] / scale, atol=2e-3, rtol=0)
