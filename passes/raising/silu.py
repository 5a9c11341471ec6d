"""Activations that are a gate times their own argument: SiLU, quick GELU, hard swish, Mish.

Source of the formulas: the docstrings of `ge_dialect.ge.activations`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.activations import (
    HardSigmoidOp,
    HardSwishOp,
    MishOp,
    QuickGeluOp,
    SigmoidOp,
    SiluOp,
    SoftplusOp,
    TanhOp,
)
from ge_dialect.ge.base import float_attr
from ge_dialect.ge.binary import MulOp
from ge_dialect.passes.raising.match import Found, Raise, scaled
from ge_dialect.passes.values import commuted, owner


@dataclass
class FoundGate(Found):
    """A gated activation; `make` builds its op."""

    make: Callable[[], Operation]

    def build(self) -> list[Operation]:
        return [self.make()]


class RaiseSilu(Raise):
    """`x * sigmoid(x)` -> `silu(x)`, `x * sigmoid(a * x)` -> `quick_gelu(x)`, and so on.

    `x * hard_sigmoid(x)` with 1/6 and 1/2 is a hard swish, `x * tanh(softplus(x))` is Mish.
    """

    roots = (MulOp,)
    reads = (SigmoidOp, HardSigmoidOp, TanhOp)
    composite: ClassVar = "silu"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, MulOp)
        for x, gate in commuted(op):
            if x.type != op.result.type:
                continue
            for find in (_sigmoid, _hard_sigmoid, _mish):
                if (found := find(x, gate)) is not None:
                    make, ops, feeders = found
                    return FoundGate(make, ops=[op, *ops], feeders=feeders)
        return None


_Gate = tuple[Callable[[], Operation], list[Operation], list[Operation]]
"""What builds the op, the ops it stands for, and ops that others may use as well."""


def _sigmoid(x: SSAValue, gate: SSAValue) -> _Gate | None:
    if (op := owner(gate, SigmoidOp)) is None:
        return None
    if op.input is x:
        return lambda: SiluOp(x), [op], []
    part = scaled(op.input)
    if part is None or part[0] is not x:
        return None
    alpha, scale = part[1], op.input.owner
    assert isinstance(scale, Operation)
    return lambda: QuickGeluOp(x, alpha), [op, scale], []


def _hard_sigmoid(x: SSAValue, gate: SSAValue) -> _Gate | None:
    op = owner(gate, HardSigmoidOp)
    if op is None or op.input is not x:
        return None
    if op.alpha != float_attr(1 / 6) or op.beta != float_attr(0.5):
        return None
    return lambda: HardSwishOp(x), [op], []


def _mish(x: SSAValue, gate: SSAValue) -> _Gate | None:
    if (op := owner(gate, TanhOp)) is None:
        return None
    inner = owner(op.input, SoftplusOp)
    if inner is None or inner.input is not x:
        return None
    return lambda: MishOp(x), [op], [inner]
