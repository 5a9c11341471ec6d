"""When pieces and joined values may be views; each refusal says which condition does not hold.

The conditions are those of GE's concat without a task: contiguous bytes, each part a multiple of
the transfer granule, a producer of its own that writes nowhere else, no port of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.types import show_shape, static_shape, tensor_of, value_shape
from ge_dialect.ge_exec.storage import byte_count
from ge_dialect.passes.values import reads_of
from ge_dialect.passes.zero_copy.marks import fixed_place, written_value
from ge_dialect.passes.zero_copy.regions import (
    Region,
    element_bytes,
    moving_dim,
    part_regions,
    piece_regions,
    ranges_around,
    unbounded_dim,
)
from ge_dialect.remarks import ReasonClass, Value
from ge_dialect.symbols import Dim, bounds, prove_divisible, simplify
from ge_dialect.symbols.expr import constant_of


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
        if (unknown := _unknown_sizes((op.input, *op.results))) is not None:
            return unknown
        regions = piece_regions(op)
        if regions is None and (dim := moving_dim(op)) is not None:
            return Refusal(
                ReasonClass.SYMBOL,
                "nothing proves that a piece begins inside its operand at every size",
                f"dimension {dim}",
                "a range that keeps the indices inside",
            )
        if regions is None:
            return Refusal(
                ReasonClass.SHAPE,
                "a piece is not one stretch of bytes",
                show_shape(value_shape(op.results[0])),
                f"1 in all dimensions before the last that is cut of {_shape(op.input)}",
            )
        for region in regions:
            if region.size and not self._is_aligned(op.input, region.start):
                return self._misaligned(region)
            if not _stays_inside(op.input, region):
                return Refusal(
                    ReasonClass.SYMBOL,
                    "nothing proves that a piece lies inside its operand at every size",
                    f"{region.size} bytes from byte {region.start}",
                    f"inside {_shape(op.input)} for all sizes",
                )
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
        if (unknown := _unknown_sizes((*op.inputs, op.result))) is not None:
            return [], unknown
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
        if not self._is_aligned(value, region.start):
            return self._misaligned(region)
        own = byte_count(tensor_of(value))
        if own is None or not _stays_inside(op.result, Region(region.start, own)):
            return Refusal(
                ReasonClass.SYMBOL,
                "nothing proves that a part lies inside the joined value at every size",
                f"{own} bytes from byte {region.start}",
                f"inside {_shape(op.result)} for all sizes",
            )
        if index != len(op.inputs) - 1 and not self._is_aligned(value, region.size):
            return self._misaligned(Region(region.start + region.size, 0))
        root = written_value(value)
        if _moves(op) and any(_is_computed_from(root, other) for other in op.inputs):
            return Refusal(ReasonClass.USE, f"operand {index} is computed from another part")
        if root in taken:
            return Refusal(ReasonClass.USE, "a part is a part of something else already")
        if root in self.given:
            return Refusal(ReasonClass.USE, "a part is an output, which has bytes of its own")
        return None

    def _is_aligned(self, value: SSAValue, start: Dim) -> bool:
        if isinstance(start, int):
            return start % self.granule == 0
        return prove_divisible(start, self.granule, ranges_around(value)) is True

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


def _unknown_sizes(values: Sequence[SSAValue]) -> Refusal | None:
    """Returns the refusal of values of which a plan does not know the bytes, with the dimension."""
    for value in values:
        if element_bytes(value) is None:
            return Refusal(
                ReasonClass.SYMBOL,
                "its sizes are not known before the run",
                f"dimension {unbounded_dim(value) or 'of texts'}",
                "a number, or symbols of inputs with a greatest value",
            )
    return None


def _stays_inside(source: SSAValue, region: Region) -> bool:
    """Whether a piece lies inside its operand at every size; of numbers it always does."""
    if isinstance(region.start, int) and isinstance(region.size, int) and _is_static(source):
        return True
    whole = byte_count(tensor_of(source))
    ranges = ranges_around(source)
    if whole is None or not region.size:
        return whole is not None
    whole, size = simplify(whole, ranges), simplify(region.size, ranges)
    fixed = max(constant_of(region.start), 0)
    least = [bounds(one, ranges)[0] for one in (region.start - fixed, whole - region.start - size)]
    most = [bounds(one, ranges)[1] for one in (whole, fixed + size)]
    ends = [one for one in most if one is not None]
    return min(least) >= 0 and len(ends) == 2 and ends[1] <= ends[0]


def _is_static(value: SSAValue) -> bool:
    return static_shape(value.type) is not None


def _moves(op: ConcatOp) -> bool:
    """Whether the place of a part depends on sizes: the check of plans then takes all bytes of the
    joined value for those of the part."""
    regions = part_regions(op) or ()
    return any(not isinstance(region.start, int) for region in regions)


def _is_computed_from(root: SSAValue, other: SSAValue) -> bool:
    """Whether the producer of a value reads another one, under any form."""
    if not isinstance(root.owner, Operation):
        return False
    return any(written_value(operand) is written_value(other) for operand in reads_of(root.owner))


def _shape(value: SSAValue) -> str:
    return show_shape(value_shape(value))
