"""Data movement: pieces, permutations, padding."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.dims import multiply, steps_between
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge import movement, pieces, rearrange
from ge_dialect.ge.binary import AddOp
from ge_dialect.ge.constants import constant_ints
from ge_dialect.ge.extents import OPEN_END, bounded, sum_dims
from ge_dialect.ge.indexing import GatherOp
from ge_dialect.ge.rearrange import RangeOp
from ge_dialect.ge.types import (
    MaybeDim,
    TensorT,
    element_type_of,
    normalize_axes,
    normalize_axis,
    tensor_type,
    value_shape,
)
from ge_dialect.symbols import assumed, bounds, maximum, minimum, simplify


def typed_like(node: Node, shape: Sequence[MaybeDim]) -> list[TensorT]:
    """Returns the type of a result that has the element type of the first operand."""
    return [tensor_type(node.element_type(), tuple(shape))]


@converts("Transpose")
def transpose(node: Node) -> SSAValue:
    """`Transpose`, by default of all dimensions."""
    perm = node.get_ints("perm")
    if perm is None:
        perm = tuple(reversed(range(len(node.shape()))))
    return node.emit(movement.TransposeOp(node[0], perm))


@converts("Concat")
def concat(node: Node) -> SSAValue:
    """`Concat`."""
    operands = [node[slot] for slot in range(len(node.operands))]
    return node.emit(pieces.ConcatOp(operands, node.get_int("axis")))


@converts("Split")
def split(node: Node) -> list[SSAValue]:
    """`Split` into given, or equal, parts."""
    axis = normalize_axis(node.get_int("axis", 0), len(node.shape()))
    sizes = node.get_ints("split")
    if sizes is None and node.optional(1) is not None:
        sizes = node.ints(1)
    if sizes is None:
        sizes = _equal_parts(node, node.shape()[axis], len(node.used))
    return node.emit_all(pieces.SplitOp(node[0], axis, sizes))


def _equal_parts(node: Node, size: MaybeDim, count: int) -> tuple[int, ...]:
    """Returns the sizes of `count` parts; from opset 18 on the last one may be smaller."""
    if not isinstance(size, int):
        raise OnHost("the size of the parts is not known")
    if node.version < 18 and (count == 0 or size % count):
        node.fail(f"expected a dimension that splits into {count} equal parts, got {size}")
    part = -(-size // max(count, 1))
    return tuple(max(min(part, size - i * part), 0) for i in range(count))


@converts("Slice")
def slice_(node: Node) -> SSAValue:
    """`Slice`: before opset 10 everything is an attribute, from then on an operand."""
    if node.version < 10:
        starts, ends = node.get_ints("starts") or (), node.get_ints("ends") or ()
        return node.emit(pieces.SliceOp(node[0], starts, ends, node.get_ints("axes")))
    rank, count = len(node.shape()), len(node.dims(1))
    axes = tuple(range(count)) if node.optional(3) is None else node.ints(3)
    steps = (1,) * count if node.optional(4) is None else node.ints(4)
    if not len(node.dims(2)) == len(axes) == len(steps) == count:
        node.fail(f"expected starts, ends, axes and steps of one length, got {count} starts")
    axes = normalize_axes(axes, rank)
    bounds = [constant_ints(node[slot]) for slot in (1, 2)]
    starts, ends = bounds
    if starts is None or ends is None:
        if (gathered := _counted_slice(node, axes, steps)) is not None:
            return gathered
        starts, ends = _full_extents(node, axes, steps)
    return node.emit(pieces.SliceOp(node[0], starts, ends, axes, steps))


def _counted_slice(node: Node, axes: Sequence[int], steps: Sequence[int]) -> SSAValue | None:
    """Returns a slice of one dimension with a bound that is an expression, as a gather of a range.

    None where it is none: the whole dimension, a start that may be beyond an end, or is counted
    from the back of what has no number, or a count that is not known.
    """
    if len(axes) != 1 or steps[0] < 1:
        return None
    size, (start,), (end,) = node.shape()[axes[0]], node.dims(1), node.dims(2)
    first = _place(start, size)
    if isinstance(first, int) and (isinstance(end, int) or _place(end, size) == size):
        return None
    if first is None or (count := _sliced(size, start, end, steps[0])) is None:
        return None
    if isinstance(first, int):
        places = node.emit(RangeOp(first, steps[0], count, i64))
    elif start is not None and first in (start, sum_dims([size, start])):
        before = 0 if first == start else size
        if not isinstance(before, int):
            return None
        places = node.emit(RangeOp(before, steps[0], count, element_type_of(node[1])))
        places = node.emit(AddOp(places, node[1]))
    else:
        return None
    return node.emit(GatherOp(node[0], places, axes[0]))


def _full_extents(
    node: Node, axes: Sequence[int], steps: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Returns starts and ends where those that are no numbers are an end of the dimension itself.

    Raises:
        OnHost: One is another expression; says the shape of the result as far as it is known.
    """
    shape = list(node.shape())
    starts: list[int] = []
    ends: list[int] = []
    for axis, step, start, end in zip(axes, steps, node.dims(1), node.dims(2), strict=True):
        size = shape[axis]
        first = start if isinstance(start, int) or step < 1 else _place(start, size)
        if isinstance(first, int):
            starts.append(first)
        if isinstance(end, int):
            ends.append(end)
        elif step > 0 and size is not None and _place(end, size) == size:
            ends.append(2**63 - 1)
        shape[axis] = _sliced(size, start, end, step)
    if not len(starts) == len(ends) == len(axes):
        raise OnHost("a bound is not constant", typed_like(node, shape))
    return starts, ends


