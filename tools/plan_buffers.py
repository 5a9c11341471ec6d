"""Plans the buffers of a table: `python -m ge_dialect.tools.plan_buffers FILE.csv --capacity N`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.memory.api import EFFORT
from ge_dialect.lowering.memory.problem import Plan
from ge_dialect.tools.arguments import Parser
from ge_dialect.tools.cli import check_writable, read_file, run_tool, write_atomically

PROGRAM = "python -m ge_dialect.tools.plan_buffers"

EPILOG = """\
FILE.csv has the columns id, lower, upper and size, a line a buffer; lives are half-open, sizes in
bytes. The plan is the same table with a column offset. The exit code is 1 where the buffers do not
fit the capacity.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool; returns its exit code."""
    return run_tool(PROGRAM, _main, argv)


def _main(argv: Sequence[str] | None) -> int:
    from ge_dialect.lowering.memory.check import check_plan
    from ge_dialect.lowering.memory.heuristics import solve
    from ge_dialect.lowering.memory.table import read_problem, write_problem

    parser = Parser(prog=PROGRAM, description="Plans the buffers of a table.", epilog=EPILOG)
    parser.add_argument("table", metavar="FILE.csv")
    parser.add_argument("--capacity", type=_count, help="bytes that the plan must fit into")
    parser.add_argument("--alignment", type=_count, default=1, help="of all offsets, in bytes")
    parser.add_argument(
        "--effort", type=_count, default=EFFORT, help="nodes of exact search for a lower peak"
    )
    parser.add_argument("--output", metavar="FILE.csv", help="where the plan goes; stdout if none")
    args = parser.parse_args(argv)
    if args.alignment & (args.alignment - 1) or not args.alignment:
        parser.error(f"expected --alignment to be a power of two, got {args.alignment}")
    if args.output is not None:
        check_writable(args.output)
    try:
        text = read_file(args.table).decode("utf-8")
    except UnicodeDecodeError as error:
        raise GEError("GE0501", f"'{args.table}' is not text: byte {error.start}") from error
    problem = read_problem(text, args.capacity, args.alignment)
    plan = solve(problem, args.effort)
    check_plan(problem, plan)
    table = write_problem(problem, plan)
    if args.output is None:
        sys.stdout.write(table)
    else:
        write_atomically(args.output, table.encode())
    sys.stderr.write(_summary(len(problem.buffers), plan) + "\n")
    return 0


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"expected a number from 0 on, got '{text[:40]}'")
    return int(text)


def _summary(count: int, plan: Plan) -> str:
    state = "optimal" if plan.optimal else f"{plan.gap:.1%} above it"
    return f"{count} buffers, peak {plan.peak} bytes, lower bound {plan.lower_bound} ({state})"


if __name__ == "__main__":
    sys.exit(main())
