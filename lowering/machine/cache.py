"""Which bytes of a plan reach HBM: a write-back cache in front of it, by the planned addresses.

Least recently used, in blocks of 1 MiB cut further where buffers begin and end, so that no byte
counts that nobody touches. A write needs no read before it, since tasks write whole buffers. A
byte that is written is charged to its writer when it leaves the cache, or at the end where somebody
reads it later; what a later value overwrites before never reaches HBM.

Limits: real chips colour pages, and what they replace is not published; differences below 5 % mean
nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf

BLOCK = 1 << 20
"""Bytes of a block of the cache."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Bytes `[start, end)` of a space.

    Attributes:
        space: An arena, or what has no address yet.
        start, end: In bytes.
        streams: Whether the bytes pass by the cache when they are read (an L2 no-allocate hint).
    """

    space: Hashable
    start: int
    end: int
    streams: bool = False


@dataclass(frozen=True, slots=True)
class Touch:
    """What a task reads, and then writes."""

    reads: Sequence[Extent]
    writes: Sequence[Extent]


@dataclass
class Missed:
    """Bytes of a task that reach HBM."""

    read: int = 0
    written: int = 0

    @property
    def bytes(self) -> int:
        """Both together."""
        return self.read + self.written


def missed_bytes(
    touches: Sequence[Touch], capacity: float, kept: Iterable[Extent] = ()
) -> list[Missed]:
    """Returns of each task the bytes that reach HBM, from a cold cache on.

    Args:
        touches: Of each task, in the order they run.
        capacity: Of the cache, in bytes; `inf` gives what no cache can avoid.
        kept: What is read after the last task: outputs.
    """
    kept = list(kept)
    pieces = _Pieces([*(e for t in touches for e in (*t.reads, *t.writes)), *kept])
    cache = _Cache(capacity, pieces.sizes, [Missed() for _ in touches])
    for task, touch in enumerate(touches):
        for extent in touch.reads:
            for piece in pieces.of(extent):
                cache.read(piece, task, extent.streams)
        for extent in touch.writes:
            for piece in pieces.of(extent):
                cache.write(piece, task)
    for extent in kept:
        for piece in pieces.of(extent):
            cache.flush(piece)
    return cache.missed


class _Pieces:
    """Spaces as pieces that no extent and no block cuts, numbered through."""

    def __init__(self, extents: Sequence[Extent]):
        cuts: dict[Hashable, set[int]] = {}
        for extent in dict.fromkeys(extents):
            known = cuts.setdefault(extent.space, set())
            known.update((extent.start, extent.end))
            known.update(range(extent.start // BLOCK * BLOCK + BLOCK, extent.end, BLOCK))
        self.sizes: list[int] = []
        self._spaces: dict[Hashable, tuple[list[int], int]] = {}
        for space, found in cuts.items():
            ordered = sorted(found)
            self._spaces[space] = (ordered, len(self.sizes))
            self.sizes += [b - a for a, b in pairwise(ordered)]

    def of(self, extent: Extent) -> range:
        """Returns the numbers of the pieces of an extent."""
        cuts, first = self._spaces[extent.space]
        return range(first + bisect_left(cuts, extent.start), first + bisect_left(cuts, extent.end))


@dataclass
class _Cache:
    """Pieces by their last use, each with the task whose write it still owes to HBM, or -1."""

    capacity: float
    sizes: Sequence[int]
    missed: list[Missed]
    held: OrderedDict[int, int] = field(default_factory=OrderedDict[int, int])
    used: int = 0

    def read(self, piece: int, task: int, streams: bool) -> None:
        """Reads a piece."""
        if piece in self.held:
            self.held.move_to_end(piece)
            return
        self.missed[task].read += self.sizes[piece]
        if not streams:
            self._insert(piece, -1)

    def write(self, piece: int, task: int) -> None:
        """Writes a piece; what it held before is gone."""
        if piece in self.held:
            self.held[piece] = task
            self.held.move_to_end(piece)
        else:
            self._insert(piece, task)

    def flush(self, piece: int) -> None:
        """Writes a piece to HBM if that is still owed."""
        if (writer := self.held.get(piece, -1)) >= 0:
            self.missed[writer].written += self.sizes[piece]
            self.held[piece] = -1

    def _insert(self, piece: int, writer: int) -> None:
        self.held[piece] = writer
        self.used += self.sizes[piece]
        while self.used > self.capacity:
            oldest, owner = self.held.popitem(last=False)
            self.used -= self.sizes[oldest]
            if owner >= 0:
                self.missed[owner].written += self.sizes[oldest]


UNLIMITED = inf
"""Capacity of a cache that keeps everything."""
