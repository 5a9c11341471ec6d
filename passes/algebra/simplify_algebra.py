"""`ge-simplify-algebra`: fewer and cheaper ops by rules of algebra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.passes.algebra.cancelling import CANCELLING_RULES
from ge_dialect.passes.algebra.common import MASKS, NAME, Simplify, allowed_flags
from ge_dialect.passes.algebra.fast_math import FAST_RULES
from ge_dialect.passes.algebra.floats import EXACT_RULES
from ge_dialect.passes.algebra.integers import INTEGER_RULES
from ge_dialect.passes.algebra.pieces import PIECE_RULES, UndoConcat
from ge_dialect.passes.algebra.truth import TRUTH_RULES
from ge_dialect.passes.driver import Driver, PatternIndex, Rewrite

RULES: tuple[type[Simplify], ...] = (
    *EXACT_RULES,
    *INTEGER_RULES,
    *TRUTH_RULES,
    *PIECE_RULES,
    *CANCELLING_RULES,
    *FAST_RULES,
)
"""All rules in order of preference; what is exact comes before what is not."""


def algebra_rules(fast_math: Sequence[str] = (), told: bool = True) -> Sequence[Rewrite]:
    """Returns the rules with what the user allows.

    Args:
        fast_math: Some of `FLAGS`, or `all`.
        told: Whether somebody hears of what is not allowed; else rules that are not are left out.

    Raises:
        GEError: A flag is unknown (GE0412).
    """
    allowed = allowed_flags(fast_math)
    rules = [rule(allowed) for rule in RULES if told or rule.may_apply(allowed)]
    return [*rules, UndoConcat()]


@dataclass(frozen=True)
class SimplifyAlgebraPass(ModulePass):
    """Applies rules of algebra: those that are exact to the bit always, others where allowed.

    Options:
    - `fast-math`: what results may differ in; some of `reassociate`, `no-nans`, `no-infs`,
      `no-signed-zeros`, `reciprocal`, `contract`, or `all`. Default nothing. `masks`, which
      `ge-raise` knows, allows nothing here.
    """

    name = NAME

    fast_math: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether results stay the same to the bit."""
        return not set(self.fast_math) - {MASKS}

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        driver = Driver(NAME, _index(tuple(self.fast_math), remarks.listening()))
        # The driver visits the users of what changed, not their users: once more until all stays.
        while driver.run(op):
            pass


@lru_cache(maxsize=16)
def _index(fast_math: tuple[str, ...], told: bool) -> PatternIndex:
    return PatternIndex(algebra_rules(fast_math, told))
