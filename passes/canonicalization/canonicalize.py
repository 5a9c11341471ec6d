"""`ge-canonicalize`: one spelling for what is the same, to the bit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.passes.canonicalization.axes import AXES_PATTERNS
from ge_dialect.passes.canonicalization.cast import CAST_PATTERNS
from ge_dialect.passes.canonicalization.comparison import COMPARISON_PATTERNS
from ge_dialect.passes.canonicalization.cuts import CUTS_PATTERNS
from ge_dialect.passes.canonicalization.elementwise import ELEMENTWISE_PATTERNS
from ge_dialect.passes.canonicalization.epsilon import remark_small_epsilons
from ge_dialect.passes.canonicalization.filled import FILLED_PATTERNS
from ge_dialect.passes.canonicalization.gather import GATHER_PATTERNS
from ge_dialect.passes.canonicalization.grid_comparisons import GRID_COMPARISON_PATTERNS
from ge_dialect.passes.canonicalization.host import HOST_PATTERNS
from ge_dialect.passes.canonicalization.index_grids import GRID_PATTERNS
from ge_dialect.passes.canonicalization.pieces import PIECES_PATTERNS
from ge_dialect.passes.canonicalization.quantization import QUANTIZATION_PATTERNS
from ge_dialect.passes.canonicalization.reshape import RESHAPE_PATTERNS
from ge_dialect.passes.canonicalization.rotary import ROTARY_PATTERNS
from ge_dialect.passes.canonicalization.rows import ROWS_PATTERNS
from ge_dialect.passes.canonicalization.scatter import SCATTER_PATTERNS
from ge_dialect.passes.canonicalization.select import SELECT_PATTERNS
from ge_dialect.passes.canonicalization.transpose import TRANSPOSE_PATTERNS
from ge_dialect.passes.canonicalization.unbound import UNBOUND_PATTERNS
from ge_dialect.passes.canonicalization.widening import WIDENING_PATTERNS
from ge_dialect.passes.driver import Driver, PatternIndex, Rewrite

NAME = "ge-canonicalize"

_CLASSES: tuple[type[Rewrite], ...] = (
    *RESHAPE_PATTERNS,
    *TRANSPOSE_PATTERNS,
    *CAST_PATTERNS,
    *PIECES_PATTERNS,
    *ELEMENTWISE_PATTERNS,
    *COMPARISON_PATTERNS,
    *SELECT_PATTERNS,
    *QUANTIZATION_PATTERNS,
    *GATHER_PATTERNS,
    *GRID_PATTERNS,
    *GRID_COMPARISON_PATTERNS,
    *FILLED_PATTERNS,
    *AXES_PATTERNS,
    *CUTS_PATTERNS,
    *UNBOUND_PATTERNS,
    *ROTARY_PATTERNS,
    *ROWS_PATTERNS,
    *SCATTER_PATTERNS,
    *WIDENING_PATTERNS,
    *HOST_PATTERNS,
)


@cache
def canonical_patterns() -> PatternIndex:
    """Returns the patterns of the pass, in order of preference among equal benefits."""
    return PatternIndex([pattern() for pattern in _CLASSES])


@dataclass(frozen=True)
class CanonicalizePass(ModulePass):
    """Drops ops that change nothing and merges ops that one op can do, exactly.

    Unused pure ops go on the way. No rule changes a rounding, an infinity, a NaN or a signed zero.
    """

    name = NAME
    exact = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # The driver visits the users of what changed, not their users: once more until all stays.
        driver = Driver(NAME, canonical_patterns())
        while driver.run(op):
            pass
        remark_small_epsilons(op, NAME)
