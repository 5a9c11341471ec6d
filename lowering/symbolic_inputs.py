"""Inputs whose sizes only the run tells: which symbols they decide, and what is checked of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ge_dialect.ge.symbolic import guards_of, symbol_ranges
from ge_dialect.ge.types import is_tensor, shape_of
from ge_dialect.ge_exec import GuardOp, InputOp, KernelOp, PlanOp, SymbolOp
from ge_dialect.lowering.at_sizes import bound_kernel, greatest_sizes
from ge_dialect.symbols import DimExpr, SymbolRange, solving_order
from ge_dialect.symbols.feasible import guard_symbols

Place = tuple[int, int]
"""An input by position, and one of its dimensions."""


def input_dims(function: FuncOp) -> dict[Place, DimExpr]:
    """Returns the dimensions of the inputs that are expressions, by where they are."""
    return {
        (index, axis): dim
        for index, arg in enumerate(function.body.block.args)
        if is_tensor(arg.type)
        for axis, dim in enumerate(shape_of(arg.type))
        if isinstance(dim, DimExpr)
    }


def decided_symbols(function: FuncOp) -> dict[str, Place]:
    """Returns the symbols that the sizes of the inputs decide, each with the place that does."""
    dims = input_dims(function)
    places = list(dims)
    return {name: places[at] for name, at in solving_order(dims.values())}


def bounded_symbols(function: FuncOp) -> dict[str, SymbolRange]:
    """Returns the ranges of the symbols that the inputs decide and that have a greatest value."""
    ranges = symbol_ranges(function)
    decided = decided_symbols(function)
    return {
        name: ranges[name] for name in decided if name in ranges and ranges[name].hi is not None
    }


def add_guards(plan: PlanOp, function: FuncOp, ranges: Mapping[str, SymbolRange]) -> None:
    """Declares the symbols of a plan behind its inputs, and what has to hold of them.

    Args:
        plan: Of the function, with its inputs.
        function: As it was before; its attribute `ge.guards` says what has to hold.
        ranges: Of the symbols that have a value before the first task.
    """
    inputs: Sequence[InputOp] = plan.inputs
    added: list[Operation] = [
        SymbolOp(name, inputs[index].result, axis, ranges[name])
        for name, (index, axis) in decided_symbols(function).items()
        if name in ranges
    ]
    known = ranges.keys() | {op.symbol.data for op in plan.symbols}
    added += [GuardOp(one) for one in guards_of(function) if known.issuperset(guard_symbols(one))]
    if added:
        plan.body.block.insert_ops_after(added, inputs[-1])


def count_flops(kernels: Iterable[KernelOp], plan: PlanOp) -> None:
    """Gives kernels with symbols the flops of the greatest sizes of their plan."""
    sizes = greatest_sizes(plan)
    for kernel in kernels if sizes else ():
        kernel.properties["flops"] = bound_kernel(kernel, sizes).flops
