"""Attention, rotary embedding and dropout."""

from __future__ import annotations

from math import inf, sqrt

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.dims import multiply
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge.attention import FlashAttentionOp, RotaryEmbeddingOp
from ge_dialect.ge.base import expect_rank
from ge_dialect.ge.dropout import DropoutOp
from ge_dialect.ge.dtypes import is_bool
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.movement import TransposeOp
from ge_dialect.ge.pieces import ConcatOp, PadOp
from ge_dialect.ge.types import element_type_of, value_shape

_MASK, _PAST_KEY, _PAST_VALUE, _NONPAD = 3, 4, 5, 6


@converts("Attention")
def attention(node: Node) -> list[SSAValue]:
    """`Attention` with the cache in- or outside, but for what only debugging needs.

    ONNX gives 0 for a query that keeps no key, hence `nan_guard` where a mask may take all keys.
    """
    _refuse_exotic(node)
    packed = len(node.shape()) == 3
    query, key, value = _heads_of(node) if packed else (node[0], node[1], node[2])
    offset = None
    past_key, past_value = node.optional(_PAST_KEY), node.optional(_PAST_VALUE)
    if past_key is not None and past_value is not None:
        offset = _past_length(node, past_key)
        key = node.emit(ConcatOp([past_key, key], 2))
        value = node.emit(ConcatOp([past_value, value], 2))
    mask = _mask(node, key)
    result = node.emit(
        FlashAttentionOp(
            query,
            key,
            value,
            mask,
            scale=node.get_float("scale", 0.0) if node.has("scale") else default_scale(query),
            causal=node.get_flag("is_causal"),
            causal_offset=offset,
            softcap=node.get_float("softcap", 0.0) or None,
            nan_guard=mask is not None,
        )
    )
    return [joined_heads(node, result) if packed else result, key, value][: len(node.used)]


def default_scale(query: SSAValue) -> float:
    """Returns what scores of queries `[B, H, S, D]` are multiplied by where a node has no scale.

    Raises:
        OnHost: The size of a head is not known.
    """
    size = expect_rank(query, 4, "Q")[3]
    if not isinstance(size, int):
        raise OnHost("the scale depends on an unknown dimension")
    return 1 / sqrt(size) if size else 1.0


def _refuse_exotic(node: Node) -> None:
    """Raises OnHost for what `ge.flash_attention` does not have."""
    if node.is_used(3):
        raise OnHost("the scores are used")
    if node.optional(_NONPAD) is not None:
        raise OnHost("key lengths differ within the batch")
    if any(node.get_int(f"{side}_window_size", -1) >= 0 for side in ("left", "right")):
        raise OnHost("a sliding window")
    if (node.optional(_PAST_KEY) is None) != (node.optional(_PAST_VALUE) is None):
        node.fail("expected both of 'past_key' and 'past_value', got one")


def _past_length(node: Node, past_key: SSAValue) -> int | None:
    """Returns how many keys come before the first query; None where it does not matter."""
    if not node.get_flag("is_causal"):
        return None
    if not isinstance(length := expect_rank(past_key, 4, "past_key")[2], int):
        raise OnHost("the causal mask depends on an unknown dimension")
    return length


def _heads_of(node: Node) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Returns query, key and value as `[B, heads, S, D]`, from `[B, S, heads * D]`."""
    queries, keys = node.get_int("q_num_heads"), node.get_int("kv_num_heads")
    return (
        split_heads(node, node[0], queries, "Q"),
        split_heads(node, node[1], keys, "K"),
        split_heads(node, node[2], keys, "V"),
    )


def split_heads(node: Node, value: SSAValue, heads: int, name: str) -> SSAValue:
    """Returns `[B, S, heads * D]` as `[B, heads, S, D]`.

    Raises:
        OnHost: The size of a head is not known.
        GEError: The number of heads does not fit (GE0221).
    """
    batch, length, hidden = expect_rank(value, 3, name)
    if not isinstance(hidden, int):
        raise OnHost("the size of a head is not known")
    if heads < 1 or hidden % heads:
        node.fail(f"expected a number of heads that divides {hidden}, got {heads}")
    split = node.reshape(value, (batch, length, heads, hidden // heads))
    return node.emit(TransposeOp(split, (0, 2, 1, 3)))


def joined_heads(node: Node, value: SSAValue) -> SSAValue:
    """Returns `[B, heads, S, D]` as `[B, S, heads * D]`."""
    swapped = node.emit(TransposeOp(value, (0, 2, 1, 3)))
    batch, length, heads, size = value_shape(swapped)
    return node.reshape(swapped, (batch, length, multiply(heads, size)))


def _mask(node: Node, key: SSAValue) -> SSAValue | None:
    """Returns the mask, made as long as there are keys: missing ones are masked."""
    if (mask := node.optional(_MASK)) is None:
        return None
    have, want = value_shape(mask)[-1] if value_shape(mask) else 1, expect_rank(key, 4, "K")[2]
    if have == want:
        return mask
    if not (isinstance(have, int) and isinstance(want, int)):
        if have == 1:
            raise OnHost("whether the mask is too short is not known")
        return mask
    rank = len(value_shape(mask))
    if rank == 0 or want < have:
        node.fail(f"expected a mask for {want} keys, got {have}")
    pads = [0] * (2 * rank)
    pads[-1] = want - have
    element_type = element_type_of(mask)
    fill = node.builder.number(0 if is_bool(element_type) else -inf, element_type)
    return node.emit(PadOp(mask, pads, "constant", fill))


@converts("RotaryEmbedding")
def rotary_embedding(node: Node) -> SSAValue:
    """`RotaryEmbedding`."""
    return node.emit(
        RotaryEmbeddingOp(
            node[0],
            node[1],
            node[2],
            node.optional(3),
            interleaved=node.get_flag("interleaved"),
            num_heads=node.get_int("num_heads", 0),
            rotary_dim=node.get_int("rotary_embedding_dim", 0),
        )
    )


@converts("Dropout")
def dropout(node: Node) -> list[SSAValue]:
    """`Dropout`; before opset 12 its ratio is an attribute, and only opsets before 7 train."""
    if node.version < 12:
        ratio = node.builder.number(node.get_float("ratio", 0.5), node.element_type())
        trains = node.version < 7 and not node.get_flag("is_test")
        op = DropoutOp(node[0], ratio, node.builder.number(1, i1) if trains else None)
    else:
        seed = node.get_int("seed") if node.has("seed") else None
        op = DropoutOp(node[0], node.optional(1), node.optional(2), seed=seed)
    result, mask = node.emit_all(op)
    if node.version < 10 and node.is_used(1):
        mask = node.emit(CastOp(mask, node.element_type()))
    return [result, mask]
