"""All masks of an attention in one: truth values where that is exact, else a sum."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from xdsl.ir import Attribute, SSAValue

from ge_dialect.ge.base import float_attr
from ge_dialect.ge.binary import AddOp, AndOp, MulOp
from ge_dialect.ge.constants import float_constant
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.types import Shape, element_type_of, value_shape
from ge_dialect.ge.unary import LogicalNotOp
from ge_dialect.passes.canonicalization.operands import uniform_value
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.attention_scores import Mask, MaskKind
from ge_dialect.passes.raising.heads import Chain, mask_to_heads
from ge_dialect.remarks import ReasonClass


def as_truth(mask: Mask) -> Mask:
    """Returns an added `select(c, 0, -inf)` as the mask that keeps what c says; others unchanged.

    Exact: a finite score plus 0 is the score, and plus minus infinity it is that; a factor greater
    than 0 changes neither.
    """
    op = mask.value.owner
    if mask.kind is not MaskKind.ADD or not isinstance(op, SelectOp) or mask.factor <= 0:
        return mask
    choice = uniform_value(op.on_true), uniform_value(op.on_false)
    if choice not in ((0, -inf), (-inf, 0)) or value_shape(op.condition) != value_shape(op.result):
        return mask
    kind = MaskKind.KEEP if choice[0] == 0 else MaskKind.DROP
    return Mask(kind, op.condition, mask.lead)


def common_fill(masks: Sequence[Mask]) -> float | None:
    """Returns what masks put in the place of scores, where they do nothing else; None where a
    number is added, or takes the place of another: then a sum says the same."""
    fills = {mask.fill for mask in masks if mask.kind is not MaskKind.ADD}
    if len(fills) != 1 or any(mask.kind is MaskKind.ADD for mask in masks):
        return None
    (fill,) = fills
    return fill if fill == -inf or not masks[0].absorbs else None


def expect_fills(masks: Sequence[Mask]) -> None:
    """Checks that one op can say what takes the place of scores.

    Raises:
        NearMissError: It is a number that scores may come up to, and there are other masks.
    """
    kept = [mask for mask in masks if mask.kind is not MaskKind.ADD and not mask.absorbs]
    if kept and (common_fill(masks) is None or float_attr(kept[0].fill).value.data != kept[0].fill):
        text = "masked scores are not minus infinity"
        raise NearMissError(ReasonClass.CONST, text, kept[0].fill, "-inf")


def combined_mask(
    chain: Chain, masks: Sequence[Mask], heads: Shape, element_type: Attribute
) -> SSAValue | None:
    """Returns one mask for scores `[B, H, S, T]`, or None where there is none.

    Args:
        chain: Where new ops go.
        masks: In the order in which they apply.
        heads: B and H.
        element_type: Of a sum of masks.
    """
    masks = [as_truth(mask) for mask in masks]
    truths = common_fill(masks) is not None
    whole: SSAValue | None = None
    for mask in masks:
        value = mask_to_heads(chain, mask.value, mask.lead, heads)
        value = _truth(chain, mask, value) if truths else _added(chain, mask, value, element_type)
        join = AndOp if truths else AddOp
        whole = value if whole is None else chain.add(join(whole, value))
    return whole


def _truth(chain: Chain, mask: Mask, value: SSAValue) -> SSAValue:
    return chain.add(LogicalNotOp(value)) if mask.kind is MaskKind.DROP else value


def _added(chain: Chain, mask: Mask, value: SSAValue, element_type: Attribute) -> SSAValue:
    if mask.kind is MaskKind.ADD:
        if mask.factor_type is not None:
            value = _cast(chain, value, mask.factor_type)
            factor = chain.add(float_constant(mask.factor, mask.factor_type))
            value = chain.add(MulOp(value, factor))
        return _cast(chain, value, element_type)
    zero = chain.add(float_constant(0.0, element_type))
    fill = chain.add(float_constant(mask.fill, element_type))
    keep = mask.kind is MaskKind.KEEP
    return chain.add(SelectOp(value, zero if keep else fill, fill if keep else zero))


def _cast(chain: Chain, value: SSAValue, element_type: Attribute) -> SSAValue:
    same = element_type_of(value) == element_type
    return value if same else chain.add(CastOp(value, element_type))
