"""The value of a symbol out of the value of an expression: for sizes that a run measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ge_dialect.symbols.expr import Dim, build, evaluate, symbols_of, terms_of


def linear_in(dim: Dim, name: str) -> tuple[int, Dim] | None:
    """Returns `(a, rest)` with `dim = a * name + rest`; None where the symbol is in other places.

    >>> from ge_dialect.symbols import parse_dim
    >>> [str(part) for part in linear_in(parse_dim("16*H + 2*W + 3"), "H")]
    ['16', '2*W + 3']
    """
    terms = dict(terms_of(dim))
    factor = terms.pop((name,), 0)
    rest = build(terms)
    return (factor, rest) if factor and name not in symbols_of(rest) else None


def solve_for(dim: Dim, name: str, value: int, known: Mapping[str, int]) -> int | None:
    """Returns the number that a symbol has to be for `dim` to have a value.

    None where no number will do.

    Args:
        dim: Linear in the symbol.
        name: Of the symbol.
        value: Of `dim`.
        known: Values of the other symbols of `dim`.

    Raises:
        ValueError: `dim` is not linear in the symbol, or another symbol has no value.
    """
    if (found := linear_in(dim, name)) is None:
        raise ValueError(f"expected an expression linear in '{name}', got {dim}")
    factor, rest = found
    quotient, left_over = divmod(value - evaluate(rest, known), factor)
    return None if left_over else quotient


def solving_order(dims: Iterable[Dim]) -> list[tuple[str, int]]:
    """Returns each symbol that the values of `dims` decide, with the position of what decides it.

    In an order in which each is decided by those before it; plain symbols first.
    """
    waiting = list(enumerate(dims))
    waiting.sort(key=lambda item: (len(terms_of(item[1])), len(str(item[1]))))
    found: dict[str, int] = {}
    progress = True
    while progress:
        progress = False
        for position, dim in waiting:
            open_ = [name for name in symbols_of(dim) if name not in found]
            if len(open_) == 1 and linear_in(dim, open_[0]) is not None:
                found[open_[0]] = position
                progress = True
    return list(found.items())
