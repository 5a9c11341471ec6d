"""One exact search: buffers placed bottom up, within a number of bytes and of nodes.

Offsets never decrease along a branch, equal ones follow a rank, and each buffer lies as low as
what is placed allows. If there is a plan that fits, one of this form fits: the one whose offsets
have the smallest sum. A node is given up where

- a span of time has no room left (`state.py`). A buffer that was passed over has to be raised by
  something that is still to come, which says how high its lowest place is at least;
- something else would fit entirely below a buffer: then that one is not the next;
- nothing may lie as high as the goal less the bytes that some span still needs.

What no buffer connects any more is searched as parts of its own: where one part fails, the others
are not searched anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from ge_dialect.lowering.memory.state import Placed, State

if TYPE_CHECKING:
    import numpy.typing as npt

    from ge_dialect.lowering.memory.spans import Spans


class Answer(Enum):
    """What a search found out."""

    FITS = "fits"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


class _Part(NamedTuple):
    """Buffers to place, from an offset and rank on; then the rest of a chain of parts.

    Where nothing fits, what was placed at the depth `origin` is to blame, or something before it.
    """

    buffers: npt.NDArray[Any]
    floor: int
    rank: int
    origin: int
    rest: _Part | None


@dataclass(slots=True)
class _Node:
    """A node of the branch: its untried placements, the first one last, and the one in place."""

    part: _Part
    begin: int
    end: int
    tries: list[tuple[int, int]]
    placed: Placed | None = None


class Tree(State):
    """A depth-first search."""

    def __init__(self, spans: Spans, goal: int, order: npt.NDArray[Any]):
        import numpy as np

        super().__init__(spans, goal, order)
        self._rank: npt.NDArray[Any] = np.empty(spans.count, dtype=np.int64)
        self._rank[order] = np.arange(spans.count)
        self._tall: npt.NDArray[Any] = np.append(spans.sizes, goal)

    def search(self, limit: int) -> Answer:
        """Looks at up to `limit` nodes; `offsets` holds the places if the buffers fit."""
        if not self.possible(0, self.spans.total):
            return Answer.INFEASIBLE
        stack: list[_Node] = []
        part = self._chain(self.order, 0, -1, -1, None)
        while part is not None:
            if self.nodes == limit:
                return Answer.UNKNOWN
            self.nodes += 1
            stack.append(self._open(part))
            while not self._advance(stack[-1]):
                self._retreat(stack)
                if not stack:
                    return Answer.INFEASIBLE
            part = self._rest(stack)
        return Answer.FITS

    def _chain(
        self, buffers: npt.NDArray[Any], floor: int, rank: int, origin: int, rest: _Part | None
    ) -> _Part | None:
        for part in reversed(self.spans.parts(buffers)):
            rest = _Part(part, floor, rank, origin, rest)
        return rest

    def _rest(self, stack: list[_Node]) -> _Part | None:
        """What is to be placed after the last placement."""
        node, depth = stack[-1], len(stack) - 1
        part, placed = node.part, node.placed
        assert placed is not None
        buffers = part.buffers[part.buffers != placed.buffer]
        if not len(buffers):
            return part.rest
        rank = int(self._rank[placed.buffer])
        if self.spans.single:
            begin = max(self.first_of[placed.buffer], node.begin + 1)
            end = min(self.last_of[placed.buffer] + 1, node.end)
            if not self.crossing[begin:end].all():
                return self._chain(buffers, placed.offset, rank, depth, part.rest)
        return _Part(buffers, placed.offset, rank, depth, part.rest)

    def _advance(self, node: _Node) -> bool:
        """Puts the next buffer of a node in place, if there is one that may be."""
        while node.tries:
            placed = self.place(*node.tries.pop())
            if placed is None:
                continue
            if self.possible(node.begin, node.end):
                node.placed = placed
                return True
            self.take_back(placed)
        return False

    def _retreat(self, stack: list[_Node]) -> None:
        """Goes back to the node from which the part of the last one comes."""
        origin = stack[-1].part.origin
        while len(stack) - 1 > origin:
            self._undo(stack.pop())
        if stack:
            self._undo(stack[-1])

    def _undo(self, node: _Node) -> None:
        if node.placed is not None:
            self.take_back(node.placed)
            node.placed = None

    def _open(self, part: _Part) -> _Node:
        """The placements that may come next."""
        buffers, spans = part.buffers, self.spans
        begin, end = 0, spans.total
        if spans.single:
            begin, end = int(spans.first[buffers].min()), int(spans.last[buffers].max())
        low = self.low[buffers]
        passed = (low < part.floor) | ((low == part.floor) & (self._rank[buffers] <= part.rank))
        tops = low[~passed] + spans.sizes[buffers[~passed]]
        tries: list[tuple[int, int]] = []
        if len(tops) and self._reachable(buffers[passed], int(tops.min()), begin, end):
            ceiling = min(
                int(tops.min()),
                self._lowest_top(buffers[passed], part.floor),
                self.goal - int(self.left[begin:end].max()) + 1,
            )
            chosen = (~passed & (low < ceiling)).nonzero()[0]
            tries = self._in_order(buffers[chosen], low[chosen])
        return _Node(part, begin, end, tries)

    def _in_order(self, buffers: npt.NDArray[Any], low: npt.NDArray[Any]) -> list[tuple[int, int]]:
        """Buffers and places; the lowest place, and of those the first rank, is the last."""
        import numpy as np

        order = np.lexsort((-self._rank[buffers], -low))
        return list(zip(buffers[order].tolist(), low[order].tolist(), strict=True))

    def _lowest_top(self, passed: npt.NDArray[Any], floor: int) -> int:
        """The lowest top of a buffer that was passed over, if it lay at the floor or above."""
        step = self.spans.alignments[passed]
        tops = -(-floor // step) * step + self.spans.sizes[passed]
        return int(tops.min(initial=self.goal))

    def _reachable(self, passed: npt.NDArray[Any], lowest: int, begin: int, end: int) -> bool:
        """Whether what was passed over may still be raised to a place where it fits.

        Args:
            passed: The buffers.
            lowest: No top of anything that is still to come is lower.
            begin, end: Range of spans.
        """
        if not len(passed):
            return True
        old = self.low[passed]
        self.low[passed] = lowest
        raised = (self.low + self._tall)[self.spans.near_table[passed]].min(axis=1)
        self.low[passed] = raised
        possible = not (raised > self.highest[passed]).any() and self.possible(begin, end)
        self.low[passed] = old
        return possible
