"""The part of an optimised short function that is copied: from a place in the first block to the
same place in the last one, such that no kernel reaches over it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.constants import constant_attr
from ge_dialect.ge.structure import FusionOp
from ge_dialect.passes.repeats.compare import Likes
from ge_dialect.passes.repeats.primitives import FIRST, LAST, Origin, Primitives, index_of
from ge_dialect.passes.repeats.shorten import Shortened


class Made(NamedTuple):
    """A result of an op of the unit itself, where it is `here`, or of the one before it."""

    here: bool
    position: int
    result: int


class Given(NamedTuple):
    """A parameter of the block that the unit begins in, or of one so far `behind` it."""

    behind: int
    slot: int


class Own(NamedTuple):
    """A constant that each unit has of its own."""

    value: SSAValue


Source: TypeAlias = Made | Given | Own | SSAValue
"""What an op of a unit reads, said for all copies at once; a value that all of them share."""


@dataclass
class Unit:
    """Ops of the short function that become one of several equal parts of the whole.

    Attributes:
        ops: Of the short function, constants left out, in order.
        sources: For each of them what it reads.
        positions: Of each among them.
        stop: The first op behind them.
    """

    likes: Likes
    ops: list[Operation]
    sources: list[list[Source]] = field(default_factory=list[list[Source]])
    positions: dict[Operation, int] = field(default_factory=dict[Operation, int])
    stop: Operation | None = None

    def __post_init__(self) -> None:
        self.positions.update((op, position) for position, op in enumerate(self.ops))

    @staticmethod
    def of(short: Shortened) -> Unit | None:
        """Returns the unit; None where the two blocks did not come out alike, or kernels reach over
        every place."""
        if (ops := Primitives.of(short)) is None or (likes := Likes.of(ops)) is None:
            return None
        spans, size = _spans(ops), short.blocks.size
        found: dict[tuple[Operation, ...], Unit] = {}
        for cut in _cuts(ops, likes, spans.values()):
            inside = [op for op, (first, _) in spans.items() if cut <= first < cut + size]
            if inside:
                found.setdefault(tuple(inside), Unit(likes, inside))
        return next(
            (unit for unit in sorted(found.values(), key=Unit._gives) if unit._fits()), None
        )

    @property
    def short(self) -> Shortened:
        """With the optimised function in its module."""
        return self.likes.ops.short

    def place(self, value: SSAValue) -> tuple[int, int] | None:
        """Returns which op of the unit makes a value of the function, and which of its results it
        is; None where none does."""
        position = self.positions.get(value.owner) if isinstance(value.owner, Operation) else None
        return None if position is None else (position, index_of(value))

    def made_in(self, value: SSAValue) -> int | None:
        """Returns the block whose op makes a value of the function, or None."""
        maker = self.likes.ops.maker(self.likes.ops.real(value))
        return None if maker is None else self.likes.ops.origins[maker].block

    def next(self, value: SSAValue) -> tuple[int, int] | None:
        """Returns what is to the last block what a value before the unit is to the first one."""
        ops = self.likes.ops
        real = ops.real(value)
        maker = ops.maker(real)
        if maker is None or (like := self.likes.likes.get(maker)) is None:
            return None
        found = ops.exports.get(like.results[index_of(real)])
        return None if found is None else self.place(found)

    def _gives(self) -> int:
        """Returns how many of its values are for all blocks, and would be computed in each."""
        ops = self.likes.ops
        return sum(
            value.owner in self.positions and ops.maker(real) is None
            for real, value in ops.exports.items()
        )

    def _fits(self) -> bool:
        """Whether copies may follow on the unit."""
        return self._is_together() and self._are_others_behind() and self._read_all()

    def _is_together(self) -> bool:
        """Whether nothing reads the unit before it ends; notes where that is."""
        rest = len(self.ops)
        for op in self.short.block.ops:
            if op in self.positions:
                rest -= 1
            elif rest and any(value.owner in self.positions for value in operands_of(op)):
                return False
            elif not rest and self.stop is None:
                self.stop = op
        return True

    def _are_others_behind(self) -> bool:
        """Whether what is in no block reads nothing of the first, which may stand for that of
        another block there, and the last nothing of the first that is before the unit."""
        ops = self.likes.ops
        for op in ops.ops:
            if ops.outer[op] in self.positions:
                continue
            origin = ops.origins.get(op)
            if origin is not None and origin.block == FIRST:
                continue
            for value in ops.reads(op):
                maker = ops.maker(value)
                if maker is None or ops.origins[maker].block == LAST:
                    continue
                if origin is None or ops.outer[maker] not in self.positions:
                    return False
        return True

    def _read_all(self) -> bool:
        """Finds what the ops read; False where that is not known for a copy."""
        for op in self.ops:
            sources = [self._source(value) for value in operands_of(op)]
            if None in sources:
                return False
            self.sources.append([source for source in sources if source is not None])
        return True

    def _source(self, value: SSAValue) -> Source | None:
        """Returns what a copy reads where the unit reads a value; None where that is not known."""
        if (place := self.place(value)) is not None:
            return Made(True, *place)
        if (parameter := self.short.parameter(value)) is not None:
            return Given(int(parameter[0] > 0), parameter[1])
        real = self.likes.ops.real(value)
        if (handed := self.likes.handed.get(real)) is not None:
            found = self.likes.ops.exports.get(handed)
            place = None if found is None else self.place(found)
            return None if place is None else Made(False, *place)
        if self.likes.ops.maker(real) is not None:
            place = self.next(value)
            return None if place is None else Made(False, *place)
        if constant_attr(value) is not None:
            return Own(value) if value in self.likes.constants else value
        return value if real in self.likes.shared else None


def _spans(ops: Primitives) -> dict[Operation, tuple[int, int]]:
    """Returns for each op of the function that is of a block its first and last place; those of the
    last block follow on those of the first."""
    size = ops.short.blocks.size
    found: dict[Operation, tuple[int, int]] = {}
    for op, origin in ops.origins.items():
        first, last = _span(origin, size)
        known = found.get(outer := ops.outer[op], (first, last))
        found[outer] = min(known[0], first), max(known[1], last)
    return found


def _span(origin: Origin, size: int) -> tuple[int, int]:
    offset = size * origin.block
    last = size + max(origin.ahead) if origin.ahead else offset + max(origin.spots)
    return offset + min(origin.spots), last


def _cuts(ops: Primitives, likes: Likes, spans: Collection[tuple[int, int]]) -> list[int]:
    """Returns the places in a block where the unit may begin and end, those first that are farthest
    from the ends of what there is.

    No op reaches over one, what is behind it in the first block has a like, and what is before it
    in the last block has one.
    """
    size = ops.short.blocks.size
    lowest, highest = 0, size - 1
    matched = set(likes.likes.values())
    for block in (FIRST, LAST):
        for op in ops.of_block(block):
            first, _ = _span(ops.origins[op], size)
            if block == FIRST and op not in likes.seen:
                lowest = max(lowest, first + 1)
            elif block == LAST and op not in matched:
                highest = min(highest, first - size)
    end = max((last for _, last in spans), default=size)
    return _free(spans, size, range(lowest, highest + 1), end)


def _free(
    spans: Iterable[tuple[int, int]], size: int, places: Iterable[int], end: int
) -> list[int]:
    """Returns those of some places in both blocks that no span reaches over, those first that are
    nearest to the middle of what ends at `end`."""
    steps = [0] * (2 * size + 1)
    for first, last in spans:
        steps[first + 1] += 1
        steps[last + 1] -= 1
    over = list(accumulate(steps))
    free = [at for at in places if not over[at] and not over[at + size]]
    return sorted(free, key=lambda at: abs(2 * at + size - end))


def count_copies(short: Shortened) -> Counter[str]:
    """Returns how often each fusion rule has fired in the units that will be copies so far."""
    size, last = short.blocks.size, short.blocks.count - 1
    spans: list[tuple[int, int]] = []
    rules: list[str] = []
    for op in short.block.ops:
        if isinstance(op, FusionOp) and op.rule is not None:
            inside, _ = short.names.places_of(op)
            places = [spot + size * (block == last) for block, spot in inside]
            if places:
                spans.append((min(places), max(places)))
                rules.append(op.rule.data)
    found: Counter[str] = Counter()
    for cut in _free(spans, size, range(size), 2 * size)[:1]:
        for (first, _), rule in zip(spans, rules, strict=True):
            if cut <= first < cut + size:
                found[rule] += len(short.blocks.skipped)
    return found
