"""Cheap ops that several kernels do for themselves, instead of one that writes and many that read.

A mask made of two short rows, or a cast to a wider type: where what goes in is at most half as
large as what comes out, each reader computes it from what goes in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeGuard

from xdsl.ir import Block, Operation, SSAValue

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.greatest import byte_size
from ge_dialect.ge.structure import FusionOp
from ge_dialect.ge.types import is_tensor
from ge_dialect.passes.fusion.auto.groups import Groups, may_grow, ops_of
from ge_dialect.passes.fusion.auto.signatures import Signatures
from ge_dialect.passes.fusion.build import is_scalar_constant
from ge_dialect.passes.fusion.footprint import fit_in_tiles
from ge_dialect.passes.fusion.tiling import EXPANDING, Role, role_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from ge_dialect.passes.fusion.auto.groups import Group
    from ge_dialect.targets import Target

_MAX_OPS = 8
"""Ops that a reader does for itself, at most: few beside the softmax of a tile of scores."""


def groups_of(
    block: Block, growing: Collection[str], target: Target, signatures: Signatures
) -> Groups:
    """Returns the groups of a block, cheap ops among those that read them, where these fit.

    Args:
        block: The block.
        growing: As in `Groups`.
        target: Says what fits on chip.
        signatures: As in `Groups`.
    """
    cones = _cones(block, growing)
    while cones:
        copied = [op for cone in cones.values() for op in cone]
        groups = Groups(block, growing, copied, signatures)
        short = [
            group
            for group in groups.groups.values()
            if groups.copies(group) and _is_short(group, groups, target)
        ]
        if not short:
            return groups
        seen = {op for group in short for op in groups.copies(group)}
        cones = {root: cone for root, cone in cones.items() if not seen.intersection(cone)}
    return Groups(block, growing, (), signatures)


def _is_short(group: Group, groups: Groups, target: Target) -> bool:
    found = fit_in_tiles(ops_of(group), target, groups.stands_for, list(group.writes))
    return found.shortage is not None


def _cones(block: Block, growing: Collection[str]) -> dict[GEOp, list[GEOp]]:
    """Returns what is done again for each reader of an op, by that op; disjoint."""
    found: dict[GEOp, list[GEOp]] = {}
    taken: set[Operation] = set()
    for op in block.ops:
        if (
            not _is_cheap(op)
            or op.results[0].has_one_use()
            or not _is_shared(op.results[0], growing)
        ):
            continue
        cone, inputs = _cone(op)
        size = byte_size(op.results[0].type)
        read = [byte_size(value.type) for value in inputs]
        if size is None or None in read or taken.intersection(cone):
            continue
        if 2 * sum(one for one in read if one is not None) <= size:
            found[op] = cone
            taken.update(cone)
    return found


def _cone(root: GEOp) -> tuple[list[GEOp], list[SSAValue]]:
    """Returns an op with the cheap ops that only it needs, and what these read from outside."""
    cone: dict[GEOp, None] = {root: None}
    inputs: dict[SSAValue, None] = {}
    waiting = list(root.operands)
    while waiting:
        value = waiting.pop()
        op = value.owner
        if is_scalar_constant(value):
            continue
        inner = _is_cheap(op) or _is_view(op)
        if inner and isinstance(op, GEOp) and value.has_one_use() and len(cone) < _MAX_OPS:
            cone[op] = None
            waiting += op.operands
        else:
            inputs[value] = None
    return [op for op in cone if not _is_view(op)], list(inputs)


def _is_cheap(op: Operation | Block) -> TypeGuard[GEOp]:
    if not isinstance(op, GEOp) or isinstance(op, FusionOp | ConstantOp) or len(op.results) != 1:
        return False
    if op.regions or _is_view(op) or not is_tensor(op.results[0].type):
        return False
    return role_of(type(op)) is Role.POINT or isinstance(op, EXPANDING)


def _is_view(op: Operation | Block) -> bool:
    return isinstance(op, GEOp) and op.view_of() == 0 and len(op.results) == 1


def _is_shared(value: SSAValue, growing: Collection[str]) -> bool:
    """Whether several ops read a value, through views as well, that all may do more.

    What a branch or loop reads for its regions has to be there before.
    """
    readers, home = list(_readers(value)), value.owner.parent
    return len(readers) > 1 and all(op.parent is home and may_grow(op, growing) for op in readers)


def _readers(value: SSAValue) -> Iterator[Operation]:
    waiting: list[SSAValue] = [value]
    while waiting:
        for use in _uses(waiting.pop()):
            if _is_view(use):
                waiting += use.results
            else:
                yield use


def _uses(value: SSAValue) -> Iterable[Operation]:
    return dict.fromkeys(use.operation for use in value.uses)
