"""Symbols of a function: their ranges, what has to hold of them, and numbers in their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.ge.attributes import GuardAttr, SymbolAttr
from ge_dialect.ge.base import set_type
from ge_dialect.ge.types import MaybeDim, is_tensor, shape_of, static_shape, tensor_type
from ge_dialect.symbols import (
    Dim,
    DimExpr,
    Guard,
    SymbolRange,
    assuming,
    simplify,
    substitute,
    symbols_of,
)

Become: TypeAlias = Callable[[MaybeDim], MaybeDim]

SYMBOLS = "ge.symbols"
"""The attribute of a function that declares its symbols."""

DATA_SYMBOLS = "ge.data_symbols"
"""The attribute of a function that declares symbols for sizes that only its tasks find out."""

GUARDS = "ge.guards"
"""The attribute of a function that lists what has to hold of its symbols: a `GuardAttr` each."""


def guards_of(function: Operation) -> tuple[Guard, ...]:
    """Returns what has to hold of the symbols of a function, in order."""
    listed = function.attributes.get(GUARDS)
    if not isinstance(listed, ArrayAttr):
        return ()
    items = cast("ArrayAttr[Attribute]", listed).data
    return tuple(attr.data for attr in items if isinstance(attr, GuardAttr))


def add_guard(function: Operation, guard: Guard) -> bool:
    """Notes that something has to hold; returns whether that is new."""
    known = guards_of(function)
    if any(one.same(guard) for one in known):
        return False
    function.attributes[GUARDS] = ArrayAttr([GuardAttr(one) for one in (*known, guard)])
    return True


def symbol_ranges(function: Operation) -> dict[str, SymbolRange]:
    """Returns what a function declares of the symbols of its inputs."""
    return _declared(function, SYMBOLS)


def data_ranges(function: Operation) -> dict[str, SymbolRange]:
    """Returns what a function declares of the sizes that depend on data."""
    return _declared(function, DATA_SYMBOLS)


def function_of(op: Operation) -> FuncOp | None:
    """Returns the function that an op is in, or None."""
    outer = op.parent_op()
    while outer is not None and not isinstance(outer, FuncOp):
        outer = outer.parent_op()
    return outer


def assuming_ranges(module: Operation) -> AbstractContextManager[None]:
    """Takes for granted what the functions of a module declare of their symbols, while types are
    inferred; of a symbol that several have what all of them say."""
    functions = [op for op in module.regions[0].block.ops if op.regions]
    declared = [data_ranges(function) | symbol_ranges(function) for function in functions]
    first, *others = declared or [{}]
    return assuming(
        {
            name: known
            for name, known in first.items()
            if all(other.get(name) == known for other in others)
        }
    )


def _declared(function: Operation, attribute: str) -> dict[str, SymbolRange]:
    declared = function.attributes.get(attribute)
    found = declared.data.items() if isinstance(declared, DictionaryAttr) else ()
    return {name: attr.data for name, attr in found if isinstance(attr, SymbolAttr)}


def set_symbol_ranges(
    function: Operation, ranges: Mapping[str, SymbolRange], attribute: str = SYMBOLS
) -> None:
    """Declares the symbols of a function, those of its inputs or `DATA_SYMBOLS`."""
    if ranges:
        attrs: dict[str, Attribute] = {name: SymbolAttr(one) for name, one in ranges.items()}
        function.attributes[attribute] = DictionaryAttr(attrs)
    else:
        function.attributes.pop(attribute, None)


def bound_dim(dim: MaybeDim, sizes: Mapping[str, Dim]) -> MaybeDim:
    """Returns a dimension with sizes for its symbols: a number, where all of them have one."""
    if not isinstance(dim, DimExpr):
        return dim
    try:
        return substitute(dim, sizes)
    except ValueError:  # too large to name, or a divisor of 0
        return dim


def bound_type(type: Attribute, sizes: Mapping[str, Dim]) -> Attribute:
    """Returns a type with sizes for the symbols that have one."""
    return _mapped_type(type, lambda dim: bound_dim(dim, sizes))


def _mapped_type(type: Attribute, become: Become) -> Attribute:
    if not is_tensor(type) or static_shape(type) is not None:
        return type
    shape = shape_of(type)
    mapped = tuple(map(become, shape))
    return type if mapped == shape else tensor_type(type.element_type, mapped)


def symbols_in(op: Operation) -> tuple[str, ...]:
    """Returns the symbols in the types of all values inside an op, by name."""
    values: list[SSAValue] = []
    for inner in op.walk():
        values.extend(inner.results)
        values.extend(
            arg for region in inner.regions for block in region.blocks for arg in block.args
        )
    found: dict[str, None] = {}
    for value in values:
        for dim in shape_of(value.type) if is_tensor(value.type) else ():
            found |= dict.fromkeys(symbols_of(dim) if dim is not None else ())
    return tuple(sorted(found))


def bind_values(op: Operation, sizes: Mapping[str, Dim]) -> None:
    """Puts sizes for symbols into the types of all values inside an op."""
    _map_dims(op, lambda dim: bound_dim(dim, sizes))


def simplify_sizes(function: Operation) -> int:
    """Drops from all types in a function what the ranges of its symbols make pointless: of
    `min(S, 64)` with S of at most 32 `S` is left.

    Returns how many values have another type now.
    """
    ranges = data_ranges(function) | symbol_ranges(function)
    return _map_dims(
        function, lambda dim: simplify(dim, ranges) if isinstance(dim, DimExpr) else dim
    )


def _map_dims(op: Operation, become: Become) -> int:
    """Gives each value inside an op the type that its dimensions become; returns how many have
    another one now."""
    known: dict[int, tuple[Attribute, Attribute]] = {}  # by identity: values mostly share types
    changed = 0
    for inner in op.walk():
        values: list[SSAValue] = [] if inner is op else [*inner.results]
        for region in inner.regions:
            for block in region.blocks:
                values += block.args
        for value in values:
            old = value.type
            if (found := known.get(id(old))) is None:
                found = known[id(old)] = old, _mapped_type(old, become)
            if found[1] is not old:
                set_type(value, found[1])
                changed += 1
    return changed
