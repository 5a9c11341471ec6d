"""Weights: ranges of files and bytes in memory answer alike, and never read more than asked."""

from __future__ import annotations

import io
import os
import resource
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.diagnostics import GEError
from ge_dialect.weights import CHUNK_BYTES, SMALL_COPY, MemoryWeight, Weight, WeightSource

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def numbered(tmp_path: Path) -> Path:
    path = tmp_path / "numbered.bin"
    path.write_bytes(bytes(range(256)) * 40)
    return path


def test_view_shows_the_range_and_is_read_only(numbered: Path):
    view = WeightSource(str(numbered), 258, 4).view()
    assert view.tobytes() == b"\x02\x03\x04\x05"
    assert view.readonly


def test_views_of_one_file_share_a_mapping(numbered: Path):
    first = WeightSource(str(numbered), 0, 4).view()
    second = WeightSource(str(numbered), 100, 4).view()
    assert first.obj is second.obj


def test_a_rewritten_file_is_mapped_anew(numbered: Path):
    source = WeightSource(str(numbered), 0, 2)
    before = source.view()
    replacement = numbered.with_suffix(".new")
    replacement.write_bytes(b"xy")
    os.replace(replacement, numbered)
    assert source.view().tobytes() == b"xy"
    assert before.tobytes() == b"\x00\x01"


def test_an_empty_weight_needs_no_bytes(tmp_path: Path):
    path = tmp_path / "empty.bin"
    path.write_bytes(b"")
    target = io.BytesIO()
    source = WeightSource(str(path), 0, 0)
    source.write_to(target)
    assert source.view().tobytes() == target.getvalue() == b""


@pytest.mark.parametrize("length", [300, SMALL_COPY, SMALL_COPY + 1])
@pytest.mark.parametrize("mode", ["wb", "ab", "memory"])
def test_write_to_appends_at_the_position(numbered: Path, tmp_path: Path, mode: str, length: int):
    numbered.write_bytes(bytes(range(251)) * 300)
    sources: list[Weight] = [WeightSource(str(numbered), 10, length), MemoryWeight(b"abc")]
    path = tmp_path / "target.bin"
    with io.BytesIO() if mode == "memory" else open(path, mode) as target:
        target.write(b"head")
        for source in sources:
            source.write_to(target)
        target.write(b"tail")
        written = target.getvalue() if isinstance(target, io.BytesIO) else b""
    expected = b"head" + numbered.read_bytes()[10 : 10 + length] + b"abctail"
    assert (written or path.read_bytes()) == expected


def test_write_to_a_pipe_copies_the_bytes(numbered: Path):
    reading, writing = os.pipe()
    with open(reading, "rb") as end, open(writing, "wb") as target:
        WeightSource(str(numbered), 5, 1000).write_to(target)
        target.close()
        assert end.read() == numbered.read_bytes()[5:1005]


def test_big_weights_do_not_enter_memory(tmp_path: Path):
    path = tmp_path / "sparse.bin"
    size = 64 * CHUNK_BYTES
    path.touch()
    os.truncate(path, size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open(os.devnull, "wb") as target:  # the kernel copies no file to a device
        WeightSource(str(path), 0, size).write_to(target)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * 1024 < 8 * CHUNK_BYTES


@pytest.mark.parametrize("ask", ["view", "content_digest"])
def test_a_missing_file_names_tensor_and_file(tmp_path: Path, ask: str):
    source = WeightSource(str(tmp_path / "gone.bin"), 0, 4, "layer.0.weight")
    with pytest.raises(GEError) as caught:
        getattr(source, ask)()
    assert caught.value.code == "GE0208"
    assert "gone.bin" in str(caught.value)
    assert "'layer.0.weight'" in str(caught.value)


def test_a_short_file_says_what_is_missing(numbered: Path):
    source = WeightSource(str(numbered), 10_239, 2, "w")
    for ask in (source.view, source.content_digest, lambda: source.write_to(io.BytesIO())):
        with pytest.raises(GEError) as caught:
            ask()
        assert caught.value.code == "GE0209"
        assert "at least 10241 bytes, got 10240" in caught.value.message


def test_negative_ranges_are_refused():
    with pytest.raises(ValueError, match="expected a range"):
        WeightSource("x", -1, 4)


def test_the_name_does_not_tell_sources_apart():
    assert WeightSource("x", 0, 4, "a") == WeightSource("x", 0, 4, "b")
    assert len({WeightSource("x", 0, 4, "a"), WeightSource("x", 0, 4, "b")}) == 1


@given(st.binary(max_size=64), st.binary(max_size=64))
def test_memory_weights_are_equal_when_their_bytes_are(a: bytes, b: bytes):
    assert (MemoryWeight(a) == MemoryWeight(b)) == (a == b)
    assert (hash(MemoryWeight(a)) == hash(MemoryWeight(b))) == (a == b)
    assert MemoryWeight(a).length == len(a)


def test_both_kinds_have_the_same_digest(numbered: Path):
    data = numbered.read_bytes()[3:5000]
    assert WeightSource(str(numbered), 3, 4997).content_digest() == MemoryWeight(data).digest
