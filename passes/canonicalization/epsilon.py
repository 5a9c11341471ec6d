"""Says where an epsilon would vanish in the element type of what it is added to."""

from __future__ import annotations

from xdsl.dialects.builtin import FloatAttr, ModuleOp, f16
from xdsl.ir import Operation

from ge_dialect import remarks
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.types import element_type_of

_ROUNDS_TO_ZERO = 2.0**-25
"""The largest number that f16 rounds to 0: half of its least one, 2**-24."""


def remark_small_epsilons(module: ModuleOp, pass_name: str) -> None:
    """Makes a remark about every normalisation of f16 whose epsilon is 0 in f16.

    Nothing changes: statistics are in f32, where it counts. Kernels that add it in f16 divide by 0.
    """
    if not remarks.listening():
        return
    for op in module.walk():
        if (epsilon := _vanishing(op)) is not None:
            message = f"epsilon {epsilon:g} is 0 in f16, it counts as statistics are in f32"
            remarks.analysis(pass_name, "SmallEpsilon", op, message)


def _vanishing(op: Operation) -> float | None:
    """Returns the epsilon of an op on f16, where f16 rounds it to 0 and it is none."""
    epsilon = op.properties.get("epsilon")
    if not isinstance(op, GEOp) or not isinstance(epsilon, FloatAttr) or not op.operands:
        return None
    value = float(epsilon.value.data)
    return (
        value if 0 < value <= _ROUNDS_TO_ZERO and element_type_of(op.operands[0]) == f16 else None
    )
