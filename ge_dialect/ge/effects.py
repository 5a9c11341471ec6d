"""Whether an op has an effect: passes ask it of every op, and of most the class alone says it."""

from __future__ import annotations

from functools import cache

from xdsl import traits
from xdsl.ir import Operation
from xdsl.traits import MemoryEffect, NoMemoryEffect


def is_side_effect_free(op: Operation) -> bool:
    """Whether an op has no effect for sure."""
    return _is_pure(type(op)) or traits.is_side_effect_free(op)


@cache
def _is_pure(op_class: type[Operation]) -> bool:
    """Whether no op of a class has an effect, whatever is in it."""
    found = op_class.get_traits_of_type(MemoryEffect)
    return bool(found) and all(isinstance(one, NoMemoryEffect) for one in found)
