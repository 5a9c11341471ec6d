"""Weights that stand for those of several blocks, and note who looks into them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, cast

from ge_dialect.ge.attributes import NamedWeight, WeightAttr

if TYPE_CHECKING:
    from ge_dialect.weights import WeightSource


@dataclass(frozen=True)
class SealedWeight:
    """A weight that notes when somebody looks into it: what holds of it need not of the others."""

    whole: WeightAttr
    opened: list[str] = field(compare=False)

    @property
    def length(self) -> int:
        """In bytes."""
        return self.whole.data.length

    @property
    def path(self) -> str:
        """Of the file that holds the bytes; empty where they are in memory. For who prints it."""
        return getattr(self.whole.data.weight, "path", "")

    @property
    def offset(self) -> int:
        """Where in that file they begin, in bytes."""
        return getattr(self.whole.data.weight, "offset", 0)

    def view(self) -> memoryview:
        """Returns the bytes, and notes that somebody asked for them."""
        self.opened.append("view")
        return self.whole.data.weight.view()

    def write_to(self, file: IO[bytes]) -> None:
        """Appends the bytes to `file`."""
        self.opened.append("write_to")
        self.whole.data.weight.write_to(file)


def stand_in(attr: WeightAttr, opened: list[str]) -> WeightAttr:
    """Returns what stands for a weight; who looks into it is noted in `opened`."""
    sealed = SealedWeight(attr, opened)
    return WeightAttr(NamedWeight(attr.data.name, cast("WeightSource", sealed)))
