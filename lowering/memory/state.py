"""A placement in the making, bottom up: what is still open to each buffer and each span.

A buffer that is placed raises the lowest place of those it conflicts with. What cannot end well is
noticed early: a span has no room left where the lowest place still open to one of its buffers, and
the bytes of all of them, exceed the goal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy.typing as npt

    from ge_dialect.lowering.memory.spans import Spans


class Placed(NamedTuple):
    """What taking a buffer away again needs."""

    buffer: int
    offset: int
    old_low: npt.NDArray[Any]


class State:
    """Places of some buffers, none at first.

    Args:
        spans: The buffers.
        goal: Bytes that nothing may exceed.
        order: All buffers, the one to prefer at equal offsets first.

    Attributes:
        offsets: Of each buffer, -1 where it has no place.
        low: The lowest place still open to each buffer; the goal for what is placed, and for the
            number that stands for no buffer.
        highest: The highest place of each buffer.
        left: Bytes of each span that are not placed.
        crossing: How many unplaced buffers are alive on both sides of the start of each span;
            only on one stream.
        failures: How often each span was the reason to give up.
        nodes: How many placements were tried, or nodes opened.
    """

    def __init__(self, spans: Spans, goal: int, order: npt.NDArray[Any]):
        import numpy as np

        self.spans, self.goal, self.order = spans, goal, order
        self.offsets: npt.NDArray[Any] = np.full(spans.count, -1, dtype=np.int64)
        self.low: npt.NDArray[Any] = np.append(np.maximum(spans.given, 0), goal)
        highest = goal - spans.sizes
        self.highest: npt.NDArray[Any] = np.where(
            spans.given >= 0, np.minimum(spans.given, highest), highest
        )
        self.left: npt.NDArray[Any] = spans.load.copy()
        self.crossing = self._count_crossing()
        self.failures: npt.NDArray[Any] = np.zeros(spans.total, dtype=np.int64)
        self.nodes: int = 0
        self.size_of: list[int] = spans.sizes.tolist()
        self.first_of: list[int] = spans.first.tolist()
        self.last_of: list[int] = spans.last.tolist()
        self._room = self.highest.copy()  # the goal for what is placed
        self._witness: npt.NDArray[Any] = spans.members[:, 0].copy()
        self._mixed = bool((spans.alignments != spans.alignments[:1]).any())

    def _count_crossing(self) -> npt.NDArray[Any]:
        import numpy as np

        change = np.zeros(self.spans.total + 2, dtype=np.int64)
        if self.spans.single:
            np.add.at(change, self.spans.first + 1, 1)
            np.add.at(change, self.spans.last, -1)
        return np.cumsum(change)

    def place(self, buffer: int, offset: int) -> Placed | None:
        """Places a buffer, unless what it conflicts with would find no room above it any more."""
        import numpy as np

        where = self.spans.where[buffer]
        left = self.left[where]
        near = self.spans.near[buffer]
        top: Any = offset + self.size_of[buffer]
        if self._mixed:
            step = self.spans.alignments[near]
            top = np.minimum(-(-top // step) * step, self.goal)
        old = self.low[near]
        low = np.maximum(old, top)
        if (low > self._room[near]).any():
            return None
        full = left > self.goal - offset
        if full.any():
            self.failures[self.spans.span(buffer, int(full.argmax()))] += 1
            return None
        self.low[near] = low
        self.low[buffer] = self._room[buffer] = self.goal
        self.left[where] = left - self.size_of[buffer]
        self.crossing[self.first_of[buffer] + 1 : self.last_of[buffer]] -= 1
        self.offsets[buffer] = offset
        return Placed(buffer, offset, old)

    def take_back(self, placed: Placed) -> None:
        """Undoes the last placement."""
        buffer, offset, old = placed
        self.low[self.spans.near[buffer]] = old
        self.low[buffer], self._room[buffer] = offset, self.highest[buffer]
        self.left[self.spans.where[buffer]] += self.size_of[buffer]
        self.crossing[self.first_of[buffer] + 1 : self.last_of[buffer]] += 1
        self.offsets[buffer] = -1

    def possible(self, begin: int, end: int) -> bool:
        """Whether a range of spans has room for what is left.

        Each span has a witness, a buffer whose lowest place is low enough; only where the witness
        fails the others are looked at.
        """
        import numpy as np

        lowest = self.low[self._witness[begin:end]]
        bad = (self.left[begin:end] > self.goal - lowest).nonzero()[0] + begin
        if not len(bad):
            return True
        rows = self.spans.members[bad]
        low = self.low[rows]
        best = low.argmin(axis=1)
        each = np.arange(len(bad))
        full = self.left[bad] > self.goal - low[each, best]
        if full.any():
            self.failures[bad[full.argmax()]] += 1
            return False
        self._witness[bad] = rows[each, best]
        return True
