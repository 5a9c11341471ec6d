"""Operators of ONNX Runtime's domain that are one of ONNX's, or a chain of a few, by another name.

Source: ONNX Runtime, "Contrib operators" (docs/ContribOperators.md), the page of each operator.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, SSAValue

from ge_dialect.frontends.onnx.convert.contrib import DOMAIN, activated, scaled_product, summed
from ge_dialect.frontends.onnx.convert.contrib_images import halves
from ge_dialect.frontends.onnx.convert.delegate import apply
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converters, converts
from ge_dialect.ge.activations import GeluOp, QuickGeluOp, SigmoidOp, SiluOp
from ge_dialect.ge.base import expect_float, expect_min_rank, expect_rank
from ge_dialect.ge.binary import AddOp, MaximumOp, MinimumOp, MulOp, SubOp
from ge_dialect.ge.constants import constant_scalar
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.normalization import RMSNormOp
from ge_dialect.ge.reductions import ReduceSumSquareOp
from ge_dialect.ge.types import element_type_of, value_shape
from ge_dialect.ge.unary import SqrtOp

_SAME = {"GatherND": 2, "GridSample": 2, "Trilu": 2}
"""Operators that ONNX took over as they are, and how many operands they have."""


@converts(*_SAME, domain=DOMAIN)
def same(node: Node) -> SSAValue:
    """`GatherND`, `GridSample` and `Trilu` as they were before ONNX had them."""
    operands = node.operands[: _SAME[node.op_type]]
    return apply(node, node.op_type, *operands, **node.attributes)


@converts("ExpandDims", domain=DOMAIN)
def expand_dims(node: Node) -> SSAValue:
    """`Unsqueeze` at one place."""
    return apply(node, "Unsqueeze", node[0], node.builder.ints(node.ints(1)))


@converts("TorchEmbedding", domain=DOMAIN)
def torch_embedding(node: Node) -> SSAValue:
    """Rows of a table; what the other operands say is about gradients."""
    return apply(node, "Gather", node[0], node[1], axis=0)


@converts("Pad", domain=DOMAIN)
def pad(node: Node) -> SSAValue:
    """`Pad`, whose amounts may be one row of a matrix."""
    pads, value = node[1], node.optional(2)
    if len(value_shape(pads)) == 2:
        pads = apply(node, "Reshape", pads, node.builder.ints([-1]))
    if value is not None and value_shape(value):
        value = node.reshape(value, ())
    return apply(node, "Pad", node[0], pads, value, mode=node.get_string("mode", "constant"))


@converts("Range", domain=DOMAIN)
def sequence(node: Node) -> SSAValue:
    """`Range`, whose step is 1 where it is not given."""
    step = node.optional(2)
    parts = [
        node[0],
        node[1],
        node.builder.number(1, node.element_type()) if step is None else step,
    ]
    return apply(node, "Range", *(node.reshape(x, ()) if value_shape(x) else x for x in parts))


@converts("BiasSoftmax", domain=DOMAIN)
def bias_softmax(node: Node) -> SSAValue:
    """`softmax(data + bias)` over all dimensions from one on."""
    total = node.emit(AddOp(node[0], node[1]))
    attributes = {"axis": node.get_int("axis", 1)}
    inner = replace(
        node, op_type="Softmax", domain="", version=11, operands=(total,), attributes=attributes
    )
    return converters()["Softmax"](inner)[0]


@converts("BiasDropout", domain=DOMAIN)
def bias_dropout(node: Node) -> list[SSAValue]:
    """`data + bias + residual`, of which nothing is dropped outside of training."""
    training = node.optional(4)
    if training is not None and constant_scalar(training) != 0:
        raise OnHost("it trains")
    total = summed(node, (node[0], node[1]))
    kept = [apply(node, "Equal", total, total)] if node.is_used(1) else []
    if kept:  # not of NaN either
        kept = [apply(node, "Or", kept[0], apply(node, "Not", kept[0]))]
    return [summed(node, (total, node.optional(2))), *kept]


@converts("GemmFastGelu", domain=DOMAIN)
def gemm_fast_gelu(node: Node) -> SSAValue:
    """`gelu(X @ W + bias)`, by the hyperbolic tangent."""
    product = node.emit(MatmulOp(node[0], node[1]))
    return node.emit(GeluOp(summed(node, (product, node.optional(2))), approximate="tanh"))


@converts("FusedMatMulActivation", domain=DOMAIN)
def fused_matmul_activation(node: Node) -> SSAValue:
    """`activation(alpha * A' @ B')`."""
    return activated(node, scaled_product(node), None)


@converts("CDist", domain=DOMAIN)
def distances(node: Node) -> SSAValue:
    """`CDist`: the Euclidean distance of each row of `A` from each of `B`, or its square."""
    metric = node.get_string("metric", "sqeuclidean")
    if metric not in ("sqeuclidean", "euclidean"):
        raise OnHost(f"its metric is {metric}")
    rows, features = expect_rank(node[0], 2, "A")
    others, _ = expect_rank(node[1], 2, "B")
    left = node.reshape(node[0], (rows, 1, features))
    right = node.reshape(node[1], (1, others, features))
    squares = node.emit(ReduceSumSquareOp(node.emit(SubOp(left, right)), (2,), keepdims=False))
    return squares if metric == "sqeuclidean" else node.emit(SqrtOp(squares))


def cast(node: Node, x: SSAValue, element_type: Attribute) -> SSAValue:
    """Returns `x` in another element type, where it is not of that."""
    return x if element_type_of(x) == element_type else node.emit(CastOp(x, element_type))


def clamped(node: Node, x: SSAValue, low: float | None, high: float) -> SSAValue:
    """Returns `x` with no number above `high`, and none below `low` where there is one."""
    x = node.emit(MinimumOp(x, node.builder.number(high, element_type_of(x))))
    if low is None:
        return x
    return node.emit(MaximumOp(x, node.builder.number(low, element_type_of(x))))


def gated(node: Node, gate: SSAValue, up: SSAValue, alpha: float, beta: float) -> SSAValue:
    """Returns `gate * sigmoid(alpha * gate) * (up + beta)`."""
    gate = node.emit(SiluOp(gate) if alpha == 1.0 else QuickGeluOp(gate, alpha))
    if beta:
        up = node.emit(AddOp(up, node.builder.number(beta, element_type_of(up))))
    return node.emit(MulOp(gate, up))


@converts("SwiGLU", domain=DOMAIN)
def swiglu(node: Node) -> SSAValue:
    """`gate * sigmoid(alpha * gate) * (up + beta)`; both may be clamped, or in one tensor.

    It rounds once, at the end; with `round_activation` what the gate becomes is rounded as well.
    """
    own = expect_float(node[0], "gate")
    rounds = node.get_flag("round_activation")
    wide = own if rounds else f32
    gate, up = node[0], node.optional(1)
    if up is None:
        gate, up = halves(node, gate)
    gate, up = (cast(node, x, wide) for x in (gate, up))
    if (limit := node.get_float("limit", 0.0)) > 0:
        gate, up = clamped(node, gate, None, limit), clamped(node, up, -limit, limit)
    alpha, beta = (node.get_float(f"activation_{name}", x) for name, x in _SWIGLU)
    return cast(node, gated(node, gate, up, alpha, beta), own)


_SWIGLU = (("alpha", 1.0), ("beta", 0.0))


@converts("ScaledSiLU", domain=DOMAIN)
def scaled_silu(node: Node) -> SSAValue:
    """`silu(scale * X)`, rounded at each step."""
    own, scale = expect_float(node[0], "X"), node.optional(1)
    if scale is None:
        scale = node.builder.number(node.get_float("alpha", 1.0), own)
    x = node.emit(MulOp(node[0], cast(node, scale, own)))
    return node.emit(MulOp(x, node.emit(SigmoidOp(x))))


_GATES = {"silu": SiluOp, "swish": SiluOp, "sigmoid": SigmoidOp}


@converts("GatedRMSNorm", domain=DOMAIN)
def gated_rms_norm(node: Node) -> SSAValue:
    """`rms_norm(X) * activation(gate)` of each part of the last dimension, in f32 up to the end."""
    name = node.get_string("activation", "silu")
    if name not in _GATES:
        node.fail(f"expected 'activation' of {', '.join(_GATES)}, got {name}")
    own, shape = expect_float(node[0], "X"), expect_min_rank(node[0], 1, "X")
    (size,) = expect_rank(node[1], 1, "scale")
    x, scale, gate = (cast(node, node[slot], f32) for slot in range(3))
    if size != shape[-1]:
        if not isinstance(size, int) or not isinstance(shape[-1], int) or shape[-1] % size:
            node.fail(f"expected a scale of a size that divides {shape[-1]}, got {size}")
        x = node.reshape(x, (*shape[:-1], shape[-1] // size, size))
    x = node.emit(RMSNormOp(x, scale, axis=-1, epsilon=node.get_float("epsilon", 1e-6)))
    x = x if value_shape(x) == shape else node.reshape(x, shape)
    return cast(node, node.emit(MulOp(x, node.emit(_GATES[name](gate)))), own)


@converts("GatedAdd", domain=DOMAIN)
def gated_add(node: Node) -> SSAValue:
    """`X + Y * gate`; the gate is given."""
    if node.optional(3) is not None:
        raise OnHost("its gate is a projection")
    return node.emit(AddOp(node[0], node.emit(MulOp(node[1], node[2]))))


@converts("GemmaRotaryEmbedding", domain=DOMAIN)
def gemma_rotary_embedding(node: Node) -> list[SSAValue]:
    """`x * cos(emb) + rotated * sin(emb)` of queries and of keys."""
    batch, length, size = expect_rank(node[0], 3, "emb")
    own = node.element_type(1)
    cosine, sine = (
        node.reshape(cast(node, apply(node, name, node[0]), own), (batch, 1, length, size))
        for name in ("Cos", "Sin")
    )
    found: list[SSAValue] = []
    for slot in (1, 3):
        plain, turned = node.emit(MulOp(node[slot], cosine)), node.emit(MulOp(node[slot + 1], sine))
        found.append(node.emit(AddOp(plain, turned)))
    return found
