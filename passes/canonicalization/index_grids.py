"""Gathers whose computed indices name all elements in order: they are reshapes.

What `SliceForGather` and `ReshapeForGatherNd` see of constant indices, for sizes that are symbols:
exporters address a mask by a grid of `range`s, broadcast and joined, or by `b*S + s` into the flat
mask. An index is followed to an affine function of its own coordinates, whose factors are numbers
or expressions over symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.binary import AddOp, BinaryOp, MulOp, SubOp
from ge_dialect.ge.constants import ConstantOp, constant_scalar
from ge_dialect.ge.indexing import GatherNdOp, GatherOp, ShapeOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp
from ge_dialect.ge.rearrange import RangeOp
from ge_dialect.ge.types import element_type_of, is_tensor, value_shape
from ge_dialect.passes.driver import Rewrite
from ge_dialect.symbols import Dim, product

MOST_OPS = 64
"""Ops that an index is followed through."""


@dataclass(frozen=True)
class Affine:
    """Elements of a tensor of i64 as a function of their coordinates: `base + sum(f_d * i_d)`.

    Attributes:
        shape: Of the tensor.
        factors: One a dimension; of a dimension of 1 it is 0.
        base: The element at the origin.
    """

    shape: tuple[Dim, ...]
    factors: tuple[Dim, ...]
    base: Dim

    def in_order(self) -> bool:
        """Whether the elements count up from 0 in row-major order."""
        if self.base != 0:
            return False
        for axis, (dim, factor) in enumerate(zip(self.shape, self.factors, strict=True)):
            if dim != 1 and factor != product(self.shape[axis + 1 :]):
                return False
        return True

    def is_zero(self) -> bool:
        """Whether all elements are 0."""
        return self.base == 0 and all(factor == 0 for factor in self.factors)

    def minus(self, other: Affine) -> Affine:
        """Returns the difference to another of the same shape.

        Raises:
            ValueError: It is too large to name.
        """
        pairs = zip(self.factors, other.factors, strict=True)
        factors = tuple([product([-1, b]) + a for a, b in pairs])
        return Affine(self.shape, factors, product([-1, other.base]) + self.base)

    def plus(self, number: int) -> Affine:
        """Returns the elements with a number added to each."""
        return Affine(self.shape, self.factors, self.base + number)

    def axis(self) -> int | None:
        """Returns the dimension whose coordinate the elements are, None where they are not."""
        found = [axis for axis, factor in enumerate(self.factors) if factor != 0]
        if self.base != 0 or len(found) != 1 or self.factors[found[0]] != 1:
            return None
        return found[0]


@dataclass
class Follower:
    """Follows indices to what their elements are; each value once.

    Attributes:
        left: How many more ops are looked at.
        known: What was found of values, None where nothing is known.
    """

    left: int = MOST_OPS
    known: dict[SSAValue, Affine | None] = field(default_factory=dict[SSAValue, "Affine | None"])

    def of(self, value: SSAValue) -> Affine | None:
        """Returns what the elements of a value are, None where that is not known."""
        if value not in self.known:
            self.known[value] = self._found(value)
        return self.known[value]

    def pair(self, op: BinaryOp, shape: tuple[Dim, ...]) -> tuple[Affine, Affine] | None:
        """Returns what both operands of an op are, broadcast to the shape of its result."""
        found = [self.of(operand) for operand in op.operands]
        one, other = [None if one is None else _spread(one, shape) for one in found]
        return None if one is None or other is None else (one, other)

    def _found(self, value: SSAValue) -> Affine | None:
        if not is_tensor(value.type) or element_type_of(value) != i64:
            return None
        shape, owner = value_shape(value), value.owner
        rule = _RULES.get(type(owner)) if isinstance(owner, Operation) else None
        dims = tuple(dim for dim in shape if dim is not None)
        if rule is None or self.left == 0 or len(dims) != len(shape):
            return None
        self.left -= 1
        try:
            return rule(self, owner, dims)
        except ValueError:  # too large to name
            return None


def _constant(_: Follower, op: Any, shape: tuple[Dim, ...]) -> Affine | None:
    number = constant_scalar(op.results[0])
    return Affine(shape, (0,) * len(shape), number) if isinstance(number, int) else None


def _range(_: Follower, op: Any, shape: tuple[Dim, ...]) -> Affine | None:
    assert isinstance(op, RangeOp)
    start, delta = op.start.value.data, op.delta.value.data
    if not isinstance(start, int) or not isinstance(delta, int):
        return None
    return Affine(shape, (0 if shape[0] == 1 else delta,), start)


def _reshape(follower: Follower, op: Any, shape: tuple[Dim, ...]) -> Affine | None:
    """Follows a reshape that adds or drops dimensions of 1; an element of a shape has a value."""
    known = follower.of(op.operands[0])
    if known is None:
        return _element(follower, op, shape)
    factors = [f for f, dim in zip(known.factors, known.shape, strict=True) if dim != 1]
    if [dim for dim in known.shape if dim != 1] != [dim for dim in shape if dim != 1]:
        return None
    left = iter(factors)
    return Affine(shape, tuple(0 if dim == 1 else next(left) for dim in shape), known.base)


def _broadcast(follower: Follower, op: Any, shape: tuple[Dim, ...]) -> Affine | None:
    known = follower.of(op.operands[0])
    return None if known is None else _spread(known, shape)


def _spread(known: Affine, shape: tuple[Dim, ...]) -> Affine | None:
    added = len(shape) - len(known.shape)
    mine = (*(1,) * added, *known.shape)
    if added < 0 or any(dim not in (1, wide) for dim, wide in zip(mine, shape, strict=True)):
        return None
    return Affine(shape, (*(0,) * added, *known.factors), known.base)


def _sum(follower: Follower, op: Any, shape: tuple[Dim, ...]) -> Affine | None:
    if (pair := follower.pair(op, shape)) is None:
        return None
    one, other = pair
    if isinstance(op, SubOp):
        return one.minus(other)
    factors = [b + a for a, b in zip(one.factors, other.factors, strict=True)]
    return Affine(shape, tuple(factors), other.base + one.base)


def _scaled(follower: Follower, op: Any, shape: tuple[Dim, ...]) -> Affine | None:
    if (pair := follower.pair(op, shape)) is None:
        return None
    for one, other in (pair, pair[::-1]):
        if all(factor == 0 for factor in other.factors):
            factors = tuple(product([factor, other.base]) for factor in one.factors)
            return Affine(shape, factors, product([one.base, other.base]))
    return None


def _element(_: Follower, op: Any, shape: tuple[Dim, ...]) -> Affine | None:
    """Returns the one element of what holds a dimension."""
    from ge_dialect.frontends.onnx.convert.dims import SymbolicDims

    items = SymbolicDims().followed(op.results[0], MOST_OPS)
    if items is None or items.size != 1 or (item := items.item()) is None:
        return None
    return Affine(shape, (0,) * len(shape), item)


_RULES: dict[type[Any], Callable[[Follower, Any, tuple[Dim, ...]], Affine | None]] = {
    ConstantOp: _constant,
    RangeOp: _range,
    ReshapeOp: _reshape,
    BroadcastToOp: _broadcast,
    AddOp: _sum,
    SubOp: _sum,
    MulOp: _scaled,
    SliceOp: _element,
    GatherOp: _element,
    ShapeOp: _element,
}


def _is_computed(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and not isinstance(value.owner, ConstantOp)


class ReshapeForGrid(Rewrite):
    """`gather_nd(x, concat(i_0, i_1, ...))` -> `reshape(x)`, where each index is a coordinate.

    The dimensions before the last one of the indices are, but for those of 1, the first ones of `x`
    in order, and each index is the coordinate along its own.
    """

    roots = (GatherNdOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, GatherNdOp)
        joined = op.indices.owner
        if not isinstance(joined, ConcatOp) or op.batch_dims.value.data != 0:
            return
        shape, result = value_shape(op.input), value_shape(op.result)
        grid = value_shape(op.indices)[:-1]
        if joined.dimension != len(grid) or any(value_shape(one)[-1] != 1 for one in joined.inputs):
            return
        used = [axis for axis, dim in enumerate(grid) if dim != 1]
        found: list[int] = []
        follower = Follower()
        for dim, value in zip(shape, joined.inputs, strict=False):
            if (index := follower.of(value)) is None:
                return
            if dim == 1 and index.is_zero():
                continue
            if (axis := index.axis()) is None or grid[axis] != dim:
                return
            found.append(axis)
        if found == used and None not in (*shape, *result):
            rewriter.replace(op, ReshapeOp(op.input, result))


class ReshapeForGather(Rewrite):
    """`gather(x, i)` -> `reshape(x)`, where `i` counts all of a dimension in order."""

    roots = (GatherOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, GatherOp)
        if not _is_computed(op.indices) or None in value_shape(op.result):
            return
        index = Follower().of(op.indices)
        if index is None or not index.in_order():
            return
        try:
            count = product(index.shape)
        except ValueError:  # too large to name
            return
        if count == value_shape(op.input)[op.dimension]:
            rewriter.replace(op, ReshapeOp(op.input, value_shape(op.result)))


GRID_PATTERNS = (ReshapeForGrid, ReshapeForGather)
