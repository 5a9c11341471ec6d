"""Whether passes are linear: chains of 1k, 5k and 20k ops, and 100 ops beside a huge constant.

    python benchmarks/scaling.py [--sizes 1000 5000 20000] [--limit 1.3] [--constant-mb 64]

Each measurement is a process of its own, best of `--repeat` runs; seconds are CPU seconds of the
pass. For the chain: seconds per op at each size against the smallest, for every pass of the
pipeline and for all of it. For the constant: seconds of each pass, and peak memory against its
size. Exits with 1 where a limit is broken.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence

LEAST_SECONDS = 0.1
"""A pass that takes less at the largest size is not judged: at a few microseconds an op, whether
the graph is in the processor's cache decides, not the pass."""

CHILD = """
import gc, json, resource, sys, time
gc.set_threshold(10_000_000, 50, 50)  # as the tools do
from xdsl.parser import Parser
from ge_dialect.passes import statistics
from ge_dialect.tools.api import CompileOptions, build_passes, make_context
from ge_dialect.tools.ge_opt import flatten
ctx = make_context()
module = Parser(ctx, sys.stdin.read()).parse_module()
megabytes = int(sys.argv[1])
for op in module.walk():
    if megabytes and op.name == "ge.constant":
        from ge_dialect.ge.constants import dense_from_bytes
        data = bytes(range(64)) * (megabytes * 16384)
        op.properties["value"] = dense_from_bytes(op.results[0].type, data)
        del data
times = {}
for position, one in enumerate(flatten(build_passes(CompileOptions()))):
    started = time.process_time()
    one.apply(ctx, module)
    times[f"{position:02d} {one.name}"] = time.process_time() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"times": times, "peak": peak}))
"""

UNARY = ("relu", "neg", "abs", "sigmoid", "exp", "tanh")


def chain(count: int) -> str:
    """A chain of `count` ops: unary ones, adds with an earlier value, reshapes that cancel."""
    kind = "tensor<8x8xf32>"
    flat = "tensor<64xf32>"
    lines: list[str] = []
    for i in range(count):
        x = f"%v{i - 1}" if i else "%x"
        match i % 8:
            case 5:
                lines.append(f"%v{i} = ge.reshape {x} : ({kind}) -> {flat}")
            case 6:
                lines.append(f"%v{i} = ge.reshape {x} : ({flat}) -> {kind}")
            case 7:
                lines.append(f"%v{i} = ge.add {x}, %v{i - 4} : ({kind}, {kind}) -> {kind}")
            case _:
                lines.append(f"%v{i} = ge.{UNARY[i % len(UNARY)]} {x} : ({kind}) -> {kind}")
    body = "\n  ".join(lines)
    last = f"%v{count - 1}"
    return f"func.func @main(%x: {kind}) -> {kind} {{\n  {body}\n  func.return {last} : {kind}\n}}"


def beside_constant(megabytes: int, path: str) -> str:
    """A hundred ops, one of which reads a constant of so many MiB that is in a file."""
    columns = megabytes * 256
    kind, big = "tensor<4x1024xf32>", f"tensor<1024x{columns}xf32>"
    ops = [f'%w = ge.constant #ge.weight<"w", "{path}", 0, {columns * 4096}> : {big}']
    for i in range(98):
        x = f"%v{i - 1}" if i else "%x"
        ops.append(f"%v{i} = ge.{UNARY[i % len(UNARY)]} {x} : ({kind}) -> {kind}")
    wide = f"tensor<4x{columns}xf32>"
    ops.append(f"%y = ge.matmul %v97, %w : ({kind}, {big}) -> {wide}")
    body = "\n  ".join(ops)
    return f"func.func @main(%x: {kind}) -> {wide} {{\n  {body}\n  func.return %y : {wide}\n}}"


def measure(text: str, repeat: int, megabytes: int = 0) -> tuple[dict[str, float], float]:
    """Returns the least seconds of each pass, and the least peak memory in bytes."""
    runs: list[tuple[dict[str, float], float]] = []
    for _ in range(repeat):
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(megabytes)],
            input=text,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout)
        runs.append((found["times"], found["peak"]))
    names = runs[0][0]
    return {n: min(run[0][n] for run in runs) for n in names}, min(run[1] for run in runs)


def report_chain(sizes: Sequence[int], limit: float, repeat: int) -> bool:
    """Prints seconds and ratios; returns whether all are within the limit."""
    measured = [measure(chain(size), repeat)[0] for size in sizes]
    names = [*measured[0], "all passes"]
    for times in measured:
        times["all passes"] = sum(times.values())
    print(f"chain of {', '.join(map(str, sizes))} ops: seconds, and ratio to linear")
    good = True
    for name in names:
        seconds = [times[name] for times in measured]
        ratio = seconds[-1] / sizes[-1] / (max(seconds[0], 1e-4) / sizes[0])
        bad = ratio > limit and seconds[-1] >= LEAST_SECONDS
        good &= not bad
        shown = " ".join(f"{one:8.4f}" for one in seconds)
        print(f"  {shown}  {ratio:5.2f}  {name}{'  NOT LINEAR' if bad else ''}")
    return good


def report_constant(megabytes: int, seconds: float, times: float, repeat: int) -> bool:
    """Prints the slowest pass and the peak; returns whether both are within their limits."""
    good = True
    size = megabytes << 20
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.truncate(size)
        text = beside_constant(megabytes, file.name)
        base = measure(beside_constant(1, file.name), 1)[1]
        for what, in_memory in (("in a file", 0), ("dense, in memory", megabytes)):
            found, peak = measure(text, repeat, in_memory)
            name = max(found, key=lambda one: found[one])
            good &= found[name] <= seconds and peak - base <= times * size
            print(f"100 ops beside a constant of {megabytes} MiB, {what}:")
            print(f"  slowest pass: {found[name]:.4f} s, {name}")
            above = (peak - base) / size
            print(f"  peak memory: {peak / 2**20:.0f} MiB, {above:.2f} constants above none")
    return good


def main() -> int:
    """Runs both; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 5000, 20000])
    parser.add_argument("--limit", type=float, default=1.3, help="of the ratio to linear")
    parser.add_argument("--constant-mb", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    good = report_chain(args.sizes, args.limit, args.repeat)
    good &= report_constant(args.constant_mb, 0.2, 3.0, args.repeat)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
