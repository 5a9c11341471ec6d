"""Whether the tiler finds tiles for ops that are to become one kernel: asked before they do."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Block, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import SMALL_BYTES, ConstantOp
from ge_dialect.ge.dtypes import dtype_of, is_string
from ge_dialect.ge.structure import YieldOp
from ge_dialect.ge.types import byte_size, is_tensor, static_shape
from ge_dialect.passes.fusion.tiling import role_of
from ge_dialect.passes.tiles.choice import (
    BLOCK_SHARE,
    L1_SHARE,
    Excess,
    room,
    smallest_excess,
    tier_sizes,
)
from ge_dialect.passes.tiles.known import KernelSets, Structure, structure, tried_sets
from ge_dialect.passes.tiles.working_set import SUM_BYTES

if TYPE_CHECKING:
    from ge_dialect.targets import Target


@dataclass(frozen=True)
class Trial:
    """Ops that are to become one kernel.

    Attributes:
        ops: Producers first, constants left out; without regions.
        alias: What values stand for in the end that are arguments or results of kernels in it.
        results: Of the kernel, in the order that they have in it.
        kernel: As `structure` says.
    """

    ops: Sequence[GEOp]
    alias: Mapping[SSAValue, SSAValue]
    results: Sequence[SSAValue]
    kernel: Structure

    @classmethod
    def of(
        cls,
        ops: Sequence[GEOp],
        alias: Mapping[SSAValue, SSAValue],
        results: Collection[SSAValue] | None = None,
    ) -> Trial:
        """Returns the trial of some ops, whose results are what none of them reads where that is
        not said."""
        stands_for = alias.get
        if results is None:
            read = {stands_for(v, v) for op in ops for v in operands_of(op)}
            given = [value for op in ops for value in op.results if value not in read]
        else:
            wanted = {stands_for(value, value) for value in results}
            given = [value for op in ops for value in op.results if value in wanted]
        return cls(ops, alias, given, structure(ops, given, _is_short, alias))

    def excess(self, total: int, target: Target) -> Excess | None:
        """Returns why no tiles fit on a core; None where some do.

        Args:
            total: As `bytes_of_values` says.
            target: Says how large the levels of memory of one core are.
        """
        sizes = tier_sizes(target)
        if total <= _surely(sizes):
            return None
        if not any(role_of(type(op)).is_hard for op in self.ops):
            return None  # elements pass in blocks
        return _excess(tried_sets(self.kernel, self._block), sizes)

    def _block(self) -> Block:
        return _block(self.ops, self.alias, self.results)


def _excess(kernel: KernelSets, sizes: Mapping[str, int]) -> Excess | None:
    found = smallest_excess(kernel.working, room(kernel.working, sizes))
    if found is None or (streaming := kernel.streaming) is None:
        return found
    return smallest_excess(streaming, room(streaming, sizes))


def bytes_of_values(ops: Sequence[GEOp]) -> int | None:
    """Returns the bytes of all values that ops read and make; None where some are not known."""
    total = 0
    for value in dict.fromkeys([v for op in ops for v in (*operands_of(op), *op.results)]):
        if (size := _held_bytes(value.type)) is None:
            return None
        total += size
    return total


@lru_cache(maxsize=1024)
def _held_bytes(type: Attribute) -> int | None:
    """Returns the bytes of a value that sums may be kept in; None where they are not known."""
    if not is_tensor(type) or is_string(type.element_type):
        return None
    if (shape := static_shape(type)) is None:
        return None
    return prod(shape) * max(SUM_BYTES, dtype_of(type.element_type).storage_bytes)


def _surely(sizes: Mapping[str, int]) -> int:
    """Bytes that fit as one tile wherever they lie."""
    ub, l0c = (sizes[tier] - sizes[tier] // BLOCK_SHARE for tier in ("ub", "l0c"))
    return min(ub, l0c, sizes["l1"] - sizes["l1"] // L1_SHARE)


def _is_short(value: SSAValue) -> bool:
    """Whether a value is a constant that becomes part of the kernel."""
    return isinstance(value.owner, ConstantOp) and (byte_size(value.type) or 0) <= SMALL_BYTES


def _block(
    ops: Sequence[GEOp], alias: Mapping[SSAValue, SSAValue], results: Collection[SSAValue]
) -> Block:
    """Returns a copy of the ops, which have no regions, as the body of a kernel."""
    stands_for = alias.get
    made = {result for op in ops for result in op.results}
    read = dict.fromkeys([stands_for(v, v) for op in ops for v in operands_of(op)])
    constants = {v: v.owner for v in read if isinstance(v.owner, ConstantOp) and _is_short(v)}
    outside = [value for value in read if value not in made and value not in constants]
    block = Block(arg_types=[value.type for value in outside])
    mapping: dict[SSAValue, SSAValue] = dict(zip(outside, block.args, strict=True))
    for value, constant in constants.items():
        block.add_op(copy := constant.clone())
        mapping[value] = copy.result
    for op in ops:
        copy = type(op).create(  # names and locations make no tiles
            operands=[mapping[stands_for(v, v)] for v in operands_of(op)],
            result_types=[result.type for result in op.results],
            properties=op.properties,
            attributes=op.attributes,
        )
        block.add_op(copy)
        mapping.update(zip(op.results, copy.results, strict=True))
    block.add_op(YieldOp(*[mapping[value] for value in results]))
    return block
