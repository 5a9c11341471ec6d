"""What can be said of one compiled file, as plain values that two files are compared by."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge_exec import KernelOp, LaunchOp, PlanOp, RecordOp, kernels_by_name
from ge_dialect.ge_exec.control import TaskOp, flatten, task_id
from ge_dialect.locations import location_names
from ge_dialect.lowering.om.decode import read_plan
from ge_dialect.lowering.om.encode import model_name, plan_of
from ge_dialect.lowering.om.layout import PartitionType
from ge_dialect.lowering.predict import predict_plan
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.targets.dlti import target_of
from ge_dialect.tools.report.summary import memory, predicted_us
from ge_dialect.tools.report.traffic import compulsory_traffic, plan_traffic
from ge_dialect.tools.runtime.ports import input_ports, output_ports

if TYPE_CHECKING:
    from ge_dialect.lowering.om.decode import LoadedPlan


@dataclass(frozen=True)
class TaskFacts:
    """One task of a plan.

    Attributes:
        id: Its place in the order of the plan.
        stream: It runs on.
        kernel: GE's name of the op type, or the kind of task.
        ops: GE's names of the op types that the kernel computes.
        nodes: Names of the nodes of the model that it comes from.
    """

    id: int
    stream: int
    kernel: str
    ops: tuple[str, ...]
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class PlanFacts:
    """One file.

    Attributes:
        path: Of the file.
        numbers: By section and name: bytes, counts, us; texts for names and types.
        tasks: In the order of the plan, those in branches and loops included.
        weights: Bytes and digest of each, by name.
    """

    path: str
    numbers: Mapping[str, Mapping[str, Any]]
    tasks: tuple[TaskFacts, ...]
    weights: Mapping[str, tuple[int, str]]


def plan_facts(path: str) -> PlanFacts:
    """Returns what can be said of a file.

    Raises:
        GEError: It cannot be read, or its plan is not sound.
    """
    loaded = read_plan(path)
    plan = plan_of(loaded.module)
    verify_plan(plan)
    return PlanFacts(path, _numbers(loaded, plan), _tasks(plan), _weights(loaded, plan))


def _numbers(loaded: LoadedPlan, plan: PlanOp) -> dict[str, dict[str, Any]]:
    target, hbm = target_of(loaded.module), memory(plan)["hbm"]
    entries = loaded.file.container.entries
    names = {kind.value: kind.name.lower() for kind in PartitionType}
    kernels = [op for op in loaded.module.body.block.ops if isinstance(op, KernelOp)]
    return {
        "model": {"name": model_name(loaded.module), "target": target.name},
        "inputs": {port.name: str(port).partition("' ")[2] for port in input_ports(plan)},
        "outputs": {port.name: str(port).partition("' ")[2] for port in output_ports(plan)},
        "memory": {name: hbm[name] for name in ("arena", "lower_bound", "io", "weights")},
        "plan": {
            "tasks": len(plan.all_tasks()),
            "kernels": len(kernels),
            "streams": len(plan.streams),
            "events": sum(isinstance(op, RecordOp) for op in plan.walk()),
        },
        "cost": {
            "traffic": plan_traffic(plan),
            "compulsory": compulsory_traffic(plan),
            "predicted_us": predicted_us(predict_plan(plan, target)),
        },
        "file": {names.get(entry.type, str(entry.type)): entry.size for entry in entries},
    }


def _tasks(plan: PlanOp) -> tuple[TaskFacts, ...]:
    kernels = kernels_by_name(plan)
    streams = {
        inner: stream.id.value.data
        for stream in plan.streams
        for op in stream.body.block.ops
        if isinstance(op, TaskOp)
        for inner in flatten(op)
    }
    return tuple(_task(task, streams[task], kernels) for task in plan.all_tasks())


def _task(task: TaskOp, stream: int, kernels: Mapping[str, KernelOp]) -> TaskFacts:
    kind, ops = task.name.removeprefix("ge_exec."), ()
    if isinstance(task, LaunchOp):
        kernel = kernels[task.kernel.string_value()]
        kind, ops = kernel.op_type.data, kernel_ops(kernel)
    return TaskFacts(task_id(task), stream, kind, ops, location_names(task))


def kernel_ops(kernel: KernelOp) -> tuple[str, ...]:
    """Returns GE's names of the op types that a kernel computes, in order."""
    return tuple(
        op.ge_op_type()
        for op in kernel.body.block.ops
        if isinstance(op, GEOp) and not isinstance(op, ConstantOp)
    )


def _weights(loaded: LoadedPlan, plan: PlanOp) -> dict[str, tuple[int, str]]:
    found: dict[str, tuple[int, str]] = {}
    for op in plan.weights:
        name, count = op.value.data.name, 2
        while name in found:  # two weights may have one name
            name, count = f"{op.value.data.name} #{count}", count + 1
        digest = hashlib.blake2b(op.value.data.weight.view(), digest_size=16)
        found[name] = op.size, digest.hexdigest()
    return found
