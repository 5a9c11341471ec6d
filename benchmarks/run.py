"""Compile time and memory on graphs of real size, beside other optimisers of ONNX models.

    python benchmarks/run.py [--zoo DIR] [--work DIR] [--repeat N] [--peers PYTHON]

Peers are those that the interpreter `--peers` can import: onnxruntime's offline optimisation,
onnxslim, onnxsim, and onnxscript's optimiser. One that cannot work without the weights is left out
where the weights are one sparse file.

Each measurement is a process of its own, best of N runs, interleaved: CPU seconds (user + system)
and peak resident memory of the whole process are the kernel's account of it; *without start* are
those of the same work in a process that has done a small model before, so that nothing is imported
any more. BERT-base is built once by the zoo's own
script (which needs torch); LLaMA-7B's weights are one sparse file, so its graph is all there is.
What is absent is said, with the command that makes it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ZOO = HERE.parent.parent / "shared" / "zoo"
SMALL = HERE.parent / "examples" / "bert_tiny.onnx"
LLAMA_WEIGHTS = 524_288_000
"""Bytes of the file that every large weight of the LLaMA-7B graphs points into."""

OURS = """
import sys
from ge_dialect.tools.start import begin
begin()
from ge_dialect.tools.quick_ir import quicken_ir
quicken_ir()
from ge_dialect.tools.ge_compile import run
def work(model, target):
    run([model, "-o", target, "--quiet"])
"""

ORT = """
import sys, onnxruntime as ort
def work(model, target):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.disable_prepacking", "1")
    if target:
        options.optimized_model_filepath = target
    ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
"""

SLIM = """
import os, sys, tempfile, onnx, onnxslim
def work(model, target):
    slim = onnxslim.slim(onnx.load(model, load_external_data=bool(target)))
    onnx.save(slim, target or os.path.join(tempfile.gettempdir(), "graph.slim"))
"""

SCRIPT = """
import sys, onnx_ir as ir, onnxscript.optimizer
def work(model, target):
    loaded = ir.load(model)
    out = onnxscript.optimizer.optimize(loaded) or loaded
    if target:
        ir.save(out, target)
"""

SIM = """
import sys, onnx, onnxsim
def work(model, target):
    onnx.save(onnxsim.simplify(onnx.load(model))[0], target)
"""

WHOLE = "work(sys.argv[1], sys.argv[2])"

WITHOUT_START = """
import time
work(sys.argv[3], sys.argv[2] and sys.argv[4])
started = time.process_time()
work(sys.argv[1], sys.argv[2])
print("seconds", time.process_time() - started)
"""
"""A small model comes first, so that all modules are there and what is made once is made."""


@dataclass(frozen=True)
class Peer:
    """Another optimiser.

    Attributes:
        name: As the table shows it.
        module: What has to be importable.
        code: Defines `work`, of the path of the model, and of the result, which is empty where
            nothing is to be written.
        needs_weights: Whether it reads every weight.
    """

    name: str
    module: str
    code: str
    needs_weights: bool = False


PEERS = (
    Peer("onnxruntime extended", "onnxruntime", ORT),
    Peer("onnxslim", "onnxslim", SLIM),
    Peer("onnxscript", "onnxscript", SCRIPT),
    Peer("onnxsim", "onnxsim", SIM, needs_weights=True),
)


def available(python: str) -> list[Peer]:
    """Returns the peers that an interpreter can import."""
    found: list[Peer] = []
    for peer in PEERS:
        test = f"sys.exit(importlib.util.find_spec('{peer.module}') is None)"
        command = [python, "-c", f"import importlib.util, sys; {test}"]
        if subprocess.run(command, check=False).returncode == 0:
            found.append(peer)
    return found


@dataclass(frozen=True)
class Measured:
    """What one process cost."""

    cpu_seconds: float
    peak_mb: float
    exit_code: int


def measure(command: Sequence[str]) -> Measured:
    """Runs a command to its end and returns its cost, from the kernel's account of the child.

    Python keeps the byte code of what it imports, as it does where a package is installed.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    pid = os.posix_spawn(
        command[0],
        list(command),
        environment,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(pid, 0)
    cpu = usage.ru_utime + usage.ru_stime
    return Measured(cpu, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status))


