"""Whether the tiler finds tiles for ops that are to become one kernel: asked before they do."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
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
from ge_dialect.passes.tiles.known import KernelSets, structure, tried_sets
from ge_dialect.passes.tiles.working_set import SUM_BYTES
from ge_dialect.passes.values import resolved

if TYPE_CHECKING:
    from ge_dialect.targets import Target


_known: dict[Hashable, tuple[Excess | None]] = {}
_MOST_KNOWN = 4096


def tile_excess(
    ops: Sequence[GEOp],
    target: Target,
    alias: Mapping[SSAValue, SSAValue],
    results: Collection[SSAValue] | None = None,
) -> Excess | None:
    """Returns why no tiles of a kernel fit on a core; None where some do, or sizes are not known.

    Args:
        ops: Producers first; constants may be among them.
        target: Says how large the levels of memory of one core are.
        alias: What values stand for that are arguments or results of kernels in the kernel.
        results: Of the kernel; None for what none of the ops reads.
    """
    sizes = tier_sizes(target)
    ops = [op for op in ops if not isinstance(op, ConstantOp)]
    total = _bytes(ops)
    if total is None or total <= _surely(sizes):
        return None
    if not any(role_of(type(op)).is_hard for op in ops):
        return None  # elements pass in blocks
    if results is None:
        read = {resolved(operand, alias) for op in ops for operand in operands_of(op)}
        given = [value for op in ops for value in op.results if value not in read]
    else:  # in the order that they have in a kernel
        wanted = {resolved(value, alias) for value in results}
        given = [value for op in ops for value in op.results if value in wanted]
    kernel = structure(ops, given, _is_short, alias)
    key = (tuple(sizes.values()), kernel)
    if (known := _known.get(key)) is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        excess = _excess(tried_sets(kernel, lambda: _block(ops, alias, given)), sizes)
        known = _known[key] = (excess,)
    return known[0]


def _excess(kernel: KernelSets, sizes: Mapping[str, int]) -> Excess | None:
    found = smallest_excess(kernel.working, room(kernel.working, sizes))
    if found is None or (streaming := kernel.streaming) is None:
        return found
    return smallest_excess(streaming, room(streaming, sizes))


def _bytes(ops: Sequence[GEOp]) -> int | None:
    """Returns the bytes of all values; None where some are not known, or ops have regions."""
    if any(op.regions for op in ops):
        return None
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
    made = {result for op in ops for result in op.results}
    read = dict.fromkeys([resolved(v, alias) for op in ops for v in operands_of(op)])
    constants = {v: v.owner for v in read if isinstance(v.owner, ConstantOp) and _is_short(v)}
    outside = [value for value in read if value not in made and value not in constants]
    block = Block(arg_types=[value.type for value in outside])
    mapping: dict[SSAValue, SSAValue] = dict(zip(outside, block.args, strict=True))
    for value, constant in constants.items():
        block.add_op(copy := constant.clone())
        mapping[value] = copy.result
    for op in ops:
        copy = type(op).create(  # names and locations make no tiles
            operands=[mapping[resolved(operand, alias)] for operand in operands_of(op)],
            result_types=[result.type for result in op.results],
            properties=op.properties,
            attributes=op.attributes,
        )
        block.add_op(copy)
        mapping.update(zip(op.results, copy.results, strict=True))
    block.add_op(YieldOp(*(mapping[resolved(value, alias)] for value in results)))
    return block
