"""Which block an op of the optimised graph comes from: the nodes it was made from say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from xdsl.dialects.builtin import LocationAttr, NameLoc, NoneAttr
from xdsl.ir import Operation

from ge_dialect.locations import fuse, fuse_distinct, name_location, places_of
from ge_dialect.passes.repeats.blocks import Blocks
from ge_dialect.repeats import Place

Kept = Mapping[int, Sequence[Operation]]
"""The ops of blocks, by the number of the block."""


@dataclass
class Names:
    """The names of the nodes in a run, which tell place from place.

    Attributes:
        blocks: The run.
        places: Of a name: its block, and the first op there that has it.
        made_up: What stands for the locations of ops, where the names of nodes do not tell.
        moving: For each op that is copied what its location becomes.
        for_all: For each op that was asked of whether it is for all blocks.
    """

    blocks: Blocks
    places: dict[str, Place] = field(default_factory=dict[str, Place])
    made_up: dict[Operation, NameLoc] = field(default_factory=dict[Operation, NameLoc])
    moving: dict[Operation, tuple[list[Place], list[LocationAttr]]] = field(
        default_factory=dict[Operation, tuple[list[Place], list[LocationAttr]]]
    )
    for_all: dict[Operation, bool] = field(default_factory=dict[Operation, bool])

    @staticmethod
    def of(blocks: Blocks, known: Kept, outside: Iterable[Operation]) -> Names:
        """Returns the names of a run, made up ones where two blocks or places share one.

        Args:
            blocks: The run.
            known: The ops of its blocks; of all that have ops.
            outside: The other ops of the function.
        """
        names = Names(blocks)
        first, *others = [_grouped(block) for block in known.values()]
        if first is None or any(group != first[: len(group or ())] for group in others):
            names._make_up(known)
            return names
        for number, block in known.items():
            for position, op in enumerate(block):
                names.places.setdefault(_name(op) or "", (number, position))
        clash = any(_known(part) in names.places for op in outside for part in _parts(op))
        if clash or any(
            names.places[_name(op) or ""][0] != number
            for number, block in known.items()
            for op in block
        ):
            names._make_up(known)
        return names

    def _make_up(self, known: Kept) -> None:
        self.places.clear()
        for number, block in known.items():
            for position, op in enumerate(block):
                name = f"block {number} op {position}"
                self.made_up[op] = name_location(name)
                self.places[name] = (number, position)

    def location(self, op: Operation) -> LocationAttr:
        """Returns the location of an op in the short function."""
        return self.made_up.get(op, op.location)

    def blocks_of(self, op: Operation) -> Sequence[int]:
        """Returns the blocks that an op of the optimised graph was made from, ascending."""
        return sorted({number for number, _ in self.places_of(op)[0]})

    def places_of(self, op: Operation) -> tuple[list[Place], list[LocationAttr]]:
        """Returns which ops of the run an op was made from, and what else it was made from."""
        inside: list[Place] = []
        outside: list[LocationAttr] = []
        for part in places_of(op.location):
            if (at := self._at(part)) is None:
                outside.append(part)
            else:
                inside.append(at)
        return inside, outside

    def copied(self, op: Operation, number: int) -> LocationAttr:
        """Returns where what is to block `number` what an op is to the first is from; an op that is
        for all blocks is from all of them."""
        if self.is_for_all(op):
            return self.kept(op.location)
        if (moving := self.moving.get(op)) is None:
            moving = self.moving[op] = self._moving(op.location)
        parts, outside = moving
        rows = self.blocks.locations(number), self.blocks.locations(number + 1), outside
        moved = [rows[row][spot] for row, spot in parts]
        # Names that are not made up tell place from place, in all blocks alike.
        return fuse(moved) if self.made_up else fuse_distinct(tuple(moved))

    def is_for_all(self, op: Operation) -> bool:
        """Whether an op is made from the same ops of both blocks; or of the first one and from
        what is around the blocks, where the last one lacks those."""
        if (known := self.for_all.get(op)) is None:
            inside, outside = self.places_of(op)
            last = self.blocks.count - 1
            first, again = ([at for number, at in inside if number == one] for one in (0, last))
            lacking = bool(outside) and min(first, default=0) >= self.blocks.size_of_last
            known = self.for_all[op] = bool(first) and (first == again or (lacking and not again))
        return known

    def _moving(self, location: LocationAttr) -> tuple[list[Place], list[LocationAttr]]:
        """Returns for each part of a location how far behind the first block the one is that it is
        of, and which op it is: what is behind the first is the last, which stands for the next. Of
        what is in no block: 2, and which of those parts it is, which are returned as well."""
        places: list[Place] = []
        outside: list[LocationAttr] = []
        for part in places_of(location):
            if (at := self._at(part)) is None:
                places.append((2, len(outside)))
                outside.append(part)
            else:
                places.append((int(at[0] > 0), at[1]))
        return places, outside

    def kept(self, location: LocationAttr) -> LocationAttr:
        """Returns where an op that stays as it is is from: what it has of the first block and just
        then of the last, or where the last one lacks it, it has of all; other ops of the last stand
        for those of the second."""
        if type(location) is NameLoc and self._at(location) is None:
            return location
        parts = [(part, self._at(part)) for part in places_of(location)]
        last = self.blocks.count - 1
        of_first: list[int] = []
        real: list[LocationAttr] = []
        # A kernel of several ops that all blocks share has a row of blocks for each of them.
        for number, group in groupby(parts, lambda pair: -1 if pair[1] is None else pair[1][0]):
            ours = list(group)
            spots = [at[1] for _, at in ours if at is not None]
            if number == last and of_first[-len(spots) :] == spots:
                real += self._of_skipped(spots)
            elif number == last and of_first:
                number = 1
            of_first += spots if number == 0 else ()
            row = self.blocks.locations(number) if number >= 0 else ()
            real += [part if at is None else row[at[1]] for part, at in ours]
            if number == 0 and min(spots) >= self.blocks.size_of_last:
                real += self._of_skipped(spots)
        return fuse(real)

    def _of_skipped(self, spots: Sequence[int]) -> list[LocationAttr]:
        rows = map(self.blocks.locations, self.blocks.skipped)
        return [row[spot] for row in rows for spot in spots]

    def _at(self, part: LocationAttr) -> Place | None:
        if type(part) is NameLoc and type(part.location) is NoneAttr:
            return self.places.get(part.desc.data)
        return None


def _parts(op: Operation) -> list[LocationAttr]:
    return list(places_of(op.location))


def _known(part: LocationAttr) -> str | None:
    if type(part) is NameLoc and type(part.location) is NoneAttr:
        return part.desc.data
    return None


def _name(op: Operation) -> str | None:
    return _known(op.location)


def _grouped(block: Sequence[Operation]) -> list[int] | None:
    """Returns for each op the first one of the same name; None where one has no single name."""
    first: dict[str, int] = {}
    groups: list[int] = []
    for position, op in enumerate(block):
        if (name := _name(op)) is None:
            return None
        groups.append(first.setdefault(name, position))
    return groups
