"""Which bytes of a tensor a piece of it is, where it is one stretch of them.

A tensor is row-major. Cut to `[s_i, s_i + n_i)` in each dimension it stays one stretch where every
dimension before the last one that is cut has one element: then it starts at the sum of the `s_i`
times their strides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.dtypes import dtype_of, is_string
from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.symbolic import symbol_ranges
from ge_dialect.ge.types import is_tensor, shape_of, static_shape
from ge_dialect.symbols import Dim, SymbolRange, bounds, product, symbols_of


@dataclass(frozen=True)
class Region:
    """A stretch of bytes of a value, in terms of the symbols of its function.

    Attributes:
        start: Byte offset.
        size: In bytes; 0 for the whole of a value whose sizes only the run tells.
    """

    start: Dim
    size: Dim


def region(
    shape: Sequence[Dim], starts: Sequence[Dim], sizes: Sequence[Dim], width: int
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
    try:
        strides = [product(shape[i + 1 :]) for i in range(len(shape))]
        total: Dim = 0
        for start, stride in zip(starts, strides, strict=True):
            total = product([start, stride]) + total
        return Region(product([total, width]), product([*sizes, width]))
    except ValueError:  # too large to name
        return None


def element_bytes(value: SSAValue) -> int | None:
    """Returns the bytes of an element, or None where the bytes of the value are not known.

    Known are numbers, and expressions over symbols of inputs that have a greatest value.
    """
    if not is_tensor(value.type) or is_string(value.type.element_type):
        return None
    if static_shape(value.type) is None and unbounded_dim(value) is not None:
        return None
    return dtype_of(value.type.element_type).storage_bytes


def unbounded_dim(value: SSAValue) -> str | None:
    """Returns the first dimension of a value whose bytes no plan can know before the run."""
    ranges = ranges_around(value)
    for dim in shape_of(value.type) if is_tensor(value.type) else ():
        names: Sequence[str] = () if dim is None else symbols_of(dim)
        if dim is None or any(name not in ranges or ranges[name].hi is None for name in names):
            return "?" if dim is None else str(dim)
    return None


def ranges_around(value: SSAValue) -> dict[str, SymbolRange]:
    """Returns the ranges of the symbols of inputs of the function that a value is in."""
    owner = value.owner
    op = owner if isinstance(owner, Operation) else owner.parent_op()
    while op is not None and not isinstance(op, FuncOp):
        op = op.parent_op()
    return {} if op is None else symbol_ranges(op)


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
    axis = op.dimension
    at: Dim = 0
    found: list[Region] = []
    for value in op.inputs:
        sizes = _shape(value)
        starts: list[Dim] = [at if i == axis else 0 for i in range(len(shape))]
        # Of another dimension one side may name what the other has by another name.
        sizes = [sizes[i] if i == axis else dim for i, dim in enumerate(shape)]
        one = region(shape, starts, sizes, width)
        if one is None:
            return None
        found.append(one)
        at = sizes[axis] + at
    return found


def _shape(value: SSAValue) -> Sequence[Dim]:
    dims = shape_of(value.type) if is_tensor(value.type) else ()
    return [dim for dim in dims if dim is not None]


def _split_regions(op: SplitOp) -> list[Region | None]:
    width, shape = element_bytes(op.input) or 0, _shape(op.input)
    axis = op.dimension
    at: Dim = 0
    found: list[Region | None] = []
    for piece in op.pieces:
        starts: list[Dim] = [at if i == axis else 0 for i in range(len(shape))]
        found.append(region(shape, starts, _shape(piece), width))
        at = _shape(piece)[axis] + at
    return found


def _slice_region(op: SliceOp) -> Region | None:
    width, shape, sizes = element_bytes(op.input) or 0, _shape(op.input), _shape(op.result)
    if any(size == 0 for size in sizes):
        return Region(0, 0)
    ranges = ranges_around(op.input)
    starts: list[Dim] = [0] * len(shape)
    for axis, start, _, step in op.spans():
        if step != 1 and sizes[axis] != 1:
            return None
        first = _first(shape[axis], start, step, ranges)
        if first is None:
            return None
        starts[axis] = first
    return region(shape, starts, sizes, width)


def moving_dim(op: SplitOp | SliceOp) -> Dim | None:
    """Returns the dimension that decides where a slice begins, where nothing says that it does
    inside; None where every start is known."""
    ranges = ranges_around(op.input)
    for axis, start, _, step in op.spans() if isinstance(op, SliceOp) else ():
        dim = _shape(op.input)[axis]
        if _first(dim, start, step, ranges) is None:
            return dim
    return None


def _first(dim: Dim, start: int, step: int, ranges: Mapping[str, SymbolRange]) -> Dim | None:
    """Returns the first index that a slice takes of a dimension; None where sizes decide it."""
    first = start + dim if start < 0 else start
    last = dim - (step < 0)
    if isinstance(dim, int):
        assert isinstance(first, int) and isinstance(last, int)
        return min(max(first, 0), last)
    inside = bounds(first, ranges)[0] >= 0 and bounds(last - first, ranges)[0] >= 0
    return first if inside else None
