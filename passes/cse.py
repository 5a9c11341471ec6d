"""`ge-cse`: one op for all that compute the same from the same operands, constants included."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.effects import is_side_effect_free
from ge_dialect.locations import fuse
from ge_dialect.passes import rewrites, statistics

NAME = "ge-cse"

Places: TypeAlias = dict[Operation, list[LocationAttr]]


@dataclass(frozen=True)
class CSEPass(ModulePass):
    """Merges equal pure ops of `ge`: same op, operands, properties and result types.

    Constants are equal by value and type; weights by name and place. Ops with regions stay.
    """

    name = NAME
    exact = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        places: Places = {}
        merged = sum(_walk(block, {}, places) for region in op.regions for block in region.blocks)
        for kept, locations in places.items():
            kept.location = fuse(locations)
        statistics.count(NAME, "merged", merged)


def _walk(block: Block, outer: dict[Hashable, Operation], places: Places) -> int:
    """Merges the ops of a block, and of the regions in it; an inner op may use an outer one.

    Notes in `places` where an op that stays comes from, once others were merged into it.
    """
    known = dict(outer) if outer else {}
    merged = 0
    for op in list(block.ops):
        isolated = bool(op.regions) and op.has_trait(IsolatedFromAbove)
        for region in op.regions:
            for inner in region.blocks:
                merged += _walk(inner, {} if isolated else known, places)
        if not isinstance(op, GEOp) or op.regions or not is_side_effect_free(op):
            continue
        if (earlier := _earlier(op, known)) is None:
            continue
        if not rewrites.permit(NAME, "merge", op):
            return merged
        for mine, theirs in zip(op.results, earlier.results, strict=True):
            mine.replace_all_uses_with(theirs)
        places.setdefault(earlier, [earlier.location]).append(op.location)
        op.detach()
        op.erase()
        merged += 1
    return merged


def _earlier(op: Operation, known: dict[Hashable, Operation]) -> Operation | None:
    """Returns the op of `known` that is equal to one; where there is none, adds it."""
    alike: Hashable = (type(op), operands_of(op), tuple([result.type for result in op.results]))
    # Properties cost most. Of ops on the same operands they are rarely needed to tell them apart;
    # of constants they are all there is.
    if operands_of(op):
        if (first := known.setdefault(alike, op)) is op:
            return None
        if first.properties == op.properties:
            return first
    key = (alike, _properties(op))
    return None if (found := known.setdefault(key, op)) is op else found


def _properties(op: Operation) -> Hashable:
    properties = op.properties
    return tuple(
        properties.items() if len(properties) < 2 else sorted(properties.items(), key=_name)
    )


def _name(item: tuple[str, Attribute]) -> str:
    return item[0]
