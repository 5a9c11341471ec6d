"""Which gears serve a histogram of sizes best: each run is padded to a gear that holds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import TypeAlias

Sizes: TypeAlias = tuple[int, ...]
Cost: TypeAlias = Callable[[Sizes], float]
"""Returns what one run at a set of sizes costs; not less at greater sizes."""

MAX_DISTINCT = 48
"""Most different sets of sizes that are told apart; of more, those that occur most are."""


def choose_gears(histogram: Mapping[Sizes, int], cost: Cost, count: int) -> list[Sizes]:
    """Returns at most `count` gears, by size, that hold all sizes at the least cost.

    Of one size per set the best choice, by dynamic programming over the sorted sizes; of several
    sizes a good one, by joining in each step the two gears whose common one costs least.

    Args:
        histogram: How often each set of sizes occurs.
        cost: Of one run.
        count: Most gears.

    Raises:
        ValueError: The histogram is empty, or `count` is less than 1.

    >>> choose_gears({(1,): 90, (7,): 5, (8,): 5}, lambda sizes: sizes[0], 2)
    [(1,), (8,)]
    """
    if not histogram or count < 1:
        raise ValueError("expected sizes and one gear or more")
    kept = _frequent(histogram)
    if all(len(sizes) == 1 for sizes in kept):
        return _best_line(kept, cost, count)
    return _joined(kept, cost, count)


def gear_for(gears: Sequence[Sizes], sizes: Sizes, cost: Cost) -> Sizes | None:
    """Returns the cheapest gear that holds sizes, or None."""
    fitting = [gear for gear in gears if all(map(int.__le__, sizes, gear))]
    return min(fitting, key=lambda gear: (cost(gear), gear), default=None)


def mean_cost(histogram: Mapping[Sizes, int], gears: Sequence[Sizes], cost: Cost) -> float:
    """Returns what a run costs on average where each is padded to its gear."""
    total = 0.0
    for sizes, times in histogram.items():
        gear = gear_for(gears, sizes, cost)
        total += times * cost(sizes if gear is None else gear)
    return total / sum(histogram.values())


def _frequent(histogram: Mapping[Sizes, int]) -> dict[Sizes, int]:
    """Returns a histogram of few sets of sizes; rare ones count for the next that holds them."""
    if len(histogram) <= MAX_DISTINCT:
        return dict(histogram)
    top = tuple(map(max, zip(*histogram, strict=True)))
    often = sorted(histogram, key=lambda sizes: (-histogram[sizes], sizes))[: MAX_DISTINCT - 1]
    kept = dict.fromkeys([*often, top], 0)
    for sizes, times in histogram.items():
        holding = [one for one in kept if all(map(int.__le__, sizes, one))]
        kept[min(holding)] += times
    return kept


def _best_line(histogram: Mapping[Sizes, int], cost: Cost, count: int) -> list[Sizes]:
    ordered = sorted(histogram)
    totals = [0]
    for sizes in ordered:
        totals.append(totals[-1] + histogram[sizes])
    prices = [cost(sizes) for sizes in ordered]
    # best[j]: the cost of the first j sizes, and the gears that reach it.
    best: list[tuple[float, list[Sizes]]] = [(0.0, []), *[(inf, [])] * len(ordered)]
    for _ in range(min(count, len(ordered))):
        found = [best[0]]
        for j in range(1, len(ordered) + 1):
            rest = [best[i][0] + (totals[j] - totals[i]) * prices[j - 1] for i in range(j)]
            i = min(range(j), key=rest.__getitem__)
            longer = (rest[i], [*best[i][1], ordered[j - 1]])
            found.append(min(best[j], longer, key=lambda plan: plan[0]))
        best = found
    return best[-1][1]


def _joined(histogram: Mapping[Sizes, int], cost: Cost, count: int) -> list[Sizes]:
    gears = sorted(histogram)
    weights = {gear: histogram[gear] for gear in gears}
    while len(gears) > count:
        _, first, second = min(
            (_loss(one, other, weights, cost), one, other)
            for i, one in enumerate(gears)
            for other in gears[i + 1 :]
        )
        both = tuple(map(max, first, second))
        weight = weights.pop(first) + weights.pop(second)
        weights[both] = weights.get(both, 0) + weight
        gears = sorted(weights)
    return gears


def _loss(one: Sizes, other: Sizes, weights: Mapping[Sizes, int], cost: Cost) -> float:
    both = cost(tuple(map(max, one, other)))
    return weights[one] * (both - cost(one)) + weights[other] * (both - cost(other))
