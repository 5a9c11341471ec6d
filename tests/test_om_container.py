"""The `.om` container: what is written is read back, and no damage goes unnoticed."""

import os
import struct
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.container import (
    Container,
    open_container,
    read_container,
)
from ge_dialect.lowering.om.layout import HEADER_SIZE, Header, PartitionType
from ge_dialect.lowering.om.plan_payload import decode_plan, encode_plan
from ge_dialect.lowering.om.writer import (
    Partition,
    container_bytes,
    weights_padding,
    write_container,
)

PLAN = "builtin.module {\n  ge_exec.plan @main\n}\n"
CHECKSUM = slice(12, 76)
WEIGHTS = b"\n\r\n weights \0" * 3


class Repeated:
    """A payload that writes itself in pieces, `written` bytes in all."""

    def __init__(self, size: int, written: int | None = None):
        self.size = size
        self.written = size if written is None else written

    def write_to(self, file: BinaryIO) -> None:
        for start in range(0, self.written, 1000):
            file.write(b"x" * min(1000, self.written - start))


def partitions(weights: bytes = WEIGHTS) -> list[Partition]:
    return [
        Partition(PartitionType.MODEL_DEF, b"model\n"),
        Partition(PartitionType.PLAN, encode_plan(PLAN, weights_size=len(weights))),
        Partition(PartitionType.WEIGHTS_DATA, weights),
        Partition(PartitionType.TASK_INFO, b"tasks"),
    ]


def small_file() -> bytes:
    return container_bytes(partitions(), Header("small"))


def without_checksum(data: bytes) -> bytes:
    return data[: CHECKSUM.start] + bytes(64) + data[CHECKSUM.stop :]


def plan_of(container: Container) -> str:
    weights = container.view(PartitionType.WEIGHTS_DATA)
    return decode_plan(container.view(PartitionType.PLAN), weights_size=len(weights))


def code_of(data: bytes) -> str:
    with pytest.raises(GEError) as error:
        plan_of(read_container(data))
    assert "\n" not in str(error.value)
    return error.value.code


def legacy_file(*payloads: tuple[int, bytes]) -> bytes:
    """A file with the table of 32 bits, as writers of old make it."""
    table, offset = struct.pack("<I", len(payloads)), 0
    for kind, payload in payloads:
        table += struct.pack("<III", kind, offset, len(payload))
        offset += len(payload)
    body = table + b"".join(payload for _, payload in payloads)
    header = bytearray(HEADER_SIZE)
    struct.pack_into("<4sII", header, 0, b"IMOD", HEADER_SIZE, 0x10000000)
    struct.pack_into("<I", header, 76, len(body))
    return bytes(header) + body


# Reading what was written.


def test_a_file_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "m.om"
    write_container(path, partitions(), Header("näme", dynamic=True, platform="Ascend310P3"))
    with open_container(path) as container:
        assert container.header == Header("näme", dynamic=True, platform="Ascend310P3")
        assert [entry.type for entry in container.entries] == [0, 9, 1, 2]
        assert bytes(container.view(PartitionType.WEIGHTS_DATA)) == WEIGHTS
        assert container.checked
        assert container.bits == 64
        assert plan_of(container) == PLAN
    assert path.read_bytes() == container_bytes(partitions(), container.header)


@given(
    st.dictionaries(st.integers(1, 31), st.binary(max_size=200), min_size=1, max_size=8),
    st.binary(max_size=200),
    st.text(max_size=40),
)
def test_any_partitions_are_read_back(others: dict[int, bytes], model: bytes, name: str) -> None:
    payloads = {0: model, **others}
    data = container_bytes([Partition(kind, data) for kind, data in payloads.items()], Header(name))
    container = read_container(data)
    assert {kind: bytes(container.view(kind)) for kind in payloads} == payloads
    cut = container.header.name
    assert len(cut.encode()) < 32
    assert name.partition("\0")[0].startswith(cut)


