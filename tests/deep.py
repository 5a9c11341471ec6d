"""Compiles deep models twice: repeated layers optimised once, and each by itself.

    python -m tests.deep [FOLDER ...]

The models come from `python -m tests.zoo.export_architectures --layers 8`, in `build/deep/`. Says
of each whether layers were outlined and whether the plans are the same, and fails where the outputs
of an outlined one are not those of onnxruntime.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

from ge_dialect.diagnostics import GEError
from ge_dialect.passes.repeats.outline_repeats import NAME
from ge_dialect.printing import exact_text
from ge_dialect.tools import api, ge_run
from ge_dialect.tools.api import CompiledPlan

DEEP = Path(__file__).resolve().parents[1] / "build" / "deep"


def difference(plans: list[CompiledPlan]) -> str:
    """Returns in what two plans differ."""
    texts = [exact_text(plan.module) for plan in plans]
    if texts[0] != texts[1]:
        return f"{plans[0].nodes_after} and {plans[1].nodes_after} kernels"
    located = [exact_text(plan.module, locations=True) for plan in plans]
    return "the same plan" if located[0] == located[1] else "the same plan, other locations"


def is_right(plan: CompiledPlan, data: Path) -> bool:
    """Whether a plan gives the outputs of onnxruntime."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "model.om"
        plan.save(target)
        outputs = [f"--compare={data}", "--rtol=1e-3", "--atol=1e-3"]
        with redirect_stdout(StringIO()):
            return ge_run.main_with([str(target), f"--inputs={data}", *outputs]) == 0


def check(folder: Path) -> str:
    """Compiles a model both ways; returns what there is to say of it.

    Raises:
        GEError: It cannot be compiled.
    """
    plans: list[CompiledPlan] = []
    seconds: list[float] = []
    for outline in (True, False):
        started = time.process_time()
        plans.append(api.compile(folder / "model.onnx", outline=outline))
        seconds.append(time.process_time() - started)
    if NAME not in [one.name for one in plans[0].passes]:
        return "not outlined"
    right = "right" if is_right(plans[0], folder / "io.npz") else "WRONG"
    return f"outlined, {difference(plans)}, {right}, {seconds[0]:.2f} and {seconds[1]:.2f} s"


def main() -> int:
    """Checks the models that are named, all where none is."""
    parser = argparse.ArgumentParser(description="Compile deep models with and without outlining.")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    folders: list[Path] = parser.parse_args().folders or sorted(DEEP.iterdir())
    np.seterr(all="ignore")
    said: Counter[str] = Counter()
    for folder in folders:
        try:
            text = check(folder)
        except GEError as error:
            text = f"WRONG: {error}"
        said["WRONG" if "WRONG" in text else text.split(",")[0]] += 1
        print(f"{folder.name}: {text}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in said.items()))
    return 1 if said["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
