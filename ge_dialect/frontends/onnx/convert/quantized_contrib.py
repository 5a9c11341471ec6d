"""Quantised operators of onnxruntime's own domain.

Most are defined as the operator on floats between a dequantisation and a quantisation, and become
just that; implementations that multiply by a quotient of scales instead may differ by one level.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.delegate import OPSET, apply
from ge_dialect.frontends.onnx.convert.node import Node, converters, converts
from ge_dialect.frontends.onnx.convert.quantized import by_row, multiplier, scalar
from ge_dialect.ge import binary, integer_contractions, quantization
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.movement import TransposeOp
from ge_dialect.ge.requantization import RequantizeOp
from ge_dialect.ge.types import element_type_of, value_shape

DOMAIN = "com.microsoft"

_BINARY = {"QLinearAdd": "Add", "QLinearMul": "Mul"}
_UNARY = {"QLinearSigmoid": "Sigmoid", "QLinearLeakyRelu": "LeakyRelu"}
_POOLS = {
    "QLinearAveragePool": "AveragePool",
    "QLinearGlobalAveragePool": "GlobalAveragePool",
}


def _dequantized(node: Node, slot: int) -> SSAValue:
    """Adds the dequantisation of a tensor, whose scale and zero point are the next two operands."""
    return apply(node, "DequantizeLinear", node[slot], node[slot + 1], node.optional(slot + 2))


def _quantized(node: Node, x: SSAValue, slot: int, like: SSAValue) -> SSAValue:
    """Adds a quantisation by the scale in `slot` and the zero point after it.

    The result has the type of the zero point, and where there is none that of `like`.
    """
    zero_point = node.optional(slot + 1)
    op = quantization.QuantizeLinearOp(
        x,
        scalar(node, node[slot]),
        None if zero_point is None else scalar(node, zero_point),
        element_type=element_type_of(like),
    )
    op.refine_types()  # it was given its type, and has checked nothing yet
    return node.emit(op)


@converts(*_BINARY, domain=DOMAIN)
def qlinear_binary(node: Node) -> SSAValue:
    """`QLinearAdd` and `QLinearMul`, with broadcasting."""
    result = apply(node, _BINARY[node.op_type], _dequantized(node, 0), _dequantized(node, 3))
    return _quantized(node, result, 6, like=node[0])


@converts(*_UNARY, domain=DOMAIN)
def qlinear_unary(node: Node) -> SSAValue:
    """`QLinearSigmoid` and `QLinearLeakyRelu`."""
    result = apply(node, _UNARY[node.op_type], _dequantized(node, 0), **node.attributes)
    return _quantized(node, result, 3, like=node[0])


@converts(*_POOLS, domain=DOMAIN)
def qlinear_pool(node: Node) -> SSAValue:
    """`QLinearAveragePool` and `QLinearGlobalAveragePool`, channels first or last."""
    attributes = {key: value for key, value in node.attributes.items() if key != "channels_last"}
    last = node.get_flag("channels_last")
    x = _dequantized(node, 0)
    rank = len(value_shape(x))
    if last:
        x = node.emit(TransposeOp(x, (0, rank - 1, *range(1, rank - 1))))
    result = apply(node, _POOLS[node.op_type], x, **attributes)
    if last:
        result = node.emit(TransposeOp(result, (0, *range(2, rank), 1)))
    return _quantized(node, result, 3, like=node[0])


@converts("QLinearConcat", domain=DOMAIN)
def qlinear_concat(node: Node) -> SSAValue:
    """`QLinearConcat`: each tensor brought to the scale of the result, and then joined."""
    count = len(node.operands)
    if count < 5 or count % 3 != 2:
        node.fail(f"expected a tensor, scale and zero point each, got {count} inputs")
    slots = range(2, count, 3)
    pieces = [_quantized(node, _dequantized(node, i), 0, like=node[i]) for i in slots]
    return apply(node, "Concat", *pieces, **node.attributes)


@converts("QLinearSoftmax", domain=DOMAIN)
def qlinear_softmax(node: Node) -> SSAValue:
    """`QLinearSoftmax`, whose attribute says which of ONNX's operators it means."""
    softmax = replace(
        node,
        op_type="Softmax",
        domain="",
        version=node.get_int("opset", OPSET),
        operands=(_dequantized(node, 0),),
        attributes={"axis": node.get_int("axis", -1)},
        used=(True,),
    )
    return _quantized(node, converters()["Softmax"](softmax)[0], 3, like=node[0])


