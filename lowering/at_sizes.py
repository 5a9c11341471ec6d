"""A plan for one set of sizes: the same addresses, with numbers for the symbols.

What holds of a plan at one size can be asked of the result: what a task costs, what bytes it moves,
whether it is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue

from ge_dialect.ge.attributes import GuardAttr, SymbolAttr
from ge_dialect.ge.base import GEOp, int_attr, set_type
from ge_dialect.ge.symbolic import bind_values, bound_dim, bound_type, symbols_in
from ge_dialect.ge_exec import (
    ArenaOp,
    BoundedType,
    GuardOp,
    KernelOp,
    ObjectType,
    PlanOp,
    SymbolOp,
    ViewOp,
)
from ge_dialect.ge_exec.memory import offset_of, storage_type
from ge_dialect.symbols import Guard, SymbolRange, evaluate
from ge_dialect.symbols.feasible import guard_symbols


def greatest_sizes(plan: PlanOp) -> dict[str, int]:
    """Returns the greatest value of each symbol of a plan that has one."""
    return {op.symbol.data: op.known.last for op in plan.symbols if op.known.last is not None}


def least_sizes(plan: PlanOp) -> dict[str, int]:
    """Returns the least value of each symbol of a plan that has a greatest one."""
    return {op.symbol.data: op.known.first for op in plan.symbols if op.known.last is not None}


def middle_sizes(plan: PlanOp) -> dict[str, int]:
    """Returns a value in the middle of the range of each symbol of a plan that has an end."""
    return {op.symbol.data: op.known.middle for op in plan.symbols if op.known.last is not None}


def bound_kernel(
    kernel: KernelOp, sizes: Mapping[str, int], greatest: Mapping[str, int] | None = None
) -> KernelOp:
    """Returns a kernel with numbers for its symbols, its flops included; itself without any.

    Args:
        kernel: Is not changed.
        sizes: Values of symbols.
        greatest: Values of symbols that stay, which count for the flops.
    """
    names = symbols_in(kernel)
    if not any(name in sizes for name in names):
        return kernel
    bound = kernel.clone()
    bind_values(bound, sizes)
    counted = bound
    if greatest and any(name in greatest for name in names):
        counted = bound.clone()
        bind_values(counted, greatest)
    flops = sum(op.flops() for op in counted.body.block.ops if isinstance(op, GEOp))
    bound.properties["flops"] = int_attr(flops)
    return bound


def plan_at(module: ModuleOp, sizes: Mapping[str, int]) -> ModuleOp:
    """Returns a copy of a module with a plan that holds at one set of sizes.

    Args:
        module: Kernels and a plan.
        sizes: A value for each symbol of the plan, within its range.
    """
    copy = module.clone()
    for op in list(copy.body.block.ops):
        if isinstance(op, KernelOp):
            bound = bound_kernel(op, sizes)
            if bound is not op:
                copy.body.block.insert_op_before(bound, op)
                op.detach()
                op.erase()
        elif isinstance(op, PlanOp):
            bind_plan(op, sizes)
    return copy


def bind_plan(
    plan: PlanOp, sizes: Mapping[str, int], ranges: Mapping[str, SymbolRange] | None = None
) -> None:
    """Puts numbers for symbols into the types of a plan, which declares them no more.

    Args:
        plan: Is changed.
        sizes: Values of symbols, among them all that inputs tell.
        ranges: Of those that stay, where these are narrower at the sizes.
    """
    left = _bind_symbols(plan, sizes, ranges or {})
    facts = [op.guard for op in plan.guards]
    for op in plan.body.block.ops:
        if isinstance(op, ViewOp) and op.plus is not None:
            op.properties["offset"] = int_attr(evaluate(op.start, sizes))
            del op.properties["plus"]
        for result in op.results:
            set_type(result, _bound_storage(result.type, sizes, left, facts))
    ends: dict[SSAValue, int] = {}
    for op in (*plan.inputs, *plan.weights, *plan.buffers):
        if op.arena is not None:
            ends[op.arena] = max(ends.get(op.arena, 0), (offset_of(op) or 0) + op.size)
    for arena, end in ends.items():
        if isinstance(arena.owner, ArenaOp) and end < arena.owner.size.value.data:
            arena.owner.properties["size"] = int_attr(end)


def _bind_symbols(
    plan: PlanOp, sizes: Mapping[str, int], ranges: Mapping[str, SymbolRange]
) -> dict[str, SymbolRange]:
    """Drops the declarations of symbols that have a value; returns the ranges of the others."""
    left: dict[str, SymbolRange] = {}
    for op in list(plan.body.block.ops):
        if isinstance(op, SymbolOp) and op.symbol.data not in sizes:
            left[op.symbol.data] = ranges.get(op.symbol.data, op.known)
            op.properties["range"] = SymbolAttr(left[op.symbol.data])
        elif isinstance(op, GuardOp) and not sizes.keys() >= {*guard_symbols(op.guard)}:
            guard = op.guard
            sides = bound_dim(guard.left, sizes), bound_dim(guard.right, sizes)
            assert sides[0] is not None
            assert sides[1] is not None
            bound = Guard(sides[0], guard.relation, sides[1], guard.why)
            op.properties["condition"] = GuardAttr(bound)
        elif isinstance(op, SymbolOp | GuardOp):
            op.detach()
            op.erase()
    return left


def _bound_storage(
    type: Attribute,
    sizes: Mapping[str, int],
    ranges: Mapping[str, SymbolRange],
    facts: Sequence[Guard],
) -> Attribute:
    if isinstance(type, BoundedType):
        return storage_type(bound_type(type.value, sizes), ranges, facts)
    if isinstance(type, ObjectType):
        return ObjectType(bound_type(type.value, sizes))
    return type
