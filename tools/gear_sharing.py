"""Gears out of one optimised graph, where that is as good as optimising it for each of them.

The graph is optimised with its symbols, as for a range; what it computes of sizes alone is a weight
of each gear (`lowering/gear_constants.py`). Gears are the plan of the range with their numbers in
it (`lowering/gear_plans.py`): another one costs a copy of the plan, tiles and addresses.

Where passes might do at some sizes what they did not do for all of them, the smallest gear is
optimised by itself, since there it weighs most; it keeps that plan. Where the machine model sees
more than 6% between the two, every gear is optimised by itself.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge_dialect import remarks
from ge_dialect.ge.symbolic import (
    bind_values,
    bound_dim,
    data_ranges,
    set_symbol_ranges,
    symbol_ranges,
)
from ge_dialect.lowering.bufferize import BufferizePass
from ge_dialect.lowering.gear_constants import GearConstants, take_constants
from ge_dialect.lowering.gear_plans import NAME, GearPlans
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.predict import predict_plan
from ge_dialect.lowering.tile_kernels import TileKernelsPass
from ge_dialect.passes import rewrites
from ge_dialect.passes.fusion.auto.fuse_auto import apart_at_greatest
from ge_dialect.passes.symbols.bound_sizes import size_limits
from ge_dialect.passes.symbols.split_gears import (
    SplitGearsPass,
    check_gear,
    parse_gear,
)
from ge_dialect.remarks import Kind, ReasonClass, Remark
from ge_dialect.symbols import Dim, SymbolRange, bounds, symbol
from ge_dialect.targets.dlti import target_of
from ge_dialect.tools.api import CompiledPlan, PassRecord, Watch, make_context
from ge_dialect.tools.running import LOCAL, Runner

TOLERANCE = 1.06
"""How much slower the smallest gear may be as a plan of the range."""

_NOTICED = 0.02
"""What part of the time of the smallest gear is worth optimising it by itself."""

_SETTLED = frozenset(("ge-constant-fold", "ge-compute-dims"))
"""Passes whose misses are seen to here: what follows from sizes is a constant of each gear."""


def share_gears(plan: CompiledPlan) -> bool:
    """Compiles all gears of a plan out of one graph; False, and nothing done, where it must not.

    Raises:
        GEError: The model can not be compiled, or a gear is none of its sizes (GE0331).
    """
    if len(plan.options.gears) < 2 or rewrites.active() is not None or plan.options.verify_each:
        return False
    whole = _part_of(plan, plan.module.clone())
    gears = [parse_gear(text) for text in plan.options.gears]
    _relate(whole.plan.module, gears)
    typed, lowered = _stages(whole)
    whole.run(0, typed)
    functions = [op for op in whole.plan.module.body.block.ops if isinstance(op, FuncOp)]
    if len(functions) != 1:
        return False
    for number, sizes in enumerate(gears):
        check_gear(functions[0], number, sizes)
    limits = size_limits(functions[0]) if (data := data_ranges(functions[0])) else {}
    ranges = [_ranges_at(data, limits, sizes) for sizes in gears]
    with remarks.collect() as told, apart_at_greatest() as apart:
        constants = _run_range(whole, typed, lowered)
    values = [constants.at(sizes) for sizes in gears]
    known = [one for one in values if one is not None]
    if len(known) != len(gears) or plan_of(whole.plan.module).objects:
        return False
    shared = Shared(gears, whole, known, ranges)
    asked = any(map(_depends_on_sizes, told.remarks)) or shared.has_other_rules(constants)
    if asked or shared.might_gain([*apart, *constants.apart]):
        shared.compile_least(plan, lowered)
        if not shared.is_as_good():
            return False
    shared.finish(plan, lowered)
    return True


def _depends_on_sizes(remark: Remark) -> bool:
    """Whether a pass might do at some sizes what it did not do for all of them."""
    if remark.kind is not Kind.MISSED or remark.pass_name in _SETTLED:
        return False
    if remark.reason_class is ReasonClass.COST:
        return remark.pass_name == "ge-fuse-rules"  # `might_gain` asks about `ge-fuse-auto`
    return remark.reason_class is ReasonClass.SYMBOL


@dataclass
class Shared:
    """Gears that are compiled out of one graph.

    Attributes:
        gears: The sizes of each.
        whole: The graph with its symbols, lowered to a plan without addresses.
        constants: Of each gear, what follows from its sizes.
        ranges: Of each gear, those of sizes that depend on data.
        single: The smallest gear, optimised by itself; None where nothing depends on sizes.
    """

    gears: Sequence[Mapping[str, int]]
    whole: Runner
    constants: Sequence[Mapping[str, Any]]
    ranges: Sequence[Mapping[str, SymbolRange]]
    single: Runner | None = None

    @property
    def least(self) -> int:
        """The number of the smallest gear."""
        return min(range(len(self.gears)), key=lambda number: prod(self.gears[number].values()))

    def has_other_rules(self, constants: GearConstants) -> bool:
        """Whether rules apply to the smallest gear alone, where some values are constants."""
        least, fast_math = self.least, self.whole.plan.options.fast_math
        return constants.left or constants.are_looked_into(
            self.constants[least], self.gears[least], fast_math
        )

    def might_gain(self, apart: Sequence[int]) -> bool:
        """Whether the smallest gear might be noticeably faster with fewer kernels.

        Args:
            apart: The bytes that each of them would save.
        """
        if not apart:
            return False
        target = target_of(self.whole.plan.module)
        fixed = target.overhead.launch_us + target.overhead.kernel_floor_us
        gained = sum(fixed + saved / target.hbm.bandwidth * 1e6 for saved in apart)
        gained *= 1 + self.whole.outlining.copied  # what was said of one block holds of all
        return gained > _NOTICED * self.least_us

    @cached_property
    def least_us(self) -> float:
        """The predicted time of the smallest gear as a plan of the range."""
        shared, number = GearPlans(), self.least
        plan = plan_of(self.whole.plan.module)
        shared.add_range(plan, 0, self.gears[number], self.constants[number], self.ranges[number])
        return _tiled_us(shared.module(self.whole.plan.module))

    def compile_least(self, plan: CompiledPlan, lowered: int) -> None:
        """Optimises the smallest gear by itself."""
        alone = plan.module.clone()
        SplitGearsPass((plan.options.gears[self.least],)).apply(make_context(), alone)
        self.single = _part_of(plan, alone)
        self.single.run(0, lowered)

    def is_as_good(self) -> bool:
        """Whether the smallest gear is as fast as a plan of the range."""
        assert self.single is not None
        return self.least_us <= TOLERANCE * _tiled_us(self.single.plan.module.clone())

    def finish(self, plan: CompiledPlan, lowered: int) -> None:
        """Puts the plans of the gears into a module, and gives them tiles and addresses."""
        started = time.perf_counter()
        whole, plans, copies = self.whole.plan, GearPlans(), len(self.gears)
        found = plan_of(whole.module)
        for number, sizes in enumerate(self.gears):
            if self.single is not None and number == self.least:
                plans.add_plan(plan_of(self.single.plan.module), number)
            else:
                plans.add_range(found, number, sizes, self.constants[number], self.ranges[number])
        whole.passes.append(PassRecord(NAME, time.perf_counter() - started, copies))
        parts = [(whole, copies)]
        if self.single is not None:
            parts = [(whole, copies - 1), (self.single.plan, 1)]
        _replace_module(plan.module, plans.module(whole.module))
        plan.nodes_after = sum(part.nodes_after * times for part, times in parts)
        plan.unfused_bytes = whole.unfused_bytes
        plan.passes = [record for part, _ in parts for record in part.passes]
        for part, times in parts:
            for rule, fired in part.fired.items():
                plan.fired[rule] = plan.fired.get(rule, 0) + fired * times
        rest = Runner(plan, Watch())
        rest.run(len(rest.passes) - (len(self.whole.passes) - lowered), len(rest.passes))


def _relate(module: ModuleOp, gears: Sequence[Mapping[str, int]]) -> None:
    """Says of a symbol that it is another one and a number, where that is so in all gears: a mask
    of `total` columns is that of `past + 1` keys, though the model does not say so."""
    for function in module.body.block.ops:
        if not isinstance(function, FuncOp):
            continue
        ranges = symbol_ranges(function)
        values = {name: [sizes[name] for sizes in gears if name in sizes] for name in ranges}
        if found := related_symbols(values):
            bind_values(function, found)
            kept = {name: known for name, known in ranges.items() if name not in found}
            set_symbol_ranges(function, kept)
            function.update_function_type()


def related_symbols(values: Mapping[str, Sequence[int]]) -> dict[str, Dim]:
    """Returns symbols that are an earlier one and a number in all gears, and that sum.

    Args:
        values: Of each symbol in each gear; of different length, nothing is known.
    """
    found: dict[str, Dim] = {}
    bases: list[str] = []
    for name, sizes in values.items():
        for base in bases:
            steps = {size - other for size, other in zip(sizes, values[base], strict=False)}
            if len(sizes) == len(values[base]) and len(steps) == 1:
                found[name] = symbol(base) + steps.pop()
                break
        else:
            if len(set(sizes)) > 1:  # a symbol of one size becomes a number anyway
                bases.append(name)
    return found


def _part_of(plan: CompiledPlan, module: ModuleOp) -> Runner:
    """Returns a compilation of a module with the options of a plan, without its gears."""
    return Runner(CompiledPlan(module, plan.name, replace(plan.options, gears=())), Watch())


def _stages(runner: Runner) -> tuple[int, int]:
    """Returns after how many passes types are known, and after how many tasks are."""
    lowered = next(i for i, one in enumerate(runner.passes) if isinstance(one, BufferizePass))
    return runner.outlining.first, lowered + 1


def _ranges_at(
    known: Mapping[str, SymbolRange], limits: Mapping[str, Dim], sizes: Mapping[str, int]
) -> dict[str, SymbolRange]:
    """Returns the ranges of sizes that depend on data, narrower at one set of sizes."""
    found = dict(known)
    for name, limit in limits.items():
        most = bound_dim(limit, sizes)
        last = None if most is None else bounds(most, found)[1]
        if last is not None and ((hi := found[name].hi) is None or last < hi):
            found[name] = replace(found[name], hi=max(last, found[name].lo))
    return found


def _run_range(whole: Runner, typed: int, lowered: int) -> GearConstants:
    """Runs the passes for all gears; before kernels are made, what follows from sizes alone is
    taken out."""
    kernels = next(
        (i for i, one in enumerate(whole.passes) if i >= typed and one.name not in LOCAL), lowered
    )
    whole.run(typed, kernels)
    (function,) = [op for op in whole.plan.module.body.block.ops if isinstance(op, FuncOp)]
    constants = take_constants(function, whole.outlining.short)
    whole.run(kernels, lowered)
    return constants


def _tiled_us(module: ModuleOp) -> float:
    """Returns the predicted time of a plan without tiles, which it gets."""
    TileKernelsPass().apply(make_context(), module)
    return predict_plan(plan_of(module), target_of(module)).makespan_us


def _replace_module(module: ModuleOp, new: ModuleOp) -> None:
    block = module.body.block
    for op in list(block.ops):
        op.detach()
        op.erase(safe_erase=False)
    for op in list(new.body.block.ops):
        op.detach()
        block.add_op(op)
    module.attributes = dict(new.attributes)
