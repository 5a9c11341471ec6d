"""Single corruptions of a plan: something moved, an event dropped, tasks swapped, bytes taken away.

Each corruption changes a plan in place and gives what puts it right again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TypeVar

from ge_dialect.ge.base import int_attr
from ge_dialect.ge_exec import ArenaOp, BufferOp, PlanOp, RecordOp, WaitOp
from ge_dialect.ge_exec.control import TaskOp
from ge_dialect.ge_exec.memory import PlacedOp, offset_of

Undo = Callable[[], None]
T = TypeVar("T")

L2 = "place in the L2 of another"
"""The kind that shows in no run by itself: the runtime has no L2."""


def move(op: PlacedOp, offset: int) -> Undo:
    """Puts what lies in an arena at another place of it."""
    before = op.properties["offset"]
    op.properties["offset"] = int_attr(offset)
    return lambda: op.properties.update(offset=before)


def drop(op: RecordOp | WaitOp) -> Undo:
    """Takes a record or a wait out of its stream."""
    block, following = op.parent, op.next_op
    assert block is not None
    op.detach()
    if following is None:
        return lambda: block.add_op(op)
    return lambda: block.insert_op_before(op, following)


def swap(first: TaskOp, second: TaskOp) -> Undo:
    """Puts two tasks in the place of each other; they keep their numbers."""
    markers = RecordOp(100), RecordOp(101)
    for task, marker in zip((first, second), markers, strict=True):
        block = task.parent
        assert block is not None
        block.insert_op_before(marker, task)
        task.detach()
    for task, marker in zip((second, first), markers, strict=True):
        block = marker.parent
        assert block is not None
        block.insert_op_before(task, marker)
        marker.detach()
    return lambda: (swap(second, first), None)[1]


def shrink(arena: ArenaOp, size: int) -> Undo:
    """Gives an arena fewer bytes."""
    before = arena.properties["size"]
    arena.properties["size"] = int_attr(size)
    return lambda: arena.properties.update(size=before)


def corruptions(plan: PlanOp, random: Random, count: int) -> Iterator[tuple[str, Undo]]:
    """Yields corruptions one at a time, `count` of each kind that there are; each is undone by the
    caller before the next one.

    Args:
        plan: Right, with addresses and streams.
        random: Chooses what, and where to.
        count: Of each kind.
    """
    placed = [op for op in (*plan.inputs, *plan.weights, *plan.buffers) if op.offset is not None]
    yield from _moved(placed, random, count)
    yield from _reordered(plan, random, count)
    for arena in [op for op in plan.body.block.ops if isinstance(op, ArenaOp)]:
        held = [op for op in placed if op.arena is arena.result and op.size]
        end = max(((offset_of(op) or 0) + op.size for op in held), default=0)
        if end:
            yield "arena cut", shrink(arena, end - random.randint(1, min(64, end)))
    resident = [op for op in plan.buffers if op.l2_offset is not None]
    for op, other in _pairs(resident, random, count):
        if op.l2_offset != other.l2_offset:
            yield L2, stay(op, other.l2_offset)


def _moved(placed: Sequence[PlacedOp], random: Random, count: int) -> Iterator[tuple[str, Undo]]:
    for op, other in _pairs(placed, random, count):
        shift = random.choice((64, 512, 4096)) * random.randint(1, 8)
        offset = (offset_of(op) or 0) + random.choice((-1, 1)) * shift
        if offset >= 0:
            yield "address moved", move(op, offset)
        if op.arena is other.arena and op.offset != other.offset:
            yield "address of another", move(op, offset_of(other) or 0)


def _reordered(plan: PlanOp, random: Random, count: int) -> Iterator[tuple[str, Undo]]:
    events = [op for op in plan.walk() if isinstance(op, RecordOp | WaitOp)]
    for op in random.sample(events, min(count, len(events))):
        yield f"{op.name.removeprefix('ge_exec.')} dropped", drop(op)
    for first, second in _pairs(plan.tasks(), random, count):
        yield "tasks swapped", swap(first, second)


def _pairs(values: Sequence[T], random: Random, count: int) -> Iterator[tuple[T, T]]:
    for _ in range(count if len(values) > 1 else 0):
        first, second = random.sample(values, 2)
        yield first, second


def stay(op: BufferOp, offset: int | None) -> Undo:
    """Gives a buffer another place in the L2."""
    before = op.l2_offset
    op.stay_in_l2(offset)
    return lambda: op.stay_in_l2(before)
