"""Rotary position embedding: pairs of features, rotated by angles that tables give.

Source of the formula: Su et al., "RoFormer" (2021), equation 34.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.attention import RotaryEmbeddingOp
from ge_dialect.ge.binary import AddOp, MulOp, SubOp
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.types import (
    MaybeDim,
    Shape,
    element_type_of,
    show_shape,
    tensor_type,
    value_shape,
)
from ge_dialect.ge.unary import NegOp
from ge_dialect.passes.canonicalization.cast import keeps_every_value
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.heads import Chain
from ge_dialect.passes.raising.match import Found, Raise
from ge_dialect.passes.raising.rotary_tables import Twice
from ge_dialect.passes.raising.rotations import (
    Joined,
    Pairs,
    Turned,
    pairs_of,
    pairs_within,
    piece_of,
    turned_pairs,
)
from ge_dialect.passes.values import commuted, owner
from ge_dialect.remarks import ReasonClass


@dataclass
class FoundRotary(Found):
    """A rotary embedding.

    Attributes:
        pairs: What is rotated, `[B, H, S, D]`, `[B, S, H, D]` or `[B, S, D]`.
        cos: Cosines that broadcast to it.
        sin: Sines that broadcast to it.
        tables: Ops that make tables of half the width of those of the graph.
        heads: Which dimension is that of heads; 0 for none.
        halves: First and second features of neighbours that are put together as halves, or None.
        joined: What the result is put together with; itself is None there.
        backwards: Whether angles count the other way round.
        shape: Of the result, where it is another one.
    """

    pairs: Pairs
    cos: SSAValue
    sin: SSAValue
    tables: list[Operation]
    heads: int
    halves: tuple[SSAValue, SSAValue] | None = None
    joined: list[SSAValue | None] = field(default_factory=list[SSAValue | None])
    backwards: bool = False
    shape: Shape | None = None

    def build(self) -> list[Operation]:
        chain, value = Chain([*self.tables]), self.pairs.whole
        shape = value_shape(value)
        if self.halves is not None:
            value = chain.add(ConcatOp(self.halves, len(shape) - 1))
        rows = shape[1] if self.heads != 1 else shape[2]
        cos, sin = (
            chain.reshape(table, (_batch(table, len(shape)), rows, value_shape(table)[-1]))
            for table in (self.cos, self.sin)
        )
        if self.backwards:
            sin = chain.add(NegOp(sin))
        count = 0
        if self.heads == 2:  # heads after positions: a row of all heads is the other spelling
            count = _number(shape[2])
            value = chain.reshape(value, (shape[0], rows, count * _number(shape[3])))
        elif self.heads == 0:
            value = chain.reshape(value, (shape[0], 1, rows, shape[-1]))
        neighbours = self.pairs.neighbours and self.halves is None
        rotary = RotaryEmbeddingOp(value, cos, sin, interleaved=neighbours, num_heads=count)
        result = chain.reshape(chain.add(rotary), self.shape or shape)
        if len(self.joined) > 1:
            all_of_them = [result if one is None else one for one in self.joined]
            chain.add(ConcatOp(all_of_them, len(shape) - 1))
        return chain.ops


def _number(dim: MaybeDim) -> int:
    assert isinstance(dim, int)
    return dim


def _batch(table: SSAValue, rank: int) -> MaybeDim:
    shape = value_shape(table)
    return shape[0] if len(shape) == rank else 1


class RaiseRotary(Raise):
    """`x * cos + turn(x) * sin` -> `rotary_embedding(x, cos, sin)`.

    `turn` makes `(-b, a)` of pairs `(a, b)`, which are neighbours or one feature of each half, or
    `(b, -a)`, and the sines change sign; the tables have each number for both.
    """

    roots = (AddOp,)
    reads = (MulOp,)
    composite: ClassVar = "rotary_embedding"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, AddOp)
        for plain, turned in commuted(op):
            first, second = owner(plain, MulOp), owner(turned, MulOp)
            if first is None or second is None:
                continue
            for value, sin in commuted(second):
                for one, cos in commuted(first):
                    turn = _turned_alike(value, one)
                    if turn is not None and op.result.type == turn.pairs.whole.type:
                        ops = [op, first, second, *turn.ops]
                        found = _found(turn.pairs, cos, sin, ops, twice=True)
                        found.backwards = turn.backwards
                        return found
        return None


class RaiseRotaryParts(Raise):
    """`join(a * cos - b * sin, b * cos + a * sin)` -> `rotary_embedding(x, cos, sin)`.

    More may be joined with them. Where `a` and `b` are neighbours in `x`, but halves of the
    result, x is put in that order before.
    """

    roots = (ConcatOp, ReshapeOp)
    reads = (SubOp, ConcatOp)
    composite: ClassVar = "rotary_embedding"

    def find(self, op: Operation) -> Found | None:
        for joined in pairs_within(op.results[0]):
            if (found := _rotated_parts(joined)) is not None:
                return found
        return None


def _rotated_parts(joined: Joined) -> Found | None:
    """Returns the rotary embedding that is put together, or None."""
    real, imaginary = owner(joined.first, SubOp), owner(joined.second, AddOp)
    if real is None or imaginary is None:
        return None
    products = [owner(x, MulOp) for x in (real.lhs, real.rhs, imaginary.lhs, imaginary.rhs)]
    parts = [one for one in products if one is not None]
    if len(parts) < 4:
        return None
    for first, cos in commuted(parts[0]):
        for second, sin in commuted(parts[1]):
            pairs = pairs_of(first, second)
            if pairs is None or (joined.neighbours and not pairs.neighbours):
                continue
            wanted = ({second, cos}, {first, sin})
            sums = [{one.lhs, one.rhs} for one in parts[2:]]
            if sums not in (list(wanted), list(wanted[::-1])) or not _as_wide(joined, pairs):
                continue
            ops = [*joined.ops, real, imaginary, *parts]
            found = _found(pairs, cos, sin, ops, twice=False)
            if pairs.neighbours and not joined.neighbours:
                found.halves, found.feeders = (first, second), []
            found.joined = joined.others
            if joined.neighbours:
                found.shape = value_shape(joined.ops[0].results[0])
            return found
    return None


def _as_wide(joined: Joined, pairs: Pairs) -> bool:
    """Whether the products did not broadcast the features."""
    *rows, features = value_shape(pairs.whole)
    if not isinstance(features, int):
        return False
    half = tensor_type(element_type_of(pairs.whole), (*rows, features // 2))
    return half == joined.first.type == joined.second.type


def _turned_alike(turned: SSAValue, plain: SSAValue) -> Turned | None:
    """Returns how one value is another one turned; both may be cast to one wider type, which can
    be done before as well."""
    if (turn := turned_pairs(turned)) is not None:
        return turn if turn.pairs.whole is plain else None
    cast, other = owner(turned, CastOp), owner(plain, CastOp)
    if cast is None or other is None or cast.result.type != other.result.type:
        return None
    source, target = element_type_of(cast.input), element_type_of(cast.result)
    if not keeps_every_value(source, target) or (turn := turned_pairs(cast.input)) is None:
        return None
    if turn.pairs.whole is not other.input:
        return None
    return Turned(replace(turn.pairs, whole=plain), [cast, *turn.ops], turn.backwards)


def _found(
    pairs: Pairs, cos: SSAValue, sin: SSAValue, ops: list[Operation], *, twice: bool
) -> FoundRotary:
    """Returns a rotary embedding whose tables fit.

    Raises:
        NearMissError: They do not.
    """
    shape = value_shape(pairs.whole)
    heads = _heads_dimension(shape, [value_shape(cos), value_shape(sin)])
    if not isinstance(shape[-1], int) or (heads == 2 and not isinstance(shape[2], int)):
        text = "the number of features is not known"
        raise NearMissError(ReasonClass.SYMBOL, text, show_shape(shape))
    for table in (cos, sin):
        if element_type_of(table) != element_type_of(pairs.whole):
            found, wanted = str(element_type_of(table)), str(element_type_of(pairs.whole))
            raise NearMissError(ReasonClass.DTYPE, "a table has another type", found, wanted)
    chain, half = Chain(), [cos, sin]
    if twice:
        how = Twice(pairs.neighbours)
        found_halves = [how.once(chain, table) for table in (cos, sin)]
        half = [table for table in found_halves if table is not None]
        if len(half) < 2:
            text = "the tables are not proved to have one angle for both features of a pair"
            raise NearMissError(ReasonClass.CONST, text)
    return FoundRotary(pairs, half[0], half[1], chain.ops, heads, ops=ops, feeders=pairs.ops)


def _heads_dimension(shape: Shape, tables: list[Shape]) -> int:
    """Returns the dimension that tables do not depend on; 0 for values of rank 3.

    Raises:
        NearMissError: There is no such dimension, or tables do not depend on the position.
    """
    rank = len(shape)
    padded = [(*(1,) * (rank - len(table)), *table)[:-1] for table in tables]
    choices = {3: (0,), 4: (1, 2)}.get(rank, ())
    for heads in choices:
        rows = 2 if heads == 1 else 1
        wanted = [1 if i == heads and heads else dim for i, dim in enumerate(shape[:-1])]
        if all(
            table[rows] == wanted[rows]
            and table[0] in (1, wanted[0])
            and (heads == 0 or table[heads] == 1)
            for table in padded
        ):
            return heads
    text = "the tables do not have an angle for each position, the same for all heads"
    found = " and ".join(show_shape(table) for table in tables)
    raise NearMissError(ReasonClass.SHAPE, text, found, show_shape(shape))


@dataclass
class _Partial(Found):
    rotary: RotaryEmbeddingOp
    whole: SSAValue
    features: int

    def build(self) -> list[Operation]:
        op = self.rotary
        return [
            RotaryEmbeddingOp(
                self.whole,
                op.cos,
                op.sin,
                op.position_ids,
                interleaved=op.interleaved is not None,
                rotary_dim=self.features,
            )
        ]


class AbsorbRestOfFeatures(Raise):
    """`concat(rotary_embedding(x[..., :r]), x[..., r:])` -> `rotary_embedding(x) rotary_dim r`."""

    roots = (ConcatOp,)
    reads = (RotaryEmbeddingOp,)
    composite: ClassVar = "rotary_embedding"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, ConcatOp)
        rank = len(value_shape(op.result))
        if len(op.inputs) != 2 or rank != 4 or op.dimension != rank - 1:
            return None
        rotary = owner(op.inputs[0], RotaryEmbeddingOp)
        if rotary is None or rotary.rotary_dim.value.data:
            return None
        first, rest = piece_of(rotary.input), piece_of(op.inputs[1])
        if first is None or rest is None or first.whole is not rest.whole:
            return None
        whole = first.size + rest.size == value_shape(first.whole)[-1]
        if first.start != 0 or rest.start != first.size or first.step * rest.step != 1 or not whole:
            return None
        feeders = list(dict.fromkeys((first.op, rest.op)))
        return _Partial(rotary, first.whole, first.size, ops=[op, rotary], feeders=feeders)