@converts("QLinearWhere", domain=DOMAIN)
def qlinear_where(node: Node) -> SSAValue:
    """`QLinearWhere`, with broadcasting."""
    result = apply(node, "Where", node[0], _dequantized(node, 1), _dequantized(node, 4))
    return _quantized(node, result, 7, like=node[1])


@converts("QLinearReduceMean", domain=DOMAIN)
def qlinear_reduce_mean(node: Node) -> SSAValue:
    """`QLinearReduceMean`; its axes are an attribute, all where it is absent."""
    axes = node.get_ints("axes")
    given = None if axes is None else node.builder.ints(axes)
    keep = node.get_int("keepdims", 1)
    result = apply(node, "ReduceMean", _dequantized(node, 0), given, keepdims=keep)
    return _quantized(node, result, 3, like=node[0])


@converts("QLinearConv", domain=DOMAIN)
def qlinear_conv(node: Node) -> SSAValue:
    """ONNX's `QLinearConv` with channels first or last."""
    attributes = {key: value for key, value in node.attributes.items() if key != "channels_last"}
    if not node.get_flag("channels_last"):
        return apply(node, "QLinearConv", *node.operands, **attributes)
    rank = len(node.shape())
    first = node.emit(TransposeOp(node[0], (0, rank - 1, *range(1, rank - 1))))
    result = apply(node, "QLinearConv", first, *node.operands[1:], **attributes)
    return node.emit(TransposeOp(result, (0, *range(2, rank), 1)))


@converts("QuantizeLinear", "DequantizeLinear", domain=DOMAIN)
def linear(node: Node) -> SSAValue:
    """`QuantizeLinear` and `DequantizeLinear` as they were before ONNX had all types."""
    return apply(node, node.op_type, *node.operands, **node.attributes)


@converts("DynamicQuantizeMatMul", domain=DOMAIN)
def dynamic_quantize_matmul(node: Node) -> SSAValue:
    """`DynamicQuantizeMatMul`: `A` is quantised as a whole, by its range."""
    levels, scale, zero = node.emit_all(quantization.DynamicQuantizeLinearOp(node[0]))
    sums = node.emit(integer_contractions.MatmulIntegerOp(levels, node[1], zero, node.optional(3)))
    return scaled_sums(node, sums, multiplier(node, scale, scalar(node, node[2])), node.optional(4))


@converts("MatMulIntegerToFloat", domain=DOMAIN)
def matmul_integer_to_float(node: Node) -> SSAValue:
    """`MatMulIntegerToFloat`: scales one for all, one a row of `A`, one a column of `B`."""
    sums = node.emit(
        integer_contractions.MatmulIntegerOp(node[0], node[1], node.optional(4), node.optional(5))
    )
    scale = multiplier(node, by_row(node, node[2]), scalar(node, node[3]))
    return scaled_sums(node, sums, scale, node.optional(6))


def scaled_sums(node: Node, sums: SSAValue, scale: SSAValue, bias: SSAValue | None) -> SSAValue:
    """Adds `sums * scale + bias`: the product in f32, the rest in the type of the scale."""
    element_type = element_type_of(scale)
    if element_type != f32:
        scale = node.emit(CastOp(scale, f32))
    result = node.emit(binary.MulOp(node.emit(CastOp(sums, f32)), scale))
    if element_type != f32:
        result = node.emit(CastOp(result, element_type))
    return result if bias is None else node.emit(binary.AddOp(result, bias))


@converts("QGemm", domain=DOMAIN)
def qgemm(node: Node) -> SSAValue:
    """`QGemm`: `alpha * A * B + C`, quantised where the result has a zero point, else in floats.

    `C` is of i32 and has the scale of the sums.
    """
    a, b = node[0], node[3]
    a = node.emit(TransposeOp(a, (1, 0))) if node.get_flag("transA") else a
    b = node.emit(TransposeOp(b, (1, 0))) if node.get_flag("transB") else b
    sums = node.emit(integer_contractions.MatmulIntegerOp(a, b, node.optional(2), node.optional(5)))
    if (c := node.optional(6)) is not None:
        sums = node.emit(binary.AddOp(sums, c))
    scale = multiplier(node, scalar(node, node[1]), scalar(node, node[4]))
    alpha = node.get_float("alpha", 1.0)
    if alpha != 1:
        scale = multiplier(node, scale, node.builder.number(alpha, element_type_of(scale)))
    if (zero_point := node.optional(8)) is None:
        return scaled_sums(node, sums, scale, None)
    scale = node.emit(binary.DivOp(scale, scalar(node, node[7])))
    return node.emit(RequantizeOp(sums, scale, scalar(node, zero_point)))
