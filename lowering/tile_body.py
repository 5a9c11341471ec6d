"""The body of a kernel on one tile: what the runtime executes and the check of plans infers.

Where the tile of an operand has more than an op needs, since windows of another op reach further,
the op reads a slice of it. Windows are padded only where the tile ends with the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Block, SSAValue

from ge_dialect.ge.base import GEOp, int_attr, ints_attr, set_type
from ge_dialect.ge.constants import ConstantOp, is_dense
from ge_dialect.ge.convolution import ConvTransposeOp, WindowContractionOp
from ge_dialect.ge.pieces import SliceOp
from ge_dialect.ge.pooling import PoolOp
from ge_dialect.ge.types import tensor_of, tensor_type
from ge_dialect.ge.windows import aligned_axes, slides, window_axes, window_span
from ge_dialect.ge_exec import KernelOp
from ge_dialect.ge_exec.tiling import Tiling, value_names

Span = tuple[int, int]


@dataclass(frozen=True)
class TileBody:
    """The body of a kernel on a tile.

    Attributes:
        block: A copy, with the types of the tile.
        values: Of the copy, by the names that the tiling has for them.
    """

    block: Block
    values: Mapping[str, SSAValue]


def tile_body(kernel: KernelOp, tiling: Tiling, spans: Sequence[Span]) -> TileBody:
    """Returns the body of a kernel on one tile.

    Args:
        kernel: Static.
        tiling: Of the kernel.
        spans: Of the outer loops.

    Raises:
        ValueError: The tile of an operand lacks what the tile of a result is computed from.
    """
    return _Builder(kernel, tiling, spans).build()


def placed_loops(kernel: KernelOp, tiling: Tiling) -> list[int]:
    """Returns the loops in whose turns ops read other parts of what is whole.

    Bodies of tiles of one shape differ along them, and along no others.
    """
    names = {value: name for name, value in value_names(kernel.body.block).items()}
    buffers = tiling.by_name()
    found: set[int] = set()
    for op in kernel.body.block.ops:
        if not isinstance(op, GEOp) or not op.results or op.results[0] not in names:
            continue
        own = buffers[names[op.results[0]]]
        for index, operand in enumerate(op.operands):
            if isinstance(operand.owner, ConstantOp) and _is_uniform(operand.owner):
                continue
            for axis, made in aligned_axes(op, index):
                cut = () if operand not in names else buffers[names[operand]].cuts[axis]
                found.update({loop for loop, _ in own.cuts[made]} - {loop for loop, _ in cut})
    return sorted(found)


def _is_uniform(op: ConstantOp) -> bool:
    """Whether all parts of a constant of one shape are equal."""
    return is_dense(op.value) and (not op.value.data.data or op.value.is_splat())


class _Builder:
    """Gives the values of a copy the shapes of a tile."""

    def __init__(self, kernel: KernelOp, tiling: Tiling, spans: Sequence[Span]):
        self.region = kernel.body.clone()
        self.values = value_names(self.region.block)
        self.spans: dict[SSAValue, list[Span]] = {}
        buffers = tiling.by_name()
        for name, value in self.values.items():
            shape = tensor_of(value).get_shape()
            self.spans[value] = [
                buffers[name].span(axis, spans, size) for axis, size in enumerate(shape)
            ]

    def build(self) -> TileBody:
        block = self.region.block
        ops = [op for op in block.ops if isinstance(op, GEOp) and not isinstance(op, ConstantOp)]
        changes = [self._changes(op) for op in ops]  # of whole shapes, which are changed then
        for value, spans in self.spans.items():
            type_ = tensor_of(value)
            shape = tuple(end - start for start, end in spans)
            if any(size <= 0 < whole for size, whole in zip(shape, type_.get_shape(), strict=True)):
                raise ValueError(f"a tile has elements {spans}")
            if shape != type_.get_shape():
                set_type(value, tensor_type(type_.element_type, shape))
        for op, (parts, properties) in zip(ops, changes, strict=True):
            op.properties.update(properties)
            for index, part in parts.items():
                self._slice(op, index, part)
        return TileBody(block, self.values)

    def _changes(self, op: GEOp) -> tuple[dict[int, list[Span]], dict[str, Attribute]]:
        """Returns the parts of operands that an op reads, and properties that change."""
        if op.results[0] not in self.spans:
            return {}, {}
        if slides(op):
            return self._window(op)
        return self._parts(op), {}

    def _parts(self, op: GEOp) -> dict[int, list[Span]]:
        """Returns the parts of operands whose tiles have more than the op needs."""
        wanted = self.spans[op.results[0]]
        parts: dict[int, list[Span]] = {}
        for index, operand in enumerate(op.operands):
            own = self.spans.get(operand) or [(0, n) for n in tensor_of(operand).get_shape()]
            part = list(own)
            for axis, made in aligned_axes(op, index):
                part[axis] = wanted[made]
            if part != own:
                parts[index] = part
        return parts

    def _window(self, op: GEOp) -> tuple[dict[int, list[Span]], dict[str, Attribute]]:
        assert isinstance(op, PoolOp | WindowContractionOp)
        source, result = self.spans.get(op.input), self.spans[op.results[0]]
        if source is None:
            return {}, {}
        sizes, whole = tensor_of(op.input).get_shape(), tensor_of(op.results[0]).get_shape()
        part = list(source)
        pads = list(op.pads.get_values())
        half = len(pads) // 2
        for at, axis in enumerate(window_axes(op)):
            if source[axis] == (0, sizes[axis]) and result[axis] == (0, whole[axis]):
                continue
            start, end = window_span(op, axis, result[axis])
            part[axis] = max(0, start), min(sizes[axis], end)
            pads[at], pads[at + half] = max(0, -start), max(0, end - sizes[axis])
        properties: dict[str, Attribute] = {"pads": ints_attr(pads)}
        if isinstance(op, WindowContractionOp):
            properties |= self._group(op)
        return ({0: part} if part != source else {}), properties

    def _group(self, op: WindowContractionOp) -> dict[str, Attribute]:
        """Returns the groups of a tile: as many as its channels are of."""
        groups = op.group.value.data
        if groups == 1 or isinstance(op, ConvTransposeOp):
            return {}
        own = tensor_of(op.input).get_shape()[1] // groups
        made = tensor_of(op.results[0]).get_shape()[1] // groups
        source, result = self.spans[op.input][1], self.spans[op.results[0]][1]
        if source[0] % own or source[1] % own:
            raise ValueError(f"a tile has channels {source} in groups of {own}")
        first, last = source[0] // own, source[1] // own
        if result[0] < first * made or result[1] > last * made:
            raise ValueError(f"channels {result} are not of groups {first} to {last}")
        if last - first > 1 and result != (first * made, last * made):
            raise ValueError(f"channels {result} are parts of groups {first} to {last}")
        return {"group": int_attr(last - first)}

    def _slice(self, op: GEOp, index: int, part: Sequence[Span]) -> None:
        operand = op.operands[index]
        shape = tensor_of(operand).get_shape()
        own = self.spans.get(operand, [(0, size) for size in shape])
        axes = [axis for axis in range(len(own)) if part[axis] != own[axis]]
        for axis in axes:
            if part[axis][0] < own[axis][0] or part[axis][1] > own[axis][1]:
                raise ValueError(
                    f"'{op.name}' needs elements {part[axis]} of dimension {axis} of operand"
                    f" {index}, whose tile has {own[axis]}"
                )
        starts = [part[axis][0] - own[axis][0] for axis in axes]
        ends = [part[axis][1] - own[axis][0] for axis in axes]
        cut = SliceOp(operand, starts, ends, axes)
        block = op.parent
        assert block is not None
        block.insert_op_before(cut, op)
        op.operands[index] = cut.result
