"""Kernels on integers: products of quantised values, and quantisation behind a function."""

from __future__ import annotations

from ge_dialect.ge.activations import GeluOp
from ge_dialect.ge.binary import MulOp
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.convolution import ConvOp
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.integer_contractions import MatmulIntegerOp
from ge_dialect.ge.quantization import DequantizeLinearOp, QuantizeLinearOp
from ge_dialect.ge.requantization import RequantizeOp
from ge_dialect.passes.fusion.conditions import fits_on_chip
from ge_dialect.passes.fusion.library.parts import either_order, part
from ge_dialect.passes.fusion.pattern import Any
from ge_dialect.passes.fusion.rule import FusionRule

FITS = fits_on_chip()
DEQUANTIZED = part(DequantizeLinearOp, Any("x"), name="x_dequantized")
DEQUANTIZED_WEIGHT = part(DequantizeLinearOp, Any("w"), name="w_dequantized")
INTEGER = part(MatmulIntegerOp, Any("x"), Any("w"), name="product")

_HEAD = """
func.func @main(%x: tensor<4x8xi8>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>)
"""
_SCALES = "%s zero_point %p axis 1 block_size 0"
_DX = (
    f"%d = ge.dequantize_linear %x, {_SCALES}"
    " : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>\n"
)
_DW = (
    f"%e = ge.dequantize_linear %w, {_SCALES}"
    " : (tensor<8x4xi8>, tensor<f32>, tensor<i8>) -> tensor<8x4xf32>\n"
)
_MM = "%m = ge.matmul %d, %e : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>\n"
_Q = (
    f"%y = ge.quantize_linear %m, {_SCALES}"
    " : (tensor<4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<4x4xi8>\n"
)
_INT = "%m = ge.matmul_integer %x, %w : (tensor<4x8xi8>, tensor<8x4xi8>) -> tensor<4x4xi32>\n"


def _example(result: str, *lines: str) -> str:
    ending = f"func.return %y : {result}\n}}\n"
    return f"{_HEAD} -> {result} {{\n{''.join(lines)}{ending}"


RULES = (
    FusionRule(
        "QuantBatchMatmulQuant",
        "QuantBatchMatmulV3Requant",
        part(QuantizeLinearOp, part(MatmulOp, DEQUANTIZED, DEQUANTIZED_WEIGHT, name="product")),
        conditions=(FITS,),
        priority=-101,
        example=_example("tensor<4x4xi8>", _DX, _DW, _MM, _Q),
    ),
    FusionRule(
        "QuantConv",
        "QuantConv2D",
        part(QuantizeLinearOp, part(ConvOp, DEQUANTIZED, DEQUANTIZED_WEIGHT, name="product")),
        conditions=(FITS,),
        priority=-102,
        on_chip=True,
        aliases=("TbeConvDequantQuant",),
        example="""
func.func @main(%x: tensor<1x2x4x4xi8>, %w: tensor<2x2x1x1xi8>, %s: tensor<f32>, %p: tensor<i8>)
    -> tensor<1x2x4x4xi8> {
  %d = ge.dequantize_linear %x, %s zero_point %p axis 1 block_size 0
    : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %e = ge.dequantize_linear %w, %s zero_point %p axis 1 block_size 0
    : (tensor<2x2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2x1x1xf32>
  %c = ge.conv %d, %e strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1
    : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y = ge.quantize_linear %c, %s zero_point %p axis 1 block_size 0
    : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  func.return %y : tensor<1x2x4x4xi8>
}
""",
    ),
    FusionRule(
        "QuantBatchMatmul",
        "QuantBatchMatmulV3",
        part(MatmulOp, DEQUANTIZED, DEQUANTIZED_WEIGHT, name="product"),
        conditions=(FITS,),
        priority=-103,
        example=_example("tensor<4x4xf32>", _DX, _DW, _MM.replace("%m", "%y")),
    ),
    FusionRule(
        "WeightQuantBatchMatmul",
        "WeightQuantBatchMatmulV2",
        part(MatmulOp, Any("x"), DEQUANTIZED_WEIGHT, name="product"),
        conditions=(FITS,),
        priority=-104,
        example="""
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>)
    -> tensor<4x4xf32> {
  %e = ge.dequantize_linear %w, %s zero_point %p axis 1 block_size 0
    : (tensor<8x4xi8>, tensor<f32>, tensor<i8>) -> tensor<8x4xf32>
  %y = ge.matmul %x, %e : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}
""",
    ),
    FusionRule(
        "BatchMatMulDequantElemwise",
        "QuantBatchMatmulV3Dequant",
        either_order(MulOp, part(CastOp, INTEGER), Any("scale")),
        conditions=(FITS,),
        priority=-105,
        on_chip=True,
        example=_example(
            "tensor<4x4xf32>",
            _INT,
            "%c = ge.cast %m : (tensor<4x4xi32>) -> tensor<4x4xf32>\n",
            "%y = ge.mul %c, %s : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>\n",
        ),
    ),
    FusionRule(
        "QuantBatchMatmulDequant",
        "QuantBatchMatmulV3Dequant",
        part(DequantizeLinearOp, INTEGER),
        conditions=(FITS,),
        priority=-106,
        example=_example(
            "tensor<4x4xf32>",
            _INT,
            "%y = ge.dequantize_linear %m, %s axis 1 block_size 0",
            " : (tensor<4x4xi32>, tensor<f32>) -> tensor<4x4xf32>\n",
        ),
    ),
    FusionRule(
        "MatmulRequant",
        "MatmulRequant",
        part(RequantizeOp, INTEGER),
        conditions=(FITS,),
        priority=-107,
        on_chip=True,
        example=_example(
            "tensor<4x4xi8>",
            _INT,
            "%y = ge.requantize %m, %s zero_point %p",
            " : (tensor<4x4xi32>, tensor<f32>, tensor<i8>) -> tensor<4x4xi8>\n",
        ),
    ),
    FusionRule(
        "GeluQuant",
        "GeluQuant",
        part(QuantizeLinearOp, part(GeluOp, Any("x"))),
        priority=-136,
        targets=("Ascend910B",),
        example="""
func.func @main(%x: tensor<4x8xf32>, %s: tensor<f32>, %p: tensor<i8>) -> tensor<4x8xi8> {
  %g = ge.gelu %x approximate "none" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = ge.quantize_linear %g, %s zero_point %p axis 1 block_size 0
    : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  func.return %y : tensor<4x8xi8>
}
""",
    ),
)
