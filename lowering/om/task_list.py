"""The tasks of a plan as TASK_INFO holds them: in launch order, branches and loops by labels.

A branch is a switch by index between two labels; either side jumps to the label behind both. A loop
jumps back to a label in front of its switch.

Source: task types of the Apache-licensed GE (`rt_model.h`), and its LabelAllocator's layout of `If`
and `While`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, Region, SSAValue

from ge_dialect.ge.access import operands_of, ops_of
from ge_dialect.ge_exec import (
    BranchOp,
    CopyOp,
    LaunchOp,
    LoopOp,
    RecordOp,
    StoreOp,
    StreamOp,
    WaitOp,
    WeightOp,
)
from ge_dialect.ge_exec.control import TaskOp, inner_tasks, task_id
from ge_dialect.ge_exec.memory import buffer_bytes
from ge_dialect.lowering.om.places import Place, Places
from ge_dialect.lowering.om.tasks import OmTask, TaskType


@dataclass
class TaskList:
    """Turns tasks of a plan into those of a file.

    Attributes:
        ids: Of each task of the plan, the op of the graph that it belongs to.
        work_size: Bytes of the work arena, behind which the weights lie.
        labels: How many labels there are so far.
        places: Of the values.
    """

    ids: dict[int, int]
    work_size: int
    places: Places
    labels: int = 0

    def of(self, streams: Sequence[StreamOp]) -> Iterator[OmTask]:
        """Yields the tasks in launch order: by the plan's order, each wait before its task.

        The first stream starts the others.

        Args:
            streams: Of the plan.
        """
        yield from self._activations(streams)
        found: list[tuple[int, int, int, list[OmTask]]] = []
        for stream in streams:
            number = stream.id.value.data
            ops = ops_of(stream.body.block)
            upcoming = _next_ids(ops)
            last = -1
            for position, op in enumerate(ops):
                if isinstance(op, TaskOp):
                    last = task_id(op)
                    tasks = list(self._tasks(op, number))
                else:
                    assert isinstance(op, RecordOp | WaitOp)
                    kind = (
                        TaskType.EVENT_RECORD if isinstance(op, RecordOp) else TaskType.EVENT_WAIT
                    )
                    tasks = [OmTask(kind, number, event=op.event.value.data)]
                at = upcoming[position] if isinstance(op, WaitOp) else last
                found.append((at, number, position, tasks))
        for *_, tasks in sorted(found, key=lambda item: item[:3]):
            yield from tasks

    def _activations(self, streams: Sequence[StreamOp]) -> Iterator[OmTask]:
        """Yields what starts each stream but the first; it belongs to the stream's first task."""
        first, *others = streams or (None,)
        for stream in others:
            tasks = [op for op in ops_of(stream.body.block) if isinstance(op, TaskOp)]
            if first is not None and tasks:
                yield OmTask(
                    TaskType.STREAM_ACTIVE,
                    first.id.value.data,
                    self.ids[task_id(tasks[0])],
                    target_stream=stream.id.value.data,
                )

    def _tasks(self, op: TaskOp, stream: int) -> Iterator[OmTask]:
        index = self.ids[task_id(op)]
        match op:
            case LaunchOp():
                args = tuple(map(self._address, self.places.all(operands_of(op))))
                kernel = op.kernel.string_value()
                yield OmTask(TaskType.KERNEL, stream, index, kernel=kernel, args=args)
            case CopyOp() | StoreOp():
                yield OmTask(
                    TaskType.MEMCPY_ASYNC,
                    stream,
                    index,
                    source=self._logical(op.source),
                    destination=self._logical(op.target),
                    count=buffer_bytes(op.source.type),
                )
            case BranchOp():
                yield from self._branch(op, stream, index)
            case LoopOp():
                yield from self._loop(op, stream, index)

    def _branch(self, op: BranchOp, stream: int, index: int) -> Iterator[OmTask]:
        then_label, else_label, end = (self._label() for _ in range(3))
        yield OmTask(TaskType.LABEL_SWITCH_BY_INDEX, stream, index, label=2)
        yield OmTask(TaskType.LABEL_SET, stream, index, label=then_label)
        yield from self._region(op.then_tasks, stream)
        yield OmTask(TaskType.LABEL_GOTO, stream, index, label=end)
        yield OmTask(TaskType.LABEL_SET, stream, index, label=else_label)
        yield from self._region(op.else_tasks, stream)
        yield OmTask(TaskType.LABEL_SET, stream, index, label=end)

    def _loop(self, op: LoopOp, stream: int, index: int) -> Iterator[OmTask]:
        start, body, end = (self._label() for _ in range(3))
        yield OmTask(TaskType.LABEL_SET, stream, index, label=start)
        yield OmTask(TaskType.LABEL_SWITCH_BY_INDEX, stream, index, label=2)
        yield OmTask(TaskType.LABEL_SET, stream, index, label=body)
        for inner in inner_tasks(op):
            yield from self._tasks(inner, stream)
        yield OmTask(TaskType.LABEL_GOTO, stream, index, label=start)
        yield OmTask(TaskType.LABEL_SET, stream, index, label=end)

    def _region(self, region: Region, stream: int) -> Iterator[OmTask]:
        for op in region.block.ops:
            assert isinstance(op, TaskOp)
            yield from self._tasks(op, stream)

    def _label(self) -> int:
        self.labels += 1
        return self.labels - 1

    def _logical(self, value: SSAValue) -> int:
        return self._address(self.places.of(value))

    def _address(self, place: Place) -> int:
        """Returns an address as a task holds it: weights lie behind the work arena."""
        return place.address + (self.work_size if type(place.base) is WeightOp else 0)


def _next_ids(ops: Sequence[Operation]) -> list[int]:
    """Returns for each op the id of the task that follows it on its stream."""
    following: list[int] = []
    upcoming = 1 << 62
    for op in reversed(ops):
        following.append(upcoming)
        if isinstance(op, TaskOp):
            upcoming = task_id(op)
    return following[::-1]
