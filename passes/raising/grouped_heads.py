"""Keys and values repeated for every query head of a group: attention does that by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.extents import known_product
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TileOp
from ge_dialect.ge.types import MaybeDim, Shape, show_shape, value_shape
from ge_dialect.passes.canonicalization.groups import is_known, split_dims
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.heads import Chain
from ge_dialect.passes.raising.match import Found, Raise
from ge_dialect.passes.raising.queries import attention_like
from ge_dialect.remarks import ReasonClass


@dataclass
class Repeated:
    """Key or value heads before they were repeated.

    Attributes:
        value: Their elements, in some shape.
        shape: `[B, Hk, T, D]`.
        ops: What repeats them.
    """

    value: SSAValue
    shape: Shape
    ops: list[Operation]


def find_repeated(value: SSAValue) -> Repeated | None:
    """Returns heads that `value`, `[B, H, T, D]`, repeats in consecutive groups, or None."""
    op, ops = value.owner, list[Operation]()
    if isinstance(op, ReshapeOp):
        ops.append(op)
        op = op.input.owner
    if not isinstance(op, BroadcastToOp | TileOp):
        return None
    ops.append(op)
    shape, wide, narrow = map(value_shape, (value, op.result, op.input))
    narrow = (*(1,) * (len(wide) - len(narrow)), *narrow)
    place = _repeated_place(narrow, wide)
    groups = split_dims(shape, wide)
    if place is None or groups is None or place not in groups[1]:
        return None
    if any(wide[i] != 1 for i in groups[1] if i > place):  # the copies of a head are not neighbours
        return None
    heads: MaybeDim = known_product([wide[i] for i in groups[1] if i < place])
    return Repeated(op.input, (shape[0], heads, *shape[2:]), ops)


def _repeated_place(narrow: Shape, wide: Shape) -> int | None:
    """Returns the only dimension that is repeated, from 1."""
    places = [
        i for i, (mine, theirs) in enumerate(zip(narrow, wide, strict=True)) if mine != theirs
    ]
    if len(places) != 1 or narrow[places[0]] != 1 or not is_known(wide):
        return None
    return places[0]


@dataclass
class _Grouped(Found):
    attention: FlashAttentionOp
    key: Repeated
    value: Repeated

    def build(self) -> list[Operation]:
        chain, op = Chain(), self.attention
        key, value = (_narrow(chain, repeated) for repeated in (self.key, self.value))
        chain.add(attention_like(op, op.q, key, op.scale.value.data, value=value))
        return chain.ops


def _narrow(chain: Chain, repeated: Repeated) -> SSAValue:
    value = repeated.value
    if isinstance(inner := value.owner, ReshapeOp):
        value = inner.input
    return chain.reshape(value, repeated.shape)


class AbsorbGroupedHeads(Raise):
    """`flash_attention(q, repeat(k), repeat(v))` -> `flash_attention(q, k, v)`."""

    roots = (FlashAttentionOp,)
    reads = (ReshapeOp, BroadcastToOp, TileOp)
    composite: ClassVar = "attention"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, FlashAttentionOp)
        key, value = find_repeated(op.k), find_repeated(op.v)
        if key is None or value is None:
            return None
        if key.shape[1] != value.shape[1]:
            text = "keys and values are repeated for groups of different size"
            found, wanted = show_shape(value.shape), show_shape(key.shape)
            raise NearMissError(ReasonClass.SHAPE, text, found, wanted)
        return _Grouped(op, key, value, ops=[op], feeders=[*key.ops, *value.ops])
