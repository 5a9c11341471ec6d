"""Mutators: of bytes, of text token by token, and of `.om` files with their checksums put right."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from random import Random

from ge_dialect.lowering.om.container import read_container
from ge_dialect.lowering.om.layout import HEADER_SIZE, PartitionType
from ge_dialect.lowering.om.plan_payload import decode_plan, encode_plan
from ge_dialect.lowering.om.writer import Partition, container_bytes

NUMBERS = (
    *(sign * (1 << bits) + off for bits in (7, 15, 31, 32, 62, 63, 64) for sign in (1, -1)
      for off in (-1, 0, 1)),
    0, 1, -1, 2, 3, 7, 64, 512, 4095, 10**30,
)  # fmt: skip
PIECES = (
    "tensor<4xf32>", 'memref<4xf32, "hbm">', "tensor<999999999999x99999999999xf32>", "f16", "bf16",
    "i1", "i64", "index", "tensor<*xf32>", "tensor<?x?xf32>", "!ge_exec.arena", "none", "unit",
    "dense<0.0> : tensor<1048576xf32>", "dense<1> : tensor<99999999999xi64>", "array<i64: 1, 2>",
    'dense<"0x0000"> : tensor<4xf32>', "dense<[]> : tensor<0xf32>", "dense<0> : vector<9xi8>",
    '"hbm"', '"l1"', '""', '"a\\00b"', "@main", "@add", "%x", "%a", "%0", "^bb0", "{", "}", "(",
    ")", "<", ">", "[", "]", ":", ",", "=", "->", "//", "loc(unknown)", 'loc("n")', "#ge.tier<hbm>",
    "ge_exec.buffer", "ge_exec.wait 0", "ge_exec.record 0", "ge.yield", "nan", "inf", "0x7FC00000",
    "1e400", "true", "false", "attributes {a = 1}", '#ge.weight<"w", "", 0, 16>', "tuple<",
    "complex<f32>", "!ge.string", "strided<[1]>", "affine_map<(d0) -> (d0)>", "-", "9" * 5000,
)  # fmt: skip
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%@^#!]?[\w.$]+|->|\s+|.', re.DOTALL)


def mutate_bytes(data: bytes, rng: Random) -> bytes:
    """Returns bytes with a few of them changed, removed, repeated or put in."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 8))):
        at = rng.randrange(len(found) + 1)
        size = rng.choice((1, 1, 2, 4, 8, 16, 64))
        match rng.randrange(6):
            case 0 if found:
                found[at % len(found)] ^= 1 << rng.randrange(8)
            case 1:
                found[at : at + size] = rng.randbytes(size)
            case 2:
                del found[at : at + size]
            case 3:
                start = rng.randrange(len(found) + 1)
                found[at:at] = found[start : start + size]
            case 4:
                value = rng.choice(NUMBERS) & (1 << 64) - 1
                found[at : at + 8] = struct.pack("<Q", value)[: rng.choice((1, 2, 4, 8))]
            case _:
                found[at:at] = _varint(rng.choice(NUMBERS) & (1 << 64) - 1)
    return bytes(found[: rng.randrange(len(found) + 1)] if rng.random() < 0.03 else found)


def _varint(value: int) -> bytes:
    """Returns a number as protobuf writes it."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def mutate_text(text: str, rng: Random) -> str:
    """Returns a text with a few of its tokens changed, removed, repeated, moved or put in."""
    tokens: list[str] = _TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        if not tokens:
            break
        _mutate_token(tokens, rng)
    return "".join(tokens)


def _mutate_token(tokens: list[str], rng: Random) -> None:
    at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    match rng.randrange(8):
        case 0:
            tokens[at] = rng.choice(PIECES)
        case 1:
            numbers = [i for i, token in enumerate(tokens) if token[:1].isdigit()]
            tokens[rng.choice(numbers) if numbers else at] = str(rng.choice(NUMBERS))
        case 2:
            del tokens[at : at + rng.choice((1, 1, 2, 5, 20))]
        case 3:
            tokens[at:at] = tokens[other : other + rng.choice((1, 2, 10, 60))]
        case 4:
            tokens[at] = tokens[other]
        case 5:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 6:
            alike = [token for token in tokens if token[:1] == tokens[at][:1]]
            tokens[at] = rng.choice(alike)
        case _:
            tokens[at : at + 1] = [tokens[at]] * rng.choice((2, 3, 200, 3000))


def mutate_om(data: bytes, rng: Random) -> bytes:
    """Returns a damaged `.om` file: as damage comes, or by somebody who mends the checksums."""
    match rng.randrange(8):
        case 0:
            return mutate_bytes(data, rng)
        case 1:
            return _without_checksum(mutate_bytes(data, rng))
        case 2:
            head = HEADER_SIZE + 8 + 24 * 4
            return _without_checksum(mutate_bytes(data[:head], rng) + data[head:])
        case 3:
            return _mutate_partition(data, rng, PartitionType.MODEL_DEF)
        case 4:
            return _mutate_partition(data, rng, PartitionType.TASK_INFO)
        case 5:
            return _mutate_partition(data, rng, PartitionType.PLAN)
        case _:
            return _mutate_plan(data, rng)


def _without_checksum(data: bytes) -> bytes:
    return data[:12] + bytes(len(data[12:76])) + data[76:]


def _mutate_partition(data: bytes, rng: Random, kind: int) -> bytes:
    return _rebuilt(data, kind, lambda payload: mutate_bytes(payload, rng))


def _mutate_plan(data: bytes, rng: Random) -> bytes:
    container = read_container(data)
    size = len(container.view(PartitionType.WEIGHTS_DATA))
    text = decode_plan(container.view(PartitionType.PLAN), weights_size=size)
    changed = encode_plan(mutate_text(text, rng), weights_size=size)
    return _rebuilt(data, PartitionType.PLAN, lambda _: changed)


def _rebuilt(data: bytes, kind: int, change: Callable[[bytes], bytes]) -> bytes:
    """Returns a file with one partition changed and the checksum of the container right."""
    container = read_container(data)
    partitions = [
        Partition(entry.type, bytes(container.view(entry.type))) for entry in container.entries
    ]
    return container_bytes(
        [
            Partition(one.type, change(bytes(one.payload))) if one.type == kind else one
            for one in partitions
            if isinstance(one.payload, bytes)
        ],
        container.header,
    )
