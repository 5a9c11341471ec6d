"""Whether what an op asks of symbols holds: always, never, or as an equality of one of them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from ge_dialect.symbols import (
    Dim,
    DimExpr,
    Guard,
    Relation,
    SymbolRange,
    bounds,
    linear_in,
    prove_divisible,
    prove_equal,
    simplify,
    symbols_of,
)

Ranges = Mapping[str, SymbolRange]


class Verdict(Enum):
    """What is known of a guard: an equality is a pair of symbol and value instead."""

    HOLDS = "holds"
    OPEN = "open"


def judge(guard: Guard, ranges: Ranges) -> Verdict | tuple[str, Dim]:
    """Returns whether a guard holds for all sizes, is open, or says what a symbol is.

    What holds for no size is open as well: trying the sizes shows it, and names them.
    """
    left, right = simplify(guard.left, ranges), simplify(guard.right, ranges)
    if guard.relation is Relation.MULTIPLE:
        divides = isinstance(right, int) and right and prove_divisible(left, right, ranges)
        return Verdict.HOLDS if divides else Verdict.OPEN
    if prove_equal(left, right, ranges):
        return Verdict.HOLDS
    if guard.relation is Relation.BROADCAST:
        ends = [bounds(side, ranges) for side in (left, right)]
        if (1, 1) in ends:
            return Verdict.HOLDS
        if any(low < 2 for low, _ in ends):
            return Verdict.OPEN
    try:
        return _eliminated(left - right, ranges) or Verdict.OPEN
    except ValueError:  # too large to name
        return Verdict.OPEN


def _eliminated(difference: Dim, ranges: Ranges) -> tuple[str, Dim] | None:
    """Returns a symbol and what it has to be for a difference to be 0; the last declared one."""
    if isinstance(difference, int) or len(names := symbols_of(difference)) < 2:
        return None
    if any(name not in ranges for name in names):  # what depends on data is checked, never put in
        return None
    for name in reversed(list(ranges)):
        found = linear_in(difference, name)
        if found is not None and abs(found[0]) == 1 and isinstance(found[1], DimExpr):
            return name, found[1] * -found[0]
    return None


def solution(value: Dim, ranges: Ranges, wanted: SymbolRange) -> tuple[str, int, int | None] | None:
    """Returns the ends that a symbol must keep to, so that `value` keeps to a range.

    None where `value` mentions several symbols, or falls as its symbol grows.
    """
    names = symbols_of(value)
    if len(names) != 1 or names[0] not in ranges:
        return None
    found = linear_in(value, names[0])
    if found is None:
        return None
    factor, rest = found
    if factor < 1 or not isinstance(rest, int):
        return None
    low = -((rest - wanted.first) // factor)
    high = None if wanted.last is None else (wanted.last - rest) // factor
    return names[0], low, high
