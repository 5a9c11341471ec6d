"""Sizes that tasks of a run find out: read off what they write, checked, known from then on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import PlanOp, StoreOp, SymbolOp
from ge_dialect.ge_exec.memory import base_of
from ge_dialect.lowering.plan_names import describe
from ge_dialect.lowering.size_texts import show_range
from ge_dialect.symbols import Guard, solve_for
from ge_dialect.symbols.feasible import guard_symbols


@dataclass(frozen=True)
class Tellers:
    """What tells sizes in a plan.

    Attributes:
        symbols: By value, what its dimensions say.
        guards: What has to hold of these sizes.
        growing: Those values that a loop puts slices into: only after it is their size final.
    """

    symbols: Mapping[SSAValue, Sequence[SymbolOp]] = field(
        default_factory=dict[SSAValue, Sequence[SymbolOp]]
    )
    guards: Sequence[Guard] = ()
    growing: frozenset[SSAValue] = frozenset()

    @staticmethod
    def of(plan: PlanOp) -> Tellers:
        """Returns those of a plan; inputs are left out, since they are read before the run."""
        found: dict[SSAValue, list[SymbolOp]] = defaultdict(list)
        for op in plan.symbols:
            if not op.is_early:
                found[op.input].append(op)
        names = {op.symbol.data for ops in found.values() for op in ops}
        guards = [op.guard for op in plan.guards if not names.isdisjoint(guard_symbols(op.guard))]
        stores = (op for op in plan.walk() if isinstance(op, StoreOp)) if found else ()
        growing = frozenset(op.target for op in stores if op.target in found)
        return Tellers(dict(found), guards, growing)

    @property
    def names(self) -> frozenset[str]:
        """The symbols that tasks tell."""
        return frozenset(op.symbol.data for ops in self.symbols.values() for op in ops)

    def read(self, value: SSAValue, shape: Sequence[int], sizes: dict[str, int]) -> None:
        """Puts what the shape of a value says into the sizes of a run.

        Args:
            value: That a task has computed.
            shape: Of what it has computed.
            sizes: Of the symbols known so far.

        Raises:
            GEError: A size leaves its range (GE0820), or a guard does not hold (GE0821).
        """
        if (ops := self.symbols.get(value)) is None:
            return
        for op in ops:
            name, axis = op.symbol.data, op.dim.value.data
            size = shape[axis] if axis < len(shape) else None
            found = None if size is None else solve_for(op.expression, name, size, sizes)
            if found is None or not op.known.contains(found):
                raise GEError(
                    "GE0820",
                    f"{name} = {size if found is None else found} leaves {show_range(op.known)}:"
                    f" {op.known.origin or describe(base_of(value)[0])}",
                    hint="the bound of the op is wrong; please report it",
                )
            sizes[name] = found
        if value not in self.growing:
            self.check(value, sizes)

    def check(self, value: SSAValue, sizes: Mapping[str, int]) -> None:
        """Checks what has to hold of the sizes that a value tells.

        Raises:
            GEError: A guard does not hold (GE0821).
        """
        told = {op.symbol.data for op in self.symbols[value]}
        check_guards([g for g in self.guards if not told.isdisjoint(guard_symbols(g))], sizes)


def check_guards(guards: Iterable[Guard], sizes: Mapping[str, int]) -> None:
    """Checks the guards of which all symbols are known.

    Raises:
        GEError: One does not hold (GE0821).
    """
    for guard in guards:
        names = guard_symbols(guard)
        if all(name in sizes for name in names) and not guard.holds(sizes):
            shown = ", ".join(f"{name} = {sizes[name]}" for name in names)
            raise GEError(
                "GE0821",
                f"expected {guard}, got {shown}",
                hint=f"{guard.why}: give inputs whose sizes fit together",
            )
