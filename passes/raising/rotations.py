"""Pairs of features turned by a right angle: what stands beside the sines in rotary embedding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.raising.match import scaled


@dataclass(frozen=True)
class Piece:
    """Features of `whole` from `start` on, `size` of them, every `step`-th."""

    whole: SSAValue
    start: int
    size: int
    step: int
    op: Operation


def piece_of(value: SSAValue) -> Piece | None:
    """Returns which features of its operand a slice or split takes, or None for other values."""
    last, op = len(value_shape(value)) - 1, value.owner
    if isinstance(op, SplitOp) and op.dimension == last:
        sizes = op.sizes.get_values()
        place = next(i for i, result in enumerate(op.results) if result is value)
        return Piece(op.input, sum(sizes[:place]), sizes[place], 1, op)
    if not isinstance(op, SliceOp) or len(spans := op.spans()) != 1:
        return None
    (axis, start, _, step), size = spans[0], value_shape(value)[-1]
    if axis != last or start < 0 or step < 1 or not isinstance(size, int):
        return None
    return Piece(op.input, start, size, step, op)


@dataclass(frozen=True)
class Pairs:
    """Both features of all pairs of `whole`.

    Attributes:
        whole: `[..., D]`.
        neighbours: Whether a pair is two neighbours, or one feature of each half.
        ops: What takes them apart.
    """

    whole: SSAValue
    neighbours: bool
    ops: list[Operation]


def pairs_of(first: SSAValue, second: SSAValue) -> Pairs | None:
    """Returns the pairs whose first and second features are given, or None where they are none."""
    one, other = piece_of(first), piece_of(second)
    if one is None or other is None or one.whole is not other.whole or one.size != other.size:
        return None
    if value_shape(one.whole)[-1] != 2 * one.size or one.start != 0 or one.step != other.step:
        return None
    if (one.step, other.start) not in ((1, one.size), (2, 1)):
        return None
    ops = list(dict.fromkeys((one.op, other.op)))
    return Pairs(one.whole, one.step == 2, ops)


@dataclass(frozen=True)
class Joined:
    """First and second features of pairs put together again.

    Attributes:
        first: `[..., D / 2]`.
        second: `[..., D / 2]`.
        neighbours: As of `Pairs`; their result may have other dimensions of 1.
        ops: What puts them together, the last first.
        others: All that is put together, None for the pairs.
    """

    first: SSAValue
    second: SSAValue
    neighbours: bool
    ops: list[Operation]
    others: list[SSAValue | None]


def joined_pairs(value: SSAValue) -> Joined | None:
    """Returns what is put together to pairs and nothing else, or None."""
    joined = next(pairs_within(value), None)
    return joined if joined is not None and len(joined.others) == 1 else None


def pairs_within(value: SSAValue) -> Iterator[Joined]:
    """Yields what may be put together to pairs, alone or with others."""
    op, last = value.owner, len(value_shape(value)) - 1
    if isinstance(op, ConcatOp):
        inputs = list(op.inputs) if op.dimension == last else []
        for place, (first, second) in enumerate(pairwise(inputs)):
            others = [*inputs[:place], None, *inputs[place + 2 :]]
            yield Joined(first, second, False, [op], others)
    elif isinstance(op, ReshapeOp) and (found := _joined_columns(op)) is not None:
        yield found


def _joined_columns(op: ReshapeOp) -> Joined | None:
    if not isinstance(concat := op.input.owner, ConcatOp):
        return None
    if min(len(value_shape(concat.result)), len(value_shape(op.result)) + 1) < 2:
        return None
    *rows, size, pair = value_shape(concat.result)
    if len(concat.inputs) != 2 or concat.dimension != len(rows) + 1 or pair != 2:
        return None
    columns = [_column(one) for one in concat.inputs]
    *result, features = value_shape(op.result)
    same = [dim for dim in rows if dim != 1] == [dim for dim in result if dim != 1]
    if not same or not isinstance(size, int) or features != 2 * size or None in columns:
        return None
    (first, one), (second, other) = (column for column in columns if column is not None)
    return Joined(first, second, True, [op, concat, *one, *other], [None])


def _column(value: SSAValue) -> tuple[SSAValue, list[Operation]] | None:
    """Returns x of `x[..., None]`."""
    op = value.owner
    if not isinstance(op, ReshapeOp) or value_shape(value) != (*value_shape(op.input), 1):
        return None
    return op.input, [op]


@dataclass(frozen=True)
class Turned:
    """`(a, b) -> (-b, a)` of all pairs.

    Attributes:
        pairs: What is turned.
        ops: What does it, the last first.
        backwards: Whether it is the other way round, `(b, -a)`.
    """

    pairs: Pairs
    ops: list[Operation]
    backwards: bool = False


def turned_pairs(value: SSAValue) -> Turned | None:
    """Returns pairs that `value` is, turned by a right angle, or None."""
    if (joined := joined_pairs(value)) is None:
        return None
    for backwards, one, other in (
        (False, joined.first, joined.second),
        (True, joined.second, joined.first),
    ):
        negation, negated = one.owner, scaled(one)
        if negated is None or negated[1] != -1 or not isinstance(negation, Operation):
            continue
        features = (negated[0], other) if backwards else (other, negated[0])
        pairs = pairs_of(*features)
        if pairs is not None and pairs.neighbours == joined.neighbours:
            return Turned(pairs, [*joined.ops, negation], backwards)
    return None
