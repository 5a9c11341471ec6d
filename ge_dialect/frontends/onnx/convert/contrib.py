"""Operators of ONNX Runtime's domain `com.microsoft`, as its optimiser leaves them in a file.

What is not supported in the form at hand raises `OnHost`: there is no host that could run it, so
that the importer refuses the model.

Source: ONNX Runtime, "Contrib operators" (docs/ContribOperators.md), the page of each operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.delegate import apply
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converters, converts
from ge_dialect.ge import indexing, normalization, reductions
from ge_dialect.ge.activations import GeluOp, QuickGeluOp
from ge_dialect.ge.base import expect_rank
from ge_dialect.ge.binary import AddOp, MulOp
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.movement import TransposeOp
from ge_dialect.ge.types import element_type_of

DOMAIN = "com.microsoft"

_OPSET = 13
"""Of ONNX's own operators that a fused one is made of."""


@converts("Gelu", domain=DOMAIN)
def gelu(node: Node) -> SSAValue:
    """`Gelu`, by the error function."""
    return node.emit(GeluOp(node[0]))


@converts("BiasGelu", domain=DOMAIN)
def bias_gelu(node: Node) -> SSAValue:
    """`gelu(A + B)`, by the error function."""
    return node.emit(GeluOp(node.emit(AddOp(node[0], node[1]))))


@converts("FastGelu", domain=DOMAIN)
def fast_gelu(node: Node) -> SSAValue:
    """`gelu(X + bias)`, by the hyperbolic tangent."""
    return node.emit(GeluOp(summed(node, (node[0], node.optional(1))), approximate="tanh"))


@converts("QuickGelu", domain=DOMAIN)
def quick_gelu(node: Node) -> SSAValue:
    """`x * sigmoid(alpha * x)`."""
    return node.emit(QuickGeluOp(node[0], node.get_float("alpha", 1.702)))


def summed(node: Node, values: Sequence[SSAValue | None]) -> SSAValue:
    """Returns the sum of those values that are there, from left to right; the first one is."""
    total, *rest = (value for value in values if value is not None)
    for value in rest:
        total = node.emit(AddOp(total, value))
    return total


@converts("FusedMatMul", "TransposeMatMul", domain=DOMAIN)
def fused_matmul(node: Node) -> SSAValue:
    """`alpha * A' @ B'`."""
    return scaled_product(node)


def scaled_product(node: Node) -> SSAValue:
    """Adds `alpha * A' @ B'`: matrices are transposed, or their rows are the first dimension."""
    product = node.emit(MatmulOp(_factor(node, 0, "A"), _factor(node, 1, "B")))
    if (alpha := node.get_float("alpha", 1.0)) == 1.0:
        return product
    return node.emit(MulOp(product, node.builder.number(alpha, element_type_of(product))))


def _factor(node: Node, slot: int, name: str) -> SSAValue:
    value, rank = node[slot], len(node.shape(slot))
    if rank < 2:
        return value  # a vector has nothing to transpose
    order = [*range(rank)]
    if node.get_flag(f"transBatch{name}"):
        order = [*range(1, rank - 1), 0, rank - 1]
    if node.get_flag(f"trans{name}"):
        order[-2:] = order[-1], order[-2]
    return value if order == [*range(rank)] else node.emit(TransposeOp(value, order))


@converts("SkipLayerNormalization", domain=DOMAIN)
def skip_layer_norm(node: Node) -> list[SSAValue]:
    """`layer_norm(input + skip + bias)`, and the sum as a fourth output."""
    total = summed(node, (node[0], node[1], node.optional(4)))
    epsilon = node.get_float("epsilon", 1e-12)
    op = normalization.LayerNormOp(total, node[2], node.optional(3), axis=-1, epsilon=epsilon)
    return _normalized(node, node.emit(op), total)


