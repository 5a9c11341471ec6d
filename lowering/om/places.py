"""Where the values of a plan lie, as tasks and the graph for viewers say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import SSAValue

from ge_dialect.ge_exec import ObjectOp
from ge_dialect.ge_exec.memory import Storage, ViewOp, offset_of
from ge_dialect.ge_exec.spans import span_of, start_of


class Place(NamedTuple):
    """The bytes of a value.

    Attributes:
        base: What owns them.
        start, end: Bytes of the owner among which they always are.
        moves: Whether they are somewhere in between, where the sizes of a run say.
        address: The byte of the arena where they begin; 0 of an object, which has none.
    """

    base: Storage
    start: int
    end: int
    moves: bool
    address: int


@dataclass
class Places:
    """The places of the values of a plan, each found once."""

    by_value: dict[SSAValue, Place] = field(default_factory=dict[SSAValue, Place])

    def of(self, value: SSAValue) -> Place:
        """Returns where a value lies."""
        if (known := self.by_value.get(value)) is None:
            known = self.by_value[value] = _place(value)
        return known

    def all(self, values: Sequence[SSAValue]) -> list[Place]:
        """Returns where values lie."""
        known = self.by_value
        return [known[value] if value in known else self.of(value) for value in values]


def _place(value: SSAValue) -> Place:
    base, start, end = span_of(value)
    moves = type(value.owner) is ViewOp and not isinstance(start_of(value), int)
    own = 0 if isinstance(base, ObjectOp) else offset_of(base) or 0
    return Place(base, start, end, moves, own + start)
