"""`ge-optimize-cast`: the precision asked for, and casts where they move the fewest bytes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.passes.canonicalization.cast import CAST_PATTERNS
from ge_dialect.passes.casts.moves import NAME, CastBeforeMoving, DropRoundTrip, MoveOnlyNarrow
from ge_dialect.passes.casts.precision import PrecisionMode, lower_precision
from ge_dialect.passes.driver import Driver


def precision_mode(name: str) -> PrecisionMode:
    """Returns the mode of a name.

    Raises:
        GEError: There is none (GE0412).
    """
    if name not in list(PrecisionMode):
        known = ", ".join(PrecisionMode)
        raise GEError("GE0412", f"expected 'precision' to be one of {known}, got '{name}'")
    return PrecisionMode(name)


@dataclass(frozen=True)
class OptimizeCastPass(ModulePass):
    """Chooses element types and moves casts.

    Options:
    - `precision`: as GE's `precision_mode_v2`: `origin` changes no type, `fp16` computes in f16
      what is of f32, `mixed_float16` and `mixed_bfloat16` only products, convolutions and simple
      ops between them, `cube_fp16in_fp32out` rounds the operands of products and convolutions.
      Default origin.
    - `drop-round-trips`: whether a cast to a narrower float and back goes. Default false.
    """

    name = NAME

    precision: str = PrecisionMode.ORIGIN.value
    drop_round_trips: bool = False

    @property
    def exact(self) -> bool:
        """Whether results stay the same to the bit."""
        return self.precision == PrecisionMode.ORIGIN and not self.drop_round_trips

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower_precision(op, precision_mode(self.precision))
        exact = [pattern() for pattern in CAST_PATTERNS]
        rewrites = [*exact, DropRoundTrip(self.drop_round_trips)]
        moves = [MoveOnlyNarrow(), CastBeforeMoving()]
        # The driver visits the users of what changed, not their users: once more until all stays.
        driver = Driver(NAME, [*rewrites, *moves])
        while driver.run(op):
            pass
