"""Compiles and runs the exported architectures (`tests/zoo/export_architectures.py`).

    python -m tests.architectures [--write] [PATTERN ...]

Of each: ops of the graph, kernels after `ge-compile`, the composites that are one op each, how many
are still spelled out, and the largest difference from onnxruntime over its largest output. With
`--write` the table goes to `docs/architectures.md`. The exit status is 1 where one fails.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.api import CompiledPlan, compile
from tests.exporter_matrix import COMPOSITES
from tests.unraised_sites import unraised_sites
from tests.zoo.export_architectures import ROOT, TARGET

PAGE = ROOT / "docs" / "architectures.md"
TOLERANCE = 1e-3
SIZES = "1~4", "1~32"
"""Ranges of batches, and of other dimensions."""


@dataclass(frozen=True)
class Row:
    """What became of one model.

    Attributes:
        name: Of its folder.
        before: Ops of the graph.
        kernels: After fusion.
        composites: How often each is one op.
        unraised: How many are spelled out.
        difference: From onnxruntime, over its largest output.
        problem: Why there is no result.
    """

    name: str
    before: int = 0
    kernels: int = 0
    composites: str = ""
    unraised: int = 0
    difference: float = 0.0
    problem: str = ""

    @property
    def passed(self) -> bool:
        """Whether it ran, and gave what onnxruntime gives."""
        return not self.problem and self.difference <= TOLERANCE


def shapes_of(path: Path) -> str | None:
    """Returns ranges for the dynamic dimensions of a model, as `--input-shape` takes them."""
    inputs = onnx.ModelProto.FromString(path.read_bytes()).graph.input
    dims = {value.name: value.type.tensor_type.shape.dim for value in inputs}
    if not any(dim.dim_param for found in dims.values() for dim in found):
        return None
    return ";".join(
        f"{name}:"
        + ",".join(
            SIZES[min(axis, 1)] if dim.dim_param else str(dim.dim_value)
            for axis, dim in enumerate(found)
        )
        for name, found in dims.items()
    )


def difference(plan: CompiledPlan, path: Path) -> float:
    """Returns the largest difference of a plan's outputs from those of onnxruntime."""
    with np.load(path) as arrays:
        feeds = {key[6:]: arrays[key] for key in arrays.files if key.startswith("input.")}
        wanted = {key[7:]: arrays[key] for key in arrays.files if key.startswith("output.")}
    found = plan.run(feeds)
    worst = 0.0
    for name, want in wanted.items():
        got: Any = found[name]
        if got.shape != want.shape:
            return float("inf")
        far = np.abs(got.astype(np.float64) - want).max(initial=0)
        worst = max(worst, float(far / max(np.abs(want).max(initial=0), 1e-9)))
    return worst


def check(folder: Path) -> Row:
    """Compiles and runs one model."""
    try:
        plan = compile(folder / "model.onnx", input_shapes=shapes_of(folder / "model.onnx"))
        far = difference(plan, folder / "io.npz")
    except GEError as error:
        return Row(folder.name, problem=str(error))
    made = Counter(op.name.removeprefix("ge.") for op in plan.module.walk())
    shown = ", ".join(f"{name} {made[name]}" for name in COMPOSITES if made[name])
    unraised = sum(1 for _ in unraised_sites(plan.module))
    return Row(folder.name, plan.nodes_before, plan.nodes_after, shown, unraised, far)


def page(rows: list[Row]) -> str:
    """Returns the table as a page."""
    passed = sum(row.passed for row in rows)
    names = {row.name.split(".")[0] for row in rows}
    text = f"""# Other architectures

Small models with random weights of {len(names)} architectures that the zoo does not have: decoders
(dense, with experts, with state spaces and linear attention), encoders, image classifiers and
backbones, detection, segmentation and depth, video, text with pictures, speech and audio, time
series, and the UNets, transformers and autoencoders of diffusion. PyTorch's two exporters write
them (`.ts`: TorchScript, `.dynamo`), of fixed sizes and, many of them, with symbols (`-dyn`); a
model that an exporter cannot write, or onnxruntime cannot run, is not here.
{passed} of {len(rows)} give what onnxruntime gives.
`python -m tests.zoo.export_architectures [--kind dyn]` makes them (with torch, transformers,
diffusers and timm), `python -m tests.architectures --write` this page.

Kernels of equal bodies count once under *one op each*; *spelled out* are sites that only a spelling
of a composite has.

| model | ops | kernels | one op each | spelled out | difference |
| --- | --- | --- | --- | --- | --- |
"""
    for row in rows:
        end = row.problem or f"{row.difference:.1e}"
        cells = (row.name, row.before, row.kernels, row.composites, row.unraised or "", end)
        text += f"| {' | '.join(map(str, cells))} |\n"
    return text


def main() -> None:
    """Prints a line for each model that is there."""
    parser = argparse.ArgumentParser(description="Compile and run the exported architectures.")
    parser.add_argument("--write", action="store_true", help="write docs/architectures.md")
    parser.add_argument("patterns", nargs="*", default=["*"], metavar="PATTERN")
    args = parser.parse_args()
    folders = {one for pattern in args.patterns for one in TARGET.glob(f"{pattern}/")}
    rows: list[Row] = []
    for folder in sorted(folders):
        if (folder / "io.npz").exists():
            rows.append(row := check(folder))
            state = "pass" if row.passed else "FAIL"
            end = row.problem or f"{row.difference:.1e}"
            print(state, row.name, f"{row.before} -> {row.kernels}", end, flush=True)
    if args.write:
        PAGE.write_text(page(rows))
    sys.exit(0 if all(row.passed for row in rows) else 1)


if __name__ == "__main__":
    main()
