"""Masks of attention that are known: causal ones are an attribute, empty ones nothing at all.

A float mask of zeros and numbers that no score comes up to says which keys are kept. Where every
query keeps a key that is exact: what is dropped has weight 0, and no guard against NaN is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.constants import array_constant, common_array
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.raising.attention_scores import ABSORBING
from ge_dialect.passes.raising.bounds import lowest
from ge_dialect.passes.raising.match import Found, Raise
from ge_dialect.passes.raising.queries import with_mask

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"

MOST_ELEMENTS = 1 << 24


@dataclass
class _Plain(Found):
    """An attention with a simpler mask, or none."""

    attention: FlashAttentionOp
    mask: Array | SSAValue | None
    offset: int | None
    guard: bool

    def build(self) -> list[Operation]:
        op = self.attention
        new: list[Operation] = []
        mask = self.mask
        if mask is not None and not isinstance(mask, SSAValue):
            new.append(array_constant(mask))
            mask = new[0].results[0]
        causal = self.offset is not None or op.causal is not None
        new.append(
            with_mask(
                op,
                mask,
                causal=None if self.offset is None else True,
                causal_offset=self.offset or None,
                masked_fill=op.masked_fill is not None and (mask is not None or causal),
                nan_guard=self.guard,
                zero_nan=op.zero_nan is not None,
            )
        )
        return new


class SimplifyConstantMask(Raise):
    """`flash_attention(q, k, v, triangle)` -> `flash_attention(q, k, v) causal`, and the like.

    A mask that drops nothing goes; one of numbers becomes one of truth values; what is the same
    for all batches, heads or queries is kept once; the guard against NaN goes with a mask that
    leaves every query a key.
    """

    roots = (FlashAttentionOp,)
    composite: ClassVar = "attention"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, FlashAttentionOp)
        mask = None if op.mask is None else common_array(op.mask, MOST_ELEMENTS)
        if (mask is None) != (op.mask is None):
            return _unguarded(op)
        if mask is not None and mask.size == 0:
            return None
        truth = None if mask is None else _truth(op, mask)
        offset = None if truth is None or op.causal is not None else _causal_offset(op, truth)
        best = mask if truth is None else truth
        if offset is not None or (truth is not None and truth.all()):
            best = None
        best = None if best is None else _once(best)
        guard = op.nan_guard is not None and not _leaves_a_key(op, mask, truth)
        same_mask = best is None if mask is None else best is not None and _same(best, mask)
        if same_mask and guard == (op.nan_guard is not None):
            return None
        return _Plain(op, best, offset, guard, ops=[op])


def _unguarded(op: FlashAttentionOp) -> _Plain | None:
    """Returns `op` without a guard that has nothing to do: its mask takes no key away for good."""
    if op.mask is None or op.nan_guard is None or op.causal is not None:
        return None
    return None if lowest(op.mask) == -inf else _Plain(op, op.mask, None, False, ops=[op])


def _same(first: Array, second: Array) -> bool:
    return first.dtype == second.dtype and first.shape == second.shape


def _truth(op: FlashAttentionOp, mask: Array) -> Array | None:
    """Returns which keys a mask keeps, or None where truth values can not say what it does."""
    if mask.dtype.kind == "b":
        return mask
    if op.masked_fill is not None:  # truth values would replace what numbers are added to
        return None
    import numpy as np

    keeps, drops = mask == 0, mask == -np.inf
    # A query that keeps no key gives NaN for minus infinity, but the mean for large numbers.
    if mask.dtype.name in ("float32", "float64") and _every_row(op, keeps):
        drops = mask <= ABSORBING
    return keeps if (keeps | drops).all() else None


def _every_row(op: FlashAttentionOp, keeps: Array) -> bool:
    """Whether every query keeps a key."""
    import numpy as np

    keys = value_shape(op.k)[2]
    if keeps.ndim == 0 or not isinstance(keys, int) or keys == 0:
        return False
    return bool(np.any(keeps, axis=-1).all())


def _leaves_a_key(op: FlashAttentionOp, mask: Array | None, truth: Array | None) -> bool:
    """Whether every query is known to keep a key, so that a guard has nothing to do."""
    if op.causal is not None:
        offset = 0 if op.causal_offset is None else op.causal_offset.value.data
        if mask is not None or offset < 0:
            return False
    if mask is None:
        return isinstance(keys := value_shape(op.k)[2], int) and keys > 0
    import numpy as np

    return _every_row(op, mask != -np.inf if truth is None else truth)


def _causal_offset(op: FlashAttentionOp, keeps: Array) -> int | None:
    """Returns o where query i keeps keys `j <= i + o` and no others, for some query not all."""
    import numpy as np

    queries, keys = value_shape(op.q)[2], value_shape(op.k)[2]
    if keeps.ndim < 2 or keeps.shape[-2:] != (queries, keys) or keeps.all():
        return None
    plane = keeps.reshape(-1, *keeps.shape[-2:])[0]
    offset = int(plane[0].sum()) - 1
    triangle = np.tri(*plane.shape, k=offset, dtype=np.bool_)
    return offset if offset >= 0 and (keeps == triangle).all() else None


def _once(mask: Array) -> Array:
    """Returns a mask without what repeats along its leading dimensions and its rows."""
    for axis in range(mask.ndim - 1):
        first = mask.take([0], axis)
        if mask.shape[axis] > 1 and (mask == first).all():
            mask = first
    while mask.ndim > 2 and mask.shape[0] == 1:
        mask = mask[0]
    return mask
