"""How large what a host call computes may become, where that depends on data: one rule an op.

Source of the rules: the ONNX operator specification, of each op the section "Outputs".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.extents import known_product
from ge_dialect.ge.host import absent_slots
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.ge.types import (
    MaybeDim,
    Shape,
    broadcast_shapes,
    is_tensor,
    normalize_axis,
    shape_of,
)
from ge_dialect.symbols import Dim, minimum, product

if TYPE_CHECKING:
    from ge_dialect.frontends.onnx.convert.dims import SymbolicDims


class Size(NamedTuple):
    """A size that depends on data.

    Attributes:
        key: Sizes of one op with one key are the same number.
        most: What it is at most.
        least: What it is at least.
    """

    key: str
    most: MaybeDim
    least: int = 0


Dims: TypeAlias = Sequence[MaybeDim | Size]

Sizes: TypeAlias = Sequence[Dims | None]
"""For each result its dimensions; None where not even their number is known."""


class DataSizes(NamedTuple):
    """The sizes of what an op computes.

    Attributes:
        results: For each result its dimensions, or None.
        product: What the sizes of the first result are multiplied with each other, where that is
            known.
    """

    results: Sizes
    product: MaybeDim = None


def sizes_of(op: HostCallOp, dims: SymbolicDims) -> DataSizes:
    """Returns what is known of the sizes of a host call; nothing bounds those without a rule.

    Args:
        op: The host call.
        dims: What is known of tensors that hold dimensions.
    """
    found = None
    try:
        if (rule := _RULES.get(op.callee.data)) is not None:
            found = rule(op)
        elif op.callee.data in _SHAPED:
            found = _shaped(op, dims)
    except (VerifyException, ValueError):  # an axis that is none, a size too large to name
        pass
    return found or DataSizes([_unbounded(result, i) for i, result in enumerate(op.results)])


def _unbounded(result: SSAValue, index: int) -> Dims | None:
    if (shape := _shape(result)) is None:
        return None
    return [Size(f"{index} {axis}", None) if dim is None else dim for axis, dim in enumerate(shape)]


def _shaped(op: HostCallOp, dims: SymbolicDims) -> DataSizes | None:
    """The shape is what an operand holds; `Expand` broadcasts with it."""
    slot = _SHAPED[op.callee.data]
    operand = _operand(op, slot)
    known = None if operand is None else dims.of(operand)
    if known is None or known.ndim != 1:
        return None
    shape: Shape = tuple(known)
    if slot:
        other = _shape(_operand(op, 0))
        shape = () if other is None else broadcast_shapes([other, shape])
    if len(shape) < len(known):
        return None
    return DataSizes(
        [[Size(str(axis), None) if dim is None else dim for axis, dim in enumerate(shape)]]
    )


def _operands(op: HostCallOp) -> list[SSAValue | None]:
    absent = absent_slots(op.absent)
    present = iter(op.arguments)
    count = len(op.arguments) + len(absent)
    return [None if slot in absent else next(present) for slot in range(count)]


def _operand(op: HostCallOp, slot: int) -> SSAValue | None:
    found = _operands(op)
    return found[slot] if slot < len(found) else None


def _shape(value: SSAValue | None) -> Shape | None:
    return shape_of(value.type) if value is not None and is_tensor(value.type) else None


def _int_attr(op: HostCallOp, name: str) -> int | None:
    attr = None if op.attrs is None else op.attrs.data.get(name)
    return attr.value.data if isinstance(attr, IntegerAttr) else None


def _at_most(dims: Sequence[MaybeDim]) -> MaybeDim:
    known = [dim for dim in dims if dim is not None]
    return minimum(*known) if known else None


def _non_zero(op: HostCallOp) -> DataSizes | None:
    """A row for each dimension, a column for each element that is not 0."""
    if (shape := _shape(_operand(op, 0))) is None:
        return None
    # A scalar counts as one dimension of one element.
    return DataSizes([[max(len(shape), 1), Size("n", known_product(shape))]])


def _non_max_suppression(op: HostCallOp) -> DataSizes | None:
    """At most `max_output_boxes_per_class` rows for each class of each batch."""
    scores = _shape(_operand(op, 1))
    if scores is None or len(scores) != 3:
        return None
    batches, classes, boxes = scores
    limit = _operand(op, 2)
    wanted = 0 if limit is None else constant_scalar(limit)
    per_class = boxes
    if isinstance(wanted, int):
        per_class = 0 if wanted <= 0 else _at_most([wanted, boxes])
    most = known_product([batches, classes, per_class])
    return DataSizes([[Size("n", most), 3]])


def _unique(op: HostCallOp) -> DataSizes | None:
    """Elements, or slices along an axis; three lists beside them."""
    if (shape := _shape(_operand(op, 0))) is None:
        return None
    axis = _int_attr(op, "axis")
    if axis is None:
        whole = known_product(shape)
        first: list[MaybeDim | Size] = [Size("n", whole)]
    else:
        place = normalize_axis(axis, len(shape))
        whole = shape[place]
        first = [*shape[:place], Size("n", whole), *shape[place + 1 :]]
    return DataSizes([first, [Size("n", whole)], [whole], [Size("n", whole)]][: len(op.results)])


def _compress(op: HostCallOp) -> DataSizes | None:
    """Entries along an axis, or elements, where a condition holds."""
    shape, condition = _shape(_operand(op, 0)), _shape(_operand(op, 1))
    if shape is None or condition is None or len(condition) != 1:
        return None
    axis = _int_attr(op, "axis")
    if axis is None:
        return DataSizes([[Size("n", _at_most([known_product(shape), condition[0]]))]])
    place = normalize_axis(axis, len(shape))
    kept = Size("n", _at_most([shape[place], condition[0]]))
    return DataSizes([[*shape[:place], kept, *shape[place + 1 :]]])


def _top_k(op: HostCallOp) -> DataSizes | None:
    """The first K along an axis."""
    if not (shape := _shape(_operand(op, 0))):
        return None
    axis = _int_attr(op, "axis")
    place = normalize_axis(-1 if axis is None else axis, len(shape))
    dims = [*shape[:place], Size("k", shape[place]), *shape[place + 1 :]]
    return DataSizes([dims] * len(op.results))


def _slice(op: HostCallOp) -> DataSizes | None:
    """A part of each dimension; which ones are whole is known where the axes are."""
    if (shape := _shape(_operand(op, 0))) is None:
        return None
    return DataSizes([[Size(str(axis), dim) for axis, dim in enumerate(shape)]])


def _reshape(op: HostCallOp) -> DataSizes | None:
    """As many elements as there were; with one of them or more, no dimension is 0."""
    shape, target = _shape(_operand(op, 0)), _shape(_operand(op, 1))
    if shape is None or target is None or len(target) != 1 or not isinstance(target[0], int):
        return None
    count = known_product(shape)
    if not isinstance(count, int) or count == 0:
        return None  # beside a dimension of 0 nothing bounds the others
    return DataSizes([[Size(str(axis), count, 1) for axis in range(target[0])]], count)


_RULES: Mapping[str, Callable[[HostCallOp], DataSizes | None]] = {
    "ai.onnx::NonZero": _non_zero,
    "ai.onnx::NonMaxSuppression": _non_max_suppression,
    "ai.onnx::Unique": _unique,
    "ai.onnx::Compress": _compress,
    "ai.onnx::TopK": _top_k,
    "ai.onnx::Slice": _slice,
    "ai.onnx::Reshape": _reshape,
}


_SHAPED: Mapping[str, int] = {"ai.onnx::ConstantOfShape": 0, "ai.onnx::Expand": 1}
"""Ops whose result has the shape that an operand holds, and which one that is."""


def product_of(dims: Sequence[Dim]) -> Dim | None:
    """Returns the product of sizes, None where it is too large to name."""
    try:
        return product(dims)
    except ValueError:
        return None
