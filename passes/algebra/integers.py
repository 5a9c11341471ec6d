"""Rules that are exact on integers, which wrap: addition and multiplication are those of a ring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation

from ge_dialect.ge.binary import (
    AddOp,
    BitwiseAndOp,
    BitwiseOrOp,
    BitwiseXorOp,
    FmodOp,
    GreaterEqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
    ModOp,
    MulOp,
    SubOp,
)
from ge_dialect.ge.constants import ConstantOp, array_constant
from ge_dialect.ge.dtypes import is_integer
from ge_dialect.ge.elementwise import BinaryOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.ge.unary import BitwiseNotOp
from ge_dialect.passes.algebra.common import (
    Simpler,
    Simplify,
    array_of,
    filled,
    same_known,
    uniform,
)
from ge_dialect.passes.values import commuted, owner

if TYPE_CHECKING:
    import numpy.typing as npt


class MergeIntegerTerms(Simplify):
    """`(x + c) - d` -> `x + (c - d)`, and so for every mix of sums and differences."""

    roots = (AddOp, SubOp)
    reads = (AddOp, SubOp)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        inner = op.lhs.owner
        if not is_integer(element_type_of(op.lhs)) or not isinstance(inner, AddOp | SubOp):
            return None
        first, second = _signed(inner), _signed(op)
        if first is None or second is None or not inner.result.has_one_use():
            return None
        term = array_constant(first + second)
        return [term, AddOp(inner.lhs, term)]


def _signed(op: BinaryOp) -> npt.NDArray[Any] | None:
    """Returns the constant that an op adds, which wraps as the op does."""
    import numpy as np

    array = array_of(op.rhs)
    if array is None or array.dtype.kind not in "iu":
        return None
    return np.asarray(0 - array if isinstance(op, SubOp) else array, array.dtype)


class MergeIntegerFactors(Simplify):
    """`(x * c) * d` -> `x * (c * d)`; so for bitwise and, or, xor."""

    roots = (MulOp, BitwiseAndOp, BitwiseOrOp, BitwiseXorOp)
    reads = roots

    def simplify(self, op: Operation) -> Simpler:
        import numpy as np

        assert isinstance(op, BinaryOp)
        inner = op.lhs.owner
        if not isinstance(inner, BinaryOp) or type(inner) is not type(op):
            return None
        first, second = array_of(inner.rhs), array_of(op.rhs)
        if first is None or second is None or first.dtype.kind not in "iu":
            return None
        if not inner.result.has_one_use():
            return None
        join: Any = {
            MulOp.name: np.multiply,
            BitwiseAndOp.name: np.bitwise_and,
            BitwiseOrOp.name: np.bitwise_or,
            BitwiseXorOp.name: np.bitwise_xor,
        }[op.name]
        with np.errstate(all="ignore"):
            merged = array_constant(np.asarray(join(first, second), first.dtype))
        return [merged, type(op)(inner.lhs, merged)]


class CancelIntegerTerm(Simplify):
    """`(x + y) - y`, `(x - y) + y` -> `x`, of integers and of one known shape."""

    roots = (AddOp, SubOp)
    reads = (AddOp, SubOp)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        if not is_integer(element_type_of(op.lhs)):
            return None
        if isinstance(op, SubOp):
            inner = owner(op.lhs, AddOp)
            pairs = [] if inner is None else list(commuted(inner))
            kept = [value for value, other in pairs if other is op.rhs]
        else:
            kept = [
                inner.lhs
                for value, other in commuted(op)
                if (inner := owner(value, SubOp)) is not None and inner.rhs is other
            ]
        if not kept or not same_known(kept[0], op.result):
            return None
        return kept[0]


class AbsorbInteger(Simplify):
    """`x * 0`, `x & 0`, `x % 1` -> 0, `x | -1` -> -1, `x & -1`, `x | 0`, `x ^ 0` -> `x`,
    `x ^ -1` -> `~x`."""

    roots = (MulOp, BitwiseAndOp, BitwiseOrOp, BitwiseXorOp, ModOp, FmodOp)
    reads = (ConstantOp,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        array = array_of(op.rhs)
        if array is None or array.dtype.kind not in "iu" or (found := uniform(op.rhs)) is None:
            return None
        ones = int(~array.reshape(-1)[0]) == 0
        match op:
            case MulOp() | BitwiseAndOp() if found == 0:
                return filled(0, op.result)
            case ModOp() | FmodOp() if found == 1:
                return filled(0, op.result)
            case BitwiseOrOp() if ones:
                return filled(found, op.result)
            case BitwiseAndOp() if ones:
                return op.lhs
            case BitwiseOrOp() | BitwiseXorOp() if found == 0:
                return op.lhs
            case BitwiseXorOp() if ones:
                return [BitwiseNotOp(op.lhs)]
            case _:
                return None


class DecideByRange(Simplify):
    """`x < c`, `x >= c` with c the least integer of the type -> false, true; `x > c`, `x <= c`
    with the greatest -> false, true."""

    roots = (LessOp, GreaterEqualOp, GreaterOp, LessEqualOp)
    reads = (ConstantOp,)

    def simplify(self, op: Operation) -> Simpler:
        import numpy as np

        assert isinstance(op, BinaryOp)
        array = array_of(op.rhs)
        if array is None or array.dtype.kind not in "iu" or (found := uniform(op.rhs)) is None:
            return None
        limits = np.iinfo(array.dtype)
        limit = limits.min if isinstance(op, LessOp | GreaterEqualOp) else limits.max
        holds = isinstance(op, GreaterEqualOp | LessEqualOp)
        return filled(holds, op.result) if found == limit else None


INTEGER_RULES = (
    MergeIntegerTerms,
    MergeIntegerFactors,
    CancelIntegerTerm,
    AbsorbInteger,
    DecideByRange,
)
