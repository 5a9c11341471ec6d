"""When pieces and joined values may be views; each refusal says which condition does not hold.

The conditions are those of GE's concat without a task: contiguous bytes, each part a multiple of
the transfer granule, a producer of its own that writes nowhere else, no port of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, SSAValue

from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.types import show_shape, value_shape
from ge_dialect.passes.zero_copy.marks import fixed_place, written_value
from ge_dialect.passes.zero_copy.regions import Region, element_bytes, part_regions, piece_regions
from ge_dialect.remarks import ReasonClass, Value


@dataclass(frozen=True)
class Refusal:
    """Why something has to be copied.

    Attributes:
        reason: Its class.
        message: One line.
        found, wanted: What stood in the way, and what it should have been.
    """

    reason: ReasonClass
    message: str
    found: Value = None
    wanted: Value = None


@dataclass(frozen=True)
class Rules:
    """What a block and a target ask for.

    Attributes:
        granule: Bytes that a transfer moves at least: starts of views are multiples of it.
        given: Values that the block gives, under any form: they have bytes of their own.
    """

    granule: int
    given: frozenset[SSAValue]

    def pieces(self, op: SplitOp | SliceOp) -> Refusal | None:
        """Returns why the results of a split or slice may not be views of its operand, or None."""
        if any(element_bytes(value) is None for value in (op.input, *op.results)):
            return _unknown_sizes()
        regions = piece_regions(op)
        if regions is None:
            return Refusal(
                ReasonClass.SHAPE,
                "a piece is not one stretch of bytes",
                show_shape(value_shape(op.results[0])),
                f"1 in all dimensions before the last that is cut of {_shape(op.input)}",
            )
        for region in regions:
            if region.size and region.start % self.granule:
                return self._misaligned(region)
        if any(value in self.given for value in op.results):
            return Refusal(ReasonClass.USE, "a piece is an output, which has bytes of its own")
        return None

    def parts(self, op: ConcatOp, taken: set[SSAValue]) -> tuple[Sequence[int], Refusal | None]:
        """Returns the operands that may be written straight into a joined value, and why another
        one may not.

        Args:
            op: The concatenation.
            taken: Values that have another place already; those chosen are added.
        """
        if any(element_bytes(value) is None for value in (*op.inputs, op.result)):
            return [], _unknown_sizes()
        if (regions := part_regions(op)) is None:
            dims = value_shape(op.result)[: op.dimension]
            return [], Refusal(
                ReasonClass.SHAPE,
                "the parts are not one stretch of bytes each",
                show_shape(dims),
                f"1 in all dimensions before axis {op.dimension}",
            )
        chosen: list[int] = []
        first: Refusal | None = None
        for index, (value, region) in enumerate(zip(op.inputs, regions, strict=True)):
            refusal = self._part(op, index, region, taken)
            if refusal is None:
                chosen.append(index)
                taken.add(written_value(value))
            first = first or refusal
        return chosen, first

    def _part(
        self, op: ConcatOp, index: int, region: Region, taken: set[SSAValue]
    ) -> Refusal | None:
        value = op.inputs[index]
        if (why := fixed_place(value, op)) is not None:
            return Refusal(ReasonClass.USE, f"operand {index} {why}")
        if region.start % self.granule:
            return self._misaligned(region)
        if region.size % self.granule and index != len(op.inputs) - 1:
            return self._misaligned(Region(region.start + region.size, 0))
        root = written_value(value)
        if root in taken:
            return Refusal(ReasonClass.USE, "a part is a part of something else already")
        if root in self.given:
            return Refusal(ReasonClass.USE, "a part is an output, which has bytes of its own")
        return None

    def _misaligned(self, region: Region) -> Refusal:
        return Refusal(
            ReasonClass.TARGET,
            "a part would start where no transfer can",
            f"byte {region.start}",
            f"a multiple of {self.granule}",
        )


def rules_of(block: Block, granule: int) -> Rules:
    """Returns the rules for the ops of a block."""
    last = block.last_op
    given: set[SSAValue] = set()
    for value in () if last is None else last.operands:
        given |= {value, written_value(value)}
    return Rules(granule, frozenset(given))


def _unknown_sizes() -> Refusal:
    return Refusal(ReasonClass.SYMBOL, "its sizes are not known before the run")


def _shape(value: SSAValue) -> str:
    return show_shape(value_shape(value))
