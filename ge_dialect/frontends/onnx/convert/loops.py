"""How a loop is added: its body again and again, until its types hold in every iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType, UnrankedTensorType, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.frontends.onnx.convert.node import Node
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.containers import Container, with_item
from ge_dialect.ge.dims import merge_dims
from ge_dialect.ge.structure import IfOp, LoopOp
from ge_dialect.ge.types import (
    MaybeDim,
    element_type_of,
    is_tensor,
    shape_of,
    tensor_type,
    value_shape,
)

if TYPE_CHECKING:
    from ge_dialect.frontends.onnx.importer import Importer

_MAX_DEPTH = 4
"""Bodies nested deeper are imported once: each round of refinement would multiply with theirs."""

Build = Callable[[Sequence[SSAValue]], Sequence[SSAValue]]
"""Adds a body: takes iteration number, condition and carried values; returns what it yields."""


@dataclass(frozen=True)
class LoopLimits:
    """How often a loop runs.

    Attributes:
        trip_count: At most so often; an `i64`.
        condition: Whether it runs at all; an `i1`.
        trips: The number of iterations of a loop that does not stop by itself.
    """

    trip_count: SSAValue
    condition: SSAValue
    trips: MaybeDim = None


def emit_loop(
    importer: Importer,
    node: Node,
    limits: LoopLimits,
    carried: Sequence[SSAValue],
    build: Build,
    *,
    one_shape: bool = False,
) -> Sequence[SSAValue]:
    """Adds a loop; returns the carried values after it, then what its iterations give, stacked.

    With `one_shape`, carried values have the same shape before and after each iteration.

    Raises:
        GEError: Carried values have no type that holds in every iteration, or a value that is to
            be stacked is no tensor (GE0221).
    """
    builder = node.builder
    scalars = [tensor_type(i64, ()), tensor_type(i1, ())]
    types = [_initial_type(importer, value) for value in carried]
    combine = agree if one_shape and importer.depth < _MAX_DEPTH else join
    while True:
        mark = builder.mark()
        region, yielded = importer.region([*scalars, *types], build)
        after = [value.type for value in yielded[1 : 1 + len(carried)]]
        joined = [combine(node, a, b) for a, b in zip(types, after, strict=True)]
        if joined == types:
            break
        builder.undo(mark)
        # A dimension that changes may change others in the next round: two rounds are usual.
        types = joined
    goes_on = yielded[0] is region.block.args[1] or constant_scalar(yielded[0]) is True
    trips = limits.trips if goes_on else None
    stacked = [_stacked(node, value, trips) for value in yielded[1 + len(carried) :]]
    op = LoopOp(limits.trip_count, limits.condition, carried, [*types, *stacked], region)
    return emit_checked(node, op)


def join(node: Node, first: Attribute, second: Attribute) -> Attribute:
    """Returns the type that two values have in common.

    Raises:
        GEError: There is none (GE0221).
    """
    from ge_dialect.frontends.onnx.values import join_types

    if (joined := join_types(first, second)) is None:
        node.fail(f"expected values of one element type, got {first} and {second}")
    return joined


def agree(node: Node, first: Attribute, second: Attribute) -> Attribute:
    """Returns what two types say together of values that have one shape.

    Raises:
        GEError: They contradict each other (GE0221).
    """
    ranks = [is_tensor(first), is_tensor(second)]
    if isinstance(first, Container) or not any(ranks) or not _same_elements(first, second):
        return join(node, first, second)
    if not is_tensor(first):
        return second
    if not is_tensor(second):
        return first
    mine, theirs = shape_of(first), shape_of(second)
    try:
        if len(mine) != len(theirs):
            raise VerifyException(f"expected one rank, got {len(mine)} and {len(theirs)}")
        dims = [merge_dims(a, b, "states") for a, b in zip(mine, theirs, strict=True)]
    except VerifyException as error:
        node.fail(f"expected states of one shape in each iteration: {error}")
    return tensor_type(first.element_type, tuple(dims))


def _same_elements(first: Attribute, second: Attribute) -> bool:
    kinds = [getattr(type_, "element_type", None) for type_ in (first, second)]
    return kinds[0] is not None and kinds[0] == kinds[1]


def emit_checked(node: Node, op: IfOp | LoopOp) -> Sequence[SSAValue]:
    """Adds an op whose operands its constructor did not check."""
    try:
        op.verify_()
    except VerifyException as error:
        node.fail(str(error))
    return node.emit_all(op)


def _initial_type(importer: Importer, value: SSAValue) -> Attribute:
    if importer.depth < _MAX_DEPTH:
        return value.type
    return _loosest(value.type)


def _loosest(type_: Attribute) -> Attribute:
    """Returns the type of values of the same element type and of any shape."""
    if isinstance(type_, Container):
        return with_item(type_, _loosest(type_.item))
    return UnrankedTensorType(getattr(type_, "element_type", type_))


def _stacked(node: Node, value: SSAValue, trips: MaybeDim) -> Attribute:
    """Returns the type of the slices of all iterations, along a new first dimension."""
    if isinstance(value.type, Container):
        node.fail(f"expected tensors as what each iteration adds, got {value.type}")
    if not isinstance(value.type, TensorType):
        return UnrankedTensorType(element_type_of(value))
    return tensor_type(element_type_of(value), (trips, *value_shape(value)))
