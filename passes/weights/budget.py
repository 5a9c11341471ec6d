"""How many bytes of weights a pass may read and write anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.ir import SSAValue

from ge_dialect.ge.constants import ConstantOp, array_constant, constant_array, constant_attr
from ge_dialect.ge.types import byte_size

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass
class Budget:
    """What is left of a number of bytes.

    Attributes:
        left: Bytes of weights that may still be made.
    """

    left: int

    def allows(self, *weights: SSAValue) -> bool:
        """Whether weights of these sizes may still be made."""
        return sum(byte_size(weight.type) or 0 for weight in weights) <= self.left

    def spend(self, array: npt.NDArray[Any]) -> ConstantOp:
        """Returns the constant that holds `array`; its bytes are spent."""
        self.left -= array.nbytes
        return array_constant(array)


def is_constant(value: SSAValue | None) -> bool:
    """Whether a value, where there is one, is a constant; reads nothing."""
    return value is None or constant_attr(value) is not None


def wide_array(value: SSAValue) -> npt.NDArray[Any]:
    """Returns a constant of floats in f64.

    Args:
        value: A constant.
    """
    import numpy as np

    array = constant_array(value)
    assert array is not None
    return array.astype(np.float64)
