"""Whether compiling is linear: chains of 1k to 50k ops, and 100 ops beside a huge constant.

    python benchmarks/scaling.py [--sizes 1000 5000 20000 50000] [--limit 1.3] [--constant-mb 64]

Each measurement is a process of its own, best of `--repeat` runs, of CPU seconds. For the chain:
seconds per op at each size against the smallest, for every pass of the pipeline and for all of it;
then those of reading an ONNX model, of its passes and of writing the `.om` file, start left out.
For the constant: seconds of each pass, and peak memory against its size; then seconds and peak
memory of a whole compilation of an ONNX model, the constant inside it, against one of 1 MiB. Exits
with 1 where a limit is broken.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

LEAST_MICROSECONDS = 6.0
"""A pass that takes less an op at the largest size is not judged: whether the graph is in the
processor's cache decides then, not the pass."""

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

WHOLE = """
import json, resource, sys, time
from ge_dialect.tools.start import begin
begin()
from ge_dialect.tools.quick_ir import quicken_ir
quicken_ir()
from ge_dialect.tools import api
api.compile(sys.argv[1]).save(sys.argv[3])
started = time.process_time()
module, _ = api.load_model(sys.argv[2])
loaded = time.process_time()
plan = api.compile(module)
compiled = time.process_time()
plan.save(sys.argv[3])
saved = time.process_time()
times = {"read": loaded - started, "passes": compiled - loaded, "write": saved - compiled}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"times": times, "peak": peak}))
"""
HERE = Path(__file__).resolve().parent
SMALL = HERE.parent / "examples" / "bert_tiny.onnx"

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


def save_apart(what: str, size: int, path: Path) -> None:
    """Calls a function of this file in a process of its own: the memory it takes would be part of
    the peak of every later child."""
    code = f"import sys; sys.path.insert(0, {str(HERE)!r}); from pathlib import Path\n"
    code += f"import scaling; scaling.{what}({size}, Path({str(path)!r}))"
    subprocess.run([sys.executable, "-c", code], check=True)


def save_chain(count: int, path: Path) -> None:
    """Writes `chain` as an ONNX model whose nodes have names."""
    import onnx
    from onnx import TensorProto as T
    from onnx import helper

    names = [kind.capitalize() for kind in UNARY]
    nodes: list[onnx.NodeProto] = []
    for i in range(count):
        x = f"v{i - 1}" if i else "x"
        more = {5: ["flat"], 6: ["square"], 7: [f"v{i - 4}"]}.get(i % 8, [])
        kind = {5: "Reshape", 6: "Reshape", 7: "Add"}.get(i % 8, names[i % len(names)])
        nodes.append(helper.make_node(kind, [x, *more], [f"v{i}"], name=f"n{i}"))
    shapes = {"flat": [64], "square": [8, 8]}
    constants = [helper.make_tensor(n, T.INT64, [len(s)], s) for n, s in shapes.items()]
    ends = [helper.make_tensor_value_info(n, T.FLOAT, [8, 8]) for n in ("x", f"v{count - 1}")]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path.write_bytes(model.SerializeToString())


