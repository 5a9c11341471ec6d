"""All exporters' spellings of a model have the same composites after `ge-raise`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.pipelines import OptimizePipeline

ZOO = Path(__file__).resolve().parents[2] / "shared" / "zoo" / "small"
ATTENTIONS = {
    "bert": 2,
    "clip": 4,
    "flash-block": 1,
    "gpt2-prefill": 2,
    "gqa-causal": 3,
    "llama-layer": 1,
    "llama-prefill": 2,
    "resnet50": 0,
    "swin": 4,
    "t5": 6,
    "vit": 2,
    "whisper-decoder": 4,
    "whisper-encoder": 2,
}
VARIANTS = ("ts-static", "ts14-static", "dynamo-static", "dynamo23-static", "raw-static")
CASES = [
    f"{case}.{variant}"
    for case in ATTENTIONS
    for variant in VARIANTS
    if (ZOO / f"{case}.{variant}").is_dir()
]


@pytest.mark.skipif(not ZOO.is_dir(), reason="the zoo of exported graphs is not here")
@pytest.mark.parametrize("name", CASES)
def test_exporters_agree_after_raising(name: str) -> None:
    module = import_onnx(str(ZOO / name / "model.onnx"))
    passes = [one for one in OptimizePipeline().passes() if one.name != "ge-fuse-rules"]
    for one in passes:
        one.apply(Context(), module)
    module.verify()
    counts = Counter(op.name for op in module.walk())
    case = name.partition(".")[0]
    assert counts["ge.flash_attention"] == ATTENTIONS[case]
    assert counts["ge.softmax"] == counts["ge.erf"] == counts["ge.sqrt"] == 0
    _check_outputs(module, name)


def _check_outputs(module: ModuleOp, name: str) -> None:
    (function,) = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    with np.load(ZOO / name / "io.npz") as arrays:
        found = run_function(module, [arrays[f"input.{key}"] for key in _names(function.arg_attrs)])
        for array, key in zip(found, _names(function.res_attrs), strict=True):
            expected = arrays[f"output.{key}"]
            scale = float(np.max(np.abs(expected), initial=1e-3))
            np.testing.assert_allclose(array, expected, rtol=1e-4, atol=1e-5 * scale)


def _names(attributes: ArrayAttr[DictionaryAttr] | None) -> list[str]:
    assert attributes is not None
    names = [one.data["ge.name"] for one in attributes.data]
    return [name.data for name in names if isinstance(name, StringAttr)]
