"""Real exporter graphs, from the file through `.om` to the reference outputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ge_dialect.tools.api import CompiledPlan, compile
from ge_dialect.tools.runtime.compare import compare, tolerance_of
from ge_dialect.tools.runtime.executor import Executor, load_plan

MODELS = [
    *(f"bert.{v}-static" for v in ("dynamo", "dynamo23", "raw", "ts", "ts14")),
    *(f"gpt2-prefill.{v}-static" for v in ("dynamo", "dynamo23", "ts", "ts14")),
    *(f"llama-layer.{v}-static" for v in ("dynamo", "dynamo23", "ts")),
    *(f"llama-prefill.{v}-static" for v in ("dynamo", "dynamo23", "ts")),
    *(f"flash-block.{v}-static" for v in ("dynamo", "dynamo23", "ts", "ts14")),
    *(f"flash-block-eps6.{v}-static" for v in ("dynamo", "ts")),
    *(f"vit.{v}-static" for v in ("dynamo", "dynamo23", "ts")),
    *(f"resnet50.{v}-static" for v in ("dynamo", "ts")),
    "llama-fp16.dynamo-static",
    "control-flow.ts-static",
    "lstm.ts-static",
    "bert.ts-dyn",
    "llama-decode.dynamo23-dyn",
]


def arrays(path: Path, side: str) -> dict[str, npt.NDArray[Any]]:
    """One side of an `io.npz`, by plain name."""
    with np.load(path) as file:
        names = [key for key in file.files if key.startswith(f"{side}.")]
        return {name.removeprefix(f"{side}."): file[name] for name in names}


def compiled(folder: Path, **options: Any) -> CompiledPlan:
    """A zoo model as a plan; dynamic dimensions take the sizes of its inputs."""
    shapes = None
    if "-dyn" in folder.name:
        feeds = arrays(folder / "io.npz", "input")
        shapes = ";".join(f"{n}:{','.join(map(str, a.shape))}" for n, a in feeds.items())
    return compile(folder / "model.onnx", input_shapes=shapes, **options)


def run_saved(path: Path, folder: Path, **how: Any) -> dict[str, npt.NDArray[Any]]:
    """The outputs of a plan that is read back from its file."""
    loaded = load_plan(str(path))
    executor = Executor(loaded.module, loaded.weights)
    return executor.run(arrays(folder / "io.npz", "input"), **how)


def mismatches(outputs: dict[str, npt.NDArray[Any]], folder: Path) -> Sequence[str]:
    """What differs from the reference outputs."""
    found = [
        (name, compare(outputs[name], want, tolerance_of(want.dtype)))
        for name, want in arrays(folder / "io.npz", "output").items()
    ]
    return [f"{name}: {result}" for name, result in found if not result.ok]


@pytest.mark.parametrize("name", MODELS)
def test_a_plan_gives_the_reference_outputs(name: str, zoo: Path, tmp_path: Path) -> None:
    folder = zoo / name
    compiled(folder, verify_each=True).save(tmp_path / "model.om")
    assert not mismatches(run_saved(tmp_path / "model.om", folder, poison=True), folder)


@pytest.mark.parametrize("name", ["llama-layer.ts-static", "bert.dynamo-static"])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_two_streams_give_the_same_in_every_order(
    name: str, seed: int | None, zoo: Path, tmp_path: Path
) -> None:
    folder = zoo / name
    compiled(folder, streams=2).save(tmp_path / "model.om")
    outputs = run_saved(tmp_path / "model.om", folder, poison=True, schedule_seed=seed)
    assert not mismatches(outputs, folder)


def test_two_compilations_give_the_same_bytes(zoo: Path, tmp_path: Path) -> None:
    folder = zoo / "llama-prefill.ts-static"
    for name in ("a.om", "b.om"):
        compiled(folder, streams=2).save(tmp_path / name)
    assert (tmp_path / "a.om").read_bytes() == (tmp_path / "b.om").read_bytes()


def test_the_article_block_is_one_kernel_in_every_spelling(zoo: Path) -> None:
    for variant in ("ts", "ts14", "dynamo", "dynamo23"):
        summary = compiled(zoo / f"flash-block.{variant}-static").summary
        kernels = {fusion["kernel"]: fusion["count"] for fusion in summary["fusions"]}
        assert kernels == {
            "QKVProjectionFusion": 1,
            "FlashAttentionLayerNormDropoutAddFusion": 1,
        }
        assert summary["kernels"] == 1  # so few columns that all of it fits on chip


def test_another_epsilon_is_a_near_miss_that_says_why(zoo: Path) -> None:
    summary = compiled(zoo / "flash-block-eps6.dynamo-static").summary
    missed = {miss["rule"]: miss for miss in summary["missed"]}
    miss = missed["FlashAttentionLayerNorm"]
    assert (miss["found"], miss["wanted"], miss["reason"]) == ("1e-06", "1e-05", "ATTR")
    assert "epsilon" in miss["message"]
    assert miss["node"]
