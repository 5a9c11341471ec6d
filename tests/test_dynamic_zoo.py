"""Exported models with symbolic sizes: one plan, five sizes, the reference's numbers at each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.api import compile
from ge_dialect.tools.runtime.compare import compare, tolerance_of
from ge_dialect.tools.runtime.executor import Executor, load_plan

Array = npt.NDArray[Any]

FAMILIES = (
    "bert", "clip", "convnext", "efficientnet", "flash-block", "gemma2-prefill", "gpt2-decode",
    "gpt2-prefill", "llama-decode", "llama-layer", "llama-prefill", "lstm", "mixtral-prefill",
    "mobilenet-v3", "qwen3-decode", "resnet50", "swin", "t5", "vit", "whisper-decoder",
    "whisper-encoder", "yolo-head",
)  # fmt: skip

RANGES = {
    "batch": (1, 4), "seq": (4, 20), "out_seq": (2, 9), "texts": (1, 3), "images": (1, 3),
    "past": (2, 24), "total": (3, 25), "height": (32, 64), "width": (32, 64),
}  # fmt: skip

NARROWER = {
    "clip": {"seq": (4, 16)},  # a table of 16 positions
    "lstm.dynamo-dyn": {"seq": (7, 7)},  # the exporter baked the example's length in
}


def read(folder: Path) -> onnx.ModelProto:
    """The model of a folder, all of it in memory."""
    return onnx.ModelProto.FromString((folder / "model.onnx").read_bytes())


def ranges_of(name: str) -> dict[str, tuple[int, int]]:
    """The ranges that a model is compiled for."""
    return RANGES | NARROWER.get(name.partition(".")[0], {}) | NARROWER.get(name, {})


class Reference:
    """`onnx.reference` on a model."""

    def __init__(self, model: onnx.ModelProto):
        self._run: Any = ReferenceEvaluator(model).run  # pyright: ignore[reportUnknownMemberType]  # untyped

    def __call__(self, feeds: Mapping[str, Array]) -> list[Any]:
        return self._run(None, dict(feeds))


def dims_of(model: onnx.ModelProto) -> dict[str, list[str | int]]:
    """The dimensions of the inputs of a model: names and numbers."""
    return {
        value.name: [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in model.graph.input
    }


def shapes_of(model: onnx.ModelProto, ranges: Mapping[str, tuple[int, int]]) -> str:
    """`--input_shape` for the ranges."""

    def word(dim: str | int) -> str:
        return "~".join(map(str, ranges[dim])) if isinstance(dim, str) else str(dim)

    return ";".join(f"{n}:{','.join(map(word, dims))}" for n, dims in dims_of(model).items())


def five_sizes(ranges: Mapping[str, tuple[int, int]]) -> list[dict[str, int]]:
    """Both ends of the ranges, and three sizes between."""
    found: list[dict[str, int]] = []
    for part in (0.0, 1.0, 0.5, 0.3, 0.9):
        sizes = {name: low + round((high - low) * part) for name, (low, high) in ranges.items()}
        found.append(sizes | {"total": sizes["past"] + 1})
    return found


def feeds_of(
    model: onnx.ModelProto, samples: Mapping[str, Array], sizes: Mapping[str, int], seed: int
) -> dict[str, Array]:
    """Inputs of a size: integers out of those of the exporter's example, normal floats."""
    rng = np.random.default_rng(seed)
    feeds: dict[str, Array] = {}
    for name, dims in dims_of(model).items():
        shape = [sizes[dim] if isinstance(dim, str) else dim for dim in dims]
        sample = samples[f"input.{name}"]
        if name == "position_ids":
            first = sizes["past"] if "past.0.key" in dims_of(model) else 0
            array = np.broadcast_to(np.arange(shape[1]) + first, shape).astype(sample.dtype)
        elif sample.dtype.kind in "iub":
            array = np.asarray(rng.choice(sample.reshape(-1), shape)).astype(sample.dtype)
        else:
            array = rng.standard_normal(shape).astype(sample.dtype)
        feeds[name] = array
        if "mask" in name and sample.dtype.kind in "iub":
            feeds[name] = array.copy()
            feeds[name][..., 0] = 1  # a query that sees nothing gives NaN in some spellings
    return feeds


