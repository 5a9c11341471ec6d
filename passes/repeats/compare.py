"""What the first and the last block of a run have become in the optimised short function: whether
they came out alike, so that the blocks between them may be copies of one.

An op belongs to the first block that it is made from. The last block stands for the one after the
first there: a kernel of the first block may hold ops of the last, where that of the last holds ops
behind the run. What else the first block has, shared with all blocks or with what is before it, it
keeps for itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import LocationAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import BlockArgument, Operation, OpResult, Region, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.constants import ConstantOp, constant_attr
from ge_dialect.passes.repeats.shorten import Shortened
from ge_dialect.repeats import Place

FIRST, LAST = 0, 1
"""Places in the two blocks begin with these."""


@dataclass(frozen=True)
class _Origin:
    """What an op of the optimised function was made from.

    Attributes:
        block: The first block.
        spots: Which ops of that.
        outside: What is in no block.
    """

    block: int
    spots: list[int]
    outside: list[LocationAttr]

    def is_like(self, first: _Origin) -> bool:
        """Whether an op of the first block is made from the same ops, and of what is in no block
        from nothing that this one is not made from."""
        return self.spots == first.spots and all(part in self.outside for part in first.outside)


@dataclass
class Pair:
    """The two blocks.

    Attributes:
        short: With the optimised function in its module.
        first: The ops of the first block, constants left out: those that have a like, in order.
        last: The ops of the last one.
        own: All ops of the first block, in order.
        places: Of the ops that have a like: in which block, and position.
    """

    short: Shortened
    first: list[Operation] = field(default_factory=list[Operation])
    last: list[Operation] = field(default_factory=list[Operation])
    own: dict[Operation, None] = field(default_factory=dict[Operation, None])
    places: dict[Operation, Place] = field(default_factory=dict[Operation, Place])
    _before: dict[Place, SSAValue] = field(default_factory=dict[Place, SSAValue])
    _after: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])

    @staticmethod
    def of(short: Shortened) -> Pair | None:
        """Returns the two blocks; None where they did not come out alike."""
        pair = Pair(short)
        return pair if pair._split() and pair._are_alike() and pair._is_local() else None

    def place(self, value: SSAValue) -> Place | None:
        """Returns which op, of those that have a like, makes a value; None where none does."""
        return self.places.get(value.owner) if isinstance(value, OpResult) else None

    def is_next(self, value: SSAValue) -> bool:
        """Whether a value is a parameter of the last block."""
        found = self.short.parameter(value)
        return found is not None and found[0] == self.short.blocks.count - 1

    def _split(self) -> bool:
        """Finds the blocks; False where their ops are mingled, or where the first has not the ops
        of the last in the same order."""
        first: list[tuple[Operation, _Origin]] = []
        last: list[tuple[Operation, _Origin]] = []
        for op in self.short.block.ops:
            if isinstance(op, ConstantOp | ReturnOp) or (origin := self._origin(op)) is None:
                continue
            if origin.block == 0 and last:
                return False
            (last if origin.block else first).append((op, origin))
        self.own.update(dict.fromkeys(op for op, _ in first))
        candidates = iter(first)
        for position, (op, origin) in enumerate(last):
            like = next((one for one, other in candidates if origin.is_like(other)), None)
            if like is None:
                return False
            self.first.append(like)
            self.last.append(op)
            self.places[like], self.places[op] = (FIRST, position), (LAST, position)
        return bool(last)

    def _origin(self, op: Operation) -> _Origin | None:
        """Returns what an op was made from; None where that is in no block."""
        inside, outside = self.short.names.places_of(op)
        if not inside:
            return None
        block = min(number for number, _ in inside)
        return _Origin(block, [spot for number, spot in inside if number == block], outside)

    def _are_alike(self) -> bool:
        for one, other in zip(self.first, self.last, strict=True):
            alike = (
                type(one) is type(other)
                and one.properties == other.properties
                and one.attributes == other.attributes
                and len(one.regions) == len(other.regions)
                and [r.type for r in one.results] == [r.type for r in other.results]
                and len(operands_of(one)) == len(operands_of(other))
            )
            if not alike or not all(map(self._match, operands_of(one), operands_of(other))):
                return False
            if not all(map(Region.is_structurally_equivalent, one.regions, other.regions)):
                return False
        return True

    def _is_local(self) -> bool:
        """Whether what is behind the run reads nothing of the first block, which may stand for that
        of another block there, but what all blocks share."""
        return all(
            use.operation in self.places
            or use.operation in self.own
            or isinstance(use.operation, ReturnOp)
            or self.is_for_all(result)
            for op in self.own
            for result in op.results
            for use in result.uses
        )

    def is_for_all(self, value: SSAValue) -> bool:
        """Whether a value is the same for what is behind the run and for the first block: no op of
        that makes it, or one that is of the last block as well."""
        if not isinstance(value, OpResult) or value.owner not in self.own:
            return True
        inside, _ = self.short.names.places_of(value.owner)
        last = self.short.blocks.count - 1
        spots = [[spot for block, spot in inside if block == number] for number in (0, last)]
        return value.owner not in self.places and spots[0] == spots[1]

    def _match(self, one: SSAValue, other: SSAValue) -> bool:
        """Whether an operand in the first block is to it what another is to the last one."""
        mine, theirs = self.place(one), self.place(other)
        a, b = self.short.parameter(one), self.short.parameter(other)
        if one is other:  # for all blocks
            return theirs is None and a is None
        if one.type != other.type:
            return False
        if theirs is not None and theirs[0] == FIRST:
            # Of the block before; the first reads there what is before it, always the same.
            place = theirs[1], index_of(other)
            return mine is None and a is None and self._before.setdefault(place, one) is one
        if mine is not None or theirs is not None:
            inside = mine is not None and theirs is not None and mine[1] == theirs[1]
            return inside and index_of(one) == index_of(other)
        if a is None and b is None:
            return constant_attr(one) is not None and constant_attr(one) == constant_attr(other)
        return self._are_parameters(a, b, other)

    def _are_parameters(self, a: Place | None, b: Place | None, other: SSAValue) -> bool:
        """Whether a parameter that the first block reads is to it what the other block reads."""
        last = self.short.blocks.count - 1
        if a is not None and a[0] == last and b is None:
            # Of the block behind; the last reads there what is behind it, always the same.
            given = isinstance(other, BlockArgument) or constant_attr(other) is not None
            return given and self._after.setdefault(a[1], other) is other
        return a is not None and b is not None and a == (0, b[1]) and b[0] == last


def index_of(value: SSAValue) -> int:
    """Returns which of the results of its op, or of the arguments of its block, a value is."""
    return value.index if isinstance(value, OpResult | BlockArgument) else -1
