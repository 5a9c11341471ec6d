"""The memory planning problem and its answer, as values with no IR in them.

A buffer's life is given by what must have happened before it and what has happened when it is
dead: counts of finished tasks, one a stream. On one stream that is the usual half-open interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_MAX_BYTES = 1 << 62
"""Offsets have to fit the 64-bit integers of plans, files and numpy."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """Bytes that want a place.

    Attributes:
        name: For messages; need not be unique.
        size: In bytes, unpadded.
        alignment: Of the offset, in bytes; a power of two.
        offset: Where the buffer must lie, or None where the solver chooses.
    """

    name: str
    size: int
    alignment: int = 512
    offset: int | None = None

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError(f"expected 'size' >= 0, got {self.size} for '{self.name}'")
        if self.alignment <= 0 or self.alignment & (self.alignment - 1):
            raise ValueError(f"expected 'alignment' to be a power of two, got {self.alignment}")
        if self.offset is not None and (self.offset < 0 or self.offset % self.alignment):
            raise ValueError(
                f"expected 'offset' to be a multiple of {self.alignment}, got {self.offset}"
            )

    @property
    def footprint(self) -> int:
        """Bytes the buffer keeps from others: its size rounded up to its alignment."""
        return -(-self.size // self.alignment) * self.alignment


@dataclass(frozen=True, slots=True)
class Lifetime:
    """When a buffer's bytes are its own.

    Attributes:
        start: How many tasks of each stream are certainly finished at the first access.
        end: How many tasks of each stream must be finished before the bytes are free.
    """

    start: tuple[int, ...]
    end: tuple[int, ...]

    def precedes(self, other: Lifetime) -> bool:
        """Whether this life is certainly over when the other begins."""
        return all(end <= start for end, start in zip(self.end, other.start, strict=True))


@dataclass(frozen=True, slots=True)
class Problem:
    """Buffers, their lives, and the space they share.

    Attributes:
        buffers: In the order of the program, which breaks ties.
        lifetimes: One a buffer, all over the same streams.
        peak_set: Indices of buffers that are alive together, the heaviest such set known. Their
            footprints add up to a bound that no plan can go below.
        capacity: Bytes of the space, None where it is unbounded.
        space: What the space is called in messages.
    """

    buffers: tuple[Buffer, ...]
    lifetimes: tuple[Lifetime, ...]
    peak_set: tuple[int, ...] = ()
    capacity: int | None = None
    space: str = "memory"

    def __post_init__(self) -> None:
        if len(self.buffers) != len(self.lifetimes):
            raise ValueError(
                f"expected a lifetime for each of {len(self.buffers)} buffers,"
                f" got {len(self.lifetimes)}"
            )
        widths = {len(part) for life in self.lifetimes for part in (life.start, life.end)}
        if len(widths) > 1:
            raise ValueError(f"expected lifetimes over as many streams, got {sorted(widths)}")
        if sum(buffer.footprint for buffer in self.buffers) + self.fixed_top >= _MAX_BYTES:
            raise ValueError(f"expected buffers of less than {_MAX_BYTES} bytes together")
        if self.capacity is not None and self.capacity < 0:
            raise ValueError(f"expected 'capacity' >= 0, got {self.capacity}")

    @property
    def lower_bound(self) -> int:
        """Bytes that no plan can go below."""
        together = sum(self.buffers[i].footprint for i in self.peak_set)
        return max(together, self.fixed_top, max((b.footprint for b in self.buffers), default=0))

    @property
    def fixed_top(self) -> int:
        """First byte after every buffer whose place is given, 0 where there is none."""
        return max(
            (b.offset + b.footprint for b in self.buffers if b.offset is not None and b.size),
            default=0,
        )

    def conflict(self, a: int, b: int) -> bool:
        """Whether two buffers may be alive at the same moment."""
        first, second = self.lifetimes[a], self.lifetimes[b]
        return not (first.precedes(second) or second.precedes(first))


@dataclass(frozen=True, slots=True)
class Plan:
    """Where each buffer lies.

    Attributes:
        offsets: Bytes from the start of the space, one a buffer of the problem.
        peak: First byte after every footprint: what the space must offer.
        lower_bound: Bytes that no plan of the same problem can go below.
    """

    offsets: tuple[int, ...]
    peak: int
    lower_bound: int

    @property
    def optimal(self) -> bool:
        """Whether the plan is proved to be the smallest: its peak is the lower bound."""
        return self.peak == self.lower_bound

    @property
    def gap(self) -> float:
        """How far the peak lies above the lower bound, as a fraction of the bound."""
        return self.peak / self.lower_bound - 1 if self.lower_bound else 0.0


def interval_problem(
    buffers: Sequence[Buffer],
    intervals: Sequence[tuple[int, int]],
    capacity: int | None = None,
    space: str = "memory",
) -> Problem:
    """Returns the problem of buffers on one stream.

    Args:
        buffers: In the order of the program.
        intervals: Half-open `[lower, upper)` in steps, one a buffer; intervals that only touch do
            not conflict.
        capacity: In bytes.
        space: What the space is called in messages.

    Raises:
        ValueError: An interval is empty, or their number is not that of the buffers.
    """
    for buffer, (lower, upper) in zip(buffers, intervals, strict=True):
        if lower >= upper:
            raise ValueError(f"expected lower < upper, got [{lower}, {upper}) for '{buffer.name}'")
    return Problem(
        tuple(buffers),
        tuple(Lifetime((lower,), (upper,)) for lower, upper in intervals),
        heaviest_set(list(enumerate(intervals)), [b.footprint for b in buffers]),
        capacity,
        space,
    )


def heaviest_set(
    spans: Sequence[tuple[int, tuple[int, int]]], weights: Sequence[int]
) -> tuple[int, ...]:
    """Returns the ids alive at the moment with the most weight, the first such moment.

    Args:
        spans: An id and a half-open interval each; an id occurs once.
        weights: Of each id.

    A sweep over the ends of the intervals: n log n.
    """
    changes = sorted(
        [(lower, weights[i]) for i, (lower, _) in spans]
        + [(upper, -weights[i]) for i, (_, upper) in spans]
    )
    load = heaviest = 0
    moment: int | None = None
    for time, change in changes:  # at one time, negative changes come first: touching is free
        load += change
        if load > heaviest:
            heaviest, moment = load, time
    if moment is None:
        return ()
    return tuple(i for i, (lower, upper) in spans if lower <= moment < upper and weights[i])
