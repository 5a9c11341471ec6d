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
    given: Sequence[SSAValue] = () if block.last_op is None else operands_of(block.last_op)
    wanted = {value.type for value in given}
    # Sets of arguments as bits; one whose type no result has cannot share bytes anyway.
    tied: dict[SSAValue, int] = {
        arg: 1 << i for i, arg in enumerate(block.args) if arg.type in wanted
    }
    loose: dict[SSAValue, int] = {}
    for op in block.ops if tied else ():
        if isinstance(op, GEOp) and op.results:
            _follow(op, tied, loose)
    shut = 0
    for value in given:
        shut |= loose.get(value, 0)
    return [
        (i, j)
        for j, value in enumerate(given)
        for i, arg in enumerate(block.args)
        if (tied.get(value, 0) & ~shut) >> i & 1 and arg.type == value.type
    ]


def _follow(op: GEOp, tied: dict[SSAValue, int], loose: dict[SSAValue, int]) -> None:
    """Notes which arguments the results of an op depend on: in place, or in another way."""
    operands = [
        (place, loose.get(operand, 0), tied.get(operand, 0))
        for place, operand in enumerate(operands_of(op))
        if operand in tied
    ]
    if not operands:
        return
    pairs, view = op.in_place_pairs(), op.view_of()
    overwritten = {written for written, _ in pairs}
    for index, result in enumerate(op.results):
        here = elsewhere = 0
        for place, inherited, held in operands:
            elsewhere |= inherited
            if not held:
                continue
            if place == view or (place, index) in pairs or _stays(op, place, index):
                here |= held
            elif place not in overwritten:
                # An op that writes over its operand has seen to its other results.
                elsewhere |= held
        tied[result], loose[result] = here, elsewhere


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
