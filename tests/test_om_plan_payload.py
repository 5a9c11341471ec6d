"""The plan partition: any text is read back, and whatever is no plan of ours is told apart."""

import struct
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.plan_payload import (
    PLAN_HEADER_SIZE,
    PLAN_MAGIC,
    decode_plan,
    encode_plan,
)

PLAN = "builtin.module {\n  ge_exec.plan @main\n}\n"


@given(st.text(), st.integers(0, 1 << 40), st.integers(0, 600))
def test_any_plan_is_read_back(text: str, size: int, padding: int) -> None:
    payload = encode_plan(text, weights_size=size) + bytes(padding)
    assert decode_plan(memoryview(payload), weights_size=size) == text


def patched(offset: int, form: str, value: int) -> bytes:
    payload = bytearray(encode_plan(PLAN))
    struct.pack_into(form, payload, offset, value)
    return bytes(payload)


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (patched(10, "<H", 2), "GE0604"),
        (patched(12, "<H", 1), "GE0604"),
        (patched(14, "<I", 1), "GE0604"),
        (patched(10, "<H", 0), "GE0605"),
        (patched(18, "<Q", 1 << 60), "GE0610"),
        (patched(18, "<Q", 1), "GE0609"),
        (patched(26, "<Q", 1 << 60), "GE0601"),
        (b"TILING\0\0\0\0" + bytes(100), "GE0608"),
        (b"", "GE0608"),
        (encode_plan(PLAN)[: PLAN_HEADER_SIZE - 1], "GE0601"),
        (encode_plan(PLAN) + b"\0\0\1", "GE0609"),
        (encode_plan(PLAN, weights_size=1), "GE0609"),
        (PLAN_MAGIC.replace(b"\n", b"\r\n") + bytes(100), "GE0602"),
    ],
)
def test_a_plan_that_cannot_be_taken_says_why(payload: bytes, code: str) -> None:
    with pytest.raises(GEError) as error:
        decode_plan(payload)
    assert error.value.code == code
    assert error.value.hint


@pytest.mark.parametrize("claimed", [100, 1 << 20])
def test_a_bomb_is_not_unpacked(claimed: int) -> None:
    bomb = zlib.compress(bytes(64 << 20))
    payload = bytearray(encode_plan(PLAN)[:PLAN_HEADER_SIZE] + bomb)
    struct.pack_into("<QQ", payload, 18, claimed, len(bomb))
    tracemalloc.start()
    with pytest.raises(GEError, match="GE0609"):
        decode_plan(memoryview(payload))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 << 20


def test_a_plan_above_the_limit_is_refused() -> None:
    with pytest.raises(GEError, match="GE0610"):
        decode_plan(encode_plan(PLAN), limit=len(PLAN) - 1)
    assert decode_plan(encode_plan(PLAN), limit=len(PLAN)) == PLAN
