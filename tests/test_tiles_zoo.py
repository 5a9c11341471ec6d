"""The models of the zoo on a core with little memory: many tiles, the same outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_dialect.ge_exec import KernelOp
from ge_dialect.lowering.om.file import read_om
from ge_dialect.printing import exact_text
from ge_dialect.tools.api import CompiledPlan
from ge_dialect.tools.runtime.executor import load_plan
from tests.test_zoo import compiled, mismatches, run_saved

LITTLE = (("l1", 32768), ("ub", 12288), ("l0c", 8192))
FAMILIES = (
    *("activations", "bert", "clip", "control-flow", "convnext", "dit", "efficientnet"),
    *("flash-block", "gemma2", "gpt2", "gqa", "llama", "lstm", "mamba", "mixtral", "mobilenet"),
    *("qwen3", "resnet50", "ssdlite", "swin", "t5", "unet", "vit", "whisper", "yolo"),
)


def tiled(plan: CompiledPlan) -> list[KernelOp]:
    """The kernels of a plan that have more than one tile."""
    kernels = [op for op in plan.module.body.block.ops if isinstance(op, KernelOp)]
    return [op for op in kernels if op.tiling is not None and op.tiling.tiles > 1]


@pytest.mark.parametrize("family", FAMILIES)
def test_models_in_small_tiles_give_the_reference_outputs(
    family: str, zoo: Path, tmp_path: Path
) -> None:
    for folder in sorted(zoo.glob(f"{family}*-static"))[:1]:
        path = tmp_path / f"{folder.name}.om"
        compiled(folder, core_limits=LITTLE).save(path)
        assert not mismatches(run_saved(path, folder, poison=True), folder), folder.name


def test_tiles_are_in_the_file_and_read_back_the_same(zoo: Path, tmp_path: Path) -> None:
    plan = compiled(zoo / "llama-layer.ts-static", core_limits=LITTLE)
    assert tiled(plan)
    plan.save(tmp_path / "a.om")
    loaded = load_plan(str(tmp_path / "a.om"))
    texts = [
        [exact_text(op) for op in module.body.block.ops if isinstance(op, KernelOp)]
        for module in (plan.module, loaded.module)
    ]
    assert texts[0] == texts[1]
    attrs = [op.attrs for graph in read_om(tmp_path / "a.om").model.graphs for op in graph.ops]
    assert any(".scores: L0C[" in str(one.get("on_chip")) for one in attrs)


def test_the_summary_says_what_a_core_needs(zoo: Path) -> None:
    plan = compiled(zoo / "llama-layer.ts-static", core_limits=LITTLE)
    chip = plan.summary["memory"]["l1"]
    assert 0 < chip["peak"] <= chip["size"] == 32768
    assert chip["kernel"] in {
        op.sym_name.data for op in plan.module.body.block.ops if isinstance(op, KernelOp)
    }
    assert chip["tiles"] > chip["kernels"]


def test_kernels_of_the_passes_fit_as_they_are(zoo: Path) -> None:
    for name in ("bert.ts-static", "llama-prefill.ts-static", "vit.ts-static", "unet.ts-static"):
        if not (zoo / name).is_dir():
            continue
        for limits in ((), LITTLE):
            plan = compiled(zoo / name, core_limits=limits)
            split = [r for r in plan.remarks if r.pass_name == "ge-tile-kernels" and r.fix]
            assert not split, f"{name}: {split[0].message}"
