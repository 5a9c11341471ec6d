"""Which results of a kernel may have the bytes of what it reads."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import FusionKind, GEOp
from ge_dialect.ge.types import static_shape


def in_place_pairs_of(block: Block) -> Sequence[tuple[int, int]]:
    """Returns the (argument, result) pairs of a kernel's body that may share bytes.

    Follows each argument through ops that keep every element in its place. An argument that any
    result depends on in another way shares no bytes.

    Args:
        block: Ends with an op whose operands are the results.
    """
    tied: dict[SSAValue, set[SSAValue]] = {arg: {arg} for arg in block.args}
    loose: dict[SSAValue, set[SSAValue]] = {}
    for op in block.ops:
        if not isinstance(op, GEOp) or not op.results:
            continue
        pairs, view, operands = op.in_place_pairs(), op.view_of(), operands_of(op)
        overwritten = {written for written, _ in pairs}
        for index, result in enumerate(op.results):
            tied[result], loose[result] = set(), set()
            for place, operand in enumerate(operands):
                loose[result] |= loose.get(operand, set())
                if place == view or (place, index) in pairs or _stays(op, place, index):
                    tied[result] |= tied.get(operand, set())
                elif place not in overwritten:
                    # An op that writes over its operand has seen to its other results.
                    loose[result] |= tied.get(operand, set())
    given = () if block.last_op is None else block.last_op.operands
    shut = {arg for value in given for arg in loose.get(value, ())}
    return [
        (i, j)
        for j, value in enumerate(given)
        for i, arg in enumerate(block.args)
        if arg in tied.get(value, ()) and arg not in shut and arg.type == value.type
    ]


def _stays(op: GEOp, place: int, index: int) -> bool:
    """Whether each element of a result depends on the element of an operand at its place only,
    though the two have different types."""
    if op.FUSION_KIND is not FusionKind.ELEMENTWISE:
        return False
    operand, result = operands_of(op)[place].type, op.results[index].type
    if operand == result:
        return False  # of equal types the op itself says it: never the condition of a select
    shape = static_shape(operand)
    return shape is not None and shape == static_shape(result)
