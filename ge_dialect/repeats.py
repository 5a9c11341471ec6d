"""Finds the longest run of equal blocks in a sequence of items, such as nodes or ops.

Items are compared by a number that says what they are; runs are found among the positions of items
that occur once a block, so that the search is linear. Blocks are equal when their items are wired
alike: to the same places of the same block or of the block before, to the very same value outside,
or to parameters of one type, which may differ.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from operator import eq
from typing import NamedTuple, TypeAlias

Place: TypeAlias = tuple[int, int]
"""Block of a run, and position of an item in it; or number of a parameter of it."""

KEPT = 2
"""Blocks that are optimised: the first and the last, or what there is of it, which are compared."""


class Outside(NamedTuple):
    """What is known of a value that no item makes; -1 where it has no such number.

    Attributes:
        constant: The same for equal constants of one type.
        parameter: The same for weights of one type, and for arguments of one type: they may
            differ from block to block.
    """

    constant: int = -1
    parameter: int = -1


@dataclass
class Items:
    """A sequence of items, each of which reads values and makes some.

    Values are numbers: from 0 on those that items make, in order, and from -1 down the others.

    Attributes:
        kinds: For each item a number; items that could take each other's place have the same.
        reads: The values that items read, those of one item after those of the one before it.
        begins: For each item where in `reads` its values begin, and where the last one's end.
        makers: For each value that an item makes the item.
        first: For each item the first value that it makes.
        outside: Of the other values; that of -1 comes first.
    """

    kinds: list[int] = field(default_factory=list[int])
    reads: list[int] = field(default_factory=list[int])
    begins: list[int] = field(default_factory=lambda: [0])
    makers: list[int] = field(default_factory=list[int])
    first: list[int] = field(default_factory=list[int])
    outside: list[Outside] = field(default_factory=list[Outside])

    def add(self, kind: int, reads: Sequence[int], results: int) -> None:
        """Adds an item that makes so many results."""
        self.first.append(len(self.makers))
        self.makers += [len(self.kinds)] * results
        self.kinds.append(kind)
        self.reads += reads
        self.begins.append(len(self.reads))

    def read_by(self, start: int, stop: int) -> Sequence[int]:
        """Returns the values that the items from `start` up to `stop` read."""
        return self.reads[self.begins[start] : self.begins[stop]]

    def add_outside(self, outside: Outside) -> int:
        """Returns a new value that no item makes."""
        self.outside.append(outside)
        return -len(self.outside)


@dataclass(frozen=True)
class Repeats:
    """Equal blocks, one after the other.

    What a block reads of the one before it, the first reads of items before the run.

    Attributes:
        start: The first item of the first block.
        period: Items a block.
        count: Blocks.
        missing: Items that the last block lacks at its end.
        parameters: For each outer value of its own: the block, and which one it is there.
    """

    start: int
    period: int
    count: int
    missing: int = 0
    parameters: dict[int, Place] = field(default_factory=dict[int, Place])

    @property
    def length(self) -> int:
        """Items of all blocks."""
        return self.period * self.count - self.missing

    def items_of(self, number: int) -> range:
        """Returns the items of a block."""
        begin = self.start + number * self.period
        return range(begin, min(begin + self.period, self.start + self.length))

    @property
    def skipped(self) -> range:
        """The numbers of the blocks that are copies in the end."""
        return range(1, self.count - 1)

    def place(self, item: int) -> Place | None:
        """Returns where an item is; None where it is in no block."""
        offset = item - self.start
        return divmod(offset, self.period) if 0 <= offset < self.length else None


_NONE = Repeats(0, 1, 0)


def find_repeats(items: Items, least_repeats: int, *, close: bool = True) -> Repeats | None:
    """Returns the longest run of equal blocks, or None.

    Args:
        items: Of the sequence.
        least_repeats: Of fewer equal blocks nothing is returned. One may be missing in the run:
            half of it stays before, half behind.
        close: Whether little is left over of what repeats: blocks begin where that does, and half a
            block or more at its end is the last one. Else half a block at least is left over around
            the blocks, so that the first one follows on items like those that the others follow on,
            and items like those of a block follow on the last.
    """
    best = _NONE
    for start, period, length in _candidates(items, least_repeats):
        if length > best.length:
            run = _Wiring(items, _placed(items, start, period, length, close)).longest(close)
            if run.length > best.length:
                best = run
    return best if best.count >= max(least_repeats - 1, KEPT + 1) else None


def _candidates(items: Items, least: int) -> Iterable[tuple[int, int, int]]:
    """Returns stretches of items that repeat by kinds alone: start, period and length of each, the
    most regular ones first."""
    kinds = items.kinds
    where: dict[int, list[int]] = defaultdict(list)
    for position, kind in enumerate(kinds):
        where[kind].append(position)
    found: dict[tuple[int, int, int], None] = {}
    periods: dict[int, None] = {}
    for positions in sorted(where.values(), key=len):
        if len(positions) < least:
            continue
        counts = Counter([b - a for a, b in pairwise(positions)])
        period = max(counts, key=counts.__getitem__)
        if counts[period] + 1 >= least:
            periods.setdefault(period)
    for period in periods:
        again = bytes(map(eq, kinds, kinds[period:])) + b"\0"
        enough = b"\1" * max((least - 1) * period, 1)
        start = again.find(enough)
        while start >= 0:
            position = again.find(0, start)
            found.setdefault((start, period, position + period - start))
            start = again.find(enough, position)
    return found


def _placed(items: Items, start: int, period: int, length: int, close: bool) -> Repeats:
    """Returns blocks in a stretch of items whose kinds repeat.

    Where they begin is near the middle of what is left over: where no parameter is read on both
    sides, and fewest values.
    """
    spare = length % period
    if 2 * spare < period:
        spare += 0 if close else period
    elif close:
        return Repeats(start, period, length // period)
    if not spare:
        return Repeats(start, period, length // period)
    first = start + period  # the second block shows what is alive there in all
    widths = [0] * (spare + 1)
    for begin, end, weight in _lives(items, range(start, start + min(4 * period, length))):
        widths[min(max(begin - first, 0), spare)] += weight
        widths[min(max(end - first, 0), spare)] -= weight
    narrow = list(accumulate(widths))
    inner = range(min(1, spare - 1), spare)
    margin = min(inner, key=lambda place: (narrow[place], abs(2 * place - spare)))
    return Repeats(start + margin, period, (length - spare) // period)


def _lives(items: Items, among: range) -> list[tuple[int, int, int]]:
    """Returns for each value that is read among some items where it becomes alive, where it no
    longer is, and how much that weighs: no number of results weighs as much as a parameter."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for item in among:
        for value in items.read_by(item, item + 1):
            first.setdefault(value, item)
            last[value] = item
    return [
        (items.makers[value] + 1, end + 1, 1)
        if value >= 0
        else (first[value] + 1, end + 1, len(last) if items.outside[~value].parameter >= 0 else 0)
        for value, end in last.items()
    ]


