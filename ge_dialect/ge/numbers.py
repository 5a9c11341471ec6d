"""Numbers for attributes, to compare many ops by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.ir import Attribute


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

    def of(self, attr: Attribute) -> int:
        """Returns the number of an attribute."""
        return (self.by_identity.get(id(attr)) or self._note(attr))[1]

    def of_all(self, attrs: Iterable[Attribute]) -> tuple[int, ...]:
        """Returns the numbers of some attributes."""
        by_identity = self.by_identity
        return tuple([(by_identity.get(id(attr)) or self._note(attr))[1] for attr in attrs])

    def _note(self, attr: Attribute) -> tuple[Attribute, int]:
        number = self.by_value.setdefault(attr, len(self.by_value))
        self.by_identity[id(attr)] = found = attr, number
        return found
