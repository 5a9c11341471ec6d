"""xDSL's IR with its smallest methods made cheaper, for a process that is ours alone.

A pass asks an op for the next one, a value for its type and its owner, and a dictionary for both,
millions of times in a large model; each is a function of Python in xDSL. Here they become what the
interpreter does by itself, and ops are built without passing each list through a setter. What they
return stays the same, as tests/test_quick_ir.py compares.
"""

from __future__ import annotations

from abc import ABC, ABCMeta
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, MemRefType, TensorType
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    BlockOps,
    Data,
    IRUses,
    IRWithName,
    IRWithUses,
    Operation,
    OpOperands,
    OpResult,
    ParametrizedAttribute,
    Region,
    RegionBlocks,
    SSAValue,
    SSAValues,
    Use,
)
from xdsl.irdl import (
    IRDLOperation,
    OpDef,
)
from xdsl.traits import IsolatedFromAbove

from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.tools.quick_ops import (
    add_defaults,
    clone_op,
    clone_without_regions,
    init_op,
    set_operands,
)
from ge_dialect.tools.quick_verify import verify, verify_isolated, verify_op

_GETTERS: tuple[tuple[type, str, str], ...] = (
    (SSAValue, "type", "_type"),
    (OpResult, "owner", "op"),
    (BlockArgument, "owner", "block"),
    (Operation, "next_op", "_next_op"),
    (Operation, "prev_op", "_prev_op"),
    (Use, "operation", "_operation"),
    (Use, "index", "_index"),
)
"""Properties that return a field: class, property, field."""

_KEPT: tuple[tuple[type, str, str], ...] = (
    (TensorType, "__hash__", "_ge_hash"),
    (TensorType, "get_shape", "_ge_sizes"),
    (MemRefType, "__hash__", "_ge_hash"),
    (MemRefType, "get_shape", "_ge_sizes"),
    (DenseArrayBase, "get_values", "_ge_values"),
    (WeightAttr, "__hash__", "_ge_hash"),
)
"""Methods of what nobody changes that always return the same, and where that is kept."""

_BY_IDENTITY: tuple[type, ...] = (SSAValue, Operation.__mro__[1], IRDLOperation)
"""Classes that compare and hash by identity, each in methods of its own."""

_IR: tuple[type, ...] = tuple(
    base
    for owner in (Operation, Region, Block, SSAValue)
    for base in owner.__mro__
    if type(base) is ABCMeta and base is not ABC
)
"""Abstract classes of IR."""

_SOUND: set[type] = set()
"""Classes of attributes that are known to be of one of the two kinds."""

_UNCHECKED: set[type] = set()
"""Those of them that check nothing."""

_NO_CHECKS = vars(Attribute)["_verify"], Attribute.verify


def quicken_ir() -> None:
    """Makes the methods cheaper; to be called once, before there is much IR."""
    for owner, name, field in _GETTERS:
        known = vars(owner)[name]
        setattr(owner, name, property(attrgetter(field), known.fset, doc=known.__doc__))
    for owner in _BY_IDENTITY:
        setattr(owner, "__eq__", object.__eq__)  # noqa: B010  # pyright knows better
        setattr(owner, "__hash__", object.__hash__)  # noqa: B010
    IRWithName.extract_valid_name = classmethod(_valid_name)  # pyright: ignore[reportAttributeAccessIssue]
    setattr(IRWithName, "name_hint", property(attrgetter("_name"), _set_name))  # noqa: B010  # as above
    for owner, name, method in (
        (BlockOps, "__iter__", _ops_of),
        (BlockOps, "__len__", _count_ops),
        (Block, "walk", _walk_block),
        (Operation, "walk", _walk_op),
        (Operation, "__init__", init_op),
        (Operation, "clone", clone_op),
        (Operation, "clone_without_regions", clone_without_regions),
        (IRDLOperation, "__post_init__", add_defaults),
        (Attribute, "__post_init__", _check_attribute),
        (Operation, "verify", verify),
        (IsolatedFromAbove, "verify", verify_isolated),
        (OpDef, "verify", verify_op),
        (TensorType, "__eq__", _is_equal_type),
        (Block, "_attach_op", _attach_op),
        (Block, "add_op", _add_op),
        (SSAValue, "erase", _erase_value),
        (SSAValues, "__getitem__", _value_at),
        (OpOperands, "__getitem__", _operand_at),
        (OpOperands, "__setitem__", _set_operand),
        (Operation, "operands", property(_operands_of, set_operands)),
        (IRWithUses, "uses", property(_uses_of)),
        (Block, "ops", property(_block_ops)),
        (Region, "blocks", property(_blocks_of)),
    ):
        setattr(owner, name, method)
    _quicken_checks()
    for owner, name, field in _KEPT:
        setattr(owner, name, _kept(field, getattr(owner, name)))


