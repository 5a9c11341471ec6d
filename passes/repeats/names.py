"""Which block an op of the optimised graph comes from: the nodes it was made from say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from xdsl.dialects.builtin import LocationAttr, NameLoc, NoneAttr
from xdsl.ir import Operation

from ge_dialect.locations import fuse, name_location, places_of
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
    """

    blocks: Blocks
    places: dict[str, Place] = field(default_factory=dict[str, Place])
    made_up: dict[Operation, NameLoc] = field(default_factory=dict[Operation, NameLoc])
    moving: dict[Operation, list[LocationAttr | Place]] = field(
        default_factory=dict[Operation, list[LocationAttr | Place]]
    )

    @staticmethod
    def of(blocks: Blocks, known: Kept, outside: Iterable[Operation]) -> Names:
        """Returns the names of a run, made up ones where two blocks or places share one.

        Args:
            blocks: The run.
            known: The ops of its blocks; of all that have ops.
            outside: The other ops of the function.
        """
        names = Names(blocks)
        groups = [_grouped(block) for block in known.values()]
        if None in groups or any(group != groups[-1] for group in groups):
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
        return sorted({at[0] for part in _parts(op) if (at := self._at(part)) is not None})

    def copied(self, op: Operation, number: int) -> LocationAttr:
        """Returns where the copy for block `number` of an op of the last block but one is from."""
        if (parts := self.moving.get(op)) is None:
            parts = self.moving[op] = [self._moving(part) for part in places_of(op.location)]
        moved = [
            self.blocks.location((number + part[0], part[1])) if isinstance(part, tuple) else part
            for part in parts
        ]
        return moved[0] if len(moved) == 1 and type(moved[0]) is NameLoc else fuse(moved)

    def _moving(self, part: LocationAttr) -> LocationAttr | Place:
        """Returns how far before the copy the block is that a part is of, and which op it is."""
        if (at := self._at(part)) is None:
            return part
        return at[0] - (self.blocks.count - 2 if at[0] > 1 else 2), at[1]

    def second(self, location: LocationAttr) -> LocationAttr:
        """Returns where an op of the second block is from: the third is another one again."""
        return fuse(
            self.blocks.location((2, at[1]))
            if (at := self._at(part)) is not None and at[0] > 1
            else part
            for part in places_of(self.kept(location))
        )

    def kept(self, location: LocationAttr) -> LocationAttr:
        """Returns where an op that all blocks share is from: what it has of two, it has of all."""
        parts = [(part, self._at(part)) for part in places_of(location)]
        template = self.blocks.count - 2
        second = [at[1] for _, at in parts if at is not None and at[0] == 1]
        third = [at[1] for _, at in parts if at is not None and at[0] == template]
        real: list[LocationAttr] = []
        # A kernel of several ops that all blocks share has a row of blocks for each of them.
        for number, row in groupby(parts, lambda pair: -1 if pair[1] is None else pair[1][0]):
            ours = list(row)
            if number == template and second == third:
                spots = [at[1] for _, at in ours if at is not None]
                skipped = self.blocks.skipped
                real += [self.blocks.location((k, spot)) for k in skipped for spot in spots]
            real += [part if at is None else self.blocks.location(at) for part, at in ours]
        return fuse(real)

    def _at(self, part: LocationAttr) -> Place | None:
        name = _known(part)
        return None if name is None else self.places.get(name)


def _parts(op: Operation) -> list[LocationAttr]:
    return list(places_of(op.location))


def _known(part: LocationAttr) -> str | None:
    if isinstance(part, NameLoc) and isinstance(part.location, NoneAttr):
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
