"""Finds the longest run of equal blocks in a function.

Ops are compared by class, properties and result types; what may differ between blocks are weights
and arguments of one type (`ge_dialect/repeats.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.dialects.builtin import LocationAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.numbers import Numbers
from ge_dialect.ge.types import tensor_of
from ge_dialect.repeats import Items, Outside, Place, Repeats, find_repeats


@dataclass
class Run:
    """Equal blocks of a function, one after the other.

    Attributes:
        blocks: Their ops without constants, in order.
        places: Where in the run an op is.
        parameters: For each weight or argument of its own: the block, and which one it is there.
    """

    blocks: list[list[Operation]]
    places: dict[Operation, Place] = field(default_factory=dict[Operation, Place])
    parameters: dict[SSAValue, Place] = field(default_factory=dict[SSAValue, Place])
    _locations: dict[int, list[LocationAttr]] = field(default_factory=dict[int, list[LocationAttr]])

    def __post_init__(self) -> None:
        for number, block in enumerate(self.blocks):
            self.places |= {op: (number, position) for position, op in enumerate(block)}

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return len(self.blocks)

    @property
    def size(self) -> int:
        """How many ops each has but the last one."""
        return len(self.blocks[0])

    @property
    def size_of_last(self) -> int:
        """How many ops the last one has, which may lack some at its end."""
        return len(self.blocks[-1])

    @property
    def skipped(self) -> range:
        """The numbers of the blocks that are copies in the end."""
        return range(1, self.count - 1)

    @cached_property
    def own(self) -> dict[Place, SSAValue]:
        """The parameters of each block."""
        return {place: value for value, place in self.parameters.items()}

    def locations(self, number: int) -> Sequence[LocationAttr]:
        """Returns the locations of the ops of a block."""
        if (known := self._locations.get(number)) is None:
            known = self._locations[number] = [op.location for op in self.blocks[number]]
        return known

    def hint(self, number: int, template: str | None) -> str | None:
        """Returns what a result is called that is to a block what one called `template` is to the
        first; of that, names of the last block are of the next."""
        if template is None or (found := self._hints.get(template)) is None:
            return template
        offset, position, index = found
        return self.blocks[number + offset][position].results[index].name_hint

    @cached_property
    def _hints(self) -> dict[str, tuple[int, int, int]]:
        """By name: how many blocks behind the first the one is that has it, and where there."""
        found: dict[str, tuple[int, int, int]] = {}
        for offset, block in enumerate((self.blocks[0], self.blocks[-1])):
            for position, op in enumerate(block):
                for index, result in enumerate(op.results):
                    if (name := result.name_hint) is not None:
                        found.setdefault(name, (offset, position, index))
        return found

    def parameter(self, place: Place) -> ConstantOp | int:
        """Returns a parameter: a new constant, or the index of an argument."""
        value = self.own[place]
        return value.index if isinstance(value, BlockArgument) else constant_again(value)

    def alternatives(self, slot: int) -> Iterable[SSAValue | None]:
        """Yields what the blocks have in the place of a parameter."""
        numbers = range(self.count)
        return (self.own[number, slot] for number in numbers if (number, slot) in self.own)


def constant_again(value: SSAValue) -> ConstantOp:
    """Returns a constant like the one that a value is the result of."""
    owner = value.owner
    assert isinstance(owner, ConstantOp)
    made = ConstantOp(owner.value, tensor_of(value))
    made.location = owner.location
    made.result.name_hint = value.name_hint
    return made


def find_run(block: Block, least_repeats: int, *, close: bool = True) -> Run | None:
    """Returns the longest run of at least `least_repeats` equal blocks, or None.

    Args:
        block: Of the function.
        least_repeats: Fewer blocks are no run.
        close: Whether little is left over, see `find_repeats`.
    """
    found = _Reading()
    for op in block.ops:
        if type(op) is not ConstantOp and type(op) is not ReturnOp:
            if not isinstance(op, GEOp) or op.regions or op.attributes:
                return None
            found.add(op)
    repeats = find_repeats(found.items, least_repeats, close=close)
    return None if repeats is None else found.run(repeats)


@dataclass
class _Reading:
    """The ops of a function as items.

    Attributes:
        items: What is compared.
        ops: In the same order.
        values: By number; those that no op makes, constants and arguments, in the order of theirs.
    """

    items: Items = field(default_factory=Items)
    ops: list[Operation] = field(default_factory=list[Operation])
    outside: list[SSAValue] = field(default_factory=list[SSAValue])
    _known: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    _numbers: Numbers = field(default_factory=Numbers)
    _kinds: dict[Hashable, int] = field(default_factory=dict[Hashable, int])

    def add(self, op: Operation) -> None:
        known = self._known
        reads = [
            self._outside(value) if (number := known.get(value)) is None else number
            for value in operands_of(op)
        ]
        self.items.add(kind_of(op, self._numbers, self._kinds), reads, len(op.results))
        first = self.items.first[-1]
        for index, result in enumerate(op.results):
            known[result] = first + index
        self.ops.append(op)

    def _outside(self, value: SSAValue) -> int:
        numbers, owner = self._numbers, value.owner
        if type(owner) is ConstantOp:
            type_ = numbers.of(value.type)
            constant = self._number("constant", numbers.of(owner.value), type_)
            weight = isinstance(owner.value, WeightAttr)
            outside = Outside(constant, self._number("weight", type_) if weight else -1)
        elif isinstance(value, BlockArgument):
            outside = Outside(parameter=self._number("argument", numbers.of(value.type)))
        else:
            outside = Outside()
        self.outside.append(value)
        self._known[value] = self.items.add_outside(outside)
        return self._known[value]

    def _number(self, *what: Hashable) -> int:
        return self._kinds.setdefault(what, len(self._kinds))

    def run(self, found: Repeats) -> Run:
        """Returns the ops of what was found."""
        run = Run(
            [
                self.ops[items.start : items.stop]
                for items in map(found.items_of, range(found.count))
            ]
        )
        run.parameters |= {
            self.outside[~number]: place for number, place in found.parameters.items()
        }
        return run


def kind_of(op: Operation, numbers: Numbers, known: dict[Hashable, int]) -> int:
    """Returns a number for an op; ops that could take each other's place have the same."""
    given = op.properties
    properties = tuple([(name, numbers.of(given[name])) for name in sorted(given)])
    types = tuple([numbers.of(result.type) for result in op.results])
    return known.setdefault((type(op), len(operands_of(op)), properties, types), len(known))
