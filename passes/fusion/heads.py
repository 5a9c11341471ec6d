"""How a kernel with attention divides into heads, where products feed its queries, keys or values.

Columns of a projection are heads side by side. A kernel takes one head after the other (with
grouped queries: the query heads that share a key head), computes its columns of the projections,
and works on tiles of its queries. The cores that share a head exchange its keys and values, which
each tile of queries reads again, through L2, where the next head takes their place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.normalization import LayerNormOp, RMSNormOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.types import byte_size, normalize_axes, normalize_axis
from ge_dialect.passes.fusion.tiling import Role, role_of, shape_or_none

_KV = (1, 2)


@dataclass(frozen=True)
class HeadTiling:
    """A kernel as heads.

    Attributes:
        attention: The op.
        hard: The ops in front of it that compute one head without the others.
        held: Bytes of keys and values that are computed, of one head.
        groups: Heads in all batches that do not share keys.
        queries: Rows of queries of one head.
    """

    attention: FlashAttentionOp
    hard: tuple[GEOp, ...]
    held: int
    groups: int
    queries: int


def head_tiling(
    attention: FlashAttentionOp,
    reads: Mapping[GEOp, Sequence[SSAValue]],
    made: Mapping[SSAValue, GEOp],
    is_computed: Callable[[SSAValue], bool],
) -> HeadTiling | None:
    """Returns how a kernel divides into heads; None where some op in front mixes heads.

    Args:
        attention: Its sizes are known.
        reads: What each op of the kernel reads.
        made: The op of the kernel that makes a value.
        is_computed: Whether a product or a reduction of the kernel goes into a value.
    """
    shapes = [shape_or_none(value) for value in reads[attention][:3]]
    if any(shape is None for shape in shapes):
        return None
    walk = _Walk(reads, made, is_computed)
    held: dict[SSAValue, int] = {}
    for index, value in enumerate(reads[attention][:3]):
        shape = shapes[index]
        assert shape is not None
        if not is_computed(value):
            continue
        if not walk.divides(value, 1, shape[1]):
            return None
        if index in _KV:
            held[value] = (byte_size(value.type) or 0) // max(1, shape[0] * shape[1])
    query, key = shapes[0], shapes[1]
    assert query is not None
    assert key is not None
    hard = tuple(walk.hard)
    return HeadTiling(attention, hard, sum(held.values()), max(1, key[0] * key[1]), query[2])


@dataclass
class _Walk:
    """A walk from the operands of attention to the products.

    An axis says where the heads of a value are: all of it, or its blocks where it is the last.
    """

    reads: Mapping[GEOp, Sequence[SSAValue]]
    made: Mapping[SSAValue, GEOp]
    is_computed: Callable[[SSAValue], bool]
    hard: dict[GEOp, None] = field(default_factory=dict[GEOp, None])
    seen: dict[SSAValue, tuple[int, bool]] = field(default_factory=dict[SSAValue, tuple[int, bool]])

    def divides(self, value: SSAValue, axis: int, heads: int) -> bool:
        """Whether a value can be computed head by head.

        Args:
            value: Computed in the kernel.
            axis: Of the heads.
            heads: How many.
        """
        waiting = [(value, axis, False)]
        while waiting:
            value, axis, blocks = waiting.pop()
            if (known := self.seen.get(value)) is not None:
                if known != (axis, blocks):
                    return False
                continue
            self.seen[value] = (axis, blocks)
            op = self.made[value]
            place = self._through(op, value, axis, blocks, heads)
            if place is None:
                return False
            if place[0] < 0:
                self.hard[op] = None
                continue
            waiting += [(v, *place) for v in self.reads[op] if self.is_computed(v)]
        return True

    def _through(
        self, op: GEOp, value: SSAValue, axis: int, blocks: bool, heads: int
    ) -> tuple[int, bool] | None:
        """Returns where the heads of the operands are; -1 where a product begins, None nowhere."""
        result = shape_or_none(value)
        shapes = [shape_or_none(v) for v in self.reads[op] if self.is_computed(v)]
        if result is None or any(shape is None for shape in shapes):
            return None
        last = len(result) - 1
        match op:
            case MatmulOp() | GemmOp():
                whole = (blocks and axis == last) or (not blocks and axis < last - 1)
                return (-1, False) if whole and not shapes else None
            case ReshapeOp():
                return None if blocks else _before_reshape(shapes[0] or (), result, axis, heads)
            case TransposeOp():
                return (op.permutation[axis], blocks)
            case SplitOp() | ConcatOp():
                own = normalize_axis(op.axis.value.data, last + 1)
                return (axis, blocks) if blocks or own != axis else None
            case SliceOp():
                own = normalize_axes(op.axes.get_values(), last + 1)
                return (axis, blocks) if blocks or axis not in own else None
            case LayerNormOp() | RMSNormOp():
                inside = not blocks and axis < normalize_axis(op.axis.value.data, last + 1)
                if inside:
                    self.hard[op] = None
                return (axis, blocks) if inside else None
            case _:
                same = all(shape == result for shape in shapes)
                return (axis, blocks) if role_of(type(op)) is Role.POINT and same else None


def _before_reshape(
    operand: tuple[int, ...], result: tuple[int, ...], axis: int, heads: int
) -> tuple[int, bool] | None:
    """Returns where the heads are in front of a reshape: an axis of their own, or blocks."""
    ahead = _product(result[:axis])
    for index, size in enumerate(operand):
        if _product(operand[:index]) != ahead:
            continue
        if size == heads and _product(operand[index:]) == _product(result[axis:]):
            return (index, False)
        if index == len(operand) - 1 and size == _product(result[axis:]) and size % heads == 0:
            return (index, True)
    return None


def _product(sizes: Sequence[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count
