"""HBM traffic and kernels of the static models of the zoo: as imported, as optimised, and peers'.

    python benchmarks/traffic.py [--real] [--zoo DIR] [--peers DIR] [--facts FILE] [--markdown]
                                 [PATTERN ...]

Traffic is the bytes of each operand read and each result written by each kernel, weights included;
views move nothing, and a gather, slice or split reads no more of its operand than it writes. What a
tile forces a kernel to read from HBM again counts again (`passes/fusion/rereads.py`); for peers it
does not, which is in their favour. Where sizes depend on data, or a graph has branches, peers
measured a run and we count all sides: these rows are left out of the comparison.

`--real` takes the models of published dimensions in `build/zoo/big`, which the zoo's `make_zoo.py
medium` builds, and counts only. Without it, the small ones, also: the peak that `ge-plan-memory`
needs with and without `ge-fuse-auto`, and whether results stay the same, bit for bit.

The exit status is 1 where a peer moves no more than we do, the peak rises, or a result changes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from peer_figures import ORIGINAL, TOOLS, Figure, best_of, cited, figures_of, measured
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ge_dialect.ge.structure import IfOp, LoopOp
from ge_dialect.ge.types import num_elements
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.pipelines import LowerPipeline
from ge_dialect.passes.fusion.auto.fuse_auto import FuseAutoPass
from ge_dialect.passes.fusion.auto.groups import Groups, ops_of
from ge_dialect.passes.fusion.footprint import fit
from ge_dialect.passes.fusion.fuse_rules import blocks_of
from ge_dialect.passes.infer_types import InferTypesPass
from ge_dialect.passes.pipelines import OptimizePipeline
from ge_dialect.targets.dlti import target_of
from ge_dialect.tools.api import load_model, make_context
from ge_dialect.tools.check.numerics import mismatch_of, reference_of
from ge_dialect.tools.report.summary import memory

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
BUILT = ROOT / "build" / "zoo"


@dataclass
class Row:
    """One model.

    Attributes:
        model: Its name.
        stages: As imported, after the rules, at the end.
        figures: Of peers, by tool; empty where they cannot be compared.
        peaks: Bytes of the work arena without and with automatic fusion, where asked for.
        changed: What differs in the results, where anything does.
    """

    model: str
    stages: tuple[Figure, Figure, Figure]
    figures: Mapping[str, Figure] = field(default_factory=dict[str, Figure])
    peaks: tuple[int, int] | None = None
    changed: str = ""

    @property
    def ours(self) -> Figure:
        """The graph at the end."""
        return self.stages[2]

    @property
    def is_least(self) -> bool:
        """Whether every peer moves more."""
        best = best_of(self.figures)
        return best is None or self.ours.moved < best[1].moved

    @property
    def fails(self) -> bool:
        """Whether something is worse than it was, or than elsewhere."""
        rises = self.peaks is not None and self.peaks[1] > self.peaks[0]
        return rises or bool(self.changed) or not self.is_least

    def cells(self, unit: float, tools: Sequence[str]) -> list[str]:
        """Returns the row as texts."""
        original = self.figures.get(ORIGINAL, self.stages[0])
        rules = shown(self.stages[1], unit)
        cells = [self.model, shown(original, unit), rules, shown(self.ours, unit)]
        cells += [f"{self.ours.moved / max(1, original.moved):.2f}"]
        for tool in tools:
            figure = self.figures.get(tool)
            cells.append("" if figure is None else shown(figure, unit))
        if self.peaks is not None:
            cells += [f"{self.peaks[0]} -> {self.peaks[1]}", self.changed or "bit for bit"]
        return cells


def shown(figure: Figure, unit: float) -> str:
    """Returns a figure as `kernels / KB` or `kernels / MB`."""
    size = figure.moved / unit
    return f"{figure.kernels} / {size:.4g}" if size < 1000 else f"{figure.kernels} / {size:.0f}"


def measure(module: ModuleOp) -> Figure:
    """Returns the kernels of a graph and the bytes that they move."""
    target = target_of(module, None)
    kernels = moved = 0
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and not function.is_declaration:
            for block in blocks_of(function):
                groups = Groups(block, ())
                kernels += len(groups.groups)
                for group in groups.groups.values():
                    again = fit(ops_of(group), target, groups.alias).read_again
                    moved += group.traffic + again
    return Figure(kernels, moved)


def is_comparable(module: ModuleOp) -> bool:
    """Whether a graph has no branches, loops or unknown sizes."""
    return not any(
        isinstance(op, IfOp | LoopOp) or any(num_elements(r.type) is None for r in op.results)
        for op in module.walk()
    )


def peak_of(module: ModuleOp) -> int:
    """Returns the bytes of the work arena of a graph."""
    copy = module.clone()
    run(copy, LowerPipeline().passes())
    return memory(plan_of(copy))["hbm"]["peak"]


def run(module: ModuleOp, passes: Sequence[ModulePass]) -> None:
    """Runs passes."""
    ctx = make_context()
    for pass_ in passes:
        pass_.apply(ctx, module)


def row_of(folder: Path, figures: Mapping[str, Figure], counts_only: bool) -> Row:
    """Compiles and measures one model."""
    module, name = load_model(folder / "model.onnx")
    run(module, [InferTypesPass()])
    imported = measure(module)
    run(module, [one for one in OptimizePipeline(2).passes() if one.name != FuseAutoPass.name])
    ruled = measure(module)
    comparable = is_comparable(module)
    reference = None if counts_only else reference_of(module, 0, extremes=True)
    before = 0 if counts_only or not comparable else peak_of(module)
    run(module, [FuseAutoPass()])
    module.verify()
    row = Row(name, (imported, ruled, measure(module)), figures if comparable else {})
    if reference is not None:
        row.peaks = before, peak_of(module) if comparable else 0
        wrong = mismatch_of(module, reference, exact=True)
        row.changed = "" if wrong is None else wrong.message
    return row


def rows(args: argparse.Namespace) -> Iterator[Row]:
    """Yields a row a model, as they come."""
    table = "medium" if args.real else "small"
    sources = cited(args.facts, table), measured(args.peers / f"{table}.jsonl")
    for folder in sorted({f for pattern in args.patterns for f in args.zoo.glob(pattern)}):
        is_static = "-dyn" not in folder.name and not folder.name.endswith("-train")
        if is_static and (folder / "model.onnx").is_file():
            yield row_of(folder, figures_of(folder.name, *sources), args.real)


def summary(found: Sequence[Row]) -> str:
    """Returns medians, and on how many models every peer moves more."""
    ratios = [row.ours.moved / max(1, row.stages[0].moved) for row in found]
    fewer = [row.ours.kernels / row.stages[0].kernels for row in found]
    text = f"{len(found)} models; of the imported graph, median:"
    text += f" {statistics.median(ratios):.2f} of the traffic,"
    text += f" {statistics.median(fewer):.2f} of the kernels"
    best = [(row, best_of(row.figures)) for row in found]
    compared = [(row, peer[1]) for row, peer in best if peer is not None]
    if compared:
        left = [peer.moved / row.figures[ORIGINAL].moved for row, peer in compared]
        text += f"; best peer {statistics.median(left):.2f} of the traffic;"
        text += f" least traffic of all on {sum(row.is_least for row, _ in compared)}"
        text += f" of {len(compared)}"
    return text


def parsed() -> argparse.Namespace:
    """Returns the arguments; ends where there is no zoo."""
    parser = argparse.ArgumentParser(description="Measure the HBM traffic of the zoo.")
    parser.add_argument("patterns", nargs="*", default=["*"], help="names of models, as globs")
    parser.add_argument("--real", action="store_true", help="models of published dimensions")
    parser.add_argument("--zoo", type=Path, help="folder of the models")
    parser.add_argument("--peers", type=Path, default=BUILT / "peers", help="what peers.py wrote")
    parser.add_argument("--facts", type=Path, default=SHARED / "facts" / "zoo.md")
    parser.add_argument("--tools", default=",".join(TOOLS), help="peers to show")
    parser.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    args = parser.parse_args()
    if args.zoo is None:
        args.zoo = BUILT / "big" if args.real else SHARED / "zoo" / "small"
    if not args.zoo.is_dir():
        how = f"cp {SHARED}/zoo/*.py {BUILT} && cd {BUILT} && python make_zoo.py medium"
        message = f"there is no zoo at {args.zoo}"
        print(f"{message}; with torch and transformers: {how}" if args.real else message)
        sys.exit(0 if args.real else 1)
    return args


def main() -> None:
    """Prints a row a model, and the summary."""
    args = parsed()
    tools, unit = args.tools.split(","), 1e6 if args.real else 1e3
    header = ["model", "exporter", "rules", "ours", "ratio", *tools]
    header += [] if args.real else ["peak bytes", "results"]
    edge, gap = ("| ", " | ") if args.markdown else ("", "  ")
    print(f"kernels / {'MB' if args.real else 'KB'} moved\n")
    print(edge + gap.join(header) + (" |" if args.markdown else ""))
    if args.markdown:
        print("| --- " * len(header) + "|")
    found: list[Row] = []
    for row in rows(args):
        print(edge + gap.join(row.cells(unit, tools)) + (" |" if args.markdown else ""), flush=True)
        found.append(row)
    if found:
        print("\n" + summary(found))
    sys.exit(not found or any(row.fails for row in found))


if __name__ == "__main__":
    main()
