"""Attention of com.microsoft against what its documentation says, in numpy."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from tests.test_onnx_contrib import contrib, f32, run

Array = npt.NDArray[Any]
B, S, T, H, D = 2, 5, 7, 2, 16
X = H * D
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}
FILLER = -10000.0


def split(x: Array, heads: int = H) -> Array:
    """`[B, S, heads * D]` as `[B, heads, S, D]`."""
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def heads(projected: Array) -> list[Array]:
    """Queries, keys and values side by side, split into heads."""
    return [split(part) for part in np.split(projected, 3, axis=-1)]


def attended(parts: Sequence[Array], mask: Any = 0.0) -> Array:
    """Softmax of scores of queries and keys plus `mask`, times values; key heads are repeated."""
    q, k, v = parts
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    scores = q @ k.swapaxes(-1, -2) / sqrt(q.shape[-1]) + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    found = weights / weights.sum(-1, keepdims=True) @ v
    return found.transpose(0, 2, 1, 3).reshape(found.shape[0], found.shape[2], -1)


def causal(rows: int, columns: int) -> Array:
    """Minus infinity above the diagonal that ends in the lower right corner."""
    kept = np.tri(rows, columns, columns - rows, dtype=bool)
    return np.where(kept, np.float32(0), np.float32(-np.inf))


WEIGHT, BIAS = f32(X, 3 * X) * np.float32(0.3), f32(3 * X)
LENGTHS = np.array([5, 3], np.int32)
KEPT = np.arange(S) < LENGTHS[:, None]
FROM_START = (np.arange(S) < [[5], [4]]) & (np.arange(S) >= [[0], [1]])
PAIRS = np.tri(S, S, 1, dtype=np.int32)[None].repeat(B, 0)


@pytest.mark.parametrize(
    ("mask", "kept"),
    [
        (None, np.ones((1, 1, 1, S))),
        (KEPT.astype(np.int32), KEPT[:, None, None]),
        (PAIRS, PAIRS[:, None]),
        (LENGTHS, KEPT[:, None, None]),
        (np.array([5, 4, 0, 1], np.int32), FROM_START[:, None, None]),
    ],
    ids=["none", "keys", "pairs", "lengths", "ends-and-starts"],
)
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention_projects_and_masks(mask: Array | None, kept: Array, unidirectional: int):
    x = f32(B, S, X)
    options: dict[str, Any] = {"num_heads": H, "unidirectional": unidirectional}
    (found,) = run("Attention", [x, WEIGHT, BIAS, mask], **options)
    parts = heads(x @ WEIGHT + BIAS)
    added: Any = np.where(kept, 0, FILLER) + (causal(S, S) if unidirectional else 0)
    np.testing.assert_allclose(found, attended(parts, added), **CLOSE)


def test_attention_goes_on_from_its_cache():
    x, past, bias = f32(B, S, X), f32(2, B, H, 3, D), f32(1, H, S, S + 3)
    inputs = [x, WEIGHT, BIAS, None, past, bias]
    found, present = run("Attention", inputs, "y p", num_heads=H, unidirectional=1)
    q, k, v = heads(x @ WEIGHT + BIAS)
    k, v = (np.concatenate(pair, axis=2) for pair in ((past[0], k), (past[1], v)))
    np.testing.assert_allclose(found, attended([q, k, v], bias + causal(S, S + 3)), **CLOSE)
    np.testing.assert_allclose(present, np.stack([k, v]), **CLOSE)


def test_quantized_attention_scales_its_sums():
    rng = np.random.default_rng(3)
    x, w = rng.integers(0, 256, (B, S, X), np.uint8), rng.integers(-90, 90, (X, 3 * X), np.int8)
    scales = np.float32(0.02), np.float32(0.01)
    zeros = np.uint8(120), np.int8(3)
    inputs: list[Array | None] = [x, w, BIAS, *map(np.asarray, scales), LENGTHS]
    (found,) = run("QAttention", [*inputs, *map(np.asarray, zeros)], num_heads=H)
    sums = (x.astype(np.int64) - 120) @ (w.astype(np.int64) - 3)
    parts = heads(sums * np.float64(0.02) * 0.01 + BIAS)
    mask: Any = np.where(KEPT[:, None, None], 0, FILLER)
    np.testing.assert_allclose(found, attended(parts, mask), **CLOSE)


def test_heads_may_have_biases_masks_and_other_keys():
    q, k, v, bias = f32(B, S, X), f32(B, T, X), f32(B, T, 24), f32(2 * X + 24)
    kept = np.arange(T) < np.array([[7], [4]])
    added = f32(1, H, S, T)
    inputs = [q, k, v, bias, kept.astype(np.int32), added]
    (found,) = run("MultiHeadAttention", inputs, num_heads=H)
    biases = np.split(bias, [X, 2 * X])
    parts = [split(x + b) for x, b in zip((q, k, v), biases, strict=True)]
    mask = np.where(kept[:, None, None], 0, FILLER) + added
    np.testing.assert_allclose(found, attended(parts, mask), **CLOSE)


def test_heads_may_come_packed_or_from_a_cache():
    q, k, v = f32(B, S, X), f32(B, H, T, D), f32(B, H, T, D)
    bias = f32(3 * X)
    (found,) = run("MultiHeadAttention", [q, k, v, bias], num_heads=H)
    np.testing.assert_allclose(found, attended([split(q + bias[:X]), k, v]), **CLOSE)
    packed = np.stack([x.transpose(0, 2, 1, 3) for x in (k, v)], axis=3)
    (found,) = run("MultiHeadAttention", [q, packed], num_heads=H)
    np.testing.assert_allclose(found, attended([split(q), k, v]), **CLOSE)
    packed = np.stack([split(q).transpose(0, 2, 1, 3)] * 3, axis=3)
    (found,) = run("MultiHeadAttention", [packed], num_heads=H, unidirectional=1)
    np.testing.assert_allclose(found, attended([split(q)] * 3, causal(S, S)), **CLOSE)


GROUPS, KEYS = 4, 2
COS, SIN = f32(16, D // 2), f32(16, D // 2)


def rotated(x: Array, places: Array) -> Array:
    """Halves turned by the tables' rows; `places` is `[B, S]`."""
    c, s = COS[places][:, None], SIN[places][:, None]
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * c - b * s, a * s + b * c], axis=-1)