def save_beside_constant(megabytes: int, path: Path) -> None:
    """Writes `beside_constant` as an ONNX model that holds the constant."""
    import numpy as np
    from onnx import TensorProto as T
    from onnx import helper, numpy_helper

    columns = megabytes * 256
    nodes = [
        helper.make_node("Tanh", [f"v{i - 1}" if i else "x"], [f"v{i}"], name=f"n{i}")
        for i in range(98)
    ]
    nodes.append(helper.make_node("MatMul", ["v97", "w"], ["y"], name="n98"))
    weight = np.arange(1024 * columns, dtype=np.float32).reshape(1024, columns)
    graph = helper.make_graph(
        nodes,
        "constant",
        [helper.make_tensor_value_info("x", T.FLOAT, [4, 1024])],
        [helper.make_tensor_value_info("y", T.FLOAT, [4, columns])],
        [numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path.write_bytes(model.SerializeToString())


def measure_whole(model: Path, repeat: int) -> tuple[dict[str, float], float]:
    """Returns the least seconds of each step of a compilation, and the least peak in bytes."""
    arguments = [str(SMALL), str(model), str(model.with_suffix(".om"))]
    return best([sys.executable, "-c", WHOLE, *arguments], "", repeat)


def measure(text: str, repeat: int, megabytes: int = 0) -> tuple[dict[str, float], float]:
    """Returns the least seconds of each pass, and the least peak memory in bytes."""
    return best([sys.executable, "-c", CHILD, str(megabytes)], text, repeat)


def best(command: Sequence[str], text: str, repeat: int) -> tuple[dict[str, float], float]:
    """Runs a child some times, and returns the least of each of its figures."""
    runs: list[tuple[dict[str, float], float]] = []
    for _ in range(repeat):
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True)
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
        bad = ratio > limit and seconds[-1] / sizes[-1] * 1e6 >= LEAST_MICROSECONDS
        good &= not bad
        shown = " ".join(f"{one:8.4f}" for one in seconds)
        print(f"  {shown}  {ratio:5.2f}  {name}{'  NOT LINEAR' if bad else ''}")
    return good


def report_models(sizes: Sequence[int], limit: float, most_ms: float, repeat: int) -> bool:
    """Prints what ONNX models of these sizes cost from file to file; returns whether all are
    within the limits: ratio to linear, and milliseconds a node."""
    print(f"ONNX models of {', '.join(map(str, sizes))} nodes to .om, without start: seconds")
    print(f"  {'read':>7} {'passes':>7} {'write':>7} {'all':>7}  ms a node  ratio to linear")
    good, first = True, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = Path(folder) / f"chain{size}.onnx"
            save_apart("save_chain", size, path)
            times = measure_whole(path, repeat)[0]
            total = sum(times.values())
            each = total / size * 1e3
            first = first or each
            bad = each > most_ms or each / first > limit
            good &= not bad
            shown = " ".join(f"{one:7.3f}" for one in (*times.values(), total))
            print(f"  {shown}  {each:9.3f}  {each / first:6.2f}{'  OVER THE LIMIT' if bad else ''}")
    return good


def report_model_with_constant(megabytes: int, limit: float, repeat: int) -> bool:
    """Prints what a constant inside an ONNX model costs, against one of 1 MiB; returns whether the
    seconds are within the limit, and the memory within a few MiB of the constant."""
    found: list[tuple[float, float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        for size in (1, megabytes):
            path = Path(folder) / f"constant{size}.onnx"
            save_apart("save_beside_constant", size, path)
            times, peak = measure_whole(path, repeat)
            found.append((sum(times.values()), times["write"], peak / 2**20))
    (small, small_write, low), (large, write, high) = found
    ratio = (large - write) / (small - small_write)
    print(f"ONNX model of 99 nodes with a constant of {megabytes} MiB in it, against 1 MiB:")
    print(
        f"  {large - write:.3f} s to read and compile, {ratio:.2f} of {small - small_write:.3f} s"
    )
    print(f"  {write:.3f} s to write {megabytes} MiB, against {small_write:.3f} s")
    print(f"  peak memory: {high:.0f} MiB, {high - low:.0f} more")
    return ratio <= limit and high - low <= megabytes + 16


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
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 5000, 20000, 50000])
    parser.add_argument("--limit", type=float, default=1.3, help="of the ratio to linear")
    parser.add_argument("--most-ms", type=float, default=0.5, help="a node, from file to file")
    parser.add_argument("--constant-mb", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    good = report_chain(args.sizes, args.limit, args.repeat)
    good &= report_models(args.sizes, args.limit, args.most_ms, args.repeat)
    good &= report_model_with_constant(args.constant_mb, args.limit, args.repeat)
    good &= report_constant(args.constant_mb, 0.2, 3.0, args.repeat)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
