"""One ONNX node as converters see it, whether it comes from a model or from a host call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, TypeAlias, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.convert.builder import Builder
from ge_dialect.ge.constants import ConstantOp, constant_array, constant_ints
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.types import MaybeDim, Shape, TensorT, shape_of, tensor_of, value_shape


@dataclass(frozen=True)
class TensorValue:
    """A tensor that is an attribute of a node: what a `ConstantOp` is made of."""

    value: Attribute
    type: TensorT


AttrValue: TypeAlias = (
    int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | TensorValue
)


class OnHost(Exception):  # noqa: N818 - no error, but the other of two ways
    """The node has no op of `ge` as it stands; it becomes a `ge.host_call`.

    Attributes:
        types: Of the results, where they are known better than ONNX's inference would know them.
    """

    def __init__(self, reason: str, types: Sequence[Attribute] | None = None):
        super().__init__(reason)
        self.types = types


@dataclass(frozen=True)
class Node:
    """A node with its operands as values.

    Attributes:
        op_type: Of ONNX.
        version: Of the operator set of its domain.
        operands: One an input slot, None for an empty one.
        attributes: By name, as Python values.
        used: For each output, whether it has a name and so may be used.
        builder: Where ops go.
        label: Names the node in a message.
        domain: Of the operator; ONNX's own is the empty string.
    """

    op_type: str
    version: int
    operands: Sequence[SSAValue | None]
    attributes: Mapping[str, AttrValue]
    used: Sequence[bool]
    builder: Builder
    label: str
    domain: str = ""

    def __getitem__(self, slot: int) -> SSAValue:
        """Returns an operand that the op needs.

        Raises:
            GEError: It is absent (GE0221).
        """
        if (value := self.optional(slot)) is None:
            self.fail(f"expected an input {slot}, got none")
        return value

    def optional(self, slot: int) -> SSAValue | None:
        """Returns an operand, or None where the node leaves it empty."""
        return self.operands[slot] if slot < len(self.operands) else None

    def shape(self, slot: int = 0) -> Shape:
        """Returns the dimensions of an operand that must be there."""
        return value_shape(self[slot])

    def element_type(self, slot: int = 0) -> Attribute:
        """Returns the element type of an operand that must be there."""
        return tensor_of(self[slot]).element_type

    def is_used(self, output: int) -> bool:
        """Whether somebody may use an output."""
        return output < len(self.used) and self.used[output]

    def emit(self, op: Operation) -> SSAValue:
        """Adds an op and returns its first result, or the constant that it evaluates to."""
        return self.builder.emit(op)[0]

    def emit_all(self, op: Operation) -> list[SSAValue]:
        """Adds an op and returns all of its results."""
        return list(self.builder.emit(op))

    def reshape(self, value: SSAValue, shape: Shape) -> SSAValue:
        """Adds a reshape to `shape`, of which one dimension may be None.

        Raises:
            OnHost: One of several dynamic dimensions is unknown.
        """
        op = ReshapeOp(value, shape)
        found = shape_of(tensor_of(op.result))
        dynamic = [dim for dim in found if not isinstance(dim, int)]
        if None in dynamic and len(dynamic) > 1:
            op.erase()
            raise OnHost("two dimensions of the result are unknown")
        return self.emit(op)

    def ints(self, slot: int) -> tuple[int, ...]:
        """Returns an operand that is a constant of integers.

        Raises:
            OnHost: It is not constant.
        """
        if (found := constant_ints(self[slot])) is None:
            raise OnHost(f"input {slot} is not constant")
        return found

    def floats(self, slot: int) -> tuple[float, ...]:
        """Returns an operand that is a constant of numbers.

        Raises:
            OnHost: It is not constant, or has more than 4096 elements.
        """
        array = constant_array(self[slot], 4096)
        if array is None or array.dtype.kind in "OSU":
            raise OnHost(f"input {slot} is not constant")
        return tuple(float(item) for item in array.reshape(-1))

    def dims(self, slot: int) -> tuple[MaybeDim, ...]:
        """Returns an operand of integers that holds dimensions; None for those not known.

        Raises:
            OnHost: Not even their number is known.
        """
        found = self.builder.dims.of(self[slot])
        if found is None:
            raise OnHost(f"input {slot} is not known")
        return tuple(found.reshape(-1))

    def has(self, name: str) -> bool:
        """Whether the node gives an attribute."""
        return name in self.attributes

    def get_int(self, name: str, default: int | None = None) -> int:
        """Returns an attribute of an integer."""
        value = self._get(name, default)
        return value if isinstance(value, int) else self._malformed(name, "an integer")

    def get_flag(self, name: str, default: bool = False) -> bool:
        """Returns an attribute of 0 or 1."""
        return self.get_int(name, int(default)) != 0

    def get_float(self, name: str, default: float | None = None) -> float:
        """Returns an attribute of a float, which holds an f32."""
        value = self._get(name, default)
        return value if isinstance(value, float) else self._malformed(name, "a float")

    def get_string(self, name: str, default: str | None = None) -> str:
        """Returns an attribute of a string."""
        value = self._get(name, default)
        return value if isinstance(value, str) else self._malformed(name, "a string")

    def get_strings(self, name: str) -> tuple[str, ...]:
        """Returns an attribute of strings; none where it is absent."""
        value = self.attributes.get(name, ())
        if not isinstance(value, tuple) or not set(map(type, value)) <= {str}:
            self._malformed(name, "strings")
        return cast("tuple[str, ...]", value)

    def get_ints(self, name: str) -> tuple[int, ...] | None:
        """Returns an attribute of integers, or None where it is absent."""
        value = self.attributes.get(name)
        if value is None:
            return None
        if not isinstance(value, tuple) or not set(map(type, value)) <= {int}:
            self._malformed(name, "integers")
        return cast("tuple[int, ...]", value)

    def get_floats(self, name: str) -> tuple[float, ...] | None:
        """Returns an attribute of floats, or None where it is absent."""
        value = self.attributes.get(name)
        if value is None:
            return None
        if not isinstance(value, tuple) or not set(map(type, value)) <= {float}:
            self._malformed(name, "floats")
        return cast("tuple[float, ...]", value)

    def get_tensor(self, name: str) -> ConstantOp | None:
        """Returns an attribute of a tensor as a constant, or None where it is absent."""
        value = self.attributes.get(name)
        if value is None:
            return None
        if not isinstance(value, TensorValue):
            self._malformed(name, "a tensor")
        return ConstantOp(value.value, value.type)

    def _get(self, name: str, default: AttrValue | None) -> AttrValue:
        value = self.attributes.get(name, default)
        if value is None:
            self.fail(f"expected an attribute '{name}', got none")
        return value

    def _malformed(self, name: str, expected: str) -> NoReturn:
        self.fail(f"expected attribute '{name}' of {expected}, got {self.attributes[name]!r:.60}")

    def fail(self, reason: str) -> NoReturn:
        """Says that the node is invalid.

        Raises:
            GEError: Always (GE0221).
        """
        raise GEError("GE0221", f"{self.label}: {reason}", hint="check the exporter of the model")


Converter: TypeAlias = Callable[[Node], Sequence[SSAValue]]

_TABLES: dict[str, dict[str, Converter]] = {}
_CHECKS: dict[str, Callable[[Node], None]] = {}


def converts(
    *op_types: str, domain: str = ""
) -> Callable[[Callable[[Node], SSAValue | Sequence[SSAValue]]], object]:
    """Registers a function as the converter of op types; it may return the one value there is.

    Raises:
        ValueError: One has a converter already.
    """

    def register(function: Callable[[Node], SSAValue | Sequence[SSAValue]]) -> object:
        def convert(node: Node) -> Sequence[SSAValue]:
            values = function(_checked(node) if domain else upgraded(node))
            return (values,) if isinstance(values, SSAValue) else values

        table = _TABLES.setdefault(domain, {})
        for op_type in op_types:
            if op_type in table:
                raise ValueError(f"expected one converter of {op_type}, got a second")
            table[op_type] = convert
        return function

    return register


def checks(domain: str) -> Callable[[Callable[[Node], None]], Callable[[Node], None]]:
    """Registers what looks at each node of a domain before its converter does."""

    def register(function: Callable[[Node], None]) -> Callable[[Node], None]:
        _CHECKS[domain] = function
        return function

    return register


def _checked(node: Node) -> Node:
    if (check := _CHECKS.get(node.domain)) is not None:
        check(node)
    return node


Upgrade: TypeAlias = Callable[[Node], Node]

_UPGRADES: dict[str, tuple[int, Upgrade]] = {}


def upgrades(*op_types: str, before: int) -> Callable[[Upgrade], Upgrade]:
    """Registers a function that gives a node of an old operator set the form of a newer one.

    Args:
        op_types: Of ONNX's own domain; converters see their nodes in the newer form.
        before: The first operator set that has the newer form.

    Raises:
        ValueError: One has an old form already.
    """

    def register(function: Upgrade) -> Upgrade:
        for op_type in op_types:
            if op_type in _UPGRADES:
                raise ValueError(f"expected one old form of {op_type}, got a second")
            _UPGRADES[op_type] = before, function
        return function

    return register


def upgraded(node: Node) -> Node:
    """Returns a node in its newer form, of the operator set that has it.

    Raises:
        OnHost: It has none as it stands.
        GEError: Its operands do not fit (GE0221).
    """
    before, upgrade = _UPGRADES.get(node.op_type, (0, None))
    if upgrade is None or node.version >= before:
        return node
    return replace(upgrade(node), version=before)


def converters(domain: str = "") -> dict[str, Converter]:
    """Returns the converters of a domain that are registered so far, by op type."""
    return _TABLES.get(domain, {})


def run_converter(convert: Converter, node: Node) -> Sequence[SSAValue]:
    """Returns the values that a node becomes; without them, nothing is left of it.

    Raises:
        OnHost: The node has no op of `ge`.
        GEError: The operands do not fit the node (GE0221).
    """
    if any(v is not None and not isinstance(v.type, TensorType) for v in node.operands):
        raise OnHost("an input has no known rank")
    mark = node.builder.mark()
    try:
        return convert(node)
    except OnHost:
        node.builder.undo(mark)
        raise
    except VerifyException as error:
        node.builder.undo(mark)
        node.fail(str(error))
