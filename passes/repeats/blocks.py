"""What is known of the blocks of a run, those that are left out as well."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import SSAValue

from ge_dialect.ge.constants import ConstantOp
from ge_dialect.repeats import Place


class Blocks(Protocol):
    """Equal blocks, one after the other, of a function that need not be there."""

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    @property
    def size(self) -> int:
        """How many ops each has but the last one."""
        ...

    @property
    def size_of_last(self) -> int:
        """How many ops the last one has, which may lack some at its end."""
        ...

    @property
    def skipped(self) -> range:
        """The numbers of those that are copies in the end."""
        ...

    def locations(self, number: int) -> Sequence[LocationAttr]:
        """Returns the locations of the ops of a block."""
        ...

    def hint(self, number: int, template: str | None) -> str | None:
        """Returns what a result is called that is to block `number` what one called `template` is
        to the first; of that, names of the last block are of the next."""
        ...

    def parameter(self, place: Place) -> ConstantOp | int:
        """Returns a parameter: a new constant, or the index of an argument."""
        ...

    def alternatives(self, slot: int) -> Iterable[SSAValue | None]:
        """Yields what the blocks have in the place of a parameter; None may be an argument."""
        ...
