"""Kernels around convolutions: padding before, norm, scale, residual and activation behind."""

from __future__ import annotations

from ge_dialect.ge.activations import ReluOp
from ge_dialect.ge.binary import AddOp, MulOp
from ge_dialect.ge.channel_normalization import BatchNormOp
from ge_dialect.ge.convolution import ConvOp, ConvTransposeOp
from ge_dialect.ge.elementwise import ClipOp
from ge_dialect.ge.pieces import PadOp
from ge_dialect.passes.fusion.conditions import fits_on_chip
from ge_dialect.passes.fusion.library.parts import activated, either_order, part
from ge_dialect.passes.fusion.pattern import Any, Maybe, Weight
from ge_dialect.passes.fusion.rule import FusionRule

FITS = fits_on_chip()
CONV = part(ConvOp, Any("x"), Any("filter"), name="conv")
NORMED = part(BatchNormOp, CONV, name="norm")
SUM = either_order(AddOp, Maybe(NORMED), Any("residual"), "sum")

_CONV = """
func.func @main(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2xf32>)
    -> tensor<1x2x3x3xf32> {{
  %c = ge.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1
    : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  {body}
  func.return %y : tensor<1x2x3x3xf32>
}}
"""
_T = "tensor<1x2x3x3xf32>"


def _example(body: str) -> str:
    return _CONV.format(body=body)


_BN = f"""%y = ge.batch_norm %c, %s, %s, %s, %s epsilon 1.0e-05
    : ({_T}, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> {_T}"""
_ADD = f"%y = ge.add %c, %x : ({_T}, {_T}) -> {_T}"

RULES = (
    FusionRule(
        "TbeConvAddRelu",
        "Conv2DAddRelu",
        part(ReluOp, SUM),
        conditions=(FITS,),
        priority=-126,
        on_chip=True,
        example=_example(_ADD.replace("%y", "%a") + f"\n%y = ge.relu %a : ({_T}) -> {_T}"),
    ),
    FusionRule(
        "TbeConvBatchnormElemwise",
        "Conv2DBatchNormElemwise",
        activated(NORMED)[0],
        alternatives=activated(NORMED)[1:],
        conditions=(FITS,),
        priority=-127,
        on_chip=True,
        example=_example(_BN.replace("%y", "%a") + f"\n%y = ge.silu %a : ({_T}) -> {_T}"),
    ),
    FusionRule(
        "TbeConvAdd",
        "Conv2DAdd",
        SUM,
        conditions=(FITS,),
        priority=-128,
        on_chip=True,
        example=_example(_ADD),
    ),
    FusionRule(
        "ConvBatchnorm",
        "Conv2DBatchNorm",
        NORMED,
        conditions=(FITS,),
        priority=-129,
        example=_example(_BN),
    ),
    FusionRule(
        "TbeConvElemwise",
        "Conv2DElemwise",
        activated(CONV)[0],
        alternatives=(*activated(CONV)[1:], part(ClipOp, CONV)),
        conditions=(FITS,),
        priority=-130,
        on_chip=True,
        example=_example(f"%y = ge.hard_swish %c : ({_T}) -> {_T}"),
    ),
    FusionRule(
        "ConvScale",
        "Conv2DMul",
        either_order(MulOp, CONV, Weight("scale")),
        conditions=(FITS,),
        priority=-131,
        aliases=("AConv2dMul",),
        example=_example(
            "%k = ge.constant dense<[[[2.0]], [[0.5]]]> : tensor<2x1x1xf32>\n"
            f"%y = ge.mul %c, %k : ({_T}, tensor<2x1x1xf32>) -> {_T}"
        ),
    ),
    FusionRule(
        "Conv2DTransposeElemwise",
        "Conv2DTransposeElemwise",
        activated(part(ConvTransposeOp, Any("x"), Any("filter"), name="conv"))[0],
        alternatives=activated(part(ConvTransposeOp, Any("x"), Any("filter"), name="conv"))[1:],
        conditions=(FITS,),
        priority=-135,
        on_chip=True,
        example="""
func.func @main(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32> {
  %c = ge.conv_transpose %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1]
    output_padding [0, 0] group 1
    : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.relu %c : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}
""",
    ),
    FusionRule(
        "PadConv2d",
        "PadConv2D",
        part(ConvOp, part(PadOp, Any("x")), Any("filter"), name="conv"),
        conditions=(FITS,),
        priority=-192,
        example="""
func.func @main(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %p = ge.pad %x pads [0, 0, 1, 1, 0, 0, 1, 1] mode "reflect"
    : (tensor<1x2x3x3xf32>) -> tensor<1x2x5x5xf32>
  %c = ge.conv %p, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1
    : (tensor<1x2x5x5xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %c : tensor<1x2x3x3xf32>
}
""",
    ),
)
