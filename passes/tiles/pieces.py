"""Pieces of dimensions: what may be cut, and with what else it has to be cut along.

A dimension is a product of pieces, outermost first: `[B, S, D]` reshaped to `[B*S, D]` has the two
pieces B and S in its first dimension. Pieces that stand for the same elements in different values
are one piece. Cutting a piece cuts all values that have it; one that an op needs whole is fixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import gcd

from xdsl.ir import SSAValue

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.types import static_shape
from ge_dialect.ge.windows import aligned_axes


@dataclass(eq=False, slots=True)
class Piece:
    """A part of a dimension.

    Attributes:
        size: In steps.
        fixed: Whether it has to be whole in every tile.
        parts: The pieces it has been divided into, outermost first.
        same_as: The piece that stands for it since the two were found to be one.
    """

    size: int
    fixed: bool = False
    parts: tuple[Piece, Piece] | None = None
    same_as: Piece | None = None


def leaves(pieces: Iterable[Piece]) -> list[Piece]:
    """Returns what pieces consist of by now, outermost first; those of one step are left out."""
    found: list[Piece] = []
    for piece in pieces:
        while piece.same_as is not None:
            piece = piece.same_as
        if piece.parts is not None:
            found += leaves(piece.parts)
        elif piece.size > 1:
            found.append(piece)
    return found


def fix(pieces: Iterable[Piece]) -> None:
    """Says that pieces have to be whole."""
    for piece in leaves(pieces):
        piece.fixed = True


def divide(piece: Piece, inner: int) -> tuple[Piece, Piece]:
    """Divides a leaf into an outer part and one of `inner` steps, which divides its size."""
    piece.parts = (Piece(piece.size // inner, piece.fixed), Piece(inner, piece.fixed))
    return piece.parts


def join(one: Iterable[Piece], other: Iterable[Piece]) -> None:
    """Says that two runs of pieces stand for the same elements, in the same order.

    They are matched from the innermost on; what does not match is fixed.
    """
    first, second = leaves(one), leaves(other)
    if first == second:
        return
    while first and second:
        a, b = first.pop(), second.pop()
        if a is b:
            continue
        if a.size < b.size:
            a, b, first, second = b, a, second, first
        if a.size != b.size:
            if a.size % b.size:
                fix([*first, a, *second, b])
                return
            outer, a = divide(a, b.size)
            first.append(outer)
        a.same_as, b.fixed = b, a.fixed or b.fixed
    fix([*first, *second])


@dataclass(frozen=True, slots=True)
class Reach:
    """What a tile needs of a value that windows read: from `stride * a - before` to
    `stride * b + after` where the loop runs from `a` to `b`, as far as there is something."""

    stride: int = 1
    before: int = 0
    after: int = 0

    @property
    def grow(self) -> int:
        """Steps that a tile has more than those of its loop."""
        return self.before + self.after

    def through(self, window: Reach) -> Reach:
        """Returns the reach of the operand of a window whose result has this one."""
        return Reach(
            self.stride * window.stride,
            self.before * window.stride + window.before,
            self.after * window.stride + window.after,
        )

    def joined(self, other: Reach) -> Reach:
        """Returns what covers both, which have one stride."""
        before, after = max(self.before, other.before), max(self.after, other.after)
        return Reach(self.stride, before, after)


EXACT = Reach()
"""What a tile needs that no window reaches beyond."""


@dataclass(frozen=True, slots=True)
class Slide:
    """A window that slides along a dimension: operand 0 of an op follows the result."""

    op: GEOp
    axis: int
    reach: Reach


@dataclass
class PieceTable:
    """The pieces of the dimensions of values, all of static shape.

    Attributes:
        of_value: One list a dimension.
        slides: The windows, in the order of the ops.
        loose: Readers that take a part of a value that is whole, and the value.
        reader: The op that says what it needs.
    """

    of_value: dict[SSAValue, list[list[Piece]]] = field(
        default_factory=dict[SSAValue, list[list[Piece]]]
    )
    slides: list[Slide] = field(default_factory=list[Slide])
    loose: set[tuple[GEOp, SSAValue]] = field(default_factory=set[tuple[GEOp, SSAValue]])
    reader: GEOp | None = None
    _parts: dict[tuple[GEOp, SSAValue], list[list[Piece]]] = field(
        default_factory=dict[tuple[GEOp, SSAValue], list[list[Piece]]]
    )

    def dims(self, value: SSAValue) -> list[list[Piece]]:
        """Returns the pieces of each dimension of a value.

        Raises:
            ValueError: The value has no static shape.
        """
        if self.loose and self.reader is not None and (self.reader, value) in self.loose:
            key = (self.reader, value)
            if key not in self._parts:
                self._parts[key] = self._part(self.reader, value)
            return self._parts[key]
        if (found := self.of_value.get(value)) is None:
            shape = static_shape(value.type)
            if shape is None:
                raise ValueError("expected a static shape")
            found = self.of_value[value] = [[Piece(size)] for size in shape]
        return found

    def _part(self, op: GEOp, value: SSAValue) -> list[list[Piece]]:
        """Returns the dimensions of what an op takes of a value: what is whole of it is cut by
        itself."""
        self.reader = None
        dims = list(self.dims(value))
        self.reader = op
        index = list(op.operands).index(value)
        for axis, _ in aligned_axes(op, index):
            found = leaves(dims[axis])
            dims[axis] = [Piece(piece.size) if piece.fixed else piece for piece in found]
        return dims

    def whole(self, *values: SSAValue) -> None:
        """Says that values have to be whole."""
        for value in values:
            for dim in self.dims(value):
                fix(dim)

    def same(self, one: SSAValue, other: SSAValue) -> None:
        """Says that two values of one shape are cut alike."""
        if self._is_new(other, one):
            return
        for a, b in zip(self.dims(one), self.dims(other), strict=True):
            join(a, b)

    def broadcast(self, operand: SSAValue, result: SSAValue) -> None:
        """Says that an operand is cut as the result it is broadcast to."""
        if self._is_new(result, operand):
            return
        own, whole = self.dims(operand), self.dims(result)
        extra = len(whole) - len(own)
        if extra < 0:
            self.whole(operand, result)
            return
        for a, b in zip(own, whole[extra:], strict=True):
            if size_of(a) > 1:
                join(a, b)

    def consists(self, result: SSAValue, dims: list[list[Piece]]) -> None:
        """Says what each dimension of a result consists of; their sizes agree."""
        if result not in self.of_value:
            self.of_value[result] = dims
            return
        for a, b in zip(dims, self.dims(result), strict=True):
            join(a, b)

    def _is_new(self, value: SSAValue, source: SSAValue) -> bool:
        """Gives a value that nothing was said of the pieces of one that has its shape."""
        if value in self.of_value or static_shape(value.type) != static_shape(source.type):
            return False
        self.of_value[value] = self.dims(source)
        return True

    def flat(self, one: SSAValue, other: SSAValue) -> None:
        """Says that two values hold the same elements in the same order."""
        join(chain(*self.dims(one)), chain(*self.dims(other)))

    def pair(self, one: SSAValue, other: SSAValue) -> None:
        """Cuts two values along with each other as far as their free pieces allow.

        Nothing asks for it: pieces are joined that no value has both of.
        """
        first, second = self._free(one, other), self._free(other, one)
        for a in first:
            beside: set[Piece] | None = None
            for b in second:
                common = gcd(a.size, b.size)
                if common == 1 or b in (beside := beside or self._beside(a)):
                    continue
                outer = [p if p.size == common else divide(p, p.size // common)[0] for p in (a, b)]
                join(outer[:1], outer[1:])
                second.remove(b)
                break

    def _free(self, value: SSAValue, other: SSAValue) -> list[Piece]:
        """Returns the pieces of a value that may be cut, those of the other left out."""
        taken = leaves(chain(*self.dims(other)))
        found = leaves(chain(*self.dims(value)))
        return [piece for piece in found if not piece.fixed and piece not in taken]

    def _beside(self, piece: Piece) -> set[Piece]:
        """Returns the pieces of the values that have a piece."""
        found = {piece}
        for dims in {id(dims): dims for dims in self.of_value.values()}.values():
            if piece in (own := leaves(chain.from_iterable(dims))):
                found.update(own)
        return found


def size_of(dim: Sequence[Piece]) -> int:
    """Returns the size of a dimension."""
    size = 1
    for leaf in leaves(dim):
        size *= leaf.size
    return size
