"""Reads the `.om` container: an `.om` file as checked views of its partitions.

Both tables are read, that of 64 and that of 32 bits. Layout: see `layout`.
"""

import hashlib
import mmap
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.layout import (
    CHECKSUM,
    COUNT,
    ENTRY,
    HEADER,
    HEADER_SIZE,
    MAGIC,
    MAX_PARTITIONS,
    VERSION,
    VERSIONS,
    Entry,
    Header,
    PartitionType,
    RawHeader,
    table_size,
)
from ge_dialect.lowering.om.plan_payload import MANGLED_MAGICS, text_mode_error

_UNSUPPORTED_MODELS = {3: "flow", 5: "bundle"}
_SCAN_BYTES = 1 << 28
"""Where a plan lies in a file that we wrote: not behind gigabytes of weights."""


@dataclass
class Container:
    """An open `.om` file, checked and mapped into memory; its partitions are views.

    A context manager; `close` releases the file unless views of it are still in use.
    """

    path: str
    header: Header
    entries: tuple[Entry, ...]
    bits: int
    """Width of the offsets in the partition table, 32 or 64."""

    checked: bool
    """Whether the file carries a checksum (it then matched)."""

    _data: memoryview = field(repr=False)
    _map: mmap.mmap | None = field(repr=False, default=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Releases the file; views that are in use keep it mapped until they are gone."""
        with suppress(BufferError):
            self._data.release()
            if self._map is not None:
                self._map.close()

    def find(self, kind: int) -> Entry | None:
        """Returns where the partition of a type lies, or None where the file has none."""
        return next((entry for entry in self.entries if entry.type == kind), None)

    def view(self, kind: int) -> memoryview:
        """Returns the bytes of a partition, without a copy; empty where the file has none."""
        entry = self.find(kind)
        return self._data[:0] if entry is None else _slice(self._data, entry)


def open_container(path: str | os.PathLike[str]) -> Container:
    """Opens and checks an `.om` file of one model.

    Raises:
        GEError: GE0601 where it is truncated, GE0602 where a transfer in text mode changed it,
            GE0603 where it is no `.om` file, GE0606 where header, table and size disagree, GE0609
            where the checksum does not match, GE0612 where it is of a kind that is not supported,
            GE0613 where it cannot be read.
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            # An empty file cannot be mapped.
            empty = os.fstat(file.fileno()).st_size == 0
            mapped = None if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise GEError(
            "GE0613", f"cannot read '{name}': {reason}", hint="check the path of the .om file"
        ) from error
    return replace(read_container(b"" if mapped is None else mapped, name), _map=mapped)


def read_container(data: bytes | mmap.mmap, name: str = "model.om") -> Container:
    """Checks the bytes of an `.om` file; `name` is for messages.

    Raises:
        GEError: As `open_container`, but GE0613.
    """
    view = memoryview(data)
    try:
        return _read(view, name)
    except GEError as error:
        # Converted line ends move whatever follows them, so they look like any other damage.
        if error.code != "GE0603" and _has_mangled_plan(data):
            raise text_mode_error(f"'{name}'") from error
        raise


def _has_mangled_plan(data: bytes | mmap.mmap) -> bool:
    return any(data.find(magic, 0, _SCAN_BYTES) >= 0 for magic in MANGLED_MAGICS)


def _read(data: memoryview, name: str) -> Container:
    if bytes(data[:4]) != MAGIC[: len(data)]:
        raise GEError(
            "GE0603",
            f"'{name}' starts with {bytes(data[:4])!r}, expected {MAGIC!r}: it is no .om file",
            hint="to compile an ONNX model use ge-compile",
        )
    if len(data) < HEADER_SIZE:
        raise _truncated(name, len(data), HEADER_SIZE)
    raw = RawHeader(*HEADER.unpack_from(data))
    _check_header(raw, len(data), name)
    bits = 64 if raw.model_length else 32
    entries = _read_table(data, bits, name)
    checked = any(raw.checksum)
    if checked and _digest(data, bits, entries) != raw.checksum:
        raise GEError(
            "GE0609",
            f"'{name}' is damaged: its contents do not match the checksum in its header",
            hint="copy the file again or compile the model again",
        )
    about = Header(
        name=_text(raw.name),
        dynamic=bool(raw.is_dynamic),
        model_version=raw.model_version,
        platform=_text(raw.platform),
    )
    return Container(name, about, entries, bits, checked, data)


def _check_header(raw: RawHeader, size: int, name: str) -> None:
    if raw.head_size != HEADER_SIZE or raw.version not in VERSIONS:
        raise _broken(
            name,
            f"expected a header of {HEADER_SIZE} bytes and version {VERSION:#x},"
            f" got {raw.head_size} and {raw.version:#x}",
        )
    _check_supported(raw, name)
    expected = HEADER_SIZE + (raw.model_length or raw.length)
    if size < expected:
        raise _truncated(name, size, expected)
    if size > expected:
        raise _broken(name, f"expected {expected} bytes, got {size}")


def _check_supported(raw: RawHeader, name: str) -> None:
    kind = _UNSUPPORTED_MODELS.get(raw.model_type)
    count = raw.model_count if raw.version == VERSION else 1
    if raw.is_encrypted:
        kind = "encrypted"
    elif kind is None and count > 1:
        kind = f"file of {count}"
    if kind is not None:
        raise GEError(
            "GE0612",
            f"'{name}' is an .om {kind} model, expected one plain model",
            hint="use a file that ge-compile wrote",
        )


def _read_table(data: memoryview, bits: int, name: str) -> tuple[Entry, ...]:
    """Returns the entries; they fill the file from the table to the end, in order."""
    if len(data) < HEADER_SIZE + COUNT[bits].size:
        raise _broken(name, "it has no partition table")
    (count,) = COUNT[bits].unpack_from(data, HEADER_SIZE)
    start = HEADER_SIZE + table_size(count, bits)
    if not 1 <= count <= MAX_PARTITIONS or start > len(data):
        raise _broken(name, f"expected 1 to {MAX_PARTITIONS} partitions, got {count}")
    entries: list[Entry] = []
    end = start
    for index in range(count):
        at = HEADER_SIZE + table_size(index, bits)
        kind, offset, size = ENTRY[bits].unpack_from(data, at)
        if start + offset != end or end + size > len(data):
            raise _broken(
                name, f"partition {index} of type {kind} has offset {offset} and {size} bytes"
            )
        entries.append(Entry(kind, end, size))
        end += size
    if end != len(data):
        raise _broken(name, f"its partitions end at byte {end}, the file at {len(data)}")
    types = [entry.type for entry in entries]
    if len(set(types)) != count or PartitionType.MODEL_DEF not in types:
        raise _broken(name, f"expected MODEL_DEF (0) and each type once, got types {types}")
    return tuple(entries)


def _digest(data: memoryview, bits: int, entries: Sequence[Entry]) -> bytes:
    """Returns the checksum of a file, as its header should have it."""
    head = bytearray(data[: HEADER_SIZE + table_size(len(entries), bits)])
    head[CHECKSUM] = bytes(64)
    digest = hashlib.blake2b(head)
    for entry in entries:
        if entry.type != PartitionType.WEIGHTS_DATA:
            digest.update(_slice(data, entry))
    return digest.digest()


def _slice(data: memoryview, entry: Entry) -> memoryview:
    return data[entry.offset : entry.offset + entry.size]


def _text(data: bytes) -> str:
    return data.partition(b"\0")[0].decode("utf-8", "replace")


def _truncated(name: str, size: int, expected: int) -> GEError:
    return GEError(
        "GE0601",
        f"'{name}' is truncated: expected {expected} bytes, got {size}",
        hint="copy the file again, or compile the model again",
    )


def _broken(name: str, what: str) -> GEError:
    return GEError(
        "GE0606",
        f"'{name}' is damaged: {what}",
        hint="copy the file again or compile the model again",
    )
