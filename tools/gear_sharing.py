"""Gears out of one optimised graph, where that is as good as optimising it for each of them.

The graph is optimised with its symbols, as for a range, and once more for the smallest gear, where
what a range costs weighs most. Where the machine model sees less than 2% between the two, all other
gears take the plan of the range with their numbers in it (`lowering/gear_plans.py`): another gear
costs a copy of the plan, tiles and addresses. Else every gear is optimised by itself.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge_dialect.ge.symbolic import (
    bind_values,
    data_ranges,
    set_symbol_ranges,
    symbol_ranges,
)
from ge_dialect.ge_exec import PlanOp
from ge_dialect.lowering.bufferize import BufferizePass
from ge_dialect.lowering.gear_constants import GearConstants, take_constants
from ge_dialect.lowering.gear_plans import NAME, GearPlans
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.predict import predict_plan
from ge_dialect.lowering.tile_kernels import TileKernelsPass
from ge_dialect.passes import rewrites
from ge_dialect.passes.symbols.split_gears import SplitGearsPass, check_gear, parse_gear
from ge_dialect.symbols import Dim, symbol
from ge_dialect.targets.dlti import target_of
from ge_dialect.tools.api import CompiledPlan, PassRecord, Watch, make_context
from ge_dialect.tools.running import LOCAL, Runner

TOLERANCE = 1.06
"""How much slower the smallest gear may be as a plan of the range."""


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
    if len(functions) != 1 or data_ranges(functions[0]):
        return False
    for number, sizes in enumerate(gears):
        check_gear(functions[0], number, sizes)
    least = min(range(len(gears)), key=lambda number: prod(gears[number].values()))
    alone = whole.plan.module.clone()
    SplitGearsPass((plan.options.gears[least],)).apply(make_context(), alone)
    single = _part_of(plan, alone)
    constants = _run_range(whole, typed, lowered)
    single.run(typed, lowered)
    found = plan_of(whole.plan.module)
    values = [constants.at(sizes) for sizes in gears]
    known = [one for one in values if one is not None]
    if found.objects or len(known) != len(gears):
        return False
    if not _is_as_good(whole, single, gears[least], known[least]):
        return False
    started = time.perf_counter()
    plans = GearPlans()
    for number, sizes in enumerate(gears):
        if number == least:
            plans.add_plan(plan_of(single.plan.module), number)
        else:
            plans.add_range(found, number, sizes, known[number])
    whole.plan.passes.append(PassRecord(NAME, time.perf_counter() - started, len(gears)))
    _finish(plan, plans, whole, single, lowered)
    return True


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

    >>> print(*related_symbols({"past": [4, 8], "total": [5, 9]}.copy()).items())
    ('total', DimExpr(terms=((('past',), 1), ((), 1))))
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


def _is_as_good(
    whole: Runner, single: Runner, sizes: Mapping[str, int], constants: Mapping[str, Any]
) -> bool:
    """Whether the plan of the range is as fast at a gear as one that was made for it."""
    shared = GearPlans()
    shared.add_range(plan_of(whole.plan.module), 0, sizes, constants)
    times: list[float] = []
    for module in (shared.module(whole.plan.module), single.plan.module.clone()):
        TileKernelsPass().apply(make_context(), module)
        plan: PlanOp = plan_of(module)
        times.append(predict_plan(plan, target_of(module)).makespan_us)
    return times[0] <= TOLERANCE * times[1]


def _finish(
    plan: CompiledPlan, plans: GearPlans, whole: Runner, single: Runner, lowered: int
) -> None:
    """Puts the plans of the gears into the module, and runs what gives them tiles and addresses."""
    copies = len(plans.plans) - 1
    module = plans.module(whole.plan.module)
    block = plan.module.body.block
    for op in list(block.ops):
        op.detach()
        op.erase(safe_erase=False)
    for op in list(module.body.block.ops):
        op.detach()
        block.add_op(op)
    plan.module.attributes = dict(module.attributes)
    plan.nodes_after = single.plan.nodes_after + copies * whole.plan.nodes_after
    plan.unfused_bytes = whole.plan.unfused_bytes
    plan.passes = [*whole.plan.passes, *single.plan.passes]
    for rule, times in whole.plan.fired.items():
        plan.fired[rule] = times * copies
    for rule, times in single.plan.fired.items():
        plan.fired[rule] = plan.fired.get(rule, 0) + times
    rest = Runner(plan, Watch())
    rest.run(len(rest.passes) - (len(whole.passes) - lowered), len(rest.passes))
