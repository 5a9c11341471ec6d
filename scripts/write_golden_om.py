"""Writes `tests/golden/VERSION-NAME.*` for the version of the plan format that is written now.

    python scripts/write_golden_om.py

To be run once for each version, when it is released: what is there already is never replaced.
Beside each `.om` file stand the text of its plan (`.mlir`) and inputs and outputs (`.npz`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from xdsl.parser import Parser

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ge_dialect.lowering.om.file import read_om  # noqa: E402
from ge_dialect.lowering.om.versions import PLAN_VERSION  # noqa: E402
from ge_dialect.tools.api import compile, load, make_context  # noqa: E402
from ge_dialect.tools.runtime.npz import write_npz  # noqa: E402
from ge_dialect.tools.runtime.ports import random_feeds  # noqa: E402

FOLDER = ROOT / "tests" / "golden"
T = "tensor<4xf32>"
GRAPHS = {
    "weights": """
func.func @main(%x: tensor<2x300xf32> {ge.name = "x"}) -> (tensor<2x300xf32> {ge.name = "y"},
                                                           tensor<2x300xf16> {ge.name = "z"}) {
  %w = ge.constant dense<2.5> : tensor<300xf32> loc("layer/weight")
  %c = ge.constant dense<"0x0000807F"> : tensor<1xf32>
  %a = ge.add %x, %w : (tensor<2x300xf32>, tensor<300xf32>) -> tensor<2x300xf32> loc("layer/add")
  %m = ge.minimum %a, %c : (tensor<2x300xf32>, tensor<1xf32>) -> tensor<2x300xf32>
  %s = ge.softmax %x axis -1 : (tensor<2x300xf32>) -> tensor<2x300xf32> loc("layer/softmax")
  %h = ge.cast %s : (tensor<2x300xf32>) -> tensor<2x300xf16>
  func.return %m, %h : tensor<2x300xf32>, tensor<2x300xf16>
}""",
    "control": f"""
func.func @main(%c: tensor<i1> {{ge.name = "c"}}, %n: tensor<i64> {{ge.name = "n"}},
                %x: {T} {{ge.name = "x"}})
    -> ({T} {{ge.name = "y"}}, tensor<?x4xf32> {{ge.name = "s"}}) {{
  %yes = ge.constant dense<true> : tensor<i1>
  %l, %s = ge.loop %n, %yes carried (%x)
    : (tensor<i64>, tensor<i1>, {T}) -> ({T}, tensor<?x4xf32>) {{
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: {T}):
    %t = ge.add %v, %v : ({T}, {T}) -> {T}
    ge.yield %yes, %t, %t : tensor<i1>, {T}, {T}
  }}
  %b = ge.if %c : tensor<i1> -> {T} then {{
    %r = ge.relu %l : ({T}) -> {T}
    ge.yield %r : {T}
  }} else {{
    ge.yield %x : {T}
  }}
  func.return %b, %s : {T}, tensor<?x4xf32>
}}""",
}


def main() -> None:
    """Writes what is missing."""
    FOLDER.mkdir(exist_ok=True)
    version = ".".join(map(str, PLAN_VERSION))
    for name, graph in GRAPHS.items():
        stem = FOLDER / f"{version}-{name}"
        if stem.with_name(f"{stem.name}.om").exists():
            print(f"{stem}.om is there and stays")
            continue
        module = Parser(make_context(), graph).parse_module()
        compile(module, level=1, streams=2, target="Ascend910B1").save(f"{stem}.om")
        with read_om(f"{stem}.om") as file:
            Path(f"{stem}.mlir").write_text(file.plan())
        plan = load(f"{stem}.om")
        feeds = random_feeds(plan.inputs, 0)
        if "n" in feeds:
            feeds["n"] = np.array(3)
        outputs = plan.run(feeds)
        arrays = {f"input.{key}": array for key, array in feeds.items()}
        write_npz(f"{stem}.npz", arrays | {f"output.{key}": a for key, a in outputs.items()})
        print(f"{stem}.om")


if __name__ == "__main__":
    main()
