"""Sizes for decisions of cost: a dimension that is an expression counts as its greatest value.

Same names as in `ge_dialect.ge.types`, which stay exact: what is right at one size need not be at
another. Here a pass asks what fits on chip, or which bytes are most, and the greatest sizes answer.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from math import prod
from typing import TypeVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from ge_dialect.ge import types
from ge_dialect.ge.dtypes import dtype_of
from ge_dialect.ge.symbolic import bound_dim, data_ranges, symbol_ranges
from ge_dialect.ge.types import Shape, is_tensor
from ge_dialect.symbols import DimExpr, symbols_of

_sizes: ContextVar[Mapping[str, int] | None] = ContextVar("greatest", default=None)

ApplyT = TypeVar("ApplyT", bound=Callable[..., None])


@contextmanager
def greatest_of(module: ModuleOp, *, least: bool = False) -> Generator[None]:
    """Lets the symbols of the functions of a module count as their greatest values.

    Args:
        module: With functions that declare symbols.
        least: Whether they count as their least values instead, those that have a greatest one.
    """
    sizes: dict[str, int] = {}
    for function in module.body.block.ops:
        if not isinstance(function, FuncOp):
            continue
        for name, known in (symbol_ranges(function) | data_ranges(function)).items():
            if known.last is not None:
                sizes[name] = known.first if least else max(sizes.get(name, 0), known.last)
    token = _sizes.set(sizes or None)
    try:
        yield
    finally:
        _sizes.reset(token)


def are_symbols_weighed() -> bool:
    """Whether there are symbols that count as values here."""
    return _sizes.get() is not None


def at_greatest(apply: ApplyT) -> ApplyT:
    """Makes a pass weigh symbols by their greatest values; decorates its `apply`."""

    @wraps(apply)
    def weighed(self: ModulePass, ctx: Context, op: ModuleOp) -> None:
        with greatest_of(op):
            apply(self, ctx, op)

    return cast("ApplyT", weighed)


def _shape(shape: Shape) -> Shape:
    sizes = _sizes.get()
    if sizes is None:
        return shape
    # Only what is known whole: half of an expression is of no use to anybody.
    return tuple(
        bound_dim(dim, sizes)
        if isinstance(dim, DimExpr) and all(name in sizes for name in symbols_of(dim))
        else dim
        for dim in shape
    )


def value_shape(value: SSAValue) -> Shape:
    """Returns the dimensions of a tensor value."""
    return _shape(types.value_shape(value))


def static_shape(type: Attribute) -> tuple[int, ...] | None:
    """Returns the dimensions of a tensor type where all are numbers, else None."""
    exact = types.static_shape(type)
    if exact is not None or _sizes.get() is None or not is_tensor(type):
        return exact
    shape = _shape(types.shape_of(type))
    numbers = tuple(dim for dim in shape if isinstance(dim, int))
    return numbers if len(numbers) == len(shape) else None


def num_elements(type: Attribute) -> int | None:
    """Returns how many elements a tensor type has; None where a dimension is not known."""
    exact = types.num_elements(type)
    if exact is not None or _sizes.get() is None:
        return exact
    sizes = static_shape(type)
    return None if sizes is None else prod(sizes)


def byte_size(type: Attribute) -> int | None:
    """Returns the bytes of a tensor type, unpadded; None where they are not known."""
    exact = types.byte_size(type)
    if exact is not None or _sizes.get() is None:
        return exact
    elements = num_elements(type)
    if elements is None or not is_tensor(type):
        return None
    return elements * dtype_of(type.element_type).storage_bytes
