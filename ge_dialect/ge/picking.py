"""What is read of a value of which ops pick a part: rows of a table, a slice."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.indexing import GatherOp
from ge_dialect.ge.pieces import SliceOp, SplitOp
from ge_dialect.ge.structure import FusionOp

_PICKING = (GatherOp, SliceOp, SplitOp)
"""They read no more of their first operand than they write."""
_MAY_PICK = (FusionOp, *_PICKING)


def may_pick(op: Operation) -> bool:
    """Whether an op may read less than all of an operand, other ops than views of it."""
    return isinstance(op, _MAY_PICK)


def parts_of(op: Operation, index: int) -> Sequence[SSAValue] | None:
    """Returns what an op picks out of an operand, also through views of it; None where all is read.

    The bytes read of the operand are at most those of the parts, which may be more than it has.

    Args:
        op: Of a kernel, the ops inside count.
        index: Of the operand.
    """
    if isinstance(op, FusionOp):
        return parts_of_value(op.body.block.args[index])
    if isinstance(op, _PICKING) and index == 0:
        return op.results
    is_view = isinstance(op, GEOp) and op.view_of() == index and len(op.results) == 1
    return parts_of_value(op.results[0]) if is_view else None


def parts_of_value(value: SSAValue) -> Sequence[SSAValue] | None:
    """Returns what all uses pick out of a value, as `parts_of` does."""
    parts: list[SSAValue] = []
    for use in value.uses:
        if (found := parts_of(use.operation, use.index)) is None:
            return None
        parts += found
    return parts
