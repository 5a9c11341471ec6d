"""Kernels around attention that GE's library has: its layouts, rotation, residual, quantisation
and the cache of keys and values."""

from __future__ import annotations

from ge_dialect.ge.attention import FlashAttentionOp, RotaryEmbeddingOp
from ge_dialect.ge.binary import AddOp
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.quantization import QuantizeLinearOp
from ge_dialect.passes.fusion.conditions import fits_on_chip
from ge_dialect.passes.fusion.library.attention import ATTENTION, merged_heads
from ge_dialect.passes.fusion.library.parts import either_order, part
from ge_dialect.passes.fusion.pattern import Any, Pattern
from ge_dialect.passes.fusion.rule import FusionRule

FITS = fits_on_chip()
SPLIT = part(TransposeOp, part(ReshapeOp, Any("x")), name="split")
MERGED = part(ReshapeOp, part(TransposeOp, ATTENTION), name="merged")

_A = "tensor<1x2x4x4xf32>"
_FA = f"%a = ge.flash_attention %q, %q, %q scale 0.5 : ({_A}, {_A}, {_A}) -> {_A}\n"
_MERGE = f"""  %t = ge.transpose %a perm [0, 2, 1, 3] : ({_A}) -> tensor<1x4x2x4xf32>
  %m = ge.reshape %t : (tensor<1x4x2x4xf32>) -> tensor<1x4x8xf32>
"""


def cached(name: str, past: str, new: str) -> Pattern:
    """Keys or values: those of the cache, then the new ones."""
    return part(ConcatOp, Any(past), Any(new), name=name)


RULES = (
    FusionRule(
        "IncreFlashAttention",
        "IncreFlashAttention",
        part(
            FlashAttentionOp,
            Any("q"),
            cached("keys", "past_k", "k"),
            cached("values", "past_v", "v"),
            name="attention",
        ),
        conditions=(FITS,),
        outputs=("keys", "values"),
        priority=-161,
        example=f"""
func.func @main(%q: tensor<1x2x1x4xf32>, %p: {_A}, %k: tensor<1x2x1x4xf32>)
    -> (tensor<1x2x1x4xf32>, tensor<1x2x5x4xf32>) {{
  %c = ge.concat %p, %k axis 2 : ({_A}, tensor<1x2x1x4xf32>) -> tensor<1x2x5x4xf32>
  %d = ge.concat %p, %q axis 2 : ({_A}, tensor<1x2x1x4xf32>) -> tensor<1x2x5x4xf32>
  %y = ge.flash_attention %q, %c, %d scale 0.5
    : (tensor<1x2x1x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x1x4xf32>
  func.return %y, %c : tensor<1x2x1x4xf32>, tensor<1x2x5x4xf32>
}}
""",
    ),
    FusionRule(
        "PromptFlashAttentionQuant",
        "PromptFlashAttentionQuant",
        part(QuantizeLinearOp, merged_heads(ATTENTION)),
        conditions=(FITS,),
        priority=-162,
        example=f"""
func.func @main(%q: {_A}, %s: tensor<f32>, %p: tensor<i8>) -> tensor<1x4x8xi8> {{
  {_FA}{_MERGE}  %y = ge.quantize_linear %m, %s zero_point %p axis 1 block_size 0
    : (tensor<1x4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x8xi8>
  func.return %y : tensor<1x4x8xi8>
}}
""",
    ),
    FusionRule(
        "FlashAttentionProjection",
        "FlashAttentionMatMul",
        part(MatmulOp, MERGED, Any("w"), name="projection"),
        conditions=(FITS,),
        priority=-163,
        on_chip=True,
        example=f"""
func.func @main(%q: {_A}, %w: tensor<8x4xf32>) -> tensor<1x4x4xf32> {{
  {_FA}{_MERGE}  %y = ge.matmul %m, %w : (tensor<1x4x8xf32>, tensor<8x4xf32>) -> tensor<1x4x4xf32>
  func.return %y : tensor<1x4x4xf32>
}}
""",
    ),
    FusionRule(
        "FlashAttentionAdd",
        "FlashAttentionAdd",
        either_order(AddOp, merged_heads(ATTENTION), Any("residual")),
        conditions=(FITS,),
        priority=-189,
        on_chip=True,
    ),
    FusionRule(
        "FlashAttentionTranspose",
        "FlashAttentionScoreBSH",
        MERGED,
        conditions=(FITS,),
        priority=-193,
        example=f"""
func.func @main(%q: {_A}) -> tensor<1x4x8xf32> {{
  {_FA}{_MERGE}  func.return %m : tensor<1x4x8xf32>
}}
""",
    ),
    FusionRule(
        "RotaryMul2RotaryPositionEmbedding",
        "RotaryPositionEmbeddingBSH",
        part(RotaryEmbeddingOp, SPLIT, name="rotary"),
        conditions=(FITS,),
        priority=-164,
        targets=("Ascend910B",),
        example="""
func.func @main(%x: tensor<1x4x8xf32>, %c: tensor<1x4x2xf32>, %s: tensor<1x4x2xf32>)
    -> tensor<1x2x4x4xf32> {
  %r = ge.reshape %x : (tensor<1x4x8xf32>) -> tensor<1x4x2x4xf32>
  %t = ge.transpose %r perm [0, 2, 1, 3] : (tensor<1x4x2x4xf32>) -> tensor<1x2x4x4xf32>
  %y = ge.rotary_embedding %t, %c, %s num_heads 2 rotary_dim 0
    : (tensor<1x2x4x4xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>) -> tensor<1x2x4x4xf32>
  func.return %y : tensor<1x2x4x4xf32>
}
""",
    ),
)
