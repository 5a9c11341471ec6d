"""Axes and bounds in one form, so that ops that do the same have the same attributes."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.base import int_attr, ints_attr
from ge_dialect.ge.indexing import GatherOp
from ge_dialect.ge.normalization import LayerNormOp, RMSNormOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.reductions import ReduceOp, SoftmaxOp
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.canonicalization.reshape import REDUCTIONS
from ge_dialect.passes.driver import Rewrite

_FromFront: TypeAlias = ConcatOp | GatherOp | SplitOp
_FromBack: TypeAlias = LayerNormOp | RMSNormOp | SoftmaxOp


class CountAxisFromFront(Rewrite):
    """`concat axis -1` -> `concat axis 2` of operands of rank 3; so for gather and split."""

    roots = (ConcatOp, GatherOp, SplitOp)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, _FromFront)
        if op.axis.value.data < 0:
            op.properties["axis"] = int_attr(op.dimension)
            rewriter.notify_op_modified(op)


class CountAxisFromBack(Rewrite):
    """`layer_norm axis 2` -> `layer_norm axis -1` of rank 3; so for RMS norm and softmax."""

    roots = (LayerNormOp, RMSNormOp, SoftmaxOp)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, _FromBack)
        if (axis := op.axis.value.data) >= 0:
            op.properties["axis"] = int_attr(axis - len(value_shape(op.input)))
            rewriter.notify_op_modified(op)


class SortReducedAxes(Rewrite):
    """`reduce axes [-1, 1]` -> `reduce axes [1, 2]` of rank 3."""

    roots = REDUCTIONS

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, ReduceOp)
        plain = sorted(op.reduced_axes)
        if list(op.axes.get_values()) != plain:
            op.properties["axes"] = ints_attr(plain)
            rewriter.notify_op_modified(op)


class PlainSliceBounds(Rewrite):
    """`slice starts [-4] ends [9223372036854775807]` -> `slice starts [4] ends [8]` of 8 elements.

    Axes come in order, and those that are taken as a whole go. Only for steps of 1 along
    dimensions of known size.
    """

    roots = (SliceOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, SliceOp)
        if (spans := plain_spans(op)) is None:
            return
        cut = [span for span in spans if span[1:] != (0, value_shape(op.input)[span[0]])]
        cut = cut or spans[:1]
        axes, starts, ends = (list(column) for column in zip(*cut, strict=True))
        wanted = {"starts": starts, "ends": ends, "axes": axes, "steps": [1] * len(axes)}
        if all(list(getattr(op, name).get_values()) == wanted[name] for name in wanted):
            return
        for name, values in wanted.items():
            op.properties[name] = ints_attr(values)
        rewriter.notify_op_modified(op)


def plain_spans(op: SliceOp) -> list[tuple[int, int, int]] | None:
    """Returns (axis, start, end) of each sliced axis, sorted, bounds in `[0, size]`.

    None where a step is not 1, a size is not known, or nothing is sliced.
    """
    found: list[tuple[int, int, int]] = []
    for axis, start, end, step in sorted(op.spans()):
        size = value_shape(op.input)[axis]
        if step != 1 or not isinstance(size, int):
            return None
        start, end = (min(max(x + size if x < 0 else x, 0), size) for x in (start, end))
        found.append((axis, start, max(start, end)))
    return found or None


AXES_PATTERNS = (CountAxisFromFront, CountAxisFromBack, SortReducedAxes, PlainSliceBounds)
