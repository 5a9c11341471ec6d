"""The cost of each task of a plan: kernels looked at once, bytes as the cache leaves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.ir import Region, SSAValue

from ge_dialect.ge.base import Engine
from ge_dialect.ge_exec import (
    BranchOp,
    BufferOp,
    LaunchOp,
    LoopOp,
    ObjectOp,
    ObjectType,
    PlanOp,
    StoreOp,
    WeightOp,
    kernels_by_name,
)
from ge_dialect.ge_exec.control import ControlOp, TaskOp, reads, writes
from ge_dialect.ge_exec.memory import base_of, buffer_bytes, offset_of
from ge_dialect.lowering.at_sizes import bound_kernel, greatest_sizes
from ge_dialect.lowering.machine.cache import UNLIMITED, Extent, Missed, Touch, missed_bytes
from ge_dialect.lowering.machine.cost import (
    KernelCost,
    Work,
    copy_cost,
    kernel_cost,
    repeated_cost,
    resource_totals,
)
from ge_dialect.lowering.machine.work import KernelWork, kernel_work

if TYPE_CHECKING:
    from ge_dialect.targets import Target


@dataclass(frozen=True)
class TaskCost:
    """The predicted cost of a task, and the engine that runs it."""

    cost: KernelCost
    engine: str

    @property
    def us(self) -> float:
        """Predicted us of the task alone on the machine."""
        return self.cost.us


@dataclass(frozen=True)
class PlanCosts:
    """The kernels of a plan on a machine.

    Attributes:
        works: Of each kernel, by symbol.
        engines: Of each kernel.
        cycles: Of each kernel, as in `Work`.
        rereads: Bytes that the tiles of each kernel read again from HBM.
        target: The machine.
        outputs: What is read after the last task.
        resident: Bytes of L2 that are planned, and so no cache any more.
        known: Costs of launches so far, by kernel and bytes from HBM.
        known_works: Works of kernels so far; all launches of a kernel have buffers of its types.
    """

    works: Mapping[str, KernelWork]
    engines: Mapping[str, str]
    cycles: Mapping[str, Mapping[str, float]]
    rereads: Mapping[str, int]
    target: Target
    outputs: Sequence[SSAValue]
    resident: int
    known: dict[tuple[str, int | None], TaskCost] = field(
        default_factory=dict[tuple[str, int | None], TaskCost]
    )
    known_works: dict[str, Work] = field(default_factory=dict[str, Work])

    @classmethod
    def of(cls, plan: PlanOp, target: Target) -> PlanCosts:
        """Returns the costs of a plan at its greatest sizes; its kernels are beside it."""
        kernels = kernels_by_name(plan)
        staying = [op for op in plan.buffers if op.l2_offset is not None]
        sizes = greatest_sizes(plan)
        works = {name: kernel_work(bound_kernel(kernel, sizes)) for name, kernel in kernels.items()}
        return cls(
            works,
            {name: kernel.engine.data for name, kernel in kernels.items()},
            {name: work.cycles(target.vector_cycles) for name, work in works.items()},
            {name: kernel.reread_bytes for name, kernel in kernels.items()},
            target,
            [op.buffer for op in plan.outputs],
            max(((op.l2_offset or 0) + op.size for op in staying), default=0),
        )

    def missed(self, tasks: Sequence[TaskOp], *, stream_weights: bool = False) -> list[Missed]:
        """Returns of each task the bytes that L2 does not serve, in a run from a cold cache."""
        touches = [self._touch(task, stream_weights) for task in tasks]
        return missed_bytes(touches, self.target.l2.size - self.resident, self._kept())

    def compulsory_bytes(self, tasks: Sequence[TaskOp]) -> int:
        """Returns the bytes that no cache can avoid; those of branches and loops are left out."""
        found = missed_bytes([self._touch(task, False) for task in tasks], UNLIMITED, self._kept())
        own = (m.bytes for m, t in zip(found, tasks, strict=True) if not isinstance(t, ControlOp))
        return sum(own)

    def _kept(self) -> list[Extent]:
        return [e for value in self.outputs if (e := _extent(value)) is not None]

    def cost(self, task: TaskOp, hbm_bytes: int | None = None) -> TaskCost:
        """Returns the cost of a task.

        A branch costs what its more expensive side does; a loop its tasks times the iterations, one
        where their number is not known before the run. Both as if L2 served nothing of it.
        """
        if isinstance(task, BranchOp):
            sides = (self._region(region, 1) for region in task.regions)
            return TaskCost(max(sides, key=lambda cost: cost.us), str(Engine.HOST))
        if isinstance(task, LoopOp):
            trips = 1 if task.known_trips is None else task.known_trips
            return TaskCost(self._region(task.tasks, trips), str(Engine.HOST))
        if isinstance(task, LaunchOp):
            return self._launch(task, hbm_bytes)
        size = buffer_bytes(task.source.type)
        return TaskCost(copy_cost(size, self.target, hbm_bytes), str(Engine.DMA))

    def totals(self, task: TaskOp) -> dict[str, float]:
        """Returns us of each resource but HBM that a task cannot do without."""
        if isinstance(task, ControlOp):
            return {}
        size = 0 if isinstance(task, LaunchOp) else buffer_bytes(task.source.type)
        work = self._work(task) if isinstance(task, LaunchOp) else Work({}, size, size)
        return resource_totals(work, self.target)

    def _region(self, region: Region, times: int) -> KernelCost:
        costs: list[KernelCost] = []
        for op in region.block.ops:
            assert isinstance(op, TaskOp)
            costs.append(self.cost(op).cost)
        return repeated_cost(costs, times)

    def _launch(self, task: LaunchOp, hbm_bytes: int | None) -> TaskCost:
        key = (task.kernel.string_value(), hbm_bytes)
        if (found := self.known.get(key)) is None:  # layers that are equal cost the same
            work = self._work(task)
            moved = work.bytes if hbm_bytes is None else hbm_bytes
            cost = kernel_cost(work, self.target, moved + self.rereads[key[0]])
            found = self.known[key] = TaskCost(cost, self.engines[key[0]])
        return found

    def _work(self, task: LaunchOp) -> Work:
        name = task.kernel.string_value()
        if (found := self.known_works.get(name)) is None:
            kernel = self.works[name]
            found = self.known_works[name] = Work(
                kernel.operations,
                sum(self._read_bytes(task, i) for i in range(len(task.inputs))),
                sum(buffer_bytes(value.type) for value in task.outputs),
                kernel.attention,
                self.cycles[name],
                kernel.products,
            )
        return found

    def _read_bytes(self, task: LaunchOp, index: int) -> int:
        size = buffer_bytes(task.inputs[index].type)
        needed = self.works[task.kernel.string_value()].needed
        limit = needed[index] if index < len(needed) else None
        return size if limit is None else min(size, limit)

    def _touch(self, task: TaskOp, stream_weights: bool) -> Touch:
        if isinstance(task, LaunchOp):
            sizes = [self._read_bytes(task, i) for i in range(len(task.inputs))]
        else:
            sizes = [buffer_bytes(value.type) for value in reads(task)]
        pairs = zip(reads(task), sizes, strict=True)
        read = [e for value, size in pairs if (e := _extent(value, size, stream_weights))]
        limit = buffer_bytes(task.source.type) if isinstance(task, StoreOp) else None
        return Touch(read, [e for value in writes(task) if (e := _extent(value, limit))])


def _extent(
    value: SSAValue, size: int | None = None, stream_weights: bool = False
) -> Extent | None:
    """Returns the bytes of a value that may be in HBM; an object has none."""
    owner, start = base_of(value)
    if isinstance(owner, BufferOp) and owner.l2_offset is not None:
        return None  # planned to stay in L2
    if isinstance(owner, ObjectOp) or isinstance(owner.result.type, ObjectType):
        return None
    size = buffer_bytes(value.type) if size is None else size
    streams = stream_weights and isinstance(owner, WeightOp)
    offset = offset_of(owner)
    if owner.arena is None or offset is None:
        return Extent(owner, start, start + size, streams)
    return Extent(owner.arena, offset + start, offset + start + size, streams)