def _sliced(size: MaybeDim, start: MaybeDim, end: MaybeDim, step: int) -> MaybeDim:
    """Returns how many elements a slice takes, whose bounds are expressions."""
    first, last = _place(start, size), _place(end, size)
    if first is None or last is None or step < 1:
        return None
    return steps_between(first, last, step)


def _place(bound: MaybeDim, size: MaybeDim) -> MaybeDim:
    """Returns a bound of a slice counted from the front, and inside of the dimension; None where
    that is not known, as of an expression that may have either sign."""
    if bound is None or size is None:
        return None
    if isinstance(bound, int) and bound >= OPEN_END:
        return size
    low, high = bounds(bound, assumed())
    if low >= 0:
        return bounded(lambda: simplify(minimum(bound, size), assumed()))
    if high is not None and high < 0:
        return bounded(lambda: simplify(maximum(size + bound, 0), assumed()))
    return None


@converts("Tile")
def tile(node: Node) -> SSAValue:
    """`Tile`."""
    shape, repeats = node.shape(), node.dims(1)
    if len(repeats) != len(shape):
        node.fail(f"expected {len(shape)} repeats, got {len(repeats)}")
    numbers = [count for count in repeats if isinstance(count, int)]
    if len(numbers) == len(repeats):
        return node.emit(movement.TileOp(node[0], numbers))
    tiled = tuple(multiply(dim, count) for dim, count in zip(shape, repeats, strict=True))
    if None in tiled or any(
        dim != 1 and count != 1 for dim, count in zip(shape, repeats, strict=True)
    ):
        raise OnHost("the repeats are not constant", typed_like(node, tiled))
    return node.emit(movement.BroadcastToOp(node[0], tiled))


@converts("Pad")
def pad(node: Node) -> SSAValue:
    """`Pad`: before opset 11 with attributes only, from 18 on perhaps of some axes."""
    mode = node.get_string("mode", "constant")
    value: SSAValue | None = None
    if node.version < 11:
        pads = node.get_ints("pads") or ()
        if fill := node.get_float("value", 0.0):
            value = node.builder.number(fill, node.element_type())
    else:
        pads = _pads(node)
        value = node.optional(2)
    if mode != "constant":
        value = None
    elif value is not None and value_shape(value) not in ((), (1,)):
        raise OnHost("the value is no scalar")
    return node.emit(pieces.PadOp(node[0], pads, mode, value))


def _pads(node: Node) -> tuple[int, ...]:
    """Returns the pads of all dimensions."""
    shape, given = node.shape(), node.dims(1)
    rank = len(shape)
    axes = range(rank) if node.optional(3) is None else normalize_axes(node.ints(3), rank)
    if len(given) != 2 * len(axes):
        node.fail(f"expected {2 * len(axes)} pads, got {len(given)}")
    pads: list[MaybeDim] = [0] * (2 * rank)
    for place, axis in enumerate(axes):
        pads[axis], pads[rank + axis] = given[place], given[len(axes) + place]
    numbers = tuple(pad for pad in pads if isinstance(pad, int))
    if len(numbers) != len(pads):
        padded = [sum_dims([dim, pads[i], pads[rank + i]]) for i, dim in enumerate(shape)]
        raise OnHost("the pads are not constant", typed_like(node, padded))
    return numbers


@converts("Trilu")
def trilu(node: Node) -> SSAValue:
    """`Trilu`."""
    (k,) = (0,) if node.optional(1) is None else _one(node, 1)
    return node.emit(rearrange.TriluOp(node[0], k, node.get_flag("upper", True)))


def _one(node: Node, slot: int) -> tuple[int]:
    numbers = node.ints(slot)
    if len(numbers) != 1:
        node.fail(f"expected input {slot} of one number, got {len(numbers)}")
    return (numbers[0],)


@converts("DepthToSpace")
def depth_to_space(node: Node) -> SSAValue:
    """`DepthToSpace`."""
    mode = node.get_string("mode", "DCR")
    return node.emit(rearrange.DepthToSpaceOp(node[0], node.get_int("blocksize"), mode))


@converts("SpaceToDepth")
def space_to_depth(node: Node) -> SSAValue:
    """`SpaceToDepth`."""
    if node.get_string("mode", "DCR") != "DCR":
        raise OnHost("channels vary slower than blocks")
    return node.emit(rearrange.SpaceToDepthOp(node[0], node.get_int("blocksize")))


@converts("ReverseSequence")
def reverse_sequence(node: Node) -> SSAValue:
    """`ReverseSequence`."""
    time, batch = node.get_int("time_axis", 0), node.get_int("batch_axis", 1)
    return node.emit(rearrange.ReverseSequenceOp(node[0], node[1], time, batch))
