"""The choices that are made while a graph is built out of a pattern, so that each can be made
otherwise once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")
Built = TypeVar("Built")

MAX_VARIANTS = 96
"""Graphs that are built for one rule: each choice made otherwise, then pairs, up to this many."""


@dataclass
class Choices:
    """One series of choices.

    Attributes:
        forced: Which way to choose, by the place of the choice in the series; the others are made
            the first way.
        counts: How many ways each choice had, so far.
        told: What was chosen otherwise than the first way.
    """

    forced: Mapping[int, int] = field(default_factory=dict[int, int])
    counts: list[int] = field(default_factory=list[int])
    told: list[str] = field(default_factory=list[str])

    def choose(self, ways: Sequence[tuple[str, T]]) -> T:
        """Returns one of several things, each with words for it; the first is the usual one."""
        way = self.forced.get(len(self.counts), 0)
        self.counts.append(len(ways))
        words, chosen = ways[way if way < len(ways) else 0]
        if way:
            self.told.append(words)
        return chosen


def all_choices(build: Callable[[Choices], Built | None]) -> Iterator[tuple[Built, str]]:
    """Yields what is built with each choice made otherwise, and words for what was chosen.

    Args:
        build: Makes its choices by what it is given; None where what was chosen does not fit.
    """
    waiting: list[dict[int, int]] = [{}]
    for _ in range(MAX_VARIANTS):
        if not waiting:
            return
        choices = Choices(waiting.pop(0))
        if (built := build(choices)) is not None:
            yield built, ", ".join(choices.told)
        # What stands behind the last forced choice: each series is made once.
        first = max(choices.forced, default=-1) + 1
        for place in range(first, len(choices.counts)):
            waiting += [{**choices.forced, place: way} for way in range(1, choices.counts[place])]
