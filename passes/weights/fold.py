"""A rewrite that makes new weights, and the reasons why it does not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect import remarks
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.types import byte_size, element_type_of
from ge_dialect.passes.driver import Rewrite
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.values import in_kernel
from ge_dialect.passes.weights.budget import Budget, is_constant
from ge_dialect.remarks import ReasonClass

if TYPE_CHECKING:
    import numpy.typing as npt

NAME = "ge-fold-norm"


@dataclass(frozen=True)
class Affine:
    """`y -> y * scale + shift`, with a number for each output, in f64; None changes nothing."""

    scale: npt.NDArray[Any] | None
    shift: npt.NDArray[Any] | None

    def of_powers_of_two(self) -> bool:
        """Whether every factor is a power of two, by which a product is not rounded."""
        import numpy as np

        return self.scale is None or bool((np.abs(np.frexp(self.scale)[0]) == 0.5).all())


@dataclass
class Fold(Rewrite, ABC):
    """A rewrite that makes new weights.

    Attributes:
        budget: Of the bytes it may make.
        exact: Whether only what changes no rounding is folded.
    """

    budget: Budget
    exact: bool

    @abstractmethod
    def fold(self, op: Operation) -> list[Operation] | None:
        """Returns new ops, the last of which takes the place of `op`; None where nothing fits.

        Raises:
            NearMissError: It looks foldable and is not.
        """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if in_kernel(op):
            return
        rule = type(self).__name__
        try:
            new = self.fold(op)
        except NearMissError as miss:
            miss.report(NAME, rule, op)
            return
        if new is not None:
            remarks.passed(NAME, rule, op, f"folded into {new[-1].name}")
            rewriter.replace(op, new)

    def constant(self, array: npt.NDArray[Any], like: SSAValue) -> ConstantOp:
        """Returns a constant of the element type of `like`, rounded once."""
        import numpy as np

        with np.errstate(all="ignore"):
            narrow = array.astype(to_numpy(element_type_of(like)))
        return self.budget.spend(np.ascontiguousarray(narrow))

    def expect_affordable(self, weight: SSAValue) -> None:
        """Checks that a weight may be computed anew.

        Raises:
            NearMissError: It is no constant, others read it, or it is too large.
        """
        if not is_constant(weight):
            raise NearMissError(
                ReasonClass.CONST, "the weight is not a constant", "a value", "a constant"
            )
        if (uses := weight.uses.get_length()) > 1:
            text = "the weight has other users, which need it as it is"
            raise NearMissError(ReasonClass.USE, text, f"{uses} uses", "1 use")
        if not self.budget.allows(weight):
            text = "no bytes are left for new weights (option 'max-bytes')"
            size, left = byte_size(weight.type), self.budget.left
            raise NearMissError(ReasonClass.COST, text, f"{size} bytes", f"at most {left} bytes")
