"""Puts the blocks back that were left out: copies of an optimised one, with their own weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from xdsl.dialects.builtin import LocationAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.copied import CopiedRegion
from ge_dialect.ge.sealed import SealedWeight
from ge_dialect.passes.repeats.find import constant_again
from ge_dialect.passes.repeats.primitives import FIRST, LAST
from ge_dialect.passes.repeats.shorten import Shortened
from ge_dialect.passes.repeats.unit import Given, Made, Own, Source, Unit
from ge_dialect.repeats import Place


@dataclass
class Expansion:
    """The optimised short function, and what it becomes.

    Attributes:
        unit: What is copied.
        copies: The ops of each copy.
        constants: What was made for the copies.
        parameters: The parameters of all blocks, as far as they are there.
        bodies: For each body of a kernel that is copied, what its copies are made from.
    """

    unit: Unit
    copies: dict[int, list[Operation]] = field(default_factory=dict[int, list[Operation]])
    constants: list[Operation] = field(default_factory=list[Operation])
    parameters: dict[Place, SSAValue] = field(default_factory=dict[Place, SSAValue])
    bodies: dict[Region, Region | None] = field(default_factory=dict[Region, Region | None])

    @cached_property
    def short(self) -> Shortened:
        """With the optimised function in its module."""
        return self.unit.short

    def expand(self) -> bool:
        """Makes the whole function what the short one has become; False, nothing done, if it must
        not: what one block returns is not what the others do."""
        whole = self._returned()
        if whole is None:
            return False
        for op in self.short.block.ops:
            if isinstance(op, ConstantOp) and (place := self.short.parameter(op.result)):
                self.parameters[place] = op.result
        self._copy_blocks()
        self._replace(whole)
        return True

    def _returned(self) -> list[SSAValue | tuple[int, Place]] | None:
        """Returns what the whole function returns: values of the short one, and block, position
        and index of results of copies; None where no op of the first block makes such a result, or
        where one makes what the last block or what is behind it returns."""
        now = operands_of(_last(self.short.block.last_op))
        found = [self._result(now[index], number) for index, number in self.short.returned]
        whole = [one for one in found if one is not None]
        return whole if len(whole) == len(found) else None

    def _result(self, value: SSAValue, number: int) -> SSAValue | tuple[int, Place] | None:
        """Returns what the whole function returns where the short one does a value that is that of
        a block, or is like it."""
        last, block = self.short.blocks.count - 1, self.unit.made_in(value)
        place = self.unit.place(value)
        if number == 0 or (place is None and number == last):
            return value if block in (None, number and LAST) else None
        if number == last:
            return (last - 1, place) if place is not None and block == LAST else None
        if block != FIRST:
            return None
        if place is None:  # of what is before the first unit, which is that of the next block then
            place, number = self.unit.next(value), number - 1
        if place is None:
            return None
        return (number, place) if number else self.unit.ops[place[0]].results[place[1]]

    def _copy_blocks(self) -> None:
        before = self.unit.ops
        for number in self.short.blocks.skipped:
            before = self.copies[number] = BlockCopy(self, number, before).make()
        for op in self.short.block.ops:
            is_copied = op in self.unit.positions
            for index, value in enumerate(operands_of(op)):
                if not is_copied and (place := self.unit.place(value)) is not None:
                    op.operands[index] = before[place[0]].results[place[1]]
                parameter = self.short.parameter(value) if is_copied else None
                if parameter is not None and parameter[0] > 0:  # that stood for the second block
                    op.operands[index] = self.parameter((1, parameter[1]))

    def parameter(self, place: Place) -> SSAValue:
        """Returns a parameter of any block."""
        if (known := self.parameters.get(place)) is None:
            made = self.short.blocks.parameter(place)
            known = self.short.block.args[made] if isinstance(made, int) else self.added(made)
            self.parameters[place] = known
        return known

    def added(self, constant: ConstantOp) -> SSAValue:
        """Adds a constant to the function."""
        self.constants.append(constant)
        return constant.result

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
        block.insert_ops_before(self.constants, self.unit.ops[0])
        copies = [op for copy in self.copies.values() for op in copy]
        assert self.unit.stop is not None
        block.insert_ops_before(copies, self.unit.stop)
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
        is_copied = op in self.unit.positions
        for inner in op.walk() if op.regions else (op,):
            inner.location = names.copied(inner, 0) if is_copied else names.kept(inner.location)
            for result in inner.results if is_copied else ():
                if (name := result.name_hint) is not None:
                    result.name_hint = self.short.blocks.hint(0, name)
        if isinstance(op, ConstantOp) and isinstance(op.value, WeightAttr):
            sealed = op.value.data.weight
            if isinstance(sealed, SealedWeight):
                op.properties["value"] = sealed.whole


@dataclass
class BlockCopy:
    """One copy of the unit.

    Attributes:
        of: The optimised function.
        number: Of the block in the whole one that it begins in.
        before: The ops of the unit before it.
        constants: Those made for it that are no parameters, by what the unit has there.
    """

    of: Expansion
    number: int
    before: list[Operation]
    ops: list[Operation] = field(default_factory=list[Operation])
    constants: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def make(self) -> list[Operation]:
        """Returns the ops, in no block yet."""
        for op, read in zip(self.of.unit.ops, self.of.unit.sources, strict=True):
            copy = type(op).create(
                operands=[self._operand(source) for source in read],
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

    def _operand(self, source: Source) -> SSAValue:
        """Returns what an op of this block reads."""
        match source:
            case Made():
                ops = self.ops if source.here else self.before
                return ops[source.position].results[source.result]
            case Given():
                return self.of.parameter((self.number + source.behind, source.slot))
            case Own():
                if (known := self.constants.get(source.value)) is None:
                    again = constant_again(source.value)
                    known = self.constants[source.value] = self.of.added(again)
                return known
            case _:
                return source


def _last(op: Operation | None) -> Operation:
    assert op is not None
    return op
