"""Kernels around attention: what may follow it in the same kernel."""

from __future__ import annotations

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.binary import AddOp
from ge_dialect.ge.dropout import DropoutOp
from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.passes.fusion.conditions import fits_on_chip
from ge_dialect.passes.fusion.match import Match
from ge_dialect.passes.fusion.pattern import KEEP, Any, Equals, Maybe, Node, Pattern, Verdict
from ge_dialect.passes.fusion.rule import Condition, FusionRule
from ge_dialect.remarks import ReasonClass

EPSILON = 1e-5
EPSILON_FIX = "set epsilon to 1e-05 in the model, or register a rule that takes the range you need"


ATTENTION = Node(
    FlashAttentionOp,
    (Any("q"), Any("k"), Any("v")),
    {
        name: KEEP
        for name in FlashAttentionOp.get_irdl_definition().properties
        if name != "operandSegmentSizes"
    },
    name="attention",
)


def merged_heads(attention: Pattern) -> Pattern:
    """The attention, with or without the transpose and reshape that merge its heads."""
    return Maybe(Node(ReshapeOp, (Maybe(Node(TransposeOp, (attention,), {"perm": KEEP})),)))


LAYER_NORM = Node(
    LayerNormOp,
    (merged_heads(ATTENTION),),
    {"axis": KEEP, "epsilon": Equals(EPSILON)},
    name="norm",
)


def dropout_of(operand: Pattern) -> Node:
    """A dropout; the conditions say that it drops nothing."""
    return Node(DropoutOp, (operand,), {"seed": KEEP}, name="dropout")


def _drops_nothing(match: Match) -> Verdict:
    from ge_dialect.ge.constants import constant_scalar

    op = match.named.get("dropout")
    if not isinstance(op, DropoutOp):
        return Verdict(True)
    if op.training_mode is None or constant_scalar(op.training_mode) is False:
        return Verdict(True)
    ratio = 0.5 if op.ratio is None else constant_scalar(op.ratio)
    shown = "not a constant" if ratio is None else f"{ratio:g}"
    return Verdict(ratio == 0, f"ratio {shown} in training", "ratio 0 or training off")


def _mask_is_unused(match: Match) -> Verdict:
    op = match.named.get("dropout")
    unused = not isinstance(op, DropoutOp) or op.mask.first_use is None
    return Verdict(unused, "a used dropout mask", "a mask that nobody reads")


NO_DROPOUT = Condition(
    "dropout ratio = 0",
    ReasonClass.ATTR,
    _drops_nothing,
    "export the model in inference mode, or run ge-eliminate-dropout where it is proved off",
)
FITS = fits_on_chip()
MASK_UNUSED = Condition("dropout mask unused", ReasonClass.USE, _mask_is_unused)

FIXES = (("ge.layer_norm.epsilon", EPSILON_FIX),)

RULES = (
    FusionRule(
        "FlashAttentionLayerNormDropoutAdd",
        "FlashAttentionLayerNormDropoutAddFusion",
        Node(AddOp, (Any("residual"), Maybe(dropout_of(LAYER_NORM))), commutes=True, name="add"),
        conditions=(NO_DROPOUT, MASK_UNUSED, FITS),
        priority=30,
        fixes=FIXES,
    ),
    FusionRule(
        "FlashAttentionLayerNorm",
        "FlashAttentionLayerNormFusion",
        LAYER_NORM,
        conditions=(FITS,),
        priority=20,
        fixes=FIXES,
    ),
    FusionRule(
        "FlashAttentionDropout",
        "FlashAttentionDropoutFusion",
        dropout_of(ATTENTION),
        conditions=(NO_DROPOUT, MASK_UNUSED),
        priority=10,
    ),
)
