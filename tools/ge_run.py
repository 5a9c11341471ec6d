"""`ge-run`: executes a compiled model with the reference runtime, and checks the results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ge_dialect.tools.arguments import Parser, refuse_unknown
from ge_dialect.tools.cli import check_writable, run_tool, write_atomically
from ge_dialect.tools.start import begin

if TYPE_CHECKING:
    import numpy.typing as npt

    from ge_dialect.tools.runtime.compare import Comparison
    from ge_dialect.tools.runtime.executor import Executor, TaskTime

    Arrays = Mapping[str, npt.NDArray[Any]]

EPILOG = """\
An .npz file holds arrays by name: 'x', or 'input.x' and 'output.y', so that one file can serve
--inputs and --compare. Shapes and types have to be exactly those of the model. What numpy files
cannot name (bf16, f8, i4) is stored as raw bytes, V1 or V2.

--compare passes where |got - want| <= atol * scale + rtol * |want| for every element, with
scale = max(1, max |want|); NaN equals NaN. Tolerances by the type of the output:
  float64            rtol 1e-9  atol 1e-9
  float32            rtol 1e-4  atol 1e-5
  float16, bfloat16  rtol 2e-2  atol 2e-2
  anything else      exact
--rtol and --atol override them for all numbers. The exit code is 1 where an output differs.
"""


def make_parser() -> Parser:
    """Returns the parser of the tool's arguments."""
    parser = Parser(
        prog="ge-run",
        description="Executes a compiled model with the reference runtime.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("model", metavar="OUT.om", help="what ge-compile wrote")
    parser.add_argument("--inputs", metavar="FILE.npz", help="read the inputs from here")
    parser.add_argument(
        "--random-inputs",
        metavar="SEED",
        type=_natural,
        help="make the inputs that are not given: normal floats, integers 0 or 1",
    )
    parser.add_argument("--outputs", metavar="FILE.npz", help="write the outputs here")
    parser.add_argument("--compare", metavar="REF.npz", help="compare the outputs with these")
    parser.add_argument("--rtol", type=_tolerance, help="relative tolerance of --compare")
    parser.add_argument("--atol", type=_tolerance, help="absolute tolerance of --compare")
    _add_run(parser)
    return parser


def _add_run(parser: Parser) -> None:
    parser.add_argument(
        "--schedule-seed",
        metavar="N",
        type=_natural,
        help="run the streams on one thread, in a random order that the events allow",
    )
    parser.add_argument(
        "--poison",
        action="store_true",
        help="fill memory with 0xFF before the run, and each buffer after its last use",
    )
    parser.add_argument(
        "--profile", action="store_true", help="print the time of each task, longest first"
    )
    parser.add_argument(
        "--trace",
        metavar="FILE",
        help="write when each task ran on the host, as a trace for Perfetto or Chrome, JSON",
    )
    parser.add_argument(
        "--print-inputs", action="store_true", help="print inputs and outputs, and stop"
    )


def _natural(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise argparse.ArgumentTypeError(f"expected a number from 0 on, got '{text}'")
    return int(text)


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number from 0 on, such as 1e-3, got '{text}'")
    return value


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Returns the arguments.

    Raises:
        GEError: One is unknown or wrong.
    """
    parser = make_parser()
    args, unknown = parser.parse_known_args(argv)
    refuse_unknown(parser, unknown)
    if args.compare is None and (args.rtol is not None or args.atol is not None):
        parser.error("--rtol and --atol need --compare")
    return args


def main_with(argv: Sequence[str] | None) -> int:
    """Runs the tool; errors are exceptions."""
    args = parse(argv)
    from ge_dialect.tools.runtime.executor import load_plan
    from ge_dialect.tools.runtime.gears import make_executor

    loaded = load_plan(args.model)
    with loaded.file:
        executor = make_executor(loaded.module, loaded.weights)
        if args.print_inputs:
            show(port_lines(executor))
            return 0
        return execute(executor, args)


def execute(executor: Executor, args: argparse.Namespace) -> int:
    """Runs the plan and does with the outputs what the arguments say; returns the exit code."""
    from ge_dialect.tools.runtime.npz import write_npz
    from ge_dialect.tools.runtime.ports import refuse_containers

    if args.outputs is not None:
        refuse_containers("output", executor.outputs)
    if args.trace is not None:
        check_writable(args.trace)
    # Read before the run, which may take long, so that a wrong file shows at once.
    reference = None if args.compare is None else read_reference(executor, args.compare)
    outputs = executor.run(
        read_feeds(executor, args),
        schedule_seed=args.schedule_seed,
        poison=args.poison,
        profile=args.profile or args.trace is not None,
    )
    if args.trace is not None:
        write_trace(executor, args.trace, args.model)
    if args.outputs is not None:
        write_npz(args.outputs, outputs)
    code = 0
    if reference is None:
        show(output_lines(executor, outputs))
    else:
        results = compare_all(outputs, reference, args.rtol, args.atol)
        show(f"output '{name}': {result}" for name, result in results.items())
        code = 0 if all(result.ok for result in results.values()) else 1
    if args.profile:
        show(profile_lines(executor.times))
    return code


def write_trace(executor: Executor, path: str, model: str) -> None:
    """Writes when each task of the last run took place on the host."""
    from ge_dialect.tools.report.trace import measured_trace

    text = measured_trace(executor.plan, executor.times, model)
    write_atomically(path, text.encode())


def read_feeds(executor: Executor, args: argparse.Namespace) -> Arrays:
    """Returns the inputs that the arguments give."""
    from ge_dialect.tools.runtime.npz import Side, read_npz
    from ge_dialect.tools.runtime.ports import random_feeds

    feeds: dict[str, npt.NDArray[Any]] = {}
    if args.inputs is not None:
        sides = Side("input", executor.inputs), Side("output", executor.outputs)
        feeds = read_npz(args.inputs, *sides)
    if args.random_inputs is not None:
        feeds = random_feeds(executor.example_inputs(), args.random_inputs) | feeds
    return feeds


def read_reference(executor: Executor, path: str) -> Arrays:
    """Returns the reference of every output.

    Raises:
        GEError: One is missing (GE0811).
    """
    from ge_dialect.diagnostics import GEError
    from ge_dialect.tools.runtime.npz import Side, read_npz

    sides = Side("output", executor.outputs), Side("input", executor.inputs)
    found = read_npz(path, *sides, any_float=True)
    if missing := [str(port) for port in executor.outputs if port.name not in found]:
        raise GEError(
            "GE0811",
            f"'{path}' lacks {len(missing)} of {len(executor.outputs)} outputs:"
            f" {', '.join(missing)}",
            hint="a reference has to hold all outputs, as 'y' or 'output.y'",
        )
    return found


def compare_all(
    outputs: Arrays, reference: Arrays, rtol: float | None, atol: float | None
) -> dict[str, Comparison]:
    """Returns what comparing each output with its reference gives."""
    from ge_dialect.tools.runtime.compare import compare, tolerance_of

    return {
        name: compare(got, reference[name], tolerance_of(got.dtype, rtol, atol))
        for name, got in outputs.items()
    }


def output_lines(executor: Executor, outputs: Mapping[str, Any]) -> Iterator[str]:
    """Yields the outputs as they came out, with the sizes that only the run told."""
    from ge_dialect.tools.runtime.ports import array_type

    for port in executor.outputs:
        got = outputs[port.name]
        found = port.container or array_type(got.shape, got.dtype)
        yield f"output '{port.name}' {found}"


def port_lines(executor: Executor) -> Iterator[str]:
    """Yields inputs and outputs with shapes and types."""
    yield from (f"input {port}" for port in executor.inputs)
    yield from (f"output {port}" for port in executor.outputs)
    yield from executor.size_lines()


def profile_lines(times: Sequence[TaskTime]) -> Iterator[str]:
    """Yields the time of each task, longest first."""
    total = sum(entry.seconds for entry in times)
    yield f"{len(times)} tasks, {total * 1e3:.3f} ms in the reference kernels"
    for entry in sorted(times, key=lambda entry: (-entry.seconds, entry.task)):
        node = f"  ({entry.node})" if entry.node else ""
        yield (
            f"{entry.seconds * 1e3:10.3f} ms  stream {entry.stream}"
            f"  task {entry.task} {entry.what}{node}"
        )


def show(lines: Iterable[str]) -> None:
    """Prints lines."""
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of the console script."""
    if argv is None:
        begin(computes=True)
    sys.exit(run_tool("ge-run", main_with, argv))


if __name__ == "__main__":
    main()
