"""Attention of ONNX Runtime's domain: with its projections, and of several heads.

Source: ONNX Runtime, "Contrib operators" (docs/ContribOperators.md), the page of each operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.attention import default_scale, joined_heads, split_heads
from ge_dialect.frontends.onnx.convert.contrib import DOMAIN
from ge_dialect.frontends.onnx.convert.delegate import apply, length_of, positions
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.frontends.onnx.convert.quantized import multiplier, scalar
from ge_dialect.frontends.onnx.convert.quantized_contrib import scaled_sums
from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import expect_rank
from ge_dialect.ge.binary import AddOp
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.integer_contractions import MatmulIntegerOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.types import element_type_of, value_shape


@dataclass(frozen=True)
class Heads:
    """Queries, keys and values, `[B, H, S, D]` each."""

    query: SSAValue
    key: SSAValue
    value: SSAValue

    def after(self, node: Node, past_key: SSAValue, past_value: SSAValue) -> Heads:
        """Returns the same with the keys and values of a cache in front."""
        key = node.emit(ConcatOp([past_key, self.key], 2))
        return Heads(self.query, key, node.emit(ConcatOp([past_value, self.value], 2)))


def attend(
    node: Node,
    heads: Heads,
    mask: SSAValue | None,
    *,
    causal: bool = False,
    causal_offset: int | None = None,
    softcap: float | None = None,
    sink: SSAValue | None = None,
) -> SSAValue:
    """Returns what queries find, `[B, S, H * D]`; `scale` is that of the node, if it has one.

    Raises:
        OnHost: There is none, and the size of a head is not known.
    """
    result = FlashAttentionOp(
        heads.query,
        heads.key,
        heads.value,
        mask,
        scale=node.get_float("scale", 0.0) or default_scale(heads.query),
        causal=causal,
        causal_offset=causal_offset,
        softcap=softcap,
        sink=sink,
    )
    return joined_heads(node, node.emit(result))


@converts("Attention", domain=DOMAIN)
def attention(node: Node) -> list[SSAValue]:
    """`Attention`: projections by one weight and one bias, and then attention."""
    sizes = _projected_sizes(node, 1)
    weights = split(node, node[1], 1, sizes)
    parts = [node.emit(MatmulOp(node[0], weight)) for weight in weights]
    if (bias := node.optional(2)) is not None:
        parts = _biased(node, parts, split(node, bias, 0, sizes))
    return _attention(node, parts, mask=3, past=4, bias=5)


@converts("QAttention", domain=DOMAIN)
def quantized_attention(node: Node) -> list[SSAValue]:
    """`QAttention`: the same with a projection of bytes, whose sums get scale and bias."""
    sizes = _projected_sizes(node, 1)
    sums = MatmulIntegerOp(node[0], node[1], node.optional(6), node.optional(7))
    scale = multiplier(node, scalar(node, node[3]), scalar(node, node[4]))
    projected = scaled_sums(node, node.emit(sums), scale, node[2])
    return _attention(node, split(node, projected, 2, sizes), mask=5, past=8, bias=None)


def _projected_sizes(node: Node, slot: int) -> Sequence[int]:
    """Returns how many columns of the weight make queries, keys and values."""
    columns = expect_rank(node[slot], 2, "weights")[1]
    if (given := node.get_ints("qkv_hidden_sizes")) is not None:
        if len(given) != 3:
            node.fail(f"expected 3 of 'qkv_hidden_sizes', got {len(given)}")
        return given
    if not isinstance(columns, int):
        raise OnHost("the size of its weights is not known")
    if columns % 3:
        node.fail(f"expected a multiple of 3 columns of the weights, got {columns}")
    return (columns // 3,) * 3


def split(node: Node, value: SSAValue, axis: int, sizes: Sequence[int]) -> list[SSAValue]:
    """Returns the pieces of a tensor along one dimension."""
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return [
        apply(
            node,
            "Slice",
            value,
            node.builder.ints([end - size]),
            node.builder.ints([end]),
            node.builder.ints([axis]),
        )
        for size, end in zip(sizes, ends, strict=True)
    ]


def _biased(node: Node, values: Sequence[SSAValue], biases: Sequence[SSAValue]) -> list[SSAValue]:
    return [node.emit(AddOp(x, bias)) for x, bias in zip(values, biases, strict=True)]


def _attention(
    node: Node, parts: Sequence[SSAValue], mask: int, past: int, bias: int | None
) -> list[SSAValue]:
    """Adds attention to projections; `mask`, `past` and `bias` are the slots of operands."""
    if node.get_flag("do_rotary") or node.get_flag("past_present_share_buffer"):
        raise OnHost("it rotates, or writes into its cache")
    count = node.get_int("num_heads")
    names = ("query", "key", "value")
    heads = Heads(
        *(split_heads(node, x, count, name) for x, name in zip(parts, names, strict=True))
    )
    before = node.optional(past)
    if before is not None:
        cached = (apply(node, "Gather", before, node.builder.ints(i), axis=0) for i in (0, 1))
        heads = heads.after(node, *cached)
    scores_mask = summed_masks(
        node,
        None if node.optional(mask) is None else padding_mask(node, mask, heads),
        None if bias is None else node.optional(bias),
    )
    result = _attend(node, heads, scores_mask, before)
    return [result, _stacked(node, heads)] if node.is_used(1) else [result]


def _attend(node: Node, heads: Heads, mask: SSAValue | None, before: SSAValue | None) -> SSAValue:
    """Adds attention, where a query may see what comes after it or not.

    Args:
        node: Says that.
        heads: With the cache in front.
        mask: Is added to scores.
        before: A cache `[..., length, D]`.
    """
    if not node.get_flag("unidirectional"):
        return attend(node, heads, mask)
    length = 0 if before is None else value_shape(before)[-2]
    if isinstance(length, int):
        return attend(node, heads, mask, causal=True, causal_offset=length or None)
    assert before is not None
    start = length_of(node, before, len(value_shape(before)) - 2)
    rows = node.reshape(positions(node, heads.query, 2), (value_shape(heads.query)[2], 1))
    rows = apply(node, "Add", rows, start)
    kept = apply(node, "LessOrEqual", positions(node, heads.key, 2), rows)
    if mask is not None:
        lowest = node.builder.number(-inf, element_type_of(mask))
        kept = apply(node, "Where", kept, mask, lowest)
    return attend(node, heads, kept)


def _stacked(node: Node, heads: Heads) -> SSAValue:
    axes = node.builder.ints([0])
    parts = [apply(node, "Unsqueeze", x, axes) for x in (heads.key, heads.value)]
    return node.emit(ConcatOp(parts, 0))


def summed_masks(node: Node, first: SSAValue | None, second: SSAValue | None) -> SSAValue | None:
    """Returns the sum of two masks of floats, as far as they are there."""
    if first is None or second is None:
        return second if first is None else first
    return node.emit(AddOp(first, second))


def padding_mask(node: Node, slot: int, heads: Heads) -> SSAValue:
    """Returns what is added to scores: 0 for a key that is kept, else `mask_filter_value`.

    The operand says for each key, or each pair of query and key, whether it is kept, or how many
    keys of each row are; after those may come where the first one is.
    """
    mask = node[slot]
    shape = value_shape(mask)
    if len(shape) == 2:
        kept = _positive(node, node.reshape(mask, (shape[0], 1, 1, shape[1])))
    elif len(shape) == 3:
        kept = _positive(node, node.reshape(mask, (shape[0], 1, shape[1], shape[2])))
    elif len(shape) == 1:
        kept = _within(node, mask, heads)
    else:
        raise OnHost(f"a mask of rank {len(shape)}")
    element_type = element_type_of(heads.query)
    filler = node.get_float("mask_filter_value", -10000.0)
    zero, filled = (node.builder.number(x, element_type) for x in (0.0, filler))
    return apply(node, "Where", kept, zero, filled)


def _positive(node: Node, mask: SSAValue) -> SSAValue:
    return apply(node, "Greater", mask, node.builder.number(0, element_type_of(mask)))


def _within(node: Node, ends: SSAValue, heads: Heads) -> SSAValue:
    """Returns whether each key comes before the end of its row, and not before its start."""
    batch, size = value_shape(heads.key)[0], value_shape(ends)[0]
    places = apply(node, "Cast", positions(node, heads.key, 2), to=6)  # i32, as the operand
    if size == batch:
        return apply(node, "Less", places, node.reshape(ends, (batch, 1, 1, 1)))
    if not isinstance(size, int) or not isinstance(batch, int) or size != 2 * batch:
        raise OnHost(f"a mask of rank 1 with {size} elements")
    end, start = (node.reshape(x, (batch, 1, 1, 1)) for x in split(node, ends, 0, (batch, batch)))
    before = apply(node, "Less", places, end)
    return apply(node, "And", before, apply(node, "GreaterOrEqual", places, start))


@converts("MultiHeadAttention", domain=DOMAIN)
def given_attention(node: Node) -> list[SSAValue]:
    """`MultiHeadAttention`."""
    return multi_head_attention(node)


def multi_head_attention(node: Node) -> list[SSAValue]:
    """Adds attention of what is projected already, with or without a cache."""
    if node.is_used(3) or any(node.optional(slot) is not None for slot in (8, 9)):
        raise OnHost("the scores are used, or it writes into its cache")
    heads = _given_heads(node)
    if node.get_flag("unidirectional") and not _is_self_attention(heads):
        raise OnHost("'unidirectional' where there are not as many keys as queries")
    past_key, past_value = node.optional(6), node.optional(7)
    if past_key is not None and past_value is not None:
        heads = heads.after(node, past_key, past_value)
    mask = summed_masks(
        node,
        None if node.optional(4) is None else padding_mask(node, 4, heads),
        node.optional(5),
    )
    result = _attend(node, heads, mask, past_key)
    return [result, heads.key, heads.value][: len(node.used)]


@converts("DecoderMaskedMultiHeadAttention", domain=DOMAIN)
def decoder_masked_multi_head_attention(node: Node) -> list[SSAValue]:
    """`MultiHeadAttention` of one step, whose operands come in another order."""
    if node.get_flag("past_present_share_buffer") or node.get_flag("output_qk"):
        raise OnHost("the scores are used, or it writes into its cache")
    if any(node.optional(slot) is not None for slot in (8, 9)):
        raise OnHost("several beams share its cache")
    order = (0, 1, 2, 10, 3, 4, 5, 6)
    return multi_head_attention(replace(node, operands=[node.optional(i) for i in order]))


def _is_self_attention(heads: Heads) -> bool:
    """Whether there is a key for each query; of others ONNX Runtime's devices differ."""
    return value_shape(heads.query)[2] == value_shape(heads.key)[2]


