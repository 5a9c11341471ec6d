"""Queries of attention that were scaled before, or put in rows of their key head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.types import Shape, value_shape
from ge_dialect.passes.raising.heads import Chain, Unscaled, unscaled
from ge_dialect.passes.raising.match import Found, Raise
from ge_dialect.passes.values import owner


def attention_like(
    op: FlashAttentionOp,
    query: SSAValue,
    key: SSAValue,
    scale: float,
    *,
    value: SSAValue | None = None,
) -> FlashAttentionOp:
    """Returns `op` with other queries, keys and scale, and other values where given."""
    return FlashAttentionOp(
        query,
        key,
        op.v if value is None else value,
        op.mask,
        scale=scale,
        sink=op.sink,
        causal=op.causal is not None,
        causal_offset=None if op.causal_offset is None else op.causal_offset.value.data,
        softcap=None if op.softcap is None else op.softcap.value.data,
        masked_fill=op.masked_fill is not None,
        fill=None if op.fill is None else op.fill.value.data,
        nan_guard=op.nan_guard is not None,
        zero_nan=op.zero_nan is not None,
        accumulate=op.accumulate,
    )


def with_mask(
    op: FlashAttentionOp,
    mask: SSAValue | None,
    *,
    causal: bool | None = None,
    causal_offset: int | None = None,
    masked_fill: bool = False,
    nan_guard: bool = False,
    zero_nan: bool = False,
) -> FlashAttentionOp:
    """Returns `op` with another mask and other guards; `causal` None keeps that and the offset.

    What is put in the place of scores is kept where `masked_fill` is.
    """
    if causal is None:
        causal = op.causal is not None
        causal_offset = None if op.causal_offset is None else op.causal_offset.value.data
    return FlashAttentionOp(
        op.q,
        op.k,
        op.v,
        mask,
        scale=op.scale.value.data,
        sink=op.sink,
        causal=causal,
        causal_offset=causal_offset,
        softcap=None if op.softcap is None else op.softcap.value.data,
        masked_fill=masked_fill,
        fill=op.fill.value.data if masked_fill and op.fill is not None else None,
        nan_guard=nan_guard,
        zero_nan=zero_nan,
        accumulate=op.accumulate,
    )


@dataclass
class _Scaled(Found):
    attention: FlashAttentionOp
    query: Unscaled
    key: Unscaled

    def build(self) -> list[Operation]:
        chain = Chain()
        query, key = self.query.build(chain), self.key.build(chain)
        scale = self.attention.scale.value.data * self.query.scale * self.key.scale
        chain.add(attention_like(self.attention, query, key, scale))
        return chain.ops


class AbsorbScales(Raise):
    """`flash_attention(q * c, k * d, v) scale s` -> `flash_attention(q, k, v) scale s * c * d`."""

    roots = (FlashAttentionOp,)
    composite: ClassVar = "attention"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, FlashAttentionOp)
        query, key = unscaled(op.q), unscaled(op.k)
        if not query.ops and not key.ops:
            return None
        return _Scaled(op, query, key, ops=[op], feeders=[*query.ops, *key.ops])


@dataclass
class _OneQuery(Found):
    attention: FlashAttentionOp
    query: SSAValue

    def build(self) -> list[Operation]:
        chain, op = Chain(), self.attention
        result = chain.add(attention_like(op, self.query, op.k, op.scale.value.data))
        chain.reshape(result, value_shape(op.result))
        return chain.ops


class SpreadGroupedQueries(Raise):
    """`flash_attention(reshape(q), k, v)` -> `reshape(flash_attention(q, k, v))`.

    Where `q` is one query of each head, `[B, H, 1, D]`, and the reshape puts those that share a
    key head in rows, `[B, Hk, H / Hk, D]`; the mask is the same for all of them.
    """

    roots = (FlashAttentionOp,)
    reads = (ReshapeOp,)
    composite: ClassVar = "attention"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, FlashAttentionOp)
        reshape = owner(op.q, ReshapeOp)
        if op.sink is not None:  # of each query head
            return None
        if reshape is None or op.causal is not None or not _same_for_rows(op.mask):
            return None
        before, after = value_shape(reshape.input), value_shape(op.q)
        if len(before) != 4 or before[2] != 1 or after[2] == 1 or not _groups(before, after):
            return None
        return _OneQuery(op, reshape.input, ops=[op], feeders=[reshape])


def _same_for_rows(mask: SSAValue | None) -> bool:
    shape = () if mask is None else value_shape(mask)
    return all(dim == 1 for dim in shape[-3:-1])


def _groups(before: Shape, after: Shape) -> bool:
    """Whether `[B, H, 1, D]` becomes `[B, Hk, H / Hk, D]`."""
    heads, rows = after[1], after[2]
    if not isinstance(heads, int) or not isinstance(rows, int) or before[1] != heads * rows:
        return False
    return before[0] is not None and (before[0], before[3]) == (after[0], after[3])
