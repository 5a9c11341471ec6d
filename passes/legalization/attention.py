"""`ge-legalize-attention`: attention by product, scale, cap, masks, softmax and product.

Scores, softmax and sums are of the type `accumulate`, and the result is rounded once, as the op
documents it. Scores `[B, H, S, T]` are then tensors of the graph, which the op never holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i1, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect.ge.activations import TanhOp
from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.binary import AddOp, AndOp, DivOp, EqualOp, LessEqualOp, MulOp
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.dtypes import is_bool
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.movement import BroadcastToOp, TransposeOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp
from ge_dialect.ge.rearrange import RangeOp
from ge_dialect.ge.reductions import ReduceMaxOp, SoftmaxOp
from ge_dialect.ge.types import (
    Shape,
    element_type_of,
    show_shape,
    value_shape,
)
from ge_dialect.ge.unary import IsNanOp, LogicalNotOp
from ge_dialect.passes.canonicalization.groups import is_known
from ge_dialect.passes.driver import Driver
from ge_dialect.passes.legalization.common import Legalize, Steps
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.remarks import ReasonClass

NAME = "ge-legalize-attention"


class LegalizeAttention(Legalize):
    """`flash_attention(q, k, v, mask)` -> `matmul(softmax(matmul(q, k^T) * scale + mask), v)`."""

    roots = (FlashAttentionOp,)
    pass_name = NAME

    def expand(self, op: Operation, steps: Steps) -> SSAValue:
        assert isinstance(op, FlashAttentionOp)
        if value_shape(op.k)[2] == 0:
            text = "without keys the op gives NaN, and a product 0"
            raise NearMissError(ReasonClass.SHAPE, text, "0 keys", "1 key or more")
        element_type = element_type_of(op.q)
        query, key, value = (steps.cast(x, op.accumulate) for x in (op.q, op.k, op.v))
        heads = value_shape(query)[1]
        key, value = (_repeated(x, heads, steps) for x in (key, value))
        transposed = steps.add(TransposeOp(key, (0, 1, 3, 2)))
        scores = _scaled(op, steps.add(MatmulOp(query, transposed)), steps)
        visible = _visible(op, value_shape(scores), steps)
        weights = _weights(op, _masked(op, scores, visible, steps), steps)
        if op.zero_nan is not None:
            lost, zero = steps.add(IsNanOp(weights)), steps.number(0.0, weights)
            weights = steps.add(SelectOp(lost, zero, weights))
        result = steps.add(MatmulOp(weights, value))
        if op.nan_guard is not None:
            result = _guarded(op, result, visible, value_shape(scores), steps)
        return steps.cast(result, element_type)


def _weights(op: FlashAttentionOp, scores: SSAValue, steps: Steps) -> SSAValue:
    """Returns the softmax of scores; that of a sink is one column more, which no value has."""
    if op.sink is None:
        return steps.add(SoftmaxOp(scores, -1))
    *rows, keys = value_shape(scores)
    if not isinstance(keys, int) or not is_known(tuple(rows)):
        text = "a sink needs the number of keys"
        raise NearMissError(ReasonClass.SYMBOL, text, show_shape(value_shape(scores)), "a number")
    sink = steps.cast(op.sink, element_type_of(scores))
    column = steps.reshape(sink, (1, *value_shape(sink), 1, 1))
    column = steps.add(BroadcastToOp(column, (*rows, 1)))
    weights = steps.add(SoftmaxOp(steps.add(ConcatOp([scores, column], 3)), -1))
    return steps.add(SliceOp(weights, [0], [keys], [3]))


def _repeated(x: SSAValue, heads: object, steps: Steps) -> SSAValue:
    """Returns `[B, Hk, T, D]` with each head repeated for its group, `[B, H, T, D]`."""
    shape = value_shape(x)
    own = shape[1]
    if own == heads:
        return x
    if not isinstance(own, int) or not isinstance(heads, int) or not is_known(shape):
        text = "the number of heads is not known"
        raise NearMissError(ReasonClass.SYMBOL, text, show_shape(shape), "a number")
    groups = heads // own
    apart = steps.reshape(x, (shape[0], own, 1, *shape[2:]))
    copies = steps.add(BroadcastToOp(apart, (shape[0], own, groups, *shape[2:])))
    return steps.reshape(copies, (shape[0], heads, *shape[2:]))


def _scaled(op: FlashAttentionOp, scores: SSAValue, steps: Steps) -> SSAValue:
    scores = steps.add(MulOp(scores, steps.number(op.scale.value.data, scores)))
    if op.softcap is None:
        return scores
    cap = steps.number(op.softcap.value.data, scores)
    return steps.add(MulOp(steps.add(TanhOp(steps.add(DivOp(scores, cap)))), cap))


def _visible(op: FlashAttentionOp, shape: Shape, steps: Steps) -> SSAValue | None:
    """Returns the truth values of the keys that are kept; None where all are."""
    kept = op.mask if op.mask is not None and is_bool(element_type_of(op.mask)) else None
    if op.causal is None:
        return kept
    rows, columns = shape[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int):
        text = "a causal mask needs the number of queries and keys"
        raise NearMissError(ReasonClass.SYMBOL, text, show_shape(shape), "numbers")
    offset = op.causal_offset.value.data if op.causal_offset else 0
    last = steps.reshape(steps.add(RangeOp(offset, 1, rows, i64)), (rows, 1))
    causal = steps.add(LessEqualOp(steps.add(RangeOp(0, 1, columns, i64)), last))
    return causal if kept is None else steps.add(AndOp(kept, causal))


def _masked(
    op: FlashAttentionOp, scores: SSAValue, visible: SSAValue | None, steps: Steps
) -> SSAValue:
    if op.mask is not None and not is_bool(element_type_of(op.mask)):
        scores = steps.add(AddOp(scores, steps.cast(op.mask, element_type_of(scores))))
    if visible is None:
        return scores
    if (fill := op.masked_score) is not None:
        return steps.add(SelectOp(visible, scores, steps.number(fill, scores)))
    zero, gone = steps.number(0.0, scores), steps.number(-inf, scores)
    return steps.add(AddOp(scores, steps.add(SelectOp(visible, zero, gone))))


def _guarded(
    op: FlashAttentionOp, result: SSAValue, visible: SSAValue | None, shape: Shape, steps: Steps
) -> SSAValue:
    """Returns 0 for queries that keep no key; NaN that comes from elsewhere stays NaN."""
    alive = visible
    if op.mask is not None and not is_bool(element_type_of(op.mask)):
        gone = steps.add(EqualOp(op.mask, steps.number(-inf, op.mask)))
        added = steps.add(LogicalNotOp(gone))
        alive = added if alive is None else steps.add(AndOp(alive, added))
    if alive is None:
        return result
    rank = len(value_shape(alive))
    any_key = _any_of_last(alive, rank, steps) if rank else alive
    return steps.add(SelectOp(any_key, result, steps.number(0.0, result)))


def _any_of_last(truth: SSAValue, rank: int, steps: Steps) -> SSAValue:
    """Returns whether one element along the last dimension holds."""
    numbers = steps.add(CastOp(truth, i64))
    most = steps.add(ReduceMaxOp(numbers, [rank - 1]))
    return steps.add(CastOp(most, i1))


@dataclass(frozen=True)
class LegalizeAttentionPass(ModulePass):
    """Spells attention out in products, masks and softmax."""

    name = NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Driver(NAME, [LegalizeAttention()]).run(op)
