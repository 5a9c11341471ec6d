"""Operators of ONNX Runtime's domain that carry a state from step to step, but for attention.

Source: ONNX Runtime, "Contrib operators" (docs/ContribOperators.md), the page of each operator.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.contrib import DOMAIN
from ge_dialect.frontends.onnx.convert.contrib_images import channels_first, channels_last
from ge_dialect.frontends.onnx.convert.delegate import apply
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge.activations import SiluOp
from ge_dialect.ge.base import expect_rank
from ge_dialect.ge.pieces import ConcatOp


@converts("CausalConvWithState", domain=DOMAIN)
def causal_conv_with_state(node: Node) -> list[SSAValue]:
    """A convolution of each channel by what came before, and the end of what came as a state."""
    if node.get_int("ndim", 1) != 1 or node.get_int("state_window", 0):
        raise OnHost("several dimensions, or several states")
    name = node.get_string("activation", "none")
    if name not in ("none", "silu", "swish"):
        node.fail(f"expected 'activation' of none, silu or swish, got {name}")
    x, past = node[0], node.optional(3)
    if last := node.get_flag("channels_last"):
        expect_rank(x, 3, "input")
        x, past = (None if v is None else channels_first(node, v) for v in (x, past))
        assert x is not None
    channels, _, size = expect_rank(node[1], 3, "weight")
    if not isinstance(channels, int) or not isinstance(size, int):
        raise OnHost("the size of its kernel is not known")
    dilation = node.get_int("dilation", 1)
    before = (size - 1) * dilation
    seen = _joined(node, past, x, before)
    result = apply(
        node, "Conv", seen, node[1], node.optional(2), group=channels, dilations=(dilation,)
    )
    if name != "none":
        result = node.emit(SiluOp(result))
    found = [result]
    if node.is_used(1):
        found.append(_end(node, seen, before))
    return [channels_last(node, v) for v in found] if last else found


def _joined(node: Node, past: SSAValue | None, x: SSAValue, before: int) -> SSAValue:
    """Returns `[B, C, L]` behind the state, which is 0 where there is none."""
    if past is not None:
        if expect_rank(past, 3, "past_state")[2] != before:
            node.fail(f"expected a state of {before} steps, got {expect_rank(past, 3, 'state')[2]}")
        return node.emit(ConcatOp([past, x], 2)) if before else x
    return apply(node, "Pad", x, node.builder.ints([0, 0, before, 0, 0, 0]))


def _end(node: Node, seen: SSAValue, before: int) -> SSAValue:
    start = node.builder.ints([-before])
    if not before:
        start = apply(node, "Shape", seen, start=2, end=3)
    stop, axis = node.builder.ints([(1 << 63) - 1]), node.builder.ints([2])
    return apply(node, "Slice", seen, start, stop, axis)
