"""Exact search: whether a problem fits a number of bytes, found or disproved within a budget.

Buffers are placed bottom up: offsets never decrease along a branch, and each buffer lies as low as
what is placed allows. If there is a plan that fits, one of this form fits, the one whose offsets
have the smallest sum. For the same reason a buffer is only tried where no other one would fit
entirely below it. On one stream, each span of time in which the same buffers are alive must have
room for those that are still to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

    from ge_dialect.lowering.memory.conflicts import Conflicts
    from ge_dialect.lowering.memory.problem import Problem

MAX_BUFFERS = 256
"""Problems of more buffers are left alone: a node costs the square of their number."""


class Answer(Enum):
    """What a search found out."""

    FITS = "fits"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class _Node:
    """A branch: offsets so far (-1: none), and the lowest ones that are left for the others."""

    offsets: npt.NDArray[Any]
    low: npt.NDArray[Any]
    floor: int
    rank: int


def fit(
    problem: Problem, conflicts: Conflicts, goal: int, nodes: int
) -> tuple[Answer, Sequence[int]]:
    """Returns whether the buffers fit into `goal` bytes, and the offsets if they do.

    Args:
        problem: Buffers without bytes are ignored; their offset is -1.
        conflicts: Of the problem.
        goal: In bytes.
        nodes: How many branches to look at before giving up.
    """
    search = _Fit(problem, conflicts, goal)
    if len(search.used) > MAX_BUFFERS:
        return Answer.UNKNOWN, ()
    stack = [search.root()]
    for _ in range(nodes):
        if not stack:
            return Answer.INFEASIBLE, ()
        node = stack.pop()
        if (node.offsets[search.used] >= 0).all():
            return Answer.FITS, [int(offset) for offset in node.offsets]
        stack += reversed(search.branches(node))
    return (Answer.UNKNOWN if stack else Answer.INFEASIBLE), ()


class _Fit:
    """What stays the same over a search."""

    def __init__(self, problem: Problem, conflicts: Conflicts, goal: int):
        import numpy as np

        buffers = problem.buffers
        self.goal = goal
        self.conflicts = conflicts
        self.sizes: npt.NDArray[Any] = np.array([b.footprint for b in buffers], dtype=np.int64)
        self.alignments: npt.NDArray[Any] = np.array([b.alignment for b in buffers], dtype=np.int64)
        given = [-1 if b.offset is None else b.offset for b in buffers]
        self.given: npt.NDArray[Any] = np.array(given, dtype=np.int64)
        self.used: npt.NDArray[Any] = self.sizes.nonzero()[0]
        self.members = self._sections()
        reach = np.maximum(conflicts.ends - conflicts.starts, 0).sum(axis=1)
        by_pressure = sorted(
            map(int, self.used), key=lambda i: (-int(self.sizes[i]) * int(reach[i]), i)
        )
        self.ranks = {index: rank for rank, index in enumerate(by_pressure)}

    def _sections(self) -> npt.NDArray[Any]:
        """`[spans, buffers]`: who is alive in each span of time; no spans on several streams."""
        import numpy as np

        starts, ends = self.conflicts.starts, self.conflicts.ends
        if starts.shape[1] != 1 or len(self.used) > MAX_BUFFERS:
            return np.zeros((0, len(starts)), dtype=np.bool_)
        times = np.unique(starts[self.used])[:, None]
        members: npt.NDArray[Any] = (times >= starts.T) & (times < ends.T) & (self.sizes > 0)
        return members

    def root(self) -> _Node:
        """The node in which nothing has a place."""
        import numpy as np

        nowhere = np.full(len(self.sizes), -1, dtype=np.int64)
        return _Node(nowhere, np.maximum(self.given, 0), 0, -1)

    def branches(self, node: _Node) -> list[_Node]:
        """Returns the ways to go on, the most promising first; none if the node is hopeless."""
        import numpy as np

        left = self.used[node.offsets[self.used] < 0]
        low = node.low[left]
        if not self._possible(node, left):
            return []
        ceiling = int((np.maximum(low, node.floor) + self.sizes[left]).min())
        tries = [
            (int(offset), self.ranks[int(index)], int(index))
            for index, offset in zip(left, low, strict=True)
            if node.floor <= offset < ceiling
        ]
        return [
            self._place(node, index, offset, rank)
            for offset, rank, index in sorted(tries)
            if offset > node.floor or rank > node.rank
        ]

    def _possible(self, node: _Node, left: npt.NDArray[Any]) -> bool:
        """Whether everything that is left may still find room, each on its own and each span."""
        import numpy as np

        low, given = node.low[left], self.given[left]
        if ((given >= 0) & (low > given)).any():
            return False
        low = np.maximum(low, node.floor)
        sizes = self.sizes[left]
        if (low + sizes > self.goal).any():
            return False
        members = self.members[:, left]
        bottoms = np.where(members, low, self.goal).min(axis=1, initial=self.goal)
        return bool((bottoms + members @ sizes <= self.goal).all())

    def _place(self, node: _Node, index: int, offset: int, rank: int) -> _Node:
        import numpy as np

        offsets, low = node.offsets.copy(), node.low.copy()
        offsets[index] = offset
        near = self.conflicts.near(index)
        steps = self.alignments[near]
        tops = -(-(offset + self.sizes[index]) // steps) * steps
        low[near] = np.maximum(low[near], tops)
        return _Node(offsets, low, offset, rank)
