"""Products of matrices that exporters store transposed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.constants import array_constant, constant_array, constant_attr
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.types import byte_size
from ge_dialect.passes.raising.heads import Chain
from ge_dialect.passes.raising.match import Found, Raise

MOST_BYTES = 16 << 20
"""Of a weight that is transposed at compile time; a larger one stays where it is, in its file."""


@dataclass
class _Product(Found):
    left: SSAValue
    right: SSAValue
    transposed: bool

    def build(self) -> list[Operation]:
        import numpy as np

        chain, right = Chain(), self.right
        if self.transposed and (array := constant_array(right)) is not None:
            right = chain.add(array_constant(np.ascontiguousarray(array.T)))
        chain.add(MatmulOp(self.left, right))
        return chain.ops


class PlainGemm(Raise):
    """`gemm(a, w) trans_b` -> `matmul(a, transposed w)`, without bias and factors, `w` constant."""

    roots = (GemmOp,)
    composite: ClassVar = "gemm"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, GemmOp)
        if op.c is not None or op.trans_a is not None or op.alpha.value.data != 1:
            return None
        turned = op.trans_b is not None
        if turned and constant_attr(op.b) is None:
            return None
        if turned and (byte_size(op.b.type) or 0) > MOST_BYTES:
            return None
        return _Product(op.a, op.b, turned, ops=[op])
