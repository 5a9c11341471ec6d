"""Types that no array can have."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

MAX_ELEMENTS = 1 << 59
"""With elements of 16 bytes, the widest, the bytes of more are beyond 64 bits."""


def are_representable(dims: Iterable[int]) -> bool:
    """Whether an array may have these dimensions; one of 0 makes others no smaller, as in numpy.

    What is not known is negative.
    """
    return prod(max(dim, 1) for dim in dims) <= MAX_ELEMENTS


def is_representable(type_: Attribute) -> bool:
    """Whether an array may have this type."""
    return not isinstance(type_, TensorType | MemRefType) or are_representable(type_.get_shape())


def find_unrepresentable(module: Operation) -> tuple[Operation, SSAValue] | None:
    """Returns the first value that no array can be, and the op that gives it or holds its block."""
    known: set[int] = set()  # by identity: equal types are mostly one object, and all are alive
    for op in module.walk():
        values = [*op.results, *[arg for r in op.regions for b in r.blocks for arg in b.args]]
        for value in values:
            if id(value.type) not in known:
                if not is_representable(value.type):
                    return op, value
                known.add(id(value.type))
    return None


def size_problem(value: SSAValue) -> str:
    """Returns what is wrong with a value that is not representable."""
    return f"{value.type} has dimensions beyond {MAX_ELEMENTS} elements, which no array can have"
