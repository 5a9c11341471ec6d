"""What is known of small tensors of integers that hold dimensions: symbols, element by element.

Exporters compute shapes by ops: `Shape`, `Gather`, `Concat` and arithmetic. Where a dimension is
a symbol such a tensor is not constant, but each element is an expression, and the `Reshape` at the
end of the chain gets a type that says it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.ir import Block, Operation, SSAValue

from ge_dialect.ge.constants import ConstantOp, array_constant, constant_array
from ge_dialect.ge.dtypes import is_bool, is_integer, to_numpy
from ge_dialect.ge.extents import bounded
from ge_dialect.ge.types import MaybeDim, static_shape, tensor_of
from ge_dialect.symbols import Dim, assumed, ceil_div, maximum, product, simplify

if TYPE_CHECKING:
    import numpy.typing as npt

    Known: TypeAlias = npt.NDArray[Any]
    Rule: TypeAlias = Callable[[Any, Sequence[npt.NDArray[Any]]], npt.NDArray[Any] | None]

MAX_ELEMENTS = 64
"""Tensors with more elements than this hold no shape."""


class SymbolicDims:
    """The elements of tensors of integers, as far as they are known.

    An element is a number, an expression, or None where nothing is known; of a tensor of `i1` it is
    a truth value or None.
    """

    def __init__(self) -> None:
        self._known: dict[SSAValue, Known] = {}

    def of(self, value: SSAValue) -> Known | None:
        """Returns the elements of a value as an array of objects of the value's shape.

        None where the value is no small tensor of integers of a static shape.
        """
        if (known := self._known.get(value)) is not None:
            return known
        import numpy as np

        shape = static_shape(value.type)
        if shape is None or not _is_small(value):
            return None
        element_type = tensor_of(value).element_type
        if not is_integer(element_type) and not is_bool(element_type):
            return None
        unknown: Known = np.full(shape, None, object)
        array = constant_array(value, MAX_ELEMENTS)
        return unknown if array is None else np.array(array.tolist(), object).reshape(shape)

    def after(self, op: Operation) -> ConstantOp | None:
        """Notes what is known of the result of an op; returns the constant it turns out to be."""
        if (found := self._found(op)) is None:
            return None
        items, result = list(found.reshape(-1)), op.results[0]
        if all(isinstance(item, int) for item in items):
            return _constant(items, result)
        if any(item is not None for item in items):
            self._known[result] = found
        return None

    def followed(self, value: SSAValue, most: int) -> Known | None:
        """Returns the elements of a value as `of` does, after noting what it is computed from.

        Args:
            value: Any.
            most: How many ops are looked at; what lies before them is not known.
        """
        for op in _computing(value, most):
            if (found := self._found(op)) is not None:
                self._known[op.results[0]] = found
        return self.of(value)

    def _found(self, op: Operation) -> Known | None:
        """Returns what is known of the result of an op whose operands have been noted."""
        rule = _rules().get(type(op))
        if rule is None or len(op.results) != 1:
            return None
        shape = static_shape(op.results[0].type)
        if shape is None or not _holds_dims(op.results[0]):
            return None
        operands = [self.of(operand) for operand in op.operands]
        # The operand of `ge.shape` is any tensor; all others must be known themselves.
        known = [operand for operand in operands if operand is not None]
        found = rule(op, known) if len(known) == len(operands) or _reads_type(op) else None
        return None if found is None else found.reshape(shape)


def _computing(value: SSAValue, most: int) -> Sequence[Operation]:
    """Returns at most so many ops that a value is computed from by rules, producers first."""
    order: list[Operation] = []
    seen: set[Operation] = set()
    stack: list[tuple[Operation | Block, bool]] = [(value.owner, False)]
    while stack:
        op, is_done = stack.pop()
        if not isinstance(op, Operation) or type(op) not in _rules():
            continue
        if is_done:
            order.append(op)
        elif op not in seen and len(seen) < most:
            seen.add(op)
            stack.append((op, True))
            if not _reads_type(op):
                stack += [(operand.owner, False) for operand in op.operands]
    return order


def _holds_dims(value: SSAValue) -> bool:
    element_type = tensor_of(value).element_type
    numbers = is_integer(element_type) or is_bool(element_type)
    return numbers and _is_small(value)


def _is_small(value: SSAValue) -> bool:
    """Whether a value of known sizes has few elements, and no dimension that is large beside one
    of 0: numpy has no such arrays."""
    shape = static_shape(value.type) or ()
    return prod(max(dim, 1) for dim in shape) <= MAX_ELEMENTS


def _reads_type(op: Operation) -> bool:
    return op.name in ("ge.shape", "ge.size")


def _constant(items: Sequence[int], like: SSAValue) -> ConstantOp | None:
    import numpy as np

    type_ = tensor_of(like)
    try:
        array = np.array(items, to_numpy(type_.element_type)).reshape(static_shape(type_) or ())
    except OverflowError:
        return None
    return array_constant(array)


@cache
def _rules() -> dict[type[Operation], Rule]:
    from ge_dialect.frontends.onnx.convert.dim_rules import RULES

    return RULES


def multiply(first: MaybeDim, second: MaybeDim) -> MaybeDim:
    """Returns the product of two dimensions, None where one is unknown or it is too large."""
    if first is None or second is None:
        return None
    return bounded(lambda: product([first, second]))


def steps_between(first: Dim, last: Dim, step: int) -> MaybeDim:
    """Returns how many numbers there are from `first` on, below `last`, a positive `step` apart."""
    return bounded(lambda: simplify(ceil_div(maximum(last - first, 0), step), assumed()))
