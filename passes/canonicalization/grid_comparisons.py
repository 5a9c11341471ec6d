"""Comparisons of indices that are computed from sizes: decided by the sizes, or a triangle.

Masks compare the positions of keys with those of queries. Where sizes are numbers these are
constants; where they are symbols, positions are affine functions of their coordinates, and so is
their difference, whose bounds over all coordinates are expressions over symbols.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.binary import (
    BinaryOp,
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
)
from ge_dialect.ge.symbolic import data_ranges, function_of, symbol_ranges
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.canonicalization.filled import broadcast_number, is_symbolic
from ge_dialect.passes.canonicalization.index_grids import Affine, Follower
from ge_dialect.passes.driver import Rewrite
from ge_dialect.passes.values import in_kernel
from ge_dialect.symbols import Dim, SymbolRange, bounds
from ge_dialect.symbols.expr import terms_of

_MOST_FACTOR = 1 << 31
"""The greatest number in an index: with sizes below it, no sum or product of indices wraps."""

COMPARISONS = (LessEqualOp, LessOp, GreaterEqualOp, GreaterOp)


def ranges_at(op: Operation) -> Mapping[str, SymbolRange]:
    """Returns what is known of the symbols of the function that an op is in."""
    function = function_of(op)
    return {} if function is None else symbol_ranges(function) | data_ranges(function)


def excess(op: BinaryOp) -> Affine | None:
    """Returns what is 0 or less exactly where a comparison of indices holds, or None.

    For `equal` it is what is 0.
    """
    dims = [dim for dim in value_shape(op.result) if dim is not None]
    if len(dims) != len(value_shape(op.result)):
        return None
    falls = isinstance(op, GreaterEqualOp | GreaterOp)
    pair = Follower().pair(op, tuple(dims))
    if pair is None:
        return None
    less, more = pair[::-1] if falls else pair
    try:
        found = less.minus(more)
    except ValueError:  # too large to name
        return None
    strict = isinstance(op, LessOp | GreaterOp)
    sides = (less.base, *less.factors, more.base, *more.factors)
    return found.plus(int(strict)) if all(map(_is_small, sides)) else None


def _is_small(dim: Dim) -> bool:
    return all(abs(coefficient) < _MOST_FACTOR for _, coefficient in terms_of(dim))


def bounds_of(index: Affine, ranges: Mapping[str, SymbolRange]) -> tuple[int, int | None]:
    """Returns the least and the greatest element, as `bounds` does; of no element any number."""
    ends: list[Dim] = []
    for sign in (-1, 1):
        end = index.base
        for dim, factor in zip(index.shape, index.factors, strict=True):
            if not isinstance(factor, int):
                return bounds(-1 << 63, ranges)[0], None
            if factor * sign > 0:
                end = factor * (dim - 1) + end
        ends.append(end)
    return bounds(ends[0], ranges)[0], bounds(ends[1], ranges)[1]


class DecideGrid(Rewrite):
    """`range(n) <= n - 1` -> true, and the like, where the sizes decide for all elements."""

    roots = (*COMPARISONS, EqualOp)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, BinaryOp)
        if not is_symbolic(op.result) or in_kernel(op) or (index := excess(op)) is None:
            return
        try:
            low, high = bounds_of(index, ranges_at(op))
        except ValueError:  # too large to name
            return
        if isinstance(op, EqualOp):
            holds = True if low == high == 0 else False if low > 0 or _below(high, 0) else None
        else:
            holds = True if _below(high, 1) else False if low > 0 else None
        if holds is not None:
            rewriter.replace(op, broadcast_number(holds, op.result))


def _below(high: int | None, end: int) -> bool:
    return high is not None and high < end


GRID_COMPARISON_PATTERNS = (DecideGrid,)
