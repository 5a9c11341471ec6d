"""Linear attention of ONNX Runtime's domain: a state for each head instead of a cache of keys.

Source: ONNX Runtime, "Contrib operators" (docs/ContribOperators.md), the page of each operator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

from xdsl.dialects.builtin import f32, i1, i64
from xdsl.ir import Block, Region, SSAValue

from ge_dialect.frontends.onnx.convert.contrib import DOMAIN
from ge_dialect.frontends.onnx.convert.contrib_plain import cast
from ge_dialect.frontends.onnx.convert.delegate import apply, length_of
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge.activations import SigmoidOp, SoftplusOp
from ge_dialect.ge.base import expect_rank
from ge_dialect.ge.binary import AddOp, MulOp, SubOp
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.movement import TransposeOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.structure import LoopOp, YieldOp
from ge_dialect.ge.types import MaybeDim, element_type_of, tensor_type, value_shape
from ge_dialect.ge.unary import ExpOp

_RULES = ("linear", "gated", "delta", "gated_delta")


@dataclass(frozen=True)
class _Sizes:
    """Heads of queries, of keys and of states, and features of keys and of values."""

    queries: int
    keys: int
    states: int
    key_size: int
    value_size: int

    @staticmethod
    def of(node: Node) -> _Sizes:
        queries, states = node.get_int("q_num_heads"), node.get_int("kv_num_heads")
        if queries < 1 or states < 1 or max(queries, states) % min(queries, states):
            node.fail(
                f"expected heads of which one number divides the other, got {queries}, {states}"
            )
        hidden = [expect_rank(node[slot], 3, f"input {slot}")[2] for slot in range(3)]
        query, key, value = hidden
        if not isinstance(query, int) or not isinstance(key, int) or not isinstance(value, int):
            raise OnHost("the size of a head is not known")
        size = query // queries
        if query % queries or value % states or key % max(size, 1) or states % (key // size):
            node.fail(f"expected heads of {size} features that share {states} states, got {hidden}")
        return _Sizes(queries, key // size, states, size, value // states)


@converts("LinearAttention", domain=DOMAIN)
def linear_attention(node: Node) -> list[SSAValue]:
    """One step after the other, in f32: the state fades, learns a pair, and is asked."""
    rule = node.get_string("update_rule", "gated_delta")
    if rule not in _RULES:
        node.fail(f"expected 'update_rule' of {', '.join(_RULES)}, got {rule}")
    if node.get_int("state_window", 0):
        raise OnHost("several states")
    sizes = _Sizes.of(node)
    batch, length, _ = node.shape()
    state = _first_state(node, sizes)
    kind = element_type_of(state)
    wide = [None if v is None else cast(node, v, f32) for v in _operands(node, rule)]

    def step(index: SSAValue, before: SSAValue) -> tuple[SSAValue, SSAValue]:
        now = [None if v is None else apply(node, "Gather", v, index, axis=1) for v in wide]
        return _step(node, sizes, now, before)

    after, outputs = _looped(node, cast(node, state, f32), length_of(node, node[0], 1), step)
    rows = node.emit(TransposeOp(outputs, (1, 0, 2)))
    result = node.reshape(rows, (batch, length, value_shape(rows)[2]))
    return [cast(node, result, node.element_type()), cast(node, after, kind)][: len(node.used)]


def _operands(node: Node, rule: str) -> Sequence[SSAValue | None]:
    """Returns queries, keys, values, decay and rate, the last two where the rule has them."""
    decay = node[4] if rule.startswith("gated") else None
    return node[0], node[1], node[2], decay, node[5] if rule.endswith("delta") else None


def _first_state(node: Node, sizes: _Sizes) -> SSAValue:
    if (past := node.optional(3)) is not None:
        expect_rank(past, 4, "past_state")
        return past
    own = node.builder.ints([sizes.states, sizes.key_size, sizes.value_size])
    shape = node.emit(ConcatOp([apply(node, "Shape", node[0], start=0, end=1), own], 0))
    return apply(node, "Expand", node.builder.number(0.0, node.element_type()), shape)


def _step(
    node: Node, sizes: _Sizes, now: Sequence[SSAValue | None], state: SSAValue
) -> tuple[SSAValue, SSAValue]:
    """Returns the next state `[B, H, dk, dv]`, and what queries find in it, `[B, heads * dv]`."""
    query, key, value, decay, rate = now
    assert query is not None and key is not None and value is not None
    batch = value_shape(query)[0]
    key = node.reshape(key, (batch, sizes.keys, 1, sizes.key_size))
    key = _repeated(node, key, sizes.states)
    value = node.reshape(value, (batch, sizes.states, 1, sizes.value_size))
    if decay is not None:
        each = value_shape(decay)[1] != sizes.states
        shape = (batch, sizes.states, sizes.key_size if each else 1, 1)
        state = node.emit(MulOp(state, node.emit(ExpOp(node.reshape(decay, shape)))))
    if rate is not None:
        value = node.emit(SubOp(value, node.emit(MatmulOp(key, state))))
        value = node.emit(MulOp(value, node.reshape(rate, (*value_shape(rate), 1, 1))))
    learnt = node.emit(MulOp(node.emit(TransposeOp(key, (0, 1, 3, 2))), value))
    state = node.emit(AddOp(state, learnt))
    return state, _asked(node, sizes, query, state)


def _repeated(node: Node, x: SSAValue, count: int) -> SSAValue:
    """Returns as many heads as asked for, where each of fewer ones serves several."""
    heads = value_shape(x)[1]
    if not isinstance(heads, int) or heads >= count:
        return x
    index = node.builder.ints([head * heads // count for head in range(count)])
    return apply(node, "Gather", x, index, axis=1)


def _asked(node: Node, sizes: _Sizes, query: SSAValue, state: SSAValue) -> SSAValue:
    """Returns what queries find; several may ask one state, or one asks several."""
    batch = value_shape(query)[0]
    groups = max(sizes.queries // sizes.states, 1)
    query = node.reshape(query, (batch, min(sizes.queries, sizes.states), groups, sizes.key_size))
    found = node.emit(MatmulOp(_repeated(node, query, sizes.states), state))
    scale = node.get_float("scale", 0.0) or 1 / sqrt(sizes.key_size)
    found = node.emit(MulOp(found, node.builder.number(scale, f32)))
    return node.reshape(found, (batch, max(sizes.queries, sizes.states) * sizes.value_size))


def _looped(
    node: Node,
    state: SSAValue,
    count: SSAValue,
    step: Callable[[SSAValue, SSAValue], tuple[SSAValue, SSAValue]],
) -> tuple[SSAValue, SSAValue]:
    """Adds a loop; returns the state after it, and what the steps gave, stacked."""
    builder = node.builder
    trips: MaybeDim = node.shape()[1]
    block = Block(arg_types=[tensor_type(i64, ()), tensor_type(i1, ()), state.type])
    around, builder.block = builder.block, block
    after, given = step(block.args[0], block.args[2])
    builder.emit(YieldOp(block.args[1], after, given))
    builder.block = around
    stacked = tensor_type(element_type_of(given), (trips, *value_shape(given)))
    go_on = builder.number(1, i1)
    op = LoopOp(count, go_on, [state], [state.type, stacked], Region(block))
    op.verify_()
    found = node.emit_all(op)
    return found[0], found[1]


@converts("LinearAttentionGate", domain=DOMAIN)
def linear_attention_gate(node: Node) -> list[SSAValue]:
    """`decay_scale * softplus(a + dt_bias)`, in f32 up to the end, and `sigmoid(b)`."""
    own = node.element_type()
    total = node.emit(AddOp(cast(node, node[0], f32), cast(node, node[1], f32)))
    decay = node.emit(MulOp(cast(node, node[2], f32), node.emit(SoftplusOp(total))))
    found = [cast(node, decay, own)]
    if node.is_used(1):
        found.append(cast(node, node.emit(SigmoidOp(cast(node, node[3], f32))), own))
    return found
