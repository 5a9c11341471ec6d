"""The part of the check of plans that is about symbols: bytes are enough at every size."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.symbolic import bound_type
from ge_dialect.ge.types import byte_size
from ge_dialect.ge_exec import BoundedType, InputOp, PlanOp, SymbolOp
from ge_dialect.ge_exec.storage import byte_count, most_bytes
from ge_dialect.lowering.at_sizes import greatest_sizes, least_sizes
from ge_dialect.lowering.plan_clocks import CODE
from ge_dialect.symbols import SymbolRange, linear_in, symbols_of


def check_symbols(plan: PlanOp) -> None:
    """Checks that the symbols of a plan are known before they are used, and bytes are enough.

    By intervals, which covers all sizes at once; and again with numbers at both ends of the ranges.

    Raises:
        GEError: They are not; names the value, or the symbol.
    """
    ranges: dict[str, SymbolRange] = {}
    for op in plan.symbols:
        _check_symbol(op, ranges)
        ranges[op.symbol.data] = op.known
    for op in plan.guards:
        for name in (*symbols_of(op.guard.left), *symbols_of(op.guard.right)):
            if name not in ranges:
                raise GEError(CODE, f"a guard asks for {op.guard}, but '{name}' has no value")
    ends = (least_sizes(plan), greatest_sizes(plan))
    for value, type_ in _bounded(plan):
        count, most = byte_count(type_.tensor), most_bytes(type_.tensor, ranges)
        unknown = [name for name in symbols_of(count or 0) if name not in ranges]
        if count is None or unknown:
            what = f"a symbol without a value, '{unknown[0]}'" if unknown else "unknown sizes"
            raise GEError(CODE, f"{_name(value)} has {what}", hint="compile the model again")
        at_ends = [byte_size(bound_type(type_.value, sizes)) for sizes in ends]
        needed = max([most or 0, *[size or 0 for size in at_ends]])
        if most is None or needed > type_.most:
            shown = "unbounded" if most is None else f"up to {needed}"
            raise GEError(
                CODE,
                f"{_name(value)} takes {count} bytes, {shown}, but has {type_.most}",
                hint="compile the model again",
            )


def _check_symbol(op: SymbolOp, known: dict[str, SymbolRange]) -> None:
    name, dim = op.symbol.data, op.expression
    if name in known or op.known.last is None or not isinstance(op.input.owner, InputOp):
        raise GEError(CODE, f"symbol '{name}' has two values, no greatest one, or no input")
    others = [other for other in symbols_of(dim) if other != name and other not in known]
    if others or linear_in(dim, name) is None:
        raise GEError(CODE, f"symbol '{name}' does not follow from a dimension of {dim}")


def _bounded(plan: PlanOp) -> Iterator[tuple[SSAValue, BoundedType]]:
    for op in plan.body.block.ops:
        for value in op.results:
            if isinstance(value.type, BoundedType):
                yield value, value.type


def _name(value: SSAValue) -> str:
    return f"'{value.name_hint or 'a value'}' of the plan"
