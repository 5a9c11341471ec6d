"""What a layer more costs: stacks of equal transformer layers, optimised once and one by one.

    python benchmarks/repeats.py [--layers 8 16 32 64] [--repeat 3]

Each measurement is a process of its own, best of `--repeat` runs: seconds of the passes that layers
can share, copying included, and CPU seconds of the whole compilation. Fails where the two ways do
not give the same plan.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

CHILD = """
import gc, hashlib, json, sys, time
gc.set_threshold(10_000_000, 50, 50)  # as the tools do
from xdsl.parser import Parser
from ge_dialect.printing import exact_text
from ge_dialect.tools import api, running
outline = sys.argv[1] == "True"
module = Parser(api.make_context(), sys.stdin.read()).parse_module()
started = time.process_time()
plan = api.compile(module, outline=outline)
total = time.process_time() - started
shared = {*running.LOCAL, *running.FUSING, "ge-outline-repeats"}
passes = sum(one.seconds for one in plan.passes if one.name in shared)
digest = hashlib.sha1(exact_text(plan.module).encode()).hexdigest()
print(json.dumps({"passes": passes, "total": total, "digest": digest}))
"""

ROWS, WIDE, NARROW = 16, 32, 64
X = f"tensor<1x{ROWS}x{WIDE}xf32>"
ROW = f"tensor<1x{ROWS}x1xf32>"
SQUARE = f"tensor<{WIDE}x{WIDE}xf32>"
UP, DOWN = f"tensor<{WIDE}x{NARROW}xf32>", f"tensor<{NARROW}x{WIDE}xf32>"
INNER = f"tensor<1x{ROWS}x{NARROW}xf32>"
HEADS = f"tensor<1x{ROWS}x4x8xf32>"
TURNED = f"tensor<1x4x{ROWS}x8xf32>"
KEYS = f"tensor<1x4x8x{ROWS}xf32>"
SCORES = f"tensor<1x4x{ROWS}x{ROWS}xf32>"


def norm(name: str, x: str, weight: str) -> list[str]:
    """RMS norm, spelled in primitive ops as exporters do."""
    return [
        f"%{name}c = ge.constant dense<2.0> : tensor<f32>",
        f"%{name}e = ge.constant dense<1.0e-06> : tensor<f32>",
        f"%{name}s = ge.pow %{x}, %{name}c : ({X}, tensor<f32>) -> {X}",
        f"%{name}m = ge.reduce_mean %{name}s axes [-1] keepdims true : ({X}) -> {ROW}",
        f"%{name}a = ge.add %{name}m, %{name}e : ({ROW}, tensor<f32>) -> {ROW}",
        f"%{name}q = ge.sqrt %{name}a : ({ROW}) -> {ROW}",
        f"%{name}r = ge.reciprocal %{name}q : ({ROW}) -> {ROW}",
        f"%{name}n = ge.mul %{x}, %{name}r : ({X}, {ROW}) -> {X}",
        f"%{name} = ge.mul %{name}n, %{weight} : ({X}, tensor<{WIDE}xf32>) -> {X}",
    ]


def heads(name: str, x: str, weight: str) -> list[str]:
    """A projection, split into heads."""
    return [
        f"%{name}p = ge.matmul %{x}, %{weight} : ({X}, {SQUARE}) -> {X}",
        f"%{name}h = ge.reshape %{name}p : ({X}) -> {HEADS}",
        f"%{name} = ge.transpose %{name}h perm [0, 2, 1, 3] : ({HEADS}) -> {TURNED}",
    ]


def layer(i: int, x: str) -> list[str]:
    """One layer: attention and a gated feed-forward block, each with its norm and residual."""
    p = f"l{i}"
    return [
        *norm(f"{p}n1", x, f"{p}w1"),
        *heads(f"{p}q", f"{p}n1", f"{p}wq"),
        *heads(f"{p}k", f"{p}n1", f"{p}wk"),
        *heads(f"{p}v", f"{p}n1", f"{p}wv"),
        f"%{p}kt = ge.transpose %{p}k perm [0, 1, 3, 2] : ({TURNED}) -> {KEYS}",
        f"%{p}s = ge.matmul %{p}q, %{p}kt : ({TURNED}, {KEYS}) -> {SCORES}",
        f"%{p}d = ge.constant dense<0.35355339> : tensor<f32>",
        f"%{p}z = ge.mul %{p}s, %{p}d : ({SCORES}, tensor<f32>) -> {SCORES}",
        f"%{p}f = ge.softmax %{p}z axis -1 : ({SCORES}) -> {SCORES}",
        f"%{p}o = ge.matmul %{p}f, %{p}v : ({SCORES}, {TURNED}) -> {TURNED}",
        f"%{p}b = ge.transpose %{p}o perm [0, 2, 1, 3] : ({TURNED}) -> {HEADS}",
        f"%{p}j = ge.reshape %{p}b : ({HEADS}) -> {X}",
        f"%{p}y = ge.matmul %{p}j, %{p}wo : ({X}, {SQUARE}) -> {X}",
        f"%{p}r = ge.add %{x}, %{p}y : ({X}, {X}) -> {X}",
        *norm(f"{p}n2", f"{p}r", f"{p}w2"),
        f"%{p}g = ge.matmul %{p}n2, %{p}wg : ({X}, {UP}) -> {INNER}",
        f"%{p}gs = ge.sigmoid %{p}g : ({INNER}) -> {INNER}",
        f"%{p}gg = ge.mul %{p}g, %{p}gs : ({INNER}, {INNER}) -> {INNER}",
        f"%{p}u = ge.matmul %{p}n2, %{p}wu : ({X}, {UP}) -> {INNER}",
        f"%{p}m = ge.mul %{p}gg, %{p}u : ({INNER}, {INNER}) -> {INNER}",
        f"%{p}t = ge.matmul %{p}m, %{p}wd : ({INNER}, {DOWN}) -> {X}",
        f"%{p}x = ge.add %{p}r, %{p}t : ({X}, {X}) -> {X}",
    ]


def stack(layers: int) -> str:
    """A function of so many layers, whose weights are its arguments."""
    kinds = {"w1": f"tensor<{WIDE}xf32>", "w2": f"tensor<{WIDE}xf32>", "wg": UP, "wu": UP}
    kinds |= {"wd": DOWN} | dict.fromkeys(("wq", "wk", "wv", "wo"), SQUARE)
    arguments = [f"%x: {X}"]
    lines: list[str] = []
    value = "x"
    for i in range(layers):
        arguments += [f"%l{i}{name}: {kind}" for name, kind in kinds.items()]
        lines += layer(i, value)
        value = f"l{i}x"
    body = "\n  ".join([*lines, f"func.return %{value} : {X}"])
    return f"func.func @main({', '.join(arguments)}) -> {X} {{\n  {body}\n}}"


def measure(text: str, outline: bool, repeat: int) -> dict[str, float | str]:
    """Returns the best of some runs."""
    runs = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", CHILD, str(outline)],
                input=text,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            ).stdout
        )
        for _ in range(repeat)
    ]
    return min(runs, key=lambda run: run["total"])


def main() -> int:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--layers", type=int, nargs="+", default=[8, 16, 32, 64])
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    print("layers    ops   passes: once  each    compilation: once  each   same plan")
    same = True
    for layers in args.layers:
        text = stack(layers)
        once, each = (measure(text, outline, args.repeat) for outline in (True, False))
        same &= once["digest"] == each["digest"]
        print(
            f"{layers:6} {text.count(' = ge.'):6} {once['passes']:14.3f} {each['passes']:5.3f}"
            f" {once['total']:18.3f} {each['total']:5.3f}   {once['digest'] == each['digest']}"
        )
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
