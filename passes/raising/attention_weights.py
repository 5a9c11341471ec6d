"""The way from the product with the values down to softmax: casts, dropout, NaN guard, reshapes."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.dropout import DropoutOp
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp
from ge_dialect.ge.reductions import SoftmaxOp
from ge_dialect.ge.types import Shape, value_shape
from ge_dialect.ge.unary import IsNanOp
from ge_dialect.passes.canonicalization.operands import uniform_value
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.remarks import ReasonClass
from ge_dialect.symbols import Dim

MOST_STEPS = 8

WAYS = (SoftmaxOp, CastOp, ReshapeOp, DropoutOp, SelectOp, SliceOp)
"""What may give the left operand of the product with the values."""


@dataclass
class Weights:
    """Weights of the values.

    Attributes:
        softmax: What makes them.
        nan_guard: Whether NaN becomes 0.
        shapes: Of the weights, wherever a reshape gives them another one.
        ops: All ops passed, the last first; `softmax` is the last of them.
        problem: What on the way attention can not do, or None.
        sink: Another score of all keys of a head, whose weight is left out, `[..., 1]`; or None.
        scores: What the weights are of, without the sink.
    """

    softmax: SoftmaxOp
    nan_guard: bool
    shapes: list[Shape]
    ops: list[Operation]
    problem: NearMissError | None
    sink: SSAValue | None
    scores: SSAValue


@dataclass
class _Way:
    nan_guard: bool = False
    shapes: list[Shape] = field(default_factory=list[Shape])
    ops: list[Operation] = field(default_factory=list[Operation])
    problem: NearMissError | None = None
    kept: tuple[int, Dim] | None = None


def find_weights(value: SSAValue) -> Weights | None:
    """Returns how `value` comes from a softmax along the last dimension, or None."""
    way = _Way(shapes=[value_shape(value)])
    for _ in range(MOST_STEPS):
        op = value.owner
        if isinstance(op, SoftmaxOp):
            way.ops.append(op)
            problem = way.problem or _axis_problem(op)
            if (parts := _without_sink(op.input, way)) is None:
                return None
            return Weights(op, way.nan_guard, way.shapes, way.ops, problem, *parts)
        below = _step(op, way)
        if below is None:
            return None
        value = below
    return None


def _step(op: object, way: _Way) -> SSAValue | None:
    """Returns what is below an op that weights may pass through; keeps what it does in `way`."""
    match op:
        case CastOp():
            way.ops.append(op)
            return op.input
        case ReshapeOp() if value_shape(op.input)[-2:] == value_shape(op.result)[-2:]:
            way.ops.append(op)
            way.shapes.append(value_shape(op.input))
            return op.input
        case DropoutOp():
            way.ops.append(op)
            way.problem = way.problem or _dropout_problem(op)
            return op.input
        case SelectOp():
            return _guarded(op, way)
        case SliceOp() if way.kept is None and (kept := _kept_columns(op)) is not None:
            way.ops.append(op)
            way.kept = kept
            return op.input
        case _:
            return None


def _kept_columns(op: SliceOp) -> tuple[int, Dim] | None:
    """Returns which columns a slice keeps, the first and how many, or None."""
    spans, last = op.spans(), len(value_shape(op.input)) - 1
    if len(spans) != 1 or spans[0][0] != last or spans[0][3] != 1:
        return None
    start, count = spans[0][1], value_shape(op.result)[last]
    return (start, count) if start >= 0 and count is not None else None


def _without_sink(value: SSAValue, way: _Way) -> tuple[SSAValue | None, SSAValue] | None:
    """Returns the sink of scores and the others; None where columns are cut off that are none."""
    if way.kept is None:
        return None, value
    concat, last = value.owner, len(value_shape(value)) - 1
    if not isinstance(concat, ConcatOp) or concat.dimension != last or len(concat.inputs) != 2:
        return None
    for sink, scores, first in (
        (concat.inputs[1], concat.inputs[0], 0),
        (concat.inputs[0], concat.inputs[1], 1),
    ):
        keys = value_shape(scores)[last]
        if value_shape(sink)[last] == 1 and way.kept == (first, keys):
            way.ops.append(concat)
            return sink, scores
    return None


def _guarded(op: SelectOp, way: _Way) -> SSAValue | None:
    """Returns x of `select(is_nan(x), 0, x)`."""
    test = op.condition.owner
    if not isinstance(test, IsNanOp) or test.input is not op.on_false:
        return None
    if uniform_value(op.on_true) != 0 or op.result.type != op.on_false.type:
        return None
    way.ops += (op, test)
    way.nan_guard = True
    return op.on_false


def _dropout_problem(op: DropoutOp) -> NearMissError | None:
    if op.is_identity():
        return None
    ratio = None if op.ratio is None else constant_scalar(op.ratio)
    if op.ratio is not None and ratio is None:
        text = "the dropout ratio is not a constant"
        return NearMissError(ReasonClass.CONST, text, "a value", "0")
    found = 0.5 if ratio is None else float(ratio)
    return NearMissError(ReasonClass.ATTR, "dropout may drop weights", found, 0.0)


def _axis_problem(op: SoftmaxOp) -> NearMissError | None:
    axis, rank = op.axis.value.data, len(value_shape(op.input))
    if axis in (-1, rank - 1):
        return None
    text = "softmax is not along the last dimension"
    return NearMissError(ReasonClass.ATTR, text, axis, rank - 1)
