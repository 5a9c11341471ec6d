"""What happens when a pass raises: one line for the user, one file for whoever repairs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.symbolic import assuming_ranges
from ge_dialect.tools.check.reproducer import (
    ON_STDERR,
    pipeline_text,
    replay,
    reproducer_text,
    write_reproducer,
)

FAULTS = frozenset({"GE0390", "GE0401", "GE0901"})
"""Errors that are the compiler's fault: they write a reproducer without being asked."""


class PassFailedError(GEError):
    """A pass raised what is no error of the input (GE0901).

    Attributes:
        step: Position of the pass in the pipeline.
    """

    step = 0


def pass_failed(passes: Sequence[ModulePass], step: int, error: Exception) -> PassFailedError:
    """Returns the error of a pass that raised `error`."""
    what = " ".join(str(error).split())[:400]
    failed = PassFailedError(
        "GE0901",
        f"'{passes[step].name}' (pass {step + 1} of {len(passes)}) failed:"
        f" {type(error).__name__}{': ' if what else ''}{what}",
    )
    failed.step = step
    failed.__cause__ = error
    return failed


def reproduced(error: GEError, where: str) -> GEError:
    """Returns an error that says where its reproducer is.

    Args:
        error: The error.
        where: As `write_failure` returns it.
    """
    hint = "the reproducer is on stderr"
    if where != ON_STDERR:
        hint = f"reproduce it with: ge-opt --run-reproducer {where}"
    return GEError(error.code, error.message, hint=hint)


def write_failure(
    ctx: Context,
    load: Callable[[], ModuleOp],
    passes: Sequence[ModulePass],
    step: int | None,
    error: Exception,
    path: str | None,
    flags: Sequence[str] = (),
) -> str:
    """Writes a reproducer of an error in a pipeline; returns where it is.

    Holds the IR before the pass that failed, and that pass alone, where it fails the same way;
    else the input and the whole pipeline.

    Args:
        ctx: Knows all dialects.
        load: Gives the input again.
        passes: The pipeline.
        step: Position of the pass that failed; None where it is not known which.
        error: What it raised.
        path: As `write_reproducer` takes it.
        flags: Further arguments of `ge-opt`.
    """
    cause = error.__cause__ or error
    guilty: Sequence[ModulePass] = passes[step : step + 1] if step is not None else ()
    module = replay(ctx, load(), passes[:step]) if guilty else None
    if module is None or not _fails_so(ctx, module.clone(), guilty, cause, error):
        guilty, module = passes, load()
    arguments = ["-p", pipeline_text(guilty), *flags] if guilty else [*flags]
    return write_reproducer(path, reproducer_text(module, arguments, str(error), cause))


def _fails_so(
    ctx: Context,
    module: ModuleOp,
    passes: Sequence[ModulePass],
    cause: BaseException,
    error: Exception,
) -> bool:
    """Whether passes alone fail with the same exception, or leave the module invalid as before."""
    try:
        with assuming_ranges(module):
            for pass_ in passes:
                pass_.apply(ctx, module)
        module.verify()
    except Exception as found:
        invalid = isinstance(error, GEError) and error.code == "GE0390"
        return invalid or (type(found), str(found)) == (type(cause), str(cause))
    return False
