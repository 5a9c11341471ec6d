"""Several nodes that exporters write for one thing, exactly and nearly so."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds
from tests.random_onnx.values import F16, F32, DType, Value

_FLOATS = (F32, F16)

_NEUTRAL = (
    ("Add", 0.0),
    ("Add", -0.0),
    ("Sub", 0.0),
    ("Sub", -0.0),
    ("Mul", 1.0),
    ("Mul", 0.0),
    ("Div", 1.0),
    ("Pow", 1.0),
)
"""All but three change nothing."""


def _number(g: Grower, number: float, dtype: DType) -> Value:
    shape = g.one_of(((), (), (1,)))
    return g.given(np.full(shape, number, dtype), fixed=True)


def _value(g: Grower, low: int = 2) -> Value:
    return g.operand(_FLOATS, (low, 4), empty=False, finite=True, kind="normal")


def _both(g: Grower, op_type: str, left: Value, right: Value) -> Value:
    """Adds a node whose operands may change places."""
    return g.emit(op_type, [left, right] if g.flag() else [right, left])[0]


def _square(g: Grower, value: Value) -> Value:
    if g.flag():
        return g.emit("Pow", [value, _number(g, 2.0, value.dtype)])[0]
    return g.emit("Mul", [value, value])[0]


def _reduce_mean(g: Grower, value: Value, axes: list[int]) -> Value:
    if g.version("ReduceMean") >= 18:
        return g.emit("ReduceMean", [value, g.ints(axes)], keepdims=1)[0]
    return g.emit("ReduceMean", [value], axes=axes, keepdims=1)[0]


@builds("gelu_idiom")
def gelu(g: Grower, name: str) -> None:
    """By erf, with the factors a little wrong now and then."""
    x = _value(g, 1)
    root = _number(g, 1.5 if g.rarely() else 2**0.5, x.dtype)
    erf = g.emit("Erf", [g.emit("Div", [x, root])[0]])[0]
    one = _both(g, "Add", erf, _number(g, 1.0, x.dtype))
    half = _number(g, 0.4 if g.rarely() else 0.5, x.dtype)
    if g.flag():
        _both(g, "Mul", _both(g, "Mul", x, one), half)
    else:
        _both(g, "Mul", _both(g, "Mul", x, half), one)


@builds("silu_idiom")
def silu(g: Grower, name: str) -> None:
    """Plain, or with a factor inside."""
    x = _value(g, 1)
    inner = _both(g, "Mul", x, _number(g, 1.702, x.dtype)) if g.flag() else x
    _both(g, "Mul", x, g.emit("Sigmoid", [inner])[0])


@builds("layer_norm_idiom")
def layer_norm(g: Grower, name: str) -> None:
    """Over the last dimension, now and then over another one or of different means."""
    x = _value(g)
    axes = [g.axis(x.rank)] if g.rarely() else [-1]
    mean = _reduce_mean(g, x, axes)
    centred = g.emit("Sub", [x, mean])[0]
    variance = _reduce_mean(g, _square(g, centred), axes)
    root = g.emit("Sqrt", [_both(g, "Add", variance, _number(g, 1e-3, x.dtype))])[0]
    normal = g.emit("Div", [centred, root])[0]
    scaled = _both(g, "Mul", normal, g.fresh(x.dtype, x.shape[-1:], "normal"))
    _both(g, "Add", scaled, g.fresh(x.dtype, x.shape[-1:], "normal"))


@builds("rms_norm_idiom")
def rms_norm(g: Grower, name: str) -> None:
    """By division or by the reciprocal of the root."""
    x = _value(g)
    square = _square(g, x)
    mean = _reduce_mean(g, square, [0] if g.rarely() else [-1])
    root = g.emit("Sqrt", [_both(g, "Add", mean, _number(g, 1e-3, x.dtype))])[0]
    if g.flag():
        normal = g.emit("Div", [x, root])[0]
    else:
        normal = _both(g, "Mul", x, g.emit("Reciprocal", [root])[0])
    _both(g, "Mul", g.fresh(x.dtype, x.shape[-1:], "normal"), normal)


@builds("attention_idiom")
def attention(g: Grower, name: str) -> None:
    """Matrix product, scale, mask, softmax, matrix product, and a residual sum."""
    dtype = g.one_of(_FLOATS)
    lead = (g.int(1, 2), g.int(1, 2))
    queries, keys, size = g.int(1, 4), g.int(1, 4), g.int(1, 4)
    q = g.fresh(dtype, (*lead, queries, size), "normal")
    if g.flag():
        k = g.emit("Transpose", [g.fresh(dtype, (*lead, keys, size), "normal")], perm=[0, 1, 3, 2])[
            0
        ]
    else:
        k = g.fresh(dtype, (*lead, size, keys), "normal")
    scores = g.emit("MatMul", [q, k])[0]
    if g.flag():
        scores = g.emit(g.one_of(("Mul", "Div")), [scores, _number(g, 1.5, dtype)])[0]
    if g.flag():
        mask = np.where(np.tri(queries, keys) > 0, 0.0, -1e4).astype(dtype)
        scores = _both(g, "Add", scores, g.given(mask))
    weights = g.emit("Softmax", [scores], axis=g.one_of((-1, -1, -1, 2)))[0]
    v = g.fresh(dtype, (*lead, keys, g.int(1, 4)), "normal")
    mixed = g.emit("MatMul", [weights, v])[0]
    if g.flag():
        _both(g, "Add", mixed, g.fresh(dtype, mixed.shape, "normal"))


@builds("linear_idiom")
def linear(g: Grower, name: str) -> None:
    """Matrix product, bias and activation."""
    x = _value(g)
    width = g.int(1, 4)
    y = g.emit("MatMul", [x, g.fresh(x.dtype, (x.shape[-1], width), "normal")])[0]
    y = _both(g, "Add", y, g.fresh(x.dtype, g.one_of(((width,), (1,), ())), "normal"))
    g.emit(g.one_of(("Relu", "Tanh", "Sigmoid")), [y])


@builds("identity_idiom")
def identity(g: Grower, name: str) -> None:
    """Arithmetic that changes nothing, or only the sign of a zero."""
    x = g.operand((*_FLOATS, np.dtype(np.int32)), (0, 3))
    if g.flag():
        x = g.given(np.array([0.0, -0.0, 1.5, -np.inf], g.one_of(_FLOATS)))
    op_type, number = g.one_of(_NEUTRAL)
    y = g.emit(op_type, [x, _number(g, number, x.dtype)])[0]
    g.emit(g.one_of(("Neg", "Abs", "Identity")), [y])


@builds("moves_idiom")
def moves(g: Grower, name: str) -> None:
    """Chains of transpositions and reshapes around elementwise nodes."""
    x = g.operand((F32,), (3, 4))
    for _ in range(g.int(2, 4)):
        step = g.int(0, 3)
        if step < 2:
            perm = list(g.draw(st.permutations(range(x.rank))))
            x = g.emit("Transpose", [x], perm=perm)[0]
        elif step == 2 and x.array.size:
            x = g.emit("Reshape", [x, g.ints([-1, x.shape[-1]])])[0]
        else:
            x = g.emit(g.one_of(("Neg", "Relu", "Abs")), [x])[0]
