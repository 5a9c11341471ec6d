"""Puts the ops of a region into the layout before its transpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.constants import ConstantOp, array_constant, constant_array, constant_attr
from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.types import (
    byte_size,
    element_type_of,
    tensor_type,
    value_shape,
)
from ge_dialect.passes.layout.agnostic import Permutation, inverse
from ge_dialect.passes.layout.regions import MOST_CONSTANT_BYTES, Region

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.ir import Block


class _Mover:
    """New ops for the members of a region, each in front of the one that it replaces."""

    def __init__(self, region: Region, block: Block):
        self.region = region
        self.block = block
        self.new: dict[SSAValue, SSAValue] = {}
        self.inputs: dict[tuple[SSAValue, Permutation], SSAValue] = {}

    def place(self, op: Operation, before: Operation) -> SSAValue:
        """Inserts an op; returns its first result."""
        op.location = before.location
        self.block.insert_op_before(op, before)
        return op.results[0]

    def operand(self, value: SSAValue, perm: Permutation, member: Operation) -> SSAValue:
        """Returns what a member reads instead of `value`."""
        if (found := self.new.get(value)) is not None:
            return found
        if (found := self.inputs.get((value, perm))) is None:
            found = self.inputs[value, perm] = self._input(value, inverse(perm), member)
        return found

    def _input(self, value: SSAValue, perm: Permutation, member: Operation) -> SSAValue:
        shape = value_shape(value)
        if all(dim == 1 for dim in shape) and len(shape) < len(perm):
            return value
        padded = (*[1] * (len(perm) - len(shape)), *shape)
        if constant_attr(value) is not None and (byte_size(value.type) or 0) <= MOST_CONSTANT_BYTES:
            return self.place(_turned_constant(value, perm), member)
        if len(padded) != len(shape):
            value = self.place(ReshapeOp(value, padded), member)
        return self.place(TransposeOp(value, perm), member)

    def move(self, op: Operation) -> None:
        """Inserts what takes the place of a member."""
        region = self.region
        perm, turned = region.needs[op], region.members[op]
        operands = [self.operand(value, perm, op) for value in op.operands]
        back = inverse(turned.result)
        types = [
            tensor_type(element_type_of(result), tuple(value_shape(result)[axis] for axis in back))
            for result in op.results
        ]
        new = type(op).create(
            operands=operands,
            result_types=types,
            properties={**op.properties, **turned.properties},
            attributes=op.attributes,
        )
        self.place(new, op)
        for old, result in zip(op.results, new.results, strict=True):
            result.name_hint = old.name_hint
            self.new[old] = result

    def give_back(self, op: Operation) -> None:
        """Transposes what others than members read of a member."""
        for old in op.results:
            uses = [use for use in old.uses if use.operation not in self.region.members]
            if not uses:
                continue
            back = self.place(TransposeOp(self.new[old], self.region.perms[old]), op)
            back.name_hint = old.name_hint
            for use in uses:
                use.operation.operands[use.index] = back


def _turned_constant(value: SSAValue, perm: Permutation) -> ConstantOp:
    import numpy as np

    array: Any = constant_array(value)
    padded = array.reshape((1,) * (len(perm) - array.ndim) + array.shape)
    return array_constant(np.ascontiguousarray(padded.transpose(perm)))


def move_layout(region: Region, order: Mapping[Operation, int]) -> None:
    """Replaces the members of a region by ops on what its transpose reads.

    Transposes that cancel are left for canonicalization.

    Args:
        region: With members.
        order: Positions of ops in the block.
    """
    block = region.start.parent
    assert block is not None
    mover = _Mover(region, block)
    members = sorted(region.members, key=lambda op: order[op])
    for op in members:
        mover.move(op)
    for op in members:
        mover.give_back(op)
    for op in reversed(members):
        op.detach()
        op.erase()
