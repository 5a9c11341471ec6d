"""Where the ops of an import go: into a block, or into a constant that is there when needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import LocationAttr, UnknownLoc
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ge_dialect.frontends.onnx.convert.dims import SymbolicDims
from ge_dialect.ge.access import operands_of
from ge_dialect.ge.constants import ConstantOp, array_constant, float_constant, int_constant
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.interpreters.folding import evaluate_constant, is_shape_computation

if TYPE_CHECKING:
    import numpy.typing as npt


class Builder:
    """Adds ops at one place and evaluates those on small constants at once.

    A constant enters the function when the first op that uses it does: what only says axes and
    shapes leaves no trace.

    Attributes:
        block: Where ops go, at its end or in front of `before`.
        entry: Where constants go; the first block of the function.
        location: Of the ops to come.
        dims: What is known of tensors that hold dimensions.
    """

    def __init__(
        self,
        block: Block,
        dims: SymbolicDims | None = None,
        before: Operation | None = None,
    ):
        self.block = block
        self.entry = block
        self.before = before
        self.location: LocationAttr = UnknownLoc()
        self.dims = SymbolicDims() if dims is None else dims
        self._emitted: list[Operation] = []

    def emit(self, op: Operation) -> Sequence[SSAValue]:
        """Adds an op and returns its results, or the constants that it evaluates to."""
        op.location = self.location
        if isinstance(op, ConstantOp):
            return op.results
        if is_shape_computation(op):
            constants = evaluate_constant(op)
            if not isinstance(constants, str):
                op.erase()
                return [constant.result for constant in constants]
        if (constant := self.dims.after(op)) is not None:
            constant.location = self.location
            op.erase()
            return constant.results
        self.append(op)
        return op.results

    def append(self, op: Operation) -> None:
        """Adds an op as it is."""
        op.location = self.location
        self.use(operands_of(op))
        self._insert(op, self.block)
        self._emitted.append(op)

    def emitted_since(self, mark: int) -> Sequence[Operation]:
        """Returns the ops that were added since a mark."""
        return self._emitted[mark:]

    def use(self, values: Sequence[SSAValue]) -> None:
        """Adds those of `values` to the function that are constants not yet in it."""
        for value in values:
            owner = value.owner
            if type(owner) is ConstantOp and owner.parent is None:
                self._insert(owner, self.entry)

    def _insert(self, op: Operation, block: Block) -> None:
        if self.before is None:
            block.add_op(op)
        else:
            self.block.insert_op_before(op, self.before)

    def mark(self) -> int:
        """Returns the place that `undo` goes back to."""
        return len(self._emitted)

    def undo(self, mark: int) -> None:
        """Takes away the ops that were added since a mark; constants stay."""
        while len(self._emitted) > mark:
            op = self._emitted.pop()
            if op.parent is not None:  # else it went with the op around it
                op.detach()
                # An op that refused its operands was never finished, but is among their users.
                op.erase(safe_erase=False)

    def array(self, array: npt.NDArray[Any]) -> SSAValue:
        """Returns a constant of an array."""
        return self._constant(array_constant(array))

    def ints(self, values: Sequence[int] | int) -> SSAValue:
        """Returns a constant of i64: of rank 1, or of rank 0 for a number."""
        return self._constant(int_constant(values))

    def number(self, value: float, element_type: Attribute) -> SSAValue:
        """Returns a constant of rank 0 of any numeric element type."""
        if to_numpy(element_type).kind in "iub":
            import numpy as np

            return self.array(np.asarray(value, to_numpy(element_type)))
        return self._constant(float_constant(value, element_type))

    def _constant(self, op: ConstantOp) -> SSAValue:
        op.location = self.location
        return op.result
