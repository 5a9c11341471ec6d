"""`ge-opt`: runs passes on textual IR, ONNX models and plans, for compiler engineers.

A subclass of `xDSLOptMain` that overrides hooks, never the constructor.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import IO, ClassVar, NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.arg_spec import parse_pipeline, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from ge_dialect.diagnostics import GEError, explain
from ge_dialect.frontends import text_frontend
from ge_dialect.printing import exact_text
from ge_dialect.tools.check.options import add_opt_arguments, spelled_out
from ge_dialect.tools.check.show import Shower, add_show_arguments
from ge_dialect.tools.cli import (
    check_writable,
    decode_text,
    leave,
    one_line,
    parse_error,
    read_file,
    run_tool,
    too_deep,
    write_atomically,
)
from ge_dialect.tools.fusion_arguments import (
    add_rule_arguments,
    check_requirements,
    lint_text,
    list_text,
    with_fusion_arguments,
)
from ge_dialect.tools.opt_listening import listening
from ge_dialect.tools.pass_options import check_pass
from ge_dialect.tools.report.diff_files import add_diff_arguments, diff_files
from ge_dialect.tools.start import begin
from ge_dialect.validity import check_valid, verify

REMARK_KINDS = ("passed", "missed", "analysis", "all")


class PendingOutput(StringIO):
    """Text that becomes a file only once everything went well."""

    def close(self) -> None:
        """Keeps the text: the tool writes it at the end, or never."""

    def commit(self, path: str) -> None:
        """Writes the file, all or nothing."""
        write_atomically(path, self.getvalue().encode())


class GEOptMain(xDSLOptMain):
    """The tool; `run()` does what the arguments say."""

    version_format: ClassVar[str] = "ge-opt built from xdsl version {xdsl_version}"

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.error = usage_error
        group = arg_parser.add_argument_group("ge-opt")
        group.add_argument(
            "--remarks",
            choices=REMARK_KINDS,
            help="print what passes did (passed), nearly did (missed) or both (all) to stderr",
        )
        group.add_argument(
            "--stats", action="store_true", help="print how often which rewrite fired, to stderr"
        )
        group.add_argument(
            "--pass-timing", "--timing", action="store_true", help="print seconds a pass, to stderr"
        )
        add_show_arguments(group)
        group.add_argument(
            "--verify-each",
            action=argparse.BooleanOptionalAction,
            default=True,
            help="verify after each pass (default), or only the input and the result",
        )
        group.add_argument(
            "--print-pipeline", action="store_true", help="print the canonical pipeline and stop"
        )
        group.add_argument(
            "--verify-roundtrip",
            action="store_true",
            help="print and parse the result again, in both forms, and compare",
        )
        group.add_argument(
            "--embed-constants",
            action="store_true",
            help="print weights with their bytes (hex), not as references to files",
        )
        add_opt_arguments(group)
        group.add_argument(
            "--explain", metavar="CODE", help="print the page of an error code, such as GE0201"
        )
        add_diff_arguments(group)
        add_rule_arguments(group)

    def register_pass(self, pass_name: str, pass_factory: Callable[[], type[ModulePass]]) -> None:
        self.available_passes[pass_name] = pass_factory

    def setup_pipeline(self) -> None:
        spec = unwrap_pipeline(self.args.passes)
        try:
            for part in parse_pipeline(spec):
                check_pass(part, self.available_passes)
            parsed = PassPipeline.parse_spec(self.available_passes, spec, _ignore)
        except (ArgSpecParseError, ParseError, ValueError, TypeError) as error:
            raise GEError(
                "GE0104",
                f"in the pipeline '{spec}': {one_line(str(error))}",
                hint="ge-opt --help lists all passes, docs/passes.md their options",
            ) from error
        passes = tuple(with_fusion_arguments(pass_, self.args) for pass_ in flatten(parsed.passes))
        check_requirements(self.args)
        self.shower = Shower(self.args, passes)
        self.pipeline = PassPipeline(passes, self.after_pass)
        self.started = time.perf_counter()
        self.timings: list[tuple[str, float]] = []

    def after_pass(
        self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
    ) -> None:
        """Runs between passes: takes the time, verifies and prints."""
        if previous is not None:
            self.timings.append((previous.name, time.perf_counter() - self.started))
        at_an_end = previous is None or following is None
        if not self.args.disable_verify and (self.args.verify_each or at_an_end):
            self.check(module, previous)
        self.shower.between(previous, module, following)
        if previous is not None:
            self.guard.after_pass(module)
        self.started = time.perf_counter()

    def register_all_frontends(self) -> None:
        self.available_frontends["mlir"] = text_frontend  # instead of xDSL's own
        super().register_all_frontends()

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        data = chunk.read()
        # A reproducer starts from the input, which passes change.
        parse = super().parse_chunk
        self.parse_again = lambda: parse(BytesIO(data), file_extension, start_offset)
        return self.parse_again()

    def apply_passes(self, prog: ModuleOp) -> None:
        from ge_dialect.ge.symbolic import assuming_ranges
        from ge_dialect.tools.check.guard import Guard

        self.guard = Guard(self.args, self.ctx, self.pipeline.passes, self.load_again, exact_text)
        with assuming_ranges(prog):
            self.guard.run(prog, lambda: self.pipeline.apply(self.ctx, prog))

    def load_again(self) -> ModuleOp:
        """Returns the input of the pipeline once more."""
        module = self.parse_again()
        assert module is not None
        return module

    def check(self, module: ModuleOp, previous: ModulePass | None) -> None:
        """Verifies a module; `previous` is the pass that left it so, None for the input."""
        if self.args.verify_diagnostics:
            verify(module)
        elif (problem := check_valid(module)) is not None:
            if previous is None:
                raise GEError("GE0311", problem)
            raise GEError("GE0390", f"the IR is not valid after '{previous.name}': {problem}")

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        path: str | None = self.args.input_file
        if path in (None, "-"):
            self.args.input_file = None
            data = sys.stdin.buffer.read()
            decode_text("stdin", data)
            return BytesIO(data), "mlir"
        assert path is not None
        extension = Path(path).suffix.removeprefix(".")
        known = extension if extension in self.available_frontends else "mlir"
        if known == "mlir" or self.args.frontend == "mlir":
            data = read_file(path)
            decode_text(path, data)
            return BytesIO(data), known
        # Frontends of models map the file themselves; its bytes are not read here.
        if not Path(path).is_file():
            read_file(path)
        return BytesIO(), known

    def prepare_output(self) -> IO[str]:
        if self.args.output_file is not None:
            check_writable(self.args.output_file)
        self.pending = PendingOutput()
        return self.pending

    def output_resulting_program(self, prog: ModuleOp) -> str:
        if self.args.embed_constants:
            from ge_dialect.ge.constants import embed_constants

            embed_constants(prog)
        if self.args.verify_roundtrip:
            check_roundtrip(self, prog)
        if self.writes_om() and self.args.output_file is not None:
            from ge_dialect.lowering.om.target import OMTarget

            OMTarget(path=self.args.output_file).emit(self.ctx, prog, StringIO())
            return ""
        if parse_spec(self.args.target).name == "mlir" and not self.args.syntax_highlight:
            return self.exact_text(prog)
        return super().output_resulting_program(prog)

    def exact_text(self, prog: ModuleOp) -> str:
        """Returns a module as text that parses back to the same bits, with its resources."""
        from ge_dialect.printing import ExactPrinter

        text = StringIO()
        printer = ExactPrinter(
            text,
            print_generic_format=self.args.print_op_generic,
            print_properties_as_attributes=self.args.print_no_properties,
            print_debuginfo=self.args.print_debuginfo,
        )
        printer.print_op(prog)
        printer.print_metadata(self.ctx.loaded_dialects)
        return text.getvalue() + "\n\n"  # as xdsl-opt ends it

    def writes_om(self) -> bool:
        """Whether the target writes its file itself."""
        return parse_spec(self.args.target).name == "om"

    def finish(self) -> None:
        """Writes the output once everything went well."""
        text = self.pending.getvalue()
        if self.args.output_file is None:
            sys.stdout.write(text)
            sys.stdout.flush()
        elif not self.writes_om():
            self.pending.commit(self.args.output_file)


def usage_error(message: str) -> NoReturn:
    """Raises the error of a wrong argument: one line with a code, as for any other bad input."""
    raise GEError("GE0105", message, hint="ge-opt --help lists the arguments")


def _ignore(previous: ModulePass | None, module: ModuleOp, following: ModulePass | None) -> None:
    """Does nothing between the passes of a pipeline that is only parsed."""


def report(text: str) -> None:
    """Prints something that is not the result."""
    sys.stderr.write(text if text.endswith("\n") else f"{text}\n")


def unwrap_pipeline(text: str) -> str:
    """Returns a pipeline in xDSL's form; mlir-opt's `builtin.module(a,b)` is accepted."""
    text = text.strip()
    for wrapper in ("builtin.module(", "any("):
        if text.startswith(wrapper) and text.endswith(")"):
            return unwrap_pipeline(text[len(wrapper) : -1])
    return text


def flatten(passes: Sequence[ModulePass]) -> tuple[ModulePass, ...]:
    """Returns the passes with pipelines spelled out, so that each is timed and printed."""
    from ge_dialect.passes.pipelines import PipelinePass

    flat: list[ModulePass] = []
    for pass_ in passes:
        flat += flatten(pass_.passes()) if isinstance(pass_, PipelinePass) else (pass_,)
    return tuple(flat)


def check_roundtrip(tool: GEOptMain, module: ModuleOp) -> None:
    """Prints a module in both forms and parses it again.

    Raises:
        GEError: What comes back is another module.
    """
    from ge_dialect.parsing import TextParser

    for generic in (False, True):
        again = TextParser(tool.ctx, exact_text(module, generic=generic)).parse_module()
        if not again.is_structurally_equivalent(module):
            form = "generic" if generic else "custom"
            raise GEError("GE0391", f"the {form} form does not parse back to the same module")


def make_tool(arguments: Sequence[str]) -> GEOptMain:
    """Returns the tool for a command line.

    Raises:
        GEError: An argument or the pipeline is wrong.
    """
    try:
        return GEOptMain(args=arguments, description="ge-dialect modular optimizer driver")
    except ArgSpecParseError as error:  # no Exception, so that nothing else catches it
        raise GEError("GE0105", one_line(str(error))) from error


def configuration_of(args: argparse.Namespace) -> list[str] | None:
    """Returns the arguments in the header of the input, where they count: asked for, or no passes
    are given and `ge-opt` wrote the file.

    Raises:
        GEError: They were asked for, and there are none.
    """
    path: str | None = args.input_file
    readable = path is not None and path.endswith(".mlir") and Path(path).is_file()
    if not args.run_reproducer and (args.passes or not readable):
        return None
    from ge_dialect.tools.check.reproducer import read_configuration

    if path in (None, "-"):
        raise GEError("GE0105", "expected --run-reproducer with a file, got standard input")
    found = read_configuration(path, marked=not args.run_reproducer)
    if found is None and args.run_reproducer:
        raise GEError("GE0105", f"expected a line '// configuration: ...' in '{path}'")
    return found


def answer_of(tool: GEOptMain) -> tuple[str, int] | None:
    """Returns text and exit code where the arguments ask for something else than to run passes."""
    args = tool.args
    if args.print_pipeline:
        return ",".join(str(p.spec()) for p in tool.pipeline.passes) + "\n", 0
    if args.list_rules:
        return list_text(args.rules), 0
    if args.lint_rules:
        return lint_text(args.rules)
    if args.diff_plan:
        return diff_files(args.diff_plan[0], args.diff_plan[1], args.diff_format)
    return None


def main_with(argv: Sequence[str] | None) -> int:
    """Runs the tool; errors are exceptions."""
    arguments = spelled_out(sys.argv[1:] if argv is None else argv)
    if "--explain" in arguments[:-1]:
        sys.stdout.write(explain(arguments[arguments.index("--explain") + 1]))
        return 0
    tool = make_tool(arguments)
    if (further := configuration_of(tool.args)) is not None:
        tool = make_tool([*spelled_out(further), *arguments])
        tool.args.run_reproducer = True
    if (answer := answer_of(tool)) is not None:
        text, code = answer
        sys.stdout.write(text)
        return code
    try:
        with listening(tool.args):
            tool.run()
    except ParseError as error:
        raise parse_error(error) from error
    except DiagnosticException as error:
        raise GEError("GE0311", str(error)) from error
    except RecursionError as error:
        raise too_deep(tool.args.input_file or "-") from error
    tool.finish()
    if tool.args.pass_timing:
        for name, seconds in tool.timings:
            report(f"{seconds:10.4f} s  {name}")
    return 0


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of the console script."""
    if argv is not None:
        sys.exit(run_tool("ge-opt", main_with, argv))
    begin()
    leave(run_tool("ge-opt", main_with, None))


if __name__ == "__main__":
    main()