def test_the_table_of_32_bits_is_read() -> None:
    container = read_container(legacy_file((0, b"model"), (1, b"weights"), (2, b"tasks")))
    assert container.bits == 32
    assert not container.checked
    assert bytes(container.view(PartitionType.WEIGHTS_DATA)) == b"weights"


def test_more_than_4_gib_of_weights(tmp_path: Path) -> None:
    size = (1 << 32) + 12345

    class Hole:
        """Mostly a hole in the file, so that it takes no room on the disk."""

        def __init__(self) -> None:
            self.size = size

        def write_to(self, file: BinaryIO) -> None:
            file.seek(size - 3, os.SEEK_CUR)
            file.write(b"end")

    parts = partitions()
    parts[2] = Partition(PartitionType.WEIGHTS_DATA, Hole())
    parts[1] = Partition(PartitionType.PLAN, encode_plan(PLAN, weights_size=size))
    write_container(tmp_path / "m.om", parts)
    with open_container(tmp_path / "m.om") as container:
        assert bytes(container.view(PartitionType.WEIGHTS_DATA)[-5:]) == b"\0\0end"
        assert bytes(container.view(PartitionType.TASK_INFO)) == b"tasks"
        assert plan_of(container) == PLAN


def test_weights_start_where_padding_puts_them() -> None:
    model, plan = b"model", encode_plan(PLAN, weights_size=len(WEIGHTS))
    plan += bytes(weights_padding((len(model), len(plan)), 3))
    data = container_bytes([Partition(0, model), Partition(9, plan), Partition(1, WEIGHTS)])
    container = read_container(data)
    assert container.entries[2].offset % 4096 == 0
    assert plan_of(container) == PLAN


# Writing.


def test_a_streamed_payload_is_never_held(tmp_path: Path) -> None:
    parts = [Partition(0, b"model"), Partition(1, Repeated(32 << 20))]
    tracemalloc.start()
    write_container(tmp_path / "m.om", parts)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20
    assert (tmp_path / "m.om").stat().st_size > 32 << 20


class Failing:
    size = 10

    def write_to(self, file: IO[bytes]) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("payload", [Failing(), Repeated(10, written=9), Repeated(10, written=11)])
def test_a_failure_leaves_what_was_there(tmp_path: Path, payload: Failing | Repeated) -> None:
    path = tmp_path / "m.om"
    path.write_bytes(b"old")
    with pytest.raises(GEError, match="GE0607"):
        write_container(path, [Partition(0, b"model"), Partition(1, payload)])
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m.om"]


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    class Interrupted(Repeated):
        def write_to(self, file: BinaryIO) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_container(tmp_path / "m.om", [Partition(0, b""), Partition(1, Interrupted(1))])
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("path", ["missing/m.om", "folder", "/dev/null"])
def test_a_path_that_cannot_be_written_is_named(tmp_path: Path, path: str) -> None:
    (tmp_path / "folder").mkdir()
    target = tmp_path / path
    with pytest.raises(GEError, match="GE0607") as error:
        write_container(target, partitions())
    assert str(target) in error.value.message
    assert os.listdir(tmp_path) == ["folder"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.om").symlink_to(tmp_path / "m.om")
    write_container(tmp_path / "link.om", partitions())
    assert (tmp_path / "link.om").is_symlink()
    assert (tmp_path / "m.om").read_bytes() == container_bytes(partitions())


@pytest.mark.parametrize(
    "parts",
    [
        [Partition(0, b"")],
        [Partition(1, b""), Partition(0, b"")],
        [Partition(0, b""), Partition(1, b""), Partition(1, b"")],
        [Partition(0, b""), Partition(32, b"")],
    ],
)
def test_partitions_that_viewers_misread_are_refused(parts: list[Partition]) -> None:
    with pytest.raises(ValueError, match=r"partition|MODEL_DEF"):
        container_bytes(parts)


# Damage.


def test_each_truncation_is_noticed() -> None:
    data = small_file()
    assert {code_of(data[:size]) for size in range(len(data))} == {"GE0601"}


def test_each_flipped_bit_is_noticed() -> None:
    data = small_file()
    weights = read_container(data).find(PartitionType.WEIGHTS_DATA)
    assert weights is not None
    spared = range(weights.offset, weights.offset + weights.size)
    for position in (i for i in range(len(data)) if i not in spared):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[position] ^= 1 << bit
            assert code_of(bytes(damaged)).startswith("GE06")


def test_a_plan_is_checked_where_the_file_has_no_checksum() -> None:
    data = without_checksum(small_file())
    assert plan_of(read_container(data)) == PLAN
    entry = read_container(data).find(PartitionType.PLAN)
    assert entry is not None
    for position in range(entry.offset, entry.offset + entry.size):
        damaged = bytearray(data)
        damaged[position] ^= 0x10
        # Some bits at the end of a compressed stream mean nothing.
        with suppress(GEError):
            assert plan_of(read_container(bytes(damaged))) == PLAN


@settings(max_examples=300)
@given(st.data())
def test_damage_raises_nothing_else(data: st.DataObject) -> None:
    blob = bytearray(without_checksum(small_file()))
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(blob) - 1))
        piece = data.draw(st.binary(max_size=9) | st.sampled_from([b"\xff" * 8, bytes(8)]))
        blob[position : position + data.draw(st.integers(0, 9))] = piece
    with suppress(GEError):
        plan_of(read_container(bytes(blob)))


