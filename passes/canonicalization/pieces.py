"""Slices, concatenations, splits, pads, tiles and broadcasts that leave everything as it is."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.movement import BroadcastToOp, TileOp
from ge_dialect.ge.pieces import ConcatOp, PadOp, SliceOp, SplitOp
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.canonicalization.groups import is_known, same_shape
from ge_dialect.passes.driver import Rewrite, can_stand_for


class ElideWholeSlice(Rewrite):
    """`slice(x)` -> `x`, where nothing is cut off and nothing reversed."""

    roots = (SliceOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, SliceOp)
        if op.view_of() == 0 and can_stand_for(op.input, op.result):
            rewriter.replace(op, (), [op.input])


class ElideConcatOfOne(Rewrite):
    """`concat(x)` -> `x`."""

    roots = (ConcatOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, ConcatOp)
        if len(op.inputs) == 1 and can_stand_for(op.inputs[0], op.result):
            rewriter.replace(op, (), [op.inputs[0]])


class ElideSplitInOne(Rewrite):
    """`split(x)` into one piece -> `x`."""

    roots = (SplitOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, SplitOp)
        if len(op.results) == 1 and op.results[0].type == op.input.type:
            rewriter.replace(op, (), [op.input])


class ElideEmptyPad(Rewrite):
    """`pad(x)` by nothing -> `x`."""

    roots = (PadOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, PadOp)
        if not any(op.pads.get_values()) and can_stand_for(op.input, op.result):
            rewriter.replace(op, (), [op.input])


class ElideSingleTile(Rewrite):
    """`tile(x)` once along every dimension -> `x`."""

    roots = (TileOp,)
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, TileOp)
        if set(op.repeats.get_values()) <= {1} and can_stand_for(op.input, op.result):
            rewriter.replace(op, (), [op.input])


class BroadcastForTile(Rewrite):
    """`tile(x)` -> `broadcast_to(x)`, where only dimensions of size 1 are repeated."""

    roots = (TileOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, TileOp)
        shape, counts = value_shape(op.input), op.repeats.get_values()
        wanted = value_shape(op.result)
        alike = all(count == 1 or dim == 1 for dim, count in zip(shape, counts, strict=True))
        if alike and is_known(wanted):
            rewriter.replace(op, BroadcastToOp(op.input, wanted))


class ElideIdentityBroadcast(Rewrite):
    """`broadcast_to(x)` -> `x`, where the shape stays."""

    roots = (BroadcastToOp,)
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, BroadcastToOp)
        if same_shape(value_shape(op.input), value_shape(op.result)):
            rewriter.replace(op, (), [op.input])


class MergeBroadcasts(Rewrite):
    """`broadcast_to(broadcast_to(x))` -> `broadcast_to(x)`."""

    roots = (BroadcastToOp,)
    reads = (BroadcastToOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, BroadcastToOp)
        inner, shape = op.input.owner, value_shape(op.result)
        if isinstance(inner, BroadcastToOp) and is_known(shape):
            rewriter.replace(op, BroadcastToOp(inner.input, shape))


PIECES_PATTERNS = (
    ElideWholeSlice,
    ElideConcatOfOne,
    ElideSplitInOne,
    ElideEmptyPad,
    ElideSingleTile,
    BroadcastForTile,
    ElideIdentityBroadcast,
    MergeBroadcasts,
)
