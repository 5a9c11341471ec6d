"""Every rewrite of a pipeline has a number, so that the first wrong one can be found.

A pass asks before a rewrite, or notes it afterwards. Within `counting(limit=n)` the first `n`
happen and no other, whatever the passes; with `traced=True` each one is described. Elsewhere both
cost one look-up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Operation


@dataclass(frozen=True)
class Rewritten:
    """One rewrite that was done.

    Attributes:
        step: Position in the pipeline of the pass that did it, from 0.
        pass_name: Of the pass.
        rule: Pattern or rule within the pass.
        match: How many times the rule had fired in this run of the pass, this one included.
        where: The op it started from, with symbol and node, as it was before.
    """

    step: int
    pass_name: str
    rule: str
    match: int
    where: str


@dataclass
class Rewrites:
    """The count of a run.

    Attributes:
        limit: How many may be done; None for all.
        traced: Whether each one is described in `trace`.
        done: How many were.
        step: Position of the pass that runs, kept by whoever runs the pipeline.
        trace: What was done, in order, where traced.
    """

    limit: int | None = None
    traced: bool = False
    done: int = 0
    step: int = 0
    trace: list[Rewritten] = field(default_factory=list[Rewritten])
    _matches: Counter[tuple[int, str, str]] = field(default_factory=Counter[tuple[int, str, str]])

    @property
    def spent(self) -> bool:
        """Whether no further rewrite may be done."""
        return self.limit is not None and self.done >= self.limit

    def where(self, op: Operation) -> str:
        """Returns the description of an op that is about to change, where anybody wants it."""
        if not self.traced:
            return ""
        from ge_dialect.validity import where

        return where(op)

    def note(self, pass_name: str, rule: str, where: str) -> None:
        """Counts a rewrite that was done."""
        self.done += 1
        if self.traced:
            key = (self.step, pass_name, rule)
            self._matches[key] += 1
            self.trace.append(Rewritten(self.step, pass_name, rule, self._matches[key], where))


_counting: ContextVar[Rewrites | None] = ContextVar("ge_rewrites", default=None)


def active() -> Rewrites | None:
    """Returns the count that is kept, or None."""
    return _counting.get()


def permit(pass_name: str, rule: str, op: Operation) -> bool:
    """Whether a rewrite that starts from `op` may be done; it counts as done where it may."""
    if (rewrites := _counting.get()) is None:
        return True
    if rewrites.spent:
        return False
    rewrites.note(pass_name, rule, rewrites.where(op))
    return True


@contextmanager
def counting(*, limit: int | None = None, traced: bool = False) -> Generator[Rewrites]:
    """Counts, and limits, the rewrites of everything that runs inside."""
    rewrites = Rewrites(limit, traced)
    token = _counting.set(rewrites)
    try:
        yield rewrites
    finally:
        _counting.reset(token)
