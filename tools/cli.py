"""What the command line tools share: one line for an error, exit code 1, output all or nothing."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ge_dialect.atomic_files import replacing
from ge_dialect.diagnostics import GEError

if TYPE_CHECKING:
    from xdsl.utils.exceptions import ParseError


def run_tool(
    tool: str, body: Callable[[Sequence[str] | None], int], argv: Sequence[str] | None
) -> int:
    """Runs a tool; turns every error a user can cause into one line on stderr and exit code 1.

    Args:
        tool: Its name, for the line.
        body: Takes the arguments, returns the exit code.
        argv: Arguments without the program's name; None for the process's own.
    """
    before = _end_cleanly_on_sigterm()
    _open_closed()
    try:
        code = body(argv)
        sys.stdout.flush()  # here, where it can still be told that it could not be written
    except GEError as error:
        _say(tool, error)
        return 1
    except BrokenPipeError:
        _forget_output()  # the reader went away (`| head`)
        return 1
    except OSError as error:
        # Files that tools write are all or nothing, and have errors of their own: this is stdout.
        if error.errno not in _FULL or error.filename is not None:
            raise
        _forget_output()
        _say(tool, unwritable("standard output", error))
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
        # The process ends: what is left need not be searched for garbage.
        gc.freeze()
    return code


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What a device or a file system says that takes no more."""


def _open_closed() -> None:
    """Gives streams that the caller closed (`>&-`) a place to go to: Python has None for them."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # stays


def _say(tool: str, error: GEError) -> None:
    print(f"{tool}: error: {one_line(str(error))}", file=sys.stderr)  # noqa: T201  # a tool


def _forget_output() -> None:
    """Lets nothing more be written: Python would complain once more while it closes stdout."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def leave(code: int) -> NoReturn:
    """Ends the process without taking apart what it holds, a tenth of a compilation's time.

    Under a profiler or a tracer it ends in the ordinary way, so that they can report.
    """
    if sys.gettrace() is None and sys.getprofile() is None:
        with suppress(OSError):  # the ordinary end says what could not be written
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    sys.exit(code)


def _end_cleanly_on_sigterm() -> signal.Handlers | Callable[..., object] | int | None:
    """Lets a terminated tool take away what it has written so far; returns the old handler."""

    def terminate(signum: int, _: object) -> None:
        raise SystemExit(128 + signum)

    try:
        return signal.signal(signal.SIGTERM, terminate)
    except ValueError:  # not the main thread of a process
        return None


def one_line(text: str) -> str:
    """Returns a message without line breaks and without what a terminal would act on."""
    line = " ".join(part.strip() for part in text.splitlines() if part.strip())
    return "".join(character if character.isprintable() else "?" for character in line)


def parse_error(error: ParseError) -> GEError:
    """Returns the error of text that does not parse: place and reason, without the line itself."""
    where = str(error.span.get_location()).replace(" ", "")
    return GEError("GE0310", f"{where}: {one_line(error.msg)[:400]}")


def too_deep(path: str) -> GEError:
    """Returns the error of text whose regions, types or attributes nest without end."""
    return GEError("GE0310", f"'{path}' is nested too deeply")


def decode_text(path: str, data: bytes) -> str:
    """Returns the text of a file in MLIR's textual form.

    Raises:
        GEError: It is not text, or a string in it does not end.
    """
    from ge_dialect.source_text import check_strings

    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise GEError(
            "GE0310",
            f"'{path}' is not text: byte {error.start} is not UTF-8",
            hint="give a .mlir file; an .onnx or .om file needs its own extension",
        ) from error
    check_strings(text, path)
    return text


def write_atomically(path: str, data: bytes) -> None:
    """Writes a file all or nothing, see `replacing`.

    A device or pipe, such as /dev/stdout, is written to as it is.

    Raises:
        GEError: The folder is not there, not writable or full.
    """
    found = Path(path)
    try:
        if found.exists() and not found.is_file():
            # A device or a pipe is written to, never replaced; a folder is an error.
            found.write_bytes(data)
            return
        with replacing(path) as file:
            file.write(data)
    except OSError as error:
        raise unwritable(path, error) from error


def check_writable(path: str) -> None:
    """Checks that an output may become a file, before the work that makes it.

    Raises:
        GEError: Its folder is not there, or it is a folder itself.
    """
    target = Path(path)
    if target.is_dir() or path.endswith("/"):
        raise unwritable(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    if not target.parent.is_dir():
        raise unwritable(path, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))


def unwritable(path: str, error: OSError) -> GEError:
    """Returns the error of an output that cannot be written."""
    reason = (error.strerror or str(error)).lower()
    return GEError("GE0103", f"cannot write '{path}': {reason}", hint="choose another output path")


def read_file(path: str, most: int = -1) -> bytes:
    """Returns the bytes of an input file.

    Args:
        path: Of the file.
        most: How many bytes to read, so that no device is read without end; -1 for all.

    Raises:
        GEError: It is not there, is a folder, or cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise GEError("GE0101", f"cannot read '{path}': {reason}", hint="check the path") from error