@given(st.binary(max_size=400))
def test_garbage_raises_nothing_else(tail: bytes) -> None:
    for head in (b"", b"IMOD", small_file()[:HEADER_SIZE]):
        with suppress(GEError):
            plan_of(read_container(head + tail))


def conversions() -> Iterator[bytes]:
    data = small_file()
    unix = data.replace(b"\r\n", b"\n")
    yield data.replace(b"\n", b"\r\n")
    yield unix
    yield unix.replace(b"\n", b"\r\n")
    yield unix.replace(b"\n", b"\r")
    yield data.replace(b"\n", b"\r")


@pytest.mark.parametrize("data", tuple(conversions()))
def test_converted_line_ends_are_recognised(data: bytes) -> None:
    assert code_of(data) == "GE0602"


@pytest.mark.parametrize("data", [b"GIF89a", b"\x08\x07" * 300, b"imod" + bytes(300)])
def test_another_kind_of_file_is_named(data: bytes) -> None:
    assert code_of(data) == "GE0603"


@pytest.mark.parametrize(
    ("offset", "value", "code"),
    [
        (4, 255, "GE0606"),  # size of the header
        (11, 0x30, "GE0606"),  # version of the container
        (80, 1, "GE0612"),  # encrypted
        (82, 3, "GE0612"),  # a flow of models
        (156, 2, "GE0612"),  # two models
        (HEADER_SIZE, 0, "GE0606"),  # number of partitions
        (HEADER_SIZE, 255, "GE0606"),
        (HEADER_SIZE + 8, 2, "GE0606"),  # type of the first: then TASK_INFO twice
        (HEADER_SIZE + 16, 1, "GE0606"),  # offset of the first
        (HEADER_SIZE + 24, 1, "GE0606"),  # size of the first
        (HEADER_SIZE + 31, 0x80, "GE0606"),
    ],
)
def test_header_and_table_are_checked(offset: int, value: int, code: str) -> None:
    data = bytearray(without_checksum(small_file()))
    data[offset] = value
    assert code_of(bytes(data)) == code


def test_bytes_after_the_end_are_noticed() -> None:
    assert code_of(small_file() + b"\0") == "GE0606"


def test_a_table_without_a_model_is_refused() -> None:
    assert code_of(legacy_file((1, b"weights"), (2, b"tasks"))) == "GE0606"


def test_an_empty_file_and_a_missing_one_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "empty.om").touch()
    with pytest.raises(GEError, match="GE0601"):
        open_container(tmp_path / "empty.om")
    for name in ("missing.om", ".", "nul\0.om"):
        with pytest.raises(GEError, match="GE0613"):
            open_container(f"{tmp_path}/{name}")
