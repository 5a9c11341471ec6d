"""Rotary embeddings without properties that say what the shape says."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.attention import RotaryEmbeddingOp
from ge_dialect.ge.base import int_attr
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.driver import Rewrite


class PlainRotary(Rewrite):
    """`num_heads` -> 0 and `rotary_dim D` -> 0, for an input `[B, H, S, D]`."""

    roots = (RotaryEmbeddingOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, RotaryEmbeddingOp)
        shape = value_shape(op.input)
        if len(shape) != 4:
            return
        superfluous = [
            name
            for name, found in (("num_heads", op.num_heads), ("rotary_dim", op.rotary_dim))
            if found.value.data and (name == "num_heads" or found.value.data == shape[3])
        ]
        for name in superfluous:
            op.properties[name] = int_attr(0)
        if superfluous:
            rewriter.notify_op_modified(op)


ROTARY_PATTERNS = (PlainRotary,)
