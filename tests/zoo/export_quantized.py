"""Makes quantised, half-precision and pre-optimised forms of the zoo's models with ONNX Runtime.

    python -m tests.zoo.export_quantized [--zoo DIR] [PATTERN ...]

Each lands in `build/quantized/NAME+KIND/` as `model.onnx` and `io.npz`: the inputs of the zoo, and
the outputs of onnxruntime on them without optimisation. What a tool cannot make of a model is said
and left out. Run it with a Python that has onnxruntime and sympy.
"""

from __future__ import annotations

import argparse
import logging
import shutil
from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.zoo.export_architectures import ROOT, run

TARGET = ROOT / "build" / "quantized"
MODELS = (
    "bert.ts-static", "clip.dynamo-static", "convnext.ts-static", "efficientnet.dynamo-static",
    "gpt2-prefill.ts-static", "llama-prefill.ts-static", "lstm.ts-static", "mamba.ts-static",
    "mobilenet-v3.ts-static", "resnet50.ts-static", "swin.ts-static", "t5.ts-static",
    "vit.ts-static", "whisper-decoder.ts-static", "yolo-head.ts-static",
)  # fmt: skip

_ORDERED = "yolo-head.ts-static"
"""Sorts boxes by scores, of which several are the same in f16: any order of those is right."""

Make = Callable[[Path, Path, Mapping[str, Any]], None]


class _Reader:
    """Gives the inputs of the zoo once, to calibrate with."""

    def __init__(self, feeds: Mapping[str, Any]):
        self.waiting = [dict(feeds)]

    def get_next(self) -> Mapping[str, Any] | None:
        return self.waiting.pop() if self.waiting else None


def _static(activation: str, weight: str, *, operators: bool = False, **options: Any) -> Make:
    tools: Any = import_module("onnxruntime.quantization")

    def make(source: Path, target: Path, feeds: Mapping[str, Any]) -> None:
        tools.quantize_static(
            str(source),
            str(target),
            _Reader(feeds),
            quant_format=tools.QuantFormat.QOperator if operators else tools.QuantFormat.QDQ,
            activation_type=getattr(tools.QuantType, activation),
            weight_type=getattr(tools.QuantType, weight),
            **options,
        )

    return make


def _dynamic(source: Path, target: Path, feeds: Mapping[str, Any]) -> None:
    tools: Any = import_module("onnxruntime.quantization")
    tools.quantize_dynamic(str(source), str(target), weight_type=tools.QuantType.QInt8)


def _load(path: Path) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(path.read_bytes())


def _blocks(bits: int, *, qdq: bool = False) -> Make:
    tools: Any = import_module("onnxruntime.quantization.matmul_nbits_quantizer")

    def make(source: Path, target: Path, feeds: Mapping[str, Any]) -> None:
        form = tools.QuantFormat.QDQ if qdq else tools.QuantFormat.QOperator
        quantizer = tools.MatMulNBitsQuantizer(
            _load(source), bits=bits, block_size=32, quant_format=form
        )
        quantizer.process()
        quantizer.model.save_model_to_file(str(target))

    return make


def _half(keep: bool) -> Make:
    tools: Any = import_module("onnxruntime.transformers.float16")

    def make(source: Path, target: Path, feeds: Mapping[str, Any]) -> None:
        model = tools.convert_float_to_float16(_load(source), keep_io_types=keep)
        target.write_bytes(model.SerializeToString())

    return make


def _optimized(before: Make | None = None) -> Make:
    """What ONNX Runtime saves at the level `extended`."""
    runtime: Any = import_module("onnxruntime")

    def make(source: Path, target: Path, feeds: Mapping[str, Any]) -> None:
        given = source
        if before is not None:
            given = target.with_suffix(".before")
            before(source, given, feeds)
        options = runtime.SessionOptions()
        options.log_severity_level = 4
        options.optimized_model_filepath = str(target)
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        runtime.InferenceSession(str(given), options, providers=["CPUExecutionProvider"])
        if before is not None:
            given.unlink()

    return make


def kinds() -> dict[str, Make]:
    """Returns what makes each kind, by name."""
    return {
        "qdq-u8s8": _static("QUInt8", "QInt8"),
        "qdq-s8s8-channel": _static("QInt8", "QInt8", per_channel=True),
        "qdq-u8u8-reduced": _static("QUInt8", "QUInt8", reduce_range=True),
        "qdq-u16s8": _static("QUInt16", "QInt8"),
        "qdq-contrib": _static("QUInt16", "QUInt8", extra_options={"UseQDQContribOps": True}),
        "operators-u8s8": _static("QUInt8", "QInt8", operators=True),
        "operators-u8u8-channel": _static("QUInt8", "QUInt8", operators=True, per_channel=True),
        "dynamic": _dynamic,
        "blocks-4": _blocks(4),
        "blocks-8": _blocks(8),
        "blocks-4-qdq": _blocks(4, qdq=True),
        "half": _half(False),
        "half-io": _half(True),
        "extended": _optimized(),
        "extended-dynamic": _optimized(_dynamic),
    }


def main() -> None:
    """Makes those forms whose names match one of the patterns, all where there is none."""
    parser = argparse.ArgumentParser(description="Quantise models of the zoo.")
    parser.add_argument("--zoo", type=Path, default=ROOT.parent / "shared" / "zoo" / "small")
    parser.add_argument("patterns", nargs="*", default=["*"], metavar="PATTERN")
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)
    for model in MODELS:
        with np.load(args.zoo / model / "io.npz") as arrays:
            feeds = {key[6:]: arrays[key] for key in arrays.files if key.startswith("input.")}
        for kind, make in kinds().items():
            folder = TARGET / f"{model}+{kind}"
            wanted = any(fnmatch(folder.name, pattern) for pattern in args.patterns)
            if (folder / "io.npz").exists() or not wanted:
                continue
            if model == _ORDERED and kind.startswith("half"):
                continue
            folder.mkdir(parents=True, exist_ok=True)
            try:
                make(args.zoo / model / "model.onnx", folder / "model.onnx", feeds)
                results = run(folder / "model.onnx", feeds)
            except Exception as error:  # of any tool: the next one may work
                reason = (str(error).strip().splitlines() or [""])[0]
                print(f"{folder.name}: {type(error).__name__}: {reason[:120]}", flush=True)
                shutil.rmtree(folder)
            else:
                np.savez(folder / "io.npz", allow_pickle=False, **results)
                print(f"{folder.name}: done", flush=True)


if __name__ == "__main__":
    main()
