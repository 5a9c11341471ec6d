"""Elementwise operators, with broadcasting, special values and integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper

from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds
from tests.random_onnx.values import BOOL, F64, DType, Value, is_float, names, widened

_UNARY = names(
    "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Cos Cosh Erf Exp Floor HardSwish "
    "Identity IsNaN Log Mish Neg Not Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus "
    "Softsign Sqrt Tan Tanh"
)

_BINARY = names(
    "Add And BitwiseAnd BitwiseOr BitwiseXor Equal Greater GreaterOrEqual Less LessOrEqual Mul "
    "Or Sub Xor"
)

# Op type -> its attributes.
_WITH_FLOATS: dict[str, tuple[str, ...]] = {
    "LeakyRelu": ("alpha",),
    "Elu": ("alpha",),
    "Celu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "Swish": ("alpha",),
    "ThresholdedRelu": ("alpha",),
    "Shrink": ("lambd", "bias"),
}


@builds(*_UNARY)
def unary(g: Grower, op_type: str) -> None:
    """One operand of any shape."""
    rank = (op_type == "Softsign", 4)
    g.emit(op_type, [g.operand(g.types(op_type), rank)])


@builds(*_BINARY)
def binary(g: Grower, op_type: str) -> None:
    """Two operands that broadcast, perhaps twice the same."""
    left = g.operand(g.types(op_type))
    right = left if g.rarely() else g.like(left)
    g.emit(op_type, [left, right] if g.flag() else [right, left])


@builds(*_WITH_FLOATS)
def with_floats(g: Grower, op_type: str) -> None:
    """Activations with parameters."""
    given: dict[str, Any] = {
        name: g.maybe(g.one_of((0.25, 0.5, 1.0, 1.7))) for name in _WITH_FLOATS[op_type]
    }
    dtypes = [dtype for dtype in g.types(op_type) if op_type != "Shrink" or is_float(dtype)]
    g.emit(op_type, [g.operand(dtypes)], **given)


@builds("Gelu")
def gelu(g: Grower, op_type: str) -> None:
    """Exact, and by tanh; not of f64, of which the tails would be compared as f32."""
    dtypes = [dtype for dtype in g.types(op_type) if dtype != F64]
    g.emit(op_type, [g.operand(dtypes)], approximate=g.one_of((None, "none", "tanh")))


@builds("IsInf")
def is_inf(g: Grower, op_type: str) -> None:
    """Of both signs or one."""
    signs: dict[str, Any] = {
        f"detect_{sign}": g.one_of((None, 0, 1)) for sign in ("negative", "positive")
    }
    g.emit(op_type, [g.operand(g.types(op_type))], **signs)


@builds("Div")
def div(g: Grower, op_type: str) -> None:
    """Integers are divided by what is not 0, and by no -1, with which the least overflows."""
    left = g.operand(g.types(op_type))
    g.emit(op_type, [left, g.like(left) if is_float(left.dtype) else divisor(g, left)])


def divisor(g: Grower, value: Value) -> Value:
    """Returns integers that a value may be divided by."""
    numbers = (1, 2, 3, 7) if value.dtype.kind == "u" else (1, 2, 3, 7, -2, -3)
    rng = np.random.default_rng(g.int(0, 99))
    array = rng.choice(np.array(numbers), g.partner(value.shape)).astype(value.dtype)
    return g.given(np.asarray(array))


@builds("Mod")
def mod(g: Grower, op_type: str) -> None:
    """With the sign of the divisor, or as `fmod`."""
    left = g.operand(g.types(op_type))
    if is_float(left.dtype):
        g.emit(op_type, [left, g.like(left)], fmod=1)
    else:
        g.emit(op_type, [left, divisor(g, left)], fmod=g.one_of((None, 0, 1)))


@builds("Pow")
def power(g: Grower, op_type: str) -> None:
    """Integers have exponents of 0 or more."""
    base = g.operand(g.types(op_type), finite=True)
    exponents = g.types(op_type, 1)
    if not is_float(base.dtype):
        exponents = [dtype for dtype in exponents if not is_float(dtype)]
    dtype = base.dtype if g.flag() and base.dtype in exponents else g.dtype(exponents)
    low, high = (-2, 4) if is_float(dtype) else (0, 4)
    rng = np.random.default_rng(g.int(0, 99))
    numbers = rng.integers(low, high, g.partner(base.shape, one_way=True)).astype(dtype)
    if is_float(dtype) and g.flag():
        numbers = np.asarray(numbers / 2).astype(dtype)
    g.emit(op_type, [base, g.given(numbers)])


@builds("Max", "Min", "Sum", "Mean")
def chain(g: Grower, op_type: str) -> None:
    """One to four operands."""
    operands = [g.operand(g.types(op_type), (0, 3))]
    for _ in range(g.int(0, 3)):
        operands.append(g.like(operands[0], one_way=True))
    g.emit(op_type, operands)


@builds("PRelu")
def prelu(g: Grower, op_type: str) -> None:
    """The slope broadcasts to the operand, but not the other way."""
    value = g.operand(g.types(op_type))
    g.emit(op_type, [value, g.like(value, one_way=True)])


@builds("Where")
def where(g: Grower, op_type: str) -> None:
    """Three operands that broadcast."""
    first = g.operand(g.types(op_type, 1))
    second = g.like(first, one_way=True)

    def fits(value: Value) -> bool:
        return value.shape in (first.shape, (), first.shape[1:])

    known = [value for value in g.values if value.dtype == BOOL and fits(value)]
    if not known or g.rarely():
        known = [g.fresh(BOOL, g.partner(first.shape, one_way=True))]
    g.emit(op_type, [g.one_of(known), *((first, second) if g.flag() else (second, first))])


@builds("Clip")
def clip(g: Grower, op_type: str) -> None:
    """With both limits, one or none."""
    value = g.operand(g.types(op_type))
    limits = [g.maybe(g.fresh(value.dtype, (), "normal")) for _ in range(2)]
    g.emit(op_type, [value, *limits])


@builds("Cast", "CastLike")
def cast(g: Grower, op_type: str) -> None:
    """To any type that has the numbers: what happens beyond its limits ONNX leaves open."""
    value = g.operand(g.types(op_type))
    allowed = g.types(op_type) if op_type == "Cast" else g.types(op_type, 1)
    targets = [dtype for dtype in allowed if _has_place(dtype, value)]
    to = g.dtype(targets)
    if op_type == "Cast":
        g.emit(op_type, [value], to=helper.np_dtype_to_tensor_dtype(to))
    else:
        g.emit(op_type, [value, g.operand([to])])


def _has_place(dtype: DType, value: Value) -> bool:
    """Whether a conversion to a type is defined for every element."""
    if is_float(dtype) or dtype == BOOL or not is_float(value.dtype):
        return True
    numbers: Any = widened(value.array)
    info = np.iinfo(dtype)
    # Limits of i64 and u64 are not floats; what is this large is left out.
    low, high = float(info.min), min(float(info.max), 2.0**53)
    return bool(((numbers >= low) & (numbers <= high)).all())
