"""The best order of a few tasks: a search over sets of tasks that have run.

What is alive depends on the set alone, not on how it came about, so of the ways to a set the one
with the lowest peak is enough. Exact where every set is kept; where there are too many, the most
promising ones are.

Source: dynamic programming over the down-sets of a partial order, as in Held and Karp, "A dynamic
programming approach to sequencing problems" (1962).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ge_dialect.passes.schedule.tasks import Tasks, shared_bytes


@dataclass(frozen=True)
class _Root:
    """A root as a segment sees it: which local tasks touch it, and whether others do before or
    behind."""

    size: int
    touchers: int
    is_before: bool
    is_behind: bool


@dataclass
class Segment:
    """Tasks that run without others in between.

    Attributes:
        tasks: Their numbers.
        needs: For each, the local tasks before it, as bits.
        roots: What they touch.
        touches: For each, indices of roots.
        pairs: For each, pairs of roots that may share bytes.
        workspace: For each, bytes of its own.
        around: Bytes that are alive throughout, touched by nobody in here.
        sizes: Of the roots, in bytes.
    """

    tasks: Sequence[int]
    needs: list[int]
    roots: list[_Root]
    touches: list[list[int]]
    pairs: list[list[tuple[int, int]]]
    workspace: list[int]
    around: int

    def __post_init__(self) -> None:
        self.sizes = [root.size for root in self.roots]

    def key(self) -> tuple[object, ...]:
        """Returns what two segments of one structure have in common."""
        lists = (self.needs, self.roots, self.workspace)
        nested = (self.touches, self.pairs)
        return (*(tuple(one) for one in lists), *(tuple(map(tuple, one)) for one in nested))


def segment(all_tasks: Tasks, chosen: Sequence[int], around: int) -> Segment:
    """Returns some tasks as a segment.

    Args:
        all_tasks: Of the block.
        chosen: Numbers of tasks, in an order that works.
        around: Bytes alive throughout that none of them touches.
    """
    local = {task: i for i, task in enumerate(chosen)}
    low, high = min(chosen), max(chosen)
    names: dict[int, int] = {}
    for task in chosen:
        for root in all_tasks.touches[task]:
            names.setdefault(root, len(names))
    roots: list[_Root] = []
    for root in names:
        touchers = all_tasks.touchers[root]
        bits = sum(1 << local[task] for task in touchers if task in local)
        before = any(task < low for task in touchers)
        behind = any(task > high for task in touchers)
        roots.append(_Root(all_tasks.sizes[root], bits, before, behind))
    return Segment(
        chosen,
        [sum(1 << local[n] for n in all_tasks.needs[task] if n in local) for task in chosen],
        roots,
        [[names[root] for root in all_tasks.touches[task]] for task in chosen],
        [
            [(names[a], names[b]) for a, b in all_tasks.pairs[task] if a in names and b in names]
            for task in chosen
        ],
        [all_tasks.workspace[task] for task in chosen],
        around,
    )


@dataclass(slots=True)
class _Way:
    """How a set of tasks was reached: the peak so far, what is alive now, and the last step."""

    peak: int
    live: int
    task: int
    before: _Way | None


def best_order(part: Segment, limit: int, budget: int) -> tuple[Sequence[int], int] | None:
    """Returns the order with the lowest peak that is found, and the peak; None where none is below
    `limit` bytes.

    Args:
        part: The tasks.
        limit: Bytes; as the peak, without what is alive around the segment.
        budget: Steps that may be looked at; fewer sets are kept where the segment is long.
    """
    count = len(part.tasks)
    start = sum(root.size for root in part.roots if root.is_before)
    level = {0: _Way(0, start, -1, None)}
    width = max(1, budget // max(1, count * 4))
    for _ in range(count):
        following: dict[int, _Way] = {}
        for done, way in level.items():
            for task in range(count):
                if done >> task & 1 or part.needs[task] & ~done:
                    continue
                peak, live = _step(part, done, task, way.live)
                if (peak := max(peak, way.peak)) >= limit:
                    continue
                reached = done | 1 << task
                known = following.get(reached)
                if known is None or peak < known.peak:
                    following[reached] = _Way(peak, live, task, way)
        if len(following) > width:
            kept = sorted(following.items(), key=lambda item: (item[1].peak, item[1].live, item[0]))
            following = dict(kept[:width])
        level = following
    ends = list(level.values())
    return (_path(ends[0]), ends[0].peak) if ends else None


def _path(way: _Way | None) -> list[int]:
    found: list[int] = []
    while way is not None and way.task >= 0:
        found.append(way.task)
        way = way.before
    return found[::-1]


def _step(part: Segment, done: int, task: int, live: int) -> tuple[int, int]:
    """Returns the bytes alive while a task runs, and after it."""
    bit, ended = 1 << task, 0
    begun_roots: list[int] = []
    ended_roots: list[int] = []
    for index in part.touches[task]:
        root = part.roots[index]
        if not root.is_before and not root.touchers & done:
            begun_roots.append(index)
            live += root.size
        if not root.is_behind and not root.touchers & ~done & ~bit:
            ended_roots.append(index)
            ended += root.size
    shared = 0
    if part.pairs[task] and begun_roots and ended_roots:
        shared = shared_bytes(part.pairs[task], part.sizes, begun_roots, ended_roots)
    return live - shared + part.workspace[task], live - ended
