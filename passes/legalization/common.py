"""What the legalizations share: a pattern that expands one op, and the type it computes in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import Float64Type, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.utils.exceptions import VerifyException

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.constants import float_constant
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.types import Shape, element_type_of, show_shape, value_shape
from ge_dialect.passes.canonicalization.groups import is_known, same_shape
from ge_dialect.passes.driver import Rewrite
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.values import NewOps, in_kernel
from ge_dialect.remarks import ReasonClass


def compute_type(element_type: Attribute) -> Attribute:
    """Returns the type in which composites of `element_type` compute: f64 of f64, else f32."""
    return element_type if isinstance(element_type, Float64Type) else f32


@dataclass
class Steps(NewOps):
    """New ops that compute a composite."""

    def cast(self, value: SSAValue, element_type: Attribute) -> SSAValue:
        """Returns `value` in another element type."""
        same = element_type_of(value) == element_type
        return value if same else self.add(CastOp(value, element_type))

    def number(self, value: float, like: SSAValue) -> SSAValue:
        """Returns a constant scalar of the element type of `like`."""
        return self.add(float_constant(value, element_type_of(like)))

    def reshape(self, value: SSAValue, shape: Shape) -> SSAValue:
        """Returns `value` in another shape.

        Raises:
            NearMissError: A dimension of the shape is not known.
        """
        if not is_known(shape):
            text = "a dimension that has to be reshaped is not known"
            raise NearMissError(ReasonClass.SYMBOL, text, show_shape(shape), "known dimensions")
        same = same_shape(value_shape(value), shape)
        return value if same else self.add(ReshapeOp(value, shape))


class Legalize(Rewrite, ABC):
    """`composite(x)` -> primitive ops that compute the same, rounded once at the end.

    Attributes:
        pass_name: Of the pass, for remarks.
    """

    pass_name: str

    @abstractmethod
    def expand(self, op: Operation, steps: Steps) -> SSAValue:
        """Returns what takes the place of the op's result.

        Raises:
            NearMissError: The op cannot be expanded.
        """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if in_kernel(op):
            return
        rule, steps = type(self).__name__, Steps()
        try:
            result = self.expand(op, steps)
        except (NearMissError, VerifyException) as error:
            for new in reversed(steps.ops):
                new.erase()
            if not isinstance(error, NearMissError):
                error = NearMissError(ReasonClass.SHAPE, str(error))
            error.report(self.pass_name, rule, op)
            return
        count = len(steps.ops)
        remarks.passed(self.pass_name, rule, op, lambda: f"expanded to {count} ops")
        rewriter.replace(op, steps.ops, [result])


Formula: TypeAlias = Callable[[Operation, SSAValue, Steps], SSAValue]
"""Adds the steps that compute an op of its first operand, in the type it computes in."""


@dataclass
class LegalizeByFormula(Legalize):
    """Computes an op by a formula, in f32, in f64 of f64, and rounds once.

    Attributes:
        names: The ops to expand, without the prefix of the dialect.
    """

    names: tuple[str, ...]

    formulas: ClassVar[dict[type[Operation], Formula]]

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if op.name.removeprefix("ge.") in self.names:
            super().match_and_rewrite(op, rewriter)

    def expand(self, op: Operation, steps: Steps) -> SSAValue:
        element_type = element_type_of(op.operands[0])
        x = steps.cast(op.operands[0], compute_type(element_type))
        return steps.cast(self.formulas[type(op)](op, x, steps), element_type)


def chosen(pass_name: str, names: Sequence[str], known: Sequence[str]) -> Sequence[str]:
    """Returns the names of ops that an option asks for; all where it asks for none.

    Raises:
        GEError: A name is unknown (GE0411).
    """
    for name in names:
        if name not in known:
            raise GEError(
                "GE0411",
                f"expected 'ops' of '{pass_name}' to be some of {', '.join(known)}, got '{name}'",
            )
    return names or known
