"""Splits of a dimension that a reshape took apart: they are splits and slices of what it was."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.pieces import SliceOp, SplitOp
from ge_dialect.ge.types import Shape, value_shape
from ge_dialect.passes.canonicalization.groups import is_known
from ge_dialect.passes.driver import Rewrite
from ge_dialect.symbols import product

_ALL = (1 << 63) - 1


def _inner_size(before: Shape, after: Shape, axis: int) -> int | None:
    """Returns b where a reshape makes dimension `axis` two, of which the inner one has b elements;
    None where it does something else."""
    if len(after) != len(before) + 1 or not is_known(before) or not is_known(after):
        return None
    outer, inner = after[axis : axis + 2]
    if after != (*before[:axis], outer, inner, *before[axis + 1 :]) or not isinstance(inner, int):
        return None
    return inner if outer is not None and product([outer, inner]) == before[axis] else None


class SplitBeforeReshape(Rewrite):
    """`split(reshape(x))` -> `reshape(split(x))`, for pieces of the outer one of two dimensions
    that were one; of the inner one, for one element a piece, `reshape(slice(x))` with steps.

    So halves and neighbours are cut the same way in whatever way an exporter takes them apart.
    """

    roots = (SplitOp,)
    reads = (ReshapeOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, SplitOp)
        if not isinstance(reshape := op.input.owner, ReshapeOp):
            return
        before, after = value_shape(reshape.input), value_shape(reshape.result)
        sizes, axis = op.sizes.get_values(), op.dimension
        new: list[Operation] = []
        if axis + 1 < len(after) and (inner := _inner_size(before, after, axis)) is not None:
            new.append(SplitOp(reshape.input, axis, [size * inner for size in sizes]))
            cuts = list(new[0].results)
        elif axis > 0 and _inner_size(before, after, axis - 1) == len(sizes) > 1:
            steps = len(sizes)
            new += (
                SliceOp(reshape.input, [start], [_ALL], [axis - 1], [steps])
                for start in range(steps)
            )
            cuts = [one.results[0] for one in new]
        else:
            return
        pieces = [
            ReshapeOp(cut, value_shape(piece)) for cut, piece in zip(cuts, op.results, strict=True)
        ]
        rewriter.replace(op, [*new, *pieces], [piece.result for piece in pieces])


UNBOUND_PATTERNS = (SplitBeforeReshape,)
