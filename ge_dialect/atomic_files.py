"""Files that appear in one step: what was there before, or all of the new one."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import BinaryIO

_DESCRIPTORS = "/proc/self/fd"


@contextmanager
def replacing(path: str) -> Generator[BinaryIO, None, None]:
    """Opens a new file, for writing and reading, that takes the place of `path` on success.

    On failure nothing is left; on Linux, where the file has no name until it is whole, not even by
    a process that is killed. A link stays one: what it points to is replaced.

    Raises:
        OSError: The folder is not there, not writable or full.
    """
    target = os.path.realpath(path)
    temporary = f"{target}.{os.getpid()}-{threading.get_ident()}.tmp"
    try:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # left by a process of the same number that was killed
        with _unnamed(os.path.dirname(target)) or open(temporary, "xb+") as file:
            yield file
            if file.name != temporary:
                file.flush()
                # The descriptor of a folder makes the call follow the link that names the file.
                source = f"{_DESCRIPTORS}/{file.fileno()}"
                os.link(source, temporary, src_dir_fd=file.fileno())
        os.replace(temporary, target)
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def _unnamed(folder: str) -> BinaryIO | None:
    """Opens a file without a name, or returns None where the system or the folder has none."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None or not os.path.isdir(_DESCRIPTORS):
        return None
    try:
        descriptor = os.open(folder, flag | os.O_RDWR, 0o666)
    except OSError:
        return None
    return open(descriptor, "wb+")
