"""Exports models of JAX and of PaddlePaddle, as `tests.zoo.export_architectures` does of PyTorch.

    python -m tests.zoo.export_frameworks {jax,paddle} [PATTERN ...]

Each lands in `build/frameworks/NAME.KIND/` as `model.onnx` and `io.npz`: random inputs, and what
onnxruntime computes of them. JAX's are written by jax2onnx (with flax), PaddlePaddle's by
paddle2onnx; run it with a Python that has those and onnxruntime. Weights are random.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.zoo.export_architectures import ROOT, run
from tests.zoo.framework_models import BATCH, IDS, WORDS, Dims, Model, paddle_models
from tests.zoo.jax_models import JaxModels

TARGET = ROOT / "build" / "frameworks"


def sizes(dims: Dims, batch: Any) -> list[Any]:
    """Returns a shape with a number or a name for the batch."""
    return [batch if dim == BATCH else dim for dim in dims if dim != IDS]


def write_jax(make: Callable[[], Any], shapes: Sequence[Dims], batch: Any, path: Path) -> None:
    """Writes a function or module of JAX as ONNX."""
    jax: Any = import_module("jax")
    tools: Any = import_module("jax2onnx")
    given = [
        jax.ShapeDtypeStruct(tuple(sizes(dims, batch)), np.int32)
        if IDS in dims
        else tuple(sizes(dims, batch))
        for dims in shapes
    ]
    path.write_bytes(tools.to_onnx(make(), given).SerializeToString())


def write_paddle(make: Callable[[], Any], shapes: Sequence[Dims], batch: Any, path: Path) -> None:
    """Writes a layer of PaddlePaddle as ONNX."""
    static: Any = import_module("paddle.static")
    jit: Any = import_module("paddle.jit")
    tools: Any = import_module("paddle2onnx")
    layer = make()
    layer.eval()
    size = None if batch == BATCH else batch
    specs = [static.InputSpec(sizes(dims, size), "float32") for dims in shapes]
    jit.save(layer, str(path.with_suffix("")), input_spec=specs)
    saved = [str(path.with_suffix(end)) for end in (".json", ".pdiparams")]
    tools.export(*saved, str(path), 17)
    for one in saved:
        os.remove(one)


def jax_models() -> Mapping[str, Model]:
    """Returns the models of JAX by name."""
    return JaxModels().models()


FRAMEWORKS = {"jax": (jax_models, write_jax), "paddle": (paddle_models, write_paddle)}


def feeds_of(path: Path) -> dict[str, Any]:
    """Returns random inputs of a model, a batch of 2 where it is a symbol."""
    rng = np.random.default_rng(0)
    found: dict[str, Any] = {}
    for value in onnx.ModelProto.FromString(path.read_bytes()).graph.input:
        kind = value.type.tensor_type
        dims = [dim.dim_value or 2 for dim in kind.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        whole = np.issubdtype(dtype, np.integer)
        numbers = rng.integers(0, WORDS, dims) if whole else rng.normal(size=dims)
        found[value.name] = np.asarray(numbers).astype(dtype)
    return found


def main() -> None:
    """Exports what the patterns name, of fixed sizes and with a symbol."""
    parser = argparse.ArgumentParser(description="Export models of other frameworks.")
    parser.add_argument("framework", choices=FRAMEWORKS)
    parser.add_argument("patterns", nargs="*", default=["*"], metavar="PATTERN")
    args = parser.parse_args()
    models, write = FRAMEWORKS[args.framework]
    for name, (make, shapes) in models().items():
        if not any(fnmatch(name, pattern) for pattern in args.patterns):
            continue
        symbolic = any(BATCH in dims for dims in shapes)
        for kind, batch in (("static", 2), *((("dyn", BATCH),) if symbolic else ())):
            folder = TARGET / f"{args.framework}-{name}.{kind}"
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / "model.onnx"
            try:
                write(make, shapes, batch, path)
                np.savez(folder / "io.npz", allow_pickle=False, **run(path, feeds_of(path)))
            except (Exception, SystemExit) as error:  # whatever the exporter raises
                print(f"{folder.name}: {type(error).__name__}: {str(error)[:200]}")
                continue
            print(folder.name, flush=True)


if __name__ == "__main__":
    main()
