"""A rule of algebra, and what such rules ask about constants."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.constants import ConstantOp, array_constant, constant_array, splat_constant
from ge_dialect.ge.dtypes import is_float, to_numpy
from ge_dialect.ge.types import byte_size, compatible, element_type_of, tensor_of, value_shape
from ge_dialect.passes.canonicalization.groups import is_known
from ge_dialect.passes.canonicalization.operands import uniform_value
from ge_dialect.passes.driver import Rewrite
from ge_dialect.passes.values import in_kernel

if TYPE_CHECKING:
    import numpy.typing as npt

NAME = "ge-simplify-algebra"

REASSOCIATE = "reassociate"
NO_NANS = "no-nans"
NO_INFS = "no-infs"
NO_SIGNED_ZEROS = "no-signed-zeros"
RECIPROCAL = "reciprocal"
CONTRACT = "contract"
MASKS = "masks"
FLAGS = (REASSOCIATE, NO_NANS, NO_INFS, NO_SIGNED_ZEROS, RECIPROCAL, CONTRACT, MASKS)
"""What `fast-math=` may allow: other roundings, no NaN, no infinity, any sign of a zero, products
with a reciprocal for quotients, one rounding where there were two; and in attention, that every
query keeps a key and scores are finite, which no rule of algebra needs but `ge-raise` does."""

MOST_ELEMENTS = 4096
_MOST_BYTES = 65536
"""What a constant result may have, as a folded one by default."""

_PLAIN_FLOATS = (Float16Type, BFloat16Type, Float32Type, Float64Type)

Simpler: TypeAlias = SSAValue | Sequence[Operation] | None


@dataclass
class Simplify(Rewrite):
    """A rule with the freedom it needs.

    Attributes:
        allowed: What the user allows of `FLAGS`.
        flags: What the rule needs on floats; none where it is exact to the bit.
        integers: Whether it is exact on integers and truth values, so that it needs nothing there.
    """

    allowed: frozenset[str] = frozenset()

    flags: ClassVar[tuple[str, ...]] = ()
    integers: ClassVar[bool] = True

    @abstractmethod
    def simplify(self, op: Operation) -> Simpler:
        """Returns a value or new ops in order, the last of which gives the result; else None."""

    @classmethod
    def may_apply(cls, allowed: frozenset[str]) -> bool:
        """Whether the rule may do something where only these flags are allowed."""
        return cls.integers or allowed.issuperset(cls.flags)

    def needed(self, op: Operation) -> Sequence[str]:
        """Returns the flags that the rule needs at `op`."""
        if not self.flags:
            return ()
        exact = self.integers and bool(op.operands) and not of_floats(op.operands[0])
        return () if exact else self.flags

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if in_kernel(op):
            return
        needed = self.needed(op)
        missing = needed and [flag for flag in needed if flag not in self.allowed]
        if missing and not remarks.listening():
            return
        found = self.simplify(op)
        if found is None:
            return
        ops = [] if isinstance(found, SSAValue) else list(found)
        value = found if isinstance(found, SSAValue) else ops[-1].results[0]
        result = op.results[0]
        fits = compatible(result.type, value.type) if ops else value.type == result.type
        if missing or not fits:
            for new in reversed(ops):
                new.erase()
            if missing:
                self._remark_missing(op, needed)
            return
        allowed = f", allowed by fast-math={','.join(needed)}" if needed else ""
        remarks.passed(NAME, type(self).__name__, op, lambda: self._what(ops) + allowed)
        rewriter.replace(op, ops, [value])

    def _what(self, ops: Sequence[Operation]) -> str:
        return f"now {ops[-1].name}" if ops else "now a value that was there"

    def _remark_missing(self, op: Operation, needed: Sequence[str]) -> None:
        flags = ",".join(needed)
        remarks.missed(
            NAME,
            type(self).__name__,
            op,
            "results could differ",
            reason=remarks.ReasonClass.DISABLED,
            found=f"fast-math={','.join(flag for flag in FLAGS if flag in self.allowed) or 'none'}",
            wanted=f"fast-math={flags}",
            fix=f"allow it with {NAME}{{fast-math={flags}}}",
        )


def allowed_flags(fast_math: Sequence[str]) -> frozenset[str]:
    """Returns what the user allows.

    Args:
        fast_math: Some of `FLAGS`, or `all`.

    Raises:
        GEError: A flag is unknown (GE0412).
    """
    for flag in fast_math:
        if flag not in (*FLAGS, "all"):
            known = ", ".join((*FLAGS, "all"))
            raise GEError("GE0412", f"expected 'fast-math' to be some of {known}, got '{flag}'")
    return frozenset(FLAGS if "all" in fast_math else fast_math)


def of_floats(value: SSAValue) -> bool:
    """Whether a value is of floats."""
    return is_float(element_type_of(value))


def of_plain_floats(value: SSAValue) -> bool:
    """Whether a value is of floats of 16 bits or more."""
    return type(element_type_of(value)) in _PLAIN_FLOATS


def uniform(value: SSAValue) -> float | int | bool | None:
    """Returns what every element of a constant is, or None."""
    return uniform_value(value)


def array_of(value: SSAValue) -> npt.NDArray[Any] | None:
    """Returns a constant of at most `MOST_ELEMENTS`, or None."""
    return constant_array(value, MOST_ELEMENTS)


def same_known(*values: SSAValue) -> bool:
    """Whether values have one type, of which every dimension is known."""
    return all(value.type == values[0].type for value in values) and is_known(
        value_shape(values[0])
    )


def number(value: float, like: SSAValue) -> ConstantOp:
    """Returns a constant scalar of the element type of `like`."""
    import numpy as np

    return array_constant(np.asarray(value).astype(to_numpy(element_type_of(like))))


def filled(value: float, like: SSAValue) -> list[Operation] | None:
    """Returns the constant of the type of `like` with all elements `value`, unless it is large."""
    size = byte_size(like.type)
    if not size or size > _MOST_BYTES:
        return None
    return [splat_constant(value, tensor_of(like))]
