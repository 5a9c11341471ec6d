"""docs/om.md is enough to write a reader: this one knows nothing else, and none of our code."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent / "golden"
FILES = sorted(FOLDER.glob("*.om"))

DTYPES = {1: ("f32", 4), 2: ("f16", 2), 8: ("i64", 8), 11: ("i1", 1)}


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each field: an int, four or eight bytes, or bytes of a length."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        match key & 7:
            case 0:
                value, at = varint(data, at)
            case 1:
                value, at = data[at : at + 8], at + 8
            case 2:
                size, at = varint(data, at)
                value, at = data[at : at + size], at + size
            case 5:
                value, at = data[at : at + 4], at + 4
            case kind:
                raise ValueError(f"wire type {kind}")
        yield key >> 3, value


def all_of(data: bytes, number: int) -> list[Any]:
    return [value for found, value in fields(data) if found == number]


def one_of(data: bytes, number: int, default: Any) -> Any:
    return (all_of(data, number) or [default])[-1]


def text(data: bytes, number: int) -> str:
    return one_of(data, number, b"").decode()


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def ints(data: bytes, number: int) -> list[int]:
    """A repeated number, packed."""
    found: list[int] = []
    for value in all_of(data, number):
        at = 0
        while at < len(value):
            item, at = varint(value, at)
            found.append(signed(item))
    return found


def attrs(data: bytes, number: int) -> dict[str, bytes]:
    return {text(entry, 1): one_of(entry, 2, b"") for entry in all_of(data, number)}


def partitions(data: bytes) -> dict[int, bytes]:
    magic, head, version = struct.unpack_from("<4sII", data)
    assert (magic, head, version) == (b"IMOD", 256, 0x20000000)
    (length,) = struct.unpack_from("<Q", data, 184)
    assert len(data) == 256 + length
    (count,) = struct.unpack_from("<I4x", data, 256)
    start = 256 + 8 + 24 * count
    checked = hashlib.blake2b(data[:12] + bytes(64) + data[76:start])
    found: dict[int, bytes] = {}
    for index in range(count):
        kind, offset, size = struct.unpack_from("<I4xQQ", data, 264 + 24 * index)
        assert start + offset == start + sum(map(len, found.values()))
        found[kind] = data[start + offset : start + offset + size]
        if kind != 1:
            checked.update(found[kind])
    assert checked.digest() == data[12:76]
    return found


def plan_text(payload: bytes, weights: int) -> str:
    assert payload.startswith(b"GEPLAN\r\n\x1a\n")
    major, minor, flags, size, packed = struct.unpack_from("<HHIQQ", payload, 10)
    assert (major, minor, flags) == (1, 0, 0)
    raw = zlib.decompress(payload[66 : 66 + packed])
    assert len(raw) == size
    assert not any(payload[66 + packed :])
    digest = hashlib.blake2b(raw + struct.pack("<Q", weights), digest_size=32)
    assert digest.digest() == payload[34:66]
    return raw.decode()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_plan_is_read(path: Path):
    found = partitions(path.read_bytes())
    assert list(found) == [0, 9, 1, 2]
    assert plan_text(found[9], len(found[1])) == path.with_suffix(".mlir").read_text()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_weights_start_where_they_can_be_mapped(path: Path):
    data = path.read_bytes()
    assert data.index(partitions(data)[1]) % 4096 == 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_graph_is_read(path: Path):
    found = partitions(path.read_bytes())
    (graph,) = all_of(found[0], 7)
    ops = all_of(graph, 6)
    assert text(ops[-1], 2) == "NetOutput"
    assert [signed(one_of(op, 21, 0)) for op in ops] == list(range(len(ops)))
    results: dict[str, bytes] = {}
    for op in ops:
        operands = [value.decode() for value in all_of(op, 5)]
        for operand, desc in zip(operands, all_of(op, 33), strict=True):
            assert one_of(results[operand], 2, 0) == one_of(desc, 2, 0)
        for index, desc in enumerate(all_of(op, 34)):
            results[f"{text(op, 1)}:{index}"] = desc
    sizes = {name: signed(one_of(value, 3, 0)) for name, value in attrs(found[0], 11).items()}
    assert sizes["weight_size"] == len(found[1])
    for op in ops:
        offsets = ints(op, 29)
        if text(op, 2) not in ("Const", "ConcatD") and offsets:
            descs = all_of(op, 34)
            ends = [o + one_of(d, 10, 0) for o, d in zip(offsets, descs, strict=True)]
            assert max(ends) <= sizes["memory_size"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_weights_are_read(path: Path):
    found = partitions(path.read_bytes())
    (graph,) = all_of(found[0], 7)
    consts = [op for op in all_of(graph, 6) if text(op, 2) == "Const"]
    assert consts
    for op in consts:
        desc = one_of(one_of(attrs(op, 10)["value"], 12, b""), 1, b"")
        offset, size = one_of(desc, 18, 0), one_of(desc, 11, 0)
        assert offset % 512 == 0
        count = 1
        for dim in ints(one_of(desc, 3, b""), 1):
            count *= dim
        name, width = DTYPES[one_of(desc, 2, 0)]
        assert size == count * width
        values = found[1][offset : offset + size]
        if name == "f32":
            assert struct.unpack(f"<{count}f", values) == (2.5,) * count
        else:
            assert values == b"\1"


def test_the_tasks_are_read():
    found = partitions((FOLDER / "1.0-control.om").read_bytes())
    (graph,) = all_of(found[0], 7)
    ids = {one_of(op, 21, 0) for op in all_of(graph, 6)}
    tasks = all_of(found[2], 10)
    kinds = [one_of(task, 2, 0) for task in tasks]
    assert {0, 1, 2, 8, 9, 13, 23, 24} == set(kinds)
    work = one_of(found[2], 11, 0)
    end = work + one_of(found[2], 14, 0)
    records = [one_of(t, 11, 0) for t, kind in zip(tasks, kinds, strict=True) if kind == 1]
    waits = [one_of(t, 11, 0) for t, kind in zip(tasks, kinds, strict=True) if kind == 2]
    assert sorted(records) == sorted(waits)
    for task, kind in zip(tasks, kinds, strict=True):
        if kind == 0:
            kernel = one_of(task, 20, b"")
            context = one_of(kernel, 1, b"")
            assert one_of(context, 4, 0) in ids
            arguments = one_of(kernel, 13, b"")
            count = one_of(context, 7, 0)
            assert all(at < end for at in struct.unpack(f"<{count}Q", arguments))
            assert f"ge_exec.kernel @{text(kernel, 17)} " in plan_text(found[9], len(found[1]))
        if kind == 13:
            copy = one_of(task, 31, b"")
            assert max(one_of(copy, 1, 0), one_of(copy, 3, 0)) + one_of(copy, 4, 0) <= end
