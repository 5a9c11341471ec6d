"""Splits of features that a reshape took apart: they are splits and slices of what it was."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.pieces import SliceOp, SplitOp
from ge_dialect.ge.types import MaybeDim, value_shape
from ge_dialect.passes.canonicalization.groups import is_known
from ge_dialect.passes.driver import Rewrite
from ge_dialect.symbols import product

_ALL = (1 << 63) - 1


class SplitBeforeReshape(Rewrite):
    """`split(reshape(x))` -> `reshape(split(x))`, for features `[..., a, b]` that were one
    dimension before, cut along a; cut along b in single elements: `reshape(slice(x))` with steps.

    So halves and neighbours are cut the same way in whatever way an exporter takes them apart.
    """

    roots = (SplitOp,)
    reads = (ReshapeOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, SplitOp)
        reshape, axis = op.input.owner, op.dimension
        if not isinstance(reshape, ReshapeOp):
            return
        before, after = value_shape(reshape.input), value_shape(reshape.result)
        sizes, last = op.sizes.get_values(), len(after) - 1
        if axis < last - 1 or len(after) <= len(before) or not is_known(after):
            return
        outer, inner = after[-2:]
        if not isinstance(inner, int) or outer is None or (axis == last and inner != len(sizes)):
            return
        merged: tuple[MaybeDim, ...] = (*after[:-2], product([outer, inner]))
        whole = ReshapeOp(reshape.input, merged)
        if axis == last:
            cuts: list[Operation] = [
                SliceOp(whole.result, [start], [_ALL], [last - 1], [inner])
                for start in range(inner)
            ]
        else:
            cuts = [SplitOp(whole.result, axis, [size * inner for size in sizes])]
        found = [result for cut in cuts for result in cut.results]
        pieces = [
            ReshapeOp(one, value_shape(piece)) for one, piece in zip(found, op.results, strict=True)
        ]
        rewriter.replace(op, [whole, *cuts, *pieces], [piece.result for piece in pieces])


UNBOUND_PATTERNS = (SplitBeforeReshape,)
