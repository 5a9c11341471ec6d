"""Sizes that depend on data, in a plan: which value tells each, and who has to wait for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.ge.structure import HostCallOp, IfOp, LoopOp
from ge_dialect.ge.symbolic import data_ranges, guards_of, symbols_in
from ge_dialect.ge.types import is_tensor, shape_of
from ge_dialect.ge_exec.storage import BoundedType, ObjectType, StorageType, storage_type
from ge_dialect.symbols import Guard, SymbolRange, linear_in, symbols_of

MAX_PLANNED_BYTES = 1 << 28
"""What may be larger than this, for a size that depends on data, is allocated in the run."""


@dataclass(frozen=True)
class Teller:
    """What says a size in each run.

    Attributes:
        symbol: The size.
        axis: A dimension of a value: it is linear in the symbol.
        known: The range.
    """

    symbol: str
    axis: int
    known: SymbolRange


@dataclass
class DataSizes:
    """The sizes of a function that depend on data.

    Attributes:
        ranges: Of the symbols, without those that no value tells.
        tellers: By value, what it says.
        facts: What holds of the symbols.
        told: By value, the symbols that are known wherever it is.
    """

    ranges: Mapping[str, SymbolRange] = field(default_factory=dict[str, SymbolRange])
    tellers: Mapping[SSAValue, Sequence[Teller]] = field(
        default_factory=dict[SSAValue, Sequence[Teller]]
    )
    facts: Sequence[Guard] = ()
    told: dict[SSAValue, frozenset[str]] = field(default_factory=dict[SSAValue, frozenset[str]])

    @staticmethod
    def of(function: FuncOp) -> DataSizes:
        """Returns those of a function; linear in its ops where there are any."""
        declared = data_ranges(function)
        if not declared:
            return DataSizes()
        tellers: dict[SSAValue, list[Teller]] = {}
        found: dict[str, SymbolRange] = {}
        for value in _computed(function):
            for axis, dim in enumerate(shape_of(value.type) if is_tensor(value.type) else ()):
                names = [] if dim is None else [n for n in symbols_of(dim) if n in declared]
                open_ = [name for name in names if name not in found]
                if dim is None or len(open_) != 1 or linear_in(dim, open_[0]) is None:
                    continue
                found[open_[0]] = declared[open_[0]]
                teller = Teller(open_[0], axis, declared[open_[0]])
                tellers.setdefault(value, []).append(teller)
        return DataSizes(found, tellers, guards_of(function))

    def storage(self, type: Attribute, ranges: Mapping[str, SymbolRange]) -> StorageType:
        """Returns how a plan holds values of a type; what may be too large is an object."""
        found = storage_type(type, ranges, self.facts)
        if not self.ranges or not isinstance(found, BoundedType):
            return found
        names = {
            name for dim in shape_of(found.tensor) if dim is not None for name in symbols_of(dim)
        }
        late = any(name in self.ranges for name in names)
        return ObjectType(type) if late and found.most > MAX_PLANNED_BYTES else found

    def note(self, op: Operation) -> None:
        """Notes what is known where the results of an op are."""
        if not self.ranges:
            return
        known = frozenset[str]().union(
            *[self.told[value] for value in op.operands if value in self.told]
        )
        for result in op.results:
            mine = [teller.symbol for teller in self.tellers.get(result, ())]
            self.told[result] = known.union(mine)

    def waits_for(self, op: Operation) -> Sequence[SSAValue]:
        """Returns the values whose sizes an op needs, and whose tasks it would not wait for."""
        if not self.ranges:
            return ()
        known = {
            *[name for value in op.operands for name in self.told.get(value, ())],
            *[one.symbol for result in op.results for one in self.tellers.get(result, ())],
        }
        missing = [name for name in symbols_in(op) if name in self.ranges and name not in known]
        return [
            value
            for value, tellers in self.tellers.items()
            if any(teller.symbol in missing for teller in tellers)
        ]


def _computed(function: FuncOp) -> Iterator[SSAValue]:
    """Yields the results of what may find out a size, in the order of the function."""
    for op in function.walk():
        if isinstance(op, HostCallOp | IfOp | LoopOp):
            yield from op.results
