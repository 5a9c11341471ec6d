"""Constants, and operators that read or change nothing but shapes."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.delegate import positions
from ge_dialect.frontends.onnx.convert.dims import steps_between
from ge_dialect.frontends.onnx.convert.movement import typed_like
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.frontends.onnx.convert.reductions import flattened
from ge_dialect.ge.binary import AddOp, EqualOp
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.dtypes import from_onnx, is_bool, is_float, is_integer
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.indexing import ShapeOp, SizeOp
from ge_dialect.ge.movement import BroadcastToOp
from ge_dialect.ge.rearrange import RangeOp
from ge_dialect.ge.types import (
    MaybeDim,
    Shape,
    broadcast_shapes,
    element_type_of,
    normalize_axes,
    num_elements,
    tensor_type,
    value_shape,
)

_MAX_DIMENSION = 2**63 - 1


@converts("Constant")
def constant(node: Node) -> SSAValue:
    """`Constant`, which normalisation gave a tensor as its one attribute."""
    if (op := node.get_tensor("value")) is None:
        node.fail("expected an attribute 'value', got none")
    return node.emit(op)


@converts("ConstantOfShape")
def constant_of_shape(node: Node) -> SSAValue:
    """`ConstantOfShape`: a scalar that is broadcast, since the tensor may be large."""
    given = node.get_tensor("value")
    if given is None:
        scalar = node.builder.number(0.0, f32)
    elif num_elements(given.result.type) == 1:
        scalar = node.reshape(given.result, ())
    else:
        node.fail(f"expected 'value' of one element, got {given.result.type}")
    return _broadcast(node, scalar, node.dims(0))


@converts("Expand")
def expand(node: Node) -> SSAValue:
    """`Expand`: broadcasts both ways, so a dimension of 1 keeps that of the operand."""
    return _broadcast(node, node[0], node.dims(1))


def _broadcast(node: Node, value: SSAValue, target: Shape) -> SSAValue:
    if any(isinstance(dim, int) and dim < 0 for dim in target):
        node.fail(f"expected dimensions of 0 or more, got {list(target)}")
    shape = broadcast_shapes([value_shape(value), target])
    if None in shape:
        raise OnHost("the shape is not known", [tensor_type(element_type_of(value), shape)])
    return node.emit(BroadcastToOp(value, shape))


@converts("Range")
def range_(node: Node) -> SSAValue:
    """`Range` of constants, or of integers whose count follows from dimensions."""
    numbers = [constant_scalar(node[slot]) for slot in range(3)]
    start, limit, delta = (0 if number is None else number for number in numbers)
    element_type = node.element_type()
    if None in numbers and (counted := _counted_range(node, numbers)) is not None:
        return counted
    if None in numbers or not (is_float(element_type) or is_integer(element_type)):
        raise OnHost("a limit is not constant", [tensor_type(element_type, (_count(node),))])
    if delta == 0:
        node.fail("expected a 'delta' other than 0")
    # Exact for integers; for floats the quotient of ONNX's formula.
    length = (limit - start) / delta if is_float(element_type) else -((start - limit) // delta)
    if not isfinite(length) or length > _MAX_DIMENSION:
        node.fail(f"expected at most {_MAX_DIMENSION} elements, got {length}")
    return node.emit(RangeOp(start, delta, max(ceil(length), 0), element_type))


def _counted_range(node: Node, numbers: Sequence[float | int | None]) -> SSAValue | None:
    """Returns a range from 0 on, plus its start where that is no number; None for other ranges."""
    start, _, delta = numbers
    if not is_integer(node.element_type()) or not isinstance(delta, int):
        return None
    if (count := _count(node)) is None:
        return None
    if isinstance(start, int):
        return node.emit(RangeOp(start, delta, count, node.element_type()))
    first = node.emit(RangeOp(0, delta, count, node.element_type()))
    return node.emit(AddOp(first, node[0]))


def _count(node: Node) -> MaybeDim:
    """Returns how many numbers a range has whose limits are dimensions."""
    if not is_integer(node.element_type()):
        return None
    found = [node.dims(slot) for slot in range(3)]
    if any(len(dims) != 1 for dims in found):
        node.fail("expected start, limit and delta of one number each")
    start, limit, delta = (dims[0] for dims in found)
    if start is None or limit is None or not isinstance(delta, int) or delta < 1:
        return None
    return steps_between(start, limit, delta)


@converts("EyeLike")
def eye_like(node: Node) -> SSAValue:
    """`EyeLike`: 1 where the column is the row plus `k`."""
    if len(node.shape()) != 2:
        node.fail(f"expected an input of rank 2, got {len(node.shape())}")
    to = from_onnx(node.get_int("dtype")) if node.has("dtype") else node.element_type()
    if to is None or not (is_float(to) or is_integer(to) or is_bool(to)):
        raise OnHost("an exotic element type")
    rows, columns = (positions(node, node[0], axis) for axis in (0, 1))
    rows = node.reshape(rows, (node.shape()[0], 1))
    rows = node.emit(AddOp(rows, node.builder.ints(node.get_int("k", 0))))
    return node.emit(CastOp(node.emit(EqualOp(rows, columns)), to))


@converts("Shape")
def shape(node: Node) -> SSAValue:
    """`Shape`, from opset 15 on of a part of the dimensions."""
    rank = len(node.shape())
    start = _clamped(node.get_int("start", 0), rank)
    end = _clamped(node.get_int("end", rank), rank)
    dims = node.shape()[start:end]
    numbers = [dim for dim in dims if isinstance(dim, int)]
    if len(numbers) == len(dims):
        return node.builder.ints(numbers)
    return node.emit(ShapeOp(node[0], start, max(end, start)))


def _clamped(place: int, rank: int) -> int:
    return min(max(place + rank if place < 0 else place, 0), rank)


@converts("Size")
def size(node: Node) -> SSAValue:
    """`Size`."""
    if (count := num_elements(node[0].type)) is not None and count <= _MAX_DIMENSION:
        return node.builder.ints(count)
    return node.emit(SizeOp(node[0]))


@converts("Identity")
def identity(node: Node) -> SSAValue:
    """`Identity`: its operand."""
    return node[0]


@converts("Reshape")
def reshape(node: Node) -> SSAValue:
    """`Reshape`, with 0 and -1 made what they stand for."""
    have, target = node.shape(), node.dims(1)
    if not node.get_flag("allowzero"):
        if any(dim == 0 and i >= len(have) for i, dim in enumerate(target)):
            node.fail(f"expected a dimension for each 0 of the shape, got {len(have)}")
        target = tuple(have[i] if dim == 0 else dim for i, dim in enumerate(target))
    if target.count(-1) > 1 or any(isinstance(dim, int) and dim < -1 for dim in target):
        node.fail(f"expected a shape with at most one -1, got {list(target)}")
    if -1 in target and None in target:
        rest = tuple(None if dim == -1 else dim for dim in target)
        raise OnHost("two dimensions are unknown", typed_like(node, rest))
    return _reshaped(node, _solved(have, target))


def _reshaped(node: Node, shape: Shape) -> SSAValue:
    """Returns the first operand in another shape; a host call gets what is known of it."""
    try:
        return node.reshape(node[0], shape)
    except OnHost as refusal:
        raise OnHost(str(refusal), typed_like(node, shape)) from None


def _solved(have: Shape, target: Shape) -> Shape:
    """Returns a target with None for -1; where an empty tensor leaves it open it is 0."""
    if -1 not in target:
        return target
    rest: list[MaybeDim] = [dim for dim in target if dim != -1]
    open_ = 0 in rest or (0 in have and not all(isinstance(dim, int) for dim in rest))
    return tuple((0 if open_ else None) if dim == -1 else dim for dim in target)


@converts("Flatten")
def flatten(node: Node) -> SSAValue:
    """`Flatten` to two dimensions."""
    rank = len(node.shape())
    axis = node.get_int("axis", 1)
    if not -rank <= axis <= rank:
        node.fail(f"expected 'axis' in [{-rank}, {rank}], got {axis}")
    return _reshaped(node, flattened(node.shape(), axis + rank if axis < 0 else axis))


@converts("Squeeze")
def squeeze(node: Node) -> SSAValue:
    """`Squeeze`: the axes are an attribute before opset 13, an operand from then on."""
    dims = node.shape()
    axes = _axes(node)
    if axes is None:
        if not all(isinstance(dim, int) for dim in dims):
            raise OnHost("which dimensions are 1 is not known")
        axes = tuple(i for i, dim in enumerate(dims) if dim == 1)
    gone = normalize_axes(axes, len(dims))
    if wrong := [i for i in gone if isinstance(dims[i], int) and dims[i] != 1]:
        node.fail(f"expected dimension {wrong[0]} of size 1, got {dims[wrong[0]]}")
    return _reshaped(node, tuple(dim for i, dim in enumerate(dims) if i not in gone))


@converts("Unsqueeze")
def unsqueeze(node: Node) -> SSAValue:
    """`Unsqueeze`: the axes are an attribute before opset 13, an operand from then on."""
    axes = _axes(node)
    if axes is None:
        node.fail("expected 'axes', got none")
    rest = list(node.shape())
    rank = len(rest) + len(axes)
    added = normalize_axes(axes, rank)
    return _reshaped(node, tuple(1 if i in added else rest.pop(0) for i in range(rank)))


def _axes(node: Node) -> tuple[int, ...] | None:
    if node.version < 13:
        return node.get_ints("axes")
    return None if node.optional(1) is None else node.ints(1)
