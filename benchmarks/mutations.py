"""Corrupts plans of real models, one thing at a time: what `ge-verify-plan` catches.

    python benchmarks/mutations.py [--zoo DIR] [--count N] [--streams N] [--seed N] [PATTERN ...]

Each model is compiled for several streams, with buffers in the L2. A corruption that is not caught
has to be harmless: the plan runs with poisoned dead bytes in three random orders that its streams
allow, and every output has to be equal, bit for bit. The exit status is 1 where one is not.

Kinds: an address moved by some hundred bytes; the address of something else; a record or a wait
dropped; two tasks swapped; an arena cut; a place in the L2 that something else has. The runtime has
no L2: to see whether an uncaught one does harm, what stays in the L2 is moved there, behind the
work arena, and run from there.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from zoo_table import ZOO, arrays, shapes_of

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import ArenaOp, PlanOp
from ge_dialect.lowering.memory.plan_l2 import plan_residency
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.tools.api import compile
from ge_dialect.tools.runtime.executor import Executor

if TYPE_CHECKING:
    from tests.plan_mutations import Undo

ORDERS = 3


class Tally:
    """What became of the corruptions, by kind."""

    def __init__(self) -> None:
        self.caught: Counter[str] = Counter()
        self.harmless: Counter[str] = Counter()
        self.harmful: list[str] = []

    def __str__(self) -> str:
        lines = ["corruption                    tried   caught  harmless  harmful"]
        for kind in sorted(self.caught | self.harmless):
            wrong = sum(line.startswith(kind) for line in self.harmful)
            tried = self.caught[kind] + self.harmless[kind] + wrong
            lines.append(
                f"{kind:28}  {tried:6}   {self.caught[kind]:6}  {self.harmless[kind]:8}  {wrong:7}"
            )
        return "\n".join([*lines, *self.harmful])


def judge(folder: Path, args: argparse.Namespace, tally: Tally) -> None:
    """Corrupts the plan of one model and adds to the tally."""
    from tests.plan_mutations import L2, corruptions

    io = folder / "io.npz"
    feeds = arrays(io, "input")
    shapes = shapes_of(feeds) if "-dyn" in folder.name else None
    module = compile(
        folder / "model.onnx", input_shapes=shapes, level=args.level, streams=args.streams
    ).module
    plan = plan_of(module)
    plan_residency(plan, 1 << 16, 512)
    right = Executor(module).run(feeds)
    for kind, undo in corruptions(plan, Random(args.seed), args.count):
        try:
            verify_plan(plan)
        except GEError:
            tally.caught[kind] += 1
        else:
            moved = in_place_of_the_l2(plan) if kind == L2 else []
            if is_harmless(module, feeds, right):
                tally.harmless[kind] += 1
            else:
                tally.harmful.append(f"{kind}: {folder.name}")
            for move_back in moved:
                move_back()
        undo()
    verify_plan(plan)


def in_place_of_the_l2(plan: PlanOp) -> list[Undo]:
    """Puts what stays in the L2 there alone: behind the work arena, so that a run uses it."""
    from tests.plan_mutations import move, shrink

    resident = [op for op in plan.buffers if op.l2_offset is not None]
    arenas = [op for op in plan.body.block.ops if isinstance(op, ArenaOp)]
    (work,) = [op for op in arenas if op.arena_name.data == "work"]
    start = work.size.value.data
    end = max((start + (op.l2_offset or 0) + op.size for op in resident), default=start)
    return [shrink(work, end), *(move(op, start + (op.l2_offset or 0)) for op in resident)]


def is_harmless(module: Any, feeds: dict[str, Any], right: dict[str, Any]) -> bool:
    """Whether every order gives the right outputs, or none at all."""
    for seed in range(ORDERS):
        try:
            found = Executor(module).run(feeds, schedule_seed=seed, poison=True)
        except GEError:
            return True  # the runtime refuses it
        for name, array in right.items():
            if np.asarray(array).tobytes() != np.asarray(found[name]).tobytes():
                return False
    return True


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Corrupt plans of the zoo.")
    parser.add_argument("patterns", nargs="*", default=["*-static"], help="names, as globs")
    parser.add_argument("--zoo", type=Path, default=Path(os.environ.get("GE_ZOO", ZOO)))
    parser.add_argument("--count", type=int, default=20, help="corruptions of a kind and model")
    parser.add_argument("--level", type=int, default=1)
    parser.add_argument("--streams", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    tally = Tally()
    for folder in sorted({f for pattern in args.patterns for f in args.zoo.glob(pattern)}):
        judge(folder, args, tally)
    print(tally)
    sys.exit(bool(tally.harmful) or not tally.caught)


if __name__ == "__main__":
    main()
