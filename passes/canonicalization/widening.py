"""Comparisons of what was made wider before."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.binary import EqualOp
from ge_dialect.ge.constants import array_constant, constant_scalar
from ge_dialect.ge.dtypes import is_integer, to_numpy
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.types import element_type_of, value_shape
from ge_dialect.passes.canonicalization.cast import keeps_every_value
from ge_dialect.passes.driver import Rewrite


class CompareBeforeWidening(Rewrite):
    """`cast(x) = c` -> `x = c`, of integers, where the cast keeps every value and c is one of x."""

    roots = (EqualOp,)
    reads = (CastOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, EqualOp)
        cast, number = op.lhs.owner, constant_scalar(op.rhs)
        if not isinstance(cast, CastOp) or number is None or value_shape(op.rhs):
            return
        narrow, wide = element_type_of(cast.input), element_type_of(cast.result)
        if not is_integer(narrow) or not is_integer(wide) or not keeps_every_value(narrow, wide):
            return
        import numpy as np

        dtype = np.dtype(to_numpy(narrow))
        if dtype.kind in "iu" and np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
            constant = array_constant(np.asarray(number, dtype))
            rewriter.replace(op, [constant, EqualOp(cast.input, constant)])


WIDENING_PATTERNS = (CompareBeforeWidening,)
