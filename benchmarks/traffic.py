"""HBM traffic and kernels of every static model of the zoo: as imported, and as level 2 leaves it.

    python benchmarks/traffic.py [--zoo DIR] [--facts FILE] [--markdown] [PATTERN ...]

Traffic is the bytes of each operand read and each result written by each kernel, weights included;
views move nothing, and a gather, slice or split reads no more of its operand than it writes. Peers'
figures are those of the table of the zoo's description, by the same definition; of all tools that
ran, the one with least traffic counts. Where sizes depend on data, or a graph has branches, peers
measured a run and we count all sides: these rows are left out of the summary.

The peak is what `ge-plan-memory` needs, with and without `ge-fuse-auto`. The exit status is 1 where
it rises, or the results of the graph change by a bit.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ge_dialect.ge.structure import IfOp, LoopOp
from ge_dialect.ge.types import num_elements
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.pipelines import LowerPipeline
from ge_dialect.passes.fusion.auto.fuse_auto import FuseAutoPass
from ge_dialect.passes.fusion.auto.groups import Groups
from ge_dialect.passes.fusion.fuse_rules import blocks_of
from ge_dialect.passes.infer_types import InferTypesPass
from ge_dialect.passes.pipelines import OptimizePipeline
from ge_dialect.tools.api import load_model, make_context
from ge_dialect.tools.check.numerics import mismatch_of, reference_of
from ge_dialect.tools.report.summary import memory

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
_CELL = re.compile(r"(\d+)/([\d.]+(?:e[+]\d+)?)")
_ORIGINAL = re.compile(r"\d+/(\d+)/([\d.]+(?:e[+]\d+)?)")


@dataclass(frozen=True)
class Peer:
    """What peers left of a model.

    Attributes:
        original: KB that the exporter's graph moves.
        traffic: KB at best.
        kernels: The fewest.
    """

    original: float
    traffic: float
    kernels: int


@dataclass
class Row:
    """One model.

    Attributes:
        model: Its name.
        kernels: As imported, after the rules, at the end.
        traffic: Bytes at the same three moments.
        peaks: Bytes of the work arena without and with automatic fusion.
        peer: What peers reached, where they were measured.
        comparable: Whether all sizes are known, and there are no branches.
        changed: What differs in the results, where anything does.
    """

    model: str
    kernels: tuple[int, int, int]
    traffic: tuple[int, int, int]
    peaks: tuple[int, int]
    peer: Peer | None
    comparable: bool
    changed: str

    @property
    def ratio(self) -> float:
        """Traffic at the end over that of the imported graph."""
        return self.traffic[2] / max(1, self.traffic[0])

    @property
    def best_peer(self) -> float | None:
        """The same of the best peer, where one was measured and can be compared."""
        if self.peer is None or not self.comparable:
            return None
        return self.peer.traffic / self.peer.original

    @property
    def cells(self) -> list[str]:
        """The row as texts."""
        peer = self.best_peer
        return [
            self.model,
            " -> ".join(map(str, self.kernels)),
            " -> ".join(f"{size / 1000:.4g}" for size in self.traffic),
            f"{self.ratio:.2f}",
            "" if peer is None else f"{peer:.2f}",
            f"{self.peaks[0]} -> {self.peaks[1]}",
            "bit for bit" if not self.changed else self.changed,
        ]


HEADER = ("model", "kernels", "KB moved", "ratio", "best peer", "peak bytes", "results")


def peers(facts: Path) -> dict[str, Peer]:
    """Returns the peers' figures of the small models; empty where there is no such file."""
    if not facts.is_file():
        return {}
    found: dict[str, Peer] = {}
    text = facts.read_text()
    start = text.index("\n## 5. Peers")
    text = text[start : text.index("\n### Medium", start)]
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 3 or (original := _ORIGINAL.fullmatch(cells[1])) is None:
            continue
        tools = [match for cell in cells[2:-2] if (match := _CELL.fullmatch(cell))]
        found[cells[0]] = Peer(
            float(original[2]),
            min(float(match[2]) for match in tools),
            min(int(match[1]) for match in tools),
        )
    return found


