"""`ge-plan-memory`: gives every buffer of a plan its arena and byte offset.

Weights lie in an arena of their own, equal ones once. Inputs and outputs lie behind everything
else, so that a loader can put the caller's own bytes there, as GE does. The rest is one planning
problem: bytes may be taken over once every access of their buffer has certainly ended before the
new one's first access starts. What is inside a loop or branch: `lifetimes.py`.

Limits: one tier. Example: tests/filecheck/lowering/plan_memory.mlir.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.access import operands_of, ops_of
from ge_dialect.ge.attributes import Tier
from ge_dialect.ge_exec import ArenaOp, BufferOp, InputOp, LaunchOp, PlanOp, kernels_by_name
from ge_dialect.ge_exec.control import own_writes
from ge_dialect.ge_exec.memory import PlacedOp, Storage, base_of
from ge_dialect.locations import location_name, location_names
from ge_dialect.lowering.dependencies import task_graph, touched_buffers
from ge_dialect.lowering.memory.api import EFFORT
from ge_dialect.lowering.memory.heuristics import MemoryFullError, solve
from ge_dialect.lowering.memory.lifetimes import moments
from ge_dialect.lowering.memory.problem import Buffer, Plan, Problem
from ge_dialect.lowering.schedule.happens_before import Accesses, memory_problem
from ge_dialect.passes.policy import Policy, policy_of

if TYPE_CHECKING:
    from ge_dialect.targets import Target

EFFORTS = {Policy.THROUGHPUT: EFFORT, Policy.BALANCED: EFFORT, Policy.CONSERVATIVE: 8 * EFFORT}
"""Nodes of exact search for a lower peak."""

MIN_ALIGNMENT = 32
"""Bytes. Source: GE aligns inputs and outputs so, the least of all that it places."""


@dataclass(frozen=True)
class PlanMemoryPass(ModulePass):
    """Places inputs, outputs, weights and buffers; adds the arenas `work` and `weights`.

    Options:
    - `limit`: bytes that the work arena may have, inputs and outputs included. Default: what the
      weights leave of the target's HBM.
    - `reuse`: whether buffers may take the bytes of dead ones. Default true.
    - `target`: name of a chip, or path of a TOML file. Default: the target of the module.
    - `effort`: nodes of exact search that are spent on a lower peak than heuristics reach; 0 for
      none. Default by policy: 8000, less than a second, where it is `balanced` or `throughput`,
      64000 where it is `conservative`.
    - `policy`: conservative, balanced or throughput. Default: the attribute `ge.memory_policy` of
      the module, else balanced.
    - `no-reuse`: names of nodes and GE's op types whose results share bytes with no other buffer,
      as GE's OP_NO_REUSE_MEM. Default none.
    - `alignment`: of all offsets, in bytes: a power of two. Default: that of the target's HBM.
    """

    name = "ge-plan-memory"

    limit: int | None = None
    reuse: bool = True
    target: str | None = None
    effort: int | None = None
    policy: str | None = None
    no_reuse: tuple[str, ...] = ()
    alignment: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ge_dialect.targets.dlti import target_of

        target = target_of(op, self.target)
        effort = EFFORTS[policy_of(op, self.policy)] if self.effort is None else self.effort
        request = Request(
            target, self._alignment(target), self.limit, self.reuse, self.no_reuse, effort
        )
        plans = [inner for inner in op.body.block.ops if isinstance(inner, PlanOp)]
        for plan in plans:
            forget(plan)
        place_weights(plans, target)
        for plan in plans:
            place_work(plan, request)

    def _alignment(self, target: Target) -> int:
        chosen = target.hbm.alignment if self.alignment is None else self.alignment
        if chosen < MIN_ALIGNMENT or chosen & (chosen - 1):
            raise GEError(
                "GE0508",
                f"expected 'alignment' to be a power of two, {MIN_ALIGNMENT} bytes or more, got"
                f" {chosen}",
                hint=f"leave it out: {target.name} wants {target.hbm.alignment}",
            )
        return chosen


@dataclass(frozen=True)
class Request:
    """How the buffers of a plan are to be placed.

    Attributes:
        target: Says how many bytes there are.
        alignment: Of all offsets, in bytes.
        limit: Bytes of the work arena; None for what the weights leave of the target's HBM.
        reuse: Whether buffers may take the bytes of dead ones.
        no_reuse: Names of nodes and op types whose results share bytes with nothing.
        effort: Nodes of exact search for a lower peak.
    """

    target: Target
    alignment: int
    limit: int | None = None
    reuse: bool = True
    no_reuse: Collection[str] = ()
    effort: int = EFFORT


def forget(plan: PlanOp) -> None:
    """Takes all addresses away, so that a plan can be made again."""
    ops = ops_of(plan.body.block)
    for op in ops:
        if isinstance(op, PlacedOp) and operands_of(op):
            op.operands = []
            del op.properties["offset"]
    for op in ops:
        if type(op) is ArenaOp:
            op.detach()
            op.erase()


def place_weights(plans: Sequence[PlanOp], target: Target) -> None:
    """Lays the weights out one behind the other, in the order of the plans, equal ones once.

    Plans of one module share the bytes of their weights.

    Raises:
        GEError: They do not fit the HBM of the target (GE0502).
    """
    from ge_dialect.lowering.om.file import PackedWeights

    packed = PackedWeights(target.hbm.alignment)
    held = [plan.weights for plan in plans]
    offsets = [[packed.add(op.value.data.weight) for op in weights] for weights in held]
    if packed.size > target.hbm.size:
        raise GEError(
            "GE0502",
            f"the weights take {packed.size} bytes, the HBM of {target.name} has"
            f" {target.hbm.size} (proved)",
            hint="compile for another target, or quantise the model",
        )
    for plan, weights, places in zip(plans, held, offsets, strict=True):
        if places:
            arena = _add_arena(plan, "weights", packed.size, packed.size)
            for op, offset in zip(weights, places, strict=True):
                op.place(arena.result, offset)


def place_work(plan: PlanOp, request: Request) -> None:
    """Places inputs, outputs and buffers of a plan without a work arena; weights have their place.

    Raises:
        GEError: They do not fit; names the buffers alive at the peak.
    """
    with plan.unchanged():
        inner, ports, solved, total = _work_places(plan, request)
    arena = _add_arena(plan, "work", total.peak, total.lower_bound)
    for op, offset in zip(inner, solved.offsets, strict=True):
        op.place(arena.result, offset)
    offset = solved.peak
    for op in ports:
        op.place(arena.result, offset)
        offset += padded(op.size, request.alignment)


def _work_places(
    plan: PlanOp, request: Request
) -> tuple[Sequence[BufferOp], Sequence[PlacedOp], Plan, Plan]:
    """Returns the buffers that nobody else sees, the inputs and outputs that lie behind them, the
    places of the former, and what both need."""
    alignment = request.alignment
    bases = dict.fromkeys(base_of(op.buffer)[0] for op in plan.outputs)
    inputs = [op for op in plan.inputs if not op.is_object]
    ports: list[PlacedOp] = [*inputs, *(op for op in bases if isinstance(op, BufferOp))]
    tail = sum(padded(op.size, alignment) for op in ports)
    inner = [op for op in plan.buffers if op not in bases]
    room = _room(plan, request.target) if request.limit is None else request.limit
    inner_problem = work_problem(plan, inner, (), request, is_named=False)
    solved, proved = _solved(inner_problem, room - tail, request.effort)
    total = Plan(solved.offsets, solved.peak + tail, solved.lower_bound + tail)
    if total.peak > room:
        error = MemoryFullError(
            work_problem(plan, inner, ports, request), total, room, proved=proved
        )
        if request.limit is None:
            error.hint = f"{request.target.name} has no more: reduce the batch or sequence length"
        raise error
    return inner, ports, solved, total


def _solved(problem: Problem, room: int, effort: int) -> tuple[Plan, bool]:
    """A plan that fits the room if one is found, and whether none can."""
    try:
        return solve(replace(problem, capacity=max(room, 0)), effort), False
    except MemoryFullError as error:
        return error.plan, error.proved


def _room(plan: PlanOp, target: Target) -> int:
    """The bytes of HBM that arenas which are there already leave."""
    arenas = plan.of_kind(ArenaOp)
    return target.hbm.size - sum(op.size.value.data for op in arenas)


def work_problem(
    plan: PlanOp,
    buffers: Sequence[BufferOp],
    ports: Sequence[PlacedOp],
    request: Request,
    *,
    is_named: bool = True,
) -> Problem:
    """Returns the planning problem of a plan's buffers, and of ports that keep their bytes; with
    names for messages, unless nobody shows any."""
    graph = task_graph(plan) if len(plan.streams) > 1 else touched_buffers(plan)
    values = [
        Buffer((is_named and _title(op)) or f"buffer {i}", op.size, request.alignment)
        for i, op in enumerate((*buffers, *ports))
    ]
    found = moments(plan, graph)
    kept = _kept_apart(plan, request.no_reuse) if request.no_reuse else ()
    accesses = [found.accesses(op, always=not request.reuse or op in kept) for op in buffers]
    accesses += [Accesses(live_in=True, live_out=True) for _ in ports]
    return memory_problem(found.order, values, accesses, space="the work arena")


def _kept_apart(plan: PlanOp, names: Collection[str]) -> set[Storage]:
    """The buffers that tasks of these names, or kernels of these op types, write."""
    kernels = kernels_by_name(plan)
    found: set[Storage] = set()
    for task in plan.all_tasks():
        if isinstance(task, LaunchOp):
            op_type = kernels[task.kernel.string_value()].op_type.data
            if op_type in names or any(name in names for name in location_names(task)):
                found.update(base_of(value)[0] for value in own_writes(task))
    return found


def _title(op: PlacedOp) -> str | None:
    name = op.io_name.data if isinstance(op, InputOp) else location_name(op)
    return name or op.result.name_hint


def padded(size: int, alignment: int) -> int:
    """Returns bytes rounded up to a multiple of `alignment`."""
    return -(-size // alignment) * alignment


def _add_arena(plan: PlanOp, name: str, size: int, lower_bound: int) -> ArenaOp:
    arena = ArenaOp(name, Tier.HBM, size, lower_bound)
    block = plan.body.block
    assert block.first_op is not None
    block.insert_op_before(arena, block.first_op)
    return arena
