"""Which buffers may be alive together, as arrays that answer fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

    from ge_dialect.lowering.memory.problem import Problem

_MAX_PAIRS = 8_000_000
"""Conflicts that are kept in a list; beyond, rows are computed when they are asked for."""

_BLOCK = 256
"""Rows of the conflict matrix that are computed at once."""


class Conflicts:
    """The conflicts of a problem; `near` lists those of one buffer.

    Graphs of models are sparse: few buffers live together, and a list of conflicts makes placing
    one buffer cost what its neighbours cost. Where lives are long the list would be quadratic, and
    a row is computed anew instead.

    Attributes:
        starts, ends: `[buffers, streams]`, the lifetimes of the problem.
        sparse: Whether the conflicts are listed.
        count: How many entries are looked at when every buffer is placed once.
    """

    def __init__(self, problem: Problem, max_pairs: int = _MAX_PAIRS):
        import numpy as np

        count = len(problem.buffers)
        width = len(problem.lifetimes[0].start) if problem.lifetimes else 1
        self.starts: npt.NDArray[Any] = np.array(
            [life.start for life in problem.lifetimes], dtype=np.int64, order="F"
        ).reshape(count, width)
        self.ends: npt.NDArray[Any] = np.array(
            [life.end for life in problem.lifetimes], dtype=np.int64, order="F"
        ).reshape(count, width)
        pairs = self._interval_pairs(max_pairs) if width == 1 else self._block_pairs(max_pairs)
        self.sparse = pairs is not None
        self.count = count * count if pairs is None else 2 * len(pairs[0])
        if pairs is not None:
            self._list(*pairs)

    def near(self, index: int) -> npt.NDArray[Any]:
        """Returns the buffers that conflict with one, in the order of the problem."""
        if self.sparse:
            return self._ids[self._first[index] : self._first[index + 1]]
        return self.row(index).nonzero()[0]

    def row(self, index: int) -> npt.NDArray[Any]:
        """Returns for every buffer whether it conflicts with one."""
        return self._rows(index, index + 1)[0]

    def _rows(self, begin: int, end: int) -> npt.NDArray[Any]:
        import numpy as np

        earlier = later = True
        for starts, ends in zip(self.starts.T, self.ends.T, strict=True):
            earlier = earlier & (ends[begin:end, None] <= starts)
            later = later & (ends <= starts[begin:end, None])
        rows: npt.NDArray[Any] = ~(np.asarray(earlier) | np.asarray(later))
        rows[np.arange(end - begin), np.arange(begin, end)] = False
        return rows

    def _interval_pairs(self, max_pairs: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
        """Each conflict once. By start, the conflicts of a buffer with later ones lie in a row."""
        import numpy as np

        lower, upper = self.starts[:, 0], self.ends[:, 0]
        by_start = np.argsort(lower, kind="stable")
        limits = np.searchsorted(lower[by_start], upper[by_start], side="left")
        counts = np.maximum(limits - np.arange(1, len(lower) + 1), 0)
        total = int(counts.sum())
        if total > max_pairs:
            return None
        left = np.repeat(np.arange(len(lower)), counts)
        within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        return by_start[left], by_start[left + 1 + within]

    def _block_pairs(self, max_pairs: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
        import numpy as np

        count, total = len(self.starts), 0
        left: list[npt.NDArray[Any]] = [np.zeros(0, np.int64)]
        right: list[npt.NDArray[Any]] = [np.zeros(0, np.int64)]
        for begin in range(0, count, _BLOCK):
            rows, columns = self._rows(begin, min(begin + _BLOCK, count)).nonzero()
            once = rows + begin < columns
            left.append(rows[once] + begin)
            right.append(columns[once])
            if (total := total + len(left[-1])) > max_pairs:
                return None
        return np.concatenate(left), np.concatenate(right)

    def _list(self, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> None:
        import numpy as np

        count = len(self.starts)
        sources, targets = np.concatenate([left, right]), np.concatenate([right, left])
        order = np.lexsort((targets, sources))
        self._ids: npt.NDArray[Any] = targets[order]
        sizes = np.bincount(sources, minlength=count)
        self._first: npt.NDArray[Any] = np.concatenate([[0], np.cumsum(sizes)])
