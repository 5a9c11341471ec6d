"""Attention and rotary position embedding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ge_dialect.interpreters.kernels.numeric import (
    F32,
    F64,
    Array,
    DType,
    compute_dtype,
    iota,
    narrow,
    quiet,
    wide,
)

_SCORE_ELEMENTS = 1 << 22
"""How many scores are held at a time."""


@dataclass(frozen=True)
class Rules:
    """What turns scores into weights.

    Attributes:
        mask: `[B, H, S, T]`, of bool (true keeps) or additive; a view.
        scale: What scores are multiplied by.
        causal_offset: Query `i` sees keys up to `i + causal_offset`; None for all keys.
        softcap: Bound of the scores; 0 for none.
        masked_fill: What takes the place of scores that do not count; None adds minus infinity.
        nan_guard: Whether a query that sees no key gives 0, instead of NaN.
        zero_nan: Whether weights that are NaN become 0.
    """

    mask: Array | None
    scale: float
    causal_offset: int | None
    softcap: float
    masked_fill: float | None
    nan_guard: bool
    zero_nan: bool


def _blocks(heads: int, rows: int, row_scores: int) -> Iterator[tuple[slice, slice]]:
    """Yields pieces of `[heads, rows]` whose scores fit the working set, at least one row each."""
    fit = max(1, _SCORE_ELEMENTS // max(row_scores, 1))
    head_step = max(1, fit // max(rows, 1))
    row_step = max(1, min(fit, rows))
    for head in range(0, heads, head_step):
        for row in range(0, rows, row_step):
            yield slice(head, head + head_step), slice(row, row + row_step)


def _visible(
    rules: Rules, mask: Array | None, first: tuple[int, int], shape: tuple[int, ...]
) -> Array | None:
    """Returns which scores of a block count, or None for all of them."""
    visible = mask if mask is not None and mask.dtype == np.bool_ else None
    if rules.causal_offset is not None:
        query = first[0] + iota(shape[-2])[:, None]
        causal = first[1] + iota(shape[-1])[None, :] <= query + rules.causal_offset
        visible = causal if visible is None else visible & causal
    return visible


def masked(
    scores: Array, mask: Array | None, first: tuple[int, int], rules: Rules
) -> tuple[Array, Array | None]:
    """Returns products of queries and keys as scores, and which of them count (None: all).

    Args:
        scores: `[..., R, T]`; may be changed.
        mask: Of these queries and keys.
        first: The number of the first query and of the first key.
        rules: Of the attention.
    """
    scores *= rules.scale
    if rules.softcap > 0:
        scores = np.tanh(scores / rules.softcap) * rules.softcap
    visible = _visible(rules, mask, first, scores.shape)
    additive = None if mask is None or mask.dtype == np.bool_ else wide(mask)
    if additive is not None:
        scores = scores + additive.astype(scores.dtype)
    if visible is not None:
        # As a rule added, not put in place: a score that is NaN or infinite shows, as in ONNX.
        fill = scores - np.inf if rules.masked_fill is None else rules.masked_fill
        scores = np.where(visible, scores, fill).astype(scores.dtype, copy=False)
    if additive is not None and rules.nan_guard:
        kept = additive != -np.inf
        visible = kept if visible is None else visible & kept
    return scores, visible


def without_nan(weights: Array, total: Array) -> tuple[Array, Array]:
    """Returns weights `[..., R, T]` and their sum `[..., R, 1]`; 0 and 1 where the sum is NaN."""
    lost = np.isnan(total)
    zero, one = np.zeros((), weights.dtype), np.ones((), total.dtype)
    return np.where(lost, zero, weights), np.where(lost, one, total)


def _attend(
    scores: Array, v: Array, mask: Array | None, rows: slice, rules: Rules, sink: Array | None
) -> Array:
    """Returns the weighted values `[..., R, Dv]` of scores `[..., R, T]`."""
    scores, visible = masked(scores, mask, (rows.start, 0), rules)
    highest = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    if sink is not None:
        highest = np.maximum(sink, highest)
    scores = scores - highest
    weights = np.exp(scores)
    total = np.sum(weights, axis=-1, keepdims=True)
    if sink is not None:
        total = np.exp(sink - highest) + total
    if rules.zero_nan:
        weights, total = without_nan(weights, total)
    result = np.matmul(weights, v) / total
    if rules.nan_guard:
        alive = np.asarray(True) if visible is None else visible
        alive = np.any(np.broadcast_to(alive, scores.shape), axis=-1, keepdims=True)
        result = np.where(alive, result, 0)
    return result


@quiet
def flash_attention(
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None = None,
    *,
    sink: Array | None = None,
    scale: float | None = None,
    causal: bool = False,
    causal_offset: int = 0,
    softcap: float = 0.0,
    masked_fill: float | None = None,
    nan_guard: bool = False,
    zero_nan: bool = False,
    accumulate: npt.DTypeLike | None = None,
) -> Array:
    """Returns `softmax(scale * q @ k^T + mask) @ v` per head, `[B, H, S, Dv]`.

    Computed in blocks of heads and queries: the scores are never held as a whole.

    Args:
        q: `[B, H, S, D]`.
        k: `[B, Hk, T, D]`; query heads share key heads in consecutive groups of `H / Hk`.
        v: `[B, Hk, T, Dv]`.
        mask: Broadcastable to `[B, H, S, T]`: of bool (true keeps), or added to the scores.
        sink: The score of one key more of each head, `[H]`, whose value is 0.
        scale: Default `1 / sqrt(D)`.
        causal: Whether query `i` sees only keys `j <= i + causal_offset`.
        causal_offset: Keys that precede the first query; 0 as in ONNX `Attention` with no past.
        softcap: Scores become `softcap * tanh(score / softcap)` before the mask; 0 for no cap.
        masked_fill: What replaces the score of a key that is taken away; by default minus infinity
            is added to it.
        nan_guard: Whether a query that sees no key gives 0, instead of NaN as softmax would.
        zero_nan: Whether weights that are NaN become 0.
        accumulate: f32 or f64; default f64 of f64, f32 of narrower ones.

    Raises:
        ValueError: The shapes do not fit.

    Source: Dao et al., "FlashAttention" (2022), section 3; ONNX `Attention`, version 24.
    """
    _check_shapes(q, k, v)
    dtype = compute_dtype(q.dtype) if accumulate is None else np.dtype(accumulate)
    if dtype not in (F32, F64):
        raise ValueError(f"expected 'accumulate' to be float32 or float64, got {dtype}")
    shape = (*q.shape[:3], k.shape[2])
    rules = Rules(
        None if mask is None else np.broadcast_to(mask, shape),
        1 / math.sqrt(q.shape[3]) if scale is None else scale,
        causal_offset if causal else None,
        softcap,
        masked_fill,
        nan_guard,
        zero_nan,
    )
    return _attend_in_blocks(q, k, v, rules, sinks_of(sink, k.shape[1], dtype), dtype)


def sinks_of(sink: Array | None, key_heads: int, dtype: DType) -> Array | None:
    """Returns sinks as scores, `[Hk, H / Hk, 1, 1]`."""
    return None if sink is None else narrow(sink, dtype).reshape(key_heads, -1, 1, 1)


def _attend_in_blocks(
    q: Array, k: Array, v: Array, rules: Rules, sinks: Array | None, dtype: DType
) -> Array:
    (batch, heads, rows, depth), (key_heads, columns) = q.shape, k.shape[1:3]
    grouped = (batch, key_heads, heads // max(key_heads, 1), rows)
    result = np.empty((batch, heads, rows, v.shape[3]), q.dtype)
    parts = result.reshape(*grouped, v.shape[3])
    queries = q.reshape(*grouped, depth)
    masks = None if rules.mask is None else rules.mask.reshape(*grouped, columns)
    for image in range(batch):
        for head, row in _blocks(key_heads, rows, grouped[2] * columns):
            block = (image, head, slice(None), row)
            scores = _scores(narrow(queries[block], dtype), narrow(k[image, head], dtype))
            values = narrow(v[image, head], dtype)[:, None]
            mask = None if masks is None else masks[block]
            sink = None if sinks is None else sinks[head]
            parts[block] = _attend(scores, values, mask, row, rules, sink)
    return result


def _scores(q: Array, k: Array) -> Array:
    """Returns `q @ k^T` of `[h, G, R, D]` and `[h, T, D]` as `[h, G, R, T]`."""
    # All queries of a key head are one matrix: one product a head instead of one a query head.
    stacked = q.reshape(q.shape[0], q.shape[1] * q.shape[2], q.shape[3])
    product = np.matmul(stacked, np.swapaxes(k, -1, -2))
    return product.reshape(*q.shape[:3], k.shape[1])


def _check_shapes(q: Array, k: Array, v: Array) -> None:
    fits = (
        q.ndim == k.ndim == v.ndim == 4
        and q.shape[0] == k.shape[0] == v.shape[0]
        and k.shape[1:3] == v.shape[1:3]
        and q.shape[3] == k.shape[3]
        and q.shape[1] % max(k.shape[1], 1) == 0
    )
    if not fits:
        raise ValueError(
            "expected q [B, H, S, D], k [B, Hk, T, D], v [B, Hk, T, Dv], "
            f"got {q.shape}, {k.shape}, {v.shape}"
        )


@quiet
def rotary_embedding(
    x: Array,
    cos: Array,
    sin: Array,
    position_ids: Array | None = None,
    *,
    interleaved: bool = False,
    num_heads: int = 0,
    rotary_dim: int = 0,
) -> Array:
    """Returns `x` with pairs of features rotated by the angle of their position.

    Args:
        x: `[B, H, S, D]`, or `[B, S, H * D]` with `num_heads`.
        cos: `[B, S, rotary_dim / 2]`, or `[positions, rotary_dim / 2]` with `position_ids`.
        sin: As `cos`.
        position_ids: `[B, S]`, integers.
        interleaved: Whether a pair is two neighbours, or one from each half.
        num_heads: H, for `x` of rank 3.
        rotary_dim: How many of the D features are rotated, from the first on; 0 for all.

    Raises:
        ValueError: The shapes do not fit.
        IndexError: A position has no angle.

    Source: Su et al., "RoFormer" (2021), equation 34; ONNX `RotaryEmbedding`, version 23.
    """
    heads = _split_heads(x, num_heads)
    size = rotary_dim or heads.shape[3]
    if position_ids is not None:
        cos, sin = cos[position_ids], sin[position_ids]
    if cos.shape[-1] != size // 2 or sin.shape[-1] != size // 2:
        raise ValueError(f"expected {size // 2} angles, got {cos.shape[-1]} and {sin.shape[-1]}")
    rotated = _rotate(
        wide(heads[..., :size]), wide(cos)[:, :, None], wide(sin)[:, :, None], interleaved
    )
    result = np.concatenate((narrow(rotated, x.dtype), heads[..., size:]), axis=-1)
    return result.reshape(x.shape) if x.ndim == 3 else result.transpose(0, 2, 1, 3)


def _split_heads(x: Array, num_heads: int) -> Array:
    """Returns `[B, S, H, D]`."""
    if x.ndim == 4:
        return x.transpose(0, 2, 1, 3)
    if x.ndim != 3 or num_heads < 1 or x.shape[2] % num_heads:
        raise ValueError(
            f"expected [B, H, S, D], or [B, S, H * D] and its 'num_heads', got {x.shape} "
            f"and {num_heads}"
        )
    return x.reshape(*x.shape[:2], num_heads, x.shape[2] // num_heads)


def _rotate(x: Array, cos: Array, sin: Array, interleaved: bool) -> Array:
    half = x.shape[-1] // 2
    first, second = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    real = cos * first - sin * second
    imaginary = sin * first + cos * second
    if interleaved:
        return np.stack((real, imaginary), axis=-1).reshape(x.shape)
    return np.concatenate((real, imaginary), axis=-1)
