"""The check of tiles that pass in blocks: which computed values need no place as a whole.

Written from what a core can do with a block of rows; the choice of tiles does not use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from ge_dialect.ge.attention import RotaryEmbeddingOp
from ge_dialect.ge.base import FusionKind, GEOp
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.movement import MovementOp
from ge_dialect.ge.normalization import NormalizationOp
from ge_dialect.ge.reductions import AxisSoftmaxOp, ReduceOp
from ge_dialect.ge.selection import ArgReduceOp
from ge_dialect.ge_exec.tiling import SHARED_TIER, TileBuffer


def streaming_values(
    ops: Sequence[GEOp], values: Mapping[str, SSAValue], buffers: Mapping[str, TileBuffer]
) -> set[SSAValue]:
    """Returns the computed values of which blocks are enough.

    These are elements that can be computed again from operands and from the sums of one norm; and
    what leads to nothing but a value in L2, row after row.

    Args:
        ops: Of the body, in order.
        values: By name.
        buffers: By name.
    """
    in_l2 = {value for name, value in values.items() if buffers[name].tier == SHARED_TIER}
    cheap = _cheap_ops(ops)
    readers: dict[SSAValue, list[GEOp]] = {}
    for op in ops:
        for operand in op.operands:
            readers.setdefault(operand, []).append(op)
    found: set[SSAValue] = set()
    for op in reversed(ops):
        for result in op.results:
            users = readers.get(result, [])
            if users and all(_passes(op, user, in_l2 | found, cheap) for user in users):
                found.add(result)
    return found - in_l2


def _passes(op: GEOp, user: GEOp, passing: set[SSAValue], cheap: set[GEOp]) -> bool:
    """Whether a reader of a result can do with a block of it at a time."""
    by_rows = _by_rows(user)
    if op in cheap:
        return by_rows or isinstance(
            user, MatmulOp | GemmOp | ReduceOp | AxisSoftmaxOp | ArgReduceOp
        )
    # The other parts of a split are whole, as all that does not pass.
    return by_rows and any(result in passing for result in user.results)


def _by_rows(op: GEOp) -> bool:
    is_elementwise = op.FUSION_KIND is FusionKind.ELEMENTWISE
    return isinstance(op, MovementOp | NormalizationOp | RotaryEmbeddingOp) or is_elementwise


def _cheap_ops(ops: Sequence[GEOp]) -> set[GEOp]:
    """Returns the ops that a product may have computed again for each of its blocks: norms of what
    no product and no reduction gives, and what is simpler."""
    found: set[GEOp] = set()
    norms: dict[SSAValue, int] = {}  # one behind the other; 2 stands for all that is too much
    for op in ops:
        count = max((norms.get(operand, 0) for operand in op.operands), default=0)
        count += isinstance(op, NormalizationOp)
        if _by_rows(op) and count < 2:
            found.add(op)
        else:
            count = 2
        norms.update(dict.fromkeys(op.results, count))
    return found
