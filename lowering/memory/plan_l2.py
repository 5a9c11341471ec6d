"""`ge-plan-l2`: which buffers stay in the L2 for their whole life, and where in it.

Every buffer keeps its place in HBM; one that also has a place in the L2 never has to go there, so
that its writes and reads are saved. The L2 is shared over time as HBM is: a place may be taken over
once every access of its buffer has certainly ended.

The choice is a knapsack over time: the bytes of HBM traffic that a buffer would cause, per byte and
moment that it occupies, decide the order; a buffer that would exceed the capacity at some moment is
left out. The planner of addresses then packs those chosen; where the pieces do not fit, the least
valuable leave. Near linear: a sort, a range query and update a buffer, and the packing.

Source: greedy by benefit per byte and time, as in XLA's memory space assignment; the packing is
that of `ge-plan-memory`.

Limits: weights pass by (a device does so on request), and so do inputs and outputs, which the
caller reads and writes. Example: tests/filecheck/lowering/plan_l2.mlir.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.ge_exec import BufferOp, PlanOp
from ge_dialect.ge_exec.memory import base_of
from ge_dialect.lowering.dependencies import task_graph
from ge_dialect.lowering.memory.lifetimes import Moments, moments
from ge_dialect.lowering.memory.problem import Buffer, Plan
from ge_dialect.lowering.schedule.happens_before import memory_problem
from ge_dialect.passes import statistics

if TYPE_CHECKING:
    import numpy.typing as npt

NAME = "ge-plan-l2"


@dataclass(frozen=True)
class PlanL2Pass(ModulePass):
    """Gives buffers a place in the L2 as well.

    Options:
    - `limit`: bytes of the L2 that buffers may have; 0 for none. Default: all of the target's.
    - `target`: name of a chip, or path of a TOML file. Default: the target of the module.
    """

    name = NAME

    limit: int | None = None
    target: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ge_dialect.targets.dlti import target_of

        l2 = target_of(op, self.target).l2
        capacity = l2.size if self.limit is None else min(self.limit, l2.size)
        for plan in [inner for inner in op.body.block.ops if isinstance(inner, PlanOp)]:
            plan_residency(plan, capacity, l2.alignment)


@dataclass(frozen=True)
class Candidate:
    """A buffer that may stay in the L2.

    Attributes:
        op: The buffer.
        bytes: That it occupies, padded.
        begin, end: Moments of its life, half-open, in the order of the plan.
        saved: Bytes of HBM traffic that it causes: each access of all of it.
    """

    op: BufferOp
    bytes: int
    begin: int
    end: int
    saved: int

    @property
    def value(self) -> float:
        """Bytes saved per byte and moment."""
        return self.saved / (self.bytes * (self.end - self.begin))


def plan_residency(plan: PlanOp, capacity: int, alignment: int) -> None:
    """Chooses the buffers of a plan that stay in the L2, and gives them their place there.

    Args:
        plan: With streams.
        capacity: Bytes of the L2.
        alignment: Of places in it, in bytes.
    """
    for op in plan.buffers:
        op.stay_in_l2(None)
    if not capacity:
        return
    found = moments(plan, task_graph(plan))
    every = candidates(plan, found, alignment)
    chosen = choose(every, capacity, len(found.tasks))
    placed, packing = pack(chosen, found, capacity, alignment)
    for one, offset in zip(placed, packing.offsets, strict=True):
        one.op.stay_in_l2(offset)
    statistics.count(NAME, "resident", len(placed))
    if every:
        saved, total = sum(one.saved for one in placed), sum(one.saved for one in every)
        what = (
            f"{len(placed)} of {len(every)} buffers stay in the L2, {packing.peak} of {capacity}"
            f" bytes at once: {saved} of {total} bytes of their HBM traffic saved"
        )
        remarks.analysis(NAME, "residency", plan, what)


def candidates(plan: PlanOp, found: Moments, alignment: int) -> list[Candidate]:
    """Returns the buffers that may stay in the L2, in the order of the plan."""
    outputs = {base_of(op.buffer)[0] for op in plan.outputs}
    every: list[Candidate] = []
    for op in plan.buffers:
        written, read = found.writers.get(op, []), found.readers.get(op, [])
        touched = [*written, *read]
        if op in outputs or not touched or not op.size:
            continue
        size = -(-op.size // alignment) * alignment
        saved = op.size * len(set(touched))
        every.append(Candidate(op, size, min(touched), max(touched) + 1, saved))
    return every


def choose(every: Sequence[Candidate], capacity: int, moments: int) -> list[Candidate]:
    """Returns the candidates that are taken, the most valuable first.

    Args:
        every: In the order of the plan, which breaks ties.
        capacity: Bytes that those alive at one moment may have together.
        moments: How many there are.
    """
    import numpy as np

    load: npt.NDArray[Any] = np.zeros(moments, dtype=np.int64)
    chosen: list[Candidate] = []
    for one in sorted(every, key=lambda one: -one.value):
        span = load[one.begin : one.end]
        if int(span.max()) + one.bytes <= capacity:
            span += one.bytes
            chosen.append(one)
    return chosen


def pack(
    chosen: Sequence[Candidate], found: Moments, capacity: int, alignment: int
) -> tuple[Sequence[Candidate], Plan]:
    """Returns the candidates that fit together, and their places; the least valuable leave first.

    Streams run at once, so that more may be alive than the order of the plan shows.
    """
    from ge_dialect.lowering.memory.heuristics import minimise

    kept = list(chosen)
    while True:
        buffers = [Buffer(str(i), one.op.size, alignment) for i, one in enumerate(kept)]
        accesses = [found.accesses(one.op) for one in kept]
        packing = minimise(memory_problem(found.order, buffers, accesses), effort=0)
        if packing.peak <= capacity:
            return kept, packing
        kept = kept[: max(len(kept) - max(1, len(kept) // 16), 0)]
