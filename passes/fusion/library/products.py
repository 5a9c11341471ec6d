"""Kernels around matrix products: operands that are transposed, what is done with the result."""

from __future__ import annotations

from ge_dialect.ge.activations import GeluOp, SiluOp
from ge_dialect.ge.binary import AddOp, MulOp
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.reductions import ReduceSumOp
from ge_dialect.passes.fusion.conditions import fits_on_chip
from ge_dialect.passes.fusion.library.parts import activated, either_order, part
from ge_dialect.passes.fusion.pattern import Any, Maybe, Node, OneOf, Pattern, Weight
from ge_dialect.passes.fusion.rule import FusionRule

FITS = fits_on_chip()
PRODUCT = part(MatmulOp, Any("x"), Any("w"), name="product")
GATE = part(MatmulOp, Any("x"), Any("gate"), name="gate_product")
UP = part(MatmulOp, Any("x"), Any("up"), name="up_product")


def biased(product: Pattern, name: str = "bias_add") -> Node:
    """A product plus a vector that is a weight."""
    return either_order(AddOp, product, Weight("bias"), name)


def gated(function: type[SiluOp | GeluOp]) -> Node:
    """`function(x * gate) * (x * up)`, the two factors in either order."""
    return either_order(MulOp, part(function, Maybe(biased(GATE))), UP)


FFN_INNER = OneOf(activated(Maybe(biased(PRODUCT))))
PROJECTED = part(MatmulOp, FFN_INNER, Any("w2"), name="second")

_T = "tensor<4x4xf32>"

RULES = (
    FusionRule(
        "FFN",
        "FFN",
        PROJECTED,
        conditions=(FITS,),
        priority=-110,
    ),
    FusionRule("MatMulSwiGlu", "MatMulSwiGlu", gated(SiluOp), conditions=(FITS,), priority=-115),
    FusionRule(
        "MatMulGeGlu",
        "MatMulGeGluV2",
        gated(GeluOp),
        conditions=(FITS,),
        priority=-116,
        example=f"""
func.func @main(%x: {_T}, %g: {_T}, %u: {_T}) -> {_T} {{
  %a = ge.matmul %x, %g : ({_T}, {_T}) -> {_T}
  %b = ge.gelu %a approximate "none" : ({_T}) -> {_T}
  %c = ge.matmul %x, %u : ({_T}, {_T}) -> {_T}
  %y = ge.mul %b, %c : ({_T}, {_T}) -> {_T}
  func.return %y : {_T}
}}
""",
    ),
    FusionRule(
        "MatMulBiasAddResidual",
        "MatMulBiasAddElemwise",
        either_order(AddOp, biased(PRODUCT), Any("residual")),
        conditions=(FITS,),
        priority=-117,
        on_chip=True,
    ),
    FusionRule(
        "ATbeMatMulElemwise",
        "MatMulElemwise",
        activated(biased(PRODUCT))[0],
        alternatives=(*activated(biased(PRODUCT))[1:], *activated(PRODUCT)),
        conditions=(FITS,),
        priority=-118,
        on_chip=True,
    ),
    FusionRule(
        "MatMulBiasAdd", "MatMulBiasAdd", biased(PRODUCT), conditions=(FITS,), priority=-119
    ),
    FusionRule(
        "TbeBatchMatmulElementWise",
        "BatchMatMulElementWise",
        either_order(AddOp, PRODUCT, Any("residual")),
        conditions=(FITS,),
        priority=-120,
        on_chip=True,
    ),
    FusionRule(
        "TbeFullyconnectionElemwise",
        "FullyConnectionElemwise",
        activated(part(GemmOp, Any("x"), Any("w")))[0],
        alternatives=activated(part(GemmOp, Any("x"), Any("w")))[1:],
        conditions=(FITS,),
        priority=-121,
        on_chip=True,
    ),
    FusionRule(
        "MatmulConfusiontransposeUb",
        "MatmulConfusionTranspose",
        part(TransposeOp, part(ReshapeOp, PRODUCT)),
        conditions=(FITS,),
        priority=-122,
        on_chip=True,
        aliases=("MatmulReshapeTranspose",),
        example="""
func.func @main(%x: tensor<3x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x3x2xf32> {
  %p = ge.matmul %x, %w : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %r = ge.reshape %p : (tensor<3x4xf32>) -> tensor<3x2x2xf32>
  %t = ge.transpose %r perm [1, 0, 2] : (tensor<3x2x2xf32>) -> tensor<2x3x2xf32>
  func.return %t : tensor<2x3x2xf32>
}
""",
    ),
    FusionRule(
        "MatmulReduceSumUb",
        "MatmulReduceSum",
        part(ReduceSumOp, PRODUCT),
        conditions=(FITS,),
        priority=-123,
        on_chip=True,
        example=f"""
func.func @main(%x: {_T}, %w: {_T}) -> tensor<4x1xf32> {{
  %p = ge.matmul %x, %w : ({_T}, {_T}) -> {_T}
  %y = ge.reduce_sum %p axes [1] keepdims true : ({_T}) -> tensor<4x1xf32>
  func.return %y : tensor<4x1xf32>
}}
""",
    ),
    FusionRule(
        "MatmulCast", "MatmulCast", part(CastOp, PRODUCT), conditions=(FITS,), priority=-124
    ),
    FusionRule(
        "BatchMatMulTranspose",
        "TransposeBatchMatMul",
        part(MatmulOp, part(TransposeOp, Any("x")), Any("w")),
        alternatives=(part(MatmulOp, Any("x"), part(TransposeOp, Any("w"))),),
        conditions=(FITS,),
        priority=-191,
        aliases=("BatchMatMul2TransposeBatchMatMul", "MatMulTransposeWeight"),
    ),
)
