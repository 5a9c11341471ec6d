"""Runs the fuzzer and reports executions, what became of them, and findings.

    python -m tests.fuzz [--executions N] [--seconds S] [--jobs N] [--seed N] [TARGET ...]

A finding is anything but a clean error: another exception, a message of several lines, more than
`MEMORY` bytes, more than `SECONDS` seconds, the death of a process. Each is written to
`build/fuzz/`, from where `python -m tests.fuzz --replay FILE` runs it again. The exit status is 1
where there is one. The same seed makes the same mutants.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from types import FrameType
from typing import TypeAlias

from ge_dialect.diagnostics import GEError
from tests.fuzz.targets import TARGETS, Target

ROOT = Path(__file__).resolve().parent.parent.parent
FINDINGS = ROOT / "build" / "fuzz"
MEMORY = 3 << 30
"""Bytes of address space of a process, what it has loaded included."""

SECONDS = 20
"""Of CPU time for one execution: a busy machine makes nothing wrong."""

WAITING = 200
"""Seconds after which one that does nothing is taken to hang."""

BATCH = 500
MAX_MESSAGE = 2000
SUFFIXES = {target.suffix: name for name, target in TARGETS.items()}


Job: TypeAlias = tuple[str, int, int, float]
"""Name of a target, seed, number of executions, and the clock's time to stop at."""


class TooSlowError(BaseException):
    """One execution takes too long; no `Exception`, so that nobody handles it."""


@dataclass
class Tally:
    """What came of executions.

    Attributes:
        executions: How many.
        outcomes: How often each code came, or `loaded`.
        findings: What is wrong, by the place where it happened, with the file that shows it.
    """

    executions: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    findings: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, other: Tally) -> None:
        """Adds those of another one."""
        self.executions += other.executions
        self.outcomes += other.outcomes
        self.findings = other.findings | self.findings


def _too_slow(signum: int, frame: FrameType | None) -> None:
    raise TooSlowError


def limit_memory() -> None:
    """Bounds the address space of this process."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))


def execute(target: Target, path: Path) -> tuple[str, str]:
    """Uses one file; returns the outcome, and what is wrong, "" for nothing."""
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(WAITING)
    try:
        target.use(path)
    except GEError as error:
        text = str(error)
        if "\n" in text or len(text) > MAX_MESSAGE:
            return error.code, f"{error.code} with {len(text)} characters in several lines"
        return error.code, ""
    except TooSlowError as error:
        return "slow", f"more than {SECONDS} s at {_place(error)}"
    except BaseException as error:
        return "crash", f"{type(error).__name__} at {_place(error)}: {str(error)[:100]!r}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
    return "loaded", ""


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    inside = str(ROOT / ".venv")
    own = [
        frame
        for frame in frames
        if frame.filename.startswith(str(ROOT)) and not frame.filename.startswith(inside)
    ]
    last, mine = frames[-1], (own or frames)[-1]
    return f"{Path(last.filename).name}:{last.lineno} from {Path(mine.filename).name}:{mine.lineno}"


def run_batch(job: Job) -> Tally:
    """Mutates and executes; returns what came of it.

    Args:
        job: What to do.
    """
    name, seed, count, until = job
    limit_memory()
    target, tally = TARGETS[name], Tally()
    seeds, rng = target.seeds(), Random(f"{name} {seed}")
    with tempfile.TemporaryDirectory(prefix="ge-fuzz-") as folder:
        path = Path(folder) / f"mutant{target.suffix}"
        for _ in range(count):
            if time.monotonic() > until:
                break
            data = target.mutate(rng.choice(seeds), rng)
            path.write_bytes(data)
            outcome, finding = execute(target, path)
            tally.executions += 1
            tally.outcomes[outcome] += 1
            if finding and finding not in tally.findings:
                tally.findings[finding] = str(_kept(data, name, target.suffix))
    return tally


def _kept(data: bytes, name: str, suffix: str) -> Path:
    FINDINGS.mkdir(parents=True, exist_ok=True)
    path = FINDINGS / f"{name}-{sha256(data).hexdigest()[:12]}{suffix}"
    path.write_bytes(data)
    return path


def batches(name: str, executions: int, seed: int, until: float) -> Iterator[Job]:
    """Yields the jobs of a target; the seeds follow each other."""
    for start in range(0, executions, BATCH):
        yield name, seed * 1_000_000 + start, min(BATCH, executions - start), until


def fuzz(name: str, executions: int, seed: int, jobs: int, seconds: float) -> Tally:
    """Fuzzes one kind of input.

    Args:
        name: Of the target.
        executions: At most.
        seed: Of the mutations.
        jobs: Processes; a batch that dies is a finding and does not end the others.
        seconds: At most.
    """
    tally = Tally()
    work = batches(name, executions, seed, time.monotonic() + seconds)
    if jobs == 0:
        for job in work:
            tally.add(run_batch(job))
        return tally
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
        try:
            for part in pool.map(run_batch, work):
                tally.add(part)
        except BrokenProcessPool:
            tally.findings["a process died"] = f"seed {seed}, after {tally.executions} executions"
    return tally


def replay(paths: list[Path]) -> int:
    """Executes files again and shows the traceback; returns how many are findings."""
    limit_memory()
    found = 0
    for path in paths:
        outcome, finding = execute(target := TARGETS[SUFFIXES[path.suffix]], path)
        print(f"{path}: {outcome} {finding}")
        found += bool(finding)
        if outcome == "crash":
            try:
                target.use(path)
            except Exception:
                traceback.print_exc()
    return found


def main() -> None:
    """Fuzzes all targets, or those that are named."""
    parser = argparse.ArgumentParser(description="Mutates inputs and loads them.")
    parser.add_argument("targets", nargs="*", default=[], metavar="TARGET", help=str([*TARGETS]))
    parser.add_argument("--executions", type=int, default=200_000, help="of .om files")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="at most, a target")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--replay", nargs="+", type=Path, metavar="FILE")
    args = parser.parse_args()
    if args.replay:
        sys.exit(replay(args.replay) > 0)
    total = Tally()
    for name in args.targets or TARGETS:
        count = max(1, int(args.executions * TARGETS[name].share))
        started = time.monotonic()
        tally = fuzz(name, count, args.seed, args.jobs, args.seconds)
        total.add(tally)
        outcomes = ", ".join(f"{code} {count}" for code, count in tally.outcomes.most_common(8))
        print(
            f"{name:8} {tally.executions:7d} executions in {time.monotonic() - started:.0f} s,"
            f" {len(tally.findings)} findings: {outcomes}",
            flush=True,
        )
        for finding, path in sorted(tally.findings.items()):
            print(f"  {path}: {finding}", flush=True)
    print(f"{total.executions} executions, {len(total.findings)} findings")
    sys.exit(bool(total.findings))
