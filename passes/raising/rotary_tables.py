"""Tables of cosines and sines, of which rotary embedding needs every number once.

Exporters have each angle twice, once for either feature of a pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.ir import SSAValue

from ge_dialect.ge.binary import MulOp
from ge_dialect.ge.constants import array_constant, common_array
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.indexing import GatherOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TransposeOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.types import Shape, element_type_of, value_shape
from ge_dialect.ge.unary import CosOp, NegOp, SinOp
from ge_dialect.passes.raising.heads import Chain
from ge_dialect.passes.raising.rotations import joined_pairs

if TYPE_CHECKING:
    import numpy.typing as npt

MOST_ELEMENTS = 1 << 24
MOST_STEPS = 16


@dataclass(frozen=True)
class Twice:
    """How a table has each number twice: in its two halves, or in neighbours."""

    neighbours: bool = False

    def once(self, chain: Chain, value: SSAValue, steps: int = MOST_STEPS) -> SSAValue | None:
        """Returns a table of half the width, or None where it is not proved to be all of it.

        Args:
            chain: Where new ops go.
            value: `[..., D]`; the result is `[..., D / 2]`.
            steps: How many ops to look through.
        """
        if steps == 0:
            return None
        if (array := common_array(value, MOST_ELEMENTS)) is not None:
            return self._constant(chain, array)
        op = value.owner
        match op:
            case ConcatOp() | ReshapeOp() if (half := self._joined(value)) is not None:
                return half
            case ConcatOp() | ReshapeOp() if self.neighbours and (
                (half := self._side_by_side(chain, op, steps)) is not None
            ):
                return half
            case ReshapeOp() if value_shape(op.input)[-1:] == value_shape(value)[-1:]:
                half = self.once(chain, op.input, steps - 1)
                return None if half is None else chain.reshape(half, _narrow(half, value))
            case BroadcastToOp() if value_shape(op.input)[-1:] == value_shape(value)[-1:]:
                half = self.once(chain, op.input, steps - 1)
                return None if half is None else chain.broadcast(half, _narrow(half, value))
            case CosOp() | SinOp() | NegOp():
                half = self.once(chain, op.input, steps - 1)
                return None if half is None else chain.add(type(op)(half))
            case CastOp():
                half = self.once(chain, op.input, steps - 1)
                return None if half is None else chain.add(CastOp(half, element_type_of(value)))
            case _:
                return self._indexed(chain, value, steps)

    def _indexed(self, chain: Chain, value: SSAValue, steps: int) -> SSAValue | None:
        """Returns half of what ops make that leave the last dimension alone."""
        match op := value.owner:
            case TransposeOp() if op.permutation[-1] == len(op.permutation) - 1:
                half = self.once(chain, op.input, steps - 1)
                return None if half is None else chain.add(TransposeOp(half, op.permutation))
            case GatherOp() if op.dimension < len(value_shape(op.input)) - 1:
                half = self.once(chain, op.input, steps - 1)
                return None if half is None else chain.add(GatherOp(half, op.indices, op.dimension))
            case MulOp() if value_shape(op.rhs)[-1:] in ((), (1,)):
                half = self.once(chain, op.lhs, steps - 1)
                return None if half is None else chain.add(MulOp(half, op.rhs))
            case _:
                return None

    def _joined(self, value: SSAValue) -> SSAValue | None:
        """Returns x where `value` is x next to itself, feature by feature or as a whole."""
        joined = joined_pairs(value)
        if joined is None or joined.neighbours != self.neighbours:
            return None
        return joined.first if joined.first is joined.second else None

    def _side_by_side(self, chain: Chain, op: ConcatOp | ReshapeOp, steps: int) -> SSAValue | None:
        """Returns half of tables side by side, or of one whose numbers are repeated one by one."""
        last = len(value_shape(op.result)) - 1
        if isinstance(op, ReshapeOp):
            repeated = op.input.owner
            if not isinstance(repeated, BroadcastToOp):
                return None
            wide, narrow = value_shape(repeated.result), value_shape(repeated.input)
            if wide[-1] != 2 or wide != (*narrow[:-1], 2) or narrow[-1] != 1:
                return None
            same = len(wide) == last + 2 and wide[:last] == value_shape(op.result)[:last]
            return chain.reshape(repeated.input, narrow[:-1]) if same else None
        if op.dimension != last or any(value_shape(one)[last] == 1 for one in op.inputs):
            return None
        halves = [self.once(chain, one, steps - 1) for one in op.inputs]
        found = [half for half in halves if half is not None]
        return chain.add(ConcatOp(found, last)) if len(found) == len(halves) else None

    def _constant(self, chain: Chain, array: npt.NDArray[Any]) -> SSAValue | None:
        import numpy as np

        if array.ndim == 0 or array.shape[-1] % 2:
            return None
        half = array.shape[-1] // 2
        first, second = array[..., :half], array[..., half:]
        if self.neighbours:
            first, second = array[..., 0::2], array[..., 1::2]
        same = first.tobytes() == second.tobytes()
        return chain.add(array_constant(np.ascontiguousarray(first))) if same else None


def _narrow(half: SSAValue, value: SSAValue) -> Shape:
    return (*value_shape(value)[:-1], value_shape(half)[-1])
