"""Finds the big tensors of an ONNX file without reading them.

An `.onnx` file is one protobuf message. Only its framing is read here: the scanner walks down to
`TensorProto.raw_data`, notes where the bytes lie in the file, and leaves a mark in their place.
What remains (nodes, names, types, small tensors) is a valid `ModelProto` of a few per cent of the
size, which the protobuf library then parses. Messages too short to hold a big tensor are skipped
whole, so the work follows the number of nodes and big tensors, not the size of the file. Left out
as well is what is seldom read, or never: what the main graph says of the types of inner values,
and the notes of exporters at its nodes.

Source: protobuf.dev, "Encoding"; field numbers of `onnx-ml.proto`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.notes import Bytes, notes_of, seem_noted, short_fields, short_head

DEFAULT_THRESHOLD = 1024
STRIPPED_KEY = "ge.stripped"

# Protobuf itself refuses deeper messages.
_MAX_DEPTH = 100
# A bound on time for files made to be slow: some seconds. Real models need some ten thousand.
_MAX_FIELDS = 4_000_000
# Smaller files have no more fields, each of two bytes at least: behind the last big tensor the
# framing is left to protobuf.
_MAX_UNSEEN = 2 * _MAX_FIELDS
# How many nodes are looked through for notes at once.
_AT_ONCE = 4096

# A varint holds 7 bits a byte, in at most 10 bytes.
_LOW_BITS, _MAX_SHIFT = 0x7F, 70
_VARINT, _FIXED64, _LEN, _FIXED32 = 0, 1, 2, 5
_FIXED_BYTES = {_FIXED64: 8, _FIXED32: 4}
_RAW_DATA = "raw_data"
_MAIN_GRAPH = 1  # how many messages are around its fields
# Tags of a GraphProto's fields `node`, `initializer`, and `value_info`.
_NODE, _INITIALIZER, _VALUE_INFO = 0x0A, 0x2A, 0x6A
# The tag of `TensorProto.raw_data`; and the same with a length of 1024 or more. Where these bytes
# are not, there is no big tensor, whatever else lies there.
_TENSOR = re.compile(rb"\x4a")
_LONG_TENSOR = re.compile(rb"\x4a[\x80-\xff][\x08-\xff]", re.DOTALL)
_LONG = 1024
# Message -> field number -> what lies there. Sparse tensors are refused later, whole.
_CHILDREN: dict[str, dict[int, str]] = {
    "ModelProto": {7: "GraphProto", 25: "FunctionProto"},
    "GraphProto": {1: "NodeProto", 5: "TensorProto"},
    "FunctionProto": {7: "NodeProto", 11: "AttributeProto"},
    "NodeProto": {5: "AttributeProto"},
    "AttributeProto": {5: "TensorProto", 6: "GraphProto", 10: "TensorProto", 11: "GraphProto"},
    "TensorProto": {9: _RAW_DATA},
}
# The (field, wire type) pairs that a ModelProto may begin with.
_MODEL_TAGS = frozenset(
    ((1, _VARINT), (5, _VARINT), *((number, _LEN) for number in (2, 3, 4, 6, 7, 8, 14, 20, 25, 26)))
)

# Items of a list are a field each in an AttributeProto: runs of `floats`, of `ints`, or of short
# `strings`. Bounded, since the matcher keeps a note of every repetition.
_SHORT = b"|".join(b"\\x%02x.{%d}" % (length, length) for length in range(17))
_ITEMS = re.compile(
    b"|".join(
        b"(?:%b){2,4096}" % item
        for item in (rb"\x3d.{4}", rb"\x40[\x80-\xff]{0,9}[\x00-\x7f]", b"\\x4a(?:%b)" % _SHORT)
    ),
    re.DOTALL,
)


@dataclass(frozen=True)
class RawRange:
    """Where the bytes of a tensor lie in the file; both in bytes."""

    offset: int
    length: int


@dataclass(frozen=True)
class Stripped:
    """A model without the bytes of its big tensors.

    Attributes:
        model: A serialised `ModelProto`. In the place of each `raw_data` that was taken out stands
            an entry `external_data {key: STRIPPED_KEY, value: "<index into ranges>"}`. The nodes of
            its graph have no notes.
        ranges: The bytes taken out, in the order of the file.
        value_info: What was said of the values of its graph, as a serialised `GraphProto`.
    """

    model: bytes
    ranges: tuple[RawRange, ...]
    value_info: bytes


def strip(data: Bytes, name: str, threshold: int = DEFAULT_THRESHOLD) -> Stripped:
    """Takes every `raw_data` longer than `threshold` bytes out of a serialised ModelProto, and what
    is seldom read.

    Args:
        data: The file, best memory-mapped: of the tensors, only their first bytes are touched.
        name: The file's name, for messages.
        threshold: In bytes.

    Raises:
        GEError: `data` is no ModelProto (GE0202), or ends in the middle of a field (GE0203).
    """
    if len(data) == 0:
        raise GEError("GE0202", f"'{name}' is empty", hint="expected an ONNX model")
    scanner = _Scanner(data, name, threshold, is_thorough=len(data) > _MAX_UNSEEN)
    scanner.next_field(0, len(data), 0)
    pieces = scanner.message("ModelProto", 0, len(data), 0)
    model = data[:] if pieces is None else _joined(data, pieces)
    return Stripped(model, tuple(scanner.ranges), _joined(data, scanner.value_info))


def _joined(data: Bytes, pieces: list[_Piece]) -> bytes:
    with memoryview(data) as view:
        return b"".join(
            [one if isinstance(one, bytes) else view[one.start : one.stop] for one in pieces]
        )


def check_framing(data: Bytes, name: str) -> None:
    """Says what is wrong with a file that protobuf could not parse, if it is the framing.

    Raises:
        GEError: As `strip`.
    """
    scanner = _Scanner(data, name, DEFAULT_THRESHOLD, is_thorough=True)
    scanner.message("ModelProto", 0, len(data), 0)


_Piece: TypeAlias = bytes | range
"""Bytes, or where they are in the file."""

_Node: TypeAlias = tuple[int, int, int]
"""Where the content of a node begins and ends, and where its notes begin, as `notes_of` tells."""


@dataclass
class _Scanner:
    data: Bytes
    name: str
    threshold: int
    is_thorough: bool
    ranges: list[RawRange] = field(default_factory=list[RawRange])
    value_info: list[_Piece] = field(default_factory=list["_Piece"])
    is_noted: bool | None = None
    ahead: dict[int, _Node] = field(default_factory=dict[int, "_Node"])
    fields: int = 0
    candidate: int = -1

    def __post_init__(self) -> None:
        self.pattern = _LONG_TENSOR if self.threshold >= _LONG else _TENSOR

    def message(self, kind: str, start: int, end: int, depth: int) -> list[_Piece] | None:
        """Returns the message in pieces, without its big tensors; None where it has none."""
        if depth > _MAX_DEPTH:
            raise self.corrupt(start, f"messages nest deeper than {_MAX_DEPTH}")
        children = _CHILDREN[kind]
        pieces: list[_Piece] = []
        position = copied = start
        while position < end:
            if depth == _MAIN_GRAPH and kind == "GraphProto":
                behind, copied = self.run(position, end, copied, pieces)
                if behind > position:
                    position = behind
                    continue
            elif depth > _MAIN_GRAPH and self.is_done(position, end):
                break
            if kind == "AttributeProto" and (run := _ITEMS.match(self.data, position, end)):
                position = run.end()
                continue
            number, wire, content, after = self.next_field(position, end, depth)
            big = wire == _LEN and after - content > self.threshold
            if big and (child := children.get(number)) is not None:
                replaced = self.replace(child, number, content, after, depth)
                if replaced is not None:
                    pieces.append(range(copied, position))
                    pieces.extend(replaced)
                    copied = after
            position = after
        if not pieces:
            return None
        pieces.append(range(copied, end))
        return pieces

    def run(self, start: int, end: int, copied: int, pieces: list[_Piece]) -> tuple[int, int]:
        """Passes over nodes, small tensors, or types of values of the main graph, as many as there
        are one after the other.

        Args:
            start: Of the first of these fields, or of another one.
            end: Of the graph.
            copied: Where what is kept begins that is not in `pieces` yet.
            pieces: Takes what is kept before fields that are not, or not as they are.

        Returns:
            Where the next field begins, and `copied` from there on.
        """
        tag, position = self.data[start], start
        if tag == _NODE:
            return self.nodes(start, end, copied, pieces)
        if tag not in (_INITIALIZER, _VALUE_INFO):
            return start, copied
        for content, after in self.short_fields(start, end, tag):
            self.fields += 1
            if after - content > self.threshold and tag == _INITIALIZER:
                break
            position = after
        if tag == _VALUE_INFO:
            pieces.append(range(copied, start))
            self.value_info.append(range(start, position))
            copied = position
        return position, copied

    def nodes(self, start: int, end: int, copied: int, pieces: list[_Piece]) -> tuple[int, int]:
        """As `run`, of nodes; their notes are left out."""
        position = start
        while (
            node := self.ahead.pop(position, None) or self.look_ahead(position, end)
        ) is not None:
            content, after, notes = node
            self.fields += 1
            if notes < 0 or notes - content > self.threshold:
                break  # it may hold a big tensor
            if notes < after:
                if copied < position:
                    pieces.append(range(copied, position))
                pieces.append(short_head(_NODE, notes - content) + self.data[content:notes])
                copied = after
            position = after
        return position, copied

    def look_ahead(self, start: int, end: int) -> _Node | None:
        """Looks through some nodes at once; returns the first one, None where there is none."""
        nodes = list(islice(self.short_fields(start, end, _NODE), _AT_ONCE))
        if not nodes:
            return None
        if self.is_noted is None:
            self.is_noted = seem_noted(self.data, start, end)
        contents, ends = zip(*nodes, strict=True)
        notes = notes_of(self.data, nodes) if self.is_noted else ends
        starts = (start, *ends[:-1])
        self.ahead = dict(zip(starts, zip(contents, ends, notes, strict=True), strict=True))
        return self.ahead.pop(start)

    def short_fields(self, start: int, end: int, tag: int) -> Iterator[tuple[int, int]]:
        return short_fields(self.data, start, end, tag, _MAX_FIELDS - self.fields)

    def is_done(self, position: int, end: int) -> bool:
        """Whether no big tensor lies there, and what does need not be looked at."""
        if self.candidate < position:
            found = self.pattern.search(self.data, position)
            self.candidate = len(self.data) if found is None else found.start()
        return self.candidate >= end and not self.is_thorough

    def replace(
        self, child: str, number: int, start: int, end: int, depth: int
    ) -> list[_Piece] | None:
        """Returns what stands for a field, tag included; None where it stays as it is."""
        if child == _RAW_DATA:
            self.ranges.append(RawRange(start, end - start))
            return [_mark(len(self.ranges) - 1)]
        pieces = self.message(child, start, end, depth + 1)
        if pieces is None:
            return None
        length = sum(map(len, pieces))
        return [_encode_varint(number << 3 | _LEN) + _encode_varint(length), *pieces]

    def next_field(self, position: int, end: int, depth: int) -> tuple[int, int, int, int]:
        """Reads a tag; returns its number, wire type, and where its content begins and ends."""
        self.fields += 1
        if self.fields > _MAX_FIELDS:
            raise self.corrupt(position, f"more than {_MAX_FIELDS} fields")
        if 0 < position < end - 2:
            # A tag of one byte and a length of one or two: most fields.
            data, content = self.data, position + 2
            tag, length = data[position], data[position + 1]
            if length > _LOW_BITS:
                length += data[content] - 1 << 7
                content += 1
            after = content + length
            if tag & 0x87 == _LEN < tag and length < 1 << 14 and after <= end:
                return tag >> 3, _LEN, content, after
        return self.any_field(position, end, depth)

    def any_field(self, position: int, end: int, depth: int) -> tuple[int, int, int, int]:
        """As `next_field`, for fields of any kind."""
        tag, content = self.varint(position, end, depth)
        number, wire = tag >> 3, tag & 7
        if position == 0 and (number, wire) not in _MODEL_TAGS:
            raise GEError(
                "GE0202",
                f"'{self.name}' is not an ONNX model: {describe_foreign(self.data[:512])}",
                hint="expected a binary ModelProto, as torch.onnx.export or onnx.save writes it",
            )
        if number == 0:
            raise self.corrupt(position, "field number 0")
        if wire == _LEN:
            length, content = self.varint(content, end, depth)
            after = content + length
        elif wire == _VARINT:
            _, after = self.varint(content, end, depth)
        elif wire in _FIXED_BYTES:
            after = content + _FIXED_BYTES[wire]
        else:
            raise self.corrupt(position, f"unknown wire type {wire}")
        if after > end:
            raise self.overrun(position, after - position, end, depth)
        return number, wire, content, after

    def varint(self, position: int, end: int, depth: int) -> tuple[int, int]:
        """Reads a variable-length number; returns it and the position behind it."""
        data, value, shift = self.data, 0, 0
        start = position
        while position < end:
            byte = data[position]
            position += 1
            value |= (byte & _LOW_BITS) << shift
            if byte <= _LOW_BITS:
                return value, position
            shift += 7
            if shift >= _MAX_SHIFT:
                raise self.corrupt(start, "a number of more than 10 bytes")
        raise self.overrun(start, position - start + 1, end, depth)

    def overrun(self, position: int, needed: int, end: int, depth: int) -> GEError:
        """A field longer than what holds it: at the outermost level, the file was cut."""
        if depth > 0:
            return self.corrupt(position, f"a field of {needed} bytes where {end - position} fit")
        return GEError(
            "GE0203",
            f"'{self.name}' is truncated: the field at byte {position} takes {needed} bytes, "
            f"{end - position} are left",
            hint="copy or download the file again",
        )

    def corrupt(self, position: int, reason: str) -> GEError:
        return GEError(
            "GE0202",
            f"'{self.name}' is not a valid ONNX model: {reason} at byte {position}",
            hint="copy or export the file again",
        )


def describe_foreign(head: bytes) -> str:
    """Says what a file that is no ONNX model looks like, from its first bytes."""
    known = (
        (b"version https://git-lfs", "it is a Git LFS pointer ('git lfs pull' fetches the model)"),
        (b"PK\x03\x04", "it is a zip archive (a PyTorch checkpoint?)"),
        (b"\x80\x02", "it is a Python pickle (a PyTorch checkpoint?)"),
        (b"\x89HDF", "it is an HDF5 file (a Keras model?)"),
        (b"IMOD", "it is an offline model (.om)"),
        (b"<!DOCTYPE", "it is a web page"),
        (b"<html", "it is a web page"),
        (b"ir_version", "it is ONNX in text form"),
        (b"<\n", "it is ONNX in text form"),
    )
    for magic, what in known:
        if head.startswith(magic):
            return what
    if head[4:8] == b"TFL3":
        return "it is a TensorFlow Lite model"
    return f"it begins with bytes {head[:8].hex(' ')}"


def _mark(index: int) -> bytes:
    """Encodes `TensorProto.external_data {key: STRIPPED_KEY, value: index}`."""
    key, value = STRIPPED_KEY.encode(), str(index).encode()
    entry = b"\x0a" + _encode_varint(len(key)) + key + b"\x12" + _encode_varint(len(value)) + value
    return b"\x6a" + _encode_varint(len(entry)) + entry


def _encode_varint(value: int) -> bytes:
    encoded = bytearray()
    while value > _LOW_BITS:
        encoded.append(value & _LOW_BITS | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
