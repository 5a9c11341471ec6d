"""`ge-plan-memory`: gives every buffer of a plan its arena and byte offset.

Weights lie in an arena of their own, equal ones once. Inputs and outputs lie behind everything
else, so that a loader can put the caller's own bytes there, as GE does. The rest is one planning
problem: bytes may be taken over once every access of their buffer has certainly ended before the
new one's first access starts.

Limits: one tier. Example: tests/filecheck/lowering/plan_memory.mlir.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.ge.attributes import Tier
from ge_dialect.ge_exec import ArenaOp, BufferOp, InputOp, PlanOp
from ge_dialect.ge_exec.memory import PlacedOp, base_of
from ge_dialect.locations import location_name
from ge_dialect.lowering.dependencies import plan_order, task_graph
from ge_dialect.lowering.memory.heuristics import MemoryFullError, minimise
from ge_dialect.lowering.memory.problem import Buffer, Plan, Problem
from ge_dialect.lowering.schedule.happens_before import Accesses, memory_problem

ALIGNMENT = 512
"""Bytes. Source: GE aligns memory blocks and weight offsets to 512."""


@dataclass(frozen=True)
class PlanMemoryPass(ModulePass):
    """Places inputs, outputs, weights and buffers; adds the arenas `work` and `weights`.

    Options:
    - `limit`: bytes that the work arena may have, inputs and outputs included. Default: no limit.
    - `reuse`: whether buffers may take the bytes of dead ones. Default true.
    """

    name = "ge-plan-memory"

    limit: int | None = None
    reuse: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for plan in [inner for inner in op.body.block.ops if isinstance(inner, PlanOp)]:
            forget(plan)
            place_weights(plan)
            place_work(plan, self.limit, self.reuse)


def forget(plan: PlanOp) -> None:
    """Takes all addresses away, so that a plan can be made again."""
    for op in list(plan.body.block.ops):
        if isinstance(op, PlacedOp) and op.arena is not None:
            op.operands = []
            del op.properties["offset"]
    for op in list(plan.body.block.ops):
        if isinstance(op, ArenaOp):
            op.detach()
            op.erase()


def place_weights(plan: PlanOp) -> None:
    """Lays the weights out one behind the other, in the order of the plan, equal ones once."""
    from ge_dialect.lowering.om.file import PackedWeights

    if not plan.weights:
        return
    packed = PackedWeights()
    offsets = [packed.add(op.value.data.weight) for op in plan.weights]
    arena = _add_arena(plan, "weights", packed.size, packed.size)
    for op, offset in zip(plan.weights, offsets, strict=True):
        op.place(arena.result, offset)


def place_work(plan: PlanOp, limit: int | None, reuse: bool) -> None:
    """Places inputs, outputs and buffers.

    Raises:
        GEError: They do not fit `limit`; names the buffers alive at the peak.
    """
    bases = dict.fromkeys(base_of(op.buffer)[0] for op in plan.outputs)
    ports: list[PlacedOp] = [*plan.inputs, *(op for op in bases if isinstance(op, BufferOp))]
    tail = sum(padded(op.size) for op in ports)
    inner = [op for op in plan.buffers if op not in bases]
    solved = minimise(work_problem(plan, inner, (), reuse))
    total = Plan(solved.offsets, solved.peak + tail, solved.lower_bound + tail)
    if limit is not None and total.peak > limit:
        raise MemoryFullError(work_problem(plan, inner, ports, reuse), total, limit)
    arena = _add_arena(plan, "work", total.peak, total.lower_bound)
    for op, offset in zip(inner, solved.offsets, strict=True):
        op.place(arena.result, offset)
    offset = solved.peak
    for op in ports:
        op.place(arena.result, offset)
        offset += padded(op.size)


def work_problem(
    plan: PlanOp, buffers: Sequence[BufferOp], ports: Sequence[PlacedOp], reuse: bool
) -> Problem:
    """Returns the planning problem of a plan's buffers, and of ports that keep their bytes."""
    graph = task_graph(plan)
    values = [
        Buffer(_title(op) or f"buffer {i}", op.size, ALIGNMENT)
        for i, op in enumerate((*buffers, *ports))
    ]
    accesses = [
        Accesses(
            tuple(graph.writers.get(op, ())),
            tuple(graph.readers.get(op, ())),
            live_in=not reuse,
            live_out=not reuse,
        )
        for op in buffers
    ]
    accesses += [Accesses(live_in=True, live_out=True) for _ in ports]
    return memory_problem(plan_order(plan, graph), values, accesses, space="the work arena")


def _title(op: PlacedOp) -> str | None:
    name = op.io_name.data if isinstance(op, InputOp) else location_name(op)
    return name or op.result.name_hint


def padded(size: int) -> int:
    """Returns bytes rounded up to the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _add_arena(plan: PlanOp, name: str, size: int, lower_bound: int) -> ArenaOp:
    arena = ArenaOp(name, Tier.HBM, size, lower_bound)
    block = plan.body.block
    assert block.first_op is not None
    block.insert_op_before(arena, block.first_op)
    return arena
