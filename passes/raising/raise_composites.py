"""`ge-raise`: composite ops out of the primitive ops that exporters spell them with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.passes.algebra.common import MASKS, allowed_flags
from ge_dialect.passes.driver import Driver, PatternIndex
from ge_dialect.passes.raising.assumed_masks import AssumeKeptKeys
from ge_dialect.passes.raising.attention import RaiseAttention
from ge_dialect.passes.raising.casts import AbsorbWidening
from ge_dialect.passes.raising.computed_masks import SimplifyComputedMask
from ge_dialect.passes.raising.constant_masks import SimplifyConstantMask
from ge_dialect.passes.raising.einsum import PlainEinsum
from ge_dialect.passes.raising.elu import (
    AbsorbNanTest,
    RaiseCelu,
    RaiseElu,
    RaiseSelu,
    RaiseStableSoftplus,
)
from ge_dialect.passes.raising.gelu import RaiseGelu
from ge_dialect.passes.raising.gemm import PlainGemm
from ge_dialect.passes.raising.group_norm import RaiseGroupNorm
from ge_dialect.passes.raising.grouped_heads import AbsorbGroupedHeads
from ge_dialect.passes.raising.hard import RaiseHardSigmoid, RaiseHardSwish
from ge_dialect.passes.raising.layer_norm import RaiseLayerNorm
from ge_dialect.passes.raising.masked_softmax import RaiseMaskedSoftmax
from ge_dialect.passes.raising.match import NAME, Raise
from ge_dialect.passes.raising.normalization import AbsorbBias, AbsorbScale
from ge_dialect.passes.raising.quantized import RaiseQuantizedProduct
from ge_dialect.passes.raising.queries import AbsorbScales, SpreadGroupedQueries
from ge_dialect.passes.raising.rms_norm import AbsorbCasts, RaiseRMSNorm
from ge_dialect.passes.raising.rotary import (
    AbsorbRestOfFeatures,
    RaiseRotary,
    RaiseRotaryParts,
)
from ge_dialect.passes.raising.scaled_rows import ScaleRows
from ge_dialect.passes.raising.shared_weights import JoinValues
from ge_dialect.passes.raising.silu import RaiseSilu
from ge_dialect.passes.raising.softmax import AbsorbMaximum, RaiseLogSoftmax, RaiseSoftmax
from ge_dialect.passes.raising.softplus import RaiseSoftplus

_CLASSES: tuple[type[Raise], ...] = (
    RaiseLayerNorm,
    RaiseRMSNorm,
    AbsorbCasts,
    AbsorbScale,
    AbsorbBias,
    RaiseGelu,
    RaiseSilu,
    JoinValues,
    ScaleRows,
    RaiseAttention,
    AbsorbGroupedHeads,
    AbsorbWidening,
    AbsorbScales,
    SpreadGroupedQueries,
    AssumeKeptKeys,
    SimplifyConstantMask,
    SimplifyComputedMask,
    RaiseGroupNorm,
    RaiseRotary,
    RaiseRotaryParts,
    AbsorbRestOfFeatures,
    RaiseSoftmax,
    RaiseLogSoftmax,
    RaiseMaskedSoftmax,
    AbsorbMaximum,
    RaiseHardSwish,
    RaiseHardSigmoid,
    RaiseSoftplus,
    RaiseStableSoftplus,
    AbsorbNanTest,
    RaiseElu,
    RaiseSelu,
    RaiseCelu,
    PlainGemm,
    PlainEinsum,
    RaiseQuantizedProduct,
)

_ALWAYS = tuple(pattern for pattern in _CLASSES if pattern is not AssumeKeptKeys)

COMPOSITES: tuple[str, ...] = tuple(dict.fromkeys(pattern.composite for pattern in _CLASSES))
"""What the option of the pass may name."""


def raising_patterns(
    composites: Sequence[str] = (), fast_math: Sequence[str] = ()
) -> Sequence[Raise]:
    """Returns the patterns of some composites, of all where none is named.

    Args:
        composites: Some of `COMPOSITES`.
        fast_math: What results may differ in; of the flags, `masks` counts here.

    Raises:
        GEError: A name (GE0410) or a flag (GE0412) is unknown.
    """
    classes = _CLASSES if MASKS in allowed_flags(fast_math) else _ALWAYS
    for name in composites:
        if name not in COMPOSITES:
            raise GEError(
                "GE0410",
                f"expected 'composites' to be some of {', '.join(COMPOSITES)}, got '{name}'",
            )
    return [pattern() for pattern in classes if not composites or pattern.composite in composites]


@dataclass(frozen=True)
class RaisePass(ModulePass):
    """Finds attention, norms and activations in every exporter's spelling.

    Each is the same formula, so that only roundings between its steps differ. What has the
    structure and still does not fit leaves a remark with the reason.

    Options:
    - `composites`: which to raise, by name. Default all.
    - `fast-math`: what results may differ in, as in `ge-simplify-algebra`; `masks` counts here:
      every query keeps a key, and scores are finite. Default nothing.
    """

    name = NAME

    composites: tuple[str, ...] = ()
    fast_math: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Driver(NAME, _index(tuple(self.composites), tuple(self.fast_math))).run(op)


@lru_cache(maxsize=16)
def _index(composites: tuple[str, ...], fast_math: tuple[str, ...]) -> PatternIndex:
    return PatternIndex(raising_patterns(composites, fast_math))
