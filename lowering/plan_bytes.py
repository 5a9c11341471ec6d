"""What the bytes of a plan hold while its tasks run: for the check of plans."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ge_dialect.ge_exec import ArenaOp
from ge_dialect.ge_exec.control import TaskOp
from ge_dialect.ge_exec.memory import Storage
from ge_dialect.lowering.plan_clocks import Place


class Access(NamedTuple):
    """Bytes of an arena that a task touches: `[start, end)`, belonging to `owner`.

    An object is an arena of one byte of its own.
    """

    owner: Storage
    arena: ArenaOp | Storage
    start: int
    end: int


class Done(NamedTuple):
    """A task that has run, where it did, and its number in the order of the plan."""

    task: TaskOp
    place: Place
    number: int


@dataclass
class Segment:
    """Some bytes: whose value they hold, who wrote it, who has read it since (last a stream).

    `is_mixed`: whether that depends on the way through a branch or a loop.
    """

    owner: Storage | None = None
    writer: Done | None = None
    readers: dict[int, Done] = field(default_factory=dict[int, Done])
    is_mixed: bool = False

    def copy(self) -> Segment:
        """Returns an independent copy, for the other half of a split."""
        return Segment(self.owner, self.writer, dict(self.readers), self.is_mixed)


@dataclass
class Bytes:
    """An arena as segments between the offsets that accesses start and end at."""

    starts: list[int] = field(default_factory=lambda: [0])
    segments: list[Segment] = field(default_factory=lambda: [Segment()])
    _found: dict[int, tuple[Access, int, list[Segment]]] = field(
        default_factory=dict[int, "tuple[Access, int, list[Segment]]"]
    )

    @staticmethod
    def cut(accesses: Iterable[Access]) -> Bytes:
        """Returns an arena that accesses are known to cut."""
        starts = sorted({0}.union(*[(access.start, access.end) for access in accesses]))
        return Bytes(starts, [Segment() for _ in starts])

    def covered(self, access: Access) -> list[Segment]:
        """Returns the segments of an access, split so that they cover exactly its bytes."""
        found, key = self._found, id(access)
        # Some may have been split since.
        if key not in found or found[key][1] != len(self.segments):
            if access.start == access.end:
                return []
            first = self._split(access.start)
            covered = self.segments[first : self._split(access.end)]
            found[key] = access, len(self.segments), covered
        return found[key][2]

    def _split(self, offset: int) -> int:
        index = bisect_left(self.starts, offset)
        if index == len(self.starts) or self.starts[index] != offset:
            self.starts.insert(index, offset)
            self.segments.insert(index, self.segments[index - 1].copy())
        return index

    def copy(self) -> Bytes:
        """Returns an independent copy."""
        return Bytes(list(self.starts), [segment.copy() for segment in self.segments])

    def merge(self, other: Bytes) -> None:
        """Keeps what two states have in common."""
        for start in other.starts:
            self._split(start)
        for start in self.starts:
            other._split(start)
        for mine, theirs in zip(self.segments, other.segments, strict=True):
            if mine.owner is not theirs.owner:
                mine.owner, mine.is_mixed = None, True
            mine.writer = _later(mine.writer, theirs.writer)
            for stream, reader in theirs.readers.items():
                mine.readers[stream] = _later(mine.readers.get(stream), reader) or reader

    def initialise(self, access: Access) -> None:
        """Puts the value of an input or weight into its bytes."""
        for segment in self.covered(access):
            segment.owner = access.owner


def _later(a: Done | None, b: Done | None) -> Done | None:
    if a is None or b is None:
        return a or b
    return a if a.number >= b.number else b


def overlap(a: Access, b: Access) -> bool:
    """Whether two accesses share a byte."""
    if a.arena is not b.arena or a.start >= b.end or b.start >= a.end:
        return False
    return a.start < a.end and b.start < b.end  # what is empty shares nothing
