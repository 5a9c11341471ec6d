"""What the matchers of all composites share: scalars, factors, uses, and the way they refuse."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import ClassVar

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect import remarks
from ge_dialect.ge.binary import DivOp, MulOp, PowOp
from ge_dialect.ge.constants import ConstantOp, constant_scalar
from ge_dialect.ge.elementwise import BinaryOp
from ge_dialect.ge.movement import MovementOp
from ge_dialect.ge.unary import NegOp
from ge_dialect.locations import fuse, op_name
from ge_dialect.passes.driver import Rewrite
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.values import commuted, in_kernel, owner
from ge_dialect.remarks import ReasonClass

NAME = "ge-raise"

FACTORS = (MulOp, DivOp, NegOp, PowOp)
"""What `product_of` takes apart."""


@dataclass
class Found(ABC):
    """Ops that are a composite.

    Attributes:
        ops: All of them, the one whose result is replaced first. Nobody else may use the others.
        feeders: Ops before them that the composite does as well; others may use these.
    """

    ops: list[Operation] = field(default_factory=list[Operation], kw_only=True)
    feeders: list[Operation] = field(default_factory=list[Operation], kw_only=True)

    @abstractmethod
    def build(self) -> Sequence[Operation]:
        """Returns new ops in order; the first result of the last one is the composite's."""


class Raise(Rewrite, ABC):
    """A rewrite of several ops into one that means the same.

    Attributes:
        composite: The name that the option of the pass knows.
    """

    composite: ClassVar[str]

    @abstractmethod
    def find(self, op: Operation) -> Found | None:
        """Returns the composite that `op` is the core of; None where it looks like none.

        Raises:
            NearMissError: It looks like one, and something does not fit.
        """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if in_kernel(op):
            return
        rule = type(self).__name__
        try:
            found = self.find(op)
            if found is None:
                return
            check_uses(found.ops)
        except NearMissError as miss:
            miss.report(NAME, rule, op)
            return
        new = found.build()
        old = [*found.ops, *found.feeders]
        location = fuse(one.location for one in reversed(old))
        for one in new:
            one.location = location
        count = len(old)
        remarks.passed(NAME, rule, op, lambda: f"{count} ops are one {_main(new)}")
        rewriter.replace(found.ops[0], new, [new[-1].results[0]])


def _main(new: Sequence[Operation]) -> str:
    """Returns the name of the composite among new ops: what only lays data out does not count."""
    names = [op.name for op in new if not isinstance(op, MovementOp | ConstantOp)]
    return (names or [op.name for op in new])[-1]


def check_uses(ops: Sequence[Operation]) -> None:
    """Checks that nobody but `ops` reads what they compute, the result of the first one aside.

    Raises:
        NearMissError: Somebody does.
    """
    inside = set(ops)
    for op in ops[1:]:
        for result in op.results:
            users = [use.operation for use in result.uses]
            outside = [user for user in users if user not in inside]
            if outside:
                message = (
                    f"the result of '{op_name(op)}' has {len(users)} uses, {len(outside)} outside: "
                    f"{op_name(outside[0])}"
                )
                raise NearMissError(ReasonClass.USE, message, len(outside), 0)


def with_scalar(op: BinaryOp) -> tuple[SSAValue, float] | None:
    """Returns the other operand and the scalar where one operand is a finite scalar constant.

    Either operand may be the scalar; the result has the type of the other.
    """
    for value, other in commuted(op):
        scalar = constant_scalar(other)
        if scalar is not None and isfinite(scalar) and value.type == op.results[0].type:
            return value, float(scalar)
    return None


def scaled(value: SSAValue) -> tuple[SSAValue, float] | None:
    """Returns x and c where `value` is `x * c`, `c * x`, `x / c` or `-x`, c finite; else None."""
    match value.owner:
        case MulOp() as op:
            return with_scalar(op)
        case DivOp() as op:
            divisor = constant_scalar(op.rhs)
            if divisor and isfinite(1 / divisor) and op.lhs.type == op.result.type:
                return op.lhs, 1 / float(divisor)
        case NegOp() as op:
            return op.input, -1.0
        case _:
            pass
    return None


@dataclass
class Product:
    """A product taken apart.

    Attributes:
        scalar: The product of all constant factors of one element.
        factors: The others.
        ops: What multiplies, the last first.
    """

    scalar: float
    factors: list[SSAValue]
    ops: list[Operation]


def product_of(value: SSAValue, most: int = 8) -> Product:
    """Returns the factors of a product, however it is put together; powers 2 and 3 count as such.

    Takes no product apart that has more users than one, but for the outermost.
    """
    product = Product(1.0, [], [])
    waiting = [value]
    while waiting:
        one = waiting.pop(0)
        inner = one is not value and not one.has_one_use() and not _squares(one)
        if inner or len(product.ops) >= most or not _take_apart(one, product, waiting):
            product.factors.append(one)
    return product


def _squares(value: SSAValue) -> bool:
    """Whether all users are one op that reads the value twice."""
    return len({use.operation for use in value.uses}) == 1


def _take_apart(value: SSAValue, product: Product, waiting: list[SSAValue]) -> bool:
    if (part := scaled(value)) is not None:
        product.scalar *= part[1]
        waiting.append(part[0])
    elif (multiply := owner(value, MulOp)) is not None:
        waiting += (multiply.lhs, multiply.rhs)
    elif (power := owner(value, PowOp)) is not None and constant_scalar(power.rhs) in (2, 3):
        waiting += [power.lhs] * int(constant_scalar(power.rhs) or 0)
    else:
        return False
    assert isinstance(value.owner, Operation)
    if value.owner not in product.ops:
        product.ops.append(value.owner)
    return True


def near(found: float, wanted: float, value: SSAValue) -> bool:
    """Whether `found` is `wanted` as the element type of `value` can tell, up to two roundings."""
    import numpy as np

    from ge_dialect.ge.dtypes import to_numpy
    from ge_dialect.ge.types import element_type_of

    bits = {"float64": 52, "float16": 10, "bfloat16": 7}
    name = np.dtype(to_numpy(element_type_of(value))).name
    return abs(found - wanted) <= 2.0 ** (1 - bits.get(name, 23)) * abs(wanted)
