"""Finds what nobody reads of the nodes of an ONNX file: notes of exporters.

Stack traces and scopes of modules are most of the bytes of a model whose weights lie elsewhere.

Source: protobuf.dev, "Encoding"; field numbers of `onnx-ml.proto`.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from typing import TypeAlias

Bytes: TypeAlias = bytes | mmap.mmap

# Tags of fields of a NodeProto: `doc_string` and `metadata_props`; and the others, but for those
# that no operator of ONNX has.
_NOTES = frozenset(number << 3 | 2 for number in (6, 9))
_READ = frozenset(number << 3 | 2 for number in (1, 2, 3, 4, 5, 7, 8))
_LOW_BITS = 0x7F

# How an entry of `metadata_props` begins, or a long `doc_string`; and how many bytes of nodes are
# looked through for one.
_NOTE = re.compile(rb"\x4a[\x80-\xff]{0,3}[\x00-\x7f]\x0a|\x32[\x80-\xff]{1,3}[\x01-\x7f]")
_SAMPLE = 1 << 14


def short_fields(
    data: Bytes, start: int, end: int, tag: int, most: int
) -> Iterator[tuple[int, int]]:
    """Yields where the contents of fields begin and end that follow on one another.

    Args:
        data: The file.
        start: Of the first one.
        end: Of the message around them.
        tag: Theirs, of one byte. The first field with another tag, of 16 KiB or more, or near the
            end of the file is not among them, nor are those behind it.
        most: How many there are at most.
    """
    position, last = start, min(end, len(data) - 2)
    for _ in range(most):
        if position >= last or data[position] != tag:
            return
        content = position + 2
        position = content + data[position + 1]
        if position - content > _LOW_BITS:  # two bytes of seven bits
            high = data[content]
            position += (high << 7) - _LOW_BITS
            content += 1
            if high > _LOW_BITS:
                return
        if position > last:
            return
        yield content, position


def seem_noted(data: Bytes, start: int, end: int) -> bool:
    """Whether nodes between these places have notes: exporters note at all, or at none."""
    return _NOTE.search(data, start, min(end, start + _SAMPLE)) is not None


def short_field(tag: int, content: bytes) -> bytes:
    """Returns a field of less than 16 KiB."""
    length = len(content)
    if length > _LOW_BITS:
        return bytes((tag, length & _LOW_BITS | 0x80, length >> 7)) + content
    return bytes((tag, length)) + content


def notes_of(data: Bytes, start: int, end: int) -> int:
    """Returns where the notes begin that a NodeProto ends with: `end` where it has none, and -1
    where a field is of another kind or longer than 16 KiB, or one that is read follows on a note.

    Args:
        data: The file; at least two bytes of it lie behind `end`.
        start: Of the message.
        end: Of the message.
    """
    position, notes, expected = start, end, _READ
    while position < end:
        tag, length = data[position], data[position + 1]
        if tag not in expected:
            if tag not in _NOTES:
                return -1
            notes, expected = position, _NOTES
        position += 2 + length
        if length > _LOW_BITS:  # two bytes of seven bits
            high = data[position - length]
            if high > _LOW_BITS:
                return -1
            position += (high << 7) - _LOW_BITS
    return notes if position == end else -1
