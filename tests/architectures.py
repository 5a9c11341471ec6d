"""Compiles and runs the exported architectures (`tests/zoo/export_architectures.py`).

    python -m tests.architectures [--quantized | --frameworks | --optimized] [--write] [PATTERN ...]

Of each: ops of the graph, kernels after `ge-compile`, the composites that are one op each, how many
are still spelled out, and the largest difference from onnxruntime over its largest output. With
`--write` the table goes to `docs/architectures.md`. With `--quantized` it is the models of
`tests/zoo/export_quantized.py`, and `docs/quantized.md`, with `--frameworks` those of
`tests/zoo/export_frameworks.py`, and `docs/frameworks.md`, with `--optimized` those of
`tests/zoo/export_optimized.py`, and `docs/optimized.md`. The exit status is 1 where one fails.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.convert.contrib_known import KNOWN
from ge_dialect.tools.api import CompiledPlan, compile
from tests.exporter_matrix import COMPOSITES
from tests.unraised_sites import unraised_sites
from tests.zoo.export_architectures import ROOT, TARGET
from tests.zoo.export_frameworks import TARGET as FRAMEWORKS
from tests.zoo.export_optimized import TARGET as OPTIMIZED
from tests.zoo.export_quantized import TARGET as QUANTIZED

PAGE = ROOT / "docs" / "architectures.md"
FRAMEWORKS_PAGE = ROOT / "docs" / "frameworks.md"
OPTIMIZED_PAGE = ROOT / "docs" / "optimized.md"
QUANTIZED_PAGE = ROOT / "docs" / "quantized.md"
TOLERANCE = 1e-3
TOLERANCES = {"half": 3e-2, "qdq": 5e-2, "operators": 1.5e-1, "dynamic": 5e-2}
"""Of kinds that round: levels where a sum lies between two, and what comes of them."""
SIZES = "1~4", "1~32"
"""Ranges of batches, and of other dimensions."""
HEADS = ("kv_cache_dim",)
"""What onnxruntime-genai calls the size of a head."""


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
        integer: Products of bytes after fusion.
        floats: Other products.
    """

    name: str
    before: int = 0
    kernels: int = 0
    composites: str = ""
    unraised: int = 0
    difference: float = 0.0
    problem: str = ""
    integer: int = 0
    floats: int = 0

    @property
    def passed(self) -> bool:
        """Whether it ran, and gave what onnxruntime gives."""
        kind = self.name.partition("+")[2].removeprefix("extended-")
        if kind.startswith("qdq") and "+runtime" in kind:
            kind = "operators"  # that is what a session makes of it
        kind = re.split(r"[-+]", kind)[0]
        return not self.problem and self.difference <= TOLERANCES.get(kind, TOLERANCE)


def shapes_of(
    path: Path, sizes: Mapping[str, Sequence[int]] | None = None, fixed: bool = False
) -> str | None:
    """Returns what the dynamic dimensions of a model may be, as `--input-shape` takes them.

    Args:
        path: Of the model.
        sizes: Shapes of inputs: the most that their dimensions are; the size of a head is just
            that, and where something is empty, all sizes are.
        fixed: Whether all are just that.
    """
    inputs = onnx.ModelProto.FromString(path.read_bytes()).graph.input
    dims = {value.name: value.type.tensor_type.shape.dim for value in inputs}
    if not any(dim.dim_param for found in dims.values() for dim in found):
        return None
    fixed = fixed or (sizes is not None and any(0 in shape for shape in sizes.values()))

    def shown(name: str, axis: int, dim: Any) -> str:
        if not dim.dim_param:
            return str(dim.dim_value)
        if sizes is None:
            return SIZES[min(axis, 1)]
        size = sizes[name][axis]
        return str(size) if fixed or dim.dim_param in HEADS else f"1~{size}"

    return ";".join(
        f"{name}:" + ",".join(shown(name, axis, dim) for axis, dim in enumerate(found))
        for name, found in dims.items()
    )


def difference(plan: CompiledPlan, path: Path) -> float:
    """Returns the largest difference of a plan's outputs from those of onnxruntime.

    Infinite where a shape differs or an output is not finite: such a model tests nothing.
    """
    with np.load(path) as arrays:
        feeds = {key[6:]: arrays[key] for key in arrays.files if key.startswith("input.")}
        wanted = {key[7:]: arrays[key] for key in arrays.files if key.startswith("output.")}
    found = plan.run(feeds)
    worst = 0.0
    for name, want in wanted.items():
        got: Any = found[name]
        if got.shape != want.shape or not np.isfinite([got, want]).all():
            return float("inf")
        far = np.abs(got.astype(np.float64) - want).max(initial=0)
        worst = max(worst, float(far / max(np.abs(want).max(initial=0), 1e-9)))
    return worst


