"""Weights of attention that several products with values share.

Source: Ye et al., "Differential Transformer" (2024): halves of the values have weights in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect import remarks
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.effects import is_side_effect_free
from ge_dialect.ge.pieces import ConcatOp, SplitOp
from ge_dialect.ge.types import element_type_of, show_shape, value_shape
from ge_dialect.locations import fuse
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.attention import RaiseAttention
from ge_dialect.passes.raising.attention_weights import WAYS
from ge_dialect.passes.raising.match import NAME, Found, Raise
from ge_dialect.passes.values import in_kernel, reads_of
from ge_dialect.remarks import ReasonClass


@dataclass
class _Joined(Found):
    """Products that become one of the joined values, and a split.

    Attributes:
        weights: What they share.
        values: Of each product.
        late: What computes values after the first product, the last first.
    """

    weights: SSAValue
    values: Sequence[SSAValue]
    late: Sequence[Operation]

    def build(self) -> list[Operation]:
        axis = len(value_shape(self.values[0])) - 1
        concat = ConcatOp(self.values, axis)
        product = MatmulOp(self.weights, concat.result)
        sizes = [dim for value in self.values if isinstance(dim := value_shape(value)[-1], int)]
        return [concat, product, SplitOp(product.result, axis, sizes)]


class JoinValues(Raise):
    """`matmul(p, v)`, `matmul(p, w)` -> `split(matmul(p, concat(v, w)))`.

    Where p are the weights of an attention that nobody else reads: `RaiseAttention` makes one op of
    the product that is left.
    """

    roots = (MatmulOp,)
    reads = WAYS
    composite: ClassVar = "attention"

    def find(self, op: Operation) -> _Joined | None:
        assert isinstance(op, MatmulOp)
        products = _products(op)
        if len(products) < 2:
            return None
        try:
            attention = RaiseAttention().find(op)
        except NearMissError:
            return None  # that pattern says so
        if attention is None or not _read_only_by(attention.ops[1:], products):
            return None
        values = [product.rhs for product in products]
        _expect_joined(values)
        return _Joined(op.lhs, values, _late_ops(products), ops=[*products])

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        rule = type(self).__name__
        try:
            if in_kernel(op) or (found := self.find(op)) is None:
                return
        except NearMissError as miss:
            miss.report(NAME, rule, op)
            return
        new, location = found.build(), fuse(one.location for one in found.ops)
        for one in new:
            one.location = location
        remarks.passed(NAME, rule, op, f"{len(found.ops)} products of the same weights are one")
        for one in reversed(found.late):
            one.detach()
            rewriter.insert(one)
        rewriter.insert(new)
        for product, part in zip(found.ops, new[-1].results, strict=True):
            rewriter.replace(product, [], [part])


def _products(first: MatmulOp) -> list[MatmulOp]:
    """Returns the users of weights in order; nothing where one is no product, or before `first`."""
    users = {use.operation for use in first.lhs.uses}
    for user in users:
        if not isinstance(user, MatmulOp) or user.rhs is first.lhs or user.parent != first.parent:
            return []
    found: list[MatmulOp] = []
    op: Operation | None = first
    while op is not None and len(found) < len(users):
        if isinstance(op, MatmulOp) and op in users:
            found.append(op)
        op = op.next_op
    return found if len(found) == len(users) else []


def _late_ops(products: Sequence[MatmulOp]) -> list[Operation]:
    """Returns the ops after the first product that values of the others need, the last first.

    Raises:
        NearMissError: They can not be computed before the first product.
    """
    first, op = products[0], products[-1].prev_op
    needed = {product.rhs.owner for product in products}
    found: list[Operation] = []
    while op is not None and op is not first:
        if op in needed:
            found.append(op)
            needed.update(value.owner for value in reads_of(op))
        op = op.prev_op
    stuck = [one for one in found if one in products or not is_side_effect_free(one)]
    if stuck or first in needed:
        text = "values of the same weights can not be computed before the first product"
        raise NearMissError(ReasonClass.USE, text)
    return found


def _read_only_by(ops: Sequence[Operation], products: Sequence[Operation]) -> bool:
    """Whether nobody but `ops` and `products` reads what `ops` compute."""
    inside = {*ops, *products}
    return all(use.operation in inside for op in ops for one in op.results for use in one.uses)


def _expect_joined(values: Sequence[SSAValue]) -> None:
    """Checks that values differ in their last dimension only.

    Raises:
        NearMissError: They are not.
    """
    shape = value_shape(values[0])
    for value in values:
        mine, element = value_shape(value), element_type_of(value)
        if element != element_type_of(values[0]):
            text = "values of the same weights have different types"
            raise NearMissError(ReasonClass.DTYPE, text, str(element))
        if mine[:-1] != shape[:-1] or None in mine or not isinstance(mine[-1], int):
            text = "values of the same weights have different shapes"
            raise NearMissError(ReasonClass.SHAPE, text, show_shape(mine), show_shape(shape))
