"""`ge-compile`: a model in, an `.om` out, and a short account of what happened.

Takes ATC's flags and syntax where they exist, with dashes or underscores.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.cli import check_writable, run_tool, write_atomically

FRAMEWORK_ONNX = 5


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="ge-compile",
        description="Compile a model to an execution plan (.om).",
        epilog="Flags may be spelled with dashes or underscores.",
    )
    parser.add_argument("input", nargs="?", metavar="MODEL", help="an .onnx or .mlir file")
    parser.add_argument("--model", help="the same, as ATC spells it")
    parser.add_argument("-o", "--output", help="the .om file; ATC's form without .om is accepted")
    parser.add_argument(
        "--framework", type=int, default=FRAMEWORK_ONNX, help="5, ONNX, is the only one"
    )
    parser.add_argument(
        "--target",
        "--soc-version",
        dest="target",
        default="Ascend910B1",
        metavar="NAME",
        help="chip by name, or a TOML file that describes one (default: %(default)s)",
    )
    parser.add_argument(
        "--input-shape", metavar="SPEC", help='sizes of inputs, "ids:1,128;mask:1,128"'
    )
    parser.add_argument(
        "-O",
        "--level",
        type=int,
        default=2,
        choices=(0, 1, 2),
        help="0 infers types, 1 simplifies, 2 also raises and fuses (default: 2)",
    )
    parser.add_argument("--streams", type=int, default=1, help="at most this many (default: 1)")
    parser.add_argument(
        "--enable-single-stream", choices=("true", "false"), help="true: one stream, as in ATC"
    )
    parser.add_argument(
        "--disable-reuse-memory",
        type=int,
        choices=(0, 1),
        default=0,
        help="1: every buffer has bytes of its own",
    )
    parser.add_argument("--memory-limit", type=int, metavar="BYTES", help="of the work arena")
    parser.add_argument("--rules", default="", help="fusion rules to try, by name, with commas")
    parser.add_argument("--disable-rules", default="", help="fusion rules to leave out")
    parser.add_argument("--summary", metavar="FILE", help="write the summary as JSON")
    parser.add_argument("--dump-ir", metavar="FILE", help="write the planned IR as text")
    parser.add_argument("-v", "--verbose", action="store_true", help="print all near misses")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    return parser


def dashed(argv: Sequence[str]) -> list[str]:
    """Returns arguments with `--flag_name` as `--flag-name`; values stay as they are."""
    found: list[str] = []
    for argument in argv:
        name, separator, value = argument.partition("=")
        if argument.startswith("--"):
            argument = name.replace("_", "-") + separator + value
        found.append(argument)
    return found


def model_path(args: argparse.Namespace) -> str:
    """Returns the model to compile.

    Raises:
        GEError: None is named, two are, or it is of another framework.
    """
    named: list[str] = [path for path in (args.input, args.model) if path is not None]
    if len(named) != 1:
        what = "no model" if not named else "two models"
        hint = "ge-compile MODEL -o OUT.om"
        raise GEError("GE0105", f"expected one model, got {what}", hint=hint)
    if args.framework != FRAMEWORK_ONNX:
        raise GEError(
            "GE0105",
            f"expected --framework=5 (ONNX), got {args.framework}",
            hint="export the model to ONNX first",
        )
    return named[0]


def output_path(args: argparse.Namespace) -> str:
    """Returns the file to write; ATC's `--output name` means `name.om`.

    Raises:
        GEError: None is named.
    """
    if args.output is None:
        raise GEError("GE0105", "expected an output file", hint="ge-compile MODEL -o OUT.om")
    path: str = args.output
    return path if path.endswith(".om") else f"{path}.om"


def names(text: str) -> tuple[str, ...]:
    """Returns the names in a list with commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def run(argv: Sequence[str] | None) -> int:
    """Runs the tool; errors are exceptions."""
    args = make_parser().parse_args(dashed(sys.argv[1:] if argv is None else argv))
    model, output = model_path(args), output_path(args)
    for path in (output, args.summary, args.dump_ir):
        if path is not None:
            check_writable(path)
    from ge_dialect.tools.api import CompileOptions, compile

    options = CompileOptions(
        target=args.target,
        level=args.level,
        streams=1 if args.enable_single_stream == "true" else args.streams,
        memory_limit=args.memory_limit,
        reuse_memory=not args.disable_reuse_memory,
        rules=names(args.rules),
        disabled_rules=names(args.disable_rules),
    )
    plan = compile(model, input_shapes=args.input_shape, options=options)
    plan.save(output)
    if args.summary is not None:
        write_atomically(args.summary, (json.dumps(plan.summary, indent=2) + "\n").encode())
    if args.dump_ir is not None:
        write_atomically(args.dump_ir, f"{plan.module}\n".encode())
    if args.verbose:
        for remark in plan.remarks:
            sys.stderr.write(f"{remark}\n")
    if not args.quiet:
        sys.stdout.write(plan.report())
    return 0


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of the console script."""
    sys.exit(run_tool("ge-compile", run, argv))


if __name__ == "__main__":
    main()
