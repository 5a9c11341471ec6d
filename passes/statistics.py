"""Counts that passes keep: how often which rewrite happened.

As with remarks, a count costs one look-up where nobody collects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

Statistics = Counter[tuple[str, str]]
"""Number of rewrites by (pass, rewrite)."""

_collector: ContextVar[Statistics | None] = ContextVar("ge_statistics", default=None)


def count(pass_name: str, what: str, times: int = 1) -> None:
    """Adds `times` to a count of a pass."""
    if (collector := _collector.get()) is not None and times:
        collector[pass_name, what] += times


@contextmanager
def collect() -> Generator[Statistics]:
    """Gives the counts of everything that runs inside."""
    found: Statistics = Counter()
    token = _collector.set(found)
    try:
        yield found
    finally:
        _collector.reset(token)
