"""What the patterns on `ge.if` and `ge.loop` ask of values, types and loops."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import UnrankedTensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import (
    ConstantOp,
    constant_attr,
    constant_scalar,
    dense_from_bytes,
)
from ge_dialect.ge.structure import FusionOp, LoopOp, YieldOp, yield_of
from ge_dialect.ge.types import MaybeDim, TensorT, is_tensor, shape_of

NAME = "ge-simplify-control-flow"


def known_truth(value: SSAValue) -> bool | None:
    """Returns a constant truth value, or None for anything else."""
    found = constant_scalar(value)
    return found if isinstance(found, bool) else None


def truth_constant(type: TensorT, truth: bool) -> ConstantOp:
    """Returns the constant of one truth value, of a static type of one element."""
    return ConstantOp(dense_from_bytes(type, b"\xff" if truth else b"\x00"))


def same_constant(first: SSAValue, second: SSAValue) -> bool:
    """Whether two values are constants, equal to the bit and of one type."""
    attr = constant_attr(first)
    return attr is not None and attr == constant_attr(second) and first.type == second.type


def is_inside(value: SSAValue, region: Region) -> bool:
    """Whether a value is defined in a region, at any depth."""
    return region.is_ancestor(value.owner)


def refines(new: Attribute, old: Attribute) -> bool:
    """Whether a type says all that another one says, and maybe more."""
    if new == old:
        return True
    if (element_type := _unranked_element_type(old)) is not None:
        mine = new.element_type if is_tensor(new) else _unranked_element_type(new)
        return mine == element_type
    if not is_tensor(new) or not is_tensor(old) or new.element_type != old.element_type:
        return False
    mine, theirs = shape_of(new), shape_of(old)
    return len(mine) == len(theirs) and all(map(_dim_refines, mine, theirs))


def _dim_refines(new: MaybeDim, old: MaybeDim) -> bool:
    return old is None or new == old or (isinstance(new, int) and not isinstance(old, int))


def _unranked_element_type(type: Attribute) -> Attribute | None:
    if isinstance(type, UnrankedTensorType):
        return type.element_type  # pyright: ignore[reportUnknownVariableType,reportUnknownMemberType]  # generic
    return None


def replaceable(value: SSAValue, new: Attribute) -> bool:
    """Whether a value of type `new` may stand for `value` in every use.

    A narrower type is welcome where the user's own types follow from it; a kernel's body and ops
    of other dialects want the very type they have.
    """
    if value.type == new:
        return True
    return refines(new, value.type) and all(_takes_narrower(use.operation) for use in value.uses)


def _takes_narrower(op: Operation) -> bool:
    return isinstance(op, GEOp | YieldOp | ReturnOp) and not isinstance(op, FusionOp)


class Trips(NamedTuple):
    """How often a loop runs, as far as constants say.

    Attributes:
        least: It runs at least so often.
        most: It runs at most so often; None where nothing bounds it.
    """

    least: int
    most: int | None

    @property
    def exact(self) -> int | None:
        """The number of trips, where that is known."""
        return self.least if self.least == self.most else None


def goes_on(loop: LoopOp) -> bool:
    """Whether the body never stops the loop: it yields its own condition, or true."""
    after = yield_of(loop.body).arguments[0]
    return after is loop.body.block.args[1] or known_truth(after) is True


def trips_of(loop: LoopOp) -> Trips:
    """Returns the bounds of a loop's trips."""
    limit, start = constant_scalar(loop.trip_count), known_truth(loop.condition)
    count = max(limit, 0) if isinstance(limit, int) else None
    if count == 0 or start is False:
        return Trips(0, 0)
    most = count
    if known_truth(yield_of(loop.body).arguments[0]) is False:
        most = 1
    if count is None or start is None:
        return Trips(0, most)
    return Trips(min(count, most or count) if goes_on(loop) or most == 1 else 1, most)