@dataclass(frozen=True)
class _Wiring:
    """How the blocks of a run are wired."""

    items: Items
    run: Repeats

    def longest(self, close: bool) -> Repeats:
        """Returns the longest part of the run whose blocks are wired alike, with its parameters.

        Args:
            close: Whether half a block or more that follows on the run is the last one.
        """
        best = (0, 0)
        start = 1
        known: Sequence[str | None] | None = None
        wiring: Sequence[str | None] = []
        for number in range(1, self.run.count - 1):
            found = self._of(number)
            if found is None or (known is not None and found != known):
                start, found = (number, found) if found is not None else (number + 1, None)
            known = found
            if found is not None and number + 2 - (start - 1) > best[1] - best[0]:
                best, wiring = (start - 1, number + 2), found
        for first in (best[0], best[0] + 1):  # the first block is often wired in another way
            start = self.run.start + first * self.run.period
            alike = Repeats(start, self.run.period, max(best[1] - first, 0))
            if alike.count and self._begins_alike(alike, wiring):
                alike = self._with_rest(alike, wiring) if close else alike
                if self._note_parameters(alike, wiring):
                    return alike
        return _NONE

    def _with_rest(self, run: Repeats, wiring: Sequence[str | None]) -> Repeats:
        """Returns a run with what follows on it as the last block, if that is half of one or more
        and is wired alike."""
        kinds, more = self.items.kinds, Repeats(run.start, run.period, run.count + 1)
        last = more.items_of(run.count)
        before = last.start - run.period
        size = _alike(kinds[before : last.start], kinds[last.start : last.stop])
        if 2 * size >= run.period:
            begins = self.items.begins[before : before + size + 1]
            wired = _alike(self._relations(run, run.count - 1, size), wiring)
            size = bisect_right(begins, begins[0] + wired) - 1
        return replace(more, missing=run.period - size) if 2 * size >= run.period else run

    def _begins_alike(self, run: Repeats, wiring: Sequence[str | None]) -> bool:
        """Whether the first block of a run is wired as the others: what those read of the block
        before them, it reads of items before the run."""
        reads = self._reads(run.start, run.period)
        found = self._relations(run, 0, run.period)
        begin, end = (self.items.first[at] for at in (run.start, run.start + run.period))
        return all(
            kind == wanted if wanted != "before" else not begin <= value < end
            for value, kind, wanted in zip(reads, found, wiring, strict=True)
        )

    def _reads(self, start: int, size: int) -> Sequence[int]:
        return self.items.read_by(start, start + size)

    def _of(self, number: int) -> Sequence[str | None] | None:
        """Returns how a block is wired, if the one after it is wired so as well; else None."""
        found = self._relations(self.run, number, self.run.period)
        return None if None in found else found

    def _relations(self, run: Repeats, number: int, size: int) -> list[str | None]:
        """Returns for each value that the first items of a block read what it has in common with
        what the next block reads there, None for nothing."""
        first, outside = self.items.first, self.items.outside
        start = run.start + number * run.period
        begin = first[start]
        step = first[start + run.period] - begin
        earliest = begin - step if number else begin
        return [
            "same"
            if a == b
            else ("inside" if a >= begin else "before")
            if b - a == step and a >= earliest  # the same item a block later makes it
            else _relation_outside(outside[~a], outside[~b])
            if a < 0 > b
            else None
            for a, b in zip(
                self._reads(start, size), self._reads(start + run.period, size), strict=True
            )
        ]

    def _note_parameters(self, run: Repeats, wiring: Sequence[str | None]) -> bool:
        """Notes which block has which parameter in which place; False where they do not match."""
        items = self.items
        wanted: list[int] | None = None
        for number in range(run.count):
            block = run.items_of(number)
            reads = items.read_by(block.start, block.stop)
            own = [value for value, kind in zip(reads, wiring, strict=False) if kind == "own"]
            slots = {value: slot for slot, value in enumerate(dict.fromkeys(own))}
            uses = [slots[value] for value in own]
            wanted = uses if wanted is None else wanted[: len(uses)]
            if uses != wanted or any(v >= 0 or items.outside[~v].parameter < 0 for v in slots):
                return False
            if not run.parameters.keys().isdisjoint(slots):
                return False
            run.parameters.update({value: (number, slot) for value, slot in slots.items()})
        return True


def _alike(one: Sequence[object], other: Sequence[object]) -> int:
    """Returns up to where two sequences are equal."""
    equal = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(equal, min(len(one), len(other)))


def _relation_outside(a: Outside, b: Outside) -> str | None:
    if a.constant == b.constant >= 0:
        return "constant"
    return "own" if a.parameter == b.parameter >= 0 else None