_T = TypeVar("_T")


def _kept(name: str, method: Callable[[Any], _T]) -> Callable[[Any], _T]:
    """Returns a method that is asked once for each object, which nobody changes."""

    def kept(self: Any) -> _T:
        fields: dict[str, _T] = self.__dict__
        try:
            return fields[name]
        except KeyError:
            known = fields[name] = method(self)
            return known

    return kept


def _is_equal_type(self: Any, other: Any) -> bool:
    """As `TensorType.__eq__`, which looks into what is compared with itself, as most types are."""
    return self is other or (
        type(self) is type(other)
        and self.element_type == other.element_type
        and self.shape == other.shape
        and self.encoding == other.encoding
    )


class _Plain(ABCMeta):
    """The kind of an abstract class that has no subclasses but those which inherit from it, so that
    `isinstance` asks for nothing else."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


def _quicken_checks() -> None:
    """Makes `isinstance` cheap for ops, values and attributes, which passes ask it for each time
    they look at one; also for classes that are made later."""
    waiting: list[type] = [Attribute, *_IR]
    while waiting:
        one = waiting.pop()
        waiting += type.__subclasses__(one)
        if type(one) is ABCMeta:
            one.__class__ = _Plain  # pyright: ignore[reportAttributeAccessIssue]  # of one layout


_extract_name = vars(IRWithName)["extract_valid_name"].__func__
_NAMES: dict[str | None, str | None] = {None: None}
"""Names that were valid, and what is left of them."""


def _valid_name(cls: type[IRWithName], name: str | None) -> str | None:
    """As `IRWithName.extract_valid_name`, which looks at each character every time."""
    if (found := _NAMES.get(name)) is None and name is not None:
        found = _NAMES[name] = _extract_name(cls, name)
    return found


def _set_name(self: IRWithName, name: str | None) -> None:
    """As the setter of `IRWithName.name_hint`."""
    try:
        found = _NAMES[name]
    except KeyError:
        found = _valid_name(type(self), name)
    self._name = found  # pyright: ignore[reportPrivateUsage]  # of the same class in xDSL


_at: Callable[[Any, Any], Any] = vars(tuple)["__getitem__"]


def _value_at(self: SSAValues, index: int | slice) -> Any:
    """As `SSAValues.__getitem__`."""
    found = _at(self, index)
    return SSAValues(found) if type(index) is slice else found


def _operand_at(self: Any, index: int | slice) -> Any:
    """As `OpOperands.__getitem__`."""
    return _value_at(self._op._operands, index)


def _set_operand(self: Any, index: int, operand: SSAValue) -> None:
    """As `OpOperands.__setitem__`."""
    op = self._op
    operands = list(op._operands)
    use = op._operand_uses[index]
    operands[index].remove_use(use)
    operand.add_use(use)
    operands[index] = operand
    op._operands = SSAValues(operands)


def _operands_of(self: Operation) -> OpOperands:
    """As `Operation.operands`."""
    view: Any = object.__new__(OpOperands)
    view._op = self
    return view


def _uses_of(self: IRWithUses) -> IRUses:
    """As `IRWithUses.uses`."""
    view: Any = object.__new__(IRUses)
    view.ir = self
    return view


def _block_ops(self: Block) -> BlockOps:
    """As `Block.ops`."""
    view: Any = object.__new__(BlockOps)
    view.block = self
    return view


def _blocks_of(self: Region) -> RegionBlocks:
    """As `Region.blocks`."""
    view: Any = object.__new__(RegionBlocks)
    view._region = self
    return view


def _ops_of(self: BlockOps) -> Iterator[Operation]:
    """As `BlockOps.__iter__`: begins at what is the first op now."""
    return _ops_from(self.block.first_op)


def _count_ops(self: BlockOps) -> int:
    """As `BlockOps.__len__`, which every list of ops asks for."""
    count, op = 0, self.block.first_op
    while op is not None:
        count, op = count + 1, op._next_op  # pyright: ignore[reportPrivateUsage]
    return count


def _ops_from(op: Operation | None) -> Iterator[Operation]:
    """Yields an op and those behind it; one may be erased while it is looked at."""
    while op is not None:
        following = op._next_op  # pyright: ignore[reportPrivateUsage]  # of the same class in xDSL
        yield op
        op = following


_walk_block_in_another_order, _walk_op_in_another_order = Block.walk, Operation.walk


def _walk_block(
    self: Block, *, reverse: bool = False, region_first: bool = False
) -> Iterable[Operation]:
    """As `Block.walk`."""
    if reverse or region_first:
        return _walk_block_in_another_order(self, reverse=reverse, region_first=region_first)
    return _walk_from(self.first_op)


def _walk_op(
    self: Operation, *, reverse: bool = False, region_first: bool = False
) -> Iterator[Operation]:
    """As `Operation.walk`."""
    if reverse or region_first:
        return _walk_op_in_another_order(self, reverse=reverse, region_first=region_first)
    return _walk_from(self, alone=True)


def _walk_from(op: Operation | None, *, alone: bool = False) -> Iterator[Operation]:
    """Yields an op and all in it, then what is behind it unless it is `alone`: by one generator,
    where each region of one block has three."""
    behind: list[Operation] = []
    while op is not None:
        following = None if alone else op._next_op  # pyright: ignore[reportPrivateUsage]
        alone = False
        yield op
        regions = op.regions
        first = regions[0].first_block if regions and len(regions) == 1 else None
        if first is not None and first.next_block is None:
            behind += [] if following is None else [following]
            op = first.first_op
        else:
            for region in regions:
                yield from region.walk()
            op = following
        if op is None and behind:
            op = behind.pop()


def _attach_op(self: Block, operation: Operation) -> None:
    """As `Block._attach_op`: no block is in an op without regions."""
    if operation.regions or operation.parent:
        _attach_checked(self, operation)
    else:
        operation.parent = self


def _add_op(self: Block, operation: Operation) -> None:
    """As `Block.add_op`, which hands on to three methods."""
    last = self._last_op  # pyright: ignore[reportPrivateUsage]  # of the same class in xDSL
    if last is None:
        _add_first_op(self, operation)
        return
    _attach_op(self, operation)
    operation._prev_op, operation._next_op = last, None  # pyright: ignore[reportPrivateUsage]
    last._next_op = self._last_op = operation  # pyright: ignore[reportPrivateUsage]


_add_first_op = Block.add_op

_attach_checked: Callable[[Block, Operation], None] = vars(Block)["_attach_op"]


def _erase_value(self: SSAValue, safe_erase: bool = True) -> None:
    """As `SSAValue.erase`: where nobody reads the value there is nothing to do."""
    if self.first_use is not None:
        _erase_read_value(self, safe_erase)


_erase_read_value = SSAValue.erase


def _check_attribute(self: Attribute) -> None:
    """As `Attribute.__post_init__`: `_verify` is what a class adds to it, and `verify`."""
    kind: Any = type(self)
    if kind in _UNCHECKED:
        return
    self._verify()  # pyright: ignore[reportPrivateUsage]  # of the same class in xDSL
    if kind not in _SOUND:
        if not isinstance(self, Data | ParametrizedAttribute):
            raise TypeError("Attributes should only be Data or ParametrizedAttribute")
        _SOUND.add(kind)
        if (kind._verify, kind.verify) == _NO_CHECKS:
            _UNCHECKED.add(kind)
