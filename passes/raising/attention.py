"""Attention out of product, scale, cap, masks, softmax, guard and product, in every spelling.

Source of the formula: Dao et al., "FlashAttention" (2022), section 3; `ge.flash_attention`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect import remarks
from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.binary import DivOp, MulOp
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.dtypes import is_float
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.types import Shape, element_type_of, show_shape, value_shape
from ge_dialect.passes.canonicalization.cast import keeps_every_value
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.attention_scores import MaskKind, Scores, find_scores
from ge_dialect.passes.raising.attention_weights import WAYS, Weights, find_weights
from ge_dialect.passes.raising.heads import (
    Chain,
    Unscaled,
    choose_heads,
    expect_broadcasts,
    is_shared_head,
    mask_to_heads,
    to_heads,
    unscaled,
)
from ge_dialect.passes.raising.masks import combined_mask, common_fill, expect_fills
from ge_dialect.passes.raising.match import NAME, Found, Raise
from ge_dialect.passes.raising.scales import joined_scale
from ge_dialect.passes.raising.sinks import Sink, find_sink
from ge_dialect.remarks import ReasonClass


@dataclass
class FoundAttention(Found):
    """One attention.

    Attributes:
        root: Weights times values.
        weights: From there to softmax.
        scores: From softmax to the product of queries and keys.
        query: The left operand of that product, without its scale.
        key: The right operand, without its scale; `[..., D, T]`.
        heads: B and H.
        sink: Another score of each head, or None.
    """

    root: MatmulOp
    weights: Weights
    scores: Scores
    query: Unscaled
    key: Unscaled
    heads: Shape
    sink: Sink | None

    def build(self) -> list[Operation]:
        chain, heads, product = Chain(), self.heads, self.scores.product
        lead, value_lead = _lead(product), value_shape(self.root.lhs)[:-2]
        query = self._scaled_heads(chain, to_heads(chain, self.query.build(chain), lead, heads))
        key, value = chain.swap_last(self.key.build(chain)), self.root.rhs
        shared = is_shared_head(key, lead) and is_shared_head(value, value_lead)
        if not shared or lead != heads or value_lead != heads:
            key = to_heads(chain, key, lead, heads)
            value = to_heads(chain, value, value_lead, heads)
        query, key = (_widened(chain, one, element_type_of(value)) for one in (query, key))
        softmax_type = element_type_of(self.weights.softmax.input)
        mask = combined_mask(chain, self.scores.masks, heads, softmax_type)
        fill = common_fill(self.scores.masks)
        attention = FlashAttentionOp(
            query,
            key,
            value,
            mask,
            sink=None if self.sink is None else self.sink.build(chain),
            scale=self.scores.scale * self._split_scale(),
            softcap=self.scores.softcap,
            masked_fill=fill is not None,
            fill=None if fill == -inf else fill,
            zero_nan=self.weights.nan_guard,
            accumulate=f64 if softmax_type == f64 else f32,
        )
        chain.add(attention)
        if value_lead != heads:
            chain.reshape(attention.result, value_shape(self.root.result))
        return chain.ops

    def _scaled_heads(self, chain: Chain, query: SSAValue) -> SSAValue:
        for scale in self.scores.head_scales:
            value = mask_to_heads(chain, scale.value, scale.lead, self.heads)
            query = chain.add((DivOp if scale.divides else MulOp)(query, value))
        return query

    def _split_scale(self) -> float:
        product = self.scores.product
        depth = value_shape(product.lhs)[-1]
        return joined_scale(self.query.scale, self.key.scale, product.result, depth)


class RaiseAttention(Raise):
    """`matmul(softmax(matmul(q, k^T) * scale + mask), v)` -> `flash_attention(q, k, v, mask)`.

    The scale may be split over q, k and the scores, a quotient or a product, on either side; one
    that differs between heads becomes a factor of q. The mask may be on either side, added or
    selected. Between softmax and v: casts to the type of v, a dropout that drops nothing, a guard
    against NaN. The key is bound by transposing what stands in the place of k^T, whatever made
    that; leading dimensions are brought to two by reshapes.

    A column of scores that is the same for all queries of a head, and whose weights are cut off
    again, is a sink.
    """

    roots = (MatmulOp,)
    reads = WAYS
    composite: ClassVar = "attention"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, MatmulOp)
        if (weights := find_weights(op.lhs)) is None:
            return None
        if (scores := find_scores(weights.scores)) is None:
            return None
        product = scores.product
        if not all(len(value_shape(x)) > 1 for x in (product.lhs, product.rhs, op.rhs)):
            return None
        if weights.problem is not None:
            raise weights.problem
        _expect_types(op, scores)
        expect_fills(scores.masks)
        expect_broadcasts(product.lhs, _lead(product), "q")
        expect_broadcasts(product.rhs, _lead(product), "k")
        expect_broadcasts(op.rhs, value_shape(op.lhs)[:-2], "v")
        heads = choose_heads([*scores.shapes, *weights.shapes])
        _expect_known(op, scores, heads)
        query, key = unscaled(product.lhs), unscaled(product.rhs)
        self._tell_assumptions(op, scores)
        return FoundAttention(
            op,
            weights,
            scores,
            query,
            key,
            heads,
            find_sink(weights.sink, heads),
            ops=[op, *weights.ops, *reversed(scores.ops)],
            feeders=[*query.ops, *key.ops],
        )

    def _tell_assumptions(self, op: MatmulOp, scores: Scores) -> None:
        """Says where results are the same only for scores that are no NaN and not infinite."""
        rule = type(self).__name__
        replaced = any(mask.kind is not MaskKind.ADD for mask in scores.masks)
        if replaced and common_fill(scores.masks) is None:
            text = "masked scores are taken to be finite: here they are replaced, in the op"
            remarks.analysis(NAME, rule, op, f"{text} a number is added")
        if scores.floored:
            text = "scores are taken to be finite: the floor under them is left out"
            remarks.analysis(NAME, rule, op, text)


def _widened(chain: Chain, value: SSAValue, element: Attribute) -> SSAValue:
    """Returns a value with elements of a type that holds all of its numbers."""
    return value if element_type_of(value) == element else chain.add(CastOp(value, element))


def _lead(product: MatmulOp) -> Shape:
    return value_shape(product.result)[:-2]


def _expect_types(op: MatmulOp, scores: Scores) -> None:
    """Checks that queries, keys and values hold floats of one type, or values wider ones.

    Raises:
        NearMissError: They do not.
    """
    query, value = element_type_of(scores.product.lhs), element_type_of(op.rhs)
    if not is_float(query) or not is_float(value) or not keeps_every_value(query, value):
        text = "values are no floats of the type of queries, or a wider one"
        raise NearMissError(ReasonClass.DTYPE, text, str(value), str(query))


def _expect_known(op: MatmulOp, scores: Scores, heads: Shape) -> None:
    """Checks that shapes are known wherever a reshape is needed.

    Raises:
        NearMissError: They are not.
    """
    if _lead(scores.product) == heads == value_shape(op.lhs)[:-2]:
        return
    for value in (scores.product.lhs, scores.product.rhs, op.rhs):
        if None in (shape := value_shape(value)) or None in heads:
            text = "a dimension that has to be reshaped is not known"
            raise NearMissError(ReasonClass.SYMBOL, text, show_shape(shape))
