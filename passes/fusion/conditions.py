"""Conditions that many rules have; each tells found and wanted, and its own class of reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.constants import constant_attr
from ge_dialect.ge.dtypes import dtype_names, find_dtype
from ge_dialect.ge.symbolic import data_ranges, function_of, symbol_ranges
from ge_dialect.ge.types import element_type_of, is_tensor, show_shape, static_shape, value_shape
from ge_dialect.passes.fusion.match import Match
from ge_dialect.passes.fusion.pattern import Verdict
from ge_dialect.passes.fusion.rule import Condition
from ge_dialect.remarks import ReasonClass
from ge_dialect.symbols import Dim, DimExpr, bounds, prove_divisible, prove_equal
from ge_dialect.symbols.ranges import Ranges

if TYPE_CHECKING:
    from ge_dialect.targets import Target


def value_of(match: Match, name: str) -> SSAValue | None:
    """Returns a captured value, or the first result of a named op; None where it was left out."""
    if name in match.captures:
        return match.captures[name]
    op = match.named.get(name)
    return None if op is None else op.results[0]


def same_shape(*names: str) -> Condition:
    """All values have one shape; symbolic dimensions have to be proved equal."""

    def test(match: Match) -> Verdict:
        for first, second in pairwise(_values(match, names)):
            shapes = value_shape(first), value_shape(second)
            if len(shapes[0]) == len(shapes[1]):
                ranges = partial(_ranges, match)
                unequal = [p for p in zip(*shapes, strict=True) if not _same(*p, ranges)]
                if not unequal:
                    continue
                if not any(isinstance(a, int) and isinstance(b, int) for a, b in unequal):
                    a, b = unequal[0]
                    wanted = f"{a}=={b}"
                    return Verdict(False, f"cannot prove {wanted}", wanted, ReasonClass.SYMBOL)
            return Verdict(False, show_shape(shapes[1]), show_shape(shapes[0]))
        return Verdict(True)

    return Condition(f"same shape of {', '.join(names)}", ReasonClass.SHAPE, test, of=names)


def _same(a: Dim | None, b: Dim | None, ranges: Callable[[], Ranges]) -> bool:
    if a is None or b is None:
        return False
    symbolic = isinstance(a, DimExpr) or isinstance(b, DimExpr)
    return a == b or (symbolic and prove_equal(a, b, ranges()) is True)


def same_type(*names: str) -> Condition:
    """All values have one element type."""

    def test(match: Match) -> Verdict:
        types = [str(element_type_of(value)) for value in _values(match, names)]
        return Verdict(len(set(types)) <= 1, ", ".join(types), "one element type")

    return Condition(f"same type of {', '.join(names)}", ReasonClass.DTYPE, test, of=names)


def element_type(name: str, *types: str) -> Condition:
    """A value has one of these element types, as `f16`.

    Raises:
        GEError: One is no element type (GE0424).
    """
    known = dtype_names()
    if unknown := [one for one in types if one not in known]:
        same = [ours for ours, theirs in known.items() if theirs == unknown[0]]
        hint = f"did you mean '{same[0]}'?" if same else f"one of {', '.join(known)}"
        raise GEError("GE0424", f"expected an element type, got {unknown[0]!r:.60}", hint=hint)

    def of(value: SSAValue) -> tuple[bool, str]:
        found = find_dtype(element_type_of(value))
        text = str(element_type_of(value)) if found is None else found.name
        return text in types, text

    return _each(f"type of {name}", ReasonClass.DTYPE, (name,), of, " or ".join(types))


def rank(name: str, *ranks: int) -> Condition:
    """A value has one of these ranks."""
    return _each(
        f"rank of {name}",
        ReasonClass.SHAPE,
        (name,),
        lambda value: (len(value_shape(value)) in ranks, str(len(value_shape(value)))),
        " or ".join(map(str, ranks)),
    )


def static(*names: str) -> Condition:
    """All dimensions of the values are numbers."""
    return _each(
        f"static shape of {', '.join(names)}",
        ReasonClass.SYMBOL,
        names,
        lambda value: (static_shape(value.type) is not None, show_shape(value_shape(value))),
        "numbers",
    )


def constant(*names: str) -> Condition:
    """The values are constants."""
    return _each(
        f"constant {', '.join(names)}",
        ReasonClass.CONST,
        names,
        lambda value: (constant_attr(value) is not None, "a computed value"),
        "a constant",
    )


def multiple_of(name: str, axis: int, factor: int) -> Condition:
    """A dimension is a multiple of a number, for all values that its symbols may have."""

    def holds(dim: Dim, ranges: Ranges) -> bool:
        return prove_divisible(dim, factor, ranges) is True

    return _dimension(name, axis, f"a multiple of {factor}", holds)


def at_most(name: str, axis: int, limit: int) -> Condition:
    """A dimension is not larger than a number, for all values that its symbols may have."""

    def holds(dim: Dim, ranges: Ranges) -> bool:
        greatest = bounds(dim, ranges)[1]
        return greatest is not None and greatest <= limit

    return _dimension(name, axis, f"at most {limit}", holds)


def _dimension(
    name: str, axis: int, wanted: str, holds: Callable[[Dim, Ranges], bool]
) -> Condition:
    def test(match: Match) -> Verdict:
        for value in _values(match, (name,)):
            shape = value_shape(value)
            dim = shape[axis] if -len(shape) <= axis < len(shape) else None
            if dim is None or not holds(dim, _ranges(match)):
                reason = ReasonClass.SYMBOL if isinstance(dim, DimExpr) else ReasonClass.SHAPE
                return Verdict(False, _shown(dim, match), wanted, reason)
        return Verdict(True)

    return Condition(f"dimension {axis} of {name}", ReasonClass.SHAPE, test, of=(name,))


def _shown(dim: Dim | None, match: Match) -> str:
    """Returns a dimension as messages show it, with what its symbols may make of it."""
    if not isinstance(dim, DimExpr):
        return "no such dimension" if dim is None else str(dim)
    low, high = bounds(dim, _ranges(match))
    return f"{dim} of {low} to {high}" if high is not None else f"{dim} without a greatest value"


def _ranges(match: Match) -> Ranges:
    """Returns what the symbols of the function around a match may be."""
    function = function_of(match.ops[0])
    return {} if function is None else symbol_ranges(function) | data_ranges(function)


def fits_on_chip() -> Condition:
    """What passes between the products and reductions of the kernel fits on chip, in tiles."""

    def test(match: Match) -> Verdict:
        from ge_dialect.passes.fusion.footprint import fit_in_tiles

        shortage = fit_in_tiles(match.producers_first, machine_of(match.ops[0])).shortage
        if shortage is None:
            return Verdict(True)
        found = f"{shortage.found} for {shortage.what} of '{shortage.op.name}'"
        return Verdict(False, f"{found}, tile {shortage.tile}", shortage.wanted)

    fix = "leave the ops apart: smaller kernels are tried next"
    return Condition("the kernel fits on chip", ReasonClass.COST, test, fix)


def machine_of(op: Operation) -> Target:
    """Returns the machine that an op is compiled for."""
    from ge_dialect.targets.dlti import DEFAULT_TARGET, target_of
    from ge_dialect.targets.reader import builtin_target

    top = op
    while (parent := top.parent_op()) is not None:
        top = parent
    return target_of(top) if isinstance(top, ModuleOp) else builtin_target(DEFAULT_TARGET)


def _values(match: Match, names: Sequence[str]) -> list[SSAValue]:
    found = [value_of(match, name) for name in names]
    return [value for value in found if value is not None and is_tensor(value.type)]


def _each(
    text: str,
    reason: ReasonClass,
    names: Sequence[str],
    test: Callable[[SSAValue], tuple[bool, str]],
    wanted: str,
) -> Condition:
    """Returns a condition on each of some values; what was left out of a match is no obstacle."""

    def all_of(match: Match) -> Verdict:
        for value in _values(match, names):
            holds, found = test(value)
            if not holds:
                return Verdict(False, found, wanted)
        return Verdict(True, "", wanted)

    return Condition(text, reason, all_of, of=tuple(names))
