"""`ge-compile`: a model in, an `.om` out, and a short account of what happened.

Takes ATC's flags and syntax where they exist, with dashes or underscores.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ge_dialect.tools.start import begin

if TYPE_CHECKING:
    import argparse

    from ge_dialect.tools.api import CompiledPlan, CompileOptions

DISPLAY = 6
"""ATC's mode that compiles nothing."""


def run(argv: Sequence[str] | None) -> int:
    """Runs the tool; errors are exceptions."""
    from ge_dialect.tools.cli import check_writable
    from ge_dialect.tools.compile_arguments import model_path, output_path, parse
    from ge_dialect.tools.fusion_arguments import check_requirements

    arguments = list(sys.argv[1:] if argv is None else argv)
    args = parse(arguments)
    if args.mode == DISPLAY or args.om is not None:
        sys.stdout.write(display(args))
        return 0
    model, output = model_path(args), output_path(args)
    check_requirements(args)
    files = (output, args.summary, args.trace, args.dump_ir, args.memory_map, result_path(args))
    for path in files:
        if path is not None:
            check_writable(path)
    from ge_dialect.tools.check.compiling import compile_guarded

    if argv is None:
        from ge_dialect.tools.quick_ir import quicken_ir

        quicken_ir()

    plan = compile_guarded(model, args, options_of(args))
    plan.save(output, weight_checksum=args.weight_checksum)
    # Made once: the run of the plan is simulated for it.
    asked = args.summary is not None or args.verbose or not args.quiet
    summary = plan.summary if asked else {}
    write_reports(plan, summary, args)
    _tell(plan, summary, args)
    if not args.quiet:
        from ge_dialect.tools.report.text import render

        sys.stdout.write(render(summary))
    if args.size_histogram is not None:
        sys.stdout.write(shape_advice(model, args))
    if args.display_model_info:
        from ge_dialect.tools.report.model_info import model_info

        sys.stdout.write(model_info(output, arguments))
    return 0


def _tell(plan: CompiledPlan, summary: Mapping[str, Any], args: argparse.Namespace) -> None:
    """Writes notes and what was asked for to standard error."""
    from ge_dialect.tools.fusion_arguments import is_asked

    for line in plan.notes:
        sys.stderr.write(f"{line}\n")
    for remark in plan.remarks:
        if args.verbose or is_asked(remark, args.why_not):
            sys.stderr.write(f"{remark}\n")
    if args.verbose:
        from ge_dialect.lowering.predict import predict_module
        from ge_dialect.tools.report.imas import memory_lines
        from ge_dialect.tools.report.prediction import task_lines
        from ge_dialect.tools.report.text import host_lines

        sys.stderr.write(memory_lines(plan))
        sys.stderr.write(host_lines(summary))
        sys.stderr.writelines(task_lines(predict_module(plan.module)))


def display(args: argparse.Namespace) -> str:
    """Returns what a file holds, in ATC's form.

    Raises:
        GEError: No file is named, or it cannot be read.
    """
    from ge_dialect.diagnostics import GEError
    from ge_dialect.tools.report.model_info import model_info

    if args.om is None or args.mode != DISPLAY:
        raise GEError("GE0105", "expected --mode=6 with --om=FILE", hint="--mode=6 --om=model.om")
    return model_info(args.om, None)


def options_of(args: argparse.Namespace) -> CompileOptions:
    """Returns what the command line asks for."""
    from ge_dialect.tools.api import CompileOptions
    from ge_dialect.tools.compile_arguments import CORE_TIERS
    from ge_dialect.tools.fusion_arguments import names, split_rules

    rules, sources = split_rules(args.rules)
    return CompileOptions(
        target=args.target,
        level=args.level,
        precision=args.precision_mode_v2,
        fast_math=names(args.fast_math),
        streams=1 if args.enable_single_stream == "true" else args.streams,
        stream_labels=names(args.stream_labels),
        memory_limit=args.memory_limit.get("hbm"),
        core_limits=tuple(
            (name, size)
            for name, size in args.memory_limit.items()
            if name in CORE_TIERS and size is not None
        ),
        l2_limit=args.memory_limit.get("l2", 0),
        memory_policy=args.memory_policy,
        memory_alignment=args.memory_alignment,
        no_reuse=names(args.no_reuse_mem),
        donated_inputs=names(args.donate_inputs),
        reuse_memory=not args.disable_reuse_memory,
        rules=rules,
        rule_sources=sources,
        why_not=names(args.why_not),
        require_fusions=tuple(args.require_fusion),
        fusion_baseline=args.fusion_baseline,
        fusion_switch_file=args.fusion_switch_file,
        disabled_rules=names(args.disable_rules),
        remarks=tells_remarks(args),
    )


def tells_remarks(args: argparse.Namespace) -> bool:
    """Whether something that is printed or written tells what passes did and did not do."""
    files = (args.summary, result_path(args))
    return args.verbose or not args.quiet or any(path is not None for path in files)


def shape_advice(model: str, args: argparse.Namespace) -> str:
    """Returns how a range of sizes compares with gears, as text.

    Raises:
        GEError: No range is given, or the histogram does not fit it (GE0108).
    """
    from ge_dialect.diagnostics import GEError
    from ge_dialect.tools.dynamic_shapes import read_arguments
    from ge_dialect.tools.report.shape_advice import advise, parse_histogram

    asked = read_arguments(args)
    if asked.shapes is None or asked.gears:
        hint = 'such as --input_shape "ids:1~8,8~512"'
        raise GEError("GE0108", "--size_histogram needs --input_shape with ranges", hint=hint)
    histogram = parse_histogram(args.size_histogram)
    advice = advise(model, asked.shapes, histogram, max(args.gear_count, 1), options_of(args))
    return "".join(f"{line}\n" for line in advice.lines())


def result_path(args: argparse.Namespace) -> str | None:
    """Returns where to write the fusions in GE's form, or None."""
    if args.fusion_result is None and args.export_compile_stat != "0":
        return "fusion_result.json"
    return args.fusion_result


def write_reports(plan: CompiledPlan, summary: Mapping[str, Any], args: argparse.Namespace) -> None:
    """Writes summary, fusions, trace and IR to the files that were asked for."""
    from ge_dialect.json_text import json_text
    from ge_dialect.tools.cli import write_atomically

    if (path := result_path(args)) is not None:
        text = json_text(plan.fusion_result, indent=4, sort_keys=True)
        write_atomically(path, text.encode())
    if args.summary is not None:
        write_atomically(args.summary, json_text(summary).encode())
    if args.memory_map is not None:
        write_atomically(args.memory_map, json_text(plan.memory_map).encode())
    if args.trace is not None:
        write_atomically(args.trace, plan.trace().encode())
    if args.dump_ir is not None:
        from ge_dialect.printing import exact_text

        write_atomically(args.dump_ir, exact_text(plan.module).encode())


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of the console script."""
    if argv is None:
        begin()  # before anything heavy is imported
    from ge_dialect.tools.cli import leave, run_tool

    code = run_tool("ge-compile", run, argv)
    if argv is None:
        leave(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
