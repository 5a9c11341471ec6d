"""What `ge-zero-copy` marked, as places of a plan: views, and parts written into a whole.

A joined value gets its place when its first part is written. Each producer writes to a view of it,
at its own offset; when the concatenation comes, only what is not there yet is copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, SSAValue

from ge_dialect.ge.access import ops_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge_exec.memory import BoundedType, BufferType, ObjectType, base_of, is_buffer
from ge_dialect.ge_exec.spans import start_of
from ge_dialect.ge_exec.storage import exact_bytes
from ge_dialect.passes.zero_copy.marks import parts_of, views_of, written_value
from ge_dialect.passes.zero_copy.regions import part_regions

if TYPE_CHECKING:
    from ge_dialect.ge.pieces import ConcatOp
    from ge_dialect.lowering.bufferizer import Bufferizer


def find_parts(plan: Bufferizer, block: Block) -> None:
    """Says of the values of a block which are written straight into a joined one.

    Later ones first, as what is joined may be a part itself.
    """
    for op in reversed([op for op in ops_of(block) if op.attributes]):  # others have no mark
        for index, region in parts_of(op).items():
            value = written_value(op.operands[index])
            plan.parts.setdefault(value, (op.results[0], region.start))


def lower_views(plan: Bufferizer, op: GEOp) -> bool:
    """Binds the results of an op to bytes of its operand; False where it has to move them."""
    if (views := views_of(op)) is None:
        return False
    source, regions = views
    place = plan.buffer(source)
    if not is_buffer(place.type):
        return False
    for result, region in zip(op.results, regions, strict=True):
        type_ = _view_type(plan, result, place)
        plan.bind(result, plan.view(place, type_, region.start, result))
    plan.consume(op.operands)
    return True


def _view_type(plan: Bufferizer, result: SSAValue, place: SSAValue) -> BufferType:
    """Returns the type of a view; of the whole of a bounded value it has the bound of that."""
    type_ = plan.storage(result.type)
    if isinstance(place.type, BoundedType) and not isinstance(type_, MemRefType):
        whole = BoundedType(result.type, place.type.bytes)
        if exact_bytes(whole) == exact_bytes(place.type):
            return whole
    assert not isinstance(type_, ObjectType)
    return type_


def place_in_whole(plan: Bufferizer, value: SSAValue) -> SSAValue | None:
    """Returns the place of a value that is a part of a joined one, or None."""
    if (found := plan.parts.get(value)) is None:
        return None
    whole, start = found
    type_ = plan.storage(value.type)
    assert not isinstance(type_, ObjectType)
    return plan.view(_whole(plan, whole), type_, start, value)


def lower_parts(plan: Bufferizer, op: GEOp) -> bool:
    """Completes a joined value whose parts are written straight into it; False for other ops."""
    if not parts_of(op):
        return False
    from ge_dialect.ge.pieces import ConcatOp

    assert isinstance(op, ConcatOp)
    whole = _whole(plan, op.result)
    base, start = base_of(whole)[0], start_of(whole)
    for value, region in zip(op.inputs, _regions(op), strict=True):
        source = plan.buffer(value)
        is_there = base_of(source)[0] is base and start_of(source) == start + region.start
        if is_there or not region.size:
            continue
        type_ = plan.storage(value.type)
        assert not isinstance(type_, ObjectType)
        plan.move(source, plan.view(whole, type_, region.start, value), op)
    plan.bind(op.result, whole)
    plan.consume(op.operands)
    return True


def _regions(op: ConcatOp):
    regions = part_regions(op)
    assert regions is not None
    return regions


def _whole(plan: Bufferizer, value: SSAValue) -> SSAValue:
    """Returns the place of a joined value: in a larger one, where it is wanted, or a new one."""
    if (known := plan.joined.get(value)) is not None:
        return known
    op = value.owner
    assert isinstance(op, GEOp) and op.parent is not None
    wanted = plan.wanted.get(value)
    place = place_in_whole(plan, value)
    if place is None and wanted is not None and plan.remaining.get(base_of(wanted)[0], 0) == 0:
        place = wanted
    if place is None:
        place = plan.new(value.type, op, op.parent, value.name_hint)
    plan.joined[value] = place
    return place
