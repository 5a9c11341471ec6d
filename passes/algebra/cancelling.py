"""Rules that cancel what algebra says cancels: off unless allowed, but where integers are exact."""

from __future__ import annotations

from math import inf

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.binary import (
    AddOp,
    DivOp,
    EqualOp,
    GreaterEqualOp,
    LessEqualOp,
    MaximumOp,
    MinimumOp,
    MulOp,
    SubOp,
)
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.elementwise import BinaryOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.ge.unary import AbsOp, ExpOp, LogOp, NegOp, SqrtOp
from ge_dialect.passes.algebra.common import (
    NO_INFS,
    NO_NANS,
    NO_SIGNED_ZEROS,
    REASSOCIATE,
    Simpler,
    Simplify,
    filled,
    of_plain_floats,
    same_known,
    uniform,
)
from ge_dialect.passes.canonicalization.operands import is_uniform
from ge_dialect.passes.values import commuted, owner


class DropAddedZero(Simplify):
    """`x + 0.0`, `x - -0.0` -> `x`."""

    roots = (AddOp, SubOp)
    reads = (ConstantOp,)
    flags = (NO_SIGNED_ZEROS,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        return op.lhs if is_uniform(op.rhs, 0.0 if isinstance(op, AddOp) else -0.0) else None


class DropZeroBias(Simplify):
    """`layer_norm(x) bias 0.0` -> `layer_norm(x)`."""

    roots = (LayerNormOp,)
    reads = (ConstantOp,)
    flags = (NO_SIGNED_ZEROS,)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, LayerNormOp)
        if op.bias is None or uniform(op.bias) != 0:
            return None
        axis, epsilon = op.axis.value.data, op.epsilon.value.data
        return [LayerNormOp(op.input, op.scale, axis=axis, epsilon=epsilon)]


class NegateForZeroMinus(Simplify):
    """`0.0 - x` -> `-x`, `-(x - y)` -> `y - x`."""

    roots = (SubOp, NegOp)
    reads = (ConstantOp, SubOp)
    flags = (NO_SIGNED_ZEROS,)

    def simplify(self, op: Operation) -> Simpler:
        if isinstance(op, SubOp):
            return [NegOp(op.rhs)] if is_uniform(op.lhs, 0.0) else None
        assert isinstance(op, NegOp)
        inner = owner(op.input, SubOp)
        if inner is None or not inner.result.has_one_use():
            return None
        return [SubOp(inner.rhs, inner.lhs)]


class AbsorbZeroFactor(Simplify):
    """`x * 0` -> 0."""

    roots = (MulOp,)
    reads = (ConstantOp,)
    flags = (NO_NANS, NO_INFS, NO_SIGNED_ZEROS)
    integers = False

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, MulOp)
        return filled(0, op.result) if uniform(op.rhs) == 0 else None


class CancelEqualOperands(Simplify):
    """`x - x` -> 0, `x / x` -> 1, of floats."""

    roots = (SubOp, DivOp)
    flags = (NO_NANS, NO_INFS)
    integers = False

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        if op.lhs is not op.rhs or not of_plain_floats(op.lhs):
            return None
        return filled(float(isinstance(op, DivOp)), op.result)


class DecideEqualOperands(Simplify):
    """`x = x`, `x <= x`, `x >= x` -> true, of floats."""

    roots = (EqualOp, LessEqualOp, GreaterEqualOp)
    flags = (NO_NANS,)
    integers = False

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        return filled(True, op.result) if op.lhs is op.rhs else None


class InfiniteLimit(Simplify):
    """`max(x, inf)` -> inf, `min(x, -inf)` -> -inf."""

    roots = (MaximumOp, MinimumOp)
    reads = (ConstantOp,)
    flags = (NO_NANS,)
    integers = False

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        limit = inf if isinstance(op, MaximumOp) else -inf
        decided = any(uniform(other) == limit for _, other in commuted(op))
        return filled(limit, op.result) if decided else None


class CancelExponential(Simplify):
    """`log(exp(x))` -> `x`."""

    roots = (LogOp,)
    reads = (ExpOp,)
    flags = (REASSOCIATE, NO_INFS)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, LogOp)
        inner = owner(op.input, ExpOp)
        return None if inner is None else inner.input


class CancelLogarithm(Simplify):
    """`exp(log(x))` -> `x`."""

    roots = (ExpOp,)
    reads = (LogOp,)
    flags = (REASSOCIATE, NO_NANS)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, ExpOp)
        inner = owner(op.input, LogOp)
        return None if inner is None else inner.input


class AbsForRootOfSquare(Simplify):
    """`sqrt(x * x)` -> `|x|`."""

    roots = (SqrtOp,)
    reads = (MulOp,)
    flags = (REASSOCIATE, NO_INFS)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, SqrtOp)
        inner = owner(op.input, MulOp)
        return [AbsOp(inner.lhs)] if inner is not None and inner.lhs is inner.rhs else None


class CancelRoots(Simplify):
    """`sqrt(x) * sqrt(x)` -> `x`."""

    roots = (MulOp,)
    reads = (SqrtOp,)
    flags = (REASSOCIATE, NO_NANS)

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, MulOp)
        inner = owner(op.lhs, SqrtOp) if op.lhs is op.rhs else None
        return None if inner is None else inner.input


class CancelFactor(Simplify):
    """`(x * y) / y`, `(x / y) * y` -> `x`, of floats of one known shape."""

    roots = (DivOp, MulOp)
    reads = (MulOp, DivOp)
    flags = (REASSOCIATE, NO_NANS, NO_INFS)
    integers = False

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        if not of_plain_floats(op.lhs):
            return None
        kept = _undone(op, MulOp, DivOp)
        return kept if kept is not None and same_known(kept, op.result) else None


class CancelTerm(Simplify):
    """`(x + y) - y`, `(x - y) + y` -> `x`, of floats of one known shape."""

    roots = (AddOp, SubOp)
    reads = (AddOp, SubOp)
    flags = (REASSOCIATE, NO_INFS, NO_SIGNED_ZEROS)
    integers = False

    def simplify(self, op: Operation) -> Simpler:
        assert isinstance(op, BinaryOp)
        if not of_plain_floats(op.lhs):
            return None
        kept = _undone(op, AddOp, SubOp)
        return kept if kept is not None and same_known(kept, op.result) else None


def _undone(op: BinaryOp, do: type[BinaryOp], undo: type[BinaryOp]) -> SSAValue | None:
    """Returns x of `undo(do(x, y), y)` and of `do(undo(x, y), y)`."""
    if isinstance(op, undo):
        inner = owner(op.lhs, do)
        pairs = [] if inner is None else list(commuted(inner))
        return next((value for value, other in pairs if other is op.rhs), None)
    for value, other in commuted(op):
        inner = owner(value, undo)
        if inner is not None and inner.rhs is other:
            return inner.lhs
    return None


CANCELLING_RULES = (
    DropAddedZero,
    DropZeroBias,
    NegateForZeroMinus,
    AbsorbZeroFactor,
    CancelEqualOperands,
    DecideEqualOperands,
    InfiniteLimit,
    CancelExponential,
    CancelLogarithm,
    AbsForRootOfSquare,
    CancelRoots,
    CancelFactor,
    CancelTerm,
)
