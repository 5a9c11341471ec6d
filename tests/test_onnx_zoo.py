"""Import of exported models, and of the operators of ONNX's own conformance suite."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.interpreters.functions import run_function
from tests.onnx_models import main_of

_STATIC = (
    "activations.ts-static",
    "bert.ts14-static",
    "control-flow.dynamo-static",
    "control-flow.ts-static",
    "convnext.dynamo-static",
    "dit.dynamo23-static",
    "efficientnet.ts-static",
    "flash-block.dynamo-static",
    "gqa-causal.dynamo23-static",
    "llama-decode.dynamo23-static",
    "llama-decode.ts-static",
    "llama-fp16.dynamo-static",
    "llama-prefill.ts-static",
    "lstm.dynamo-static",
    "mamba.ts-static",
    "mixtral-prefill.ts-static",
    "mobilenet-v3.ts-static",
    "swin.ts-static",
    "t5.dynamo-static",
    "unet.dynamo23-static",
    "whisper-decoder.dynamo-static",
    "yolo-head.ts-static",
)

_DYNAMIC = (
    "bert.dynamo-dyn",
    "clip.ts-dyn",
    "gemma2-prefill.ts-dyn",
    "llama-decode.dynamo23-dyn",
    "llama-prefill.raw-dyn",
    "qwen3-decode.ts-dyn",
    "t5.dynamo-dyn",
    "whisper-decoder.ts-dyn",
)


def _check_against_reference(folder: Path, arrays: str, specialized: bool) -> None:
    saved = np.load(folder / arrays)
    feeds = {key.removeprefix("input."): saved[key] for key in saved if key.startswith("input.")}
    shapes = {name: array.shape for name, array in feeds.items()} if specialized else None
    module = import_onnx(folder / "model.onnx", input_shapes=shapes)
    module.verify()
    function = main_of(module)
    assert function.arg_attrs is not None
    assert function.res_attrs is not None
    inputs = [str(attrs.data["ge.name"]).strip('"') for attrs in function.arg_attrs.data]
    outputs = [str(attrs.data["ge.name"]).strip('"') for attrs in function.res_attrs.data]
    results = run_function(module, [feeds[name] for name in inputs])
    for name, found in zip(outputs, results, strict=True):
        wanted = saved[f"output.{name}"]
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        tolerance = 2e-2 if wanted.dtype == np.float16 else 1e-4
        greatest = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0))
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * greatest + 1e-7)


@pytest.mark.parametrize("name", _STATIC)
def test_static_models_compute_what_their_exporter_did(zoo: Path, name: str):
    _check_against_reference(zoo / name, "io.npz", specialized=False)


@pytest.mark.parametrize("name", _DYNAMIC)
def test_dynamic_models_agree_at_sizes_they_were_not_traced_at(zoo: Path, name: str):
    _check_against_reference(zoo / name, "io2.npz", specialized=True)


@pytest.mark.parametrize("name", _DYNAMIC)
def test_dynamic_models_import_as_they_are(zoo: Path, name: str):
    module = import_onnx(zoo / name / "model.onnx")
    module.verify()
    assert "ge.symbols" in main_of(module).attributes


@pytest.mark.slow
def test_all_models_import(zoo: Path):
    folders = sorted(path.parent for path in zoo.glob("*/model.onnx"))
    assert folders
    for folder in folders:
        import_onnx(folder / "model.onnx").verify()


@pytest.mark.slow
def test_operators_of_the_conformance_suite_agree():
    """Every node test of ONNX of a supported opset, without random numbers."""
    from onnx.backend.test.loader import load_model_tests

    checked = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # making the cases overflows
        cases = load_model_tests(kind="node")
    for case in cases:
        if case.model is None or any(word in case.name for word in _NOT_COMPARED):
            continue
        try:
            module = import_onnx(case.model)
        except GEError as error:
            assert error.code in ("GE0205", "GE0220", "GE0222"), (case.name, str(error))
            continue
        module.verify()
        for inputs, outputs in case.data_sets or ():
            found = run_function(module, [_array(item) for item in inputs])
            for have, want in zip(found, outputs, strict=True):
                _compare(case.name, have, _array(want))
        checked += 1
    assert checked > 1600


# Random; without an implementation in onnx.reference; float to narrow integers out of range, which
# ONNX leaves open.
_NOT_COMPARED = (
    "bernoulli", "image_decoder", "no_saturate", "e8m0",
    "to_UINT4", "to_INT4", "to_UINT2", "to_INT2",
)  # fmt: skip


def _array(item: Any) -> Any:
    if item is None or isinstance(item, list):
        return cast(Any, item)
    return numpy_helper.to_array(item) if isinstance(item, onnx.TensorProto) else np.asarray(item)


def _compare(name: str, found: Any, wanted: Any) -> None:
    if wanted is None:
        assert found is None, name
        return
    if isinstance(wanted, list):
        for have, want in zip(found, cast("list[Any]", wanted), strict=True):
            _compare(name, have, np.asarray(want))
        return
    assert found.shape == wanted.shape, name
    if wanted.dtype.kind in "OSU":
        assert [str(item) for item in found.flat] == [str(item) for item in wanted.flat], name
        return
    narrow = wanted.dtype.kind not in "biufc" or wanted.dtype.itemsize < 4
    tolerance = 1e-2 if narrow else 1e-3
    kind = np.complex128 if wanted.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        found.astype(kind), wanted.astype(kind), rtol=tolerance, atol=1e-3, err_msg=name
    )
