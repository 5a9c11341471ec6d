"""What inference of types takes for granted of dimensions that it cannot compare.

`S` added to `T` is right where the two are equal, or one is 1: inference goes on with the better
known of them. Who wants to know what was assumed collects it while it infers the types of an op.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from ge_dialect.symbols import Dim, Relation


class Requirement(NamedTuple):
    """Two dimensions and what has to hold of them; `what` says what they are."""

    left: Dim
    relation: Relation
    right: Dim
    what: str


_found: ContextVar[list[Requirement] | None] = ContextVar("requirements", default=None)


@contextmanager
def collect() -> Generator[list[Requirement]]:
    """Collects what inference inside the context assumes of dimensions."""
    found: list[Requirement] = []
    token = _found.set(found)
    try:
        yield found
    finally:
        _found.reset(token)


def require(left: Dim | None, relation: Relation, right: Dim | None, what: str) -> None:
    """Notes an assumption, where somebody listens and it is no matter of course."""
    if left is None or right is None or left == right:
        return
    if (found := _found.get()) is not None:
        found.append(Requirement(left, relation, right, what))
