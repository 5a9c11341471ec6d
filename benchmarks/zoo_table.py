"""Compiles and runs every model of the zoo at every set of inputs: what passed, and what it took.

    python benchmarks/zoo_table.py [--zoo DIR] [--level N] [--streams N] [--policy NAME] [--seeds N]
                                  [--reference] [PATTERN ...]

Each model goes through `.om` on disk: compile, save, load, run from the plan with poisoned dead
bytes, compare with the reference outputs at the tolerances of `ge-run --compare`. Graphs with
dynamic dimensions are specialised to the shapes of each set of inputs. The exit status is 1 where
a row fails.

With `--seeds N` each plan also runs in N seeded orders that its streams allow, with poison; it is
compiled once, and not timed.

Columns: ops of the fused graph; those that run on the host; the largest difference from the
reference, over its largest magnitude; seconds to compile; CPU time to run without poison;
with `--reference` that time over the one of `onnx.reference`.

Graphs that train drop elements at random. There an element passes that is the reference's, or
that one of the two sides dropped, so that only the residual input is left of it; both sides must
have dropped about as many.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx.reference import ReferenceEvaluator

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.api import CompileOptions, compile
from ge_dialect.tools.runtime.compare import compare, tolerance_of
from ge_dialect.tools.runtime.executor import Executor, load_plan

ZOO = Path(__file__).resolve().parent.parent.parent / "shared" / "zoo" / "small"
"""Where models are, unless `$GE_ZOO` or `--zoo` says another place."""

HEADER = (
    "       model                              inputs  ops  host  max error  compile        run"
)

Array = npt.NDArray[Any]


@dataclass
class Row:
    """One model at one set of inputs.

    Attributes:
        model: Its name.
        inputs: The name of the file of inputs, without its extension.
        nodes: Ops of the fused graph, constants left out.
        host: `OpType xN` of those that run on the host.
        error: The largest difference over the largest magnitude of the reference, at least 1.
        compiled: Seconds.
        ran: Seconds.
        ratio: `ran` over the seconds of `onnx.reference`; None where not asked for.
        note: What a pass does not say, or why the row failed.
        passed: Whether it did.
    """

    model: str
    inputs: str
    nodes: int = 0
    host: tuple[str, ...] = ()
    error: float = 0.0
    compiled: float = 0.0
    ran: float = 0.0
    ratio: float | None = None
    note: str = ""
    passed: bool = False

    def __str__(self) -> str:
        ratio = "" if self.ratio is None else f"  {self.ratio:5.2f}x"
        note = "; ".join(filter(None, (self.note, ", ".join(self.host))))
        count = sum(int(call.rpartition(" x")[2]) for call in self.host)
        verdict = "pass" if self.passed else "FAIL"
        return (
            f"{verdict}   {self.model:36} {self.inputs:4}  {self.nodes:4d}"
            f"  {count:4d}  {self.error:9.2e}  {self.compiled:5.2f} s"
            f"  {1e3 * self.ran:6.1f} ms{ratio}"
            f"  {note[:300]}"
        ).rstrip()


def arrays(path: Path, side: str) -> dict[str, Array]:
    """Returns the arrays of one side of an `io.npz`, by plain name."""
    with np.load(path) as file:
        return {
            key.removeprefix(f"{side}."): file[key]
            for key in file.files
            if key.startswith(f"{side}.")
        }


def shapes_of(feeds: Mapping[str, Array]) -> str:
    """Returns the shapes of inputs as ATC spells them."""
    return ";".join(
        f"{name}:{','.join(str(dim) for dim in array.shape)}" for name, array in feeds.items()
    )


def seconds_of(run: Callable[[], object]) -> float:
    """Returns the CPU seconds of the cheapest of five runs, fewer where they take long.

    Not the time of the clock, which on a busy machine says what else it does.
    """
    began, best = time.perf_counter(), float("inf")
    for _ in range(5):
        started = time.process_time()
        run()
        best = min(best, time.process_time() - started)
        if time.perf_counter() - began > 1:
            break
    return best


def reference_seconds(model: Path, feeds: Mapping[str, Array]) -> float | None:
    """Returns how long `onnx.reference` takes for one run; None where it cannot run the model."""
    try:
        evaluator: Any = ReferenceEvaluator(str(model))
        with np.errstate(all="ignore"):
            return seconds_of(lambda: evaluator.run(None, dict(feeds)))
    except Exception:  # whatever its operators raise
        return None


def check(folder: Path, io: Path, work: Path, args: argparse.Namespace) -> Row:
    """Compiles, saves, loads, runs and compares one model.

    Raises:
        GEError: It cannot be compiled or run.
    """
    row, feeds = Row(folder.name, io.stem), arrays(io, "input")
    shapes = shapes_of(feeds) if "-dyn" in folder.name else None
    started = time.perf_counter()
    plan = compile(folder / "model.onnx", input_shapes=shapes, options=options_of(args))
    row.compiled = time.perf_counter() - started
    row.nodes, row.host = plan.nodes_after, tuple(plan.summary["host_calls"])
    plan.save(work / "model.om")
    loaded = load_plan(str(work / "model.om"))
    executor = Executor(loaded.module, loaded.weights)
    outputs = executor.run(feeds, poison=True)
    if not args.seeds:
        row.ran = seconds_of(lambda: executor.run(feeds))
    if args.reference and (seconds := reference_seconds(folder / "model.onnx", feeds)):
        row.ratio = row.ran / seconds
    wanted = arrays(io, "output")
    judge = judge_training if folder.name.endswith("-train") else judge_inference
    row.note, row.error = judge(outputs, wanted, feeds)
    row.passed = not row.note or row.note.startswith("dropped")
    for seed in range(args.seeds if row.passed else 0):
        note, error = judge(executor.run(feeds, poison=True, schedule_seed=seed), wanted, feeds)
        row.error = max(row.error, error)
        if note and not note.startswith("dropped"):
            row.note, row.passed = f"schedule seed {seed}: {note}", False
    return row


def options_of(args: argparse.Namespace) -> CompileOptions:
    """Returns how models are compiled."""
    return CompileOptions(level=args.level, streams=args.streams, memory_policy=args.policy)


def judge_inference(
    outputs: Mapping[str, Array], wanted: Mapping[str, Array], feeds: Mapping[str, Array]
) -> tuple[str, float]:
    """Returns what is wrong with the outputs, and how far they are off."""
    error, wrong = 0.0, ""
    for name, want in wanted.items():
        got = outputs[name]
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"output '{name}' is {got.dtype}{list(got.shape)}", float("inf")
        result = compare(got, want, tolerance_of(want.dtype))
        finite = want[np.isfinite(want)] if want.dtype.kind == "f" else want
        numbers = finite.dtype.kind in "fiu"
        scale = float(np.abs(finite.astype(np.float64)).max(initial=1.0)) if numbers else 1.0
        error = max(error, result.max_abs / scale)
        wrong = wrong or ("" if result.ok else f"output '{name}': {result}")
    return wrong, error


def judge_training(
    outputs: Mapping[str, Array], wanted: Mapping[str, Array], feeds: Mapping[str, Array]
) -> tuple[str, float]:
    """Judges `y = x + dropout(...)` where each side drops other elements."""
    got, want, residual = outputs["y"], wanted["y"], feeds["x"]
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"output 'y' is {got.dtype}{list(got.shape)}", float("inf")
    mine, theirs = got == residual, want == residual
    kept = ~mine & ~theirs
    wrong, error = judge_inference({"y": got[kept]}, {"y": want[kept]}, {})
    shares = float(mine.mean()), float(theirs.mean())
    spread = 5 * sqrt(2 * shares[1] * (1 - shares[1]) / want.size)
    if abs(shares[0] - shares[1]) > spread:
        wrong = wrong or "another share of elements is"
    return wrong or f"dropped {shares[0]:.1%} at random, the reference {shares[1]:.1%}", error


def rows(args: argparse.Namespace, work: Path) -> Iterator[Row]:
    """Yields a row a model and set of inputs, as they come."""
    for folder in sorted({f for pattern in args.patterns for f in args.zoo.glob(pattern)}):
        for io in sorted(folder.glob("io*.npz")):
            try:
                yield check(folder, io, work, args)
            except (GEError, ValueError) as error:
                yield Row(folder.name, io.stem, note=f"{type(error).__name__}: {error}")


def main() -> None:
    """Prints a row a model and set of inputs, and the total."""
    parser = argparse.ArgumentParser(description="Compile and run the zoo.")
    parser.add_argument("patterns", nargs="*", default=["*"], help="names of models, as globs")
    parser.add_argument("--zoo", type=Path, default=Path(os.environ.get("GE_ZOO", ZOO)))
    parser.add_argument("--level", type=int, default=2)
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--policy", help="conservative, balanced or throughput")
    parser.add_argument("--seeds", type=int, default=0, help="orders of each plan to run")
    parser.add_argument("--reference", action="store_true", help="also time onnx.reference")
    args = parser.parse_args()
    print(HEADER + ("    ratio" if args.reference else ""))
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as work:
        for row in rows(args, Path(work)):
            print(row, flush=True)
            found.append(row)
    passed = sum(row.passed for row in found)
    print(f"{passed} of {len(found)} pass")
    sys.exit(passed < len(found) or not found)


if __name__ == "__main__":
    main()
