"""Bringing operands of attention into the shape `[B, H, rows, columns]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.ge.constants import ConstantOp, constant_attr, dense_from_bytes, is_dense
from ge_dialect.ge.extents import known_product
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TransposeOp
from ge_dialect.ge.types import (
    MaybeDim,
    Shape,
    element_type_of,
    show_shape,
    tensor_type,
    value_shape,
)
from ge_dialect.passes.canonicalization.groups import compose, paired_groups, same_shape
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.match import scaled
from ge_dialect.passes.values import NewOps
from ge_dialect.remarks import ReasonClass


@dataclass
class Chain(NewOps):
    """New ops that bring an operand into shape."""

    def reshape(self, value: SSAValue, shape: Shape) -> SSAValue:
        """Returns `value` in another shape; of a constant another constant."""
        if same_shape(value_shape(value), shape):
            return value
        constant = reshaped_constant(value, shape)
        return self.add(ReshapeOp(value, shape) if constant is None else constant)

    def broadcast(self, value: SSAValue, shape: Shape) -> SSAValue:
        """Returns `value` repeated to a shape."""
        same = same_shape(value_shape(value), shape)
        return value if same else self.add(BroadcastToOp(value, shape))

    def swap_last(self, value: SSAValue) -> SSAValue:
        """Returns `value` with its last two dimensions swapped; two transposes become one."""
        rank = len(value_shape(value))
        perm = (*range(rank - 2), rank - 1, rank - 2)
        if isinstance(inner := value.owner, TransposeOp):
            value, perm = inner.input, compose(inner.permutation, perm)
        return value if perm == tuple(range(rank)) else self.add(TransposeOp(value, perm))


def reshaped_constant(value: SSAValue, shape: Shape) -> ConstantOp | None:
    """Returns a constant of the same elements in another shape, or None for other values."""
    attr, type_ = constant_attr(value), tensor_type(element_type_of(value), shape)
    if isinstance(attr, WeightAttr):
        return ConstantOp(attr, type_)
    return ConstantOp(dense_from_bytes(type_, attr.data.data)) if is_dense(attr) else None


@dataclass
class Unscaled:
    """A value without the scalar factors that were on the way to it.

    Attributes:
        value: What is scaled and moved.
        scale: The product of the factors.
        moves: Transposes and reshapes to be done again, the last first.
        ops: The scaling ops, and moves between them.
    """

    value: SSAValue
    scale: float
    moves: list[Operation]
    ops: list[Operation]

    def build(self, chain: Chain) -> SSAValue:
        """Returns the value, moved but not scaled."""
        value = self.value
        for move in reversed(self.moves):
            if isinstance(move, TransposeOp):
                value = chain.add(TransposeOp(value, move.permutation))
            else:
                value = chain.reshape(value, value_shape(move.results[0]))
        return value


def unscaled(value: SSAValue) -> Unscaled:
    """Returns `value` without scalar factors, also those below transposes and reshapes.

    A transpose or reshape that somebody else reads as well ends the search: it would be done twice.
    """
    found = Unscaled(value, 1.0, [], [])
    pending: list[Operation] = []
    while isinstance(op := value.owner, Operation):
        if (part := scaled(value)) is not None:
            found = Unscaled(
                part[0],
                found.scale * part[1],
                [*found.moves, *pending],
                [*found.ops, *pending, op],
            )
            pending = []
            value = part[0]
        elif isinstance(op, TransposeOp | ReshapeOp) and op.result.has_one_use():
            pending.append(op)
            value = op.input
        else:
            break
    return found


def choose_heads(shapes: Sequence[Shape]) -> Shape:
    """Returns B and H for scores that take these shapes: those of rank 4 know what is a head."""
    for shape in shapes:
        if len(shape) == 4:
            return shape[:2]
    lead = shapes[0][:-2]
    if len(lead) < 2:
        return (*lead, *(1,) * (2 - len(lead)))
    return (known_product(lead[:-1]), lead[-1])


def expect_broadcasts(value: SSAValue, lead: Shape, name: str) -> None:
    """Checks that the leading dimensions of an operand are proved to broadcast to `lead`.

    Raises:
        NearMissError: They are not.
    """
    mine = value_shape(value)[:-2]
    if len(mine) > len(lead):
        text = f"'{name}' has more leading dimensions than the scores"
        raise NearMissError(ReasonClass.SHAPE, text, show_shape(mine), show_shape(lead))
    for have, want in zip(reversed(mine), reversed(lead), strict=False):
        if have == 1 or (have == want and have is not None):
            continue
        known = isinstance(have, int) and isinstance(want, int)
        reason = ReasonClass.SHAPE if known else ReasonClass.SYMBOL
        text = f"'{name}' is not proved to have the leading dimensions of the scores"
        raise NearMissError(reason, text, show_shape(mine), show_shape(lead))


def to_heads(chain: Chain, value: SSAValue, lead: Shape, heads: Shape) -> SSAValue:
    """Returns an operand of a product as `[B, H, rows, columns]`.

    Args:
        chain: Where new ops go.
        value: The operand, broadcast to `lead` by the product.
        lead: The leading dimensions of the product.
        heads: B and H.
    """
    shape = value_shape(value)
    if shape[:-2] != lead:
        value = chain.broadcast(value, (*lead, *shape[-2:]))
    return value if lead == heads else chain.reshape(value, (*heads, *shape[-2:]))


def is_shared_head(value: SSAValue, lead: Shape) -> bool:
    """Whether an operand has one head that all heads of `lead` share, but all of its batch."""
    mine = value_shape(value)[:-2]
    return len(mine) == len(lead) == 2 and mine == (lead[0], 1)


def mask_to_heads(chain: Chain, mask: SSAValue, lead: Shape, heads: Shape) -> SSAValue:
    """Returns a mask of scores `[*lead, S, T]` as one of scores `[B, H, S, T]`.

    Dimensions of size 1 stay that wherever the shapes allow it.
    """
    shape = value_shape(mask)
    if lead == heads or len(shape) <= 2:
        return mask
    padded = (*(1,) * (len(lead) + 2 - len(shape)), *shape)
    groups = paired_groups(lead, heads) or [(range(len(lead)), range(2))]
    wide: list[MaybeDim] = list(padded)
    target: list[MaybeDim] = [1] * len(heads)
    for mine, theirs in groups:
        if all(padded[i] == 1 for i in mine):
            continue
        for i in mine:
            wide[i] = lead[i]
        for j in theirs:
            target[j] = heads[j]
    mask = chain.broadcast(chain.reshape(mask, padded), tuple(wide))
    return chain.reshape(mask, (*target, *padded[-2:]))
