"""Numbers for groups of the same structure, so that equal layers are looked at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, SSAValue

from ge_dialect.ge.access import operands_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.types import is_tensor
from ge_dialect.passes.fusion.tiling import Role, role_of

if TYPE_CHECKING:
    from ge_dialect.passes.fusion.auto.groups import Group


@dataclass
class Signatures:
    """Gives equal numbers to equal structures.

    Attributes:
        numbers: Of structures.
        of_attribute: Of types and properties, by identity; the graph keeps them alive.
    """

    numbers: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    of_attribute: dict[int, int] = field(default_factory=dict[int, int])

    def number(self, key: Hashable) -> int:
        """Returns the number of a structure."""
        return self.numbers.setdefault(key, len(self.numbers))

    def of_ops(
        self,
        ops: Iterable[GEOp],
        alias: dict[SSAValue, SSAValue],
        reads: Iterable[SSAValue],
        writes: Iterable[SSAValue],
    ) -> int:
        """Returns the number of ops, producers first, by classes, types and wiring."""
        local = {value: index for index, value in enumerate(reads)}
        parts = [self._of_op(op, local, alias) for op in ops]
        results = [local.get(alias.get(value, value), -1) for value in writes]
        return self.number((*parts, *results))

    def _of_op(
        self, op: GEOp, local: dict[SSAValue, int], alias: dict[SSAValue, SSAValue]
    ) -> Hashable:
        operands = operands_of(op)
        # What is read is known by the name it has outside, were it the result of a kernel.
        names = [v if v in local else alias.get(v, v) for v in operands]
        wires = [local.setdefault(v, len(local)) for v in names]
        types = [self._attribute(v.type) for v in operands]
        for result in op.results:
            local[result] = len(local)
            types.append(self._attribute(result.type))
        if role_of(type(op)) is Role.POINT:
            return (op.name, *wires, *types)
        properties = [self._attribute(attr) for attr in op.properties.values()]
        return (op.name, *wires, *types, *op.properties, *properties)

    def _attribute(self, attr: Attribute) -> int:
        if (found := self.of_attribute.get(id(attr))) is None:
            key = (attr.element_type, *attr.get_shape()) if is_tensor(attr) else attr
            found = self.of_attribute[id(attr)] = self.number(key)
        return found

    def of_pair(self, first: Group, last: Group) -> tuple[int, ...]:
        """Returns what tells how two groups hang together."""
        places = {value: index for index, value in enumerate(first.writes)}
        reads = {value: -1 - index for index, value in enumerate(first.reads)}
        wires = [first.signature, last.signature]
        for index, value in enumerate(last.reads):
            if (place := places.get(value, reads.get(value))) is not None:
                wires += (index, place)
        if first.reads and first.writes and last.writes:
            for index, value in enumerate(last.writes):
                if value in first.reads:
                    wires += (-index, -1)
        return tuple(wires)
