"""The tasks of a block as bit sets and counts: what the search for an order works on.

Views are left out: they move no byte and can be anywhere between producer and reader. A root is
alive from the first task that touches it to the last, so an order read backwards costs the same.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from ge_dialect.passes.schedule.model import BlockModel, Unit, has_effect


@dataclass
class Tasks:
    """Tasks in the order of the block.

    Attributes:
        units: The unit of each task.
        needs: Tasks that have to run before each.
        touches: Roots that each reads or writes and that cost something.
        touchers: Tasks that touch each root.
        pairs: (read root, written root) of each that may share bytes.
        sizes: Of each root, rounded, in bytes.
        workspace: Bytes that only the task itself needs.
    """

    units: list[int] = field(default_factory=list[int])
    needs: list[list[int]] = field(default_factory=list[list[int]])
    touches: list[list[int]] = field(default_factory=list[list[int]])
    touchers: list[list[int]] = field(default_factory=list[list[int]])
    pairs: list[list[tuple[int, int]]] = field(default_factory=list[list[tuple[int, int]]])
    sizes: list[int] = field(default_factory=list[int])
    workspace: list[int] = field(default_factory=list[int])

    def reversed(self) -> Tasks:
        """Returns the same tasks with time running backwards, in the same numbers."""
        after: list[list[int]] = [[] for _ in self.units]
        for task, needs in enumerate(self.needs):
            for other in needs:
                after[other].append(task)
        return Tasks(
            self.units, after, self.touches, self.touchers, self.pairs, self.sizes, self.workspace
        )

    def permuted(self, order: Sequence[int]) -> Tasks:
        """Returns the tasks numbered by their positions in an order."""
        position = {task: i for i, task in enumerate(order)}
        return Tasks(
            [self.units[task] for task in order],
            [[position[need] for need in self.needs[task]] for task in order],
            [self.touches[task] for task in order],
            [sorted(position[task] for task in touchers) for touchers in self.touchers],
            [self.pairs[task] for task in order],
            self.sizes,
            [self.workspace[task] for task in order],
        )


def tasks_of(model: BlockModel) -> Tasks:
    """Returns the tasks of a model; linear in what they read."""
    tasks = Tasks(sizes=[model.footprint(root) for root in range(len(model.sizes))])
    for root in _ports(model):
        tasks.sizes[root] = 0
    sources: dict[int, tuple[int, ...]] = {}
    last_effect: int | None = None
    for number, unit in enumerate(model.units):
        needs = dict.fromkeys(task for value in unit.reads for task in sources.get(value, ()))
        if unit.is_free:
            given = tuple(needs)
        else:
            task = len(tasks.units)
            if has_effect(unit.op):
                needs |= {} if last_effect is None else {last_effect: None}
                last_effect = task
            _add(tasks, model, number, unit, list(needs))
            given = (task,)
        sources.update(dict.fromkeys(unit.results, given))
    tasks.touchers = [[] for _ in tasks.sizes]
    for task, roots in enumerate(tasks.touches):
        for root in roots:
            tasks.touchers[root].append(task)
    return tasks


def _ports(model: BlockModel) -> list[int]:
    """Returns roots that cost nothing: fixed ones, and what the block gives."""
    fixed = [root for root, is_fixed in enumerate(model.fixed) if is_fixed]
    values = [model.values[number] for number in model.outputs if number is not None]
    return fixed + [value.root for value in values if value.size == model.sizes[value.root]]


def _add(tasks: Tasks, model: BlockModel, number: int, unit: Unit, needs: list[int]) -> None:
    values = model.values
    touched = [values[v].root for v in (*unit.copied, *unit.results)]
    tasks.units.append(number)
    tasks.needs.append(needs)
    tasks.touches.append([r for r in dict.fromkeys(touched) if tasks.sizes[r]])
    tasks.pairs.append(
        [
            (values[a].root, values[b].root)
            for a, b in unit.pairs
            if values[a].size == model.sizes[values[a].root] and tasks.sizes[values[a].root]
        ]
        if unit.pairs
        else []
    )
    tasks.workspace.append(unit.workspace)


@dataclass
class State:
    """How far an order has come.

    Attributes:
        tasks: What there is to run.
        left: Tasks that have yet to touch each root.
        live: Bytes that are alive between tasks.
        peak: The most that were alive so far.
    """

    tasks: Tasks
    left: list[int] = field(default_factory=list[int])
    live: int = 0
    peak: int = 0

    def __post_init__(self) -> None:
        self.left = [len(touchers) for touchers in self.tasks.touchers]

    def change(self, task: int) -> int:
        """Returns by how many bytes `live` would change."""
        tasks, left, change = self.tasks, self.left, 0
        for root in tasks.touches[task]:
            if left[root] == len(tasks.touchers[root]):
                change += tasks.sizes[root]
            if left[root] == 1:
                change -= tasks.sizes[root]
        return change

    def run(self, task: int) -> list[int]:
        """Runs a task; returns the roots whose next toucher is another case from now on."""
        tasks, left = self.tasks, self.left
        changed: list[int] = []
        begun: set[int] = set()
        ended: set[int] = set()
        for root in tasks.touches[task]:
            if left[root] == len(tasks.touchers[root]):
                begun.add(root)
                self.live += tasks.sizes[root]
            left[root] -= 1
            if left[root] == 0:
                ended.add(root)
            elif root in begun or left[root] == 1:
                changed.append(root)
        pairs = tasks.pairs[task]
        shared = shared_bytes(pairs, tasks.sizes, begun, ended) if pairs else 0
        if (live := self.live - shared + tasks.workspace[task]) > self.peak:
            self.peak = live
        for root in ended:
            self.live -= tasks.sizes[root]
        return changed


def shared_bytes(
    pairs: Sequence[tuple[int, int]],
    sizes: Sequence[int],
    begun: Collection[int],
    ended: Collection[int],
) -> int:
    """Returns the bytes that a task does not need twice, since it writes over what it reads.

    Args:
        pairs: Of the task.
        sizes: Of roots, in bytes.
        begun, ended: Roots that are alive from it on, and up to it; in either direction of time.
    """
    shared = 0
    used: set[int] = set()
    for a, b in pairs:
        if a in used or b in used:
            continue
        if (a in ended and b in begun) or (b in ended and a in begun):
            used |= {a, b}
            shared += min(sizes[a], sizes[b])
    return shared


def peaks(tasks: Tasks, order: Sequence[int], segments: Sequence[range]) -> list[int]:
    """Returns the most bytes alive in each segment of an order."""
    state, found = State(tasks), list[int]()
    for segment in segments:
        state.peak = 0
        for position in segment:
            state.run(order[position])
        found.append(state.peak)
    return found
