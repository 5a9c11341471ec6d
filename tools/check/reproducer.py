"""A file that makes a tool fail the same way again: IR, and the command line in its header.

    // ge-opt reproducer
    // configuration: -p 'ge-canonicalize' --check-numerics
    // error: GE0901: ...
    // versions: ge-dialect 0.1, xdsl 0.75.0, python 3.11.9
    builtin.module { ... }

`ge-opt --run-reproducer FILE` takes the configuration, and so does `ge-opt FILE` where no passes
are given and the first line is the one above.
"""

from __future__ import annotations

import platform
import re
import shlex
import sys
import traceback
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.symbolic import assuming_ranges
from ge_dialect.printing import exact_text
from ge_dialect.tools.cli import one_line, write_atomically

MARK = "// ge-opt reproducer"
CONFIGURATION = "// configuration:"
STDERR = "-"
ON_STDERR = "on stderr"

EMBEDDED_BYTES = 16 << 20
"""Weights up to this size in all are part of the file; larger ones stay where they are."""

FRAMES = 8
_UNKNOWN = re.compile(r'"(?:[^"\\]|\\.)*"| loc\(unknown\)')


def pipeline_text(passes: Sequence[ModulePass]) -> str:
    """Returns passes with their options, as `-p` takes them."""
    return ",".join(str(one.spec()) for one in passes)


def reproducer_text(
    module: ModuleOp, arguments: Sequence[str], message: str, cause: BaseException | None = None
) -> str:
    """Returns the text of a reproducer.

    Args:
        module: What the passes start from; its weights may become dense constants.
        arguments: Of `ge-opt`, the file left out.
        message: What goes wrong, on one line.
        cause: The exception behind it, whose last frames are told.
    """
    weights = sum(
        op.value.data.length
        for op in module.walk()
        if isinstance(op, ConstantOp) and isinstance(op.value, WeightAttr)
    )
    if 0 < weights <= EMBEDDED_BYTES:
        from ge_dialect.ge.constants import embed_constants

        embed_constants(module)
    lines = [
        MARK,
        f"{CONFIGURATION} {shlex.join(arguments)}",
        f"// error: {one_line(message)}",
        f"// versions: ge-dialect {_version('ge-dialect')}, xdsl {_version('xdsl')},"
        f" python {platform.python_version()}",
        *(f"// at: {line}" for line in _frames(cause)),
    ]
    return "\n".join(lines) + "\n" + _without_unknown(exact_text(module, locations=True))


def _without_unknown(text: str) -> str:
    """Drops the locations that say nothing; what is in quotes stays."""
    return _UNKNOWN.sub(lambda found: "" if found[0].startswith(" ") else found[0], text)


def _version(package: str) -> str:
    try:
        return version(package)
    except ModuleNotFoundError:
        return "unknown"


def _frames(error: BaseException | None) -> list[str]:
    """The last frames of an exception, files by their name only."""
    if error is None or error.__traceback__ is None:
        return []
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    return [f"{Path(f.filename).name}:{f.lineno}, in {f.name}" for f in frames]


def write_reproducer(path: str | None, text: str) -> str:
    """Writes a reproducer, all or nothing, and returns where it is, for a message.

    Args:
        path: The file; "-" is stderr; None is a file in the working directory that is named after
            the text, so that runs at the same time do not overwrite each other's.
        text: Of the reproducer.
    """
    if path == STDERR:
        sys.stderr.write(text)
        return ON_STDERR
    if path is None:
        path = f"reproducer-{sha256(text.encode()).hexdigest()[:12]}.mlir"
        try:
            write_atomically(path, text.encode())
        except GEError:  # what the user waits for is the first error, not this one
            sys.stderr.write(text)
            return ON_STDERR
        return path
    write_atomically(path, text.encode())
    return path


def read_configuration(path: str, *, marked: bool = False) -> list[str] | None:
    """Returns the arguments in the header of a file; None where it has none.

    Args:
        path: Of the file.
        marked: Whether only a file counts that `ge-opt` wrote.

    Raises:
        GEError: The file cannot be read (GE0101), or the arguments do not parse (GE0105).
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            head = [line.rstrip("\n") for _, line in zip(range(FRAMES), file, strict=False)]
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise GEError("GE0101", f"cannot read '{path}': {reason}", hint="check the path") from error
    if marked and head[:1] != [MARK]:
        return None
    for line in head:
        if line.startswith(CONFIGURATION):
            try:
                return shlex.split(line.removeprefix(CONFIGURATION))
            except ValueError as error:
                raise GEError("GE0105", f"in the configuration of '{path}': {error}") from error
    return None


def replay(ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> ModuleOp | None:
    """Runs passes on a module, which is changed; None where they cannot."""
    try:
        with assuming_ranges(module):
            for pass_ in passes:
                pass_.apply(ctx, module)
    except Exception:  # the whole pipeline is the reproducer then
        return None
    return module
