"""Exports models that other tools have optimised or built, with operators of ONNX Runtime's own.

    python -m tests.zoo.export_optimized [--zoo DIR] {runtime,transformers,genai,pt2e} [PATTERN ...]

Each lands in `build/optimized/NAME+KIND/` as `model.onnx` and `io.npz`. `runtime` is what a session
of ONNX Runtime saves at its levels (also of `build/quantized`, as the zoo), `transformers` what
`onnxruntime.transformers.optimizer` makes, and `genai` decoders by the model builder of
onnxruntime-genai from random weights (`tests/zoo/genai_models.py`); `pt2e` is what PyTorch exports
after torchao has quantised it. Outputs are those of onnxruntime without optimisation; where it has
no kernel for a CPU, those of the model before. An `accuracy_level` that lets onnxruntime round what
it multiplies does not count. What a tool cannot make is said and left out. Run it with a Python
that has onnxruntime, for `genai` also onnxruntime-genai, torch and transformers, for `pt2e` torch,
torchao and onnxscript.
"""

from __future__ import annotations

import argparse
import logging
import shutil
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatch
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.zoo.export_architectures import ROOT, run
from tests.zoo.genai_models import Case, genai_models
from tests.zoo.pt2e_models import pt2e_models

TARGET = ROOT / "build" / "optimized"
_ORDERED = "yolo"
"""Sorts boxes by scores, of which several are the same in f16: any order of those is right."""
LEVELS = ("basic", "extended", "all")

_TYPES = {
    "bert": "bert", "clip": "clip", "dit": "mmdit", "gemma2": "gpt2", "gpt2": "gpt2",
    "llama": "gpt2", "mixtral": "gpt2", "qwen3": "qwen3", "resnet50": "vae", "swin": "swin",
    "t5": "t5", "unet": "unet", "vit": "vit", "whisper": "bart", "yolo": "unet",
}  # fmt: skip
"""What the optimiser of transformers is told a model is, by how its name starts."""


def feeds_of(folder: Path, kind: str = "input") -> dict[str, Any]:
    """Returns the inputs, or outputs, that a model of the zoo comes with."""
    with np.load(folder / "io.npz") as arrays:
        start = f"{kind}."
        return {k.removeprefix(start): arrays[k] for k in arrays.files if k.startswith(start)}


def saved_by_runtime(source: Path, level: str, target: Path) -> None:
    """Writes what a session saves at a level, weights in the order that ONNX has."""
    runtime: Any = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.optimized_model_filepath = str(target)
    levels = runtime.GraphOptimizationLevel
    options.graph_optimization_level = getattr(levels, f"ORT_ENABLE_{level.upper()}")
    runtime.InferenceSession(
        str(source),
        options,
        providers=["CPUExecutionProvider"],
        disabled_optimizers=["NchwcTransformer"],  # else for this machine only
    )


def saved_by_transformers(source: Path, half: bool, target: Path) -> None:
    """Writes what the optimiser for transformers makes of a model; for `half` in f16."""
    tools: Any = import_module("onnxruntime.transformers.optimizer")
    kind = next(kind for name, kind in _TYPES.items() if source.parent.name.startswith(name))
    model = tools.optimize_model(str(source), kind, num_heads=0, hidden_size=0, opt_level=0)
    if not any(node.domain == "com.microsoft" for node in model.model.graph.node):
        raise ValueError("nothing was fused")
    if half:
        model.convert_float_to_float16(keep_io_types=True)
    model.save_model_to_file(str(target))


def runtime_models(zoo: Path) -> Iterable[Case]:
    """Yields zoo models as sessions save them."""
    for folder in sorted(zoo.glob("*/")):
        for level in LEVELS:
            make = partial(saved_by_runtime, folder / "model.onnx", level)
            yield _case(folder, f"runtime-{level}", make)


def transformers_models(zoo: Path) -> Iterable[Case]:
    """Yields zoo models as the optimiser for transformers writes them."""
    for folder in sorted(zoo.glob("*/")):
        for kind in ("transformers", "half-transformers") * folder.name.startswith(tuple(_TYPES)):
            half = kind.startswith("half")
            if half and folder.name.startswith(_ORDERED):
                continue
            yield _case(folder, kind, partial(saved_by_transformers, folder / "model.onnx", half))


def _case(folder: Path, kind: str, make: Callable[[Path], None]) -> Case:
    name = f"{folder.name}+{kind}"
    return Case(name, make, lambda: feeds_of(folder), lambda: feeds_of(folder, "output"))


_LACKS = ("NOT_IMPLEMENTED", "is not supported by the CPU", "q_norm_weight")
"""What onnxruntime says where only other devices have a kernel."""


def results(case: Case, path: Path) -> Mapping[str, Any]:
    """Returns inputs and outputs of a model as `io.npz` holds them.

    Raises:
        Exception: onnxruntime cannot run it, and there is nothing else to compare with.
    """
    feeds = case.feeds()
    try:
        return _run_exactly(path, feeds)
    except Exception as error:
        lacks = any(reason in str(error) for reason in _LACKS)
        if not lacks or not (wanted := case.outputs()):
            raise
    names = {value.name for value in onnx.ModelProto.FromString(path.read_bytes()).graph.output}
    found = {f"input.{name}": array for name, array in feeds.items()}
    return found | {f"output.{name}": array for name, array in wanted.items() if name in names}


def _run_exactly(path: Path, feeds: Mapping[str, Any]) -> Mapping[str, Any]:
    """Runs a model, whose products of narrow weights must not round what they multiply."""
    model = onnx.ModelProto.FromString(path.read_bytes())
    levels = [a for node in model.graph.node for a in node.attribute if a.name == "accuracy_level"]
    if not levels:
        return run(path, feeds)
    for level in levels:
        level.i = 1
    exact = path.with_name("exact.onnx")
    exact.write_bytes(model.SerializeToString())
    try:
        return run(exact, feeds)
    finally:
        exact.unlink()


SOURCES: Mapping[str, Callable[[Path], Iterable[Case]]] = {
    "runtime": runtime_models,
    "transformers": transformers_models,
    "genai": lambda zoo: genai_models(ROOT / "build" / "genai"),
    "pt2e": lambda zoo: pt2e_models(),
}


def main() -> None:
    """Exports what the patterns name, all where there is none."""
    parser = argparse.ArgumentParser(description="Export models that other tools optimised.")
    parser.add_argument("source", choices=SOURCES)
    parser.add_argument("--zoo", type=Path, default=ROOT.parent / "shared" / "zoo" / "small")
    parser.add_argument("patterns", nargs="*", default=["*"], metavar="PATTERN")
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)
    for case in SOURCES[args.source](args.zoo):
        folder = TARGET / (name := case.name)
        if (folder / "io.npz").exists() or not any(fnmatch(name, p) for p in args.patterns):
            continue
        folder.mkdir(parents=True, exist_ok=True)
        try:
            case.make(folder / "model.onnx")
            arrays = results(case, folder / "model.onnx")
        except Exception as error:  # of any tool: the next one may work
            reason = (str(error).strip().splitlines() or [""])[0]
            print(f"{name}: {type(error).__name__}: {reason[:160]}", flush=True)
            shutil.rmtree(folder)
        else:
            np.savez(folder / "io.npz", allow_pickle=False, **arrays)
            print(name, flush=True)


if __name__ == "__main__":
    main()
