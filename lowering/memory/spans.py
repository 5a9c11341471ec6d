"""Spans of time in which the same buffers are alive, and who meets whom in them, as arrays.

A clock of a stream only moves forward, and two lives that overlap on any one clock conflict. So the
spans of each stream are sets of buffers that all conflict with each other: together they need the
sum of their bytes. On one stream the spans say everything, and lives that no span connects are
problems of their own. On several, groups of buffers that all conflict are added to the spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

    from ge_dialect.lowering.memory.conflicts import Conflicts
    from ge_dialect.lowering.memory.problem import Problem

MAX_MEMBERS = 16_000_000
MAX_NEAR = 2_000_000
"""Entries that the tables of buffers by span, and of conflicts by buffer, may have."""

MAX_SEARCHED = 2_000
"""Buffers that are searched with going back."""


class Spans:
    """Some buffers of a problem that conflict with none of the others.

    Buffers have numbers of their own here, from 0. One number past the end stands for no buffer in
    tables whose rows are padded.

    Attributes:
        ids: Index of each buffer in the problem.
        sizes, alignments: In bytes.
        given: Offset where the buffer must lie, or -1.
        lengths: Of the lives, in tasks over all streams.
        single: Whether there is one stream.
        total: How many spans there are.
        first, last: Half-open range of spans of each buffer; without meaning on several streams.
        where: The spans of each buffer: a slice on one stream, else indices.
        around: Range of the spans of each buffer and of those that it conflicts with.
        members: `[spans, most]`, the buffers that are alive in each span, padded.
        near: The buffers that conflict with each.
        load: Bytes that are alive in each span.
    """

    def __init__(self, problem: Problem, conflicts: Conflicts, ids: npt.NDArray[Any]):
        import numpy as np

        buffers = [problem.buffers[i] for i in map(int, ids)]
        self.ids = ids
        self.count = count = len(ids)
        self.sizes: npt.NDArray[Any] = np.array([b.footprint for b in buffers], dtype=np.int64)
        self.alignments: npt.NDArray[Any] = np.array([b.alignment for b in buffers], np.int64)
        given = [-1 if b.offset is None else b.offset for b in buffers]
        self.given: npt.NDArray[Any] = np.array(given, dtype=np.int64)
        starts, ends = conflicts.starts[ids], conflicts.ends[ids]
        self.single = starts.shape[1] == 1
        self.lengths: npt.NDArray[Any] = np.maximum(ends - starts, 0).sum(axis=1)
        numbers = np.full(len(problem.buffers), -1, dtype=np.int64)
        numbers[ids] = np.arange(count)
        rows = (numbers[conflicts.near(int(i))] for i in ids)
        self.near = [row[row >= 0] for row in rows]
        begins, stops = self._find_spans(starts, ends)
        self.first, self.last = begins[:, 0], stops[:, 0]
        self._list(begins, stops)
        self.around = self._around()
        self.load = np.append(self.sizes, 0)[self.members].sum(axis=1)

    def _find_spans(
        self, starts: npt.NDArray[Any], ends: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """`[buffers, streams]`: first span of each buffer, and the one past its last."""
        import numpy as np

        begins, stops = np.empty_like(starts), np.empty_like(ends)
        self.total = 0
        for stream in range(starts.shape[1]):
            start, end = starts[:, stream], ends[:, stream]
            times = np.unique(np.concatenate([start, end]))
            begins[:, stream] = np.searchsorted(times, start) + self.total
            stops[:, stream] = np.searchsorted(times, np.maximum(start, end)) + self.total
            self.total += len(times)
        return begins, stops

    def _list(self, begins: npt.NDArray[Any], stops: npt.NDArray[Any]) -> None:
        """Lists the spans of each buffer, and the buffers of each span."""
        import numpy as np

        lengths = stops - begins
        flat = _ranges(begins.ravel(), lengths.ravel())
        owners = np.repeat(np.arange(self.count), lengths.sum(axis=1))
        if not self.single:
            groups = self._groups()
            sizes = [len(group) for group in groups]
            more = np.repeat(np.arange(self.total, self.total + len(groups)), sizes)
            self.total += len(groups)
            owners = np.concatenate([owners, *groups])
            flat = np.concatenate([flat, more])
        by_owner = np.argsort(owners, kind="stable")
        by_span = np.argsort(flat, kind="stable")
        counts = np.bincount(flat, minlength=self.total)
        self.members = _padded(owners[by_span], counts, self.count)
        flat, counts = flat[by_owner], np.bincount(owners, minlength=self.count)
        ends = np.cumsum(counts)
        self.where: Sequence[Any] = (
            [slice(a, b) for a, b in zip(begins[:, 0].tolist(), stops[:, 0].tolist(), strict=True)]
            if self.single
            else np.split(flat, ends[:-1])
        )
        # One past the end, for buffers without spans.
        self._flat = np.insert(flat, ends, self.total)
        self._cuts = ends - counts + np.arange(self.count)

    def _groups(self) -> list[npt.NDArray[Any]]:
        """Buffers that all conflict, though not on one stream: around each, the largest first.

        Where there are too many conflicts, only around the largest buffers.
        """
        import numpy as np

        near: list[frozenset[int]] = [frozenset(row.tolist()) for row in self.near]
        order: list[int] = np.lexsort((np.arange(self.count), -self.sizes)).tolist()
        rank = {buffer: place for place, buffer in enumerate(order)}
        found: dict[tuple[int, ...], None] = {}
        work = 0
        for buffer in order:
            group, left = [buffer], near[buffer]
            while left and work < MAX_NEAR:
                work += len(left)
                group.append(min(left, key=rank.__getitem__))
                left &= near[group[-1]]
            found[tuple(sorted(group))] = None
        return [np.array(group, dtype=np.int64) for group in found]

    def _around(self) -> list[tuple[int, int]]:
        if not self.single:
            return [(0, self.total)] * self.count
        begins, ends = self.first.tolist(), self.last.tolist()
        for buffer, near in enumerate(self.near):
            if len(near):
                begins[buffer] = min(begins[buffer], int(self.first[near].min()))
                ends[buffer] = max(ends[buffer], int(self.last[near].max()))
        return list(zip(begins, ends, strict=True))

    @cached_property
    def near_table(self) -> npt.NDArray[Any]:
        """`[buffers, most]`: the buffers that conflict with each, padded."""
        import numpy as np

        counts = np.array([len(row) for row in self.near], dtype=np.int64)
        return _padded(np.concatenate(self.near), counts, self.count)

    @property
    def searchable(self) -> bool:
        """Whether there are few enough buffers and conflicts to search with going back."""
        return (
            self.count <= MAX_SEARCHED and self.count * (max(map(len, self.near)) + 1) <= MAX_NEAR
        )

    def heaviest(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns for each buffer the largest of the values that its spans have, 0 at least."""
        import numpy as np

        heaviest: npt.NDArray[Any] = np.maximum.reduceat(
            np.append(values, 0)[self._flat], self._cuts
        )
        return heaviest

    def span(self, buffer: int, place: int) -> int:
        """Returns one of the spans of a buffer."""
        return self.first[buffer] + place if self.single else self.where[buffer][place]

    def parts(self, buffers: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Returns buffers in groups that have no span in common, each in the order given.

        On several streams all are one group.
        """
        import numpy as np

        if not self.single:
            return [buffers]
        by_start = np.argsort(self.first[buffers], kind="stable")
        ordered = buffers[by_start]
        reach = np.maximum.accumulate(self.last[ordered])
        label = np.zeros(len(buffers), dtype=np.int64)
        label[by_start[1:]] = np.cumsum(self.first[ordered[1:]] >= reach[:-1])
        return [buffers[label == part] for part in range(int(label.max(initial=-1)) + 1)]


def components(problem: Problem, conflicts: Conflicts) -> list[Spans] | None:
    """Returns the independent parts of a problem, or None where its tables would be too large.

    Buffers without bytes are in none.
    """
    import numpy as np

    used = np.array([i for i, b in enumerate(problem.buffers) if b.footprint], dtype=np.int64)
    if not len(used):
        return []
    groups = [used]
    if conflicts.starts.shape[1] == 1:
        starts, ends = conflicts.starts[used, 0], conflicts.ends[used, 0]
        order = np.argsort(starts, kind="stable")
        reach = np.maximum.accumulate(ends[order])
        cuts = (starts[order][1:] >= reach[:-1]).nonzero()[0] + 1
        groups = [np.sort(group) for group in np.split(used[order], cuts)]
    if not conflicts.sparse or any(_most_members(conflicts, g) > MAX_MEMBERS for g in groups):
        return None
    return [Spans(problem, conflicts, group) for group in groups]


def _most_members(conflicts: Conflicts, ids: npt.NDArray[Any]) -> int:
    """A bound on the entries of the table of members; exact on one stream."""
    import numpy as np

    entries = 0
    for start, end in zip(conflicts.starts[ids].T, conflicts.ends[ids].T, strict=True):
        times = np.concatenate([start, np.maximum(start, end)])
        order = np.lexsort([np.arange(len(times)) < len(ids), times])
        alive = np.cumsum(np.where(order < len(ids), 1, -1))
        entries += len(times) * int(alive.max())
    return entries


def _ranges(begins: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The numbers of ranges, one range after the other."""
    import numpy as np

    ends = np.cumsum(lengths)
    return np.repeat(begins - (ends - lengths), lengths) + np.arange(int(lengths.sum()))


def _padded(flat: npt.NDArray[Any], counts: npt.NDArray[Any], fill: int) -> npt.NDArray[Any]:
    """Rows of several lengths, given one after the other, as a table."""
    import numpy as np

    width = max(int(counts.max(initial=0)), 1)
    kind = np.int64 if len(counts) * width < MAX_NEAR else np.int32
    table: npt.NDArray[Any] = np.full((len(counts), width), fill, dtype=kind)
    rows = np.repeat(np.arange(len(counts)), counts)
    table[rows, _ranges(np.zeros_like(counts), counts)] = flat
    return table
