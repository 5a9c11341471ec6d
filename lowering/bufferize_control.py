"""`ge.if` and `ge.loop` as branches and loops of tasks.

All values that regions yield have a place before the branch or loop is entered, and every region
writes there: where the op that computes a value can, directly, else by a copy at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp, constant_scalar
from ge_dialect.ge.structure import IfOp, LoopOp, yield_of
from ge_dialect.ge.types import element_type_of, is_tensor, shape_of
from ge_dialect.ge_exec import BranchOp, StoreOp
from ge_dialect.ge_exec import LoopOp as LoopTask
from ge_dialect.ge_exec.memory import base_of, is_buffer
from ge_dialect.lowering.kernels import block_of

if TYPE_CHECKING:
    from ge_dialect.lowering.bufferizer import Bufferizer


def lower_if(plan: Bufferizer, op: IfOp) -> None:
    """Adds a branch."""
    home = block_of(op)
    condition = plan.buffer(op.condition)
    targets = [plan.grown(result, op, home) for result in op.results]
    branch = BranchOp(plan.next_id(), condition)
    branch.location = op.location
    for region, tasks in zip((op.then_region, op.else_region), branch.regions, strict=True):
        yielded = yield_of(region).arguments
        _want(plan, yielded, targets, region.block)
        with plan.inside() as inner:
            plan.lower_block(region.block)
            _write(plan, yielded, targets, region.block)
        tasks.block.add_ops(inner)
    plan.consume(op.operands)
    plan.tasks.append(branch)
    for result, target in zip(op.results, targets, strict=True):
        plan.bind(result, target)


def lower_loop(plan: Bufferizer, op: LoopOp) -> None:
    """Adds a loop: first the copies that give what it carries its initial values."""
    home, body = block_of(op), op.body.block
    limit = plan.buffer(op.trip_count)
    iteration = plan.new(body.args[0].type, op, body)
    initial = [op.condition, *op.carried]
    kept = [body.args[1].type, *(result.type for result in op.results[: len(op.carried)])]
    is_kept = [a is b for a, b in zip(body.args[1:], yield_of(op.body).arguments, strict=False)]
    carried = [
        _initialise(plan, op, value, type_, same)
        for value, type_, same in zip(initial, kept, is_kept[: len(initial)], strict=True)
    ]
    scans = [_scan_target(plan, op, result) for result in op.results[len(op.carried) :]]
    plan.consume(op.operands)
    trips = _exact_trips(op, scans)
    loop = LoopTask(plan.next_id(), iteration, limit, carried[0], trips=trips)
    loop.location = op.location
    loop.tasks.block.add_ops(_body(plan, op, [iteration, *carried], scans))
    plan.tasks.append(loop)
    for target, same in zip(carried, is_kept, strict=False):
        if not same:
            plan.home[base_of(target)[0]] = home
    for result, target in zip(op.results, [*carried[1:], *scans], strict=True):
        plan.bind(result, target)


def _body(
    plan: Bufferizer, op: LoopOp, places: Sequence[SSAValue], scans: Sequence[SSAValue]
) -> list[Operation]:
    body, carried = op.body.block, places[1:]
    for arg, place in zip(body.args, places, strict=True):
        plan.bind(arg, place)
    yielded = yield_of(op.body).arguments
    for arg, place, value in zip(body.args[1:], carried, yielded, strict=False):
        if arg is not value:
            plan.home[base_of(place)[0]] = body
    plan.remaining[base_of(places[0])[0]] += len(scans)  # each store reads the iteration
    kept, scanned = yielded[: len(carried)], yielded[len(carried) :]
    _want(plan, kept, carried, body)
    with plan.inside() as tasks:
        plan.lower_block(body)
        for value, scan in zip(scanned, scans, strict=True):
            store = StoreOp(plan.next_id(), plan.buffer(value), scan, places[0])
            store.location = op.location
            plan.tasks.append(store)
        plan.consume(scanned)
        _write(plan, kept, carried, body)
    return tasks


def _want(
    plan: Bufferizer, values: Sequence[SSAValue], targets: Sequence[SSAValue], block: Block
) -> None:
    """Asks for values to be written where they are yielded to, if that place is free by then."""
    for value, target in zip(values, targets, strict=True):
        owner = value.owner
        if isinstance(owner, GEOp) and owner.parent is block and _fits(plan, value.type, target):
            plan.wanted.setdefault(value, target)


def _fits(plan: Bufferizer, type: Attribute, target: SSAValue) -> bool:
    """Whether a value of a type can be written to a place as it is."""
    return plan.storage(type) == target.type


def _write(
    plan: Bufferizer, values: Sequence[SSAValue], targets: Sequence[SSAValue], block: Block
) -> None:
    """Copies yielded values to where they belong, as if all at once.

    A place is overwritten once nobody has to read it any more; of a ring of places one is set
    aside. Quadratic in the values, of which a loop has few.
    """
    sources = [plan.buffer(value) for value in values]
    plan.consume(values)
    moves = [
        (value, source, target)
        for value, source, target in zip(values, sources, targets, strict=True)
        if source is not target and not _is_there(source, target)
    ]
    while moves:
        read = [base_of(source)[0] for _, source, _ in moves]
        free = [
            index
            for index, (_, _, target) in enumerate(moves)
            if all(
                read[other] is not base_of(target)[0]
                for other in range(len(moves))
                if other != index
            )
        ]
        value, source, target = moves.pop(free[0] if free else 0)
        if free and base_of(source)[0] is not base_of(target)[0]:
            plan.move(source, target, _cause(value))
            continue
        aside = plan.new(value.type, _cause(value), block)
        plan.move(source, aside, _cause(value))
        moves.append((value, aside, target))


def _is_there(source: SSAValue, target: SSAValue) -> bool:
    """Whether a value lies where it should, under another form."""
    return is_buffer(target.type) and base_of(source) == base_of(target)


def _cause(value: SSAValue) -> Operation | None:
    return value.owner if isinstance(value.owner, Operation) else None


def _initialise(
    plan: Bufferizer, op: LoopOp, value: SSAValue, type: Attribute, is_kept: bool
) -> SSAValue:
    """Returns the place of what a loop carries, which holds the initial value."""
    if is_kept and _fits(plan, type, plan.buffer(value)):
        return plan.buffer(value)  # no iteration writes it
    home = block_of(op)
    if _fits_in_place(plan, op, value, type, home):
        return plan.buffer(value)
    place = plan.new(type, op, home, value.name_hint)
    plan.move(plan.buffer(value), place, op)
    return place


def _fits_in_place(
    plan: Bufferizer, op: LoopOp, value: SSAValue, type: Attribute, home: Block
) -> bool:
    if not plan.in_place or not plan.is_last_read(op, value, home):
        return False
    return _fits(plan, type, plan.buffer(value))


def _scan_target(plan: Bufferizer, op: LoopOp, result: SSAValue) -> SSAValue:
    """Returns the place of a scan result; one that grows starts with no slices."""
    place = plan.grown(result, op, block_of(op))
    if not is_buffer(place.type):
        plan.launch(_no_slices(result), place)
    return place


def _no_slices(result: SSAValue) -> ConstantOp:
    """Returns a constant without elements, of the rank of a scan result where that is known."""
    import numpy as np

    from ge_dialect.ge.constants import array_constant
    from ge_dialect.ge.dtypes import to_numpy

    shape = shape_of(result.type) if is_tensor(result.type) else (None,)
    dims = (0, *(dim if isinstance(dim, int) else 0 for dim in shape[1:]))
    return array_constant(np.zeros(dims, to_numpy(element_type_of(result))))


def _exact_trips(op: LoopOp, scans: Sequence[SSAValue]) -> int | None:
    """Returns how often a loop runs, where its types or its operands say so."""
    for scan, result in zip(scans, op.results[len(op.carried) :], strict=True):
        if is_buffer(scan.type) and is_tensor(result.type):
            trips = shape_of(result.type)[0]
            return trips if isinstance(trips, int) else None
    go_on = yield_of(op.body).arguments[0]
    forever = go_on is op.body.block.args[1] or constant_scalar(go_on) is True
    trips = constant_scalar(op.trip_count)
    if forever and constant_scalar(op.condition) is True and isinstance(trips, int):
        return max(trips, 0)
    return None
