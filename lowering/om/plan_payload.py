r"""The plan partition: the exact plan as compressed MLIR text, with a checksum and a version.

It is stored as partition type 9, STATIC_TASK_DESC: a static description of tasks is what it is,
and viewers skip that type. Layout, little-endian:

| offset | size | field |
| ------ | ---- | ----- |
| 0  | 10 | magic, `GEPLAN\r\n\x1a\n`: its line ends show a transfer in text mode, as in PNG |
| 10 | 2  | major version: a change that older or newer readers cannot bridge |
| 12 | 2  | minor version: an addition, which readers of the same major and a newer minor take |
| 14 | 4  | flags: 0; a reader refuses flags that it does not know |
| 18 | 8  | bytes of the text |
| 26 | 8  | bytes of the compressed text |
| 34 | 32 | BLAKE2b of the text and then of the size of the weights partition (`u64`) |
| 66 | .. | the text as UTF-8, a zlib stream; then zeros, which align what follows |
"""

import hashlib
import struct
import zlib
from typing import NamedTuple

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.versions import PLAN_VERSION, upgraded

PLAN_MAGIC = b"GEPLAN\r\n\x1a\n"
DEFAULT_LIMIT = 1 << 28
"""Bytes of text that `decode_plan` takes unless told otherwise."""

PLAN_HEADER_SIZE = 66
_HEADER = struct.Struct("<10sHHIQQ32s")
_MAX_PADDING = 1 << 16


class _Header(NamedTuple):
    magic: bytes
    major: int
    minor: int
    flags: int
    raw_size: int
    packed_size: int
    digest: bytes


def encode_plan(text: str, *, weights_size: int = 0) -> bytes:
    """Returns the payload of the plan partition.

    Args:
        text: The module, as MLIR text.
        weights_size: Bytes of the weights partition of the same file.

    >>> decode_plan(encode_plan("builtin.module {}"))
    'builtin.module {}'
    """
    raw = text.encode("utf-8")
    packed = zlib.compress(raw, 6)
    digest = _digest(raw, weights_size)
    header = _Header(PLAN_MAGIC, *PLAN_VERSION, 0, len(raw), len(packed), digest)
    return _HEADER.pack(*header) + packed


def decode_plan(
    data: bytes | memoryview, *, weights_size: int = 0, limit: int = DEFAULT_LIMIT
) -> str:
    """Returns the text of a plan partition; never unpacks more than `limit` bytes.

    The text of an older minor version is upgraded.

    Raises:
        GEError: GE0601 where it is truncated, GE0602 where a transfer changed its line ends,
            GE0604 and GE0605 for another version, GE0608 where it is no plan of ours, GE0609
            where its contents or `weights_size` do not match the checksum, GE0610 where the text
            is larger than `limit`.
    """
    header = _read_header(data)
    if header.raw_size > limit:
        raise GEError(
            "GE0610",
            f"the plan takes {header.raw_size} bytes as text, expected at most {limit}",
            hint="raise the limit where the file is trusted",
        )
    body = memoryview(data)[_HEADER.size :]
    if len(body) < header.packed_size:
        raise GEError(
            "GE0601",
            f"the plan is truncated: expected {header.packed_size} bytes of compressed text,"
            f" got {len(body)}",
            hint="copy the file again, in binary mode",
        )
    padding = body[header.packed_size :]
    if len(padding) >= _MAX_PADDING or any(padding):
        raise _damaged(f"expected zeros after its {header.packed_size} bytes of text")
    raw = _unpack(body[: header.packed_size], header.raw_size)
    if _digest(raw, weights_size) != header.digest:
        raise _damaged(f"its checksum does not match (weights partition of {weights_size} bytes)")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _damaged("its text is not UTF-8") from error
    return upgraded(text, (header.major, header.minor))


def is_mangled(data: bytes | memoryview) -> bool:
    """Says whether `data` starts with the magic as a text mode transfer would leave it."""
    head = bytes(data[:16])
    return any(head.startswith(magic) for magic in MANGLED_MAGICS)


def _mangled_magics() -> tuple[bytes, ...]:
    """Returns what becomes of the magic where LF turns into CRLF, CRLF into LF or either to CR."""
    unix = PLAN_MAGIC.replace(b"\r\n", b"\n")
    return (
        PLAN_MAGIC.replace(b"\n", b"\r\n"),
        unix.replace(b"\n", b"\r\n"),
        unix,
        unix.replace(b"\n", b"\r"),
        PLAN_MAGIC.replace(b"\n", b"\r"),
    )


MANGLED_MAGICS = _mangled_magics()


def _read_header(data: bytes | memoryview) -> _Header:
    """Returns the header of a payload whose version this reader takes."""
    if bytes(data[: len(PLAN_MAGIC)]) != PLAN_MAGIC:
        if is_mangled(data):
            raise text_mode_error("the plan partition")
        raise GEError(
            "GE0608",
            f"the plan partition starts with {bytes(data[:10])!r}, expected {PLAN_MAGIC!r}",
            hint="the file was written by another compiler: compile the model with ge-compile",
        )
    if len(data) < _HEADER.size:
        raise GEError(
            "GE0601",
            f"the plan is truncated: expected {_HEADER.size} bytes of header, got {len(data)}",
            hint="copy the file again, in binary mode",
        )
    header = _Header(*_HEADER.unpack_from(data))
    _check_version(header)
    return header


def _check_version(header: _Header) -> None:
    found, known = (header.major, header.minor), PLAN_VERSION
    if found > known or (found[0] == known[0] and header.flags):
        raise GEError(
            "GE0604",
            f"the plan has version {found[0]}.{found[1]} and flags {header.flags:#x},"
            f" expected at most {known[0]}.{known[1]} and no flags",
            hint="use the ge-dialect that wrote the file, or a newer one",
        )
    if found[0] < known[0]:
        raise GEError(
            "GE0605",
            f"the plan has version {found[0]}.{found[1]}, expected {known[0]}.0 or newer",
            hint="compile the model again with this version of ge-dialect",
        )


def _unpack(packed: memoryview, size: int) -> bytes:
    """Returns `size` bytes out of a zlib stream that holds exactly as many."""
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(packed, size + 1)
    except zlib.error as error:
        raise _damaged(f"its text cannot be unpacked ({error})") from error
    if len(raw) != size or not stream.eof or stream.unused_data:
        raise _damaged(f"expected {size} bytes of text in its {len(packed)} compressed bytes")
    return raw


def _digest(raw: bytes, weights_size: int) -> bytes:
    digest = hashlib.blake2b(raw, digest_size=32)
    digest.update(struct.pack("<Q", weights_size))
    return digest.digest()


def _damaged(what: str) -> GEError:
    return GEError(
        "GE0609",
        f"the plan is damaged: {what}",
        hint="copy the file again or compile the model again",
    )


def text_mode_error(where: str) -> GEError:
    """Returns the error for a file whose line ends a transfer has changed."""
    return GEError(
        "GE0602",
        f"{where} was changed by a transfer in text mode: its line ends were converted",
        hint="transfer the file in binary mode (git: mark '*.om' as binary)",
    )
