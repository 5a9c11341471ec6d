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
from ge_dialect.passes.tiles.build import KernelBody, streaming_set, working_set
from ge_dialect.passes.tiles.choice import (
    BLOCK_SHARE,
    L1_SHARE,
    Excess,
    room,
    smallest_excess,
    tier_sizes,
)
from ge_dialect.passes.tiles.working_set import SUM_BYTES

if TYPE_CHECKING:
    from ge_dialect.targets import Target


_known: dict[Hashable, Excess | None] = {}
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
    key = (tuple(sizes.values()), _structure(ops, alias, results))
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = _excess(_block(ops, alias, results), sizes)
    return _known[key]


def _excess(block: Block, sizes: Mapping[str, int]) -> Excess | None:
    body = KernelBody(block)
    kernel = working_set(body)
    found = smallest_excess(kernel, room(kernel, sizes))
    if found is None or (streaming := streaming_set(body)) is None:
        return found
    return smallest_excess(streaming, room(streaming, sizes))


def _structure(
    ops: Sequence[GEOp],
    alias: Mapping[SSAValue, SSAValue],
    results: Collection[SSAValue] | None,
) -> Hashable:
    """Returns what is equal for ops that compute the same, whatever their operands are."""
    numbers: dict[SSAValue, int] = {}

    def number(value: SSAValue) -> int:
        while (other := alias.get(value)) is not None:
            value = other
        return numbers.setdefault(value, len(numbers))

    found: list[Hashable] = []
    for op in ops:
        read = tuple([(number(v), v.type, _is_short(v)) for v in operands_of(op)])
        made = tuple([(number(v), v.type) for v in op.results])
        found.append((op.name, read, tuple(op.properties.items()), made))
    return tuple(found), None if results is None else tuple(map(number, results))


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
    ops: Sequence[GEOp],
    alias: Mapping[SSAValue, SSAValue],
    results: Collection[SSAValue] | None,
) -> Block:
    """Returns a copy of the ops, which have no regions, as the body of a kernel."""

    def resolved(value: SSAValue) -> SSAValue:
        while (other := alias.get(value)) is not None:
            value = other
        return value

    made = {result for op in ops for result in op.results}
    read = dict.fromkeys([resolved(operand) for op in ops for operand in operands_of(op)])
    constants = {v: v.owner for v in read if isinstance(v.owner, ConstantOp) and _is_short(v)}
    outside = [value for value in read if value not in made and value not in constants]
    block = Block(arg_types=[value.type for value in outside])
    mapping: dict[SSAValue, SSAValue] = dict(zip(outside, block.args, strict=True))
    for value, constant in constants.items():
        block.add_op(copy := constant.clone())
        mapping[value] = copy.result
    for op in ops:
        copy = type(op).create(  # names and locations make no tiles
            operands=[mapping[resolved(operand)] for operand in operands_of(op)],
            result_types=[result.type for result in op.results],
            properties=op.properties,
            attributes=op.attributes,
        )
        block.add_op(copy)
        mapping.update(zip(op.results, copy.results, strict=True))
    if results is None:
        results = [value for op in ops for value in op.results if value not in read]
    block.add_op(YieldOp(*(mapping[resolved(value)] for value in results)))
    return block
