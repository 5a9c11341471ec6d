"""Finds what nobody reads of the nodes of an ONNX file: notes of exporters.

Stack traces and scopes of modules are most of the bytes of a model whose weights lie elsewhere.

Source: protobuf.dev, "Encoding"; field numbers of `onnx-ml.proto`.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeAlias

Bytes: TypeAlias = bytes | mmap.mmap

# Fields of a NodeProto: `doc_string` and `metadata_props`; and the others, but for those that no
# operator of ONNX has.
_NOTES = (6, 9)
_READ = (1, 2, 3, 4, 5, 7, 8)
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


@cache
def short_head(tag: int, length: int) -> bytes:
    """Returns what a field of less than 16 KiB begins with: its tag and its length."""
    if length > _LOW_BITS:
        return bytes((tag, length & _LOW_BITS | 0x80, length >> 7))
    return bytes((tag, length))


def notes_of(data: Bytes, nodes: Sequence[tuple[int, int]]) -> list[int]:
    """Returns where the notes begin that NodeProtos end with: the end where one has none, and -1
    where a field is of another kind or longer than 16 KiB, or one that is read follows on a note.

    Fields are passed over one by one, but of all nodes at once.

    Args:
        data: The file; at least two bytes of it lie behind the last node.
        nodes: Where they begin and end.
    """
    import numpy as np

    file = np.frombuffer(data, np.uint8)
    is_note, is_known = np.zeros(256, np.bool_), np.zeros(256, np.bool_)
    is_note[[number << 3 | 2 for number in _NOTES]] = True
    is_known[[number << 3 | 2 for number in (*_NOTES, *_READ)]] = True
    begins, stops = zip(*nodes, strict=True)
    position, ends = np.array(begins, np.int64), np.array(stops, np.int64)
    notes = ends.copy()
    left = np.flatnonzero(position < ends)
    while left.size:
        at = position[left]
        tag, length, high = file[at], file[at + 1].astype(np.int64), file[at + 2].astype(np.int64)
        high[length <= _LOW_BITS] = 1  # else a length of two bytes of seven bits
        noted = notes[left] < ends[left]
        good = is_known[tag] & (high <= _LOW_BITS) & (is_note[tag] | ~noted)
        notes[left] = np.where(good, np.where(is_note[tag] & ~noted, at, notes[left]), -1)
        at += 2 + length + (length > _LOW_BITS) * ((high << 7) - _LOW_BITS)
        position[left] = at
        left = left[good & (at < ends[left])]
    notes[position != ends] = -1
    return notes.tolist()
