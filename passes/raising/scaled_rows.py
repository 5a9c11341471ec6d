"""Scores that are scaled in another shape than they are made and read in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.binary import DivOp, MulOp
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.types import Shape, value_shape
from ge_dialect.passes.canonicalization.groups import same_shape
from ge_dialect.passes.raising.heads import Chain
from ge_dialect.passes.raising.match import Found, Raise, with_scalar
from ge_dialect.passes.values import owner


@dataclass
class _Scaled(Found):
    """Scores, in the shape that they are read in, and what scales them."""

    scores: SSAValue
    shape: Shape
    scale: MulOp | DivOp
    number: SSAValue

    def build(self) -> list[Operation]:
        chain = Chain()
        scores = chain.reshape(self.scores, self.shape)
        chain.add(type(self.scale)(scores, self.number))
        return chain.ops


class ScaleRows(Raise):
    """`reshape(reshape(matmul) * c)` -> `reshape(matmul) * c`, where rows and columns stay.

    For a constant c of one element.
    """

    roots = (ReshapeOp,)
    reads = (MulOp, DivOp)
    composite: ClassVar = "attention"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, ReshapeOp)
        scale = owner(op.input, MulOp) or owner(op.input, DivOp)
        part = None if scale is None else with_scalar(scale)
        inner = None if part is None else owner(part[0], ReshapeOp)
        if scale is None or inner is None or owner(inner.input, MatmulOp) is None:
            return None
        if not scale.result.has_one_use() or not inner.result.has_one_use():
            return None  # a maximum is taken as well: it is no softmax yet
        number = scale.rhs if scale.lhs is inner.result else scale.lhs
        if isinstance(scale, DivOp) and number is scale.lhs:
            return None
        shape, made = value_shape(op.result), value_shape(inner.input)
        if not same_shape(shape[-2:], made[-2:]) or None in shape:
            return None
        return _Scaled(inner.input, shape, scale, number, ops=[op, scale, inner])
