"""Sinks of attention: one score of each head, repeated for all batches and queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.ir import SSAValue

from ge_dialect.ge.constants import array_constant, constant_array
from ge_dialect.ge.movement import BroadcastToOp
from ge_dialect.ge.types import Shape, show_shape, value_shape
from ge_dialect.passes.near_miss import NearMissError
from ge_dialect.passes.raising.heads import Chain
from ge_dialect.remarks import ReasonClass

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"

MOST_ELEMENTS = 1 << 20


@dataclass(frozen=True)
class Sink:
    """One score a head.

    Attributes:
        value: All of them in order of the heads, as a value or as numbers.
        heads: How many.
    """

    value: SSAValue | Array
    heads: int

    def build(self, chain: Chain) -> SSAValue:
        """Returns them as `[H]`."""
        if isinstance(self.value, SSAValue):
            return chain.reshape(self.value, (self.heads,))
        return chain.add(array_constant(self.value.reshape(self.heads)))


def find_sink(column: SSAValue | None, heads: Shape) -> Sink | None:
    """Returns the sink that a column `[B, H, S, 1]` of scores repeats, None where there is none.

    Raises:
        NearMissError: The scores differ between batches or queries, or are not known not to.
    """
    if column is None:
        return None
    shape, count = value_shape(column), heads[-1]
    if len(shape) != 4 or shape[1] != count or not isinstance(count, int):
        text = "the scores beside those of keys are not those of heads"
        raise NearMissError(ReasonClass.SHAPE, text, show_shape(shape), show_shape((*heads, 1, 1)))
    value = _once(column)
    own = value_shape(value) if isinstance(value, SSAValue) else value.shape
    own = (*(1,) * (4 - len(own)), *own)
    if own != (1, count, 1, 1):
        text = "the scores beside those of keys differ between queries"
        raise NearMissError(ReasonClass.SHAPE, text, show_shape(own), show_shape((1, count, 1, 1)))
    return Sink(value, count)


def _once(column: SSAValue) -> SSAValue | Array:
    """Returns what is repeated for batches and queries, once."""
    if isinstance(broadcast := column.owner, BroadcastToOp):
        return broadcast.input
    array = constant_array(column, MOST_ELEMENTS)
    if array is None or array.size == 0 or not (array == array[:1, :, :1]).all():
        return column
    return array[:1, :, :1]
