"""Small problems, and those whose buffers are all alive together: placed without a search."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from ge_dialect.lowering.memory.problem import Plan, Problem

_FEW = 128
"""Buffers up to which placing them one by one costs less than the arrays of a search."""


def place_at_once(problem: Problem) -> Plan | None:
    """Returns what the order that is tried first gives, where that meets the lower bound.

    Buffers that are all alive at one moment lie one behind the other, which no plan goes below; a
    few others on one stream are placed without the arrays that a search needs. None for others.
    """
    buffers, together = problem.buffers, set(problem.peak_set)
    if any(b.offset is not None or b.alignment != buffers[0].alignment for b in buffers):
        return None
    sizes = [buffer.footprint for buffer in buffers]
    lengths = [sum(life.end) - sum(life.start) for life in problem.lifetimes]
    order = _order(sizes, lengths)
    if together.issuperset(order):
        return stacked(sizes, lengths)
    offsets, top = [0] * len(buffers), 0
    lives = [(*life.start, *life.end) for life in problem.lifetimes]
    if len(order) > _FEW or any(len(life) != 2 or life[0] >= life[1] for life in lives):
        return None
    placed: list[tuple[int, int, int]] = []
    for i in order:
        offsets[i] = _lowest_gap(placed, lives, i, sizes[i])
        insort(placed, (offsets[i], i, offsets[i] + sizes[i]))
        top = max(top, offsets[i] + sizes[i])
    bound = problem.lower_bound
    return Plan(tuple(offsets), top, bound) if top == bound else None


def stacked(sizes: Sequence[int], lengths: Sequence[int]) -> Plan:
    """Returns the plan of buffers that are all alive at one moment: one behind the other.

    Args:
        sizes: Of the buffers, in bytes, padded.
        lengths: Of their lives; those that live longer go first among equals.
    """
    offsets, top = [0] * len(sizes), 0
    for i in _order(sizes, lengths):
        offsets[i] = top
        top += sizes[i]
    return Plan(tuple(offsets), top, top)


def _order(sizes: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """Returns the buffers with bytes in the order that is tried first."""
    used = [i for i, size in enumerate(sizes) if size]
    return sorted(used, key=lambda i: (-sizes[i], -lengths[i], i))


def _lowest_gap(
    placed: Sequence[tuple[int, int, int]],
    lives: Sequence[tuple[int, ...]],
    index: int,
    size: int,
) -> int:
    """Returns the lowest offset at which a buffer touches none that lives at the same time.

    Args:
        placed: Offset, index and end of each buffer that has a place, by offset.
        lives: First and last moment of each buffer, half-open.
        index: Of the buffer.
        size: Of the buffer, in bytes.
    """
    start, end = lives[index]
    top = 0
    for offset, other, limit in placed:
        first, last = lives[other]
        if first < end and start < last:
            if offset - top >= size:
                break
            top = max(top, limit)
    return top
