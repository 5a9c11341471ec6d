"""Numbers for attributes, to compare many ops by."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from xdsl.ir import Attribute, Region


@dataclass
class Numbers:
    """A number for each attribute, the same for equal ones.

    By identity first: the types and properties of equal ops are mostly the same objects, and
    hashing a type walks all of it.
    """

    by_identity: dict[int, tuple[Attribute, int]] = field(
        default_factory=dict[int, tuple[Attribute, int]]
    )
    by_value: dict[Attribute, int] = field(default_factory=dict[Attribute, int])
    structures: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    bodies: dict[Region, int] = field(default_factory=dict[Region, int])

    def of(self, attr: Attribute) -> int:
        """Returns the number of an attribute."""
        try:
            return self.by_identity[id(attr)][1]
        except KeyError:
            number = self.by_value.setdefault(attr, len(self.by_value))
            self.by_identity[id(attr)] = attr, number
            return number

    def of_structure(self, structure: Hashable) -> int:
        """Returns the number of what is made of numbers, which is hashed once then."""
        return self.structures.setdefault(structure, len(self.structures))
