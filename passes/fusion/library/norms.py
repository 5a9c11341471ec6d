"""Kernels around norms: a sum before, a quantisation, cast or activation behind."""

from __future__ import annotations

from ge_dialect.ge.activations import SiluOp
from ge_dialect.ge.binary import AddOp, DivOp, MulOp
from ge_dialect.ge.channel_normalization import GroupNormOp
from ge_dialect.ge.elementwise import CastOp, ClipOp
from ge_dialect.ge.indexing import GatherOp
from ge_dialect.ge.normalization import LayerNormOp, RMSNormOp
from ge_dialect.ge.quantization import QuantizeLinearOp
from ge_dialect.ge.reductions import ReduceMaxOp
from ge_dialect.ge.unary import AbsOp, RoundOp
from ge_dialect.passes.fusion.conditions import fits_on_chip, same_shape
from ge_dialect.passes.fusion.library.parts import LIBRARY_910B, either_order, part
from ge_dialect.passes.fusion.pattern import Any, Maybe, OneOf
from ge_dialect.passes.fusion.rule import FusionRule

SUM = either_order(AddOp, Any("a"), Any("b"), "sum")
FITS = fits_on_chip()
ALIKE = (same_shape("a", "b"), FITS)

ADD_RMS_NORM = part(RMSNormOp, SUM, name="norm")
ADD_LAYER_NORM = part(LayerNormOp, SUM, name="norm")
EMBEDDING = either_order(AddOp, part(GatherOp, Any("table"), Any("ids")), Any("position"), "sum")

# Of each row: the scale makes its largest magnitude the last step.
LARGEST = part(ReduceMaxOp, part(AbsOp, ADD_RMS_NORM))
SCALE = OneOf(
    (
        part(DivOp, LARGEST, Any("steps"), name="scale"),
        either_order(MulOp, LARGEST, Any("step"), "scale"),
    )
)
STEPS = part(RoundOp, part(DivOp, ADD_RMS_NORM, SCALE))

_QUANT = """
func.func @main(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>, %s: tensor<f32>, %p: tensor<i8>)
    -> tensor<4x8xi8> {{
  {body}
  %q = ge.quantize_linear %n, %s zero_point %p axis 1 block_size 0
    : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  func.return %q : tensor<4x8xi8>
}}
"""
_T = "(tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>"
_ADD = f"%a = ge.add %x, %z : {_T}\n"
_RMS = "%n = ge.rms_norm {x} axis -1 epsilon 1.0e-05 : (tensor<4x8xf32>) -> tensor<4x8xf32>"
_NORM = "%n = ge.layer_norm {x} axis -1 epsilon 1.0e-05 : tensor<4x8xf32> -> tensor<4x8xf32>"

RULES = (
    FusionRule(
        "AddRmsNormDynamicQuant",
        "AddRmsNormDynamicQuant",
        part(CastOp, Maybe(part(ClipOp, STEPS))),
        conditions=ALIKE,
        outputs=("sum", "scale"),
        priority=-131,
        targets=LIBRARY_910B,
        example="""
func.func @main(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xi8> {
  %c = ge.constant dense<127.0> : tensor<f32>
  %a = ge.add %x, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = ge.rms_norm %a axis -1 epsilon 1.0e-05 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = ge.abs %n : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %l = ge.reduce_max %m axes [-1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %s = ge.div %l, %c : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %d = ge.div %n, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %r = ge.round %d : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = ge.cast %r : (tensor<4x8xf32>) -> tensor<4x8xi8>
  func.return %q : tensor<4x8xi8>
}
""",
    ),
    FusionRule(
        "AddRmsNormQuant",
        "AddRmsNormQuant",
        part(QuantizeLinearOp, ADD_RMS_NORM),
        conditions=ALIKE,
        outputs=("sum",),
        priority=-132,
        targets=LIBRARY_910B,
        example=_QUANT.format(body=_ADD + _RMS.format(x="%a")),
    ),
    FusionRule(
        "QuantizeAddLayerNorm",
        "AddLayerNormQuant",
        part(QuantizeLinearOp, ADD_LAYER_NORM),
        conditions=ALIKE,
        outputs=("sum",),
        priority=-133,
        targets=LIBRARY_910B,
        example=_QUANT.format(body=_ADD + _NORM.format(x="%a")),
    ),
    FusionRule(
        "AddRmsNormCast",
        "AddRmsNormCast",
        part(CastOp, ADD_RMS_NORM),
        conditions=ALIKE,
        outputs=("sum", "norm"),
        priority=-134,
        targets=LIBRARY_910B,
    ),
    FusionRule(
        "RmsNormQuant",
        "RmsNormQuant",
        part(QuantizeLinearOp, part(RMSNormOp, Any("x"))),
        conditions=(FITS,),
        priority=-137,
        targets=LIBRARY_910B,
        example=_QUANT.format(body=_RMS.format(x="%x")),
    ),
    FusionRule(
        "GatherAddLayerNorm",
        "GatherAddLayerNorm",
        part(LayerNormOp, EMBEDDING, name="norm"),
        conditions=(FITS,),
        outputs=("sum",),
        priority=-138,
        on_chip=True,
        example="""
func.func @main(%t: tensor<16x8xf32>, %i: tensor<4xi64>, %p: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %g = ge.gather %t, %i axis 0 : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %a = ge.add %g, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = ge.layer_norm %a axis -1 epsilon 1.0e-05 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return %n : tensor<4x8xf32>
}
""",
    ),
    FusionRule(
        "AddRmsNorm",
        "AddRmsNorm",
        ADD_RMS_NORM,
        conditions=ALIKE,
        outputs=("sum",),
        priority=-148,
        targets=LIBRARY_910B,
        aliases=("AddRmsNormFusionGraphPass",),
    ),
    FusionRule(
        "AddLayerNorm",
        "AddLayerNorm",
        ADD_LAYER_NORM,
        conditions=ALIKE,
        outputs=("sum",),
        priority=-149,
        targets=LIBRARY_910B,
        precision="no rounding of the sum between the ops",
    ),
    FusionRule(
        "GroupNormSilu",
        "GroupNormSilu",
        part(SiluOp, part(GroupNormOp, Any("x"), name="norm")),
        conditions=(FITS,),
        priority=-150,
        example="""
func.func @main(%x: tensor<2x4x3xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x4x3xf32> {
  %n = ge.group_norm %x, %s, %b num_groups 2 epsilon 1.0e-05
    : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  %y = ge.silu %n : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  func.return %y : tensor<2x4x3xf32>
}
""",
    ),
)
