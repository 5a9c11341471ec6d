"""Bounds of what a mask adds to scores."""

from __future__ import annotations

from math import inf

from xdsl.ir import SSAValue

from ge_dialect.ge.binary import AddOp
from ge_dialect.ge.constants import common_array
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.elementwise import SelectOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TransposeOp
from ge_dialect.ge.types import element_type_of

MOST_ELEMENTS = 1 << 24
MOST_STEPS = 12


def lowest(value: SSAValue, steps: int = MOST_STEPS) -> float:
    """Returns a number that no element of floats is below; minus infinity where none is known.

    Args:
        value: Sums, choices and movements of constants; of anything else nothing is known.
        steps: How many ops to look through.
    """
    import numpy as np

    if steps == 0:
        return -inf
    if (array := common_array(value, MOST_ELEMENTS)) is not None:
        known = array.dtype.kind == "f" and array.size > 0 and not np.isnan(array).any()
        return float(array.min()) if known else -inf
    match op := value.owner:
        case SelectOp():
            return min(lowest(op.on_true, steps - 1), lowest(op.on_false, steps - 1))
        case BroadcastToOp() | ReshapeOp() | TransposeOp():
            return lowest(op.input, steps - 1)
        case AddOp():
            number = np.dtype(to_numpy(element_type_of(value))).type
            both = lowest(op.lhs, steps - 1) + lowest(op.rhs, steps - 1)
            with np.errstate(over="ignore"):
                return float(number(both))
        case _:
            return -inf
