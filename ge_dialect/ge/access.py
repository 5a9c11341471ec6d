"""Operands, results and regions by name, at the cost of one look-up.

xDSL's descriptors find them through a view of the operand list that they make each time; matchers
ask for `op.lhs` a hundred times for every rewrite. Ours read the list itself. Only for operands and
results before any variadic one, whose place never depends on the op, and for an operand that may be
left out.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import (
    BaseAttrAccessor,
    BeforeVariadicSingleAccessor,
    OptionalAttrAccessor,
    SameOptionalAccessor,
    SingleAttrAccessor,
    UniqueVariadicAccessor,
    VariadicAttrAccessor,
    VarIRConstruct,
)

if TYPE_CHECKING:
    from xdsl.dialects.builtin import DenseArrayBase


operands_of: Callable[[Operation], tuple[SSAValue, ...]] = attrgetter("_operands")
"""Returns the operands of an op as they are now, as a plain tuple; `op.operands` makes a view of
it. Not a function of ours, which would take twice as long."""


def ops_of(block: Block) -> list[Operation]:
    """Returns the ops of a block as they are now, in order."""
    found: list[Operation] = []
    op = block.first_op
    while op is not None:  # `block.ops` resumes a generator for each
        found.append(op)
        op = op._next_op  # pyright: ignore[reportPrivateUsage]  # `next_op` is a call for each
    return found


# Of the tuple itself: xDSL's subclass of it asks at each look-up whether the index is a slice.
_at: Callable[[Any, int], Any] = vars(tuple)["__getitem__"]


def operand_at(op: Operation, index: int) -> SSAValue:
    """Returns an operand by its number."""
    return _at(operands_of(op), index)


@dataclass(frozen=True)
class _Operand(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: type[Operation] | None = None) -> Any:
        return _at(obj._operands, self.idx)  # pyright: ignore[reportPrivateUsage]  # as above


@dataclass(frozen=True)
class _Result(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: type[Operation] | None = None) -> Any:
        return _at(obj.results, self.idx)


@dataclass(frozen=True)
class _OptionalOperand(SameOptionalAccessor):
    def __get__(self, obj: Operation, objtype: type[Operation] | None = None) -> Any:
        operands = obj._operands  # pyright: ignore[reportPrivateUsage]  # as above
        return _at(operands, self.idx) if len(operands) == self.num_defs else None


@dataclass(frozen=True)
class _OnlyVariadic(UniqueVariadicAccessor):
    def __get__(self, obj: Operation, objtype: type[Operation] | None = None) -> Any:
        is_operand = self.construct is VarIRConstruct.OPERAND
        values = operands_of(obj) if is_operand else obj.results
        # A slice keeps xDSL's subclass of tuple, which all of it is already.
        return values if self.num_defs == 1 else self.index(values)


@dataclass(frozen=True)
class _Region(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: type[Operation] | None = None) -> Any:
        return obj.regions[self.idx]


_SINGLE: dict[VarIRConstruct, type[BeforeVariadicSingleAccessor]] = {
    VarIRConstruct.OPERAND: _Operand,
    VarIRConstruct.RESULT: _Result,
    VarIRConstruct.REGION: _Region,
}
_VALUES = (VarIRConstruct.OPERAND, VarIRConstruct.RESULT)


def segments_of(attr: Attribute) -> list[tuple[int, int]]:
    """Returns where each segment begins and ends whose sizes the attribute of an op packs."""
    fields: Any = attr.__dict__
    if (spans := fields.get("_ge_spans")) is None:
        ends = list(accumulate(cast("DenseArrayBase[Any]", attr).get_values()))
        spans = fields["_ge_spans"] = list(zip([0, *ends], ends, strict=False))
    return spans


class _Segments(BaseAttrAccessor):
    """Reads the sizes of the segments, which are packed bytes in an attribute, once."""

    def __get__(self, obj: Operation, objtype: type[Operation] | None = None) -> Any:
        option = self.option
        attr = (obj.properties if option.as_property else obj.attributes)[option.attribute_name]
        spans = segments_of(attr)
        is_operand = self.construct is VarIRConstruct.OPERAND
        return self.take(operands_of(obj) if is_operand else obj.results, *spans[self.idx])

    @abstractmethod
    def take(self, values: Sequence[SSAValue], start: int, end: int) -> Any:
        """Returns what is in a segment."""


class _SingleSegment(_Segments, SingleAttrAccessor):
    def take(self, values: Sequence[SSAValue], start: int, end: int) -> Any:
        return _at(values, start)


class _VariadicSegment(_Segments, VariadicAttrAccessor):
    def take(self, values: Sequence[SSAValue], start: int, end: int) -> Any:
        return values[start:end]


class _OptionalSegment(_Segments, OptionalAttrAccessor):
    def take(self, values: Sequence[SSAValue], start: int, end: int) -> Any:
        return _at(values, start) if start < end else None


_SEGMENTS: dict[type, type[BaseAttrAccessor]] = {
    SingleAttrAccessor: _SingleSegment,
    VariadicAttrAccessor: _VariadicSegment,
    OptionalAttrAccessor: _OptionalSegment,
}


def _quick(accessor: Any) -> Any | None:
    """Returns the descriptor that does what an accessor of xDSL does, or None to leave that."""
    kind = cast("type[Any]", type(accessor))
    if kind is BeforeVariadicSingleAccessor and accessor.construct in _SINGLE:
        return _SINGLE[accessor.construct](accessor.construct, accessor.idx)
    if kind is SameOptionalAccessor and accessor.construct is VarIRConstruct.OPERAND:
        return _OptionalOperand(accessor.construct, accessor.idx, accessor.num_defs)
    if kind is UniqueVariadicAccessor and accessor.construct in _VALUES:
        return _OnlyVariadic(accessor.construct, accessor.idx, accessor.num_defs)
    if kind in _SEGMENTS and accessor.construct in _VALUES:
        return _SEGMENTS[kind](accessor.construct, accessor.idx, accessor.option)
    return None


def quicken(op_classes: Iterable[type[Operation]]) -> None:
    """Gives op classes our descriptors in place of xDSL's; nothing else about them changes."""
    for op_class in op_classes:
        for name, accessor in list(vars(op_class).items()):
            if (quick := _quick(accessor)) is not None:
                setattr(op_class, name, quick)
