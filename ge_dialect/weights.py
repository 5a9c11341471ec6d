"""Weight bytes that stay where they are until somebody asks for them.

A graph refers to its weights by handle, never by value: a `WeightSource` names a range of a file,
a `MemoryWeight` holds bytes that were computed while compiling. Bytes are little-endian and
row-major, as ONNX lays them out; element types below one byte are packed, first element lowest.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
import sys
from dataclasses import dataclass, field
from hashlib import blake2b
from io import UnsupportedOperation
from typing import IO, TYPE_CHECKING, Self, TypeAlias
from weakref import WeakValueDictionary

from ge_dialect.diagnostics import GEError

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK_BYTES = 4 << 20
SMALL_COPY = 64 << 10
"""Bytes that are copied sooner than the kernel is asked what of them there is to copy."""
DIGEST_BYTES = 16

# One mapping a file, for as long as a view of it lives. The key holds what changes when a file is
# written anew, so that a view never shows the bytes of an older file.
_mappings: WeakValueDictionary[tuple[str, int, int, int, int], mmap.mmap] = WeakValueDictionary()

# What a kernel answers where it cannot copy between these two files; anything else is an error.
_NO_KERNEL_COPY = frozenset(
    (errno.EBADF, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EXDEV)
)


@dataclass(frozen=True)
class WeightSource:
    """The bytes `[offset, offset + length)` of a file.

    Attributes:
        path: The file, relative to the working directory or absolute.
        offset: In bytes.
        length: In bytes.
        name: The tensor, for messages; two sources of one range are equal under any names.

    Raises:
        ValueError: `offset` or `length` is negative.
    """

    path: str
    offset: int
    length: int
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.offset < 0 or self.length < 0:
            raise ValueError(f"expected a range of bytes, got {self.offset} + {self.length}")

    def view(self) -> memoryview:
        """Returns the bytes, mapped and read-only: only the pages that are looked at are read.

        Raises:
            GEError: The file is missing (GE0208) or ends before the range does (GE0209).
        """
        if self.length == 0:
            return memoryview(b"")
        with self.open() as file:
            return memoryview(_map(self.path, file))[self.offset : self.offset + self.length]

    def write_to(self, file: IO[bytes]) -> None:
        """Appends the bytes to `file` at its position, a few MiB at a time.

        Between two regular files the kernel copies what is not small, without the bytes entering
        this process.

        Raises:
            GEError: The file of the weight is missing (GE0208) or too short (GE0209).
            OSError: `file` cannot be written.
        """
        with SourceFile() as source:
            source.copy(self, file)

    def content_digest(self) -> str:
        """Returns a hash of the bytes, equal to `MemoryWeight.digest` of the same bytes.

        Reads the whole range once. Raises as `write_to`.
        """
        state = blake2b(digest_size=DIGEST_BYTES)
        with self.open() as source:
            for chunk in self.chunks(source, 0):
                state.update(chunk)
        return state.hexdigest()

    def open(self) -> IO[bytes]:
        """Opens the file, which holds the whole range. Raises as `write_to`."""
        try:
            file = open(self.path, "rb", buffering=0)  # noqa: SIM115 - the caller closes it
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise GEError(
                "GE0208",
                f"weight file '{self.path}' of {self._label()} cannot be opened: {reason}",
                hint="put the file back where the model was loaded from",
            ) from None
        try:
            self.check_range(file)
        except GEError:
            file.close()
            raise
        return file

    def check_range(self, source: IO[bytes]) -> None:
        """Checks that the file of the weight holds the whole range. Raises as `write_to`."""
        found = os.fstat(source.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size < self.offset + self.length:
            raise self._too_short(found.st_size)

    def chunks(
        self, source: IO[bytes], done: int, buffer: memoryview | None = None
    ) -> Iterator[memoryview]:
        """Yields the bytes from `done` on; each chunk is valid until the next one is asked for.

        Args:
            source: The file.
            done: In bytes.
            buffer: What they are read into; None for one of its own.
        """
        if buffer is None:
            buffer = memoryview(bytearray(min(CHUNK_BYTES, max(self.length - done, 0))))
        source.seek(self.offset + done)
        while done < self.length:
            wanted = min(len(buffer), self.length - done)
            got = os.readv(source.fileno(), [buffer[:wanted]])
            if got == 0:
                raise self._too_short(self.offset + done)
            yield buffer[:got]
            done += got

    def _too_short(self, size: int) -> GEError:
        return GEError(
            "GE0209",
            f"weight file '{self.path}' is too short for {self._label()}: expected at least "
            f"{self.offset + self.length} bytes, got {size}",
            hint="the file was cut or replaced; copy it again",
        )

    def _label(self) -> str:
        return f"tensor '{self.name}'" if self.name else "a tensor"


@dataclass(frozen=True)
class MemoryWeight:
    """Bytes computed at compile time; equal to another weight of the same length and digest."""

    data: bytes = field(compare=False, repr=False)
    digest: str = field(init=False)
    length: int = field(init=False)

    def __post_init__(self) -> None:
        digest = blake2b(self.data, digest_size=DIGEST_BYTES).hexdigest()
        object.__setattr__(self, "digest", digest)
        object.__setattr__(self, "length", len(self.data))

    def view(self) -> memoryview:
        """Returns the bytes, read-only, without a copy."""
        return memoryview(self.data)

    def write_to(self, file: IO[bytes]) -> None:
        """Appends the bytes to `file` at its position."""
        file.write(self.data)

    def content_digest(self) -> str:
        """Returns `digest`, so that both kinds of weight answer the same question."""
        return self.digest


Weight: TypeAlias = WeightSource | MemoryWeight


class SourceFile:
    """The file of the weight that was copied last: it stays open for the next one."""

    def __init__(self) -> None:
        self._path = ""
        self._file: IO[bytes] | None = None
        self._buffer = memoryview(b"")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def copy(self, weight: WeightSource, target: IO[bytes]) -> None:
        """As `weight.write_to(target)`."""
        source = self._opened(weight)
        if weight.length > SMALL_COPY:
            copied = _kernel_copy(source.fileno(), weight.offset, weight.length, target)
            chunks = weight.chunks(source, copied) if copied < weight.length else ()
        else:
            if len(self._buffer) < weight.length:
                self._buffer = memoryview(bytearray(weight.length))
            chunks = weight.chunks(source, 0, self._buffer)
        for chunk in chunks:
            target.write(chunk)

    def _opened(self, weight: WeightSource) -> IO[bytes]:
        if self._file is not None and self._path == weight.path:
            weight.check_range(self._file)
            return self._file
        found = weight.open()
        self.__exit__()
        self._path, self._file = weight.path, found
        return found


def _map(path: str, file: IO[bytes]) -> mmap.mmap:
    """Maps the whole of an open file read-only, or returns the mapping that is already there."""
    found = os.fstat(file.fileno())
    key = (path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    if (mapping := _mappings.get(key)) is None:
        mapping = mmap.mmap(file.fileno(), found.st_size, access=mmap.ACCESS_READ)
        _mappings[key] = mapping
    return mapping


def _kernel_copy(source: int, offset: int, length: int, target: IO[bytes]) -> int:
    """Copies as many bytes as the kernel will between two files and returns how many.

    Leaves the position of `target` behind the copied bytes.
    """
    if sys.platform != "linux":
        return 0
    try:
        descriptor = target.fileno()
        target.flush()
        start = target.tell()
        # Where old bytes lie, a hole of the source has to be written as zeros.
        appends = start >= os.fstat(descriptor).st_size
    except (UnsupportedOperation, OSError):
        return 0  # not a file of the system, or a pipe
    done = 0
    try:
        while done < length:
            done += _skip_hole(source, offset + done, length - done) if appends else 0
            # At most 1 GiB a call: a signal is then answered within a second or so.
            rest = length - done
            wanted = min(_data_size(source, offset + done, rest) if appends else rest, 1 << 30)
            if wanted == 0:
                break
            got = os.copy_file_range(source, descriptor, wanted, offset + done, start + done)
            if got == 0:
                break
            done += got
        if done == length and appends:
            # A hole at the end is not written by anybody; the file has to be that long.
            os.truncate(descriptor, max(os.fstat(descriptor).st_size, start + done))
    except OSError as error:
        if error.errno not in _NO_KERNEL_COPY:
            raise
    target.seek(start + done)
    return done


def _skip_hole(source: int, offset: int, limit: int) -> int:
    """Returns how many bytes at `offset` are a hole of the file: they read as zeros and, where the
    target is new, need not be written."""
    try:
        return min(limit, os.lseek(source, offset, os.SEEK_DATA) - offset)
    except OSError as error:
        if error.errno == errno.ENXIO:  # nothing but a hole up to the end of the file
            return min(limit, max(0, os.fstat(source).st_size - offset))
        if error.errno == errno.EINVAL:  # a file system that knows no holes
            return 0
        raise


def _data_size(source: int, offset: int, limit: int) -> int:
    """Returns how many bytes at `offset` are there before the next hole."""
    if limit <= 0:
        return 0
    try:
        return min(limit, os.lseek(source, offset, os.SEEK_HOLE) - offset)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENXIO):
            return limit
        raise
