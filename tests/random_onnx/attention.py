"""Attention, rotary embedding and dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds
from tests.random_onnx.values import BOOL, F32, I64, Shape, Value


@builds("Attention")
def attention(g: Grower, op_type: str) -> None:
    """Of three and four dimensions, grouped, masked, causal, with a cache."""
    dtype = g.dtype(g.floats(op_type))
    batch, groups, heads = g.int(1, 2), g.int(1, 2), g.int(1, 2)
    queries, keys, size, width = g.int(1, 4), g.int(1, 4), g.int(1, 2) * 2, g.int(1, 4)
    shapes = ((heads * groups, queries, size), (heads, keys, size), (heads, keys, width))
    packed = g.flag()
    q, k, v = (
        g.fresh(dtype, (batch, n, h * d) if packed else (batch, h, n, d), "normal")
        for h, n, d in shapes
    )
    past = g.int(1, 3) if g.int(0, 2) == 0 else 0
    caches: list[Value | None] = [None, None]
    if past:
        caches = [g.fresh(dtype, (batch, heads, past, d), "normal") for d in (size, width)]
    mask = _mask(g, dtype, (batch, heads * groups, queries, past + keys))
    attributes: dict[str, Any] = {
        "is_causal": g.one_of((None, 0, 1)),
        "scale": g.one_of((None, 0.5)),
        "softcap": g.one_of((None, 0.0, 2.0)),
    }
    if packed:
        attributes |= {"q_num_heads": heads * groups, "kv_num_heads": heads}
    g.emit(op_type, [q, k, v, mask, *caches], 3 if past else 1, **attributes)


def _mask(g: Grower, dtype: np.dtype[Any], shape: Shape) -> Value | None:
    shape = tuple(1 if g.rarely() else dim for dim in shape[:2]) + shape[2:]
    shape = shape[g.int(0, 2) :]
    match g.int(0, 2):
        case 0:
            return None
        case 1:
            return g.fresh(BOOL, shape)
        case _:
            return g.fresh(dtype, shape, "normal")


@builds("RotaryEmbedding")
def rotary_embedding(g: Grower, op_type: str) -> None:
    """Of whole heads and of parts, by halves and by pairs, with and without positions."""
    dtype = g.dtype(g.floats(op_type))
    batch, heads, length, size = g.int(1, 2), g.int(1, 2), g.int(1, 3), 2 * g.int(1, 3)
    packed = g.flag()
    shape = (batch, length, heads * size) if packed else (batch, heads, length, size)
    part = g.maybe(2 * g.int(1, size // 2))
    width = (part or size) // 2
    positions = None
    table: Shape = (batch, length, width)
    if g.flag():
        rng = np.random.default_rng(g.int(0, 99))
        positions = g.given(rng.integers(0, 5, (batch, length)).astype(I64))
        table = (5, width)
    tables = [g.fresh(dtype, table, "normal") for _ in range(2)]
    g.emit(
        op_type,
        [g.fresh(dtype, shape, "normal"), *tables, positions],
        interleaved=g.one_of((None, 0, 1)),
        rotary_embedding_dim=part,
        num_heads=heads if packed else None,
    )


@builds("Dropout")
def dropout(g: Grower, op_type: str) -> None:
    """In inference, or with a ratio of 0; with the mask."""
    value = g.operand(g.floats(op_type))
    ratio = g.maybe(g.given(np.array(g.one_of((0.0, 0.3)), F32), fixed=True))
    off = g.maybe(g.given(np.array(False), fixed=True))
    g.emit(op_type, [value, ratio, off], g.int(1, 2))
