"""The planner on its own: plain buffers in, a plan out, no IR."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import NamedTuple

from ge_dialect.lowering.memory.problem import Buffer, Plan, interval_problem

EFFORT = 8_000
"""Nodes of exact search that are spent on a lower peak; some 20,000 take a second."""


class Interval(NamedTuple):
    """A buffer and its life.

    Attributes:
        lower, upper: Half-open `[lower, upper)` in steps; lives that only touch do not conflict.
        size: In bytes.
        name: For messages; need not be unique.
        alignment: Of the offset, in bytes; a power of two.
        offset: Where the buffer must lie, or None where the planner chooses.
    """

    lower: int
    upper: int
    size: int
    name: str = ""
    alignment: int = 1
    offset: int | None = None


def plan_buffers(
    buffers: Iterable[Interval | tuple[int, int, int]],
    capacity: int | None = None,
    effort: int = EFFORT,
) -> Plan:
    """Returns offsets at which buffers that live together do not overlap.

    Deterministic: the same buffers in the same order have the same plan, on any machine.

    Args:
        buffers: Each an `Interval`, or lower, upper and size.
        capacity: Bytes that the plan must fit into; None looks for the lowest peak alone.
        effort: Nodes of exact search that are spent on a lower peak than heuristics reach; 0 for
            none. Deciding whether the capacity is enough may take more.

    Raises:
        GEError: The buffers do not fit: GE0502 where that is proved, GE0503 where it is not; or
            given places overlap (GE0504).
        ValueError: A life is empty, a size negative, an alignment no power of two.

    >>> plan_buffers([(0, 2, 64), (1, 3, 32), (2, 4, 64)]).offsets
    (0, 64, 0)
    """
    from ge_dialect.lowering.memory.heuristics import solve

    values: list[Buffer] = []
    lives: list[tuple[int, int]] = []
    for number, row in enumerate(buffers):
        buffer = row if isinstance(row, Interval) else Interval(*row)
        place = None if buffer.offset is None else index(buffer.offset)
        name = buffer.name or f"buffer {number}"
        values.append(Buffer(name, index(buffer.size), index(buffer.alignment), place))
        lives.append((index(buffer.lower), index(buffer.upper)))
    return solve(interval_problem(values, lives, capacity), effort)
