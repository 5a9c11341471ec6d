"""Ops around a transpose that could work in the layout before it, and what that would save."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from ge_dialect.ge.constants import constant_attr
from ge_dialect.ge.greatest import byte_size
from ge_dialect.ge.movement import TransposeOp
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.canonicalization.groups import compose
from ge_dialect.passes.layout.agnostic import (
    Permutation,
    Turned,
    inverse,
    is_main_operand,
    moves_data,
    turned,
)

MOST_CONSTANT_BYTES = 1 << 20
"""A constant up to this size is transposed at compile time; a larger one stays in its file."""


class UnknownSizeError(Exception):
    """The bytes of a value are not known."""


@dataclass(frozen=True)
class Moves:
    """Transposes that move data.

    Attributes:
        bytes: What they read and write.
        count: How many there are.
    """

    bytes: int = 0
    count: int = 0

    def __add__(self, other: Moves) -> Moves:
        return Moves(self.bytes + other.bytes, self.count + other.count)

    def __sub__(self, other: Moves) -> Moves:
        return Moves(self.bytes - other.bytes, self.count - other.count)


def moves_of(value: SSAValue, perm: Permutation) -> Moves:
    """Returns what making `value` by a transpose costs; nothing where it moves no data.

    Raises:
        UnknownSizeError: A dimension is dynamic.
    """
    if not moves_data(value_shape(value), perm):
        return Moves()
    if (size := byte_size(value.type)) is None:
        raise UnknownSizeError
    return Moves(2 * size, 1)


@dataclass
class Region:
    """Ops that are to work on what a transpose reads.

    Attributes:
        start: The transpose.
        members: The ops, in the order in which they joined, with what they become.
        needs: For each member, the permutation of its operands.
        perms: The permutation of each of their results.
    """

    start: TransposeOp
    members: dict[Operation, Turned] = field(default_factory=dict[Operation, Turned])
    needs: dict[Operation, Permutation] = field(default_factory=dict[Operation, Permutation])
    perms: dict[SSAValue, Permutation] = field(default_factory=dict[SSAValue, Permutation])

    def join(self, op: Operation, perm: Permutation) -> bool:
        """Takes in an op whose operands have a permutation; returns whether it could be."""
        found = turned(op, perm)
        if found is None or op.parent is not self.start.parent:
            return False
        if any(self.perms.get(x, perm) != perm for x in op.operands):
            return False
        for result in op.results:
            for use in result.uses:
                if self.needs.get(use.operation, found.result) != found.result:
                    return False
        self.members[op], self.needs[op] = found, perm
        self.perms.update((result, found.result) for result in op.results)
        return True

    def around(self, op: Operation) -> Iterator[tuple[Operation, Permutation]]:
        """Yields the neighbours of a member that could join, and the permutation they would need:
        readers first."""
        for result in op.results:
            perm = self.perms[result]
            for use in result.uses:
                if use.operation not in self.members and is_main_operand(result, len(perm)):
                    yield use.operation, perm
        perm = self.needs[op]
        for value in op.operands:
            producer = value.owner
            if isinstance(producer, Block) or producer in self.members:
                continue
            if is_main_operand(value, len(perm)) and not isinstance(producer, TransposeOp):
                found = turned(producer, perm)
                if found is not None and found.result == perm:
                    yield producer, perm

    def cost(self) -> Moves:
        """Returns the transposes that come, less those that go.

        Raises:
            UnknownSizeError: They are not known.
        """
        return self._inputs_cost() + self._outputs_cost()

    def outside_inputs(self) -> Iterator[tuple[Operation, int, SSAValue]]:
        """Yields the members, operand numbers and operands that come from outside."""
        for op in self.members:
            for index, value in enumerate(op.operands):
                if value not in self.perms:
                    yield op, index, value

    def _inputs_cost(self) -> Moves:
        pairs = {(value, self.needs[op]): None for op, _, value in self.outside_inputs()}
        cost = sum((self._input_cost(value, perm) for value, perm in pairs), Moves())
        for value in dict.fromkeys(value for value, _ in pairs):
            transpose = value.owner
            if not isinstance(transpose, TransposeOp):
                continue
            if all(use.operation in self.members for use in value.uses):
                cost -= moves_of(value, transpose.permutation)
        return cost

    def _input_cost(self, value: SSAValue, perm: Permutation) -> Moves:
        shape = value_shape(value)
        wanted = inverse(perm)
        padded = (*[1] * (len(perm) - len(shape)), *shape)
        if not moves_data(tuple(padded[axis] for axis in wanted), wanted):
            return Moves()
        if isinstance(transpose := value.owner, TransposeOp) and len(shape) == len(perm):
            both = compose(transpose.permutation, wanted)
            turned_shape = tuple(shape[axis] for axis in wanted)
            if not moves_data(turned_shape, both):
                return Moves()
        if (size := byte_size(value.type)) is None:
            raise UnknownSizeError
        is_folded = constant_attr(value) is not None and size <= MOST_CONSTANT_BYTES
        return Moves() if is_folded else Moves(2 * size, 1)

    def _outputs_cost(self) -> Moves:
        cost = Moves()
        for value, perm in self.perms.items():
            outside = [use.operation for use in value.uses if use.operation not in self.members]
            if any(not isinstance(op, TransposeOp) for op in outside):
                cost += moves_of(value, perm)
            for op in outside:
                if isinstance(op, TransposeOp):
                    both = compose(perm, op.permutation)
                    cost += moves_of(op.result, both) - moves_of(op.result, op.permutation)
        return cost

    def cut(self, count: int) -> None:
        """Keeps the members that joined first."""
        for op in list(self.members)[count:]:
            del self.members[op], self.needs[op]
            for result in op.results:
                del self.perms[result]


def grown(start: TransposeOp, most: int, known: dict[Operation, int]) -> tuple[Region, int]:
    """Returns the ops around a transpose that save most where they work in the layout before it,
    and the bytes of transposes saved; no ops where none are, or where transposes would get more.

    Args:
        start: The transpose.
        most: How many ops may join.
        known: Those that may join.

    Raises:
        UnknownSizeError: Bytes that decide are not known.
    """
    region = Region(start)
    waiting = [(use.operation, start.permutation) for use in start.result.uses]
    best, kept = 0, 0
    while waiting and len(region.members) < most:
        op, perm = waiting.pop(0)
        if op in region.members or op not in known or not region.join(op, perm):
            continue
        waiting += region.around(op)
        cost = region.cost()
        if -cost.bytes > best and cost.count <= 0:
            best, kept = -cost.bytes, len(region.members)
    region.cut(kept)
    return region, best
