"""Host calls that take one number in tensors of several ranks."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.ge.base import int_attr
from ge_dialect.ge.constants import array_constant, constant_array
from ge_dialect.ge.host import plain_version
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.ge.types import value_shape
from ge_dialect.passes.driver import Rewrite

_LIMITS = {"ai.onnx::NonMaxSuppression": 2}
"""The first of the operands that are one number, by callee: scalars, or with one dimension."""


class PlainLimits(Rewrite):
    """`NonMaxSuppression(boxes, scores, [n], [t])` -> `NonMaxSuppression(boxes, scores, n, t)`.

    Of constants.
    """

    roots = (HostCallOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, HostCallOp)
        count = len(op.operands)
        for index in range(_LIMITS.get(op.callee.data, count), count):
            if _is_one_in_a_row(op.operands[index]):
                array = constant_array(op.operands[index], 1)
                assert array is not None
                scalar = array_constant(array.reshape(()))
                rewriter.insert(scalar)
                op.operands[index] = scalar.result
                rewriter.notify_op_modified(op)


class DropDefaults(Rewrite):
    """`host_call "ai.onnx::T" version 22 {a = default}` -> `host_call "ai.onnx::T" version 11`.

    Where T has been the same op since version 11.
    """

    roots = (HostCallOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, HostCallOp)
        given: Mapping[str, Attribute] = {} if op.attrs is None else op.attrs.data
        version, defaults = plain_version(op.callee.data, op.version.value.data)
        kept = {name: attr for name, attr in given.items() if defaults.data.get(name) != attr}
        if version == op.version.value.data and len(kept) == len(given):
            return
        op.version = int_attr(version)
        op.attrs = DictionaryAttr(kept) if kept else None
        rewriter.notify_op_modified(op)


def _is_one_in_a_row(value: SSAValue) -> bool:
    return value_shape(value) == (1,) and constant_array(value, 1) is not None


HOST_PATTERNS = (PlainLimits, DropDefaults)
