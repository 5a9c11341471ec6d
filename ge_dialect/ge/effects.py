"""Whether an op has an effect: passes ask it of every op, and of most the class alone says it."""

from __future__ import annotations

from functools import cache

from xdsl import traits
from xdsl.ir import Operation
from xdsl.traits import MemoryEffect, NoMemoryEffect, RecursiveMemoryEffect


def is_side_effect_free(op: Operation) -> bool:
    """Whether an op has no effect for sure."""
    if _has_only(type(op), NoMemoryEffect):
        return True
    if _has_only(type(op), RecursiveMemoryEffect):
        blocks = [block for region in op.regions for block in region.blocks]
        return all(is_side_effect_free(inner) for block in blocks for inner in block.ops)
    return traits.is_side_effect_free(op)


@cache
def _has_only(op_class: type[Operation], effect: type[MemoryEffect]) -> bool:
    """Whether all that is known of the effects of a class is of one kind."""
    found = op_class.get_traits_of_type(MemoryEffect)
    return bool(found) and all(isinstance(one, effect) for one in found)
