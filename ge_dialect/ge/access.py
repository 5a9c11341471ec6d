"""Operands and results by name, at the cost of one look-up.

xDSL's descriptors find them through a view of the operand list that they make each time; matchers
ask for `op.lhs` a hundred times for every rewrite. Ours read the list itself. Only for operands and
results before any variadic one, whose place never depends on the op, and for an operand that may be
left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    BaseAttrAccessor,
    BeforeVariadicSingleAccessor,
    OptionalAttrAccessor,
    SameOptionalAccessor,
    SingleAttrAccessor,
    VariadicAttrAccessor,
    VarIRConstruct,
)

if TYPE_CHECKING:
    from xdsl.dialects.builtin import DenseArrayBase


def operands_of(op: Operation) -> tuple[SSAValue, ...]:
    """Returns the operands of an op as they are now, as a plain tuple."""
    return op._operands  # pyright: ignore[reportPrivateUsage]  # `op.operands` makes a view of it


# Of the tuple itself: xDSL's subclass of it asks at each look-up whether the index is a slice.
_at: Callable[[Any, int], Any] = vars(tuple)["__getitem__"]


@dataclass(frozen=True)
class _Operand(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: type[Operation] | None = None) -> Any:
        return _at(operands_of(obj), self.idx)


@dataclass(frozen=True)
class _Result(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: type[Operation] | None = None) -> Any:
        return _at(obj.results, self.idx)


@dataclass(frozen=True)
class _OptionalOperand(SameOptionalAccessor):
    def __get__(self, obj: Operation, objtype: type[Operation] | None = None) -> Any:
        operands = operands_of(obj)
        return _at(operands, self.idx) if len(operands) == self.num_defs else None


_SINGLE: dict[VarIRConstruct, type[BeforeVariadicSingleAccessor]] = {
    VarIRConstruct.OPERAND: _Operand,
    VarIRConstruct.RESULT: _Result,
}


def segments_of(attr: Attribute) -> tuple[int, ...]:
    """Returns the sizes that the attribute of an op with segments packs, unpacked once."""
    if (sizes := vars(attr).get("_ge_sizes")) is None:
        sizes = vars(attr)["_ge_sizes"] = cast("DenseArrayBase[Any]", attr).get_values()
    return sizes


class _Segments:
    """Reads the sizes of the segments, which are packed bytes in an attribute, once."""

    def __get__(self, obj: Operation, objtype: type[Operation] | None = None) -> Any:
        assert isinstance(self, BaseAttrAccessor)
        sizes = segments_of(self.option.container(obj)[self.option.attribute_name])
        is_operand = self.construct is VarIRConstruct.OPERAND
        return self.index(sizes, operands_of(obj) if is_operand else obj.results)


class _SingleSegment(_Segments, SingleAttrAccessor):
    pass


class _VariadicSegment(_Segments, VariadicAttrAccessor):
    pass


class _OptionalSegment(_Segments, OptionalAttrAccessor):
    pass


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
    if kind in _SEGMENTS and accessor.construct in _SINGLE:
        return _SEGMENTS[kind](accessor.construct, accessor.idx, accessor.option)
    return None


def quicken(op_classes: Iterable[type[Operation]]) -> None:
    """Gives op classes our descriptors in place of xDSL's; nothing else about them changes."""
    for op_class in op_classes:
        for name, accessor in list(vars(op_class).items()):
            if (quick := _quick(accessor)) is not None:
                setattr(op_class, name, quick)
