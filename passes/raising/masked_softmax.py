"""Softmax of which some weights are taken away again, the others made to sum up to 1.

As JAX's `dot_product_attention` is exported. With `p = softmax(s)` and truth values m,
`p * m / sum(p * m)` is `exp(s) * m` over its sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Operation, SSAValue

from ge_dialect import remarks
from ge_dialect.ge.binary import DivOp, GreaterOp, MulOp
from ge_dialect.ge.constants import (
    array_constant,
    constant_array,
    constant_scalar,
    float_constant,
)
from ge_dialect.ge.dtypes import is_bool
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.reductions import ReduceSumOp, SoftmaxOp
from ge_dialect.ge.types import element_type_of, value_shape
from ge_dialect.ge.unary import IsNanOp
from ge_dialect.passes.canonicalization.operands import uniform_value
from ge_dialect.passes.raising.constant_masks import MOST_ELEMENTS
from ge_dialect.passes.raising.heads import Chain
from ge_dialect.passes.raising.match import NAME, Found, Raise
from ge_dialect.passes.values import commuted, owner

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"


@dataclass
class _Masked(Found):
    """A softmax of what is kept.

    Attributes:
        softmax: Of all scores.
        kept: Truth values.
        guarded: Whether weights are 0 where nothing is kept, NaN otherwise.
    """

    softmax: SoftmaxOp
    kept: SSAValue | Array
    guarded: bool

    def build(self) -> list[Operation]:
        chain, scores = Chain(), self.softmax.input
        kept = self.kept
        if not isinstance(kept, SSAValue):
            kept = chain.add(array_constant(kept))
        fill = chain.add(float_constant(-inf, element_type_of(scores)))
        chosen = chain.add(SelectOp(kept, scores, fill))
        weights = chain.add(SoftmaxOp(chosen, self.softmax.axis.value.data))
        if self.guarded:
            zero = chain.add(float_constant(0.0, element_type_of(scores)))
            chain.add(SelectOp(chain.add(IsNanOp(weights)), zero, weights))
        return chain.ops


class RaiseMaskedSoftmax(Raise):
    """`w / sum(w)` with `w = softmax(s) * cast(c)` -> `softmax(select(c, s, -inf))`.

    With `select(sum(w) > 0, sum(w), 1)` for the sum, weights of rows without any are 0: then there
    is a guard against NaN. Not in types narrower than f32, in which what is left may be 0 sooner.
    """

    roots = (DivOp,)
    reads = (MulOp,)
    composite: ClassVar = "softmax"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, DivOp)
        total, guards = _total(op.rhs)
        weights = owner(op.lhs, MulOp)
        if weights is None or total is None or total.input is not weights.result:
            return None
        parts = _parts(weights)
        if parts is None or element_type_of(weights.result) not in (f32, f64):
            return None
        softmax, kept, feeders = parts
        axis, rank = softmax.axis.value.data, len(value_shape(softmax.input))
        if total.reduced_axes != (axis % rank,) or not bool(total.keepdims):
            return None
        text = (
            "scores are taken to be finite, and weights that stay not to vanish beside the others"
        )
        remarks.analysis(NAME, type(self).__name__, op, text)
        ops: list[Operation] = [*_outer_guard(op, guards), op, *guards, total, weights, softmax]
        return _Masked(softmax, kept, bool(guards), ops=ops, feeders=feeders)


def _total(value: SSAValue) -> tuple[ReduceSumOp | None, list[Operation]]:
    """Returns the sum that a value is, with what keeps it from being 0."""
    choice = owner(value, SelectOp)
    if choice is None:
        return owner(value, ReduceSumOp), []
    test, total = owner(choice.condition, GreaterOp), owner(choice.on_true, ReduceSumOp)
    if test is None or total is None or test.lhs is not total.result:
        return None, []
    if constant_scalar(test.rhs) != 0 or uniform_value(choice.on_false) != 1:
        return None, []
    return (total, [choice, test]) if choice.result.type == total.result.type else (None, [])


def _outer_guard(op: DivOp, guards: list[Operation]) -> list[Operation]:
    """Returns the choice of 0 for rows without weights that follows the quotient, if one does."""
    user = op.result.get_user_of_unique_use()
    if not guards or not isinstance(user, SelectOp) or user.on_true is not op.result:
        return []
    same = user.condition is guards[1].results[0] and uniform_value(user.on_false) == 0
    return [user] if same and user.result.type == op.result.type else []


def _parts(weights: MulOp) -> tuple[SoftmaxOp, SSAValue | Array, list[Operation]] | None:
    """Returns the softmax of a product, which weights it keeps, and the ops before that."""
    for value, other in commuted(weights):
        softmax = owner(value, SoftmaxOp)
        if softmax is None or value.type != weights.result.type:
            continue
        cast = owner(other, CastOp)
        if cast is not None and is_bool(element_type_of(cast.input)):
            return softmax, cast.input, [cast]
        numbers = constant_array(other, MOST_ELEMENTS)
        if numbers is not None and ((numbers == 0) | (numbers == 1)).all():
            return softmax, numbers != 0, []
    return None
