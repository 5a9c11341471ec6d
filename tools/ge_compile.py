"""`ge-compile`: a model in, an `.om` out, and a short account of what happened.

Takes ATC's flags and syntax where they exist, with dashes or underscores.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ge_dialect.tools.cli import check_writable, run_tool, without_blas_threads, write_atomically
from ge_dialect.tools.compile_arguments import model_path, names, output_path, parse

if TYPE_CHECKING:
    from ge_dialect.tools.api import CompiledPlan, CompileOptions


def run(argv: Sequence[str] | None) -> int:
    """Runs the tool; errors are exceptions."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    args = parse(arguments)
    model, output = model_path(args), output_path(args)
    for path in (output, args.summary, args.dump_ir):
        if path is not None:
            check_writable(path)
    from ge_dialect.tools.api import compile

    plan = compile(model, input_shapes=args.input_shape, options=options_of(args))
    plan.save(output)
    write_reports(plan, args)
    if args.verbose:
        for remark in plan.remarks:
            sys.stderr.write(f"{remark}\n")
    if not args.quiet:
        sys.stdout.write(plan.report())
    if args.display_model_info:
        from ge_dialect.tools.report.model_info import model_info

        sys.stdout.write(model_info(output, arguments))
    return 0


def options_of(args: argparse.Namespace) -> CompileOptions:
    """Returns what the command line asks for."""
    from ge_dialect.tools.api import CompileOptions

    return CompileOptions(
        target=args.target,
        level=args.level,
        streams=1 if args.enable_single_stream == "true" else args.streams,
        memory_limit=args.memory_limit,
        reuse_memory=not args.disable_reuse_memory,
        rules=names(args.rules),
        disabled_rules=names(args.disable_rules),
    )


def write_reports(plan: CompiledPlan, args: argparse.Namespace) -> None:
    """Writes summary and IR to the files that were asked for."""
    if args.summary is not None:
        write_atomically(args.summary, (json.dumps(plan.summary, indent=2) + "\n").encode())
    if args.dump_ir is not None:
        from ge_dialect.printing import exact_text

        write_atomically(args.dump_ir, exact_text(plan.module).encode())


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of the console script."""
    without_blas_threads()
    sys.exit(run_tool("ge-compile", run, argv))


if __name__ == "__main__":
    main()
