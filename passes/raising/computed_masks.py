"""Causal masks of attention that every run computes, since their sizes are symbols."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.binary import BinaryOp
from ge_dialect.ge.dtypes import is_bool, to_numpy
from ge_dialect.ge.elementwise import SelectOp
from ge_dialect.ge.movement import BroadcastToOp
from ge_dialect.ge.types import element_type_of, static_shape, value_shape
from ge_dialect.passes.canonicalization.filled import filled_value
from ge_dialect.passes.canonicalization.grid_comparisons import COMPARISONS, excess, ranges_at
from ge_dialect.passes.raising.attention_scores import ABSORBING
from ge_dialect.passes.raising.match import Found, Raise
from ge_dialect.passes.raising.queries import with_mask
from ge_dialect.symbols import bounds


@dataclass
class _Triangle(Found):
    """An attention whose mask keeps, of each query, the keys up to its own and `offset` more."""

    attention: FlashAttentionOp
    offset: int | None

    def build(self) -> list[Operation]:
        op = self.attention
        causal = self.offset is not None
        fills = op.masked_fill is not None and causal
        zero_nan = op.zero_nan is not None
        return [
            with_mask(
                op,
                None,
                causal=causal,
                causal_offset=self.offset or None,
                masked_fill=fills,
                zero_nan=zero_nan,
            )
        ]


class SimplifyComputedMask(Raise):
    """`flash_attention(q, k, v, range(s) <= column(range(s)))` -> the same without mask, `causal`.

    What `SimplifyConstantMask` does of constants: a mask that drops nothing goes, a triangle is an
    attribute. Where there may be no key nothing is done.
    """

    roots = (FlashAttentionOp,)
    composite: ClassVar = "attention"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, FlashAttentionOp)
        if op.mask is None or op.causal is not None or static_shape(op.mask.type) is not None:
            return None
        keys = value_shape(op.k)[2]
        if keys is None or bounds(keys, ranges_at(op))[0] < 1:
            return None
        if _keeps_all(op, op.mask):
            return _Triangle(op, None, ops=[op])
        offset = _offset(op)
        return None if offset is None else _Triangle(op, offset, ops=[op])


def _keeps_all(op: FlashAttentionOp, mask: SSAValue) -> bool:
    if is_bool(element_type_of(mask)):
        return filled_value(mask) is True
    return op.masked_fill is None and filled_value(mask) == 0


def _offset(op: FlashAttentionOp) -> int | None:
    """Returns o where query i keeps keys `j <= i + o` and no others, 0 or more."""
    assert op.mask is not None
    truth = _truth(op, _narrow(op.mask))
    comparison = None if truth is None else _narrow(truth).owner
    if not isinstance(comparison, COMPARISONS):
        return None
    assert isinstance(comparison, BinaryOp)
    shape = value_shape(comparison.result)
    if shape[-2:] != (value_shape(op.q)[2], value_shape(op.k)[2]):
        return None
    index = excess(comparison)
    if index is None or index.factors[-2:] != (-1, 1) or any(index.factors[:-2]):
        return None
    return -index.base if isinstance(index.base, int) and index.base <= 0 else None


def _narrow(value: SSAValue) -> SSAValue:
    return value.owner.input if isinstance(value.owner, BroadcastToOp) else value


def _truth(op: FlashAttentionOp, mask: SSAValue) -> SSAValue | None:
    """Returns which keys a mask keeps, None where truth values do not say it."""
    if is_bool(element_type_of(mask)):
        return mask
    choice = mask.owner
    if op.masked_fill is not None or not isinstance(choice, SelectOp):
        return None
    if filled_value(choice.on_true) != 0:
        return None
    low = filled_value(choice.on_false)
    wide = to_numpy(element_type_of(mask)).name in ("float32", "float64")
    drops = low == -inf or (wide and low is not None and low <= ABSORBING)
    return choice.condition if drops else None
