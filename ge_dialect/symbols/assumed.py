"""Ranges that inference may take for granted, so that what they decide is not in every type.

Of `x[1:]`, with a size S of at least 1, the size is `S - 1` and not `max(S - 1, 0)`. Ops infer
types from types alone, so the ranges are around them: whoever works on a function says so by
`assuming`. Without it all is right as well, only less is known.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from ge_dialect.symbols.ranges import SymbolRange

_NONE: Mapping[str, SymbolRange] = {}
_ASSUMED: ContextVar[Mapping[str, SymbolRange]] = ContextVar("ge_dialect.assumed", default=_NONE)


def assumed() -> Mapping[str, SymbolRange]:
    """Returns the ranges of symbols that hold here."""
    return _ASSUMED.get()


@contextmanager
def assuming(ranges: Mapping[str, SymbolRange]) -> Generator[None]:
    """Takes ranges for granted, in place of others."""
    token = _ASSUMED.set(ranges)
    try:
        yield
    finally:
        _ASSUMED.reset(token)
