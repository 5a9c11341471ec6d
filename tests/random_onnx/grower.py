"""Grows a model node by node; every value is known at once, so that the next node can fit it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeVar

import numpy as np
import onnx
import onnx.defs
from hypothesis import strategies as st
from onnx import helper, numpy_helper

from tests.random_onnx.evaluate import COPIES, evaluate
from tests.random_onnx.values import (
    DTYPES,
    F32,
    I64,
    MAX_ELEMENTS,
    SCHEMA_NAMES,
    Array,
    DType,
    Shape,
    Value,
    is_finite,
    is_float,
    make_array,
)

_T = TypeVar("_T")


@dataclass
class Names:
    """Counts, so that no two values of a model share a name, whatever graph they are in."""

    count: int = 0

    def new(self, stem: str) -> str:
        """Returns a name that is not taken."""
        self.count += 1
        return f"{stem}{self.count}"


@dataclass
class Grower:
    """A graph that grows.

    Attributes:
        draw: Of hypothesis.
        opset: Of ONNX's own domain.
        names: Shared with the graphs around this one.
        values: Everything that a node may use, those of the graphs around first.
        inputs: Inputs of the model; a body makes none.
        constants: Initializers.
        nodes: In order.
        body: Whether this is the body of control flow.
    """

    draw: st.DrawFn
    opset: int
    names: Names = field(default_factory=Names)
    values: list[Value] = field(default_factory=list[Value])
    inputs: list[Value] = field(default_factory=list[Value])
    constants: list[Value] = field(default_factory=list[Value])
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    body: bool = False

    # Choices.

    def int(self, low: int, high: int) -> int:
        """Returns a number of `[low, high]`."""
        return self.draw(st.integers(low, high))

    def flag(self) -> bool:
        """Returns true or false."""
        return self.draw(st.booleans())

    def one_of(self, choices: Sequence[_T]) -> _T:
        """Returns one of the choices."""
        return choices[self.int(0, len(choices) - 1)]

    def rarely(self) -> bool:
        """Returns true one time in eight."""
        return self.int(0, 7) == 7

    def maybe(self, value: _T) -> _T | None:
        """Returns a value or None, which leaves an attribute or operand out."""
        return value if self.flag() else None

    def shape(self, low: int = 0, high: int = 4, *, empty: bool = True) -> Shape:
        """Returns dimensions, of which one in a while is 0."""
        rank = self.int(low, high)
        dims = [self.int(1, 5 if rank < 4 else 3) for _ in range(rank)]
        if empty and rank and self.rarely():
            dims[self.int(0, rank - 1)] = 0
        return tuple(dims)

    def axis(self, rank: int) -> int:
        """Returns an axis, counted from the front or from the back."""
        return self.int(-rank, rank - 1)

    def axes(self, rank: int, least: int = 0) -> list[int]:
        """Returns some axes in any order, some of them counted from the back."""
        order = self.draw(st.permutations(range(rank)))
        count = self.int(min(least, rank), rank)
        return [axis - rank * self.flag() for axis in order[:count]]

    # Types.

    def schema(self, op_type: str) -> onnx.defs.OpSchema:
        """Returns the schema of an operator in the opset of the model."""
        return onnx.defs.get_schema(op_type, self.opset, "")

    def version(self, op_type: str) -> int:
        """Returns since when the operator is what it is."""
        return self.schema(op_type).since_version

    def types(self, op_type: str, slot: int = 0) -> list[DType]:
        """Returns the types that an operand may have, f32 first."""
        formal = self.schema(op_type).inputs[slot]
        allowed = {SCHEMA_NAMES[name] for name in formal.types if name in SCHEMA_NAMES}
        return [dtype for dtype in DTYPES if dtype in allowed]

    def floats(self, op_type: str, slot: int = 0) -> list[DType]:
        """Returns the floats that an operand may have."""
        return [dtype for dtype in self.types(op_type, slot) if is_float(dtype)]

    # Values.

    def fresh(
        self, dtype: DType, shape: Sequence[int], kind: str = "special", *, fixed: bool = False
    ) -> Value:
        """Returns a new input or constant.

        Args:
            dtype: Element type.
            shape: Dimensions.
            kind: As for `make_array`; what says "special" is so one time in three.
            fixed: Whether it has to be a constant.
        """
        if kind == "special":
            kind = self.one_of(("normal", "whole", "special"))
        rng = np.random.default_rng(self.int(0, 999))
        return self.given(make_array(rng, dtype, shape, kind), fixed=fixed)

    def given(self, array: Array, *, fixed: bool = False) -> Value:
        """Returns an array as an input or a constant."""
        where = self.int(1 if fixed or self.body else 0, 2)
        if where == 2 or (self.body and self.flag()):
            name = self.names.new("v")
            tensor = numpy_helper.from_array(array, name)
            self.nodes.append(helper.make_node("Constant", [], [name], f"n_{name}", value=tensor))
            return self._keep(Value(name, array, (array,) * COPIES, True, True))
        value = Value(
            self.names.new("xc"[where]), array, (array,) * COPIES, exact=True, fixed=where > 0
        )
        (self.constants if where else self.inputs).append(value)
        return self._keep(value)

    def operand(
        self,
        dtypes: Sequence[DType],
        rank: tuple[int, int] = (0, 4),
        *,
        kind: str = "special",
        empty: bool = True,
        finite: bool = False,
        test: Callable[[Value], bool] | None = None,
    ) -> Value:
        """Returns a value that there is, or else a new one.

        Args:
            dtypes: Those that will do; the first is the likeliest of a new value.
            rank: The least and the greatest.
            kind: Of a new value, as for `fresh`.
            empty: Whether it may have no elements.
            finite: Whether it may have no infinities and NaN.
            test: What else has to hold; new values that do not pass are refused.
        """
        if finite and kind == "special":
            kind = "normal"
        fits = [
            value
            for value in self.values
            if value.dtype in dtypes
            and rank[0] <= value.rank <= rank[1]
            and (empty or value.array.size)
            and (not finite or is_finite(value.array))
            and (test is None or test(value))
        ]
        if fits and self.int(0, 3):
            return fits[len(fits) - 1 - self.int(0, len(fits) - 1)]
        return self.fresh(self.dtype(dtypes), self.shape(*rank, empty=empty), kind)

    def dtype(self, dtypes: Sequence[DType]) -> DType:
        """Returns one of some types; f32 half of the time."""
        return F32 if F32 in dtypes and self.flag() else self.one_of(dtypes)

    def like(self, value: Value, *, one_way: bool = False, kind: str = "special") -> Value:
        """Returns an operand of a value's type that broadcasts with it, or to it."""

        def fits(other: Value) -> bool:
            return can_broadcast(value.shape, other.shape, one_way=one_way)

        fits_now = [v for v in self.values if v.dtype == value.dtype and fits(v)]
        if fits_now and self.int(0, 2):
            return self.one_of(fits_now[-8:])
        return self.fresh(value.dtype, self.partner(value.shape, one_way=one_way), kind)

    def partner(self, shape: Shape, *, one_way: bool = False) -> Shape:
        """Returns a shape that broadcasts with another one, or to it."""
        kept = shape[self.int(0, len(shape)) :]
        dims = [1 if self.rarely() else dim for dim in kept]
        if one_way:
            return tuple(dims)
        grown = [
            self.int(2, 3) if old == 1 and self.rarely() else dim
            for dim, old in zip(dims, kept, strict=True)
        ]
        if len(grown) == len(shape) and len(grown) < 4 and self.rarely():
            grown.insert(0, self.int(1, 3))
        return tuple(grown) if prod(grown) <= MAX_ELEMENTS else tuple(dims)

    def reshaped(self, value: Value, shape: Sequence[int]) -> Value:
        """Returns a value in another shape."""
        if value.shape == tuple(shape):
            return value
        return self.emit("Reshape", [value, self.ints(shape)])[0]

    def ints(self, numbers: Sequence[int]) -> Value:
        """Returns a vector of integers, in one of many spellings; now and then it is an input."""
        spelling = self.int(0, 4)
        if spelling == 0 and numbers:
            name = self.names.new("v")
            node = helper.make_node("Constant", [], [name], f"n_{name}", value_ints=list(numbers))
            self.nodes.append(node)
            array = np.array(numbers, I64)
            return self._keep(Value(name, array, (array,) * COPIES, True, True))
        if spelling == 1 and len(numbers) > 1:
            parts = [self.ints(numbers[:1]), self.ints(numbers[1:])]
            return self.emit("Concat", parts, axis=0)[0]
        fixed = spelling < 4 or not self.rarely()
        return self.given(np.array(numbers, I64).reshape(len(numbers)), fixed=fixed)

    def number(self, number: int) -> Value:
        """Returns a constant scalar, or a vector of one number."""
        return self.given(np.array(number, I64), fixed=True)

    def _keep(self, value: Value) -> Value:
        self.values.append(value)
        return value

    # Nodes.

    def emit(
        self,
        op_type: str,
        operands: Sequence[Value | None],
        outputs: int = 1,
        captured: Sequence[Value] = (),
        **attributes: Any,
    ) -> list[Value]:
        """Adds a node and returns its results.

        Args:
            op_type: Of ONNX's own domain.
            operands: None leaves one out; those at the end are dropped.
            outputs: How many there are.
            captured: What bodies of the node use of the graphs around.
            attributes: Those that are None are left out.

        Raises:
            Rejected: The results depend on rounding.
        """
        names = ["" if value is None else value.name for value in operands]
        while names and not names[-1]:
            names.pop()
        results = [self.names.new("v") for _ in range(outputs)]
        given = {key: value for key, value in attributes.items() if value is not None}
        node = helper.make_node(op_type, names, results, f"n_{results[0]}", **given)
        feeds = {value.name: value for value in (*operands, *captured) if value is not None}
        found = evaluate(node, feeds, self.opset)
        fixed = all(value.fixed for value in feeds.values())
        self.nodes.append(node)
        return [
            self._keep(Value(name, result.array, result.shaken, result.exact, fixed))
            for name, result in zip(results, found, strict=True)
        ]


def can_broadcast(to: Shape, other: Shape, *, one_way: bool) -> bool:
    """Whether two shapes broadcast, to the first one or to one of moderate size."""
    try:
        found = np.broadcast_shapes(to, other)
    except ValueError:
        return False
    return found == to if one_way else prod(found) <= MAX_ELEMENTS and len(found) <= 5
