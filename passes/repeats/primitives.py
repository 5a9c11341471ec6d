"""The ops of an optimised short function as if there were no kernels, and what they were made from.

A kernel is what its body says, so ops are compared in it and around it alike.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.func import ReturnOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.constants import ConstantOp, constant_attr
from ge_dialect.ge.structure import FusionOp, YieldOp
from ge_dialect.passes.repeats.shorten import Shortened

FIRST, LAST = 0, 1
"""The two blocks that were optimised."""


class Origin(NamedTuple):
    """What an op of a block was made from.

    Attributes:
        block: The first of the blocks that it is made from.
        spots: Which ops of that one.
        ahead: Which ops of the last block, where the first one is the first.
    """

    block: int
    spots: tuple[int, ...]
    ahead: tuple[int, ...] = ()


@dataclass
class Primitives:
    """The ops that compute, in kernels and around them.

    Attributes:
        short: With the optimised function in its module.
        ops: All of them, constants left out, in order.
        outer: For each of them and for each constant in a kernel the op of the function that it is
            in, or is.
        origins: Of those that are of a block. The others are for all blocks, or around them.
        again: Those that several kernels have, each for itself, but for the first of each.
        exports: For each of their results that is one of an op of the function: the first such.
    """

    short: Shortened
    ops: list[Operation] = field(default_factory=list[Operation])
    outer: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    origins: dict[Operation, Origin] = field(default_factory=dict[Operation, Origin])
    again: set[Operation] = field(default_factory=set[Operation])
    exports: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    _real: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    _mixed: list[Operation] = field(default_factory=list[Operation])
    _numbers: dict[Hashable, Operation] = field(default_factory=dict[Hashable, Operation])

    @staticmethod
    def of(short: Shortened) -> Primitives | None:
        """Returns the ops; None where one is no plain op, or a kernel holds a weight of a block."""
        found = Primitives(short)
        for op in short.block.ops:
            if not isinstance(op, ConstantOp | ReturnOp) and not found._add(op, op):
                return None
        found._leave_out_those_before()
        return found

    def real(self, value: SSAValue) -> SSAValue:
        """Returns the result of an op of `ops` that a value is, or the value itself."""
        return self._real.get(value, value)

    def maker(self, value: SSAValue) -> Operation | None:
        """Returns the op of a block that makes a value as `real` gives it, or None."""
        owner = value.owner
        return owner if isinstance(owner, Operation) and owner in self.origins else None

    def reads(self, op: Operation) -> list[SSAValue]:
        """Returns what an op of `ops` reads."""
        return [self._real.get(value, value) for value in operands_of(op)]

    def of_block(self, block: int) -> Iterator[Operation]:
        """Yields the ops of a block, in order, each once."""
        return (
            op
            for op, origin in self.origins.items()
            if origin.block == block and op not in self.again
        )

    def _add(self, op: Operation, outer: Operation) -> bool:
        """Adds an op, or those of a kernel; whether that was possible."""
        if isinstance(op, FusionOp):
            return self._add_kernel(op, outer)
        self.outer[op] = outer
        if isinstance(op, ConstantOp):
            return self.short.parameter(op.result) is None
        if op.regions:
            return False
        self.ops.append(op)
        self._note(op)
        self._number(op)
        if op is outer:
            for result in op.results:
                self.exports.setdefault(self.real(result), result)
        return True

    def _add_kernel(self, kernel: FusionOp, outer: Operation) -> bool:
        body = kernel.body.block
        for inner, given in zip(body.args, operands_of(kernel), strict=True):
            self._real[inner] = self.real(given)
        for op in body.ops:
            if isinstance(op, YieldOp):
                for result, value in zip(kernel.results, operands_of(op), strict=True):
                    self._real[result] = self.real(value)
                    if kernel is outer:
                        self.exports.setdefault(self.real(value), result)
            elif not self._add(op, outer):
                return False
        return True

    def _note(self, op: Operation) -> None:
        """Notes what an op was made from, unless it is for all blocks."""
        inside, outside = self.short.names.places_of(op)
        last = self.short.blocks.count - 1
        spots = [tuple([at for block, at in inside if block == one]) for one in (0, last)]
        if inside and not (self.short.names.is_for_all(op) and self._reads_none(op)):
            mine, ahead = spots if spots[0] else (spots[1], ())
            self.origins[op] = Origin(FIRST if spots[0] else LAST, mine, ahead)
            if outside and not ahead:
                self._mixed.append(op)

    def _number(self, op: Operation) -> None:
        """Takes ops for one that several kernels have, each for itself."""
        reads = [constant_attr(value) or value for value in self.reads(op)]
        properties = frozenset(op.properties.items())
        like = self._numbers.setdefault((type(op), properties, self.origins.get(op), *reads), op)
        if like is not op and [a.type for a in like.results] == [b.type for b in op.results]:
            self._real.update(zip(op.results, like.results, strict=True))
            self.again.add(op)

    def _leave_out_those_before(self) -> None:
        """Takes ops for such before the run that reach into the first block as others reach out of
        it into the last."""
        aheads = {frozenset(origin.ahead) for origin in self.origins.values() if origin.ahead}
        for op in self._mixed:
            origin = self.origins[op]
            if origin.block == FIRST and frozenset(origin.spots) in aheads:
                del self.origins[op]

    def _reads_none(self, op: Operation) -> bool:
        """Whether an op reads nothing of either block."""
        return all(
            self.maker(value) is None and self.short.parameter(value) is None
            for value in self.reads(op)
        )


def index_of(value: SSAValue) -> int:
    """Returns which of the results of its op, or of the arguments of its block, a value is."""
    return value.index if isinstance(value, OpResult | BlockArgument) else -1