def _given_heads(node: Node) -> Heads:
    """Returns queries, keys and values as the operator takes them: one, two or three tensors."""
    count = node.get_int("num_heads")
    if len(node.shape()) not in (3, 5):
        node.fail(f"expected queries of rank 3 or 5, got {len(node.shape())}")
    if len(node.shape()) == 5:  # [B, S, H, 3, D]
        if node.optional(3) is not None:
            raise OnHost("a bias of packed heads")
        return Heads(*_unpacked(node, node[0], 3))
    parts = [node[0], node[1]] + [x for x in (node.optional(2),) if x is not None]
    if (bias := node.optional(3)) is not None:
        projected = [x for x in parts if len(value_shape(x)) == 3]  # a cache has its bias
        biases = split(node, bias, 0, _bias_sizes(node, bias))
        added = _biased(node, projected, biases[: len(projected)])
        parts = [*added, *parts[len(projected) :]]
    query = split_heads(node, parts[0], count, "query")
    if len(value_shape(parts[1])) == 5:  # [B, T, H, 2, D]
        return Heads(query, *_unpacked(node, parts[1], 2))
    key, value = (
        x if len(value_shape(x)) == 4 else split_heads(node, x, count, "key")
        for x in (parts[1], node[2] if len(parts) < 3 else parts[2])
    )
    return Heads(query, key, value)


def _bias_sizes(node: Node, bias: SSAValue) -> Sequence[int]:
    hidden, total = node.shape()[2], expect_rank(bias, 1, "bias")[0]
    if not isinstance(hidden, int) or not isinstance(total, int):
        raise OnHost("the size of a head is not known")
    return (hidden, hidden, total - 2 * hidden)


def _unpacked(node: Node, packed: SSAValue, count: int) -> list[SSAValue]:
    """Returns `[B, H, S, D]` of each that `[B, S, H, count, D]` holds."""
    chosen = (
        apply(node, "Gather", packed, node.builder.ints(index), axis=3) for index in range(count)
    )
    return [apply(node, "Transpose", one, perm=(0, 2, 1, 3)) for one in chosen]