def measure(module: ModuleOp) -> tuple[int, int]:
    """Returns the kernels of a graph and the bytes that they move."""
    kernels = moved = 0
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and not function.is_declaration:
            for block in blocks_of(function):
                groups = Groups(block, ())
                kernels += len(groups.groups)
                moved += sum(group.traffic for group in groups.groups.values())
    return kernels, moved


def is_comparable(module: ModuleOp) -> bool:
    """Whether a graph has no branches, loops or unknown sizes."""
    return not any(
        isinstance(op, IfOp | LoopOp) or any(num_elements(r.type) is None for r in op.results)
        for op in module.walk()
    )


def peak_of(module: ModuleOp) -> int:
    """Returns the bytes of the work arena of a graph; 0 where it cannot be planned."""
    copy = module.clone()
    run(copy, LowerPipeline().passes())
    return memory(plan_of(copy))["hbm"]["peak"]


def run(module: ModuleOp, passes: Sequence[ModulePass]) -> None:
    """Runs passes."""
    ctx = make_context()
    for pass_ in passes:
        pass_.apply(ctx, module)


def row_of(folder: Path, peer: Peer | None) -> Row:
    """Compiles and measures one model."""
    module, name = load_model(folder / "model.onnx")
    run(module, [InferTypesPass()])
    stages = [measure(module)]
    run(module, [one for one in OptimizePipeline(2).passes() if one.name != FuseAutoPass.name])
    stages.append(measure(module))
    comparable = is_comparable(module)
    reference = reference_of(module, 0, extremes=True)
    before = peak_of(module) if comparable else 0
    run(module, [FuseAutoPass()])
    module.verify()
    stages.append(measure(module))
    after = peak_of(module) if comparable else 0
    wrong = mismatch_of(module, reference, exact=True)
    kernels, traffic = zip(*stages, strict=True)
    changed = "" if wrong is None else wrong.message
    return Row(name, kernels, traffic, (before, after), peer, comparable, changed)


def rows(args: argparse.Namespace) -> Iterator[Row]:
    """Yields a row a model, as they come."""
    known = peers(args.facts)
    for folder in sorted({f for pattern in args.patterns for f in args.zoo.glob(pattern)}):
        if "-dyn" not in folder.name and not folder.name.endswith("-train"):
            yield row_of(folder, known.get(folder.name))


def summary(found: Sequence[Row]) -> str:
    """Returns medians, and on how many models no peer moves less."""
    compared = [(row.ratio, peer) for row in found if (peer := row.best_peer) is not None]
    text = f"{len(found)} models; of the imported graph, median:"
    text += f" {statistics.median(row.ratio for row in found):.2f} of the traffic,"
    text += f" {statistics.median(row.kernels[2] / row.kernels[0] for row in found):.2f} of the"
    text += " kernels"
    if compared:
        least = sum(own <= peer for own, peer in compared)
        text += f"; best peer {statistics.median(peer for _, peer in compared):.2f} of the traffic;"
        text += f" least traffic of all on {least} of {len(compared)}"
    return text


def main() -> None:
    """Prints a row a model, and the summary."""
    parser = argparse.ArgumentParser(description="Measure the HBM traffic of the zoo.")
    parser.add_argument("patterns", nargs="*", default=["*"], help="names of models, as globs")
    parser.add_argument("--zoo", type=Path, default=SHARED / "zoo" / "small")
    parser.add_argument("--facts", type=Path, default=SHARED / "facts" / "zoo.md")
    parser.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    args = parser.parse_args()
    if not args.zoo.is_dir():
        sys.exit(f"there is no zoo at {args.zoo}: give its folder with --zoo")
    edge, gap = ("| ", " | ") if args.markdown else ("", "  ")
    print(edge + gap.join(HEADER) + (" |" if args.markdown else ""))
    if args.markdown:
        print("| --- " * len(HEADER) + "|")
    found: list[Row] = []
    for row in rows(args):
        print(edge + gap.join(row.cells) + (" |" if args.markdown else ""), flush=True)
        found.append(row)
    print(summary(found))
    sys.exit(not found or any(row.changed or row.peaks[1] > row.peaks[0] for row in found))


if __name__ == "__main__":
    main()
