"""Symbolic sizes and guards of a plan as text: for viewers of files and traces."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ge_dialect.ge_exec import PlanOp, SymbolOp
from ge_dialect.symbols import SymbolRange
from ge_dialect.symbols.feasible import guard_symbols


def show_range(known: SymbolRange) -> str:
    """Returns a range as messages write it, `128..4096` or `8..64 by 8`."""
    last = "" if known.hi is None else known.hi
    step = f" by {known.multiple_of}" if known.multiple_of > 1 else ""
    return f"{known.lo}..{last}{step}"


def size_attrs(plan: PlanOp, values: Sequence[SSAValue]) -> dict[str, list[str]]:
    """Returns what dimensions of some values say of the sizes of a run, as attributes of an op.

    `sizes`: each symbol with its range and the dimension that tells it; `guards`: what has to hold
    of it. Nothing where the values tell none.
    """
    ops = [op for op in plan.symbols if op.input in values]
    if not ops:
        return {}
    names = {op.symbol.data for op in ops}
    guards = [str(op.guard) for op in plan.guards if not names.isdisjoint(guard_symbols(op.guard))]
    return {"sizes": [_text(op) for op in ops], **({"guards": guards} if guards else {})}


def size_lines(plan: PlanOp) -> list[str]:
    """Returns a line for each symbol of a plan, and one for each guard."""
    return [
        *(f"size {op.symbol.data} {show_range(op.known)}" for op in plan.symbols),
        *(f"guard {op.guard}" for op in plan.guards),
    ]


def _text(op: SymbolOp) -> str:
    return f"dim {op.dim.value.data} is {op.expression}: {op.symbol.data} {show_range(op.known)}"
