"""Comparisons and differences of a value with itself, where every value gives the same."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.binary import (
    BitwiseXorOp,
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
    SubOp,
    XorOp,
)
from ge_dialect.ge.constants import splat_constant
from ge_dialect.ge.dtypes import is_bool, is_integer
from ge_dialect.ge.elementwise import BinaryOp
from ge_dialect.ge.types import byte_size, element_type_of, tensor_of
from ge_dialect.passes.driver import Rewrite, can_stand_for

_MOST_BYTES = 65536
"""What a constant may add to the weights, as a folded one by default."""


class FoldEqualOperands(Rewrite):
    """`x = x`, `x <= x`, `x >= x` -> true; `x < x`, `x > x`, `x xor x`, `x - x` -> false or 0.

    Applies to integers and truth values of static shape, up to 64 KiB of result; to floats only
    `<` and `>`, which hold for no pair of equal numbers and for no NaN. `x = x` is false for NaN,
    and `x - x` is NaN for infinities.
    """

    roots: ClassVar = (
        EqualOp,
        LessEqualOp,
        GreaterEqualOp,
        LessOp,
        GreaterOp,
        XorOp,
        BitwiseXorOp,
        SubOp,
    )
    benefit = 2

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, BinaryOp)
        element_type = element_type_of(op.lhs)
        exact = is_integer(element_type) or is_bool(element_type)
        if op.lhs is not op.rhs or not (exact or isinstance(op, LessOp | GreaterOp)):
            return
        size = byte_size(op.result.type)
        if not size or size > _MOST_BYTES:  # not known, or no element to be alike
            return
        holds = isinstance(op, EqualOp | LessEqualOp | GreaterEqualOp)
        constant = splat_constant(int(holds), tensor_of(op.result))
        if can_stand_for(constant.result, op.result):
            rewriter.replace(op, constant)


COMPARISON_PATTERNS = (FoldEqualOperands,)
