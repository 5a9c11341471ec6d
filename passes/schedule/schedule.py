"""`ge-schedule`: the order of ops that needs the least memory.

Before, with 4 KiB alive while the second sum runs:
```mlir
%a = ge.exp %x : (tensor<256xf32>) -> tensor<256xf32>
%b = ge.neg %x : (tensor<256xf32>) -> tensor<256xf32>
%s = ge.reduce_sum %a axes [0] keepdims false : (tensor<256xf32>) -> tensor<f32>
%t = ge.reduce_sum %b axes [0] keepdims false : (tensor<256xf32>) -> tensor<f32>
```
After, each sum follows its operand: `%a`, `%s`, `%b`, `%t`.

An order is judged by the exact bytes that the plan will have alive, results in place, views, and
outputs included (`profile.py`), and taken only where the peak is lower than before. Candidates are
the order of the program, list scheduling forwards and backwards, depth first (`orders.py`), and a
search over sets of tasks (`exact.py`), group by group where the graph has waists.

Limits: ops with effects keep their order among each other; a block with ops of other dialects is
left alone. Example: tests/filecheck/passes/schedule.mlir.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.greatest import at_greatest
from ge_dialect.ge.structure import IfOp, LoopOp
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.policy import Policy, policy_of
from ge_dialect.passes.schedule.model import BlockModel, model_of, read_values
from ge_dialect.passes.schedule.profile import Profile, profile_of
from ge_dialect.passes.schedule.search import better_order
from ge_dialect.passes.schedule.tasks import tasks_of

NAME = "ge-schedule"


@dataclass(frozen=True)
class SchedulePass(ModulePass):
    """Reorders the ops of functions, branches and loops so that fewer bytes are alive at the peak.

    Options:
    - `policy`: `throughput` only lets equally urgent ops change places, so that no chain of ops
      gets longer; `balanced` reorders what decides the peak; `conservative` everything, with a
      longer search. Default: the attribute `ge.memory_policy` of the module, else balanced.
    - `target`: name of a chip, or path of a TOML file, whose alignment counts. Default: the target
      of the module.
    """

    name = NAME
    exact = True

    policy: str | None = None
    target: str | None = None

    @at_greatest
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ge_dialect.targets.dlti import target_of

        policy = policy_of(op, self.policy)
        scheduler = Scheduler(policy, target_of(op, self.target).hbm.alignment)
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and len(function.body.blocks) == 1:
                scheduler.schedule(function.body.block)


@dataclass
class Scheduler:
    """Reorders blocks, inner ones first.

    Attributes:
        policy: How much may change.
        alignment: Of buffers, in bytes.
    """

    policy: Policy
    alignment: int

    def schedule(self, block: Block) -> int:
        """Reorders a block; returns the bytes that it has alive at its peak."""
        workspaces: dict[Operation, int] = {
            op: max(self.schedule(region.block) for region in op.regions)
            for op in block.ops
            if type(op) is IfOp or type(op) is LoopOp
        }
        model = model_of(block, self.alignment, workspaces)
        if model is None:
            _refuse(block)
            return 0
        before = profile_of(model, range(len(model.units)))
        found, peak = self._search(model, before.peak)
        first = next((i for i, number in enumerate(found) if number != i), None)
        if first is None or not rewrites.permit(NAME, "reorder", model.units[found[first]].op):
            _keep(model, before)
            return before.peak
        moved = sum(i != number for i, number in enumerate(found))
        statistics.count(NAME, "moved", moved)
        remarks.passed(
            NAME,
            "reorder",
            model.units[found[first]].op,
            f"peak {before.peak} -> {peak} bytes: {moved} of {len(found)} ops moved,"
            f" this one from place {found[first]} to {first}",
        )
        reorder(model, found)
        return peak

    def _search(self, model: BlockModel, peak: int) -> tuple[list[int], int]:
        """Returns the best order that is found and its peak: searched for from each better one
        again, so that running the pass twice changes nothing more.

        Args:
            model: In the order of the program.
            peak: Of that order, in bytes.
        """
        best = list(range(len(model.units)))
        while True:
            current = replace(model, units=[model.units[number] for number in best])
            tasks = tasks_of(current)
            chosen = [tasks.units[task] for task in better_order(tasks, self.policy)]
            order = with_views(current, chosen)
            if all(i == number for i, number in enumerate(order)):
                return best, peak
            if (found := profile_of(current, order).peak) >= peak:
                return best, peak
            best, peak = [best[number] for number in order], found


def with_views(model: BlockModel, tasks: Sequence[int]) -> list[int]:
    """Returns an order of all units: each view follows what it needs at once."""
    producer = {value: i for i, unit in enumerate(model.units) for value in unit.results}
    waiting: dict[int, int] = {}
    followers: dict[int, list[int]] = {}
    ready: list[int] = []
    for number, unit in enumerate(model.units):
        if unit.is_free:
            needs = {producer[value] for value in unit.reads if value in producer}
            waiting[number] = len(needs)
            for need in sorted(needs):
                followers.setdefault(need, []).append(number)
            ready += [number] if not needs else []
    order: list[int] = []
    for start in (ready, *([task] for task in tasks)):
        queue = list(start)
        while queue:
            number = queue.pop(0)
            order.append(number)
            for follower in followers.get(number, ()):
                waiting[follower] -= 1
                queue += [follower] if not waiting[follower] else []
    return order


def reorder(model: BlockModel, order: Sequence[int]) -> None:
    """Puts the ops of a block in an order; a constant stands before the first op that reads it."""
    block = model.block
    placed: dict[Operation, None] = {}
    for number in order:
        op = model.units[number].op
        for value in read_values(op):
            if isinstance(value.owner, ConstantOp) and value.owner.parent is block:
                placed.setdefault(value.owner)
        placed.setdefault(op)
    for op in [op for op in block.ops if op is not block.last_op]:
        placed.setdefault(op)
        op.detach()
    last = block.last_op
    assert last is not None
    block.insert_ops_before(list(placed), last)


def _keep(model: BlockModel, profile: Profile) -> None:
    if profile.peak and profile.moment < len(model.units):
        op = model.units[profile.moment].op
        what = f"peak {profile.peak} bytes: no order was found that needs less"
        remarks.analysis(NAME, "peak", op, what)


def _refuse(block: Block) -> None:
    from ge_dialect.ge.base import GEOp

    other = next(op for op in block.ops if not isinstance(op, GEOp))
    remarks.missed(
        NAME, "reorder", other, f"'{other.name}' may have any effect, so all ops stay in order"
    )
