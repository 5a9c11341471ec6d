"""The decisions of `ge-zero-copy`, in the IR: attribute `ge.zero_copy` of an op.

On a split or slice it is a unit: the results are views of the operand. On a concatenation it lists
the operands whose producers write straight into the result; the others are copied there.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, UnitAttr, i64
from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.extents import known_product
from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.structure import IfOp, LoopOp
from ge_dialect.ge.types import byte_size, is_tensor, shape_of
from ge_dialect.passes.zero_copy.regions import Region, part_regions, piece_regions

ATTRIBUTE = "ge.zero_copy"


def mark_pieces(op: SplitOp | SliceOp) -> None:
    """Says that the results of an op are views."""
    op.attributes[ATTRIBUTE] = UnitAttr()


def mark_parts(op: ConcatOp, parts: Sequence[int]) -> None:
    """Says which operands of a concatenation are written straight into its result."""
    op.attributes[ATTRIBUTE] = DenseArrayBase.from_list(i64, list(parts))


def unmark(op: Operation) -> None:
    """Takes the decision back."""
    op.attributes.pop(ATTRIBUTE, None)


def views_of(op: Operation) -> tuple[SSAValue, Sequence[Region]] | None:
    """Returns the operand whose bytes the results of an op are, and which bytes; None where data
    moves.

    A mark that other passes made wrong, since it was set, counts as none.
    """
    if not isinstance(op, GEOp):
        return None
    if (viewed := op.view_of()) is not None:
        source = op.operands[viewed]
        if _same_elements(source, op.results[0]):
            return source, (Region(0, byte_size(source.type) or 0),)
        return None
    if isinstance(op, SplitOp | SliceOp) and isinstance(op.attributes.get(ATTRIBUTE), UnitAttr):
        regions = piece_regions(op)
        return (op.input, regions) if regions is not None else None
    return None


def _same_elements(source: SSAValue, result: SSAValue) -> bool:
    """Whether two values have as many elements, at every size that the symbols may have."""
    if (size := byte_size(source.type)) is not None:
        return byte_size(result.type) == size
    if not is_tensor(source.type) or not is_tensor(result.type):
        return False
    count = known_product(shape_of(source.type))
    return count is not None and count == known_product(shape_of(result.type))


def parts_of(op: Operation) -> dict[int, Region]:
    """Returns the bytes of the result for each operand that is written straight there.

    Empty where the op is no concatenation, or copies everything. What cannot be written elsewhere,
    whatever a mark says, is left out.
    """
    if not isinstance(op, ConcatOp):
        return {}
    mark = op.attributes.get(ATTRIBUTE)
    if not isinstance(mark, DenseArrayBase) or (regions := part_regions(op)) is None:
        return {}
    chosen = [int(i) for i in mark.get_values() if 0 <= int(i) < len(regions)]
    return {i: regions[i] for i in chosen if fixed_place(op.operands[i], op) is None}


def written_value(value: SSAValue) -> SSAValue:
    """Returns the value that has to be written somewhere else for `value` to lie there: what it is
    another form of."""
    while isinstance(owner := value.owner, GEOp) and (viewed := owner.view_of()) is not None:
        value = owner.operands[viewed]
    return value


def fixed_place(value: SSAValue, reader: Operation) -> str | None:
    """Returns why a value has a place of its own, or None where its producer can write anywhere.

    Args:
        value: What `reader` reads.
        reader: Its block has to hold the producer.
    """
    owner = written_value(value).owner
    if isinstance(owner, ConstantOp):
        return "is a weight"
    if not isinstance(owner, GEOp):
        return "is an argument"
    if isinstance(owner, IfOp | LoopOp):
        return "is the result of a branch or loop"
    if owner.parent is not reader.parent:
        return "is written in another block"
    if views_of(owner) is not None:
        return "lies inside another value"
    return None
