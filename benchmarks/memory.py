"""The address planner: hard instances, many buffers, and every model of the zoo.

    python benchmarks/memory.py [--instances DIR] [--zoo DIR] [--largest N] [PATTERN ...]

Times are CPU seconds of one run on one thread; every plan goes through the checker. Peaks and
bounds do not depend on the machine. `C++` and `numpy` are the times of minimalloc and of a
prototype that were measured once, on a quieter machine of the same kind.

Of each model of the zoo: its buffers, without inputs, outputs and weights; the lower bound and the
peak of their plan; how many times as much memory without reuse and with GE's blocks.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ge_blocks import hybrid
from zoo_table import ZOO, arrays, shapes_of

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import PlanOp
from ge_dialect.ge_exec.memory import base_of
from ge_dialect.lowering.memory.check import check_plan
from ge_dialect.lowering.memory.heuristics import solve
from ge_dialect.lowering.memory.plan_memory import Request, work_problem
from ge_dialect.lowering.memory.problem import Buffer, Plan, Problem, interval_problem
from ge_dialect.lowering.memory.table import read_problem
from ge_dialect.targets.reader import builtin_target
from ge_dialect.tools.api import compile

INSTANCES = Path(__file__).resolve().parents[2] / "shared" / "minimalloc"
CAPACITY = 1_048_576
ALIGNMENT = 512

PUBLISHED = {
    "A": (4.58, 0.46),
    "B": (3.54, 2.50),
    "C": (0.62, 0.92),
    "D": (2.43, 0.98),
    "E": (3.44, 2.19),
    "F": (4.62, 0.61),
    "G": (1.00, 0.14),
    "H": (1.52, 0.28),
    "I": (3.35, 0.19),
    "J": (0.78, 0.04),
    "K": (0.53, 0.24),
}
"""Seconds of minimalloc in C++, and of a numpy prototype."""


class Run(NamedTuple):
    """A plan that was checked, and CPU seconds of planning and checking."""

    plan: Plan
    planned: float
    checked: float


def measure(problem: Problem) -> Run:
    """Plans and checks.

    Raises:
        GEError: The problem does not fit its capacity, or the plan is wrong.
    """
    started = time.process_time()
    plan = solve(problem)
    planned = time.process_time()
    check_plan(problem, plan)
    return Run(plan, planned - started, time.process_time() - planned)


def instances(folder: Path) -> None:
    """Prints the table of the hard instances."""
    print(f"capacity {CAPACITY} bytes\n")
    print("instance  buffers    bound     peak  above  proved   CPU s    C++  numpy")
    files = sorted(folder.glob("*.csv"))
    times: list[float] = []
    proved = 0
    for file in files:
        name = file.name.partition(".")[0]
        problem = read_problem(file.read_text(), CAPACITY)
        run = measure(problem)
        plan = run.plan
        times.append(run.planned)
        proved += plan.optimal
        state = "optimal" if plan.optimal else "fits"
        other = "".join(f"{seconds:7.2f}" for seconds in PUBLISHED.get(name, ()))
        print(
            f"{name:8}  {len(problem.buffers):7}  {plan.lower_bound:7}  {plan.peak:7}"
            f"  {plan.gap:5.1%}  {state:7} {run.planned:6.2f}{other}",
            flush=True,
        )
    if files:
        print(f"all {len(files)} fit, {proved} proved optimal, {sum(times):.2f} CPU s together")
    else:
        print(f"no instances at {folder}")


def synthetic(count: int, seed: int) -> Problem:
    """Returns buffers as a long chain of ops makes them: most live shortly, some long."""
    chance = random.Random(seed)
    lives = [(i, i + 1 + min(int(chance.expovariate(1 / 20)), 400)) for i in range(count)]
    buffers = [Buffer(f"b{i}", chance.randint(1, 1 << 20), ALIGNMENT) for i in range(count)]
    return interval_problem(buffers, lives)


def growth(largest: int) -> None:
    """Prints the table of problems of growing size."""
    print("\nbuffers  seed  above the bound   CPU s  per buffer  checker s")
    count = 1_000
    while count <= largest:
        for seed in range(3 if count < 100_000 else 1):
            run = measure(synthetic(count, seed))
            print(
                f"{count:7}  {seed:4}  {run.plan.gap:15.2%}  {run.planned:6.2f}"
                f"  {1e6 * run.planned / count:7.0f} us  {run.checked:9.2f}",
                flush=True,
            )
        count *= 10


def models(zoo: Path, patterns: list[str]) -> Iterator[tuple[str, Problem]]:
    """Yields the planning problem of every model that compiles."""
    for folder in sorted({folder for pattern in patterns for folder in zoo.glob(pattern)}):
        io = folder / "io.npz"
        shapes = shapes_of(arrays(io, "input")) if "-dyn" in folder.name else None
        try:
            module = compile(folder / "model.onnx", input_shapes=shapes).module
        except GEError as error:
            print(f"{folder.name:36} {error.code}: {error.message[:60]}")
            continue
        for plan in (op for op in module.walk() if isinstance(op, PlanOp)):
            outputs = {base_of(op.buffer)[0] for op in plan.outputs}
            buffers = [op for op in plan.buffers if op not in outputs]
            request = Request(builtin_target("Ascend910B1"), ALIGNMENT)
            yield (
                folder.name,
                work_problem(plan, buffers, (), request),
            )


def zoo_table(zoo: Path, patterns: list[str]) -> None:
    """Prints the table of models, and what the worst and the average of them are."""
    print(f"\n{'model':36}  buffers      bound       peak   above  no reuse  GE's blocks")
    ratios: list[tuple[float, float, float]] = []
    optimal = 0
    for name, problem in models(zoo, patterns):
        plan = measure(problem).plan
        sizes = [buffer.footprint for buffer in problem.buffers]
        lives = [(life.start[0], life.end[0]) for life in problem.lifetimes]
        grouped = hybrid([(*life, size) for life, size in zip(lives, sizes, strict=True)])
        peak = max(plan.peak, 1)
        ratios.append((1 + plan.gap, sum(sizes) / peak, grouped / peak))
        optimal += plan.optimal
        print(
            f"{name:36}  {len(sizes):7}  {plan.lower_bound:9}  {plan.peak:9}  {plan.gap:6.1%}"
            f"  {sum(sizes) / peak:7.2f}x  {grouped / peak:10.2f}x",
            flush=True,
        )
    if not ratios:
        print(f"no models at {zoo}")
        return
    used = [row for row in ratios if row[1] > 0] or [(1.0, 1.0, 1.0)]
    _, without, blocks = (sum(column) / len(used) for column in zip(*used, strict=True))
    worst = max(row[0] for row in ratios) - 1
    print(f"{optimal} of {len(ratios)} plans optimal, the worst {worst:.1%} above the bound")
    print(f"on average {without:.2f}x without reuse, {blocks:.2f}x with GE's blocks")


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description="Measure the address planner.")
    parser.add_argument("patterns", nargs="*", default=["*"], help="names of models, as globs")
    parser.add_argument("--instances", type=Path, default=INSTANCES)
    parser.add_argument("--zoo", type=Path, default=Path(os.environ.get("GE_ZOO", ZOO)))
    parser.add_argument("--largest", type=int, default=100_000, help="buffers of the last problem")
    args = parser.parse_args()
    instances(args.instances)
    growth(args.largest)
    zoo_table(args.zoo, args.patterns)


if __name__ == "__main__":
    main()