@pytest.mark.parametrize(
    ("rows", "past", "totals", "window"),
    [
        (6, 0, [6, 6], -1),
        (6, 0, [6, 6], 3),
        (1, 7, [8, 8], -1),
        (1, 7, [8, 8], 3),
        (1, 7, [8, 5], -1),
        (3, 4, [7], -1),
        (3, 4, [7, 5], -1),
    ],
    ids=["prompt", "window", "step", "step-window", "ragged", "chunk", "ragged-chunk"],
)
def test_groups_of_queries_share_keys_and_a_cache(
    rows: int, past: int, totals: list[int], window: int
):
    batch = len(totals)
    q, k, v = f32(batch, rows, GROUPS * D), f32(batch, rows, KEYS * D), f32(batch, rows, KEYS * D)
    caches = [f32(batch, KEYS, past, D) for _ in range(2)]
    ends = np.array(totals, np.int32) - 1
    inputs = [q, k, v, *caches, ends, np.array(max(totals), np.int32), COS, SIN]
    options = {"num_heads": GROUPS, "kv_num_heads": KEYS, "do_rotary": 1}
    found, *present = run(
        "GroupQueryAttention", inputs, "y k v", local_window_size=window, **options
    )
    for row, total in enumerate(totals):
        first = total - rows
        places = np.arange(first, total)[None]
        one = slice(row, row + 1)
        new = rotated(split(k[one], KEYS), places), split(v[one], KEYS)
        keys, values = (
            np.concatenate([old[one, :, :first], x], axis=2)
            for old, x in zip(caches, new, strict=True)
        )
        mask = causal(rows, total)
        if window > 0:
            mask = np.where(np.arange(total) > places.T - window, mask, -np.inf)
        want = attended([rotated(split(q[one], GROUPS), places), keys, values], mask)
        np.testing.assert_allclose(found[one], want, **CLOSE)
        np.testing.assert_allclose(present[0][one, :, :total], keys, **CLOSE)
        np.testing.assert_allclose(present[1][one, :, :total], values, **CLOSE)


