"""Attention over keys block by block, in memory that is given: online softmax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ge_dialect.interpreters.kernels.attention import Rules, masked, sinks_of
from ge_dialect.interpreters.kernels.numeric import Array, narrow, quiet


@dataclass
class _Sums:
    """What is known of each query after some blocks of keys.

    Attributes:
        peak: The largest score, `[..., R, 1]`; 0 while there is none above -inf.
        total: Sum of the weights, relative to `peak`.
        values: Weighted sum of the values, relative to `peak`, `[..., R, Dv]`.
        alive: Whether a key counted.
    """

    peak: Array | None = None
    total: Array = field(default_factory=lambda: np.zeros(()))
    values: Array = field(default_factory=lambda: np.zeros(()))
    alive: Array = field(default_factory=lambda: np.asarray(False))

    @staticmethod
    def begin(sink: Array | None) -> _Sums:
        """Returns what is known before the first block: of a sink, the score of a value of 0."""
        if sink is None:
            return _Sums()
        return _Sums(sink, np.ones_like(sink), np.zeros_like(sink))

    def add(self, scores: Array, weights: Array, v: Array) -> None:
        """Adds a block of keys; the weights go to `weights`."""
        highest = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
        if self.peak is not None:
            highest = np.maximum(self.peak, highest)
        base = np.where(np.isneginf(highest), 0, highest).astype(scores.dtype)
        np.exp(np.subtract(scores, base, out=weights), out=weights)
        total, values = np.sum(weights, axis=-1, keepdims=True), np.matmul(weights, v)
        if self.peak is not None:
            faded = np.exp(self.peak - base)
            total, values = self.total * faded + total, self.values * faded + values
        self.peak, self.total, self.values = highest, total, values


@quiet
def attend_in_blocks(
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None,
    rules: Rules,
    first_query: int,
    blocks: Sequence[tuple[int, int]],
    scratch: tuple[Array, Array],
    sink: Array | None = None,
) -> Array:
    """Returns what `flash_attention` does for some queries, `[B, H, R, Dv]`.

    Args:
        q: `[B, H, R, D]`.
        k: `[B, Hk, T, D]`.
        v: `[B, Hk, T, Dv]`.
        mask: Broadcastable to `[B, H, R, T]`; the one of `rules` is not looked at.
        rules: Of the attention.
        first_query: Number of the first query, for a causal mask.
        blocks: The first key of each block, and the first after it.
        scratch: Flat arrays of the type to compute in, for the scores and weights of a block.
        sink: As of `flash_attention`, of these heads.

    With one block it is what `flash_attention` computes, bit by bit.

    Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
    """
    (batch, heads, rows, depth), (key_heads, columns) = q.shape, k.shape[1:3]
    groups = heads // max(key_heads, 1)
    dtype = scratch[0].dtype
    queries = narrow(q, dtype).reshape(batch, key_heads, groups * rows, depth)
    shape = (batch, key_heads, groups, rows)
    whole = None if mask is None else np.broadcast_to(mask, (batch, heads, rows, columns))
    sums = _Sums.begin(sinks_of(sink, key_heads, dtype))
    for start, end in blocks:
        size = batch * heads * rows * (end - start)
        flat = scratch[0][:size].reshape(batch, key_heads, groups * rows, end - start)
        keys = narrow(k[:, :, start:end], dtype)
        np.matmul(queries, np.swapaxes(keys, -1, -2), out=flat)
        scores = flat.reshape(*shape, end - start)
        part = None if whole is None else whole[..., start:end].reshape(scores.shape)
        found, visible = masked(scores, part, (first_query, start), rules)
        if found is not scores:
            np.copyto(scores, found)
        weights = scratch[1][:size].reshape(scores.shape)
        sums.add(scores, weights, narrow(v[:, :, start:end], dtype)[:, :, None])
        if rules.nan_guard:
            counted = np.asarray(True) if visible is None else visible
            counted = np.broadcast_to(counted, scores.shape)
            sums.alive = sums.alive | np.any(counted, axis=-1, keepdims=True)
    result = sums.values / sums.total
    if rules.zero_nan:
        # A sum over no key is 0 here. Weights of 0 give 0, but NaN of values that are not finite.
        lost = np.isnan(sums.total) | (sums.total == 0)
        nothing = np.sum(narrow(v, dtype) * 0, axis=-2)[:, :, None, None]
        result = np.where(lost, nothing, result)
    if rules.nan_guard:
        result = np.where(sums.alive, result, 0)
    return narrow(result, q.dtype).reshape(batch, heads, rows, v.shape[3])