def compile_ranges(path: Path) -> CompiledPlan:
    """Compiles a model for ranges of its dynamic sizes."""
    return compile(path, input_shapes=shapes_of(path))


def compile_optimized(folder: Path) -> CompiledPlan:
    """Compiles a model for sizes up to those of its inputs; for just those where few work."""
    with np.load(folder / "io.npz") as arrays:
        keys = [key for key in arrays.files if key.startswith("input.")]
        sizes = {key.removeprefix("input."): arrays[key].shape for key in keys}
    path = folder / "model.onnx"
    try:
        return compile(path, input_shapes=shapes_of(path, sizes))
    except GEError as error:
        if error.code != "GE0330":
            raise
    return compile(path, input_shapes=shapes_of(path, sizes, fixed=True))


def check(folder: Path) -> Row:
    """Compiles and runs one model."""
    path = folder / "model.onnx"
    try:
        plan = compile_optimized(folder) if folder.parent == OPTIMIZED else compile_ranges(path)
        far = difference(plan, folder / "io.npz")
    except GEError as error:
        return Row(folder.name, problem=str(error))
    made = Counter(op.name.removeprefix("ge.") for op in plan.module.walk())
    shown = ", ".join(f"{name} {made[name]}" for name in _SHOWN if made[name])
    unraised = sum(1 for _ in unraised_sites(plan.module))
    integer, floats = made["matmul_integer"] + made["conv_integer"], sum(made[n] for n in _PRODUCTS)
    return Row(
        folder.name,
        plan.nodes_before,
        plan.nodes_after,
        shown,
        unraised,
        far,
        integer=integer,
        floats=floats,
    )


_PRODUCTS = ("matmul", "gemm", "conv")
_SHOWN = (*COMPOSITES, "elu", "selu", "celu")


def architectures_page(rows: list[Row]) -> str:
    """Returns the table of architectures as a page."""
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
"""
    return text + table(rows)


def frameworks_page(rows: list[Row]) -> str:
    """Returns the table of models of other frameworks as a page."""
    passed = sum(row.passed for row in rows)
    text = f"""# Other frameworks

Small models with random weights of JAX (functions, and modules of Flax, written by jax2onnx) and of
PaddlePaddle (written by paddle2onnx), of fixed sizes (`.static`) and with a symbol for the batch
(`.dyn`). {passed} of {len(rows)} give what onnxruntime gives.
`python -m tests.zoo.export_frameworks {{jax,paddle}}` makes them (each with a Python that has the
framework), `python -m tests.architectures --frameworks --write` this page.
"""
    return text + table(rows)


def optimized_page(rows: list[Row]) -> str:
    """Returns the tables of models that other tools optimised or built as a page."""
    built = [row for row in rows if row.name.startswith("genai-")]
    text = f"""# Models that other tools have optimised

Models of the zoo as ONNX Runtime saves them at its levels (`runtime-...`, some of them quantised
before), or as its optimiser for transformers writes them (`transformers`, in f16
`half-transformers`), small models that the builder of onnxruntime-genai makes, and three that
PyTorch exports after torchao has quantised them (`qdq-pt2e`).
{sum(row.passed for row in rows)} of {len(rows)} give what onnxruntime gives without optimisation,
or, where it has no kernel for a CPU, what the model before gives.

`python -m tests.zoo.export_optimized {{runtime,transformers,genai,pt2e}}` makes them (with a Python
that has onnxruntime, for `genai` onnxruntime-genai, torch and transformers, for `pt2e` torchao),
`python -m tests.zoo.export_optimized --zoo build/quantized runtime` what becomes of quantised ones.
`python -m tests.architectures --optimized --write "*static+runtime-extended" "*static+*transf*"
"*+*+runtime-extended" "genai-*" "torch-*"` writes this page, of fixed sizes and one level; without
`--write` and patterns it looks at all.

## Operators