@converts("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_rms_norm(node: Node) -> list[SSAValue]:
    """`rms_norm(input + skip + bias)`, and the sum as a fourth output."""
    total = summed(node, (node[0], node[1], node.optional(3)))
    epsilon = node.get_float("epsilon", 1e-12)
    op = normalization.RMSNormOp(total, node[2], axis=-1, epsilon=epsilon)
    return _normalized(node, node.emit(op), total)


def _normalized(node: Node, result: SSAValue, total: SSAValue) -> list[SSAValue]:
    if node.is_used(1) or node.is_used(2):
        raise OnHost("mean or deviation is used")
    return [result, result, result, total][: len(node.used)]  # slots 1 and 2 have no name


@converts("FusedConv", domain=DOMAIN)
def fused_conv(node: Node) -> SSAValue:
    """`activation(conv(X, W, B) + Z)`."""
    (result,) = converters()["Conv"](replace(node, op_type="Conv", version=_OPSET))
    return activated(node, summed(node, (result, node.optional(3))), "activation_params")


@converts("FusedGemm", domain=DOMAIN)
def fused_gemm(node: Node) -> SSAValue:
    """`activation(gemm(A, B, C))`."""
    (result,) = converters()["Gemm"](replace(node, op_type="Gemm", version=_OPSET))
    return activated(node, result, None)


_ACTIVATIONS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        **dict.fromkeys(("Relu", "Tanh", "Sigmoid", "Softplus", "Softsign", "HardSwish"), ()),
        **dict.fromkeys(("LeakyRelu", "Elu", "Celu", "ThresholdedRelu"), ("alpha",)),
        "HardSigmoid": ("alpha", "beta"),
        "Selu": ("alpha", "gamma"),
        "Clip": ("min", "max"),
    }
)
"""Functions that follow a product, and their parameters in the order of a list."""


def activated(node: Node, value: SSAValue, parameters: str | None) -> SSAValue:
    """Returns `activation(value)`; parameters are a list, or one attribute each.

    Raises:
        OnHost: There is no op for the activation.
    """
    if not node.has("activation"):
        return value
    name = node.get_string("activation")
    if (names := _ACTIVATIONS.get(name)) is None:
        raise OnHost(f"its activation is {name}")
    if parameters is None:
        given = {one: node.get_float(key) for one in names if node.has(key := f"activation_{one}")}
    else:
        given = dict(zip(names, node.get_floats(parameters) or (), strict=False))
    if name != "Clip":
        return apply(node, name, value, **given)
    if len(given) != 2:
        node.fail(f"expected both bounds of Clip, got {len(given)}")
    bounds = (node.builder.number(given[one], element_type_of(value)) for one in names)
    return apply(node, name, value, *bounds)


@converts("EmbedLayerNormalization", domain=DOMAIN)
def embed_layer_norm(node: Node) -> list[SSAValue]:
    """The sum of the embeddings of words, places and segments, normalised."""
    words = node.emit(indexing.GatherOp(node[2], node[0], 0))
    if (places := node.optional(8)) is None:
        length = expect_rank(node[0], 2, "input_ids")[1]
        if not isinstance(length, int):
            raise OnHost("the length of the sequence is not known")
        places = node.builder.ints(range(length))
    placed = node.emit(indexing.GatherOp(node[3], places, 0))
    segments, table = node.optional(1), node.optional(4)
    parts = [words, placed]
    if segments is not None and table is not None:
        parts.append(node.emit(indexing.GatherOp(table, segments, 0)))
    total = summed(node, parts)
    epsilon = node.get_float("epsilon", 1e-12)
    op = normalization.LayerNormOp(total, node[5], node[6], axis=-1, epsilon=epsilon)
    return [node.emit(op), _mask_index(node), total][: len(node.used)]


def _mask_index(node: Node) -> SSAValue:
    """Returns how many places of each row the mask keeps, 0 where there is none."""
    if (mask := node.optional(7)) is not None:
        return node.emit(reductions.ReduceSumOp(mask, (1,), keepdims=False))
    zeros = node.emit(MulOp(node[0], node.builder.number(0, node.element_type())))
    return node.emit(reductions.ReduceSumOp(zeros, (1,), keepdims=False))
