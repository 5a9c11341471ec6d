"""`GroupQueryAttention` of ONNX Runtime's domain: decoding with a cache.

Source: ONNX Runtime, "Contrib operators" (docs/ContribOperators.md), com.microsoft.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.attention import split_heads
from ge_dialect.frontends.onnx.convert.contrib import DOMAIN
from ge_dialect.frontends.onnx.convert.contrib_attention import Heads, attend, split
from ge_dialect.frontends.onnx.convert.contrib_window_cache import window_cache
from ge_dialect.frontends.onnx.convert.delegate import apply, length_of, positions
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge.attention import RotaryEmbeddingOp
from ge_dialect.ge.base import expect_rank
from ge_dialect.ge.normalization import RMSNormOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.types import MaybeDim, element_type_of, value_shape

_I64 = 7
_SINK = 11
_UNSUPPORTED = {12: "a quantised cache", 13: "a quantised cache", 16: "padding behind new keys"}
"""Slots of operands that nothing here implements."""
_NORMS = {"q": 14, "k": 15}
"""Slots of what the features of queries and keys are scaled by after a norm."""


@dataclass(frozen=True)
class _Cache:
    """Where the keys of a step go.

    Attributes:
        first: `[B, 1, 1, 1]`, the place of the first query in each row.
        length: Of the cache after the step, None where that is all keys before and all new ones.
    """

    first: SSAValue
    length: int | None


@converts("GroupQueryAttention", domain=DOMAIN)
def group_query_attention(node: Node) -> list[SSAValue]:
    """Causal attention whose queries are groups that share a key head, and its cache.

    A row whose cache is shorter than the longest one goes on after its own keys. What lies beyond
    the keys of a row is nothing that may be read.
    """
    _refuse_exotic(node)
    heads = _normalized(node, _heads(node))
    past_key, past_value = node.optional(3), node.optional(4)
    cache = None
    if past_key is not None and past_value is not None and value_shape(past_key)[2] != 0:
        cache = _cache(node, heads.key, past_key)
    heads = _rotated(node, heads, cache)
    if cache is not None and node.get_flag("sliding_window_cache"):
        return _windowed(node, heads, cache)
    if cache is not None and past_key is not None and past_value is not None:
        key = _written(node, past_key, heads.key, cache)
        heads = Heads(heads.query, key, _written(node, past_value, heads.value, cache))
    mask = _mask(node, heads, cache)
    result = attend(
        node,
        heads,
        mask,
        causal=_is_causal(node) and (mask is None or (cache is None and not _window(node))),
        softcap=node.get_float("softcap", 0.0) or None,
        sink=_sink(node, heads),
    )
    return [result, heads.key, heads.value][: len(node.used)]


def _windowed(node: Node, heads: Heads, cache: _Cache) -> list[SSAValue]:
    """Adds attention with a cache that holds a window of keys."""
    made = window_cache(node, node[3], heads.key, cache.first)
    both = heads.after(node, node[3], node[4])
    result = attend(
        node,
        both,
        made.kept,
        softcap=node.get_float("softcap", 0.0) or None,
        sink=_sink(node, heads),
    )
    present = (_gathered(node, x, made.places) for x in (both.key, both.value))
    return [result, *present][: len(node.used)]


def _refuse_exotic(node: Node) -> None:
    if node.is_used(3) or node.get_int("qk_output", 0):
        raise OnHost("the scores are used")
    for slot, name in _UNSUPPORTED.items():
        if node.optional(slot) is not None:
            raise OnHost(name)
    if any(node.get_string(f"{x}_quant_type", "NONE") != "NONE" for x in "kv"):
        raise OnHost("a quantised cache")
    if node.get_flag("sliding_window_cache") and node.optional(10) is not None:
        raise OnHost("a bias of scores, and a cache as long as its window")
    if not _is_causal(node) and _window(node):
        node.fail("expected no 'local_window_size' where 'causal' is 0")


def _is_causal(node: Node) -> bool:
    return node.get_flag("causal", True)


def _normalized(node: Node, heads: Heads) -> Heads:
    """Returns heads whose queries and keys are normalised, where there are weights for it."""
    found: dict[str, SSAValue] = {"q": heads.query, "k": heads.key}
    general = node.get_float("qk_norm_epsilon", 1e-6)
    for name, slot in _NORMS.items():
        if (scale := node.optional(slot)) is not None:
            epsilon = node.get_float(f"{name}_norm_epsilon", general)
            found[name] = node.emit(RMSNormOp(found[name], scale, axis=-1, epsilon=epsilon))
    return Heads(found["q"], found["k"], heads.value)


def _sink(node: Node, heads: Heads) -> SSAValue | None:
    """Returns one score more of each head: that of a smooth softmax is 0."""
    if node.optional(_SINK) is not None or node.get_int("smooth_softmax", 0) <= 0:
        return node.optional(_SINK)
    count = node.builder.ints([node.get_int("num_heads")])
    return apply(node, "Expand", node.builder.number(0.0, element_type_of(heads.query)), count)


def _heads(node: Node) -> Heads:
    """Returns queries, keys and values, which may come in one tensor."""
    queries, keys = node.get_int("num_heads"), node.get_int("kv_num_heads")
    query, key, value = node[0], node.optional(1), node.optional(2)
    if key is None or value is None:
        hidden = expect_rank(query, 3, "query")[2]
        if not isinstance(hidden, int):
            raise OnHost("the size of a head is not known")
        size = hidden // max(queries + 2 * keys, 1)
        query, key, value = split(node, query, 2, (queries * size, keys * size, keys * size))
    return Heads(
        split_heads(node, query, queries, "query"),
        split_heads(node, key, keys, "key"),
        split_heads(node, value, keys, "value"),
    )


def _cache(node: Node, key: SSAValue, past: SSAValue) -> _Cache:
    """Returns where keys go: `seqlens_k` is the number of keys of each row, less one."""
    batch, _, rows, _ = value_shape(key)
    before = expect_rank(past, 4, "past_key")[2]
    last = apply(node, "Cast", node[5], to=_I64)
    steps = apply(node, "Sub", length_of(node, key, 2), node.builder.ints(1))
    first = apply(node, "Max", apply(node, "Sub", last, steps), node.builder.ints(0))
    return _Cache(node.reshape(first, (batch, 1, 1, 1)), _present_length(node, before, rows))


def _present_length(node: Node, before: MaybeDim, rows: MaybeDim) -> int | None:
    """Returns how long a cache is after the step that may be longer than all its keys.

    None where there is a place for each key before and each new one.
    """
    if node.optional(6) is None or not isinstance(before, int):
        return None
    (total,) = node.dims(6) or (None,)
    if not isinstance(total, int) or (isinstance(rows, int) and total == before + rows):
        return None
    return max(before, total)


def _rotated(node: Node, heads: Heads, cache: _Cache | None) -> Heads:
    if not node.get_flag("do_rotary"):
        return heads
    batch, _, rows, _ = value_shape(heads.key)
    if (places := node.optional(9)) is None:
        places = positions(node, heads.key, 2)
        places = node.reshape(places, (1, rows))
        if cache is None:
            shape = apply(node, "Shape", heads.key, start=0, end=1)
            shape = node.emit(ConcatOp([shape, node.builder.ints([1])], 0))
            places = apply(node, "Expand", places, shape)
        else:
            places = apply(node, "Add", places, node.reshape(cache.first, (batch, 1)))
    query, key = (
        node.emit(
            RotaryEmbeddingOp(
                x, node[7], node[8], places, interleaved=node.get_flag("rotary_interleaved"),
                rotary_dim=_rotary_dim(node, x),
            )
        )
        for x in (heads.query, heads.key)
    )  # fmt: skip
    return Heads(query, key, heads.value)


def _rotary_dim(node: Node, x: SSAValue) -> int:
    """Returns how many features turn, 0 for all."""
    half, size = node.shape(7)[-1], value_shape(x)[-1]
    if not isinstance(half, int) or not isinstance(size, int):
        raise OnHost("the size of a head is not known")
    return 0 if 2 * half == size else 2 * half


def _written(node: Node, past: SSAValue, new: SSAValue, cache: _Cache) -> SSAValue:
    """Returns a cache with the new keys in their places."""
    if value_shape(new)[2] == 1:
        longer = _lengthened(node, past, cache)
        places = node.reshape(positions(node, longer, 2), (value_shape(longer)[2], 1))
        return apply(node, "Where", apply(node, "Less", places, cache.first), longer, new)
    batch = value_shape(new)[0]
    everything = node.emit(ConcatOp([past, new], 2))
    index = positions(node, everything, 2)
    if cache.length is not None:
        index = node.builder.ints(range(cache.length))
    first = node.reshape(cache.first, (batch, 1))
    last = apply(node, "Sub", length_of(node, new, 2), node.builder.ints(1))
    step = apply(node, "Max", apply(node, "Sub", index, first), node.builder.ints(0))
    step = apply(node, "Add", apply(node, "Min", step, last), length_of(node, past, 2))
    places = apply(node, "Where", apply(node, "Less", index, first), index, step)
    return _gathered(node, everything, places)


def _gathered(node: Node, cache: SSAValue, places: SSAValue) -> SSAValue:
    """Returns the keys in some places of each row, `[B, length]`."""
    batch, length = value_shape(places)
    if batch == 1:
        row = apply(node, "Squeeze", places, node.builder.ints([0]))
        return apply(node, "Gather", cache, row, axis=2)
    between = apply(node, "Shape", places, start=1)
    parts = [apply(node, "Shape", cache, end=2), between, apply(node, "Shape", cache, start=3)]
    shape = node.emit(ConcatOp(parts, 0))
    index = apply(node, "Expand", node.reshape(places, (batch, 1, length, 1)), shape)
    return apply(node, "GatherElements", cache, index, axis=2)


def _lengthened(node: Node, past: SSAValue, cache: _Cache) -> SSAValue:
    """Returns a cache with places for what is to come, one where nothing else is known."""
    before, more = value_shape(past)[2], 1
    if cache.length is not None and isinstance(before, int):
        more = cache.length - before
    return apply(node, "Pad", past, node.builder.ints([0, 0, 0, 0, 0, 0, more, 0]))


def _window(node: Node) -> int:
    """Returns how many keys a query sees, itself included; 0 for all before it."""
    return max(node.get_int("local_window_size", -1), 0)


def _mask(node: Node, heads: Heads, cache: _Cache | None) -> SSAValue | None:
    """Returns which keys a query keeps, or what is added to scores; None where causal says it."""
    bias, window, causal = node.optional(10), _window(node), _is_causal(node)
    if cache is None and not window and causal:
        return bias
    rows = node.reshape(positions(node, heads.query, 2), (value_shape(heads.query)[2], 1))
    if cache is not None:
        rows = apply(node, "Add", rows, cache.first)
    columns = positions(node, heads.key, 2)
    if not causal:
        batch = value_shape(heads.key)[0]
        rows = node.reshape(apply(node, "Cast", node[5], to=_I64), (batch, 1, 1, 1))
    kept = apply(node, "LessOrEqual", columns, rows)
    if window:
        start = apply(node, "Sub", rows, node.builder.ints(window))
        kept = apply(node, "And", kept, apply(node, "Greater", columns, start))
    if bias is None:
        return kept
    lowest = node.builder.number(float("-inf"), element_type_of(bias))
    return apply(node, "Where", kept, bias, lowest)
