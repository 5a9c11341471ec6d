"""Composites between casts: they compute in f32 and round once by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.ge.activations import GeluOp, HardSwishOp, MishOp, QuickGeluOp, SiluOp
from ge_dialect.ge.attention import FlashAttentionOp, RotaryEmbeddingOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.dtypes import is_float
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.normalization import LayerNormOp, RMSNormOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.passes.canonicalization.cast import keeps_every_value
from ge_dialect.passes.raising.match import Found, Raise

_Composite = (
    FlashAttentionOp
    | GeluOp
    | HardSwishOp
    | LayerNormOp
    | MishOp
    | QuickGeluOp
    | RMSNormOp
    | RotaryEmbeddingOp
    | SiluOp
)


@dataclass
class _Narrow(Found):
    """A composite of f32 whose operands were of another type before."""

    composite: GEOp
    operands: Sequence[SSAValue]

    def build(self) -> list[Operation]:
        new = self.composite.clone()
        new.operands = self.operands
        new.refine_types()
        return [new]


class AbsorbWidening(Raise):
    """`cast(f(cast(x), cast(y)))` -> `f(x, y)`, with x and y narrower than f32, which f is of.

    Exact: the composite computes in f32 and rounds once, just as the casts do. For attention, the
    norms with all their parameters, rotary embedding, and the activations that this pass finds.
    """

    roots = (CastOp,)
    composite: ClassVar = "casts"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, CastOp)
        inner, narrow = op.input.owner, element_type_of(op.result)
        if not isinstance(inner, _Composite) or not _computes_in_f32(inner):
            return None
        if narrow == f32 or not keeps_every_value(narrow, f32):
            return None
        free = (inner.mask, inner.sink) if isinstance(inner, FlashAttentionOp) else ()
        before = [
            _before_cast(operand, narrow, operand in free or not is_float(element_type_of(operand)))
            for operand in inner.operands
        ]
        operands = [value for value in before if value is not None]
        if len(operands) != len(before):
            return None
        feeders = [
            cast
            for cast, value in zip(inner.operands, operands, strict=True)
            if cast is not value and isinstance(cast.owner, Operation)
        ]
        owners = dict.fromkeys(value.owner for value in feeders)
        casts = [owner for owner in owners if isinstance(owner, CastOp)]
        return _Narrow(inner, operands, ops=[op, inner], feeders=[*casts])


def _computes_in_f32(op: GEOp) -> bool:
    if isinstance(op, FlashAttentionOp) and op.accumulate != f32:
        return False
    return element_type_of(op.results[0]) == f32


def _before_cast(value: SSAValue, narrow: Attribute, free: bool) -> SSAValue | None:
    """Returns what was cast to `value`, of type `narrow`; a free operand may be of any type."""
    cast = value.owner
    if isinstance(cast, CastOp) and element_type_of(cast.input) == narrow:
        return cast.input
    return value if free else None
