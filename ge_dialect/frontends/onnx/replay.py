"""Nodes that are alike become alike ops: a converter runs once for all of them.

The layers of a transformer repeat their nodes. What a node becomes follows from its operator, its
attributes, the types of its operands and the values of those that are constant; where a node was
like this one, its ops are made again with other operands, and nothing is inferred or checked.

Not repeated are nodes that read integers which are not constant (they may hold dimensions, of which
more is known than a type says), nodes with ops that have regions or run on the host, and nodes that
read a weight, other than those of `_READ_NO_VALUES`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.dtypes import is_float
from ge_dialect.ge.host import HostCallOp
from ge_dialect.ge.types import is_tensor, tensor_of

if TYPE_CHECKING:
    from ge_dialect.frontends.onnx.convert.builder import Builder
    from ge_dialect.frontends.onnx.rows import NodeKind

_READ_NO_VALUES = frozenset(("MatMul", "Add", "Sub", "Mul", "Div"))
"""Operators whose ops do not depend on what is in a weight."""

Origin = tuple[str, int]
"""`("operand", slot)`, `("result", number)` of the ops so far, or `("constant", number)`."""


@dataclass(frozen=True, slots=True)
class _Made:
    """One op that a node became."""

    op: Operation
    operands: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """What a node became.

    Attributes:
        constants: Those that its converter made.
        ops: In order, without the constants.
        values: The outputs of the node.
    """

    constants: tuple[ConstantOp, ...]
    ops: tuple[_Made, ...]
    values: tuple[Origin, ...]


@dataclass
class Replayer:
    """What the nodes of a model became so far.

    Attributes:
        builder: Where ops go.
        recordings: By what the ops of a node depend on.
    """

    builder: Builder
    recordings: dict[Hashable, Recording] = field(default_factory=dict[Hashable, Recording])
    _numbers: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    _kinds: dict[NodeKind, int] = field(default_factory=dict["NodeKind", int])
    _types: dict[int, tuple[Attribute, int | None]] = field(
        default_factory=dict[int, tuple[Attribute, int | None]]
    )
    _constants: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def key(
        self, kind: NodeKind, version: int, operands: Sequence[SSAValue | None]
    ) -> Hashable | None:
        """Returns what the ops of a node depend on, or None where that is not known."""
        if not operands:
            return None
        reads_values = kind.op_type not in _READ_NO_VALUES
        numbers: list[int] = []
        for value in operands:
            if (number := self._number(value, reads_values)) is None:
                return None
            numbers.append(number)
        same = None
        if len(set(operands)) < len(operands):
            same = tuple(operands.index(value) for value in operands)
        if (what := self._kinds.get(kind)) is None:
            attributes = [attribute.SerializeToString() for attribute in kind.attributes]
            what = self._kinds[kind] = self._new_number((kind.rest, version, *attributes))
        return what, tuple(numbers), same

    def _number(self, value: SSAValue | None, reads_values: bool) -> int | None:
        """Returns a number that is equal for operands that are alike."""
        if value is None:
            return -1
        owner = value.owner
        if type(owner) is not ConstantOp:
            return self._type_number(value.type)
        if isinstance(owner.value, WeightAttr):
            return None if reads_values else self._type_number(value.type)
        if (number := self._constants.get(value)) is None:
            number = self._new_number((owner.value, value.type))
            self._constants[value] = number
        return number

    def _type_number(self, type_: Attribute) -> int | None:
        # By identity first: equal types are mostly the same object, and hashing walks all of one.
        if (known := self._types.get(id(type_))) is None:
            plain = is_tensor(type_) and is_float(type_.element_type)
            known = self._types[id(type_)] = type_, self._new_number(type_) if plain else None
        return known[1]

    def _new_number(self, what: Hashable) -> int:
        return self._numbers.setdefault(what, len(self._numbers))

    def record(
        self,
        key: Hashable,
        operands: Sequence[SSAValue | None],
        mark: int,
        values: Sequence[SSAValue],
    ) -> None:
        """Keeps what a node became, if it can be repeated.

        Args:
            key: Of the node.
            operands: Of the node.
            mark: The place of the builder before its first op.
            values: Its outputs.
        """
        origins: dict[SSAValue, Origin] = {}
        for slot, value in enumerate(operands):
            if value is not None:
                origins.setdefault(value, ("operand", slot))
        constants: list[ConstantOp] = []
        ops: list[_Made] = []
        results = 0
        for op in self.builder.emitted_since(mark):
            if op.regions or isinstance(op, HostCallOp):
                return
            found = _origins(op.operands, origins, constants)
            if found is None or not all(_holds_floats(result) for result in op.results):
                return
            ops.append(_Made(op, found))
            for result in op.results:
                origins[result] = ("result", results)
                results += 1
        if (outputs := _origins(values, origins, constants)) is not None:
            self.recordings[key] = Recording(tuple(constants), tuple(ops), outputs)

    def replay(self, recording: Recording, operands: Sequence[SSAValue | None]) -> list[SSAValue]:
        """Adds the ops of a recording for other operands; returns the outputs of the node."""
        constants = [_copy_of(constant, self.builder) for constant in recording.constants]
        values: dict[str, Sequence[SSAValue | None]] = {
            "operand": operands,
            "constant": [constant.result for constant in constants],
            "result": (results := list[SSAValue]()),
        }
        for made in recording.ops:
            like = made.op
            op = type(like).create(
                operands=_values(made.operands, values),
                result_types=[result.type for result in like.results],
                properties=like.properties,
                attributes=like.attributes,
            )
            self.builder.append(op)
            results += op.results
        return _values(recording.values, values)


def _values(
    origins: Iterable[Origin], values: dict[str, Sequence[SSAValue | None]]
) -> list[SSAValue]:
    return [value for kind, place in origins if (value := values[kind][place]) is not None]


def _origins(
    values: Iterable[SSAValue], origins: dict[SSAValue, Origin], constants: list[ConstantOp]
) -> tuple[Origin, ...] | None:
    """Returns where values come from, new constants included; None where that is not known."""
    found: list[Origin] = []
    for value in values:
        if (origin := origins.get(value)) is None:
            if not isinstance(owner := value.owner, ConstantOp):
                return None
            origin = origins[value] = ("constant", len(constants))
            constants.append(owner)
        found.append(origin)
    return tuple(found)


def _holds_floats(value: SSAValue) -> bool:
    """Whether a value is of floats: what is known of it is its type, it holds no dimensions."""
    return is_tensor(type_ := value.type) and is_float(type_.element_type)


def _copy_of(constant: ConstantOp, builder: Builder) -> ConstantOp:
    copy = ConstantOp(constant.value, tensor_of(constant.result))
    copy.location = builder.location
    return copy
