"""Puts the blocks back that were left out: copies of an optimised one, with their own weights."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import LocationAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.ge.constants import ConstantOp, constant_attr
from ge_dialect.ge.copied import CopiedRegion
from ge_dialect.ge.sealed import SealedWeight
from ge_dialect.passes.repeats.find import constant_again
from ge_dialect.passes.repeats.shorten import Shortened
from ge_dialect.repeats import Place


@dataclass
class Expansion:
    """The optimised short function, and what it becomes.

    Attributes:
        short: With the optimised function in its module.
        blocks: The ops of the four blocks that were optimised, constants left out.
        places: Block and position of each of them.
        copies: The ops of each further block.
        constants: What the copies read.
        bodies: For each body of a kernel that is copied, what its copies are made from.
    """

    short: Shortened
    blocks: list[list[Operation]] = field(default_factory=list[list[Operation]])
    places: dict[Operation, Place] = field(default_factory=dict[Operation, Place])
    copies: dict[int, list[Operation]] = field(default_factory=dict[int, list[Operation]])
    constants: list[Operation] = field(default_factory=list[Operation])
    bodies: dict[Region, Region | None] = field(default_factory=dict[Region, Region | None])

    def expand(self) -> bool:
        """Makes the whole function what the short one has become; False, nothing done, if it must
        not: a pass looked into a weight, or did with one block what it did not with the next."""
        if self.short.opened or not self._split() or not self._is_regular():
            return False
        whole = self._returned()
        if whole is None:
            return False
        self._copy_blocks()
        self._replace(whole)
        return True

    def _split(self) -> bool:
        """Finds the blocks in the optimised function; False where their ops are mingled."""
        last = self.short.blocks.count
        numbers = {0: 0, 1: 1, last - 2: 2, last - 1: 3}
        self.blocks = [[], [], [], []]
        current = 0
        for op in self.short.block.ops:
            if isinstance(op, ConstantOp | ReturnOp):
                continue
            if not (found := self.short.names.blocks_of(op)):
                if self.blocks[2] and not self.blocks[3]:
                    return False
                continue
            number = numbers[found[0]]
            if number < current:
                return False
            current = number
            self.places[op] = (number, len(self.blocks[number]))
            self.blocks[number].append(op)
        return bool(self.blocks[1]) and len(self.blocks[1]) == len(self.blocks[2])

    def _is_regular(self) -> bool:
        """Whether the two inner blocks came out alike, and nobody reads past the next block."""
        for one, other in zip(self.blocks[1], self.blocks[2], strict=True):
            alike = (
                type(one) is type(other)
                and one.properties == other.properties
                and one.attributes == other.attributes
                and len(one.regions) == len(other.regions)
                and [r.type for r in one.results] == [r.type for r in other.results]
                and len(operands_of(one)) == len(operands_of(other))
            )
            if not alike or not all(map(self._match, operands_of(one), operands_of(other))):
                return False
            if not all(map(Region.is_structurally_equivalent, one.regions, other.regions)):
                return False
        return all(
            isinstance(use.operation, ReturnOp)
            or self.places.get(use.operation, (-1, 0))[0] in (1, 2)
            for op in self.blocks[1]
            for result in op.results
            for use in result.uses
        )

    def _match(self, one: SSAValue, other: SSAValue) -> bool:
        """Whether an operand in the second block is to it what another is to the third."""
        if one is other:
            return self._number(one) < 1
        if one.type != other.type:
            return False
        mine, theirs = self._place(one), self._place(other)
        if theirs is not None:
            if mine is None or _index(one) != _index(other):
                return False
            return mine[0] + 1 == theirs[0] and (mine[0] == 0 or mine[1] == theirs[1])
        if mine is not None:
            return False
        a, b = self.short.parameter(one), self.short.parameter(other)
        if a is not None or b is not None:
            return (
                a is not None
                and b is not None
                and a[1] == b[1]
                and (a[0], b[0])
                == (
                    1,
                    self.short.blocks.count - 2,
                )
            )
        return constant_attr(one) is not None and constant_attr(one) == constant_attr(other)

    def _place(self, value: SSAValue) -> Place | None:
        return self.places.get(value.owner) if isinstance(value, OpResult) else None

    def _number(self, value: SSAValue) -> int:
        return -1 if (place := self._place(value)) is None else place[0]

    def _returned(self) -> list[SSAValue | tuple[int, Place]] | None:
        """Returns what the whole function returns: values of the short one, and block, position
        and index of results of copies; None where no op of the second block makes such a result."""
        now = operands_of(_last(self.short.block.last_op))
        found: list[SSAValue | tuple[int, Place]] = []
        for index, number in self.short.returned:
            value = now[index]
            if number is None:
                found.append(value)
                continue
            if (spot := self._place(value)) is None or spot[0] != 1:
                return None
            found.append((number, (spot[1], _index(value))))
        return found

    def _copy_blocks(self) -> None:
        before = self.blocks[1]
        for number in self.short.blocks.skipped:
            copy = BlockCopy(self, number, before)
            before = self.copies[number] = copy.make()
            self.constants += copy.constants.values()
        for op in self.blocks[2]:
            for index, value in enumerate(operands_of(op)):
                if (place := self._place(value)) is not None and place[0] == 1:
                    op.operands[index] = before[place[1]].results[_index(value)]

    def kept_apart(self, body: Region) -> Region | None:
        """Returns a copy of a body that nobody changes; None where it is not one block of plain
        ops that see nothing around it."""
        if body not in self.bodies:
            parent = body.parent
            plain = (
                parent is not None
                and parent.has_trait(IsolatedFromAbove)
                and len(body.blocks) == 1
                and not any(op.regions or op.successors for op in body.block.ops)
            )
            self.bodies[body] = body.clone() if plain else None
        return self.bodies[body]

    def _replace(self, whole: list[SSAValue | tuple[int, Place]]) -> None:
        """Makes the optimised block the body of the function, with the copies in it."""
        region, block = self.short.function.body, self.short.block
        for op in block.ops:
            if not isinstance(op, ReturnOp):
                self._restore(op)
        added = [*self.constants, *(op for copy in self.copies.values() for op in copy)]
        block.insert_ops_before(added, self.blocks[2][0])
        last = _last(block.last_op)
        last.operands = [
            self.copies[value[0]][value[1][0]].results[value[1][1]]
            if isinstance(value, tuple)
            else value
            for value in whole
        ]
        for old in tuple(region.blocks):
            region.detach_block(old)
        short = block.parent_region()
        assert short is not None
        short.detach_block(block)
        region.add_block(block)

    def _restore(self, op: Operation) -> None:
        """Gives an op of the short function its own location, and its weight."""
        names = self.short.names
        is_second = self.places.get(op, (0, 0))[0] == 1
        for inner in op.walk() if op.regions else (op,):
            inner.location = (names.second if is_second else names.kept)(inner.location)
        if isinstance(op, ConstantOp) and isinstance(op.value, WeightAttr):
            sealed = op.value.data.weight
            if isinstance(sealed, SealedWeight):
                op.properties["value"] = sealed.whole


@dataclass
class BlockCopy:
    """One copy of the third optimised block.

    Attributes:
        of: The optimised function.
        number: Of the block in the whole one.
        before: The optimised ops of the block before it.
        constants: What was made for it, by what it is there for.
    """

    of: Expansion
    number: int
    before: list[Operation]
    ops: list[Operation] = field(default_factory=list[Operation])
    constants: dict[SSAValue, ConstantOp] = field(default_factory=dict[SSAValue, ConstantOp])

    def make(self) -> list[Operation]:
        """Returns the ops, in no block yet."""
        for position, op in enumerate(self.of.blocks[2]):
            like = operands_of(self.of.blocks[1][position])
            copy = type(op).create(
                operands=[self._operand(*pair) for pair in zip(operands_of(op), like, strict=True)],
                result_types=[result.type for result in op.results],
                properties=op.properties,
                attributes=op.attributes,
                regions=[self._region(region) for region in op.regions],
                location=self._location(op),
            )
            self._name(copy, op)
            self.ops.append(copy)
        return self.ops

    def _location(self, op: Operation) -> LocationAttr:
        return self.of.short.names.copied(op, self.number)

    def _name(self, copy: Operation, like: Operation) -> None:
        for mine, theirs in zip(copy.results, like.results, strict=True):
            if (name := theirs.name_hint) is not None:
                mine.name_hint = self.of.short.blocks.hint(self.number, name)

    def _region(self, region: Region) -> Region:
        """Returns the body of a kernel, with the names of this block."""
        if (like := self.of.kept_apart(region)) is None:
            copied = region.clone()
            for op in copied.walk():
                op.location = self._location(op)
                self._name(op, op)
            return copied
        return CopiedRegion(like, lambda: self._block(like.block))

    def _block(self, like: Block) -> Block:
        """Returns a block of plain ops again, with the names of this block."""
        block = Block(arg_types=like.arg_types)
        values: dict[SSAValue, SSAValue] = dict(zip(like.args, block.args, strict=True))
        for theirs, mine in zip(like.args, block.args, strict=True):
            mine.name_hint, mine.location = theirs.name_hint, theirs.location
        for op in like.ops:
            copy = type(op).create(
                operands=[values[value] for value in operands_of(op)],
                result_types=[result.type for result in op.results],
                properties=op.properties,
                attributes=op.attributes,
                location=self._location(op),
            )
            self._name(copy, op)
            values.update(zip(op.results, copy.results, strict=True))
            block.add_op(copy)
        return block

    def _operand(self, value: SSAValue, like: SSAValue) -> SSAValue:
        if isinstance(value, OpResult) and (place := self.of.places.get(value.owner)) is not None:
            if place[0] == 0:  # one for all blocks
                return value
            return (self.ops if place[0] == 2 else self.before)[place[1]].results[value.index]
        if value is like:
            return value
        if (known := self.constants.get(value)) is not None:
            return known.result
        place = self.of.short.parameter(value)
        made = constant_again(value) if place is None else self._parameter(place[1])
        if isinstance(made, int):
            return self.of.short.block.args[made]
        self.constants[value] = made
        return made.result

    def _parameter(self, slot: int) -> ConstantOp | int:
        return self.of.short.blocks.parameter((self.number, slot))


def _last(op: Operation | None) -> Operation:
    assert op is not None
    return op


def _index(value: SSAValue) -> int:
    return value.index if isinstance(value, OpResult | BlockArgument) else -1
