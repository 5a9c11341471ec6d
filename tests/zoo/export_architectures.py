"""Exports the architectures of `architectures.toml`, with both exporters of PyTorch.

    python -m tests.zoo.export_architectures [--zoo DIR] [--kind static|dyn] [--layers N] [NAME ...]

Each lands in `build/architectures/NAME.EXPORTER-KIND/` as `model.onnx` and `io.npz`: seeded inputs,
and the outputs of onnxruntime on them without optimisation. Run it with a Python that has torch,
transformers, diffusers, timm, onnxscript and onnxruntime. The zoo's own script gives weights that
show errors, and calls the exporters.

With `--layers`, decoders and encoders get so many layers, wide enough for their weights to lie in a
file beside the model, in `build/deep/` (`tests/deep.py`).
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("architectures.toml")
TARGET = ROOT / "build" / "architectures"
EXPORTERS = ("ts", "dynamo")
DEEP = ROOT / "build" / "deep"
LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
"""Options that say how many layers a model has."""

DEEPENED = ("causal", "encoder", "vision")
"""Kinds whose models can have more layers."""

WIDTHS = (
    *("hidden_size", "intermediate", "embd", "d_model", "ffn_dim", "head_dim", "rotary_dim"),
    *("kv_channels", "lora_rank", "state_size", "proj_dim", "embed_dim"),
)
"""Parts of the names of options that say how wide a model is."""

FIXED = ("transformers", "diffusers")
"""Kinds that are of fixed sizes only."""


def read_table() -> dict[str, tuple[str, dict[str, Any]]]:
    """Returns the kind and the options of each architecture, by name."""
    with TABLE.open("rb") as file:
        table = tomllib.load(file)
    return {
        name: (kind, {**part["base"], **options})
        for kind, part in table.items()
        for name, options in part["models"].items()
    }


def deepen(options: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """Returns the options of a model with more layers, eight times as wide."""
    found = dict(options)
    for key, value in options.items():
        if key in LAYERS:
            found[key] = layers
        elif type(value) is int and any(part in key for part in WIDTHS):
            found[key] = 8 * value
    if "layer_types" in options:
        kinds: list[str] = options["layer_types"]
        found["layer_types"] = kinds * (layers // len(kinds))
    if "attention_types" in options:
        kinds = options["attention_types"][0][0]
        found["attention_types"] = [[kinds, layers // len(kinds)]]
    return found


def _is_fixed(kind: str, options: Mapping[str, Any], exporter: str) -> bool:
    """Whether what an exporter writes is of fixed sizes only."""
    return kind in FIXED or exporter in options.get("unrolled", ())


def _output(module: Any, x: Any) -> tuple[Any]:
    return (module(x),)


def _hidden(module: Any, x: Any) -> tuple[Any]:
    return (module(x).last_hidden_state,)


class Builder:
    """Builds models with their inputs.

    Args:
        zoo: The zoo's script, as a module.
        pictures: How many a model of vision is given; an exporter takes one for a constant.
    """

    def __init__(self, zoo: Any, pictures: int = 1):
        self.zoo, self.pictures = zoo, pictures
        self.torch: Any = import_module("torch")
        self.transformers: Any = import_module("transformers")

    def build(self, kind: str, options: Mapping[str, Any]) -> Any:
        """Returns a case of the zoo."""
        given = {key: value for key, value in options.items() if key != "unrolled"}
        name, size = given.pop("config"), given.pop("size", 32)
        if kind == "timm":
            timm: Any = import_module("timm")
            model = timm.create_model(name, pretrained=False, **given)
            return self._picture(model, _output, size)
        if kind in FIXED:
            return self._class(kind, name, given)
        config = getattr(self.transformers, f"{name}Config")(**given)
        config._experts_implementation = "batched_mm"  # the default has ops without an export
        auto = {"causal": "ForCausalLM", "seq2seq": "ForSeq2SeqLM"}.get(kind, "")
        model = getattr(self.transformers, f"AutoModel{auto}").from_config(config)
        if kind == "vision":
            return self._picture(model, _hidden, size)
        if kind == "audio":
            waves = {"x": self.torch.randn(1, 800)}
            return self.zoo.Case(self.zoo.Flat(model, _hidden), waves, ["y"])
        return self._text(model, kind)

    def _picture(self, model: Any, how: Any, size: int) -> Any:
        pixels = self.torch.randn(self.pictures, 3, size, size)
        axes = {"pixels": {0: "batch"}}
        return self.zoo.Case(self.zoo.Flat(model, how), {"pixels": pixels}, ["y"], axes)

    def _text(self, model: Any, kind: str) -> Any:
        mask = self.torch.ones(2, 10, dtype=self.torch.long)
        mask[1, 7:] = 0
        inputs: dict[str, Any] = {"input_ids": self.zoo.ids(2, 10, 90), "attention_mask": mask}
        axes = {name: {0: "batch", 1: "seq"} for name in inputs}
        field = "last_hidden_state" if kind == "encoder" else "logits"
        extra: dict[str, Any] = {} if kind == "encoder" else {"use_cache": False}

        def how(module: Any, *tensors: Any) -> tuple[Any]:
            return (getattr(module(**dict(zip(inputs, tensors, strict=True)), **extra), field),)

        if kind == "seq2seq":
            inputs["decoder_input_ids"] = self.zoo.ids(2, 6, 90)
            axes["decoder_input_ids"] = {0: "batch", 1: "target"}
        return self.zoo.Case(self.zoo.Flat(model, how), inputs, ["y"], axes)

    def _class(self, kind: str, name: str, given: dict[str, Any]) -> Any:
        """Returns a case of a class, whose inputs and outputs the table names."""
        inputs = {key: self._tensor(text) for key, text in given.pop("inputs").items()}
        ending, fields = given.pop("class", "Model"), given.pop("outputs", [0])
        call: dict[str, Any] = given.pop("call", {})
        if kind == "transformers":
            config = getattr(self.transformers, f"{name}Config")(**given)
            model = getattr(self.transformers, f"{name}{ending}")(config)
        else:
            model = getattr(import_module(kind), name)(**given)

        def how(module: Any, *tensors: Any) -> tuple[Any, ...]:
            result = module(**dict(zip(inputs, tensors, strict=True)), **call)
            if isinstance(result, self.torch.Tensor):
                return (result,)
            return tuple(result[field] for field in fields)

        names = [f"y{index}" for index in range(len(fields))]
        return self.zoo.Case(self.zoo.Flat(model, how), inputs, names)

    def _tensor(self, text: str) -> Any:
        """Returns a tensor of a type and a content, like `2x8xi64 ones`."""
        spelling, _, content = text.partition(" ")
        *sizes, element = spelling.split("x")
        shape = [int(size) for size in sizes]
        if not content:
            return self.torch.randn(shape) if element == "f32" else self.torch.randint(3, 89, shape)
        count = math.prod(shape)
        numbers = {"ones": [1] * count, "zeros": [0] * count, "steps": range(count)}[content]
        types = {"f32": self.torch.float32, "i64": self.torch.int64, "i1": self.torch.bool}
        return self.torch.tensor(list(numbers), dtype=types[element]).reshape(shape)

    def export(self, kind: str, options: Mapping[str, Any], variant: str, folder: Path) -> None:
        """Writes a model, its inputs and its outputs.

        Raises:
            Exception: The exporter, or onnxruntime, cannot do it.
        """
        self.torch.manual_seed(0)
        with self.torch.no_grad():
            case = self.build(kind, options)
            case.module.eval()
            self.zoo.liven(case.module)
            folder.mkdir(parents=True, exist_ok=True)
            self.zoo.export(case, variant, folder / "model.onnx")
        feeds = {name: tensor.numpy() for name, tensor in case.inputs.items()}
        np.savez(folder / "io.npz", allow_pickle=False, **run(folder / "model.onnx", feeds))


def run(path: Path, feeds: Mapping[str, Any]) -> dict[str, Any]:
    """Returns inputs and outputs of a model in onnxruntime, as `io.npz` holds them.

    Raises:
        Exception: onnxruntime cannot run it.
    """
    runtime: Any = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    read = {value.name: feeds[value.name] for value in session.get_inputs()}
    names = [value.name for value in session.get_outputs()]
    outputs = zip(names, session.run(names, read), strict=True)
    arrays = {f"input.{name}": array for name, array in read.items()}
    return arrays | {f"output.{name}": array for name, array in outputs}


def move_weights(path: Path) -> None:
    """Moves the weights of a model into a file beside it."""
    onnx: Any = import_module("onnx")
    model = onnx.load(path)
    for old in path.parent.glob("*.data"):
        old.unlink()
    onnx.save(model, path, save_as_external_data=True, location="weights.data")


def main() -> None:
    """Exports the architectures that are named, all where none is; says which failed and why."""
    parser = argparse.ArgumentParser(description="Export small models of many architectures.")
    parser.add_argument("--zoo", type=Path, default=ROOT.parent / "shared" / "zoo")
    parser.add_argument("--kind", choices=("static", "dyn"), default="static")
    parser.add_argument("--layers", type=int, default=0, metavar="N")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    sys.path.insert(0, str(args.zoo))
    zoo: Any = import_module("make_zoo")
    zoo.torch_modules()
    builder = Builder(zoo, 2 if args.kind == "dyn" else 1)
    for name, (kind, options) in read_table().items():
        if (args.names and name not in args.names) or (args.layers and kind not in DEEPENED):
            continue
        options = deepen(options, args.layers) if args.layers else options
        for exporter in EXPORTERS:
            folder = (DEEP if args.layers else TARGET) / f"{name}.{exporter}-{args.kind}"
            left_out = args.kind == "dyn" and _is_fixed(kind, options, exporter)
            if left_out or (folder / "io.npz").exists():
                continue
            try:
                builder.export(kind, options, f"{exporter}-{args.kind}", folder)
                if args.layers:
                    move_weights(folder / "model.onnx")
            except Exception as error:  # of any library: the next one may work
                reason = (str(error).strip().splitlines() or [""])[0]
                print(f"{folder.name}: {type(error).__name__}: {reason[:120]}", flush=True)
            else:
                print(f"{folder.name}: {os.path.getsize(folder / 'model.onnx')} bytes", flush=True)


if __name__ == "__main__":
    main()
