"""Where reference semantics of ops are registered, and how one op is evaluated.

A semantics function takes the op and one argument for each operand *definition*: an array, `None`
for an absent optional operand, a tuple of arrays for a variadic one. It returns one array, or a
tuple with one array a result. Constant folding, the interpreter and the runtime all come here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, OptionalDef, VariadicDef
from xdsl.utils.exceptions import InterpretationError

Array: TypeAlias = npt.NDArray[Any]
Argument: TypeAlias = Array | tuple[Array, ...] | None
Semantics: TypeAlias = Callable[..., Array | tuple[Array, ...]]

SemanticsT = TypeVar("SemanticsT", bound=Semantics)
ItemT = TypeVar("ItemT")

_TABLE: dict[type[Operation], Semantics] = {}


def semantics(*op_classes: type[Operation]) -> Callable[[SemanticsT], SemanticsT]:
    """Registers a function as the semantics of the given op classes.

    Raises:
        ValueError: One has semantics already.
    """

    def register(function: SemanticsT) -> SemanticsT:
        for op_class in op_classes:
            if op_class in _TABLE:
                raise ValueError(f"expected one semantics of {op_class.name}, got a second")
            _TABLE[op_class] = function
        return function

    return register


def has_semantics(op: Operation) -> bool:
    """Whether `evaluate` can run the op."""
    return type(op) in _table()


def find_semantics(op: Operation) -> Semantics | None:
    """Returns the semantics of an op, None where it has none."""
    return _table().get(type(op))


def registered_ops() -> tuple[type[Operation], ...]:
    """Returns the op classes that have semantics, in the order of registration."""
    return tuple(_table())


def evaluate(op: Operation, arguments: Sequence[Array]) -> tuple[Array, ...]:
    """Returns the results of one op without regions.

    Args:
        op: Any op with registered semantics.
        arguments: One array an operand, of the operand's type.

    Raises:
        InterpretationError: The op has no semantics.
    """
    function = _table().get(type(op))
    if function is None:
        raise InterpretationError(f"expected an op with reference semantics, got {op.name}")
    with np.errstate(all="ignore"):
        results = function(op, *group_arguments(op, [contiguous(one) for one in arguments]))
    return results if isinstance(results, tuple) else (results,)


def contiguous(argument: Array) -> Array:
    """Returns an array in row-major order: BLAS sums in another order where it is transposed, and
    equal values are to give equal bits."""
    if isinstance(argument, np.ndarray) and not argument.flags.c_contiguous:  # pyright: ignore[reportUnnecessaryIsInstance]  # lists and None of containers
        return argument.copy(order="C")
    return argument


def group_arguments(
    op: Operation, arguments: Sequence[ItemT]
) -> list[ItemT | tuple[ItemT, ...] | None]:
    """Returns `arguments` grouped by the operand definitions of an op."""
    assert isinstance(op, IRDLOperation)
    grouped: list[ItemT | tuple[ItemT, ...] | None] = []
    position = 0
    for (_, definition), size in zip(
        type(op).get_irdl_definition().operands, _sizes(op, len(arguments)), strict=True
    ):
        group = tuple(arguments[position : position + size])
        position += size
        if isinstance(definition, OptionalDef):
            grouped.append(group[0] if group else None)
        elif isinstance(definition, VariadicDef):
            grouped.append(group)
        else:
            grouped.append(group[0])
    return grouped


def _sizes(op: IRDLOperation, total: int) -> Sequence[int]:
    definitions = [definition for _, definition in type(op).get_irdl_definition().operands]
    segments = op.properties.get("operandSegmentSizes")
    if segments is not None:
        return cast(Any, segments).get_values()
    fixed = sum(not isinstance(definition, VariadicDef) for definition in definitions)
    return [
        total - fixed if isinstance(definition, VariadicDef) else 1 for definition in definitions
    ]


def _table() -> dict[type[Operation], Semantics]:
    # The families register on import; imported here, since they import this module.
    from ge_dialect.interpreters import families

    families.load()
    return _TABLE
