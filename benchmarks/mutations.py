"""Corrupts plans of real models, one thing at a time: what `ge-verify-plan` catches.

    python benchmarks/mutations.py [--zoo DIR] [--count N] [--streams N] [--seed N] [PATTERN ...]

Each model is compiled for several streams, with buffers in the L2. A corruption that is not caught
has to be harmless: the plan runs with poisoned dead bytes in three random orders that its streams
allow, and every output has to be equal, bit for bit. The exit status is 1 where one is not.

Kinds: an address moved by some hundred bytes; the address of something else; a record or a wait
dropped; two tasks swapped; an arena cut; a place in the L2 that something else has. That shows in
no run, since the runtime has no L2: an uncaught one is harmless if no two buffers that share bytes
of the L2 are alive together, which the memory map says.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from zoo_table import ZOO, arrays, shapes_of

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import PlanOp
from ge_dialect.lowering.memory.memory_map import memory_map
from ge_dialect.lowering.memory.plan_l2 import plan_residency
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.tools.api import compile
from ge_dialect.tools.runtime.executor import Executor

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
            if is_apart(plan) if kind == L2 else is_harmless(module, feeds, right):
                tally.harmless[kind] += 1
            else:
                tally.harmful.append(f"{kind}: {folder.name}")
        undo()
    verify_plan(plan)


def is_apart(plan: PlanOp) -> bool:
    """Whether no two buffers that share bytes of the L2 are alive at one moment."""
    lives = memory_map(plan).regions[-len(plan.buffers) :]
    held = [
        (op.l2_offset, op.l2_offset + op.size, life.begin, life.end)
        for op, life in zip(plan.buffers, lives, strict=True)
        if op.l2_offset is not None
    ]
    return not any(
        max(a[0], b[0]) < min(a[1], b[1]) and max(a[2], b[2]) < min(a[3], b[3])
        for a, b in combinations(held, 2)
    )


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