def measure_without_start(python: str, code: str, model: Path, target: str, work: Path) -> float:
    """Returns the CPU seconds of a second model in one process, imports left out; NaN where it
    fails."""
    arguments = [str(model), target, str(SMALL), str(work / "small.out")]
    done = subprocess.run(
        [python, "-c", code + WITHOUT_START, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    found = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("seconds ")]
    return float(found[0]) if done.returncode == 0 and found else math.nan


def best(runs: Sequence[Measured]) -> Measured:
    """Returns the run with the least CPU time."""
    return min(runs, key=lambda run: run.cpu_seconds)


def find_bert(zoo: Path, work: Path) -> Path | None:
    """Returns BERT-base at real dimensions, or None where nobody has built it."""
    places = [folder / "big" / "bert.dynamo-static" / "model.onnx" for folder in (work, zoo)]
    return next((place for place in places if place.is_file()), None)


def prepare_llama(zoo: Path, work: Path) -> Path | None:
    """Returns the whole LLaMA-7B graph with its sparse weights beside it, or None without a zoo."""
    source = zoo / "llama7b" / "dynamo-static" / "model.onnx"
    if not source.is_file():
        return None
    folder = work / "llama7b"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, folder / "model.onnx")
    with (folder / "weights.bin").open("wb") as file:
        file.truncate(LLAMA_WEIGHTS)
    return folder / "model.onnx"


def compile_command(model: Path, work: Path) -> list[str]:
    """Returns our compilation of a model, whole process."""
    return [
        sys.executable,
        "-m",
        "ge_dialect.tools.ge_compile",
        str(model),
        "-o",
        str(work / "out.om"),
        "--quiet",
    ]


def report(name: str, model: Path, work: Path, args: argparse.Namespace, sparse: bool) -> None:
    """Measures one model and prints the table of tools and the table of passes."""
    peers = [peer for peer in available(args.peers) if not (sparse and peer.needs_weights)]
    target = "" if sparse else str(work / "peer.onnx")
    runs: dict[str, list[Measured]] = {"ge-compile": [], **{peer.name: [] for peer in peers}}
    later: dict[str, list[float]] = {tool: [] for tool in runs}
    ours_to = str(work / "out.om")
    for _ in range(args.repeat):
        Path(ours_to).unlink(missing_ok=True)  # to take a file away costs as much as to write one
        runs["ge-compile"].append(measure(compile_command(model, work)))
        later["ge-compile"].append(
            measure_without_start(sys.executable, OURS, model, ours_to, work)
        )
        for peer in peers:
            command = [args.peers, "-c", peer.code + WHOLE, str(model), target]
            runs[peer.name].append(measure(command))
            later[peer.name].append(
                measure_without_start(args.peers, peer.code, model, target, work)
            )
    print(f"\n{name}: {model}")
    print(f"  {'':22} {'whole process':>34}   {'without start':>24}")
    ours, ours_later = best(runs["ge-compile"]).cpu_seconds, min(later["ge-compile"])
    for tool, measured in runs.items():
        run, again = best(measured), min(later[tool])
        state = "" if run.exit_code == 0 else f"  exit {run.exit_code}"
        of_it = f"ours is {ours / run.cpu_seconds:5.2f} of it"
        of_that = f"ours is {ours_later / again:5.2f} of it"
        if tool == "ge-compile":
            of_it = of_that = " " * len(of_it)
        print(
            f"  {tool:22} {run.cpu_seconds:6.2f} CPU s  {of_it}   {again:6.2f} CPU s  {of_that}"
            f"  {run.peak_mb:5.0f} MB peak{state}"
        )
    if missing := [peer.name for peer in PEERS if peer not in available(args.peers)]:
        print(f"  not installed for {args.peers}: {', '.join(missing)}")
    with_summary = [*compile_command(model, work), "--summary", str(work / "summary.json")]
    measure(with_summary)
    summary = json.loads((work / "summary.json").read_text())
    for entry in sorted(summary["passes"], key=lambda item: -item["seconds"])[:12]:
        print(f"    {entry['seconds']:7.3f} s  {entry['name']}  {entry['rewrites']} rewrites")
    size = (work / "out.om").stat().st_size / 1e6
    print(f"    {summary['nodes_before']} -> {summary['nodes_after']} nodes, .om of {size:.1f} MB")


def main() -> None:
    """Runs all that can be run here."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--zoo", type=Path, default=ZOO, help="folder of the zoo")
    parser.add_argument("--work", type=Path, default=HERE.parent / "build" / "bench")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peers", default=sys.executable, help="interpreter that has the peers")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    bert = find_bert(args.zoo, args.work)
    if bert is None:
        print(
            "BERT-base is not there; build it with torch and transformers installed:\n"
            f"  cp {args.zoo}/*.py {args.work} && cd {args.work} && python make_zoo.py medium bert"
        )
    else:
        report("BERT-base", bert, args.work, args, sparse=False)
    llama = prepare_llama(args.zoo, args.work)
    if llama is None:
        print(f"LLaMA-7B is not there: no zoo at {args.zoo}")
    else:
        report("LLaMA-7B", llama, args.work, args, sparse=True)


if __name__ == "__main__":
    main()
