"""Fourier transforms."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.node import Node, OnHost, converts
from ge_dialect.ge.spectral import StftOp


@converts("STFT")
def stft(node: Node) -> SSAValue:
    """`STFT` with a frame of constant step and length."""
    return node.emit(
        StftOp(
            node[0],
            node.optional(2),
            frame_step=_number(node, 1),
            frame_length=_frame_length(node),
            onesided=node.get_flag("onesided", True),
        )
    )


def _number(node: Node, slot: int) -> int:
    values = node.ints(slot)
    if len(values) != 1:
        node.fail(f"expected one number as input {slot}, got {len(values)}")
    return values[0]


def _frame_length(node: Node) -> int:
    """Returns the length of a frame: given, that of the window, or that of the signal."""
    if node.optional(3) is not None:
        return _number(node, 3)
    length = node.shape(2)[0] if node.optional(2) is not None else node.shape()[1]
    if not isinstance(length, int):
        raise OnHost("the length of a frame is not known")
    return length
