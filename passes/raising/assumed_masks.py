"""Masks of attention where the user says that every query keeps a key and scores are finite.

Then what takes keys away is one thing however it is spelled: minus infinity or the lowest number,
added by a choice, a constant or a product, with a guard against NaN or without.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.binary import AddOp, AndOp, MulOp, SubOp
from ge_dialect.ge.constants import (
    array_constant,
    common_array,
    constant_scalar,
    float_constant,
)
from ge_dialect.ge.dtypes import is_bool, is_float, to_numpy
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TransposeOp
from ge_dialect.ge.types import element_type_of, value_shape
from ge_dialect.ge.unary import LogicalNotOp
from ge_dialect.passes.canonicalization.operands import uniform_value
from ge_dialect.passes.raising.attention_scores import ABSORBING
from ge_dialect.passes.raising.constant_masks import MOST_ELEMENTS
from ge_dialect.passes.raising.heads import Chain
from ge_dialect.passes.raising.match import Found, Raise
from ge_dialect.passes.raising.queries import with_mask
from ge_dialect.passes.values import commuted

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"

MOST_STEPS = 16
_Movement: TypeAlias = ReshapeOp | BroadcastToOp | TransposeOp


@dataclass(frozen=True)
class _Parts:
    """A mask taken apart.

    Attributes:
        keeps: Truth values of the keys that are kept, or None where all are.
        added: What is added to their scores, or None.
    """

    keeps: SSAValue | None
    added: SSAValue | None


@dataclass
class _Assumed(Found):
    attention: FlashAttentionOp

    def build(self) -> list[Operation]:
        chain, op = Chain(), self.attention
        mask = op.mask
        if mask is not None and _takes_keys(mask):
            mask = _whole(chain, _parts(chain, mask))
        chain.add(with_mask(op, mask))
        return chain.ops


class AssumeKeptKeys(Raise):
    """`flash_attention(q, k, v, select(c, 0, lowest)) zero_nan` -> `flash_attention(q, k, v, c)`.

    A mask that also adds something becomes `select(c, added, -inf)`; a constant one keeps its
    numbers, with minus infinity for what is lowest. Only where masks are allowed to differ in
    what a query without keys gives, and in scores that are infinite or NaN.
    """

    roots = (FlashAttentionOp,)
    composite: ClassVar = "attention"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, FlashAttentionOp)
        unified = op.mask is None or is_bool(element_type_of(op.mask)) or _is_plain(op.mask)
        if op.fill is not None and op.fill.value.data > ABSORBING:
            return None
        flags = (op.nan_guard, op.zero_nan, op.masked_fill)
        if unified and all(flag is None for flag in flags):
            return None
        return _Assumed(op, ops=[op])


def is_low(value: object, mask: SSAValue) -> bool:
    """Whether a number that is added to a score leaves nothing of it."""
    import numpy as np

    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    info: Any = np.finfo(to_numpy(element_type_of(mask)))
    return value <= max(ABSORBING, float(info.min))


def _is_plain(mask: SSAValue) -> bool:
    """Whether a mask of floats is spelled as it should be."""
    if (array := common_array(mask, MOST_ELEMENTS)) is not None:
        return array.size == 0 or not _spelled_otherwise(array)
    op = mask.owner
    if isinstance(op, SelectOp) and uniform_value(op.on_false) == -inf:
        return uniform_value(op.on_true) != 0 and not _takes_keys(op.on_true)
    return not _takes_keys(mask)


def _lowest_of(array: Array) -> Array:
    import numpy as np

    info: Any = np.finfo(array.dtype)
    lows: Array = array <= max(ABSORBING, float(info.min))
    return lows


def _spelled_otherwise(array: Array) -> bool:
    """Whether a constant has low numbers but -inf, or says no more than which keys are kept."""
    import numpy as np

    low = _lowest_of(array)
    return bool((low & (array != -np.inf)).any() or (low.any() and ((array == 0) | low).all()))


def _takes_keys(mask: SSAValue, steps: int = MOST_STEPS) -> bool:
    """Whether a mask of floats is known to take some keys away."""
    if steps == 0:
        return False
    if (array := common_array(mask, MOST_ELEMENTS)) is not None:
        return array.dtype.kind == "f" and bool(_lowest_of(array).any())
    op = mask.owner
    match op:
        case SelectOp():
            return _choice(op) is not None
        case AddOp():
            return _takes_keys(op.lhs, steps - 1) or _takes_keys(op.rhs, steps - 1)
        case MulOp():
            return _scaled_truth(op) is not None
        case ReshapeOp() | BroadcastToOp() | TransposeOp() | CastOp():
            return is_float(element_type_of(op.input)) and _takes_keys(op.input, steps - 1)
        case _:
            return False


def _choice(op: SelectOp) -> tuple[bool, SSAValue] | None:
    """Returns whether a choice drops where its condition holds, and what else it adds."""
    for drops, low, other in ((False, op.on_false, op.on_true), (True, op.on_true, op.on_false)):
        if is_low(uniform_value(low), op.result):
            return drops, other
    return None


def _scaled_truth(op: MulOp) -> SSAValue | None:
    """Returns c of `(1 - cast(c)) * lowest`, c of truth values; else None."""
    for value, low in commuted(op):
        if not is_low(uniform_value(low), op.result) or not isinstance(value.owner, SubOp):
            continue
        difference = value.owner
        truth = difference.rhs.owner
        if constant_scalar(difference.lhs) != 1 or not isinstance(truth, CastOp):
            continue
        if is_bool(element_type_of(truth.input)):
            return truth.input
    return None


def _parts(chain: Chain, mask: SSAValue) -> _Parts:
    """Takes a mask apart; new ops go into `chain`."""
    if not _takes_keys(mask):
        return _Parts(None, None if uniform_value(mask) == 0 else mask)
    if (array := common_array(mask, MOST_ELEMENTS)) is not None:
        return _constant_parts(chain, array)
    op = mask.owner
    match op:
        case SelectOp():
            return _chosen(chain, op)
        case AddOp():
            return _sum(chain, _parts(chain, op.lhs), _parts(chain, op.rhs))
        case MulOp():
            return _Parts(_scaled_truth(op), None)
        case CastOp():
            inner = _parts(chain, op.input)
            added = inner.added
            target = element_type_of(op.result)
            return replace(inner, added=None if added is None else chain.add(CastOp(added, target)))
        case ReshapeOp() | BroadcastToOp() | TransposeOp():
            return _moved(chain, op, _parts(chain, op.input))
        case _:
            return _Parts(None, mask)


def _constant_parts(chain: Chain, array: Array) -> _Parts:
    import numpy as np

    low = _lowest_of(array)
    rest = np.where(low, np.zeros((), array.dtype), array)
    added = chain.add(array_constant(rest)) if rest.any() else None
    return _Parts(chain.add(array_constant(~low)), added)


def _chosen(chain: Chain, op: SelectOp) -> _Parts:
    choice = _choice(op)
    assert choice is not None
    drops, other = choice
    keeps = chain.add(LogicalNotOp(op.condition)) if drops else op.condition
    return _sum(chain, _Parts(keeps, None), _parts(chain, other))


def _sum(chain: Chain, one: _Parts, other: _Parts) -> _Parts:
    keeps = other.keeps if one.keeps is None else one.keeps
    added = other.added if one.added is None else one.added
    if one.keeps is not None and other.keeps is not None:
        keeps = chain.add(AndOp(one.keeps, other.keeps))
    if one.added is not None and other.added is not None:
        added = chain.add(AddOp(one.added, other.added))
    return _Parts(keeps, added)


def _moved(chain: Chain, op: _Movement, inner: _Parts) -> _Parts:
    """Moves both parts as an op moves their sum."""

    def move(value: SSAValue | None) -> SSAValue | None:
        if value is None:
            return None
        whole = chain.broadcast(value, value_shape(op.input))
        if isinstance(op, TransposeOp):
            return chain.add(TransposeOp(whole, op.permutation))
        shape = value_shape(op.result)
        if isinstance(op, ReshapeOp):
            return chain.reshape(whole, shape)
        return chain.broadcast(value, shape)

    return _Parts(move(inner.keeps), move(inner.added))


def _whole(chain: Chain, parts: _Parts) -> SSAValue:
    """Returns the mask that two parts make; a constant where both are constants."""
    import numpy as np

    keeps, added = parts.keeps, parts.added
    assert keeps is not None
    assert element_type_of(keeps) == i1
    if added is None:
        return keeps
    kept, numbers = common_array(keeps, MOST_ELEMENTS), common_array(added, MOST_ELEMENTS)
    if kept is not None and numbers is not None:
        lowest = np.full((), -np.inf, numbers.dtype)
        return chain.add(array_constant(np.where(kept, numbers, lowest)))
    fill = chain.add(float_constant(-inf, element_type_of(added)))
    return chain.add(SelectOp(keeps, added, fill))
