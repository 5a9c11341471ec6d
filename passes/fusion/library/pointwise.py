"""Kernels of a few ops on single elements or rows: gates, sums, masked softmax, reductions."""

from __future__ import annotations

from ge_dialect.ge.activations import GeluOp, ReluOp, SiluOp
from ge_dialect.ge.binary import AddOp, MulOp
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.reductions import ReduceMeanOp, ReduceSumOp, SoftmaxOp
from ge_dialect.passes.fusion.conditions import fits_on_chip
from ge_dialect.passes.fusion.library.parts import either_order, part
from ge_dialect.passes.fusion.pattern import Any, Maybe, Weight
from ge_dialect.passes.fusion.rule import FusionRule

FITS = fits_on_chip()
SCALED = either_order(MulOp, Any("scores"), Weight("scale"), "scaled")
MASKED = either_order(AddOp, Maybe(SCALED), Any("mask"), "masked")
PRODUCT = either_order(MulOp, Any("a"), Any("b"), "product")

_T = "tensor<4x4xf32>"

RULES = (
    FusionRule(
        "MaskedSoftmaxWithRelPosBias",
        "MaskedSoftmaxWithRelPosBias",
        part(SoftmaxOp, either_order(AddOp, MASKED, Any("bias"))),
        conditions=(FITS,),
        priority=-151,
    ),
    FusionRule(
        "ScaledMaskedSoftmax",
        "ScaledMaskedSoftmaxV2",
        part(SoftmaxOp, MASKED),
        conditions=(FITS,),
        priority=-152,
    ),
    FusionRule(
        "MaskedSoftmax",
        "MaskedSoftmax",
        part(SoftmaxOp, part(SelectOp, Any("mask"), Any("a"), Any("b"))),
        conditions=(FITS,),
        priority=-153,
        example="""
func.func @main(%m: tensor<4x4xi1>, %x: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = ge.select %m, %x, %z
    : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = ge.softmax %s axis -1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}
""",
    ),
    FusionRule(
        "ScaledSoftmax",
        "ScaledSoftmax",
        part(SoftmaxOp, SCALED),
        conditions=(FITS,),
        priority=-154,
    ),
    FusionRule(
        "SwiGlu",
        "SwiGlu",
        either_order(MulOp, part(SiluOp, Any("gate")), Any("up")),
        priority=-155,
        targets=("Ascend910B",),
    ),
    FusionRule(
        "GeGluV2",
        "GeGluV2",
        either_order(MulOp, part(GeluOp, Any("gate")), Any("up")),
        priority=-156,
        targets=("Ascend910B",),
        example=f"""
func.func @main(%x: {_T}, %z: {_T}) -> {_T} {{
  %g = ge.gelu %x approximate "tanh" : ({_T}) -> {_T}
  %y = ge.mul %g, %z : ({_T}, {_T}) -> {_T}
  func.return %y : {_T}
}}
""",
    ),
    FusionRule(
        "CastReluCast",
        "CastReluCast",
        part(CastOp, part(ReluOp, part(CastOp, Any("x")))),
        priority=-157,
    ),
    FusionRule(
        "TbeReduceElemwise",
        "ReduceElemwise",
        part(ReduceSumOp, PRODUCT),
        alternatives=(part(ReduceMeanOp, PRODUCT),),
        conditions=(FITS,),
        priority=-158,
        on_chip=True,
        example=f"""
func.func @main(%x: {_T}, %z: {_T}) -> tensor<4x1xf32> {{
  %p = ge.mul %x, %z : ({_T}, {_T}) -> {_T}
  %y = ge.reduce_sum %p axes [1] keepdims true : ({_T}) -> tensor<4x1xf32>
  func.return %y : tensor<4x1xf32>
}}
""",
    ),
    FusionRule(
        "TbeEltwise",
        "EltwiseRelu",
        part(ReluOp, either_order(AddOp, Any("a"), Any("b"))),
        priority=-159,
        on_chip=True,
    ),
    FusionRule(
        "MulAddN",
        "FusedMulAdd",
        either_order(AddOp, PRODUCT, Any("c")),
        priority=-186,
        aliases=("MulAddNPass",),
        precision="the product is rounded before the sum: no fused multiply-add",
    ),
    FusionRule(
        "AddN",
        "AddN",
        either_order(AddOp, either_order(AddOp, Any("a"), Any("b")), Any("c")),
        priority=-187,
    ),
    FusionRule(
        "ReshapeTranspose",
        "ConfusionTransposeD",
        part(TransposeOp, part(ReshapeOp, part(TransposeOp, Any("x")))),
        priority=-188,
        aliases=("TransposeReshape", "ZZConfusionTransposeNd"),
        example="""
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<4x6xf32> {
  %t = ge.transpose %x perm [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %r = ge.reshape %t : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
  %y = ge.transpose %r perm [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}
""",
    ),
)
