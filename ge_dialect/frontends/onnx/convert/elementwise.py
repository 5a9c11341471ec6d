"""Elementwise operators: arithmetic, tests, activations, casts."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TypeAlias

from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge import activations, binary, elementwise, unary
from ge_dialect.ge.attributes import FloatFormatType, StringType
from ge_dialect.ge.dtypes import from_onnx, is_bool, is_float, is_integer
from ge_dialect.ge.types import element_type_of, value_shape

_Unary: TypeAlias = Callable[[SSAValue], Operation]
_Binary: TypeAlias = Callable[[SSAValue, SSAValue], Operation]

_UNARY: dict[str, _Unary] = {
    "Abs": unary.AbsOp,
    "Acos": unary.AcosOp,
    "Acosh": unary.AcoshOp,
    "Asin": unary.AsinOp,
    "Asinh": unary.AsinhOp,
    "Atan": unary.AtanOp,
    "Atanh": unary.AtanhOp,
    "BitwiseNot": unary.BitwiseNotOp,
    "Ceil": unary.CeilOp,
    "Cos": unary.CosOp,
    "Cosh": unary.CoshOp,
    "Erf": unary.ErfOp,
    "Exp": unary.ExpOp,
    "Floor": unary.FloorOp,
    "HardSwish": activations.HardSwishOp,
    "IsNaN": unary.IsNanOp,
    "Log": unary.LogOp,
    "Mish": activations.MishOp,
    "Neg": unary.NegOp,
    "Not": unary.LogicalNotOp,
    "Reciprocal": unary.ReciprocalOp,
    "Relu": activations.ReluOp,
    "Round": unary.RoundOp,
    "Sigmoid": activations.SigmoidOp,
    "Sign": unary.SignOp,
    "Sin": unary.SinOp,
    "Sinh": unary.SinhOp,
    "Softplus": activations.SoftplusOp,
    "Softsign": activations.SoftsignOp,
    "Sqrt": unary.SqrtOp,
    "Tan": unary.TanOp,
    "Tanh": activations.TanhOp,
}

_BINARY: dict[str, _Binary] = {
    "Add": binary.AddOp,
    "And": binary.AndOp,
    "BitwiseAnd": binary.BitwiseAndOp,
    "BitwiseOr": binary.BitwiseOrOp,
    "BitwiseXor": binary.BitwiseXorOp,
    "Div": binary.DivOp,
    "Equal": binary.EqualOp,
    "Greater": binary.GreaterOp,
    "GreaterOrEqual": binary.GreaterEqualOp,
    "Less": binary.LessOp,
    "LessOrEqual": binary.LessEqualOp,
    "Mul": binary.MulOp,
    "Or": binary.OrOp,
    "PRelu": binary.PreluOp,
    "Pow": binary.PowOp,
    "Sub": binary.SubOp,
    "Xor": binary.XorOp,
}

_CHAINS: dict[str, _Binary] = {
    "Max": binary.MaximumOp,
    "Min": binary.MinimumOp,
    "Sum": binary.AddOp,
    "Mean": binary.AddOp,
}

# Op type -> op, the default of `alpha`. Source: ONNX `LeakyRelu` 16, `Elu` 22, `Celu` 12.
_WITH_ALPHA: dict[str, tuple[Callable[[SSAValue, float], Operation], float]] = {
    "LeakyRelu": (activations.LeakyReluOp, 0.01),
    "Elu": (activations.EluOp, 1.0),
    "Celu": (activations.CeluOp, 1.0),
}

# Source: ONNX `Selu` 22: alpha and gamma of Klambauer et al. (2017), as f32.
_SELU = (1.67326319217681884765625, 1.05070102214813232421875)

# Floats without a mantissa, for which ONNX has rounding modes.
_EXPONENTS = FloatFormatType("f8E8M0FNU")

# Limits of a `Clip` without them, before opset 11: those of f32.
_F32_MAX = 3.4028234663852886e38


@converts(*_UNARY)
def unary_op(node: Node) -> SSAValue:
    """Operators of one operand without attributes."""
    return node.emit(_UNARY[node.op_type](node[0]))


@converts(*_BINARY)
def binary_op(node: Node) -> SSAValue:
    """Operators of two operands with broadcasting."""
    if any(isinstance(node.element_type(slot), StringType) for slot in (0, 1)):
        raise OnHost("strings")
    return node.emit(_BINARY[node.op_type](node[0], node[1]))


@converts(*_CHAINS)
def chain(node: Node) -> SSAValue:
    """Operators of any number of operands, one after the other."""
    make = _CHAINS[node.op_type]
    operands = [node[slot] for slot in range(max(len(node.operands), 1))]
    total = reduce(lambda left, right: node.emit(make(left, right)), operands)
    if node.op_type != "Mean" or len(operands) == 1:
        return total
    count = node.builder.number(len(operands), node.element_type())
    return node.emit(binary.DivOp(total, count))


@converts("Mod")
def mod(node: Node) -> SSAValue:
    """`Mod` has the sign of the divisor, with `fmod` that of the dividend."""
    op = binary.FmodOp if node.get_flag("fmod") else binary.ModOp
    return node.emit(op(node[0], node[1]))


@converts("IsInf")
def is_inf(node: Node) -> SSAValue:
    """`IsInf` of both signs."""
    if not (node.get_flag("detect_negative", True) and node.get_flag("detect_positive", True)):
        raise OnHost("one sign only")
    return node.emit(unary.IsInfOp(node[0]))


@converts("Where")
def where(node: Node) -> SSAValue:
    """`Where`."""
    if isinstance(node.element_type(1), StringType):
        raise OnHost("strings")
    return node.emit(elementwise.SelectOp(node[0], node[1], node[2]))


@converts("Clip")
def clip(node: Node) -> SSAValue:
    """`Clip`; before opset 11 its limits are attributes."""
    if node.version >= 11:
        limits = [node.optional(slot) for slot in (1, 2)]
        if any(limit is not None and value_shape(limit) not in ((), (1,)) for limit in limits):
            raise OnHost("a limit is no scalar")
    else:
        found = node.get_float("min", -_F32_MAX), node.get_float("max", _F32_MAX)
        limits = [
            None if abs(limit) == _F32_MAX else node.builder.number(limit, node.element_type())
            for limit in found
        ]
    return node.emit(elementwise.ClipOp(node[0], *limits))


@converts(*_WITH_ALPHA)
def with_alpha(node: Node) -> SSAValue:
    """Activations with a parameter `alpha`."""
    make, default = _WITH_ALPHA[node.op_type]
    return node.emit(make(node[0], node.get_float("alpha", default)))


@converts("HardSigmoid")
def hard_sigmoid(node: Node) -> SSAValue:
    """`HardSigmoid`."""
    alpha, beta = node.get_float("alpha", 0.2), node.get_float("beta", 0.5)
    return node.emit(activations.HardSigmoidOp(node[0], alpha, beta))


@converts("Selu")
def selu(node: Node) -> SSAValue:
    """`Selu`."""
    alpha, gamma = node.get_float("alpha", _SELU[0]), node.get_float("gamma", _SELU[1])
    return node.emit(activations.SeluOp(node[0], alpha, gamma))


@converts("Gelu")
def gelu(node: Node) -> SSAValue:
    """`Gelu`, exact or by tanh."""
    return node.emit(activations.GeluOp(node[0], node.get_string("approximate", "none")))


@converts("Swish")
def swish(node: Node) -> SSAValue:
    """`Swish`: SiLU where alpha is 1."""
    if (alpha := node.get_float("alpha", 1.0)) == 1.0:
        return node.emit(activations.SiluOp(node[0]))
    return node.emit(activations.QuickGeluOp(node[0], alpha))


@converts("ThresholdedRelu")
def thresholded_relu(node: Node) -> SSAValue:
    """`ThresholdedRelu`: what is above `alpha`, and 0 for all else, NaN as well."""
    zero = node.builder.number(0, node.element_type())
    alpha = node.builder.number(node.get_float("alpha", 1.0), node.element_type())
    above = node.emit(binary.GreaterOp(node[0], alpha))
    return node.emit(elementwise.SelectOp(above, node[0], zero))


@converts("Shrink")
def shrink(node: Node) -> SSAValue:
    """`Shrink` of floats: 0 within `lambd` of it, nearer to it by `bias` elsewhere."""
    x, element_type = node[0], node.element_type()
    if not is_float(element_type):
        raise OnHost("integers, of which `bias` is none")
    lambd, bias = node.get_float("lambd", 0.5), node.get_float("bias", 0.0)
    low, high, step, zero = (
        node.builder.number(value, element_type) for value in (-lambd, lambd, bias, 0)
    )
    lower = node.emit(binary.SubOp(x, step))
    above = node.emit(elementwise.SelectOp(node.emit(binary.GreaterOp(x, high)), lower, zero))
    raised = node.emit(binary.AddOp(x, step))
    return node.emit(elementwise.SelectOp(node.emit(binary.LessOp(x, low)), raised, above))


@converts("Cast")
def cast(node: Node) -> SSAValue:
    """`Cast` between numbers."""
    return _cast(node, from_onnx(node.get_int("to")))


@converts("CastLike")
def cast_like(node: Node) -> SSAValue:
    """`CastLike`: the element type is that of the second operand, whatever its rank."""
    return _cast(node, element_type_of(node[1]))


def _cast(node: Node, to: Attribute | None) -> SSAValue:
    from_ = node.element_type()
    if to is None:
        node.fail(f"expected a known element type 'to', got {node.get_int('to')}")
    if isinstance(to, StringType) or isinstance(from_, StringType):
        raise OnHost("strings")
    numbers = all(is_float(t) or is_integer(t) or is_bool(t) for t in (to, from_))
    # `saturate` and `round_mode` are about narrow floats only.
    wraps = isinstance(to, FloatFormatType) and not node.get_flag("saturate", True)
    if not numbers or wraps or to == _EXPONENTS:
        raise OnHost("an exotic conversion")
    return node.emit(elementwise.CastOp(node[0], to))
