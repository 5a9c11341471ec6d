"""`ge-verify-plan`: proves a plan right, from the plan alone.

Independent of every planner: it knows what tasks read and write, in which order streams and events
put them, and which bytes each buffer has. Checked, for every execution that the streams allow:

- every wait has its record, no two records of an event get in each other's way, no deadlock;
- everything lies inside its arena; what depends on symbols does so at every size of their ranges;
- two accesses of one byte, one of them a write, are ordered, and run in the order of the plan;
- what a task reads is what was last written to that very buffer: nobody else has taken the bytes;
- weights, and inputs that are not donated, are never written; outputs hold their own value at the
  end;
- the tiles of every kernel, and what stays in the L2, which is never lost there;
- inside a branch all of that for either side, and after it for what both leave alike; inside a loop
  for the first iteration and for every other.

Vector clocks as in Mattern, "Virtual Time and Global States of Distributed Systems" (1989); the
race check keeps the last write and the reads since, as in Flanagan and Freund, "FastTrack" (2009).
Cost: tasks times streams, plus the byte ranges that accesses cover.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Region, SSAValue
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.access import operands_of
from ge_dialect.ge_exec import (
    ArenaOp,
    BranchOp,
    BufferOp,
    InputOp,
    LoopOp,
    ObjectOp,
    ObjectType,
    OutputOp,
    PlanOp,
    WeightOp,
    kernels_by_name,
)
from ge_dialect.ge_exec.control import TaskOp, flatten, own_reads, own_writes, task_id
from ge_dialect.ge_exec.memory import Storage, base_of, offset_of
from ge_dialect.ge_exec.spans import span_of
from ge_dialect.lowering.overwrites import Overwrites
from ge_dialect.lowering.plan_bytes import Access, Bytes, Done, Segment, overlap
from ge_dialect.lowering.plan_clocks import CODE, Place, execution_order
from ge_dialect.lowering.plan_names import describe, describe_task
from ge_dialect.lowering.verify_symbols import check_order, check_symbols
from ge_dialect.lowering.verify_tiles import check_tiles
from ge_dialect.targets.dlti import attached_target


@dataclass(frozen=True)
class VerifyPlanPass(ModulePass):
    """Fails where a planned module is not right; changes nothing."""

    name = "ge-verify-plan"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for plan in [inner for inner in op.body.block.ops if isinstance(inner, PlanOp)]:
            verify_plan(plan)


def verify_plan(plan: PlanOp) -> None:
    """Checks a plan.

    Raises:
        GEError: It is not right; says which task, which bytes, and what is missing.
    """
    check_numbers(plan)
    check_symbols(plan)
    check_tiles(plan)
    order = execution_order(plan)
    check_order(plan, order)
    checker = Checker(overwrites=Overwrites(kernels_by_name(plan)))
    lasting = [checker.access(op.result) for op in (*plan.inputs, *plan.weights)]
    check_apart(lasting)
    # Also what no task touches lies in its arena.
    buffers = plan.buffers
    changing = [checker.access(op.result) for op in buffers]
    changing += [
        checker.access(value)
        for task, _ in order
        for inner in flatten(task)
        for value in own_writes(inner)
    ]
    checker.begin(lasting, changing)
    for task, place in order:
        checker.check(task, place)
    for output in plan.outputs:
        access = checker.access(output.buffer)
        for segment in checker.covered(access):
            check_value(segment, access, output)
    if any(op.resident is not None for op in buffers):
        check_residency(plan, order)


def check_residency(plan: PlanOp, order: Sequence[tuple[TaskOp, Place]]) -> None:
    """Checks the places that buffers have in the L2 of the target."""
    module = plan.get_toplevel_object()
    target = attached_target(module) if isinstance(module, ModuleOp) else None
    for op in plan.buffers:
        end = (op.l2_offset or 0) + op.size
        if op.resident is not None and target is not None and end > target.l2.size:
            what = f"{describe(op)} ends at byte {end} of the L2, which has {target.l2.size}"
            raise GEError(CODE, what)
    checker = ResidencyChecker(l2=plan.buffers[0])
    for task, place in order:
        checker.check(task, place)


def check_numbers(plan: PlanOp) -> None:
    """Checks that every task has a place of its own in the order of the plan."""
    for task, following in pairwise(plan.all_tasks()):
        if (number := task_id(task)) < (next_number := task_id(following)):
            continue
        if number == next_number:
            both = f"{describe_task(task)} and {describe_task(following)}"
            raise GEError(CODE, f"{both} have the same number")
        what = f"{describe_task(following)} comes after {describe_task(task)}"
        raise GEError(CODE, what, hint="tasks in a branch or loop are numbered in order")


@dataclass
class Checker:
    """Runs through the tasks of a plan in an order that the streams allow.

    Attributes:
        memory: What the bytes of each arena hold.
        known: The bytes of values.
        overwrites: Checks what tasks write over what they read.
        constant: Arenas of inputs and weights alone that no task writes. Their bytes always hold
            what they did at first.
    """

    memory: dict[ArenaOp | Storage, Bytes] = field(default_factory=lambda: defaultdict(Bytes))
    known: dict[SSAValue, Access] = field(default_factory=dict[SSAValue, Access])
    overwrites: Overwrites = field(default_factory=Overwrites)
    constant: set[ArenaOp | Storage] = field(default_factory=set["ArenaOp | Storage"])

    def begin(self, lasting: Sequence[Access], changing: Sequence[Access]) -> None:
        """Puts inputs and weights into their bytes.

        Args:
            lasting: Those of inputs and weights.
            changing: Those of buffers, and all that tasks write.
        """
        by_arena: dict[ArenaOp | Storage, list[Access]] = defaultdict(list)
        for access in changing:
            by_arena[access.arena].append(access)
        self.constant = {access.arena for access in lasting} - by_arena.keys()
        there = [access for access in lasting if access.arena not in self.constant]
        for access in there:
            by_arena[access.arena].append(access)
        for arena, accesses in by_arena.items():
            self.memory[arena] = Bytes.cut(accesses)
        for access in there:
            self.memory[access.arena].initialise(access)

    def access(self, value: SSAValue) -> Access:
        """Returns the bytes of a buffer value."""
        if (found := self.known.get(value)) is None:
            found = self.known[value] = _access(value)
        return found

    def accesses(self, values: Sequence[SSAValue]) -> list[Access]:
        """Returns the bytes of buffer values that are checked: here all."""
        known = self.known
        return [known[value] if value in known else self.access(value) for value in values]

    def check_in_place(
        self, task: TaskOp, read: Sequence[Access], written: Sequence[Access]
    ) -> None:
        """Checks that a task writes over what it reads only where it may."""
        self.overwrites.check(task, read, written)

    def covered(self, access: Access) -> list[Segment]:
        """Returns the segments of an access, split so that they cover exactly its bytes; none of
        what never changes."""
        if access.arena in self.constant:
            return []
        return self.memory[access.arena].covered(access)

    def check(self, task: TaskOp, place: Place) -> None:
        """Checks one task against what came before it, and records what it does."""
        read = self.accesses(own_reads(task))
        written = self.accesses(own_writes(task))
        self.check_in_place(task, read, written)
        done = Done(task, place, task_id(task))
        read = [access for access in read if access.arena not in self.constant]
        memory = self.memory  # what is written is in no arena that is constant
        for access in read:
            for segment in memory[access.arena].covered(access):
                if segment.owner is not access.owner:
                    check_value(segment, access, task)
                if segment.writer is not None:
                    _expect_after(done, segment.writer, access)
        for access in written:
            self._check_write(done, access)
        self._commit(done, read, written)
        if isinstance(task, BranchOp):
            self._check_branch(task, place)
        elif isinstance(task, LoopOp):
            self._check_loop(task, place)

    def _check_branch(self, task: BranchOp, place: Place) -> None:
        before = self._snapshot()
        self._check_region(task.then_tasks, place)
        after_then = self._snapshot()
        self.memory = before
        self._check_region(task.else_tasks, place)
        self._merge(after_then)

    def _check_loop(self, task: LoopOp, place: Place) -> None:
        """Runs the first iteration, then any later one: what both leave alike is all there is.

        A task overwrites bytes or leaves them, so that a third iteration finds what the second did.
        """
        before = self._snapshot()
        self._check_region(task.tasks, place)
        if task.known_trips is None:
            self._merge(before)
        after_first = self._snapshot()
        self._commit(Done(task, place, task_id(task)), (), self.accesses([task.iteration]))
        for access in self.accesses(own_reads(task)[1:]):
            for segment in self.covered(access):
                check_value(segment, access, task)
        if task.known_trips != 1:
            self._check_region(task.tasks, place)
            self._merge(after_first)

    def _check_region(self, region: Region, place: Place) -> None:
        for inner in region.block.ops:
            assert isinstance(inner, TaskOp)
            self.check(inner, place)

    def _snapshot(self) -> defaultdict[ArenaOp | Storage, Bytes]:
        copies = ((arena, held.copy()) for arena, held in self.memory.items())
        return defaultdict(Bytes, copies)

    def _merge(self, other: dict[ArenaOp | Storage, Bytes]) -> None:
        """Keeps of two states what they have in common; bytes that differ hold nothing."""
        for arena in dict.fromkeys((*self.memory, *other)):
            self.memory[arena].merge(other.get(arena) or Bytes())

    def _commit(self, done: Done, read: Sequence[Access], written: Sequence[Access]) -> None:
        memory, stream = self.memory, done.place.stream
        for access in read:
            for segment in memory[access.arena].covered(access):
                segment.readers[stream] = done
        for access in written:
            for segment in memory[access.arena].covered(access):
                segment.owner, segment.writer, segment.readers = access.owner, done, {}
                segment.is_mixed = False

    def _check_write(self, done: Done, access: Access) -> None:
        task = done.task
        if isinstance(access.owner, InputOp | WeightOp) and not _is_donated(access.owner):
            raise GEError(CODE, f"{describe_task(task)} writes {describe(access.owner)}")
        for segment in self.memory[access.arena].covered(access):
            lost = segment.owner
            if lost is not access.owner and isinstance(lost, InputOp | WeightOp):
                what = f"{describe(access.owner)} over {describe(lost)}"
                raise GEError(CODE, f"{describe_task(task)} writes {what}")
            if segment.writer is not None:
                _expect_after(done, segment.writer, access)
            for reader in segment.readers.values():
                _expect_after(done, reader, access)


@dataclass
class ResidencyChecker(Checker):
    """Runs through the tasks of a plan as far as they touch what stays in the L2.

    Attributes:
        l2: Stands for the L2 where an access names its arena.
    """

    l2: Storage | None = None

    def access(self, value: SSAValue) -> Access:
        owner, start, end = span_of(value)
        assert isinstance(owner, BufferOp) and owner.l2_offset is not None and self.l2 is not None
        return Access(owner, self.l2, owner.l2_offset + start, owner.l2_offset + end)

    def accesses(self, values: Sequence[SSAValue]) -> list[Access]:
        bases = [(value, base_of(value)[0]) for value in values]
        return [
            self.access(value)
            for value, base in bases
            if isinstance(base, BufferOp) and base.resident is not None
        ]

    def check_in_place(
        self, task: TaskOp, read: Sequence[Access], written: Sequence[Access]
    ) -> None:
        for target in written:
            for source in (*read, *written):
                if source.owner is not target.owner and overlap(source, target):
                    both = f"{describe(source.owner)} and {describe(target.owner)}"
                    raise GEError(CODE, f"{describe_task(task)} uses {both} at one place of the L2")


def _is_donated(op: Storage) -> bool:
    return isinstance(op, InputOp) and op.donated is not None


def check_value(segment: Segment, access: Access, reader: TaskOp | OutputOp) -> None:
    """Checks that bytes hold the value of the buffer that is read there."""
    if segment.owner is access.owner:
        return
    if isinstance(access.owner, WeightOp) and isinstance(segment.owner, WeightOp):
        return  # equal weights are stored once; `check_apart` has seen that they are
    nothing = "in some runs something else" if segment.is_mixed else "nothing yet"
    what = nothing if segment.owner is None else describe(segment.owner)
    is_output = isinstance(reader, OutputOp)
    who = f"output '{reader.io_name.data}'" if is_output else describe_task(reader)
    raise GEError(
        CODE,
        f"{who} reads {describe(access.owner)} at bytes {access.start} to {access.end},"
        f" where {what} is",
    )


def _expect_after(done: Done, other: Done, access: Access) -> None:
    place = done.place
    if other.place is place:
        return  # tasks of one branch or loop run one after the other
    if not place.after(other.place):
        raise GEError(
            CODE,
            f"{describe_task(done.task)} and {describe_task(other.task)} are not ordered,"
            f" but both use {_where(access)}",
            hint=f"stream {place.stream} has to wait for stream {other.place.stream}",
        )
    if other.number > done.number:
        raise GEError(
            CODE,
            f"{describe_task(done.task)} runs after {describe_task(other.task)},"
            f" and both use {_where(access)}",
            hint="tasks that share bytes run in the order of their numbers",
        )


def _where(access: Access) -> str:
    if not isinstance(access.arena, ArenaOp):
        return describe(access.owner)
    return f"bytes {access.start} to {access.end} of arena '{access.arena.arena_name.data}'"


def check_apart(accesses: Sequence[Access]) -> None:
    """Checks that what lives all the time shares no byte."""
    by_arena: dict[ArenaOp | Storage, list[Access]] = defaultdict(list)
    for access in accesses:
        by_arena[access.arena].append(access)
    for group in by_arena.values():
        there = [access for access in group if access.end > access.start]
        ordered = sorted(there, key=attrgetter("start", "end"))
        for left, right in pairwise(ordered):
            if left.end > right.start and not _is_stored_once(left, right):
                raise GEError(
                    CODE, f"{describe(left.owner)} and {describe(right.owner)} share bytes"
                )


def _is_stored_once(a: Access, b: Access) -> bool:
    """Whether two weights that are equal have the same place."""
    return (
        (a.start, a.end) == (b.start, b.end)
        and isinstance(a.owner, WeightOp)
        and isinstance(b.owner, WeightOp)
        and a.owner.value.data.weight == b.owner.value.data.weight
    )


def _access(value: SSAValue) -> Access:
    owner, start, end = span_of(value)
    (whole,) = owner.results
    if isinstance(owner, ObjectOp) or type(whole.type) is ObjectType:
        return Access(owner, owner, 0, 1)
    offset, holders = offset_of(owner), [value.owner for value in operands_of(owner)]
    arena = holders[0] if holders else None
    if offset is None or type(arena) is not ArenaOp:
        raise GEError(CODE, f"{describe(owner)} has no place", hint="run ge-plan-memory first")
    last = offset + (end if value is whole else owner.size)
    if last > (size := arena.size.value.data):
        raise GEError(
            CODE,
            f"{describe(owner)} ends at byte {last} of arena '{arena.arena_name.data}', which has"
            f" {size}",
        )
    return Access(owner, arena, offset + start, offset + end)
