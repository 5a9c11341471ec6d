"""`ge-split-gears`: one function for each set of sizes that a model is to be fast at.

Before: `@main` on `tensor<?x8xf32, #ge.dims<"S">>`. After, for the gears `S=4` and `S=16`:
`@main_gear_0` on `tensor<4x8xf32>` and `@main_gear_1` on `tensor<16x8xf32>`. What depends on sizes
is decided for each anew by the passes that follow; kernels that are equal and weights are shared.

Limits: sizes between the gears have no function. Example: tests/filecheck/passes/split_gears.mlir.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.symbolic import (
    GUARDS,
    SYMBOLS,
    add_guard,
    bind_values,
    bound_dim,
    guards_of,
    symbol_ranges,
)
from ge_dialect.passes import statistics
from ge_dialect.passes.infer_types import InferTypesPass
from ge_dialect.symbols import Guard
from ge_dialect.symbols.feasible import guard_symbols

NAME = "ge-split-gears"

GEAR = "ge.gear"
"""The attribute of a function, and of its plan, that says which sizes it is for: `S=4 T=8`."""


@dataclass(frozen=True)
class SplitGearsPass(ModulePass):
    """Makes a static function of each set of sizes.

    Options:
    - `gears`: for each gear the sizes of all symbols, `"batch=1 seq=128"`. Default none, which
      changes nothing.
    """

    name = NAME
    exact = True

    gears: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sizes = [parse_gear(text) for text in self.gears]
        for function in list(op.body.block.ops) if sizes else ():
            if not isinstance(function, FuncOp) or not symbol_ranges(function):
                continue
            for number, values in enumerate(sizes):
                gear = _gear(ctx, function, number, values)
                op.body.block.insert_op_before(gear, function)
                statistics.count(NAME, "gear")
            function.detach()
            function.erase(safe_erase=False)


def parse_gear(text: str) -> dict[str, int]:
    """Returns the sizes that `S=4 T=8` spells.

    Raises:
        GEError: It spells none (GE0331).
    """
    sizes: dict[str, int] = {}
    for word in text.split():
        name, _, number = word.partition("=")
        if not name or not number.isdecimal() or name in sizes:
            raise GEError("GE0331", f"expected a gear such as 'S=4 T=8', got '{text[:60]}'")
        sizes[name] = int(number)
    return sizes


def show_gear(sizes: Mapping[str, int]) -> str:
    """Returns sizes as a gear is written, the inverse of `parse_gear`."""
    return " ".join(f"{name}={size}" for name, size in sizes.items())


def _gear(ctx: Context, function: FuncOp, number: int, sizes: Mapping[str, int]) -> FuncOp:
    """Returns a function for one set of sizes.

    Raises:
        GEError: The sizes are none of the function (GE0331); names the gear and the reason.
    """
    late = check_gear(function, number, sizes)
    gear = function.clone()
    gear.properties["sym_name"] = StringAttr(f"{function.sym_name.data}_gear_{number}")
    for name in (SYMBOLS, GUARDS):
        gear.attributes.pop(name, None)
    for guard in late:  # about sizes that depend on data
        left, right = (bound_dim(side, sizes) for side in (guard.left, guard.right))
        if left is not None and right is not None:
            add_guard(gear, Guard(left, guard.relation, right, guard.why))
    gear.attributes[GEAR] = StringAttr(show_gear(sizes))
    bind_values(gear, sizes)
    gear.update_function_type()
    alone = ModuleOp([gear])
    try:
        InferTypesPass().apply(ctx, alone)
    except GEError as error:
        shown = f"gear {number} ({show_gear(sizes)})"
        raise GEError("GE0331", f"{shown}: {error.message}", hint=error.hint) from error
    gear.detach()
    return gear


def check_gear(function: FuncOp, number: int, sizes: Mapping[str, int]) -> list[Guard]:
    """Checks that sizes are those of a function; returns the guards about other sizes.

    Raises:
        GEError: They are not (GE0331); names the gear and the reason.
    """
    shown = f"gear {number} ({show_gear(sizes)})"
    for name, known in symbol_ranges(function).items():
        if name not in sizes:
            raise GEError("GE0331", f"{shown} says no size of '{name}', {known.origin}")
        if not known.contains(sizes[name]):
            what = f"{shown} leaves the range of '{name}', {known.lo} to {known.hi}"
            raise GEError("GE0331", what, hint="the ranges that the model takes are narrower")
    late: list[Guard] = []
    for guard in guards_of(function):
        if not sizes.keys() >= {*guard_symbols(guard)}:
            late.append(guard)
        elif not guard.holds(sizes):
            hint = f"gears 0 to {number - 1} are fine" if number else None
            raise GEError("GE0331", f"{shown}: {guard.why} needs {guard}", hint=hint)
    return late
