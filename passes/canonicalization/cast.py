"""Casts: those to the same type, and chains whose first step keeps every value."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
)
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.dtypes import dtype_of, find_dtype, is_bool, is_float, is_integer
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.passes.driver import Rewrite

_FLOATS: dict[type[Attribute], tuple[int, int]] = {
    Float16Type: (11, 5),
    BFloat16Type: (8, 8),
    Float32Type: (24, 8),
    Float64Type: (53, 11),
}
"""Bits of the significand, the hidden one included, and of the exponent."""


def keeps_every_value(source: Attribute, target: Attribute) -> bool:
    """Whether each value of `source`, signed zeros and NaN included, is one of `target`."""
    if source == target or find_dtype(source) is None or find_dtype(target) is None:
        return source == target
    if type(source) in _FLOATS:
        if type(target) not in _FLOATS:
            return False
        mine, theirs = _FLOATS[type(source)], _FLOATS[type(target)]
        return mine[0] <= theirs[0] and mine[1] <= theirs[1]
    if not is_integer(source) and not is_bool(source):
        return False
    if type(target) in _FLOATS:
        return _value_bits(source) <= _FLOATS[type(target)][0]
    if not is_integer(target):
        return False
    if _signed(source) and not _signed(target):
        return False
    return _value_bits(source) <= _value_bits(target)


def _signed(type_: Attribute) -> bool:
    return dtype_of(type_).name.startswith("i") and not is_bool(type_)


def _value_bits(type_: Attribute) -> int:
    return 1 if is_bool(type_) else dtype_of(type_).bits - _signed(type_)


def converts_alike(source: Attribute, middle: Attribute, target: Attribute) -> bool:
    """Whether a cast to `target` gives the same from a value in `source` and in `middle`.

    A float outside the range of an integer saturates, where an integer would wrap.
    """
    if keeps_every_value(source, target):
        return True
    plain = all(type(t) in _FLOATS or isinstance(t, IntegerType) for t in (source, middle, target))
    same_kind = is_float(source) == is_float(middle)
    return plain and (same_kind or is_bool(target) or is_float(target))


class ElideIdentityCast(Rewrite):
    """`cast(x)` -> `x`, where the element type stays."""

    roots = (CastOp,)
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, CastOp)
        if op.input.type == op.result.type:
            rewriter.replace(op, (), [op.input])


class MergeLosslessCasts(Rewrite):
    """`cast(cast(x))` -> `cast(x)`, where the first cast keeps every value."""

    roots = (CastOp,)
    reads = (CastOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, CastOp)
        inner = op.input.owner
        if not isinstance(inner, CastOp):
            return
        source, middle, target = map(element_type_of, (inner.input, inner.result, op.result))
        if keeps_every_value(source, middle) and converts_alike(source, middle, target):
            rewriter.replace(op, CastOp(inner.input, target))


CAST_PATTERNS = (ElideIdentityCast, MergeLosslessCasts)
