"""One execution of a plan that its streams allow, with vector clocks: for the check of plans.

Written from the meaning of streams and events alone; shares nothing with what schedules them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.access import ops_of
from ge_dialect.ge_exec import PlanOp, RecordOp, WaitOp
from ge_dialect.ge_exec.control import TaskOp

CODE = "GE0540"


@dataclass(frozen=True)
class Place:
    """Where a task runs, and what had happened on each stream before it."""

    stream: int
    position: int
    clock: tuple[int, ...]

    def after(self, other: Place) -> bool:
        """Whether `other` has ended before this starts, in every execution."""
        return self.clock[other.stream] >= other.position


def execution_order(plan: PlanOp) -> Sequence[tuple[TaskOp, Place]]:
    """Returns the tasks in one order that the streams allow, each with its vector clock.

    Raises:
        GEError: The streams wait for each other, or for an event that nobody records.
    """
    queues = [deque(ops_of(stream.body.block)) for stream in plan.streams]
    runner = Clocks(len(queues))
    order: list[tuple[TaskOp, Place]] = []
    progress = True
    while progress:
        progress = False
        for stream, queue in enumerate(queues):
            while queue and runner.step(stream, queue[0], order):
                queue.popleft()
                progress = True
    stuck = [queue[0] for queue in queues if queue]
    if stuck:
        waits = ", ".join(str(op.event.value.data) for op in stuck if isinstance(op, WaitOp))
        raise GEError(CODE, f"streams stand still: waits for events {waits} are never served")
    return order


@dataclass
class Clocks:
    """Vector clocks of the streams while one legal execution goes by.

    An event is a flag: a record sets it, the one wait it serves clears it.
    """

    streams: int
    clocks: list[list[int]] = field(init=False)
    recorded: dict[int, tuple[int, tuple[int, ...]]] = field(
        default_factory=dict[int, tuple[int, tuple[int, ...]]]
    )
    waited: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])

    def __post_init__(self) -> None:
        self.clocks = [[0] * self.streams for _ in range(self.streams)]

    def step(self, stream: int, op: Operation, order: list[tuple[TaskOp, Place]]) -> bool:
        """Runs one op of a stream; returns False where it has to wait."""
        clock = self.clocks[stream]
        if isinstance(op, WaitOp):
            return self._wait(stream, op.event.value.data)
        if isinstance(op, RecordOp):
            self._record(stream, op.event.value.data)
            return True
        assert isinstance(op, TaskOp)
        position = clock[stream] + 1
        order.append((op, Place(stream, position, tuple(clock))))
        clock[stream] = position
        return True

    def _wait(self, stream: int, event: int) -> bool:
        if event not in self.recorded:
            return False
        recorder, reached = self.recorded.pop(event)
        if recorder == stream:  # devices refuse it, and the order of the stream is there anyway
            raise GEError(CODE, f"event {event}: stream {stream} waits for itself")
        if event in self.waited and not self._is_past(stream, event):
            raise GEError(CODE, f"event {event}: two waits may take each other's record")
        clock = self.clocks[stream]
        for index, value in enumerate(reached):
            clock[index] = max(clock[index], value)
        self.waited[event] = (stream, clock[stream] + 1)
        # A wait is a moment of its own, so that a later record can be shown to come after it.
        clock[stream] += 1
        return True

    def _record(self, stream: int, event: int) -> None:
        if event in self.recorded:
            raise GEError(CODE, f"event {event} is recorded again before its wait")
        if event in self.waited and not self._is_past(stream, event):
            raise GEError(CODE, f"event {event} may be recorded again before its wait")
        self.recorded[event] = (stream, tuple(self.clocks[stream]))

    def _is_past(self, stream: int, event: int) -> bool:
        """Whether the last wait for an event is over when `stream` is where it is."""
        waiter, position = self.waited[event]
        return self.clocks[stream][waiter] >= position
