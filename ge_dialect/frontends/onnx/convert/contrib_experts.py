"""`MoE` and `QMoE` of ONNX Runtime's domain: a router and the networks that it chooses from.

Every network sees every token, and a token keeps what its own experts gave: sizes stay known, and
the products are three large ones.

Source: ONNX Runtime, "Contrib operators" (docs/ContribOperators.md), the page of each operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np
from xdsl.ir import Operation, SSAValue

from ge_dialect.frontends.onnx.convert.contrib import DOMAIN
from ge_dialect.frontends.onnx.convert.contrib_blocks import narrow_type, unpacked
from ge_dialect.frontends.onnx.convert.contrib_plain import clamped, gated
from ge_dialect.frontends.onnx.convert.delegate import apply
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge.activations import GeluOp, ReluOp, SiluOp
from ge_dialect.ge.base import expect_rank
from ge_dialect.ge.binary import AddOp, DivOp, MulOp
from ge_dialect.ge.constants import constant_array
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.movement import TransposeOp
from ge_dialect.ge.quantization import DequantizeLinearOp
from ge_dialect.ge.reductions import ReduceSumOp, SoftmaxOp
from ge_dialect.ge.selection import TopKOp
from ge_dialect.ge.types import element_type_of, value_shape

_ACTIVATIONS: dict[str, Callable[[SSAValue], Operation]] = {
    "relu": ReluOp,
    "silu": SiluOp,
    "gelu": lambda x: GeluOp(x, approximate="tanh"),
}


@dataclass(frozen=True)
class _Layer:
    """One product of all experts: a weight `[E, N, K]` and a bias `[E, N]`."""

    weight: SSAValue
    bias: SSAValue | None

    def rows(self, node: Node, start: int, step: int, end: int) -> _Layer:
        """Returns some of the N rows."""
        weight = _rows(node, self.weight, start, step, end)
        return _Layer(
            weight, None if self.bias is None else _rows(node, self.bias, start, step, end)
        )

    def of(self, node: Node, x: SSAValue) -> SSAValue:
        """Returns `x @ weight' + bias` of all experts, `[E, tokens, N]`."""
        product = node.emit(MatmulOp(x, node.emit(TransposeOp(self.weight, (0, 2, 1)))))
        if self.bias is None:
            return product
        experts, size = expect_rank(self.bias, 2, "bias")
        return node.emit(AddOp(product, node.reshape(self.bias, (experts, 1, size))))


def _rows(node: Node, x: SSAValue, start: int, step: int, end: int) -> SSAValue:
    bounds = (node.builder.ints([number]) for number in (start, end, 1, step))
    return apply(node, "Slice", x, *bounds)


@converts("MoE", domain=DOMAIN)
def experts(node: Node) -> SSAValue:
    """`MoE`, with weights of floats."""
    first, second = _Layer(node[2], node.optional(3)), _Layer(node[4], node.optional(5))
    third = None
    if (weight := node.optional(6)) is not None:
        third = _Layer(weight, node.optional(7))
    return _mixture(node, first, second, third, None)


@converts("QMoE", domain=DOMAIN)
def quantized_experts(node: Node) -> SSAValue:
    """`QMoE`, with weights of 2, 4 or 8 bits, laid out as for a CPU."""
    if (kind := node.get_string("quant_type", "int")) != "int":
        raise OnHost(f"weights of the kind {kind}")
    if node.has("weights_prepacked") and node.get_int("weights_prepacked"):
        raise OnHost("its weights are packed for one machine")
    if node.optional(14) is None and not node.get_flag("normalize_routing_weights"):
        raise OnHost("a CPU normalises its routing weights all the same, other devices do not")
    if any(node.optional(slot) is not None for slot in range(15, 21)):
        raise OnHost("scales of a whole expert, or of activations")
    first = _Layer(_weight(node, 2, 11, "fc1"), node.optional(4))
    second = _Layer(_weight(node, 5, 12, "fc2"), node.optional(7))
    third = None
    if node.optional(8) is not None:
        third = _Layer(_weight(node, 8, 13, "fc3"), node.optional(10))
    return _mixture(node, first, second, third, node.optional(14))


def _weight(node: Node, slot: int, zero_slot: int, name: str) -> SSAValue:
    """Returns a weight `[E, N, K]` that is dequantised; its scale is the operand behind it."""
    bits = node.get_int(f"{name}_expert_weight_bits", node.get_int("expert_weight_bits", 4))
    packed, scale = constant_array(node[slot]), constant_array(node[slot + 1])
    if packed is None or scale is None:
        raise OnHost(f"input {slot} or {slot + 1} is not constant")
    if bits not in (2, 4, 8) or packed.dtype.itemsize != 1 or packed.ndim != 3:
        raise OnHost(f"weights of {bits} bits in {packed.dtype} of rank {packed.ndim}")
    levels = unpacked(packed, bits)
    size = node.get_int("block_size", 0) or levels.shape[2]
    blocks = (*levels.shape[:2], levels.shape[2] // max(size, 1))
    if size < 1 or levels.shape[2] % size or scale.size != np.prod(blocks):
        node.fail(f"expected a scale for each {size} of {list(levels.shape)}, got {scale.size}")
    zero = _zero_points(node, zero_slot, bits, blocks)
    kind = narrow_type(bits, "u" if zero is not None else "i")
    if zero is None:
        levels = (levels.astype(np.int16) - 2 ** (bits - 1)).astype(np.int8)
    operands = (
        node.builder.array(levels.astype(kind)),
        node.builder.array(np.ascontiguousarray(scale.reshape(blocks))),
        None if zero is None else node.builder.array(zero.astype(kind)),
    )
    return node.emit(DequantizeLinearOp(*operands, axis=2, block_size=size))


def _zero_points(
    node: Node, slot: int, bits: int, blocks: tuple[int, ...]
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]] | None:
    """Returns zero points by block; those of a row, or without blocks of an expert, are packed."""
    if node.optional(slot) is None:
        return None
    if (packed := constant_array(node[slot])) is None:
        raise OnHost(f"input {slot} is not constant")
    experts, rows, per_row = blocks
    lines = experts * rows if node.get_int("block_size", 0) else experts
    found = unpacked(packed.reshape(lines, -1), bits)[:, : experts * rows * per_row // lines]
    if found.size != experts * rows * per_row:
        node.fail(f"expected zero points for {list(blocks)}, got {packed.size} bytes")
    return np.ascontiguousarray(found.reshape(blocks))


def _mixture(
    node: Node, first: _Layer, second: _Layer, third: _Layer | None, mix: SSAValue | None
) -> SSAValue:
    """Adds the networks, and for each token the sum of its experts by their weights."""
    if node.get_flag("use_sparse_mixer") or node.get_flag("swiglu_limit_after_activation"):
        raise OnHost("its router is a sparse mixer, or it clamps after the activation")
    chosen, weights = _routed(node, node[1], mix)
    hidden = value_shape(node[0])[-1]
    tokens = value_shape(node[1])[0]
    x = node.reshape(node[0], (1, tokens, hidden))
    found = second.of(node, _activated(node, x, first, third))
    zero = node.builder.number(0.0, element_type_of(found))
    kept = apply(node, "Where", _by_expert(node, chosen), found, zero)
    scaled = node.emit(MulOp(kept, _by_expert(node, weights)))
    total = node.emit(ReduceSumOp(scaled, (0,), keepdims=False))
    return node.reshape(total, value_shape(node[0]))


def _by_expert(node: Node, x: SSAValue) -> SSAValue:
    """Returns `[tokens, E]` as `[E, tokens, 1]`."""
    tokens, experts = value_shape(x)
    return node.reshape(node.emit(TransposeOp(x, (1, 0))), (experts, tokens, 1))


def _routed(node: Node, scores: SSAValue, mix: SSAValue | None) -> tuple[SSAValue, SSAValue]:
    """Returns which experts each token has, and their weights, both `[tokens, E]`."""
    count = expect_rank(scores, 2, "router_probs")[1]
    if not isinstance(count, int):
        raise OnHost("the number of experts is not known")
    index = node.emit_all(TopKOp(scores, node.get_int("k", 1)))[1]
    hot = apply(node, "OneHot", index, node.builder.ints(count), node.builder.ints([0, 1]))
    some = node.emit(ReduceSumOp(hot, (1,), keepdims=False))
    chosen = apply(node, "Greater", some, node.builder.ints(0))
    given = node.emit(SoftmaxOp(scores, -1)) if mix is None else mix
    weights = apply(node, "Where", chosen, given, node.builder.number(0.0, element_type_of(given)))
    if node.get_flag("normalize_routing_weights"):
        weights = node.emit(DivOp(weights, node.emit(ReduceSumOp(weights, (1,), keepdims=True))))
    return chosen, weights


def _activated(node: Node, x: SSAValue, first: _Layer, third: _Layer | None) -> SSAValue:
    """Returns what the second layer is given, `[E, tokens, I]`."""
    kind = node.get_string("activation_type", "relu")
    if kind == "swiglu":
        gate, up = _gate_and_up(node, first, third)
        return _swiglu(node, gate.of(node, x), up.of(node, x))
    value = first.of(node, x)
    if kind != "identity":
        if kind not in _ACTIVATIONS:
            raise OnHost(f"its activation is {kind}")
        value = node.emit(_ACTIVATIONS[kind](value))
    return value if third is None else node.emit(MulOp(value, third.of(node, x)))


def _gate_and_up(node: Node, first: _Layer, third: _Layer | None) -> tuple[_Layer, _Layer]:
    fusion, rows = node.get_int("swiglu_fusion", 0), value_shape(first.weight)[1]
    if fusion == 0:
        if third is None:
            node.fail("expected weights of fc3 where 'swiglu_fusion' is 0")
        return first, third
    if fusion not in (1, 2) or third is not None or not isinstance(rows, int) or rows % 2:
        node.fail(f"expected 'swiglu_fusion' of 0 to 2 and an even fc1, got {fusion} and {rows}")
    if fusion == 1:
        return first.rows(node, 0, 2, rows), first.rows(node, 1, 2, rows)
    return first.rows(node, 0, 1, rows // 2), first.rows(node, rows // 2, 1, rows)


def _swiglu(node: Node, gate: SSAValue, up: SSAValue) -> SSAValue:
    if (limit := node.get_float("swiglu_limit", inf)) != inf:
        gate, up = clamped(node, gate, None, limit), clamped(node, up, -limit, limit)
    alpha, beta = (node.get_float(f"activation_{name}", x) for name, x in _DEFAULTS)
    return gated(node, gate, up, alpha, beta)


_DEFAULTS = (("alpha", 1.0), ("beta", 0.0))
