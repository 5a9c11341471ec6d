"""What patterns of several passes ask about values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.elementwise import BinaryOp

OpT = TypeVar("OpT", bound=Operation)


def owner(value: SSAValue, op_class: type[OpT]) -> OpT | None:
    """Returns the op that computes `value` if it is of a class, else None."""
    found = value.owner
    return found if isinstance(found, op_class) else None


def commuted(op: BinaryOp) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Yields the operands of a binary op in both orders."""
    yield op.lhs, op.rhs
    yield op.rhs, op.lhs
