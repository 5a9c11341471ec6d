"""Slices that cut a value into pieces are one split."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ge_dialect.ge.pieces import SliceOp, SplitOp
from ge_dialect.ge.types import value_shape
from ge_dialect.locations import fuse
from ge_dialect.passes.canonicalization.axes import plain_spans
from ge_dialect.passes.driver import Rewrite

MOST_PIECES = 16


class SplitForSlices(Rewrite):
    """`slice(x)[:i], slice(x)[i:j], slice(x)[j:]` -> `split(x)`, where nothing is missing."""

    roots = (SliceOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, SliceOp)
        if (span := _only_span(op)) is None or (place := _after(op.input, op.parent)) is None:
            return
        if (pieces := _pieces(op, span[0])) is None:
            return
        split = SplitOp(op.input, span[0], [end - start for start, end in pieces])
        cuts = list(pieces.values())
        if [cut.result.type for cut in cuts] != [result.type for result in split.results]:
            return
        split.location = fuse(cut.location for cut in cuts)
        rewriter.insert(split, place)
        for cut, result in zip(cuts, split.results, strict=True):
            rewriter.replace(cut, (), [result])


def _only_span(op: SliceOp) -> tuple[int, int, int] | None:
    """Returns the axis, start and end of a slice that cuts one dimension in steps of 1."""
    spans = plain_spans(op)
    return spans[0] if spans is not None and len(spans) == 1 else None


def _after(value: SSAValue, block: Block | None) -> InsertPoint | None:
    """Returns the place in `block` from which on a value that it computes can be read."""
    owner = value.owner
    if block is None or (owner if isinstance(owner, Block) else owner.parent) is not block:
        return None
    return InsertPoint.at_start(block) if isinstance(owner, Block) else InsertPoint.after(owner)


def _pieces(op: SliceOp, axis: int) -> dict[tuple[int, int], SliceOp] | None:
    """Returns slices of the same value by their bounds, in order: every element is in one."""
    found: dict[tuple[int, int], SliceOp] = {}
    for use in op.input.uses:
        user = use.operation
        if not isinstance(user, SliceOp) or user.parent is not op.parent:
            continue
        span = _only_span(user)
        if span is not None and span[0] == axis:
            if span[1:] in found:  # merged by `ge-cse` first
                return None
            found[span[1:]] = user
    bounds = sorted(found)
    ends = [0, *(end for _, end in bounds)]
    starts = [*(start for start, _ in bounds), value_shape(op.input)[axis]]
    if not 2 <= len(bounds) <= MOST_PIECES or ends != starts or any(a == b for a, b in bounds):
        return None
    return {bound: found[bound] for bound in bounds}


CUTS_PATTERNS = (SplitForSlices,)
