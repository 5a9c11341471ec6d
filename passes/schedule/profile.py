"""The bytes that are alive while each op of an order runs: what `ge-bufferize` will do with it.

Exact for the tasks of a block on one stream: views, results in place of operands, joined values and
outputs counted as the plan has them. Source of the rule: a value is alive from the start of the
task that writes it to the end of the last one that reads it, as in Chaitin's live ranges (1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from ge_dialect.passes.schedule.model import BlockModel, Unit


@dataclass(frozen=True)
class Profile:
    """What an order costs.

    Attributes:
        live: Bytes alive while each unit of the order runs.
        peak: The most of them, in bytes.
        moment: Position of the first unit at which that many are alive.
    """

    live: Sequence[int]
    peak: int
    moment: int


@dataclass
class _Run:
    """What lies where while an order is gone through; storages are numbered as they are made."""

    model: BlockModel
    place: list[int] = field(default_factory=list[int])
    remaining: list[int] = field(default_factory=list[int])
    sizes: list[int] = field(default_factory=list[int])
    raw: list[int] = field(default_factory=list[int])
    takeable: list[bool] = field(default_factory=list[bool])
    first: list[int] = field(default_factory=list[int])
    last: list[int] = field(default_factory=list[int])

    def __post_init__(self) -> None:
        model = self.model
        self.place = [-1] * len(model.sizes)
        for root, fixed in enumerate(model.fixed):
            if fixed:
                self.make(root, 0, root in model.takeable)
        for value in model.values:
            if model.fixed[value.root] and not value.is_view:
                self.remaining[self.place[value.root]] += value.uses

    def make(self, root: int, size: int, takeable: bool) -> int:
        """Returns a new storage, where a root lies from now on."""
        self.place[root] = len(self.sizes)
        self.sizes.append(size)
        self.raw.append(self.model.sizes[root])
        self.takeable.append(takeable)
        self.remaining.append(0)
        self.first.append(-1)
        self.last.append(-1)
        return self.place[root]

    def touch(self, storage: int, position: int) -> None:
        """Notes that a task uses a storage."""
        if self.first[storage] < 0:
            self.first[storage] = position
        self.last[storage] = position

    def step(self, unit: Unit, position: int) -> None:
        """Lets a unit run."""
        values = self.model.values
        if not unit.is_free:
            for number in unit.copied:
                self.touch(self.place[values[number].root], position)
            for result in unit.results:
                storage = self.place[values[result].root]
                if storage < 0:
                    storage = self.target(unit, result)
                self.touch(storage, position)
        for number in unit.reads:
            self.remaining[self.place[values[number].root]] -= 1
        for result in unit.results:
            self.remaining[self.place[values[result].root]] += values[result].uses

    def target(self, unit: Unit, result: int) -> int:
        """Returns the storage that a result is written to."""
        model = self.model
        root = model.values[result].root
        wanted = model.wanted.get(root)
        shared = () if root in model.joined else unit.pairs
        pairs = [a for a, b in shared if b == result] if shared else ()
        if wanted is not None:
            storage = self.place[wanted]
            left = self.remaining[storage]
            taken = left == 1 and any(model.values[a].root == wanted for a in pairs)
            if left == 0 or taken:
                self.place[root] = storage
                return storage
        results = unit.results if pairs else ()
        others = [self.place[model.values[other].root] for other in results]
        for number in pairs:
            place = self.place[model.values[number].root]
            if place not in others and self._is_last_read(unit, number):
                self.place[root] = place
                return place
        return self.make(root, model.footprint(root), True)

    def _is_last_read(self, unit: Unit, number: int) -> bool:
        value = self.model.values[number]
        storage = self.place[value.root]
        if not self.takeable[storage] or value.size != self.raw[storage]:
            return False
        return self.remaining[storage] == unit.reads.count(number) == 1

    def end(self, count: int) -> None:
        """Accounts for what the block gives: places for that are there for as long as it runs.

        What could not be written there is copied at the end.
        """
        taken: set[int] = set()
        for number in self.model.outputs:
            if number is None:
                continue
            storage = self.place[self.model.values[number].root]
            if storage in taken or not self._is_written_out(number, storage):
                self.touch(storage, count)
            else:
                self.sizes[storage] = 0
            taken.add(storage)

    def _is_written_out(self, number: int, storage: int) -> bool:
        value = self.model.values[number]
        if self.model.is_loop:
            return self.sizes[storage] == 0
        is_whole = self.raw[storage] == value.size
        return self.takeable[storage] and is_whole and (self.model.is_function or not value.is_view)


def profile_of(model: BlockModel, order: Sequence[int]) -> Profile:
    """Returns what an order of a model's units costs; linear in what they touch.

    Args:
        model: Of a block.
        order: Numbers of all units, producers before users.
    """
    run = _Run(model)
    for position, number in enumerate(order):
        run.step(model.units[number], position)
    run.end(len(order))
    changes = [0] * (len(order) + 2)
    for first, last, size in zip(run.first, run.last, run.sizes, strict=True):
        if size and first >= 0:
            changes[first] += size
            changes[last + 1] -= size
    live = list(accumulate(changes[:-1]))
    for position, number in enumerate(order):
        live[position] += model.units[number].workspace
    peak = max(live, default=0)
    return Profile(live, peak, live.index(peak) if live else 0)
