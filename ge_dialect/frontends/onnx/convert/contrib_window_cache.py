"""Caches of `GroupQueryAttention` that hold as many keys as a window, of older ones none.

A cache of `capacity` rows holds the newest positions in order from row 0 on; where they become too
many, as many leave at once as the cache has rows beside the window.

Source: ONNX Runtime, "Contrib operators" (docs/ContribOperators.md), com.microsoft.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.delegate import apply, length_of, positions
from ge_dialect.frontends.onnx.convert.node import Node
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.types import value_shape


@dataclass(frozen=True)
class WindowCache:
    """The rows of a cache and of the new keys behind them.

    Attributes:
        kept: `[B, 1, S, rows]`, which of them a query keeps.
        places: `[B, capacity]`, which of them the cache holds after the step.
    """

    kept: SSAValue
    places: SSAValue


@dataclass(frozen=True)
class _Step:
    """Numbers of a step, `[B, 1, 1, 1]` each: positions before and after it, and rows that hold
    them."""

    before: SSAValue
    after: SSAValue
    held_before: SSAValue
    held_after: SSAValue


def window_cache(node: Node, past: SSAValue, new: SSAValue, first: SSAValue) -> WindowCache:
    """Returns what a query keeps, and what the cache holds next.

    Args:
        node: The attention; `seqlens_k` is its operand 5.
        past: A cache `[B, H, capacity, D]`.
        new: Keys of the step `[B, H, S, D]`.
        first: `[B, 1, 1, 1]`, the position of the first of them.
    """
    window = node.get_int("local_window_size", -1)
    if window < 1:
        node.fail(f"expected a 'local_window_size' for 'sliding_window_cache', got {window}")
    capacity = length_of(node, past, 2)
    if isinstance(rows := value_shape(past)[2], int) and rows < window:
        node.fail(f"expected a cache of at least {window} rows, got {rows}")
    last = node.reshape(apply(node, "Cast", node[5], to=7), (value_shape(new)[0], 1, 1, 1))
    after = apply(node, "Add", last, node.builder.ints(1))
    held = (_held(node, end, capacity, window) for end in (first, after))
    step = _Step(first, after, *held)
    return WindowCache(
        _kept(node, step, new, positions(node, node.emit(ConcatOp([past, new], 2)), 2), window),
        _places(node, step, past, new),
    )


def _held(node: Node, end: SSAValue, capacity: SSAValue, window: int) -> SSAValue:
    """Returns how many of the positions up to `end` a cache holds."""
    one = node.builder.ints(1)
    spare = apply(node, "Sub", capacity, node.builder.ints(window))
    chunk = apply(node, "Add", spare, one)
    over = apply(node, "Add", apply(node, "Sub", end, capacity), spare)
    gone = apply(node, "Mul", apply(node, "Div", over, chunk), chunk)
    fits = apply(node, "LessOrEqual", end, capacity)
    return apply(node, "Where", fits, end, apply(node, "Sub", end, gone))


def _kept(node: Node, step: _Step, new: SSAValue, rows: SSAValue, window: int) -> SSAValue:
    """Returns whether a row is a key, none after the query, and one in its window."""
    new_row = apply(node, "Sub", rows, _capacity(node, rows, new))
    is_new = apply(node, "GreaterOrEqual", new_row, node.builder.ints(0))
    oldest = apply(node, "Sub", step.before, step.held_before)
    place = apply(
        node,
        "Where",
        is_new,
        apply(node, "Add", step.before, new_row),
        apply(node, "Add", oldest, rows),
    )
    is_key = apply(node, "Or", is_new, apply(node, "Less", rows, step.held_before))
    steps = node.reshape(positions(node, new, 2), (value_shape(new)[2], 1))
    query = apply(node, "Add", step.before, steps)
    start = apply(node, "Sub", query, node.builder.ints(window))
    seen = apply(node, "LessOrEqual", place, query)
    near = apply(node, "Greater", place, start)
    return apply(node, "And", is_key, apply(node, "And", seen, near))


def _capacity(node: Node, rows: SSAValue, new: SSAValue) -> SSAValue:
    return apply(node, "Sub", length_of(node, rows, 0), length_of(node, new, 2))


def _places(node: Node, step: _Step, past: SSAValue, new: SSAValue) -> SSAValue:
    """Returns the row of each position that is held next; rows that hold none repeat the last."""
    held = positions(node, past, 2)
    capacity, steps = length_of(node, past, 2), length_of(node, new, 2)
    place = apply(node, "Add", apply(node, "Sub", step.after, step.held_after), held)
    since = apply(node, "Sub", place, step.before)
    row = apply(
        node,
        "Where",
        apply(node, "GreaterOrEqual", since, node.builder.ints(0)),
        apply(node, "Add", since, capacity),
        apply(node, "Add", since, step.held_before),
    )
    end = apply(node, "Sub", apply(node, "Add", capacity, steps), node.builder.ints(1))
    row = apply(node, "Min", row, end)
    return node.reshape(row, (value_shape(new)[0], value_shape(past)[2]))
