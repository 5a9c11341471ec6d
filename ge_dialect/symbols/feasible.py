"""Which values of symbols satisfy several guards at once, by trying them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product

from ge_dialect.symbols.expr import symbols_of
from ge_dialect.symbols.guards import Guard
from ge_dialect.symbols.ranges import SymbolRange

MAX_TRIED = 8192
"""Most combinations of values that are tried for guards that share symbols."""


def feasible_values(
    guards: Sequence[Guard], ranges: Mapping[str, SymbolRange]
) -> dict[str, tuple[int, ...]]:
    """Returns, for the symbols of the guards, the values that occur where all of them hold.

    Left out are symbols of which there are too many values to try. Guards that share no symbol
    are tried apart.

    >>> from ge_dialect.symbols import Relation, SymbolRange, parse_dim
    >>> guard = Guard(parse_dim("6*S"), Relation.EQUAL, 816, "")
    >>> feasible_values([guard], {"S": SymbolRange(136, 272)})
    {'S': (136,)}
    """
    found: dict[str, tuple[int, ...]] = {}
    for names, group in _groups(guards):
        values = [_values(ranges.get(name)) for name in names]
        known = [one for one in values if one is not None]
        count = 1
        for one in known:
            count *= len(one)
        if len(known) == len(values) and count <= MAX_TRIED:
            found |= _tried(names, known, group)
    return found


def guard_symbols(guard: Guard) -> tuple[str, ...]:
    """Returns the symbols of a guard, by name."""
    return tuple(sorted({*symbols_of(guard.left), *symbols_of(guard.right)}))


def _groups(guards: Sequence[Guard]) -> list[tuple[list[str], list[Guard]]]:
    groups: list[tuple[list[str], list[Guard]]] = []
    for guard in guards:
        names, members = list(guard_symbols(guard)), [guard]
        apart: list[tuple[list[str], list[Guard]]] = []
        for group in groups:
            if any(name in group[0] for name in names):
                names = list(dict.fromkeys((*group[0], *names)))
                members = [*group[1], *members]
            else:
                apart.append(group)
        groups = [*apart, (names, members)]
    return groups


def _values(known: SymbolRange | None) -> range | None:
    if known is None or known.last is None:
        return None
    return range(known.first, known.last + 1, known.multiple_of)


def _tried(
    names: Sequence[str], values: Sequence[range], guards: Sequence[Guard]
) -> dict[str, tuple[int, ...]]:
    seen: dict[str, dict[int, None]] = {name: {} for name in names}
    for chosen in product(*values):
        sizes = dict(zip(names, chosen, strict=True))
        if all(_holds(guard, sizes) for guard in guards):
            for name, value in sizes.items():
                seen[name][value] = None
    return {name: tuple(sorted(found)) for name, found in seen.items()}


def _holds(guard: Guard, sizes: Mapping[str, int]) -> bool:
    try:
        return guard.holds(sizes)
    except ValueError:  # a divisor that is 0
        return False


def show_values(values: Sequence[int], step: int = 1) -> str:
    """Returns values as messages write them: `4..16`, `1, 4` or `8..64 by 8`."""
    if len(values) > 2 and all(b - a == step for a, b in pairwise(values)):
        by = "" if step == 1 else f" by {step}"
        return f"{values[0]}..{values[-1]}{by}"
    shown = ", ".join(map(str, values[:8]))
    return shown + (", ..." if len(values) > 8 else "")
