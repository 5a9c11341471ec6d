"""Compiles and runs every model of the zoo, and prints what passed, what failed and why.

    python benchmarks/zoo_table.py [--zoo DIR] [--level N] [--streams N] [PATTERN ...]

Each model goes through `.om` on disk: compile, save, load, run from the plan with poisoned dead
bytes, compare with the reference outputs at the tolerances of `ge-run --compare`. Graphs with
dynamic dimensions are specialised to the shapes of their inputs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.api import CompileOptions, compile
from ge_dialect.tools.runtime.compare import compare, tolerance_of
from ge_dialect.tools.runtime.executor import Executor, load_plan

ZOO = Path(__file__).resolve().parent.parent.parent / "shared" / "zoo" / "small"


def arrays(path: Path, side: str) -> dict[str, npt.NDArray[Any]]:
    """Returns the arrays of one side of an `io.npz`, by plain name."""
    with np.load(path) as file:
        return {
            key.removeprefix(f"{side}."): file[key]
            for key in file.files
            if key.startswith(f"{side}.")
        }


def shapes_of(feeds: Mapping[str, npt.NDArray[Any]]) -> str:
    """Returns the shapes of inputs as ATC spells them."""
    return ";".join(
        f"{name}:{','.join(str(dim) for dim in array.shape)}" for name, array in feeds.items()
    )


def check(folder: Path, options: CompileOptions, work: Path) -> str:
    """Compiles, saves, loads, runs and compares one model; returns why it failed, or ""."""
    feeds = arrays(folder / "io.npz", "input")
    dynamic = "-dyn" in folder.name
    plan = compile(
        folder / "model.onnx", input_shapes=shapes_of(feeds) if dynamic else None, options=options
    )
    plan.save(work / "model.om")
    loaded = load_plan(str(work / "model.om"))
    outputs = Executor(loaded.module, loaded.weights).run(feeds, poison=True)
    for name, want in arrays(folder / "io.npz", "output").items():
        result = compare(outputs[name], want, tolerance_of(want.dtype))
        if not result.ok:
            return f"output '{name}': {result}"
    return ""


def main() -> None:
    """Prints a row a model and the total."""
    parser = argparse.ArgumentParser(description="Compile and run the zoo.")
    parser.add_argument("patterns", nargs="*", default=["*"], help="names of models, as globs")
    parser.add_argument("--zoo", type=Path, default=ZOO)
    parser.add_argument("--level", type=int, default=2)
    parser.add_argument("--streams", type=int, default=1)
    args = parser.parse_args()
    options = CompileOptions(level=args.level, streams=args.streams)
    folders = sorted({f for pattern in args.patterns for f in args.zoo.glob(pattern)})
    passed = 0
    with tempfile.TemporaryDirectory() as work:
        for folder in folders:
            started = time.perf_counter()
            try:
                why = check(folder, options, Path(work))
            except (GEError, ValueError) as error:
                why = f"{type(error).__name__}: {error}"
            passed += not why
            seconds = time.perf_counter() - started
            print(f"{'FAIL' if why else 'pass'}  {folder.name:36} {seconds:6.2f} s  {why[:300]}")
    print(f"{passed} of {len(folders)} models pass")


if __name__ == "__main__":
    main()
