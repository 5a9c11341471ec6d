"""Runs ONNX's backend tests through the whole pipeline and prints a table.

    python -m tests.conformance.run [--jobs N] [--only PATTERN] [--suite NAME] [--write]

A model goes from ONNX through all passes and an `.om` file to the reference runtime, which
overwrites dead bytes; outputs are compared by ONNX's own runner, at its tolerances. A run of all
tests also compares docs/conformance.md with what it found; `--write` brings it in step.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from tests.conformance.exclusions import EXCLUSIONS
from tests.conformance.page import is_reproducible, page, table
from tests.conformance.suites import SUITES, Outcome, Test, check, collect

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "conformance.md"
_CHUNK = 8

_tests: list[Test] = []
"""What forked workers inherit: the tests are functions, which no pipe carries."""


def _check(index: int) -> Outcome:
    return check(_tests[index])


def run(tests: Sequence[Test], jobs: int) -> list[Outcome]:
    """Returns what came of each test, in order."""
    _tests[:] = tests
    if jobs == 1:
        return [check(test) for test in tests]
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        return list(pool.imap(_check, range(len(tests)), chunksize=_CHUNK))


def problems_of_all(outcomes: Sequence[Outcome], *, write: bool) -> Iterator[str]:
    """Yields what a run of all tests finds beside their failures; writes the page if asked to."""
    if not is_reproducible():
        return
    for exclusion in EXCLUSIONS:
        if not any(exclusion.matches(outcome.name) for outcome in outcomes):
            yield f"exclusion '{exclusion.pattern}' matches no test"
    text = page(outcomes)
    if write:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        yield f"docs/{PAGE.name} is not in step; --write brings it in step"


def main() -> int:
    """Prints failures and the table; returns 1 where something failed."""
    parser = argparse.ArgumentParser(description="Run ONNX's backend tests.")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--only", default="*", help="names of tests, as a glob")
    parser.add_argument("--suite", choices=SUITES.values(), help="one of the suites")
    parser.add_argument("--write", action="store_true", help="bring docs/conformance.md in step")
    args = parser.parse_args()
    started = time.perf_counter()
    everything = collect(ROOT / "build" / "onnx")
    tests = [
        test
        for test in everything
        if fnmatchcase(test.name, args.only) and args.suite in (None, test.suite)
    ]
    outcomes = run(tests, args.jobs)
    problems = [f"{o.suite} {o.name}: {o.why}" for o in outcomes if o.status == "failed"]
    if len(tests) == len(everything):
        problems += problems_of_all(outcomes, write=args.write)
    print("".join(f"FAIL {problem}\n" for problem in problems) + table(outcomes))
    print(f"{len(tests)} tests in {time.perf_counter() - started:.0f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
