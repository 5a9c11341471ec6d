"""The bytes of values whose places depend on symbols."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ge_dialect.ge_exec.memory import (
    BufferOp,
    Storage,
    ViewOp,
    WeightOp,
    base_of,
    buffer_bytes,
)
from ge_dialect.symbols import Dim


def start_of(value: SSAValue) -> Dim:
    """Returns the byte of its owner where a value of a plan begins, in terms of symbols."""
    start: Dim = 0
    while type(owner := value.owner) is ViewOp:
        start = owner.start + start
        value = owner.source
    return start


def span_of(value: SSAValue) -> tuple[Storage, int, int]:
    """Returns what owns the bytes of a value, and bytes of it among which they always are.

    These are the bytes themselves where the plan says their place as a number.
    """
    whole = value.owner
    if type(whole) is BufferOp or type(whole) is WeightOp:  # mostly
        return whole, 0, buffer_bytes(value.type)
    owner, start = base_of(value)
    if type(value.owner) is ViewOp and not isinstance(start_of(value), int):
        return owner, start, owner.size
    return owner, start, start + buffer_bytes(value.type)
