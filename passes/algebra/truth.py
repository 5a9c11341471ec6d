"""Rules of truth values: Boolean algebra, comparisons and selects."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.binary import (
    AndOp,
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
    OrOp,
    XorOp,
)
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.dtypes import is_bool
from ge_dialect.ge.elementwise import BinaryOp, SelectOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.ge.unary import LogicalNotOp
from ge_dialect.passes.algebra.common import (
    NO_NANS,
    Simpler,
    Simplify,
    filled,
    of_floats,
    same_known,
    uniform,
)
from ge_dialect.passes.values import commuted, owner


class AbsorbTruth(Simplify):
    """`x and false` -> false, `x or true` -> true, `x xor true` -> `not x`."""

    roots = (AndOp, OrOp, XorOp)
    reads = (ConstantOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        match op, uniform(op.rhs):
            case AndOp(), False:
                return filled(False, op.result)
            case OrOp(), True:
                return filled(True, op.result)
            case XorOp(), True:
                return [LogicalNotOp(op.lhs)]
            case _:
                return None


class DecideByComplement(Simplify):
    """`x and not x` -> false; `x or not x`, `x xor not x` -> true."""

    roots = (AndOp, OrOp, XorOp)
    reads = (LogicalNotOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        for value, other in commuted(op):
            negation = owner(other, LogicalNotOp)
            if negation is not None and negation.input is value:
                return filled(not isinstance(op, AndOp), op.result)
        return None


class AbsorbLattice(Simplify):
    """`x and (x or y)`, `x or (x and y)` -> `x`; `x and (x and y)` -> the inner one; so for or."""

    roots = (AndOp, OrOp)
    reads = (AndOp, OrOp)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, AndOp | OrOp)
        for value, other in commuted(op):
            inner = other.owner
            if not isinstance(inner, AndOp | OrOp) or value not in inner.operands:
                continue
            kept = other if type(inner) is type(op) else value
            if same_known(kept, op.result):
                return kept
        return None


class NegateComparison(Simplify):
    """`not (x < y)` -> `x >= y`, and so for the others; of floats only where none is NaN."""

    roots = (LogicalNotOp,)
    reads = (LessOp, GreaterEqualOp, GreaterOp, LessEqualOp)
    flags = (NO_NANS,)

    def needed(self, op: Operation) -> tuple[str, ...]:
        inner = op.operands[0].owner
        return self.flags if isinstance(inner, BinaryOp) and of_floats(inner.lhs) else ()

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, LogicalNotOp)
        inner = op.input.owner
        opposite = _OPPOSITE.get(type(inner)) if isinstance(inner, Operation) else None
        if opposite is None or not isinstance(inner, BinaryOp) or not op.input.has_one_use():
            return None
        return [opposite(inner.lhs, inner.rhs)]


_OPPOSITE: dict[type[Operation], type[BinaryOp]] = {
    LessOp: GreaterEqualOp,
    GreaterEqualOp: LessOp,
    GreaterOp: LessEqualOp,
    LessEqualOp: GreaterOp,
}


class DropComparisonWithTruth(Simplify):
    """`x = true` -> `x`, `x = false` -> `not x`, of truth values."""

    roots = (EqualOp,)
    reads = (ConstantOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, EqualOp)
        found = uniform(op.rhs) if is_bool(element_type_of(op.rhs)) else None
        if found is None:
            return None
        return op.lhs if found else [LogicalNotOp(op.lhs)]


class ConditionForSelect(Simplify):
    """`select(c, true, false)` -> `c`, `select(c, false, true)` -> `not c`."""

    roots = (SelectOp,)
    reads = (ConstantOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, SelectOp)
        if not is_bool(element_type_of(op.on_true)):
            return None
        match uniform(op.on_true), uniform(op.on_false):
            case True, False:
                return op.condition
            case False, True:
                return [LogicalNotOp(op.condition)]
            case _:
                return None


class SkipDecidedSelect(Simplify):
    """`select(c, select(c, a, b), d)` -> `select(c, a, d)`, and so in the other branch."""

    roots = (SelectOp,)
    reads = (SelectOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, SelectOp)
        first, second = _same_choice(op, op.on_true), _same_choice(op, op.on_false)
        if first is None and second is None:
            return None
        on_true = op.on_true if first is None else first.on_true
        on_false = op.on_false if second is None else second.on_false
        return [SelectOp(op.condition, on_true, on_false)]


def _same_choice(op: SelectOp, branch: SSAValue) -> SelectOp | None:
    inner = owner(branch, SelectOp)
    return inner if inner is not None and inner.condition is op.condition else None


TRUTH_RULES = (
    AbsorbTruth,
    DecideByComplement,
    AbsorbLattice,
    NegateComparison,
    DropComparisonWithTruth,
    ConditionForSelect,
    SkipDecidedSelect,
)
