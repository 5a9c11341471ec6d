"""What each op says about tiles: which dimensions of its operands and results are cut together.

A tile of a result is computed from the tiles of the operands and nothing else. What an op says
nothing about is whole.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ge_dialect.ge.access import operand_at, operands_of
from ge_dialect.ge.attention import FlashAttentionOp, RotaryEmbeddingOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.channel_normalization import BatchNormOp, GroupNormOp, InstanceNormOp
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.convolution import ConvOp, ConvTransposeOp, WindowContractionOp
from ge_dialect.ge.dropout import DropoutOp
from ge_dialect.ge.indexing import GatherOp
from ge_dialect.ge.integer_contractions import MatmulIntegerOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TileOp, TransposeOp
from ge_dialect.ge.normalization import LayerNormOp, LpNormOp, RMSNormOp
from ge_dialect.ge.pieces import ConcatOp, PadOp, SliceOp, SplitOp
from ge_dialect.ge.pooling import PoolOp
from ge_dialect.ge.quantization import ScaledOp
from ge_dialect.ge.rearrange import TriluOp
from ge_dialect.ge.reductions import AxisSoftmaxOp, ReduceOp
from ge_dialect.ge.selection import ArgReduceOp
from ge_dialect.ge.types import normalize_axes, normalize_axis, tensor_of
from ge_dialect.passes.fusion.tiling import Role, role_of
from ge_dialect.passes.tiles.pieces import (
    EXACT,
    Piece,
    PieceTable,
    Reach,
    Slide,
    divide,
    fix,
    join,
    leaves,
    size_of,
)


def relate(table: PieceTable, op: GEOp) -> None:
    """Says what an op needs of tiles.

    Raises:
        ValueError: A shape is not static.
    """
    table.reader = op
    _rule_of(type(op))(table, op)
    table.reader = None


@cache
def _rule_of(op_class: type[GEOp]) -> Callable[[PieceTable, GEOp], None]:
    """Returns what says it for a class of ops."""
    for known, rule in _RULES.items():
        if issubclass(op_class, known):
            return rule
    return _point if role_of(op_class) is Role.POINT else _whole


def _whole(table: PieceTable, op: GEOp) -> None:
    table.whole(*op.operands, *op.results)


def _point(table: PieceTable, op: GEOp) -> None:
    for result in op.results[1:]:
        table.same(result, op.results[0])
    for operand in operands_of(op):
        table.broadcast(operand, op.results[0])


def _some_axes(table: PieceTable, op: GEOp, cut: Callable[[int], bool]) -> None:
    """All operands and results agree in the axes that may be cut; the others are whole."""
    result = table.dims(op.results[0])
    for value in (*op.operands, *op.results):
        dims = table.dims(value)
        for axis, dim in enumerate(dims):
            if cut(axis) and axis < len(result) and len(dims) == len(result):
                join(dim, result[axis])
            else:
                fix(dim)


def _scaled(table: PieceTable, op: GEOp) -> None:
    """One scale for all elements cuts nothing; others lie along an axis that the op names."""
    if any(leaves(dim) for value in op.operands[1:] for dim in table.dims(value)):
        table.whole(*op.operands, *op.results)
    else:
        table.same(op.operands[0], op.results[0])


def _reshape(table: PieceTable, op: GEOp) -> None:
    table.flat(op.operands[0], op.results[0])


def _transpose(table: PieceTable, op: GEOp) -> None:
    assert isinstance(op, TransposeOp)
    source = table.dims(op.input)
    table.consists(op.result, [source[axis] for axis in op.permutation])


def _broadcast(table: PieceTable, op: GEOp) -> None:
    table.broadcast(op.operands[0], op.results[0])


def _tile(table: PieceTable, op: GEOp) -> None:
    assert isinstance(op, TileOp)
    repeats = op.repeats.get_values()
    _some_axes(table, op, lambda axis: repeats[axis] == 1)


def _pieces(table: PieceTable, op: GEOp) -> None:
    assert isinstance(op, ConcatOp | SplitOp)
    _some_axes(table, op, lambda axis: axis != op.dimension)


def _slice(table: PieceTable, op: GEOp) -> None:
    assert isinstance(op, SliceOp)
    axes = normalize_axes(op.axes.get_values(), len(table.dims(op.operands[0])))
    _some_axes(table, op, lambda axis: axis not in axes)


def _pad(table: PieceTable, op: GEOp) -> None:
    assert isinstance(op, PadOp)
    widths = op.widths()
    fill = op.operands[1:]
    source, result = table.dims(op.operands[0]), table.dims(op.results[0])
    for width, one, other in zip(widths, source, result, strict=True):
        if width == (0, 0):
            join(one, other)
        else:
            fix(one)
            fix(other)
    table.whole(*fill)


def _trilu(table: PieceTable, op: GEOp) -> None:
    rank = len(table.dims(op.results[0]))
    _some_axes(table, op, lambda axis: axis < rank - 2)


def _gather(table: PieceTable, op: GEOp) -> None:
    assert isinstance(op, GatherOp)
    axis = op.dimension
    data, indices = table.dims(op.operands[0]), table.dims(op.operands[1])
    result = table.dims(op.results[0])
    fix(data[axis])
    for one, other in zip(data[:axis] + indices + data[axis + 1 :], result, strict=True):
        join(one, other)


def _reduce(table: PieceTable, op: GEOp) -> None:
    assert isinstance(op, ReduceOp | ArgReduceOp)
    source, result = table.dims(op.input), table.dims(op.result)
    if isinstance(op, ReduceOp):
        axes = normalize_axes(op.axes.get_values(), len(source)) or tuple(range(len(source)))
    else:
        axes = (normalize_axis(op.axis.value.data, len(source)),)
    kept = [axis for axis in range(len(source)) if axis not in axes]
    for axis in axes:
        fix(source[axis])
    places = kept if op.keepdims.value.data else range(len(kept))
    for axis, place in zip(kept, places, strict=True):
        join(source[axis], result[place])


def _rows(table: PieceTable, op: GEOp) -> None:
    assert isinstance(op, AxisSoftmaxOp | LayerNormOp | RMSNormOp | LpNormOp)
    rank = len(table.dims(op.input))
    axis = normalize_axis(op.axis.value.data, rank)
    only = isinstance(op, AxisSoftmaxOp | LpNormOp)
    table.same(op.input, op.result)
    for place, dim in enumerate(table.dims(op.input)):
        if place == axis or (place > axis and not only):
            fix(dim)
    table.whole(*op.operands[1:])


def _channels(table: PieceTable, op: GEOp) -> None:
    """The batch may be cut; of batch normalization the channels as well."""
    table.same(op.operands[0], op.results[0])
    source = table.dims(op.operands[0])
    if not isinstance(op, BatchNormOp):
        for dim in source[1:]:
            fix(dim)
        table.whole(*op.operands[1:])
        return
    for operand in op.operands[1:]:
        join(table.dims(operand)[0], source[1])


def _matmul(table: PieceTable, op: GEOp) -> None:
    lhs, rhs = table.dims(operand_at(op, 0)), table.dims(operand_at(op, 1))
    if len(rhs) == 2 <= len(lhs):
        table.consists(op.results[0], [*lhs[:-1], rhs[-1]])
    result = table.dims(op.results[0])
    if len(lhs) < 2 or len(rhs) < 2:
        table.whole(*op.operands, *op.results)
        return
    fix(lhs[-1])
    fix(rhs[-2])
    if len(rhs) > 2:
        join(lhs[-2], result[-2])
        join(rhs[-1], result[-1])
    for operand in (lhs, rhs) if len(rhs) > 2 else ():
        for own, whole in zip(operand[-3::-1], result[-3::-1], strict=False):
            if size_of(own) > 1:
                join(own, whole)
    for zero_point in operands_of(op)[2:]:
        if any(leaves(dim) for dim in table.dims(zero_point)):  # one a row or a column
            table.whole(*op.operands, *op.results)


def _gemm(table: PieceTable, op: GEOp) -> None:
    assert isinstance(op, GemmOp)
    a, b, result = table.dims(op.a), table.dims(op.b), table.dims(op.result)
    rows, inner = (a[1], a[0]) if op.trans_a is not None else (a[0], a[1])
    columns, depth = (b[0], b[1]) if op.trans_b is not None else (b[1], b[0])
    join(rows, result[0])
    join(columns, result[1])
    fix(inner)
    fix(depth)
    if op.c is not None:
        table.broadcast(op.c, op.result)


def _window(table: PieceTable, op: GEOp) -> None:
    """The batch may be cut, the filters, and images where windows slide."""
    assert isinstance(op, WindowContractionOp)
    source, result, filters = (table.dims(v) for v in (op.input, op.results[0], op.filter))
    join(source[0], result[0])
    if isinstance(op, ConvTransposeOp):
        for dim in (*source[1:], *result[2:], filters[0], *filters[2:]):
            fix(dim)
        _outputs(op, table, filters[1], op.group.value.data == 1)
        return
    for dim in filters[1:]:
        fix(dim)
    _channels_of(op, source[1], result[1])
    _outputs(op, table, filters[0], True)
    kernel = tensor_of(op.filter).get_shape()[2:]
    for axis, size in enumerate(kernel, start=2):
        _slide(table, op, axis, size)


def _outputs(op: WindowContractionOp, table: PieceTable, filters: list[Piece], cut: bool) -> None:
    """The channels of the result are those of the filters, and of what goes with each of them."""
    made = table.dims(op.results[0])[1]
    if not cut:
        fix([*filters, *made])
        table.whole(*op.operands[2:])
        return
    for operand in op.operands[2:]:
        (own,) = table.dims(operand) or ([],)
        if isinstance(op, ConvOp | ConvTransposeOp):
            join(own, made)  # the bias
        elif leaves(own):  # a zero point of each channel
            fix([*own, *made])
    join(filters, made)


def _channels_of(op: WindowContractionOp, source: list[Piece], result: list[Piece]) -> None:
    """Channels of the operand are whole, but for groups, which go with those of the result."""
    groups = op.group.value.data
    if groups == 1:
        fix(source)
        return
    group = Piece(groups)
    own, made = Piece(size_of(source) // groups, fixed=True), Piece(size_of(result) // groups)
    join(source, [group, own])
    join(result, [group, made])


def _slide(table: PieceTable, op: GEOp, axis: int, kernel: int) -> None:
    assert isinstance(op, WindowContractionOp | PoolOp)
    at = axis - 2
    stride, dilation = op.strides.get_values()[at], op.dilations.get_values()[at]
    pads = op.pads.get_values()
    pad = pads[at]
    after = (kernel - 1) * dilation + 1 - stride - pad
    source, result = table.dims(op.operands[0])[axis], table.dims(op.results[0])[axis]
    reach = Reach(stride, pad, after)
    if reach == EXACT and size_of(source) == size_of(result):
        join(source, result)
        return
    full = size_of(source) + pad + pads[at + len(pads) // 2]
    if (size_of(result) - 1) * stride + (kernel - 1) * dilation + 1 > full:
        fix([*source, *result])  # a window of `ceil_mode`, which reaches beyond the padding
        return
    table.slides.append(Slide(op, axis, reach))


def _pool(table: PieceTable, op: GEOp) -> None:
    assert isinstance(op, PoolOp)
    if len(op.results) > 1:  # indices count elements of the whole operand
        table.whole(*op.operands, *op.results)
        return
    source, result = table.dims(op.operands[0]), table.dims(op.results[0])
    join(source[0], result[0])
    join(source[1], result[1])
    for axis, size in enumerate(op.kernel.get_values(), start=2):
        _slide(table, op, axis, size)


def _attention(table: PieceTable, op: GEOp) -> None:
    """Batches, heads and queries may be cut; keys are passed over in blocks inside of a tile."""
    assert isinstance(op, FlashAttentionOp)
    q, k, v, result = (table.dims(value) for value in (op.q, op.k, op.v, op.result))
    for axis in range(3):
        join(q[axis], result[axis])
    join(k[0], q[0])
    join(v[0], q[0])
    join(v[1], k[1])
    heads, groups = size_of(q[1]), size_of(q[1]) // max(size_of(k[1]), 1)
    if groups in (1, heads):
        if groups == 1:
            join(k[1], q[1])
    elif len(whole := leaves(q[1])) == 1:
        outer, _ = divide(whole[0], groups)
        join(k[1], [outer])
    else:
        fix(q[1])
        fix(k[1])
    for dim in (q[3], k[2], k[3], v[2], v[3], result[3]):
        fix(dim)
    if op.sink is not None:
        join(table.dims(op.sink)[0], result[1])
    if op.mask is not None:
        scores = [result[0], result[1], result[2], k[2]]
        mask = table.dims(op.mask)
        for own, whole in zip(mask, scores[len(scores) - len(mask) :], strict=True):
            if size_of(own) > 1:
                join(own, whole)


def _rotary(table: PieceTable, op: GEOp) -> None:
    assert isinstance(op, RotaryEmbeddingOp)
    table.same(op.input, op.result)
    dims = table.dims(op.result)
    fix(dims[-1])
    batch, rows = dims[0], dims[-2]  # the second dimension of rank 3, the third of rank 4
    tables = (op.cos, op.sin)
    if op.position_ids is not None:
        table.whole(*tables)
        tables = (op.position_ids,)
    for value in tables:
        own = table.dims(value)
        for one, other in zip(own, (batch, rows), strict=False):
            if size_of(one) > 1:
                join(one, other)
        for dim in own[2:]:
            fix(dim)


def _dropout(table: PieceTable, op: GEOp) -> None:
    """The mask of a training run depends on the place of an element in the whole."""
    assert isinstance(op, DropoutOp)
    if not op.is_identity():
        table.whole(*op.operands, *op.results)
        return
    for result in op.results:
        table.same(op.input, result)


_RULES: dict[type[GEOp] | tuple[type[GEOp], ...], Callable[[PieceTable, GEOp], None]] = {
    ReshapeOp: _reshape,
    TransposeOp: _transpose,
    BroadcastToOp: _broadcast,
    TileOp: _tile,
    ConcatOp: _pieces,
    SplitOp: _pieces,
    SliceOp: _slice,
    PadOp: _pad,
    TriluOp: _trilu,
    GatherOp: _gather,
    ReduceOp: _reduce,
    ArgReduceOp: _reduce,
    AxisSoftmaxOp: _rows,
    LayerNormOp: _rows,
    RMSNormOp: _rows,
    LpNormOp: _rows,
    GroupNormOp: _channels,
    InstanceNormOp: _channels,
    BatchNormOp: _channels,
    MatmulOp: _matmul,
    MatmulIntegerOp: _matmul,
    GemmOp: _gemm,
    WindowContractionOp: _window,
    PoolOp: _pool,
    FlashAttentionOp: _attention,
    RotaryEmbeddingOp: _rotary,
    DropoutOp: _dropout,
    ScaledOp: _scaled,
}