@pytest.mark.parametrize("family", FAMILIES)
def test_one_plan_runs_at_five_sizes_as_the_reference(family: str, zoo: Path, tmp_path: Path):
    folders = sorted(path for path in zoo.glob(f"{family}.*-dyn*") if path.is_dir())
    assert folders
    for folder in folders:
        check_model(folder, tmp_path / "plan.om")


def check_model(folder: Path, path: Path) -> None:
    model = read(folder)
    ranges = ranges_of(folder.name)
    compile(folder / "model.onnx", input_shapes=shapes_of(model, ranges)).save(path)
    loaded = load_plan(str(path))
    executor, reference = Executor(loaded.module, loaded.weights), Reference(model)
    with np.load(folder / "io.npz") as samples, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for seed, sizes in enumerate(five_sizes(ranges)):
            feeds = feeds_of(model, samples, sizes, seed)
            outputs = executor.run(feeds, poison=True, schedule_seed=seed)
            for (name, got), want in zip(outputs.items(), reference(feeds), strict=True):
                found = compare(got, np.asarray(want), tolerance_of(got.dtype, 1e-3, 1e-4))
                assert found.ok, f"{folder.name} at {sizes}: {name}: {found}"


def test_a_size_outside_is_the_error_of_its_guard(zoo: Path):
    folder = zoo / "bert.dynamo-dyn"
    model = read(folder)
    plan = compile(folder / "model.onnx", input_shapes=shapes_of(model, ranges_of("bert")))
    feeds = {name: np.ones((2, 21), np.int64) for name in dims_of(model)}
    with pytest.raises(GEError) as caught:
        plan.run(feeds)
    assert caught.value.code == "GE0820"
    assert caught.value.message == "seq = 21 leaves 4..20 declared for input 'input_ids' dim 1"
    feeds = {name: np.ones((2, 8), np.int64) for name in dims_of(model)}
    with pytest.raises(GEError, match=r"input 'attention_mask': expected int64\[2, 8\]") as caught:
        plan.run(feeds | {"attention_mask": np.ones((3, 8), np.int64)})
    assert "'attention_mask' is [batch, seq]" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("name", "shapes", "message"),
    [
        ("clip.ts-dyn", {}, "only seq = 4..16 of the declared 4..20"),
        ("lstm.dynamo-dyn", {"seq": (4, 20)}, "only seq = 7 of the declared 4..20"),
    ],
)
def test_sizes_that_the_model_does_not_take_are_named(
    name: str, shapes: dict[str, tuple[int, int]], message: str, zoo: Path
):
    model = read(zoo / name)
    with pytest.raises(GEError) as caught:
        compile(zoo / name / "model.onnx", input_shapes=shapes_of(model, RANGES | shapes))
    assert caught.value.code == "GE0330"
    assert message in caught.value.message
    assert "--input_shape" in str(caught.value.hint)


def test_decoding_runs_a_hundred_steps_from_one_plan(zoo: Path):
    """The cache that a step gives is what the next one takes; every step has another size."""
    model = read(zoo / "llama-decode.dynamo-dyn")
    ranges = {"batch": (1, 2), "past": (1, 128), "total": (2, 129)}
    plan = compile(model, input_shapes=shapes_of(model, ranges))
    executor, reference = Executor(plan.module), Reference(model)
    with np.load(zoo / "llama-decode.dynamo-dyn" / "io.npz") as samples:
        feeds = feeds_of(model, samples, {"batch": 2, "past": 1, "total": 2}, 0)
    for past in range(1, 101):
        feeds["attention_mask"] = np.ones((2, past + 1), np.int64)
        feeds["position_ids"] = np.full((2, 1), past, np.int64)
        outputs = executor.run(feeds)
        if past in (1, 50, 100):
            for (name, got), want in zip(outputs.items(), reference(feeds), strict=True):
                found = compare(got, np.asarray(want), tolerance_of(got.dtype, 1e-3, 1e-4))
                assert found.ok, f"{name} of step {past}: {found}"
        feeds["input_ids"] = outputs["logits"][:, -1:].argmax(-1).astype(np.int64)
        for name in [name for name in feeds if name.startswith("past.")]:
            feeds[name] = outputs[name.replace("past.", "present.")]
    assert feeds["past.0.key"].shape[2] == 101
