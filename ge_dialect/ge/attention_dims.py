"""Shapes of the operands of attention."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import expect_rank
from ge_dialect.ge.dims import merge_dims
from ge_dialect.ge.types import MaybeDim


def attention_dims(
    q: SSAValue, k: SSAValue, v: SSAValue
) -> tuple[MaybeDim, MaybeDim, MaybeDim, MaybeDim, MaybeDim]:
    """Returns B, H, S, T and Dv of `[B, H, S, D]`, `[B, Hk, T, D]` and `[B, Hk, T, Dv]`.

    Raises:
        VerifyException: They do not fit.
    """
    operands = ((q, "q"), (k, "k"), (v, "v"))
    query, key, value = (expect_rank(x, 4, name) for x, name in operands)
    batch = merge_dims(query[0], key[0], "'q' and 'k' in the batch")
    batch = merge_dims(batch, value[0], "'q' and 'v' in the batch")
    merge_dims(query[3], key[3], "'q' and 'k' in the last dimension")
    columns = merge_dims(key[2], value[2], "'k' and 'v' in the sequence")
    key_heads = merge_dims(key[1], value[1], "'k' and 'v' in the heads")
    heads = query[1]
    if not _may_group(heads, key_heads):
        raise VerifyException(f"expected heads in multiples of {key_heads}, got {heads}")
    return batch, heads, query[2], columns, value[3]


def _may_group(heads: MaybeDim, key_heads: MaybeDim) -> bool:
    if not isinstance(heads, int) or not isinstance(key_heads, int):
        return True
    return key_heads > 0 and heads % key_heads == 0
