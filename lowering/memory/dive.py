"""One greedy descent: the lowest place first, looking one step ahead, never going back."""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace

from ge_dialect.lowering.memory.state import State


class Dive(State):
    """Places one buffer after the other, each as low as it may lie."""

    def search(self, limit: int) -> int:
        """Returns how many buffers have no place after up to `limit` tries; none where it fits.

        The next is the first, by place and order, that leaves every span possible, among those
        that nothing would fit below. The failures tell which spans should have come earlier.
        """
        low = self.low.tolist()
        # Both by a place that may have been raised since.
        self._waiting = [(low[i], rank, i) for rank, i in enumerate(self.order.tolist())]
        self._tops = [(low[i] + size, i) for i, size in enumerate(self.size_of)]
        heapify(self._waiting)
        heapify(self._tops)
        while self._waiting and self.nodes < limit and self._place_next():
            pass
        return len(self._waiting)

    def _place_next(self) -> bool:
        ceiling = self._ceiling()
        refused: list[tuple[int, int, int]] = []
        placed = False
        while self._waiting and not placed:
            offset, rank, buffer = self._waiting[0]
            lowest = int(self.low[buffer])
            if lowest > offset:
                heapreplace(self._waiting, (lowest, rank, buffer))
            elif offset >= ceiling:
                break
            else:
                heappop(self._waiting)
                placed = self._try(buffer, offset)
                if not placed:
                    refused.append((offset, rank, buffer))
        for entry in refused:
            heappush(self._waiting, entry)
        return placed

    def _ceiling(self) -> int:
        """The lowest top that a buffer without a place could have."""
        while True:
            top, buffer = self._tops[0]
            lowest = int(self.low[buffer]) + self.size_of[buffer]
            if self.offsets[buffer] >= 0:
                heappop(self._tops)
            elif lowest > top:
                heapreplace(self._tops, (lowest, buffer))
            else:
                return top

    def _try(self, buffer: int, offset: int) -> bool:
        self.nodes += 1
        placed = self.place(buffer, offset)
        if placed is None:
            return False
        if self.possible(*self.spans.around[buffer]):
            return True
        self.take_back(placed)
        return False
