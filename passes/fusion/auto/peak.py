"""How many bytes are live while a block runs, and what joining two of its kernels changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ge_dialect.ge.base import FusionKind, GEOp
from ge_dialect.passes.fusion.auto.groups import Group, Groups


@dataclass
class Profile:
    """The live bytes of a block by position of the ops.

    A value is live from the kernel that makes it to the last that reads it, both included.
    Arguments, constants and what leaves the block are left out: their bytes are always reserved.

    Attributes:
        groups: The groups of the block.
        alignment: Bytes that addresses, and so sizes, are a multiple of.
        live: Bytes at each position.
        peak: The most that may be live: as many as before anything was joined.
    """

    groups: Groups
    alignment: int
    live: list[int] = field(init=False)
    peak: int = field(init=False)

    def __post_init__(self) -> None:
        self.end = max((g.position for g in self.groups.groups.values()), default=0)
        change = [0] * (self.end + 2)
        for value, group in self.groups.owner.items():
            size = 0 if value in self.groups.outside else self._size(value)
            change[group.position] += size
            change[self.death(value) + 1] -= size
        self.live, now = [], 0
        for step in change:
            now += step
            self.live.append(now)
        shared = self._in_place()
        self.peak = max((size - shared.get(i, 0) for i, size in enumerate(self.live)), default=0)

    def _in_place(self) -> dict[int, int]:
        """Bytes that results take over from operands that die there, by position."""
        shared: dict[int, int] = {}
        for group in self.groups.groups.values():
            op = group.members.get(group.position)
            dying = [value for value in group.reads if self._dies_at(value, group)]
            if not dying or not isinstance(op, GEOp):
                continue
            given: set[int] = set()
            for operand, result in op.in_place_pairs():
                value = self.groups.base(op.operands[operand])
                if result not in given and value in dying:
                    given.add(result)
                    dying.remove(value)
                    shared[group.position] = shared.get(group.position, 0) + self._size(value)
        return shared

    def _dies_at(self, value: SSAValue, group: Group) -> bool:
        return self._counts(value) and self.death(value) == group.position

    def _size(self, value: SSAValue) -> int:
        return -(-self.groups.size(value) // self.alignment) * self.alignment

    def death(self, value: SSAValue) -> int:
        """Returns the position of the last read of a value."""
        last, groups = self.groups.owner[value].position, self.groups.groups
        for number in self.groups.users.get(value, ()):
            if (position := groups[number].position) > last:
                last = position
        return last

    def excess(self, first: Group, last: Group, strict: bool = False) -> int:
        """Returns by how many bytes the peak would rise, 0 or less where it would not.

        Args:
            first, last: Two groups that would be one.
            strict: Whether to return all bytes that would be live longer.
        """
        changes = self._changes(first, last)
        longer = sum(size for size, _, _ in changes if size > 0)
        if longer == 0 or strict:
            return longer
        low = min(low for _, low, _ in changes)
        high = max(high for _, _, high in changes)
        delta = [0] * (high - low + 2)
        for size, begin, end in changes:
            delta[begin - low] += size
            delta[end - low + 1] -= size
        now = worst = 0
        for offset in range(high - low + 1):
            now += delta[offset]
            if now > 0:
                worst = max(worst, self.live[low + offset] + now - self.peak)
        return worst

    def join(self, first: Group, last: Group) -> None:
        """Notes that two groups are one, where the last one stands."""
        for size, begin, end in self._changes(first, last):
            for position in range(begin, end + 1):
                self.live[position] += size

    def _changes(self, first: Group, last: Group) -> list[tuple[int, int, int]]:
        """Bytes that become live or are no more, and at which positions."""
        if first.position > last.position:
            first, last = last, first
        found = [
            (self._size(value), death + 1, last.position)
            for value in first.reads
            if self._counts(value) and (death := self.death(value)) < last.position
        ]
        for value in first.writes:
            users = self.groups.users.get(value, {})
            if not self._counts(value):
                continue
            inner = all(number == last.number for number in users)
            end = min(self.death(value), last.position if inner else last.position - 1)
            found.append((-self._size(value), first.position, end))
        return [change for change in found if change[2] >= change[1]]

    def _counts(self, value: SSAValue) -> bool:
        return value in self.groups.owner and value not in self.groups.outside


@dataclass(frozen=True)
class Peak:
    """The most bytes that are live while groups run.

    Attributes:
        bytes: How many.
        span: The first and the last position of the ops that run then.
    """

    bytes: int
    span: tuple[int, int]


def peak_in_order(groups: Groups, alignment: int) -> Peak:
    """Returns the most bytes that are live while the groups run in their order.

    Arguments, constants and what leaves the block are left out, as in `Profile`. An elementwise op
    writes over an operand of the type of its result that dies there.

    Args:
        groups: Of a block.
        alignment: Bytes that sizes are padded to.
    """
    ordered = sorted(groups.groups.values(), key=lambda group: group.order)
    place = {group.number: index for index, group in enumerate(ordered)}
    death = {
        value: _death(value, index, groups, place)
        for index, group in enumerate(ordered)
        for value in group.writes
        if value not in groups.outside
    }
    change = [0] * (len(ordered) + 1)
    for value, last in death.items():
        size = -(-groups.size(value) // alignment) * alignment
        change[place[groups.owner[value].number]] += size
        change[last + 1] -= size
    now, peak, span = 0, 0, (0, 0)
    for index, group in enumerate(ordered):
        now += change[index]
        dying = [value for value in group.reads if death.get(value) == index]
        size = now - sum(_taken_over(group, dying, groups, alignment))
        if size > peak:
            peak, span = size, (min(group.members), max(group.members))
    return Peak(peak, span)


def _death(value: SSAValue, own: int, groups: Groups, place: dict[int, int]) -> int:
    return max((place[number] for number in groups.users.get(value, ())), default=own)


def _taken_over(
    group: Group, dying: list[SSAValue], groups: Groups, alignment: int
) -> Iterator[int]:
    """Yields the bytes of each operand that a result of a group may be written over."""
    if not dying or any(
        op.FUSION_KIND is not FusionKind.ELEMENTWISE for op in group.leaves.values()
    ):
        return
    for result in group.writes:
        for value in dying:
            if value.type == result.type:
                dying.remove(value)
                yield -(-groups.size(value) // alignment) * alignment
                break