Of ONNX Runtime's domain `com.microsoft` these are imported, most of them as the ops of ONNX that
they are made of, so that passes and fusion see through them. Forms that are not supported (a cache
that is quantised, weights that are packed for one machine, an operand or attribute that is newer
than this list) are refused with the node and the reason (GE0220, GE0221). At the level `all`
sessions also write `com.microsoft.nchwc`, whose weights lie as one machine wants them:
`disabled_optimizers=["NchwcTransformer"]` of the session keeps them as they are. `QMoE` without
`weights_prepacked` is taken as it is for a CPU.

{", ".join(f"`{name}`" for name in sorted(KNOWN))}.

## Models of the zoo

*Spelled out* are sites that only a spelling of a composite has; the difference is the largest of a
kind, relative to the largest output.

| kind | models | pass | ops | kernels | spelled out | difference |
| --- | --: | --: | --: | --: | --: | --: |
"""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        if row not in built:
            kinds.setdefault(row.name.partition("+")[2], []).append(row)
    for kind, found in sorted(kinds.items()):
        sums = [sum(getattr(row, name) for row in found) for name in _COUNTED]
        worst = max(row.difference for row in found)
        cells = (kind, len(found), sum(row.passed for row in found), *sums, f"{worst:.1e}")
        text += f"| {' | '.join(map(str, cells))} |\n"
    failed = [row for row in rows if not row.passed]
    for row in failed:
        text += f"\n`{row.name}`: {row.problem or f'{row.difference:.1e}'}\n"
    return text + _GENAI + table(built)


_GENAI = """
## Models of onnxruntime-genai

*prefill* is a step of several tokens with no cache, *decode* one of one token behind a cache.
"""

_COUNTED = ("before", "kernels", "unraised")


def table(rows: list[Row]) -> str:
    """Returns a line a model."""
    text = """
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


def quantized_page(rows: list[Row]) -> str:
    """Returns the table of quantised models as a page: one line a kind."""
    text = """# Quantised models

Models of the zoo as ONNX Runtime's tools quantise them, narrow them to f16 or save them optimised,
compared with onnxruntime without optimisation. `python -m tests.zoo.export_quantized` makes them,
`python -m tests.architectures --quantized --write` this page.

*Integer* are the products of bytes and *float* the others, after fusion: those with more than 8
bits on one side, or with no scale that is constant. The difference is the largest of a kind,
relative to the largest output; it is several levels where a model rounds at each step.

| kind | models | pass | ops | kernels | integer | float | difference |
| --- | --: | --: | --: | --: | --: | --: | --: |
"""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(row.name.partition("+")[2], []).append(row)
    for kind, found in kinds.items():
        sums = [sum(getattr(row, name) for row in found) for name in _SUMMED]
        worst = max(row.difference for row in found)
        passed = sum(row.passed for row in found)
        cells = (kind, len(found), passed, *sums, f"{worst:.1e}")
        text += f"| {' | '.join(map(str, cells))} |\n"
    return text


_SUMMED = ("before", "kernels", "integer", "floats")


def main() -> None:
    """Prints a line for each model that is there."""
    parser = argparse.ArgumentParser(description="Compile and run the exported architectures.")
    parser.add_argument("--write", action="store_true", help="write the page of docs")
    parser.add_argument("--quantized", action="store_true", help="what was quantised instead")
    parser.add_argument("--frameworks", action="store_true", help="other frameworks' instead")
    parser.add_argument("--optimized", action="store_true", help="what other tools optimised")
    parser.add_argument("patterns", nargs="*", default=["*"], metavar="PATTERN")
    args = parser.parse_args()
    target, where, page = TARGET, PAGE, architectures_page
    if args.quantized:
        target, where, page = QUANTIZED, QUANTIZED_PAGE, quantized_page
    elif args.frameworks:
        target, where, page = FRAMEWORKS, FRAMEWORKS_PAGE, frameworks_page
    elif args.optimized:
        target, where, page = OPTIMIZED, OPTIMIZED_PAGE, optimized_page
    folders = {one for pattern in args.patterns for one in target.glob(f"{pattern}/")}
    rows: list[Row] = []
    for folder in sorted(folders):
        if (folder / "io.npz").exists():
            rows.append(row := check(folder))
            state = "pass" if row.passed else "FAIL"
            end = row.problem or f"{row.difference:.1e}"
            print(state, row.name, f"{row.before} -> {row.kernels}", end, flush=True)
    if args.write:
        where.write_text(page(rows))
    sys.exit(0 if all(row.passed for row in rows) else 1)


if __name__ == "__main__":
    main()
