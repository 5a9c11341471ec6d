"""The body of a kernel on one tile: what the runtime executes and the check of plans infers.

Where the tile of an operand has more than an op needs, since windows of another op reach further,
the op reads a slice of it. Windows are padded only where the tile ends with the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import Attribute, Block, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp, int_attr, ints_attr, set_type
from ge_dialect.ge.constants import ConstantOp, is_dense
from ge_dialect.ge.convolution import ConvTransposeOp, WindowContractionOp
from ge_dialect.ge.pieces import SliceOp
from ge_dialect.ge.pooling import PoolOp
from ge_dialect.ge.types import tensor_of, tensor_type
from ge_dialect.ge.windows import aligned_axes, slides, window_axes, window_span
from ge_dialect.ge_exec import KernelOp
from ge_dialect.ge_exec.tiling import Cut, Halo, TileBuffer, Tiling, value_names

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
    block = kernel.body.clone().block
    cutter = TileCutter(block, tiling)
    tile = cutter.at(spans)
    for value, shape in tile.shapes.items():
        type_ = tensor_of(value)
        if shape != type_.get_shape():
            set_type(value, tensor_type(type_.element_type, shape))
    for op in cutter.ops:
        op.properties.update(tile.properties[op])
        for index, part in tile.parts[op].items():
            _slice(op, index, _own(op.operands[index], tile.of_value), part)
    return TileBody(block, cutter.values)


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


@dataclass(frozen=True)
class TileSpans:
    """Where the tiles of a body's values begin and end in one turn of the loops.

    Attributes:
        of_value: One span a dimension.
        shapes: What they make of each value; constants have no tiles.
        parts: For each op, the parts of operands whose tiles have more than it needs, by operand.
        properties: For each op, those that change.
    """

    of_value: Mapping[SSAValue, Sequence[Span]]
    shapes: Mapping[SSAValue, tuple[int, ...]]
    parts: Mapping[GEOp, Mapping[int, Sequence[Span]]]
    properties: Mapping[GEOp, Mapping[str, Attribute]]

    def read_shapes(self, op: GEOp) -> list[tuple[int, ...] | None]:
        """Returns the shapes of what an op reads of its operands; None of a whole constant."""
        found = [self.shapes.get(operand) for operand in operands_of(op)]
        for index, part in self.parts[op].items():
            found[index] = _lengths(part)
        return found


def _lengths(spans: Sequence[Span]) -> tuple[int, ...]:
    return tuple([end - start for start, end in spans])


class TileCutter:
    """The tiles of the values of a body, for any turn of the loops.

    Attributes:
        values: Of the body, by the names that the tiling has for them.
        ops: Of the body, constants left out.
        tiling: Of the kernel.
    """

    def __init__(self, block: Block, tiling: Tiling):
        self.values = value_names(block)
        self.ops = [
            op for op in block.ops if isinstance(op, GEOp) and not isinstance(op, ConstantOp)
        ]
        self.tiling = tiling
        buffers = tiling.by_name()
        self._shapes = {value: tensor_of(value).get_shape() for value in self.values.values()}
        # What no loop cuts has one tile in all turns.
        self._whole: dict[SSAValue, list[Span]] = {
            value: [(0, size) for size in shape] for value, shape in self._shapes.items()
        }
        self._ways: dict[tuple[Cut, Halo | None, int], tuple[int, TileBuffer, int]] = {}
        """How dimensions of some size are cut: a number, and one of them."""
        self._cut = {
            value: self._find_ways(buffer, self._shapes[value])
            for name, value in self.values.items()
            if any((buffer := buffers[name]).cuts) or buffer.halos
        }

    def _find_ways(self, buffer: TileBuffer, shape: Sequence[int]) -> list[tuple[int, int]]:
        """Returns the dimensions of a value that are cut, each with the number of the way."""
        halos = buffer.halos or (None,) * len(shape)
        found: list[tuple[int, int]] = []
        for axis, key in enumerate(zip(buffer.cuts, halos, shape, strict=True)):
            if key[0] or buffer.halos:
                way = self._ways.setdefault(key, (len(self._ways), buffer, axis))
                found.append((axis, way[0]))
        return found

    @cached_property
    def aligned(self) -> Mapping[GEOp, Mapping[int, Sequence[tuple[int, int]]]]:
        """For each op whose operands no window slides over, `aligned_axes` of its operands, where
        there are some."""
        return {
            op: {
                index: axes
                for index in range(len(operands_of(op)))
                if (axes := aligned_axes(op, index))
            }
            for op in self.ops
            if op.results and not slides(op)
        }

    def at(self, turn: Sequence[Span]) -> TileSpans:
        """Returns the tiles of one turn.

        Args:
            turn: Spans of the outer loops.

        Raises:
            ValueError: The tile of an operand lacks what the tile of a result is computed from.
        """
        spans, shapes = {**self._whole}, {**self._shapes}
        found = [
            buffer.span(axis, turn, size) for (_, _, size), (_, buffer, axis) in self._ways.items()
        ]
        lengths = _lengths(found)
        for value, axes in self._cut.items():
            own, shape = [*spans[value]], [*shapes[value]]
            for axis, way in axes:
                own[axis], shape[axis] = found[way], lengths[way]
            spans[value], shapes[value] = own, tuple(shape)
        parts: dict[GEOp, Mapping[int, Sequence[Span]]] = {}
        properties: dict[GEOp, Mapping[str, Attribute]] = {}
        for op in self.ops:
            parts[op], properties[op] = self._changes(op, spans)
        if min(lengths, default=1) <= 0:
            self._check_some(shapes, spans)
        for op in self.ops:
            for index, part in parts[op].items():
                self._check_part(op, index, part, spans)
        return TileSpans(spans, shapes, parts, properties)

    def _check_some(
        self, shapes: Mapping[SSAValue, Sequence[int]], spans: Mapping[SSAValue, Sequence[Span]]
    ) -> None:
        for value in self._cut:
            pairs = zip(shapes[value], self._shapes[value], strict=True)
            if any(size <= 0 < whole for size, whole in pairs):
                raise ValueError(f"a tile has elements {spans[value]}")

    def _changes(
        self, op: GEOp, spans: Mapping[SSAValue, list[Span]]
    ) -> tuple[Mapping[int, Sequence[Span]], Mapping[str, Attribute]]:
        """Returns the parts of operands that an op reads, and properties that change."""
        if op.results[0] not in spans:
            return {}, {}
        if op not in self.aligned:
            return self._window(op, spans)
        return self._parts(op, spans), {}

    def _parts(
        self, op: GEOp, spans: Mapping[SSAValue, list[Span]]
    ) -> Mapping[int, Sequence[Span]]:
        """Returns the parts of operands whose tiles have more than the op needs."""
        (made, *_), operands = op.results, operands_of(op)
        wanted = spans[made]
        parts: dict[int, Sequence[Span]] = {}
        for index, aligned in self.aligned[op].items():
            part = list(own := _own(operands[index], spans))
            for axis, at in aligned:
                part[axis] = wanted[at]
            if part != own:
                parts[index] = part
        return parts

    def _window(
        self, op: GEOp, spans: Mapping[SSAValue, list[Span]]
    ) -> tuple[Mapping[int, Sequence[Span]], Mapping[str, Attribute]]:
        assert isinstance(op, PoolOp | WindowContractionOp)
        source, result = spans.get(op.input), spans[op.results[0]]
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
            properties |= _group(op, source[1], result[1])
        return ({0: part} if part != source else {}), properties

    def _check_part(
        self,
        op: GEOp,
        index: int,
        part: Sequence[Span],
        spans: Mapping[SSAValue, Sequence[Span]],
    ) -> None:
        for axis, (had, needed) in enumerate(
            zip(_own(op.operands[index], spans), part, strict=True)
        ):
            if needed[0] < had[0] or needed[1] > had[1]:
                raise ValueError(
                    f"'{op.name}' needs elements {needed} of dimension {axis} of operand"
                    f" {index}, whose tile has {had}"
                )


def _own(operand: SSAValue, spans: Mapping[SSAValue, Sequence[Span]]) -> Sequence[Span]:
    """Returns the tile of an operand; a constant is there as a whole."""
    if (own := spans.get(operand)) is not None:
        return own
    return [(0, size) for size in tensor_of(operand).get_shape()]


def _group(op: WindowContractionOp, source: Span, result: Span) -> dict[str, Attribute]:
    """Returns the groups of a tile: as many as its channels are of."""
    groups = op.group.value.data
    if groups == 1 or isinstance(op, ConvTransposeOp):
        return {}
    own = tensor_of(op.input).get_shape()[1] // groups
    made = tensor_of(op.results[0]).get_shape()[1] // groups
    if source[0] % own or source[1] % own:
        raise ValueError(f"a tile has channels {source} in groups of {own}")
    first, last = source[0] // own, source[1] // own
    if result[0] < first * made or result[1] > last * made:
        raise ValueError(f"channels {result} are not of groups {first} to {last}")
    if last - first > 1 and result != (first * made, last * made):
        raise ValueError(f"channels {result} are parts of groups {first} to {last}")
    return {"group": int_attr(last - first)}


def _slice(op: GEOp, index: int, own: Sequence[Span], part: Sequence[Span]) -> None:
    """Lets an op read a part of the tile of an operand."""
    axes = [axis for axis in range(len(own)) if part[axis] != own[axis]]
    starts = [part[axis][0] - own[axis][0] for axis in axes]
    ends = [part[axis][1] - own[axis][0] for axis in axes]
    cut = SliceOp(op.operands[index], starts, ends, axes)
    block = op.parent
    assert block is not None
    block.insert_op_before(cut, op)
    op.operands[index] = cut.result
