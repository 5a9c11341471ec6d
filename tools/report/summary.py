"""The summary of a compilation, as plain values with stable keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ge_dialect.ge_exec import (
    ArenaOp,
    BufferOp,
    KernelOp,
    LaunchOp,
    PlanOp,
    RecordOp,
    kernels_by_name,
)
from ge_dialect.ge_exec.control import TaskOp, own_reads, own_writes
from ge_dialect.ge_exec.memory import Storage, base_of
from ge_dialect.ge_exec.tiling import TIERS
from ge_dialect.locations import location_name
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.remarks import Kind
from ge_dialect.targets.dlti import target_of
from ge_dialect.tools.report.prediction import prediction_summary
from ge_dialect.tools.report.traffic import compulsory_traffic, plan_traffic

if TYPE_CHECKING:
    from ge_dialect.lowering.predict import Prediction
    from ge_dialect.remarks import Remark
    from ge_dialect.targets import Target
    from ge_dialect.tools.api import CompiledPlan

FUSION_PASS = "ge-fuse-rules"

MAX_NODES = 3
"""How many nodes are named of those that run on the host."""


def summarize(compiled: CompiledPlan) -> dict[str, Any]:
    """Returns the summary: bytes, us and seconds as numbers, everything else text or lists."""
    from ge_dialect.lowering.predict import predict_module

    plan, target = plan_of(compiled.module), target_of(compiled.module)
    prediction = predict_module(compiled.module)
    calls = host_calls(plan)
    kernels = [op for op in compiled.module.body.block.ops if isinstance(op, KernelOp)]
    return {
        "model": compiled.name,
        "target": target.name,
        "opset": compiled.opset,
        "nodes_before": compiled.nodes_before,
        "nodes_after": compiled.nodes_after,
        "passes": [
            {"name": p.name, "seconds": round(p.seconds, 6), "rewrites": p.rewrites}
            for p in compiled.passes
        ],
        "fusions": fusions(compiled),
        "missed": [missed(r) for r in compiled.remarks if r.kind is Kind.MISSED],
        "memory": memory(plan) | {"l1": on_chip(plan, target)},
        "traffic": {
            "hbm_bytes": plan_traffic(plan),
            "compulsory_bytes": compulsory_traffic(plan),
            "unfused_bytes": compiled.unfused_bytes,
        },
        "streams": len(plan.streams),
        "events": sum(isinstance(op, RecordOp) for op in plan.walk()),
        "tasks": len(plan.all_tasks()),
        "objects": len(plan.objects),
        "kernels": len(kernels),
        "host_calls": [f"{call['op']} x{call['count']}" for call in calls],
        "host_nodes": calls,
        "predicted_us": predicted_us(prediction),
        "prediction": prediction_summary(prediction),
        "compile_seconds": round(compiled.compile_seconds, 6),
        "guards": [],
    }


def fusions(compiled: CompiledPlan) -> list[dict[str, Any]]:
    """Returns each rule that fired, its kernel and how often, most often first."""
    kernels = {
        r.rule: r.message.rpartition(" into ")[2].strip("'")
        for r in compiled.remarks
        if r.kind is Kind.PASSED and r.pass_name == FUSION_PASS
    }
    # Equal remarks are kept once, so that they do not count.
    ordered = sorted(compiled.fired.items(), key=lambda item: (-item[1], item[0]))
    return [{"rule": rule, "kernel": kernels.get(rule, ""), "count": n} for rule, n in ordered]


def missed(remark: Remark) -> dict[str, Any]:
    """Returns a near miss as the summary lists it."""
    return {
        "pass": remark.pass_name,
        "rule": remark.rule,
        "node": remark.location,
        "reason": None if remark.reason_class is None else str(remark.reason_class),
        "message": remark.message,
        "found": remark.found,
        "wanted": remark.wanted,
        "hint": remark.fix,
    }


def memory(plan: PlanOp) -> dict[str, dict[str, Any]]:
    """Returns peak, bound and parts of every tier in use, in bytes."""
    arenas = {op.arena_name.data: op for op in plan.body.block.ops if isinstance(op, ArenaOp)}
    work, weights = arenas.get("work"), arenas.get("weights")
    io = sum(op.size for op in plan.inputs)
    outputs = {base_of(op.buffer)[0] for op in plan.outputs}
    buffers = sum(op.size for op in plan.buffers)
    io += sum(op.size for op in plan.buffers if op in outputs)
    size = 0 if work is None else work.size.value.data
    hbm = {
        "peak": size,
        "lower_bound": 0 if work is None else work.lower_bound.value.data,
        "arena": size,
        "weights": 0 if weights is None else weights.size.value.data,
        "io": io,
        "reuse_factor": round(buffers / size, 3) if size else 1.0,
    }
    resident = [op for op in plan.buffers if op.l2_offset is not None]
    return {"hbm": hbm, "l2": l2(plan, resident)} if resident else {"hbm": hbm}


def l2(plan: PlanOp, resident: Sequence[BufferOp]) -> dict[str, int]:
    """Returns what stays in the L2, in bytes, and the HBM traffic that this saves."""
    moved = sum(op.size * len(touching) for op, touching in accesses(plan, resident).items())
    return {
        "peak": max((op.l2_offset or 0) + op.size for op in resident),
        "buffers": len(resident),
        "saved_bytes": moved,
    }


def accesses(plan: PlanOp, buffers: Sequence[BufferOp]) -> dict[BufferOp, set[TaskOp]]:
    """Returns the tasks that touch each of some buffers."""
    found: dict[Storage, set[TaskOp]] = {op: set() for op in buffers}
    for task in plan.all_tasks():
        for value in (*own_reads(task), *own_writes(task)):
            if (base := base_of(value)[0]) in found:
                found[base].add(task)
    return {op: found[op] for op in buffers}


def on_chip(plan: PlanOp, target: Target) -> dict[str, Any]:
    """Returns what kernels need of the memory of one core, in bytes; L1 first, then the rest.

    `kernel` is the one that needs the most of L1, `tiles` counts the tiles of all launches.
    """
    kernels = kernels_by_name(plan)
    launched = [
        kernels[task.kernel.string_value()]
        for task in plan.all_tasks()
        if isinstance(task, LaunchOp)
    ]
    tilings = {op.sym_name.data: op.tiling for op in launched if op.tiling is not None}
    largest = max(tilings, key=lambda name: tilings[name].used("l1"), default=None)
    peaks = {
        tier: max((tiling.used(tier) for tiling in tilings.values()), default=0) for tier in TIERS
    }
    return {
        "peak": peaks["l1"],
        "size": target.l1.size,
        "kernel": largest,
        "ub_peak": peaks["ub"],
        "l0c_peak": peaks["l0c"],
        "kernels": len(tilings),
        "tiles": sum(op.tiling.tiles for op in launched if op.tiling is not None),
        "reread": sum(op.reread_bytes for op in launched),
    }


def host_calls(plan: PlanOp) -> list[dict[str, Any]]:
    """Returns each op type that runs on the host, how often, and the first nodes it comes from."""
    kernels = kernels_by_name(plan)
    nodes: dict[str, list[str]] = {}
    for task in plan.all_tasks():
        if isinstance(task, LaunchOp):
            kernel = kernels[task.kernel.string_value()]
            if kernel.engine.data == "host":
                nodes.setdefault(kernel.op_type.data, []).append(location_name(task) or "")
    return [
        {"op": op, "count": len(found), "nodes": list(filter(None, found))[:MAX_NODES]}
        for op, found in sorted(nodes.items())
    ]


def predicted_us(prediction: Prediction) -> float:
    """Returns the makespan that the machine model predicts, in us."""
    return round(prediction.makespan_us, 3)
