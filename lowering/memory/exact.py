"""Whether a problem fits a number of bytes: found or disproved by searches with restarts.

Hard problems have a few decisions that matter; a search that starts with the wrong ones never comes
back to them. So many descents are made, from several orders of the buffers, and buffers of spans at
which one failed come earlier in the next. Where a descent gets farther than those before, its order
is searched with going back, and so is one every now and then, with a limit that grows: such a
search may end in a proof that nothing fits.

Source: weights of failures are those of Boussemart, Hemery, Lecoutre and Sais, "Boosting systematic
search by weighting constraints" (2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ge_dialect.lowering.memory.dive import Dive
from ge_dialect.lowering.memory.spans import Spans, components
from ge_dialect.lowering.memory.tree import Answer, Tree

if TYPE_CHECKING:
    import numpy.typing as npt

    from ge_dialect.lowering.memory.conflicts import Conflicts
    from ge_dialect.lowering.memory.problem import Problem

_ORDERS = ("twa", "taw", "wat", "swt")
"""Of buffers, by what comes first: t, the fullest of its spans; w, the length of its life; s, its
size; a, the product of both; the larger first."""

_LEARNING = ((1.0, 0.99), (0.3, 0.97))
"""How much a failure counts, and what is left of it after another descent. The first is used twice
as often."""

_NODES_PER_BUFFER = 3
_LEAST_NODES = 64
"""Nodes of a search with going back: for each buffer, and at least."""

_PROMISING = 0.6
"""Fraction of the buffers that a descent may leave without a place, to be worth a search."""

_SHARE = 3
"""Nodes of descents for each one of the searches whose limit grows."""


def fit(
    problem: Problem,
    conflicts: Conflicts,
    goal: int,
    nodes: int,
    parts: Sequence[Spans] | None = None,
) -> tuple[Answer, Sequence[int]]:
    """Returns whether the buffers fit into `goal` bytes, and the offsets if they do.

    Args:
        problem: Buffers without bytes are ignored; their offset is -1.
        conflicts: Of the problem.
        goal: In bytes.
        nodes: How many nodes and placements to look at, over all searches, before giving up.
        parts: The components of the problem, where they are known.
    """
    if problem.lower_bound > goal:
        return Answer.INFEASIBLE, ()
    parts = components(problem, conflicts) if parts is None else parts
    if parts is None:
        return Answer.UNKNOWN, ()
    offsets = [-1] * len(problem.buffers)
    unsolved = [_Restarts(part, goal) for part in parts]
    while unsolved:
        for part in list(unsolved):
            if nodes <= 0 or (part.runs and nodes < part.spans.count):
                return Answer.UNKNOWN, ()
            answer, used = part.again(nodes)
            nodes -= used
            if answer is Answer.INFEASIBLE:
                return answer, ()
            if answer is Answer.FITS:
                unsolved.remove(part)
                for index, offset in zip(part.spans.ids, part.offsets, strict=True):
                    offsets[int(index)] = int(offset)
    return Answer.FITS, offsets


class _Learner:
    """An order of buffers, and what failures have taught about it."""

    def __init__(self, priority: npt.NDArray[Any], spans: Spans, step: float, decay: float):
        import numpy as np

        self.priority, self.spans = priority, spans
        self.step, self.decay = step, decay
        self.weights: npt.NDArray[Any] = np.zeros(spans.total)
        self.least = spans.count

    def order(self) -> npt.NDArray[Any]:
        """The buffers, the one to prefer first."""
        keys = self.priority + self.spans.heaviest(self.weights)
        order: npt.NDArray[Any] = (-keys).argsort(kind="stable")
        return order

    def note(self, failures: npt.NDArray[Any]) -> None:
        """Adds to the weights of spans at which a search failed."""
        self.weights += self.step * failures / max(int(failures.max(initial=0)), 1)

    def learn(self, failures: npt.NDArray[Any], missing: int) -> bool:
        """Takes note of a descent; returns whether none got farther before."""
        self.weights *= self.decay
        self.note(failures)
        farther, self.least = missing < self.least, min(missing, self.least)
        return farther


class _Restarts:
    """One search after the other in an independent part of a problem."""

    def __init__(self, spans: Spans, goal: int):
        import numpy as np

        self.spans, self.goal = spans, goal
        self.offsets: npt.NDArray[Any] = np.zeros(0, dtype=np.int64)
        self.runs = self.descended = 0
        self.least = self.limit = max(_NODES_PER_BUFFER * spans.count, _LEAST_NODES)
        keys = {
            "t": spans.heaviest(spans.load),
            "w": spans.lengths,
            "s": spans.sizes,
            "a": spans.lengths * spans.sizes.astype(np.float64),
        }
        priorities = [_priority([keys[name] for name in order]) for order in _ORDERS]
        often, seldom = (
            [_Learner(priority, spans, *learning) for priority in priorities]
            for learning in _LEARNING
        )
        self.learners = often + often + seldom

    def again(self, nodes: int) -> tuple[Answer, int]:
        """Makes a descent, and a search if it is worth one; returns the nodes that it took."""
        learner = self.learners[self.runs % len(self.learners)]
        first = self.runs < len(_ORDERS)
        self.runs += 1
        order = learner.order()
        dive = Dive(self.spans, self.goal, order)
        missing = dive.search(nodes)
        if not missing:
            self.offsets = dive.offsets
            return Answer.FITS, dive.nodes
        self.descended += dive.nodes
        promising = learner.learn(dive.failures, missing) and missing <= _PROMISING * len(order)
        limit = self.least if first or promising else 0
        if self.descended >= _SHARE * self.limit:
            limit = self.limit
            self.descended, self.limit = 0, 2 * self.limit
        if not limit or not self.spans.searchable:
            return Answer.UNKNOWN, dive.nodes
        tree = Tree(self.spans, self.goal, order)
        answer = tree.search(min(limit, nodes))
        learner.note(tree.failures)
        self.offsets = tree.offsets
        return answer, dive.nodes + tree.nodes


def _priority(keys: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """From 1, for the buffer that comes first, down to 0."""
    import numpy as np

    order = np.lexsort([-key for key in reversed(keys)])
    priority: npt.NDArray[Any] = np.empty(len(order))
    priority[order] = np.linspace(1, 0, len(order))
    return priority
