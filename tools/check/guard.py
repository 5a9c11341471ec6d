"""A pipeline under watch: numerics, the number of rewrites, reproducers."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException, ParseError, ShrinkException

from ge_dialect.diagnostics import GEError
from ge_dialect.passes.rewrites import counting

_OTHERS_SAY = (ParseError, DiagnosticException, RecursionError, ShrinkException)
"""Exceptions that the tool has messages for."""

_KEPT = ("allow_unregistered_dialect", "disable_verify")


@dataclass
class Guard:
    """Runs a pipeline once and says what goes wrong.

    Attributes:
        args: Of the command line, those of `options` among them.
        ctx: Knows all dialects.
        passes: The pipeline.
        load: Gives the input again.
        text: Gives the text of a result.
    """

    args: Namespace
    ctx: Context
    passes: Sequence[ModulePass]
    load: Callable[[], ModuleOp]
    text: Callable[[ModuleOp], str]
    step: int = 0

    def __post_init__(self) -> None:
        self.numerics = None
        if self.args.check_numerics is not None:
            from ge_dialect.tools.check.numerics import NumericsCheck

            each, seed = self.args.check_numerics == "each", self.args.numerics_seed
            self.numerics = NumericsCheck(
                self.ctx,
                self.passes,
                each,
                seed,
                self.args.reproducer,
                self.args.max_rewrites,
                reduces=self._writes,
            )

    @property
    def _writes(self) -> bool:
        """Whether a fault may write a file: a reproducer needs no reproducer."""
        return self.args.reproducer is not None or not self.args.run_reproducer

    def run(self, module: ModuleOp, apply: Callable[[], None]) -> None:
        """Runs the pipeline.

        Args:
            module: What it runs on.
            apply: Runs it, and calls `after_pass` between passes.

        Raises:
            GEError: A pass failed (GE0901) or changed values (GE0902), or whatever it raised.
        """
        if self.args.bisect is not None:
            raise self._bisect(module)
        if self.numerics is not None:
            self.numerics.begin(module)
        limit = self.args.max_rewrites
        try:
            with nullcontext() if limit is None else counting(limit=limit):
                apply()
        except (GEError, *_OTHERS_SAY) as error:
            raise self._told(error) from error
        except Exception as error:
            from ge_dialect.tools.check.crash import pass_failed

            raise self._told(pass_failed(self.passes, self.step, error)) from error
        if self.numerics is not None:
            self.numerics.end(module)

    def after_pass(self, module: ModuleOp) -> None:
        """Compares numerics, where asked to, after the pass that just ran."""
        self.step += 1
        if self.numerics is not None:
            self.numerics.after(module)

    def _told(self, error: Exception) -> Exception:
        """Returns the error, with the name of a reproducer where one is due."""
        from ge_dialect.tools.check.crash import FAULTS, reproduced, write_failure

        code = error.code if isinstance(error, GEError) else ""
        asked = self.args.reproducer is not None and code not in ("GE0902", "GE0903")
        if not self._writes or (not asked and code not in FAULTS):
            return error
        flags = [f"--{name.replace('_', '-')}" for name in _KEPT if getattr(self.args, name)]
        if self.args.max_rewrites is not None:
            flags.append(f"--max-rewrites={self.args.max_rewrites}")
        where = write_failure(
            self.ctx, self.load, self.passes, self.step, error, self.args.reproducer, flags
        )
        return reproduced(error, where) if isinstance(error, GEError) else error

    def _bisect(self, original: ModuleOp) -> GEError:
        from ge_dialect.tools.check.bisect import bisect, run_passes

        changed = original.clone()
        run_passes(self.ctx, changed, self.passes, limit=self.args.max_rewrites)
        if not self._command_fails(changed):
            return GEError("GE0904", f"nothing to bisect: '{self.args.bisect}' succeeds")
        if self._command_fails(original):
            return GEError("GE0904", f"nothing to bisect: '{self.args.bisect}' fails on the input")
        culprit = bisect(
            self.ctx, original, self.passes, self._command_fails, limit=self.args.max_rewrites
        )
        return GEError("GE0905", f"'{self.args.bisect}' fails after {culprit}")

    def _command_fails(self, module: ModuleOp) -> bool:
        with tempfile.TemporaryDirectory(prefix="ge-bisect-") as folder:
            path = Path(folder) / "result.mlir"
            path.write_text(self.text(module))
            command = self.args.bisect
            words = command.replace("{}", shlex.quote(str(path)))
            if words == command:
                words = f"{command} {shlex.quote(str(path))}"
            done = subprocess.run(
                ["/bin/sh", "-c", words],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
        if done.returncode in _NOT_RUN:
            problem = f"nothing to bisect: '{command}' {_NOT_RUN[done.returncode]}"
            raise GEError("GE0904", problem, hint="give a command that /bin/sh can run")
        return done.returncode != 0


_NOT_RUN = {126: "cannot be executed", 127: "is not found, or reads what is not found"}
"""Exit codes of /bin/sh that say nothing of the result."""
