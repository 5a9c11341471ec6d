"""TASK_INFO: the tasks of a model in the order in which they are launched."""

import struct
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Any

from ge_dialect.lowering.om.schema import new, parse, serialise

_DEVICE_TO_DEVICE = 3


class TaskType(IntEnum):
    """The kinds of task that we write; files of other compilers hold further numbers."""

    KERNEL = 0
    EVENT_RECORD = 1
    EVENT_WAIT = 2
    STREAM_ACTIVE = 8
    LABEL_SET = 9
    MEMCPY_ASYNC = 13
    LABEL_SWITCH_BY_INDEX = 23
    LABEL_GOTO = 24


@dataclass(frozen=True)
class OmTask:
    """One task of a stream.

    Attributes:
        type: A `TaskType`, or another number in a file of another compiler.
        stream: The stream it runs on.
        op_index: `OmOp.id` of the op that it belongs to.
        event: Of a record or a wait.
        kernel: The name of the kernel to launch.
        args: Of a kernel: offsets in bytes of operands, results and workspaces, in that order.
        blocks: Of a kernel: how many cores run it.
        origin_ops: Of a fused kernel: ids of the ops that it replaces.
        source: Of a copy: offset in bytes.
        destination: Of a copy: offset in bytes.
        count: Of a copy: bytes.
        target_stream: The stream to be activated.
        label: Of a label, or of a jump to one; of a switch, between how many labels it chooses.
    """

    type: int
    stream: int
    op_index: int = 0
    event: int = 0
    kernel: str = ""
    args: tuple[int, ...] = ()
    blocks: int = 1
    origin_ops: tuple[int, ...] = ()
    source: int = 0
    destination: int = 0
    count: int = 0
    target_stream: int = 0
    label: int = 0


@dataclass(frozen=True)
class TaskInfo:
    """What TASK_INFO holds.

    Attributes:
        tasks: In launch order.
        memory_size: Bytes of the arena.
        weight_size: Bytes of WEIGHTS_DATA.
        stream_num: How many streams there are.
        event_num: How many events there are.
        attrs: Texts about the model.
    """

    tasks: tuple[OmTask, ...]
    memory_size: int = 0
    weight_size: int = 0
    stream_num: int = 1
    event_num: int = 0
    attrs: tuple[tuple[str, str], ...] = ()


def encode_tasks(info: TaskInfo) -> bytes:
    """Returns the bytes of a `domi.ModelTaskDef`; never empty.

    Raises:
        ValueError: A number does not fit its field, or a task is of a type that we do not write.
    """
    message = new("domi.ModelTaskDef")
    message.version = "1"
    message.memory_size, message.weight_size = info.memory_size, info.weight_size
    message.stream_num, message.event_num = info.stream_num, info.event_num
    message.attr.update(dict(info.attrs))
    for index, task in enumerate(info.tasks):
        _encode_task(message.task.add(), index, task)
    return serialise(message)


def decode_tasks(data: bytes | memoryview) -> TaskInfo:
    """Returns what a TASK_INFO partition holds.

    Raises:
        GEError: GE0611, where it is no such message.
    """
    message = parse("domi.ModelTaskDef", data)
    return TaskInfo(
        tuple(_decode_task(task) for task in message.task),
        message.memory_size,
        message.weight_size,
        message.stream_num,
        message.event_num,
        tuple(sorted(message.attr.items())),
    )


def _encode_task(message: Any, index: int, task: OmTask) -> None:
    message.id, message.type, message.stream_id = index, int(task.type), task.stream
    match task.type:
        case TaskType.KERNEL:
            _encode_kernel(message.kernel, task)
        case TaskType.EVENT_RECORD | TaskType.EVENT_WAIT:
            message.event_id = task.event
            message.event_ex.op_index, message.event_ex.event_type = task.op_index, task.type
        case TaskType.STREAM_ACTIVE:
            active = message.stream_active
            active.op_index, active.active_stream_id = task.op_index, task.target_stream
        case TaskType.MEMCPY_ASYNC:
            copy = message.memcpy_async
            copy.dst, copy.src, copy.count = task.destination, task.source, task.count
            copy.dst_max, copy.kind, copy.op_index = task.count, _DEVICE_TO_DEVICE, task.op_index
        case TaskType.LABEL_SET | TaskType.LABEL_GOTO | TaskType.LABEL_SWITCH_BY_INDEX:
            _encode_label(message, task)
        case _:
            raise ValueError(f"expected one of {[*TaskType]}, got {task.type}")


def _encode_label(message: Any, task: OmTask) -> None:
    if task.type == TaskType.LABEL_SWITCH_BY_INDEX:
        switch = message.label_switch_by_index
        switch.op_index, switch.label_max = task.op_index, task.label
        return
    label = message.label_set if task.type == TaskType.LABEL_SET else message.label_goto_ex
    label.op_index, label.label_id = task.op_index, task.label
    message.label_id = task.label


def _encode_kernel(message: Any, task: OmTask) -> None:
    """Packs the arguments as the kernel gets them, eight bytes each, with the place of each."""
    count = len(task.args)
    message.context.op_index = task.op_index
    message.context.args_count = count
    message.context.args_offset = _arg_places(count)
    message.context.origin_op_index.extend(task.origin_ops)
    message.stub_func = message.kernel_name = task.kernel
    message.block_dim = task.blocks
    message.args = struct.pack(f"<{count}Q", *task.args)
    message.args_size = 8 * count


@lru_cache(maxsize=256)
def _arg_places(count: int) -> bytes:
    """Returns where each of some arguments lies, two bytes each."""
    return struct.pack(f"<{count}H", *(8 * i % 65536 for i in range(count)))


def _decode_task(message: Any) -> OmTask:
    kernel, copy = message.kernel, message.memcpy_async
    owner = next((getattr(message, name) for name in _OWNERS if message.HasField(name)), None)
    index = kernel.context.op_index if owner is None else owner.op_index
    count = len(kernel.args) // 8
    return OmTask(
        type=message.type,
        stream=message.stream_id,
        op_index=index,
        event=message.event_id,
        kernel=kernel.kernel_name or kernel.stub_func,
        args=struct.unpack(f"<{count}Q", kernel.args[: 8 * count]),
        blocks=kernel.block_dim if message.HasField("kernel") else 1,
        origin_ops=tuple(kernel.context.origin_op_index),
        source=copy.src,
        destination=copy.dst,
        count=copy.count,
        target_stream=message.stream_active.active_stream_id,
        label=message.label_switch_by_index.label_max or message.label_id,
    )


_OWNERS = (
    "event_ex",
    "memcpy_async",
    "stream_active",
    "label_set",
    "label_goto_ex",
    "label_switch_by_index",
    "kernel_ex",
    "kernel_hccl",
)
"""Fields of `TaskDef` that name the op of the task themselves."""
