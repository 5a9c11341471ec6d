"""The operator sets that operators with a converter came with.

`onnx.defs` knows it too, but makes the schemas of all operators before it says so, in every
process. Source: ONNX, "Operator Changelog".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

COMPLETE_FROM = 7
"""Operators that no opset is named for here are at least as old."""

_NEW: dict[int, str] = {
    8: "Expand",
    9: "Acosh Asinh Atanh ConstantOfShape Cosh Erf EyeLike IsNaN OneHot Scatter Shrink Sign Sinh"
    " Where",
    10: "ConvInteger DequantizeLinear IsInf MatMulInteger Mod QLinearConv QLinearMatMul"
    " QuantizeLinear Resize ReverseSequence ThresholdedRelu",
    11: "CumSum DynamicQuantizeLinear GatherElements GatherND Range Round ScatterElements"
    " ScatterND",
    12: "Celu Einsum GreaterOrEqual LessOrEqual",
    14: "HardSwish Trilu",
    15: "CastLike",
    16: "GridSample",
    17: "LayerNormalization STFT",
    18: "BitwiseAnd BitwiseNot BitwiseOr BitwiseXor GroupNormalization Mish",
    20: "Gelu",
    23: "Attention RMSNormalization RotaryEmbedding",
    24: "Swish TensorScatter",
}

SINCE: Mapping[str, int] = MappingProxyType(
    {name: version for version, names in _NEW.items() for name in names.split()}
)
"""Operators of ONNX's own domain that came after opset 7."""
