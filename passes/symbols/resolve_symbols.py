"""`ge-resolve-symbols`: what the ops of a graph ask of its symbols.

Before: `add(x, y)` with `x` of `[total, 8]` and `y` of `[past + 1, 8]`, both of 2 or more. After:
`total` is `past + 1` everywhere. What can not be decided before the run becomes a guard of the
function (`ge.guards`), which the plan checks; what no run could satisfy is an error now.

A symbol with one value becomes a number: a dimension of range 1..1 broadcasts like any 1. What the
ranges make pointless is dropped from types: `min(S, 64)` is S where S is at most 32.

Limits: combinations of values are tried up to a number (`symbols/feasible.py`); beyond it guards
alone protect the run. Example: tests/filecheck/passes/resolve_symbols.mlir.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.ports import shapes_to_paste
from ge_dialect.ge.requirements import Requirement, collect
from ge_dialect.ge.structure import FusionOp
from ge_dialect.ge.symbolic import (
    add_guard,
    bind_values,
    guards_of,
    set_symbol_ranges,
    simplify_sizes,
    symbol_ranges,
)
from ge_dialect.locations import location_name
from ge_dialect.passes import statistics
from ge_dialect.passes.infer_types import InferTypesPass
from ge_dialect.passes.symbols.judge import Verdict, judge, solution
from ge_dialect.symbols import Dim, Guard, SymbolRange
from ge_dialect.symbols.feasible import feasible_values, guard_symbols, show_values

NAME = "ge-resolve-symbols"

MAX_ROUNDS = 16
"""Most equalities that are put into one function: each may show further ones."""


@dataclass(frozen=True)
class ResolveSymbolsPass(ModulePass):
    """Puts equalities of symbols into types; what the run has to check becomes guards."""

    name = NAME
    exact = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and symbol_ranges(function):
                _resolve(ctx, op, function)


def _resolve(ctx: Context, module: ModuleOp, function: FuncOp) -> None:
    numbers: dict[str, Dim] = {
        name: known.first
        for name, known in symbol_ranges(function).items()
        if known.first == known.last
    }
    if numbers:
        _substitute(ctx, module, function, numbers)
    if simplified := simplify_sizes(function):
        statistics.count(NAME, "simplified", simplified)
        function.update_function_type()
        InferTypesPass().apply(ctx, module)
    for _ in range(MAX_ROUNDS):
        found = Open(symbol_ranges(function))
        found.collect(function.body.block)
        if found.equality is None:
            _guard(function, found)
            return
        symbol, value, op, guard = found.equality
        remarks.passed(NAME, "equality", op, f"{symbol} is {value}: {guard.why}")
        statistics.count(NAME, "equality")
        _narrow(function, symbol, value, guard)
        _substitute(ctx, module, function, {symbol: value})


def _substitute(
    ctx: Context, module: ModuleOp, function: FuncOp, values: Mapping[str, Dim]
) -> None:
    bind_values(function, values)
    kept = {name: r for name, r in symbol_ranges(function).items() if name not in values}
    set_symbol_ranges(function, kept)
    function.update_function_type()
    InferTypesPass().apply(ctx, module)


def _narrow(function: FuncOp, symbol: str, value: Dim, guard: Guard) -> None:
    """Gives the symbol in `value` the range that `symbol` leaves it."""
    ranges = symbol_ranges(function)
    if (narrowed := solution(value, ranges, ranges[symbol])) is None:
        return
    name, low, high = narrowed
    known = ranges[name]
    try:
        ranges[name] = replace(known, lo=max(known.lo, low), hi=_least(known.hi, high))
    except ValueError as error:
        what = f"{guard.why} needs {guard}, which no sizes of the declared ranges satisfy"
        raise GEError("GE0330", what, hint=shapes_to_paste(function, {})) from error
    set_symbol_ranges(function, ranges)


def _least(first: int | None, second: int | None) -> int | None:
    return min((end for end in (first, second) if end is not None), default=None)


@dataclass
class Open:
    """What the ops of a function ask of its symbols and nothing proves.

    Attributes:
        ranges: Of the symbols.
        guards: What the run has to check, with the op that asks for it.
        solve: Whether to stop at the first equality of symbols; else it is a guard like any other.
        equality: A symbol, what it has to be, and who says so: the first that was found.
    """

    ranges: Mapping[str, SymbolRange]
    guards: list[tuple[Guard, Operation]] = field(default_factory=list[tuple[Guard, Operation]])
    solve: bool = True
    equality: tuple[str, Dim, Operation, Guard] | None = None

    def collect(self, block: Block) -> None:
        """Adds what the ops of a block ask, until an equality shows."""
        for op in block.ops:
            if self.equality is not None:
                return
            if not isinstance(op, GEOp) or isinstance(op, FusionOp):
                continue
            for region in op.regions:
                for inner in region.blocks:
                    self.collect(inner)
            self._ask(op)

    def _ask(self, op: GEOp) -> None:
        with collect() as found:
            try:
                op.infer_types()
            except VerifyException as error:
                where = location_name(op) or "an op without a name"
                raise GEError("GE0301", f"'{op.name}' at {where}: {error}") from error
        for requirement in found:
            self._add(op, requirement)

    def _add(self, op: GEOp, requirement: Requirement) -> None:
        where = location_name(op) or "an op without a name"
        why = f"'{op.ge_op_type()}' at '{where}' ({requirement.what})"
        guard = Guard(requirement.left, requirement.relation, requirement.right, why)
        verdict = judge(guard, self.ranges)
        if verdict is Verdict.HOLDS:
            return
        if isinstance(verdict, tuple) and self.solve:
            if self.equality is None:
                self.equality = (*verdict, op, guard)
            return
        if not any(one.same(guard) for one, _ in self.guards):
            self.guards.append((guard, op))


def asked_of(function: FuncOp) -> list[Guard]:
    """Returns what the ops of a function ask of its symbols and nothing proves; changes nothing.

    Raises:
        GEError: Types of an op do not fit together (GE0301).
    """
    found = Open(symbol_ranges(function), solve=False)
    found.collect(function.body.block)
    return [*guards_of(function), *(guard for guard, _ in found.guards)]


def _guard(function: FuncOp, found: Open) -> None:
    """Notes the guards; what excludes an end of a declared range is an error.

    Raises:
        GEError: The ends of a range are no sizes that the model takes (GE0330).
    """
    guards = [guard for guard, _ in found.guards]
    values = feasible_values(guards, found.ranges)
    for name, kept in values.items():
        known = found.ranges[name]
        if not kept or kept[0] != known.first or kept[-1] != known.last:
            raise _excluded(function, name, kept, guards)
    for guard, op in found.guards:
        if add_guard(function, guard):
            remarks.analysis(NAME, "guard", op, f"{guard} is checked at run time: {guard.why}")
            statistics.count(NAME, "guard")


def _excluded(function: FuncOp, name: str, kept: tuple[int, ...], guards: list[Guard]) -> GEError:
    ranges = symbol_ranges(function)
    known = ranges[name]
    declared = show_values(range(known.first, (known.last or 0) + 1, known.multiple_of))
    asking = [guard for guard in guards if name in guard_symbols(guard)]
    needs = "; ".join(f"{guard.why} needs {guard}" for guard in asking[:2])
    origin = f" ({known.origin})" if known.origin else ""
    if not kept:
        return GEError(
            "GE0330",
            f"no size of {name}{origin} in the declared {declared} works: {needs}",
            hint="a size is baked into the model: export it with that dimension dynamic",
        )
    ranges[name] = replace(known, lo=kept[0], hi=kept[-1])
    return GEError(
        "GE0330",
        f"only {name} = {show_values(kept, known.multiple_of)} of the declared {declared}{origin}"
        f" works: {needs}",
        hint=f"give {shapes_to_paste(function, ranges)}, or export the model without that constant",
    )
