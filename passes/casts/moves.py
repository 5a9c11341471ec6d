"""Casts on the other side of a movement, where fewer bytes move; and round trips."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect import remarks
from ge_dialect.ge.base import GEOp, set_type
from ge_dialect.ge.dtypes import find_dtype, is_float
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.indexing import GatherOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TileOp, TransposeOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp
from ge_dialect.ge.types import element_type_of, num_elements, tensor_of, tensor_type, value_shape
from ge_dialect.locations import fuse
from ge_dialect.passes.canonicalization.cast import keeps_every_value
from ge_dialect.passes.driver import Rewrite
from ge_dialect.passes.values import in_kernel

NAME = "ge-optimize-cast"


def _grows(cast: CastOp) -> int:
    """How many bytes an element of the result has more than one of the operand; 0 of text."""
    types = find_dtype(element_type_of(cast.input)), find_dtype(element_type_of(cast.result))
    if types[0] is None or types[1] is None or 0 in (types[0].bits, types[1].bits):
        return 0
    return types[1].storage_bytes - types[0].storage_bytes


def _moved(op: GEOp, values: list[SSAValue]) -> GEOp:
    """Returns a movement of other values, whose element type its result has."""
    element_type = element_type_of(values[0])
    if isinstance(op, ReshapeOp | BroadcastToOp):
        return type(op)(values[0], value_shape(op.result))
    new = op.clone()
    new.operands = [*values, *op.operands[len(values) :]]
    shape = value_shape(new.results[0])
    set_type(new.results[0], tensor_type(element_type, shape))
    return new


class MoveOnlyNarrow(Rewrite):
    """`move(cast(x))` -> `cast(move(x))`, where the cast makes elements larger.

    For movements whose result has no more elements than the operand: reshape, transpose, slice and
    gather; and concat, where all operands are cast from one type. Nobody else may read the casts.
    """

    roots = (ReshapeOp, TransposeOp, SliceOp, GatherOp, ConcatOp)
    reads = (CastOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, GEOp)
        if in_kernel(op):
            return
        moved = list(op.operands) if isinstance(op, ConcatOp) else [op.operands[0]]
        casts = [value.owner for value in moved if isinstance(value.owner, CastOp)]
        if len(casts) != len(moved) or any(_grows(cast) <= 0 for cast in casts):
            return
        if len({element_type_of(cast.input) for cast in casts}) != 1:
            return
        if any(not cast.result.has_one_use() for cast in casts) or _repeats(op):
            return
        new = _moved(op, [cast.input for cast in casts])
        cast = CastOp(new.results[0], element_type_of(op.results[0]))
        new.location = op.location
        cast.location = fuse(one.location for one in casts)
        remarks.passed(NAME, type(self).__name__, op, "moved before the cast")
        rewriter.replace(op, [new, cast])


def _repeats(op: Operation) -> bool:
    """Whether a gather gives more elements than it reads, or may do so."""
    if not isinstance(op, GatherOp):
        return False
    before, after = num_elements(op.input.type), num_elements(op.result.type)
    return before is None or after is None or after > before


class CastBeforeMoving(Rewrite):
    """`cast(move(x))` -> `move(cast(x))`, where the cast makes elements smaller.

    For movements whose result has no fewer elements than the operand: reshape, transpose,
    broadcast and tile. Nobody else may read what was moved.
    """

    roots = (CastOp,)
    reads = (ReshapeOp, TransposeOp, BroadcastToOp, TileOp)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, CastOp)
        move = op.input.owner
        if in_kernel(op):
            return
        if not isinstance(move, ReshapeOp | TransposeOp | BroadcastToOp | TileOp):
            return
        if not op.input.has_one_use() or _grows(op) >= 0:
            return
        cast = CastOp(move.input, element_type_of(op.result))
        new = _moved(move, [cast.result])
        cast.location, new.location = op.location, move.location
        remarks.passed(NAME, type(self).__name__, op, f"moved before {move.name}")
        rewriter.replace(op, [cast, new])


@dataclass
class DropRoundTrip(Rewrite):
    """`cast(cast(x))` -> `x`, where x has the type of the result and the type between is narrower.

    Only where the user allows it: values are rounded no more.
    """

    allowed: bool

    roots = (CastOp,)
    reads = (CastOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        assert isinstance(op, CastOp)
        inner = op.input.owner
        if not isinstance(inner, CastOp) or inner.input.type != op.result.type:
            return
        source, middle = tensor_of(inner.input).element_type, tensor_of(op.input).element_type
        if keeps_every_value(source, middle) or not _are_floats(inner):
            return
        if self.allowed:
            remarks.passed(NAME, type(self).__name__, op, f"{source} is not rounded to {middle}")
            rewriter.replace(op, (), [inner.input])
            return
        remarks.missed(
            NAME,
            type(self).__name__,
            op,
            f"{source} is rounded to {middle} in between",
            reason=remarks.ReasonClass.DISABLED,
            found="drop-round-trips=false",
            wanted="drop-round-trips=true",
            fix=f"allow it with {NAME}{{drop-round-trips=true}}",
        )


def _are_floats(cast: CastOp) -> bool:
    return is_float(element_type_of(cast.input)) and is_float(element_type_of(cast.result))
