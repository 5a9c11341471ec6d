"""Which bytes of a tensor a piece of it is, where it is one stretch of them.

A tensor is row-major. Cut to `[s_i, s_i + n_i)` in each dimension it stays one stretch where every
dimension before the last one that is cut has one element: then it starts at the sum of the `s_i`
times their strides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from ge_dialect.ge.dtypes import dtype_of, is_string
from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.types import is_tensor, static_shape


@dataclass(frozen=True)
class Region:
    """A stretch of bytes of a value.

    Attributes:
        start: Byte offset.
        size: In bytes; 0 for the whole of a value whose sizes only the run tells.
    """

    start: int
    size: int


def region(
    shape: Sequence[int], starts: Sequence[int], sizes: Sequence[int], width: int
) -> Region | None:
    """Returns the bytes of a piece of a tensor, or None where they are not one stretch.

    Args:
        shape: Of the tensor.
        starts: First index of the piece in each dimension.
        sizes: Elements of the piece in each dimension.
        width: Bytes of an element.
    """
    cut = [i for i, (size, dim) in enumerate(zip(sizes, shape, strict=True)) if size != dim]
    if cut and any(size != 1 for size in sizes[: cut[-1]]):
        return None
    strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
    start = sum(a * b for a, b in zip(starts, strides, strict=True))
    return Region(start * width, prod(sizes) * width)


def element_bytes(value: SSAValue) -> int | None:
    """Returns the bytes of an element, or None where the bytes of the value are not known."""
    if not is_tensor(value.type) or is_string(value.type.element_type):
        return None
    if static_shape(value.type) is None:
        return None
    return dtype_of(value.type.element_type).storage_bytes


def piece_regions(op: SplitOp | SliceOp) -> Sequence[Region] | None:
    """Returns for each result which bytes of the operand it is; None where one is no stretch."""
    if any(element_bytes(value) is None for value in (op.input, *op.results)):
        return None
    found = [_slice_region(op)] if isinstance(op, SliceOp) else _split_regions(op)
    known = [one for one in found if one is not None]
    return known if len(known) == len(found) else None


def part_regions(op: ConcatOp) -> Sequence[Region] | None:
    """Returns for each operand which bytes of the result it becomes; None where one is no
    stretch."""
    width = element_bytes(op.result)
    shape = _shape(op.result)
    if width is None or any(element_bytes(value) is None for value in op.inputs):
        return None
    axis, at = op.dimension, 0
    found: list[Region] = []
    for value in op.inputs:
        sizes = _shape(value)
        one = region(shape, [at if i == axis else 0 for i in range(len(shape))], sizes, width)
        if one is None:
            return None
        found.append(one)
        at += sizes[axis]
    return found


def _shape(value: SSAValue) -> Sequence[int]:
    found = static_shape(value.type) if is_tensor(value.type) else None
    return () if found is None else found


def _split_regions(op: SplitOp) -> list[Region | None]:
    width, shape = element_bytes(op.input) or 0, _shape(op.input)
    axis, at = op.dimension, 0
    found: list[Region | None] = []
    for piece in op.pieces:
        starts = [at if i == axis else 0 for i in range(len(shape))]
        found.append(region(shape, starts, _shape(piece), width))
        at += _shape(piece)[axis]
    return found


def _slice_region(op: SliceOp) -> Region | None:
    width, shape, sizes = element_bytes(op.input) or 0, _shape(op.input), _shape(op.result)
    starts = [0] * len(shape)
    for axis, start, _, step in op.spans():
        if step != 1 and sizes[axis] > 1:
            return None
        first = start + shape[axis] if start < 0 else start
        starts[axis] = min(max(first, 0), shape[axis] - (step < 0))
    return region(shape, starts, sizes, width) if prod(sizes) else Region(0, 0)
