"""What has to hold of the symbols of a graph, so that a rewrite or a plan is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from ge_dialect.symbols.expr import Dim, evaluate


class Relation(Enum):
    """What a guard asks of two expressions."""

    EQUAL = "equal"
    BROADCAST = "broadcast"
    """Equal, or one of them is 1."""
    MULTIPLE = "multiple"
    """The second divides the first."""

    def holds(self, left: int, right: int) -> bool:
        """Whether two numbers are as it asks."""
        match self:
            case Relation.EQUAL:
                return left == right
            case Relation.BROADCAST:
                return left == right or 1 in (left, right)
            case Relation.MULTIPLE:
                return right != 0 and left % right == 0

    def text(self, left: object, right: object) -> str:
        """Returns it in words."""
        match self:
            case Relation.EQUAL:
                return f"{left} = {right}"
            case Relation.BROADCAST:
                return f"{left} = {right}, or one of them 1"
            case Relation.MULTIPLE:
                return f"{left} a multiple of {right}"


RELATIONS = tuple(one.value for one in Relation)


@dataclass(frozen=True)
class Guard:
    """Two expressions, what has to hold of them, and which op needs it."""

    left: Dim
    relation: Relation
    right: Dim
    why: str

    def same(self, other: Guard) -> bool:
        """Whether it asks the same, for whatever reason."""
        mine = (self.left, self.relation, self.right)
        return mine == (other.left, other.relation, other.right)

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether it holds where the symbols have these values.

        Raises:
            ValueError: A symbol has no value, or a divisor is 0.
        """
        return self.relation.holds(evaluate(self.left, sizes), evaluate(self.right, sizes))

    def __str__(self) -> str:
        return self.relation.text(self.left, self.right)