@pytest.mark.parametrize("smooth", [False, True])
def test_heads_may_have_sinks(smooth: bool):
    q, k, v = f32(1, 3, GROUPS * D), f32(1, 3, KEYS * D), f32(1, 3, KEYS * D)
    sink = np.zeros(GROUPS, np.float32) if smooth else f32(GROUPS)
    inputs = [q, k, v, None, None, np.array([2], np.int32), np.array(3, np.int32)]
    options: dict[str, Any] = {"num_heads": GROUPS, "kv_num_heads": KEYS}
    if smooth:
        found = run("GroupQueryAttention", inputs, "y k v", smooth_softmax=1, **options)[0]
    else:
        more = [*inputs, None, None, None, None, sink]
        found = run("GroupQueryAttention", more, "y k v", **options)[0]
    keys, values = (np.repeat(split(x, KEYS), GROUPS // KEYS, axis=1) for x in (k, v))
    scores = split(q, GROUPS) @ keys.transpose(0, 1, 3, 2) / np.sqrt(D) + causal(3, 3)
    weights = np.exp(
        np.concatenate([scores, np.broadcast_to(sink[:, None, None], (1, GROUPS, 3, 1))], 3)
    )
    want = (weights / weights.sum(3, keepdims=True))[..., :3] @ values
    np.testing.assert_allclose(found, want.transpose(0, 2, 1, 3).reshape(q.shape), **CLOSE)


def test_a_cache_may_be_longer_than_its_keys():
    q, packed = f32(1, 1, GROUPS * D), f32(1, 1, (GROUPS + 2 * KEYS) * D)
    caches = [f32(1, KEYS, 9, D) for _ in range(2)]
    ends, total = np.array([4], np.int32), np.array(5, np.int32)
    inputs = [packed, None, None, *caches, ends, total]
    q, k, v = np.split(packed, [GROUPS * D, (GROUPS + KEYS) * D], axis=-1)
    options: dict[str, Any] = {"num_heads": GROUPS, "kv_num_heads": KEYS}
    found, keys, _ = run("GroupQueryAttention", inputs, "y k v", **options)
    old = [
        np.concatenate([cache[:, :, :4], split(x, KEYS)], axis=2)
        for cache, x in zip(caches, (k, v), strict=True)
    ]
    np.testing.assert_allclose(found, attended([split(q, GROUPS), *old]), **CLOSE)
    np.testing.assert_allclose(keys[:, :, :5], old[0], **CLOSE)


@pytest.mark.parametrize(
    ("op", "inputs", "options", "reason"),
    [
        ("Attention", [f32(B, S, X), WEIGHT, BIAS], {"num_heads": H, "do_rotary": 1}, "rotates"),
        ("Attention", [f32(B, S, X), WEIGHT, BIAS, np.ones((B, 1, 9, 9), np.int32)],
         {"num_heads": H}, "a mask of rank 4"),
        ("Attention", [f32(B, S, X), f32(X, 31)], {"num_heads": H}, "a multiple of 3 columns"),
        ("MultiHeadAttention", [f32(B, S, X)] * 3, {"num_heads": 3}, "a number of heads that"),
        ("GroupQueryAttention", [f32(1, 1, X)] * 3 + [None] * 9 + [f32(H)],
         {"num_heads": H, "kv_num_heads": H}, "a quantised cache"),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_refused(
    op: str, inputs: list[Array | None], options: dict[str, Any], reason: str
):
    with pytest.raises(GEError, match=reason):
        import_onnx(contrib(op, inputs, **options)[0])


def test_heads_may_be_empty():
    (found,) = run("MultiHeadAttention", [np.zeros((1, 2, 0), np.float32)] * 3, num_heads=H)
    assert found.shape == (1, 2, 0)
