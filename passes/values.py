"""What patterns of several passes ask about values, and how they collect new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsolatedFromAbove

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.elementwise import BinaryOp
from ge_dialect.ge.structure import FusionOp

OpT = TypeVar("OpT", bound=Operation)


def in_kernel(op: Operation) -> bool:
    """Whether an op is part of a fused kernel: what that does is decided."""
    block = op.parent
    return block is not None and type(block.parent_op()) is FusionOp


def reads_of(op: Operation) -> Sequence[SSAValue]:
    """Returns what an op and the ops in its regions read; of a kernel, what it is given."""
    if not op.regions or op.has_trait(IsolatedFromAbove):
        return operands_of(op)
    return [value for inner in op.walk() for value in inner.operands]


def owner(value: SSAValue, op_class: type[OpT]) -> OpT | None:
    """Returns the op that computes `value` if it is of exactly a class, else None."""
    found = value.owner
    return found if type(found) is op_class else None


def commuted(op: BinaryOp) -> Sequence[tuple[SSAValue, SSAValue]]:
    """Returns the operands of a binary op in both orders."""
    lhs, rhs = operands_of(op)
    return (lhs, rhs), (rhs, lhs)


@dataclass
class NewOps:
    """New ops in order."""

    ops: list[Operation] = field(default_factory=list[Operation])

    def add(self, op: GEOp) -> SSAValue:
        """Appends an op; returns its first result."""
        self.ops.append(op)
        return op.results[0]
