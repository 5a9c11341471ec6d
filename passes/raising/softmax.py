"""Softmax out of maximum, difference, exponential, sum and quotient, or of its logarithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Operation, SSAValue

from ge_dialect import remarks
from ge_dialect.ge.binary import DivOp, SubOp
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.reductions import (
    LogSoftmaxOp,
    ReduceLogSumExpOp,
    ReduceMaxOp,
    ReduceSumOp,
    SoftmaxOp,
)
from ge_dialect.ge.types import element_type_of, value_shape
from ge_dialect.ge.unary import ExpOp
from ge_dialect.passes.canonicalization.groups import same_shape
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.match import NAME, Found, Raise
from ge_dialect.passes.values import owner
from ge_dialect.remarks import ReasonClass


@dataclass
class _Softmax(Found):
    input: SSAValue
    axis: int

    def build(self) -> list[Operation]:
        return [SoftmaxOp(self.input, self.axis)]


class RaiseSoftmax(Raise):
    """`e / sum(e)` with `e = exp(x - max(x))` -> `softmax(x)`.

    Not without the maximum: `exp(x)` overflows where softmax does not. Over the last dimension,
    maximum and difference may be of the same rows in other shapes.
    """

    roots = (DivOp,)
    reads = (ExpOp,)
    composite: ClassVar = "softmax"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, DivOp)
        exp, total = owner(op.lhs, ExpOp), owner(op.rhs, ReduceSumOp)
        if exp is None or total is None or total.input is not exp.result:
            return None
        difference = owner(exp.input, SubOp)
        most = None if difference is None else owner(difference.rhs, ReduceMaxOp)
        axes = total.reduced_axes
        if difference is not None and most is None:
            found = _by_rows(op, total, exp, difference)
            if found is not None:
                return found
        if difference is None or most is None or most.input is not difference.lhs:
            text = "the exponential is of no difference from the maximum: it may overflow"
            raise NearMissError(ReasonClass.CONST, text)
        if len(axes) != 1 or most.reduced_axes != axes:
            text = "maximum and sum are not over the same one dimension"
            raise NearMissError(ReasonClass.ATTR, text, str(most.reduced_axes), str(axes))
        if not bool(total.keepdims) or not bool(most.keepdims):
            text = "'keepdims' of maximum or sum is false"
            raise NearMissError(ReasonClass.ATTR, text, "false", "true")
        ops: list[Operation] = [op, total, exp, difference, most]
        return _Softmax(difference.lhs, axes[0], ops=ops)


def _by_rows(op: DivOp, total: ReduceSumOp, exp: ExpOp, difference: SubOp) -> Found | None:
    """Returns a softmax over the last dimension whose maximum is of the same rows, reshaped."""
    x = difference.lhs
    shape = value_shape(x)
    around = owner(difference.rhs, ReshapeOp)
    most = None if around is None else owner(around.input, ReduceMaxOp)
    if around is None or most is None or not shape or not bool(total.keepdims):
        return None
    rows, last = value_shape(most.input), len(shape) - 1
    source = owner(x, ReshapeOp)
    same = most.input is x or (source is not None and source.input is most.input)
    if not same or not rows or rows[-1] != shape[-1] or rows[-1] is None:
        return None
    if list(most.reduced_axes) != [len(rows) - 1] or list(total.reduced_axes) != [last]:
        return None
    if not same_shape(value_shape(difference.rhs), (*shape[:-1], 1)):
        return None
    return _Softmax(x, last, ops=[op, total, exp, difference, around, most])


class AbsorbMaximum(Raise):
    """`softmax(x - max(x))` -> `softmax(x)`, which does that by itself."""

    roots = (SoftmaxOp,)
    reads = (SubOp,)
    composite: ClassVar = "softmax"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, SoftmaxOp)
        difference = owner(op.input, SubOp)
        most = None if difference is None else owner(difference.rhs, ReduceMaxOp)
        if difference is None or most is None or most.input is not difference.lhs:
            return None
        rank = len(value_shape(op.input))
        if list(most.reduced_axes) != [op.axis.value.data % rank] or not bool(most.keepdims):
            return None
        return _Softmax(difference.lhs, op.axis.value.data, ops=[op], feeders=[difference, most])


class RaiseLogSoftmax(Raise):
    """`exp(x - log(sum(exp(x))))` and `exp(log_softmax(x))` -> `softmax(x)`, of f32 and wider.

    In narrower types the logarithm was rounded, which shows in what it is subtracted from.
    """

    roots = (ExpOp,)
    reads = (SubOp, LogSoftmaxOp)
    composite: ClassVar = "softmax"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, ExpOp)
        if (logarithm := owner(op.input, LogSoftmaxOp)) is not None:
            found = _Softmax(logarithm.input, logarithm.axis.value.data, ops=[op, logarithm])
        else:
            difference = owner(op.input, SubOp)
            total = None if difference is None else owner(difference.rhs, ReduceLogSumExpOp)
            if difference is None or total is None or total.input is not difference.lhs:
                return None
            if len(total.reduced_axes) != 1 or not bool(total.keepdims):
                return None
            axis, ops = total.reduced_axes[0], list[Operation]([op, difference])
            found = _Softmax(difference.lhs, axis, ops=ops, feeders=[total])
        if element_type_of(op.result) not in (f32, f64):
            text = "the logarithm of the sum is rounded to a narrow type"
            found_type = str(element_type_of(op.result))
            raise NearMissError(ReasonClass.DTYPE, text, found_type, "f32 or f64")
        text = "scores are taken to be no plus infinity: all weights of their row become NaN"
        remarks.analysis(NAME, type(self).__name__, op, text)
        return found
