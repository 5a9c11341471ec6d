"""Writes the `.om` container: streams partitions into a file that appears in one step.

Layout: see `layout`. The table is the one of 64 bits.
"""

import hashlib
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO, Protocol, TypeAlias

from ge_dialect.atomic_files import replacing
from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.layout import (
    COUNT,
    ENTRY,
    HEADER,
    HEADER_SIZE,
    MAGIC,
    MAX_PARTITIONS,
    MIN_PARTITIONS,
    VERSION,
    Entry,
    Header,
    PartitionType,
    RawHeader,
    table_size,
)

_CHUNK = 1 << 22


class Streamed(Protocol):
    """Bytes that are copied into the file piece by piece."""

    @property
    def size(self) -> int:
        """Bytes that `write_to` writes."""
        ...

    def write_to(self, file: BinaryIO, /) -> object:
        """Appends the bytes to `file`."""
        ...


Payload: TypeAlias = bytes | bytearray | memoryview | Streamed


@dataclass(frozen=True)
class Partition:
    """A partition to be written."""

    type: int
    payload: Payload

    @property
    def size(self) -> int:
        """In bytes."""
        if isinstance(self.payload, bytes | bytearray):
            return len(self.payload)
        if isinstance(self.payload, memoryview):
            return self.payload.nbytes
        return self.payload.size


def weights_padding(sizes: Sequence[int], count: int, alignment: int = 4096) -> int:
    """Returns the bytes to add to the partitions before one that is to start aligned.

    Args:
        sizes: Of the partitions before it, in bytes.
        count: Of all partitions in the file.
        alignment: In bytes, from the start of the file.
    """
    start = HEADER_SIZE + table_size(count, 64) + sum(sizes)
    return -start % alignment


def write_container(
    path: str | os.PathLike[str], partitions: Sequence[Partition], header: Header | None = None
) -> None:
    """Writes a file in one step: at `path` is either what was there before or all of the new file.

    Args:
        path: Of the file; one that is there is replaced.
        partitions: At least two, MODEL_DEF first, each type at most once; in the order of the
            file.
        header: About the model.

    Raises:
        GEError: GE0607 where the file cannot be written or a payload is not of its stated size.
        ValueError: `partitions` break the rules above.
    """
    _check_partitions(partitions)
    with _replacing(os.path.realpath(os.fspath(path))) as file:
        _write(file, partitions, header or Header())


def container_bytes(partitions: Sequence[Partition], header: Header | None = None) -> bytes:
    """Returns the bytes that `write_container` would write.

    Raises:
        ValueError: `partitions` break the rules of `write_container`.
    """
    _check_partitions(partitions)
    file = BytesIO()
    _write(file, partitions, header or Header())
    return file.getvalue()


def _check_partitions(partitions: Sequence[Partition]) -> None:
    types = [partition.type for partition in partitions]
    if not MIN_PARTITIONS <= len(types) <= MAX_PARTITIONS:
        raise ValueError(
            f"expected {MIN_PARTITIONS} to {MAX_PARTITIONS} partitions, got {len(types)}"
        )
    if types[0] != PartitionType.MODEL_DEF or len(set(types)) != len(types):
        raise ValueError(f"expected MODEL_DEF first and each type once, got {types}")
    if not all(0 <= kind < MAX_PARTITIONS for kind in types):
        raise ValueError(f"expected partition types of 0 to {MAX_PARTITIONS - 1}, got {types}")


def _write(file: BinaryIO, partitions: Sequence[Partition], about: Header) -> None:
    sizes = [partition.size for partition in partitions]
    table = _table(partitions)
    header = _raw_header(about, len(table) + sum(sizes))
    file.write(HEADER.pack(*header) + table)
    position = HEADER_SIZE + len(table)
    entries: list[Entry] = []
    for partition, size in zip(partitions, sizes, strict=True):
        _write_payload(file, partition.payload)
        entries.append(Entry(partition.type, position, size))
        position += size
        if (end := file.tell()) != position:
            raise GEError(
                "GE0607",
                f"partition {partition.type} wrote {end - position + size} bytes, expected {size}",
                hint="a source of weights changed while it was copied: compile again",
            )
    digest = hashlib.blake2b(HEADER.pack(*header) + table)
    for entry, partition in zip(entries, partitions, strict=True):
        if entry.type != PartitionType.WEIGHTS_DATA:
            for chunk in _written(file, entry, partition.payload):
                digest.update(chunk)
    file.seek(0)
    file.write(HEADER.pack(*header._replace(checksum=digest.digest())))


def _written(
    file: BinaryIO, entry: Entry, payload: Payload
) -> Iterator[bytes | bytearray | memoryview]:
    """Yields a partition: what is no bytes here, as it stands in the file."""
    if isinstance(payload, bytes | bytearray | memoryview):
        yield payload
        return
    file.seek(entry.offset)
    left = entry.size
    while left and (chunk := file.read(min(left, _CHUNK))):
        yield chunk
        left -= len(chunk)


def _write_payload(file: BinaryIO, payload: Payload) -> None:
    if isinstance(payload, bytes | bytearray | memoryview):
        file.write(payload)
        return
    file.flush()  # `write_to` may go around the buffer, through the descriptor
    payload.write_to(file)


def _table(partitions: Sequence[Partition]) -> bytes:
    table = [COUNT[64].pack(len(partitions))]
    offset = 0
    for partition in partitions:
        table.append(ENTRY[64].pack(partition.type, offset, partition.size))
        offset += partition.size
    return b"".join(table)


def _raw_header(about: Header, length: int) -> RawHeader:
    return RawHeader(
        magic=MAGIC,
        head_size=HEADER_SIZE,
        version=VERSION,
        checksum=bytes(64),
        length=length if length < 1 << 32 else 0,  # the field of 64 bits counts
        is_encrypted=0,
        is_checked=1,
        model_type=0,
        generation=0,
        name=_cut(about.name, 31),
        ops=0,
        user_info=b"",
        model_version=about.model_version,
        model_count=1,
        platform=_cut(about.platform, 19),
        platform_type=0,
        model_length=length,
        needs_cpu_info=0,
        is_dynamic=int(about.dynamic),
    )


def _cut(text: str, size: int) -> bytes:
    """Returns at most `size` bytes of UTF-8 without half a character at the end."""
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore").encode("utf-8")


@contextmanager
def _replacing(path: str) -> Generator[BinaryIO, None, None]:
    """Opens a new file beside `path` which takes its place on success and vanishes otherwise."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise _write_error(path, "it is not a regular file", "name a file")
    try:
        with replacing(path) as file:
            yield file
    except OSError as error:
        reason = error.strerror or str(error)
        raise _write_error(path, reason, "check that its folder exists and has room") from error


def _write_error(path: str, reason: str, hint: str) -> GEError:
    return GEError("GE0607", f"cannot write '{path}': {reason}", hint=hint)
