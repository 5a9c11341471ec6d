"""What constants lead to by way of values that are too large to keep: evaluated at once.

Exporters write `x[..., i] = y` as indices that are expanded to every element and scattered by. The
indices grow beyond any budget, what comes of them is no larger than `x` is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, OpResult, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.constants import ConstantOp, constant_attr
from ge_dialect.ge.types import byte_size
from ge_dialect.interpreters.folding import evaluate_constant, result_bytes


@dataclass(frozen=True)
class Cone:
    """What a value is computed from.

    Attributes:
        leaves: The constants, with their bytes.
        ops: Those in between, in order, with the bytes of their results.
    """

    leaves: dict[SSAValue, int]
    ops: dict[Operation, int]

    @property
    def leaf_bytes(self) -> int:
        """Bytes of the constants."""
        return sum(self.leaves.values())

    @property
    def inner_bytes(self) -> int:
        """Bytes of what is in between."""
        return sum(self.ops.values())


@dataclass
class Cones:
    """The ops of a block that are not folded since they would grow, and what they become.

    Attributes:
        most: Bytes that may be there for one cone.
        waiting: The ops, with their cones, themselves included.
    """

    most: int
    waiting: dict[Operation, Cone] = field(default_factory=dict[Operation, Cone])
    _known: dict[Operation, Sequence[ConstantOp]] = field(
        default_factory=dict[Operation, Sequence[ConstantOp]]
    )

    def cone_of(self, op: Operation) -> Cone | None:
        """Returns what the operands of an op are computed from; None where one is no constant, and
        comes from no op that waits."""
        leaves: dict[SSAValue, int] = {}
        ops: dict[Operation, int] = {}
        for operand in operands_of(op):
            if isinstance(maker := operand.owner, Operation) and maker in self.waiting:
                leaves |= self.waiting[maker].leaves
                ops |= self.waiting[maker].ops
            elif _is_constant(operand):
                leaves[operand] = byte_size(operand.type) or 0
            else:
                return None
        return Cone(leaves, ops)

    def add(self, op: Operation, cone: Cone) -> None:
        """Notes an op that is not folded, if what reads it may be."""
        size = result_bytes(op)
        if size is not None and cone.inner_bytes + size <= self.most:
            self.waiting[op] = Cone(cone.leaves, {**cone.ops, op: size})

    def evaluate(self, op: Operation, cone: Cone) -> Sequence[ConstantOp] | str:
        """Returns constants for the results of an op, or why there are none."""
        kept = sum(self.waiting[one].ops[one] for one in self._known)
        if kept + cone.inner_bytes > 4 * self.most:
            self._known.clear()
        for inner in cone.ops:
            if inner not in self._known:
                found = self._evaluate(inner)
                if isinstance(found, str):
                    return found
                self._known[inner] = found
        return self._evaluate(op)

    def _evaluate(self, op: Operation) -> Sequence[ConstantOp] | str:
        values: dict[SSAValue, SSAValue] = {}
        for operand in operands_of(op):
            if isinstance(operand, OpResult) and operand.owner in self._known:
                values[operand] = self._known[operand.owner][operand.index].result
        alone = op.clone(values)
        try:
            found = evaluate_constant(alone)
        finally:
            alone.drop_all_references()
        if not isinstance(found, str):
            for constant, result in zip(found, op.results, strict=True):
                constant.location, constant.result.name_hint = op.location, result.name_hint
        return found


def _is_constant(value: SSAValue) -> bool:
    return constant_attr(value) is not None
