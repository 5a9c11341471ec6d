"""Descriptors of the values of a plan, as the graph for viewers has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from xdsl.dialects.builtin import UnrankedTensorType
from xdsl.ir import Attribute

from ge_dialect.ge.dtypes import dtype_of
from ge_dialect.ge.types import is_tensor
from ge_dialect.ge_exec.memory import ObjectType, buffer_bytes, is_buffer
from ge_dialect.ge_exec.storage import buffer_element, buffer_shape
from ge_dialect.lowering.om.attributes import OmTensor

Listed: TypeAlias = tuple[object, tuple[OmTensor, ...]]
"""Descriptors, with what they are found by, which is to stay where it is."""


@dataclass
class Descriptors:
    """The descriptors of a graph, each made once: values of one type have the same.

    By identity: types that are equal are mostly one object, and hashing one walks all of it.
    """

    by_type: dict[tuple[int, str], tuple[Attribute, OmTensor]] = field(
        default_factory=dict[tuple[int, str], "tuple[Attribute, OmTensor]"]
    )
    by_source: dict[tuple[int, str], tuple[OmTensor, OmTensor]] = field(
        default_factory=dict[tuple[int, str], "tuple[OmTensor, OmTensor]"]
    )
    operands: dict[tuple[int, ...], Listed] = field(default_factory=dict[tuple[int, ...], Listed])
    results: dict[tuple[int, ...], Listed] = field(default_factory=dict[tuple[int, ...], Listed])

    def of(self, type_: Attribute, port: str) -> OmTensor:
        """Returns the descriptor of a buffer or object type, for a port; an object has no size."""
        if (known := self.by_type.get((id(type_), port))) is None:
            known = self.by_type[id(type_), port] = type_, tensor_desc(type_, port)
        return known[1]

    def of_results(self, types: Sequence[Attribute]) -> tuple[OmTensor, ...]:
        """Returns the descriptors of an op's results, `y0` and so on; tasks of one kernel have the
        same."""
        key = tuple(map(id, types))
        if (known := self.results.get(key)) is None:
            found = tuple([self.of(type_, f"y{i}") for i, type_ in enumerate(types)])
            known = self.results[key] = types, found
        return known[1]

    def of_operands(self, sources: Sequence[OmTensor]) -> tuple[OmTensor, ...]:
        """Returns the descriptors of an op's operands, `x0` and so on, for those of what they
        are."""
        key = tuple(map(id, sources))
        if (known := self.operands.get(key)) is None:
            found = tuple([self.renamed(desc, f"x{i}") for i, desc in enumerate(sources)])
            known = self.operands[key] = sources, found
        return known[1]

    def renamed(self, desc: OmTensor, port: str) -> OmTensor:
        """Returns a descriptor for another port."""
        if (known := self.by_source.get((id(desc), port))) is None:
            known = self.by_source[id(desc), port] = desc, replace(desc, name=port)
        return known[1]


def tensor_desc(type: Attribute, port: str) -> OmTensor:
    """Returns the descriptor of a buffer or object type; an object has no size."""
    if isinstance(type, ObjectType):
        return _object_desc(type.value, port)
    assert is_buffer(type)
    dtype = dtype_of(buffer_element(type))
    shape = tuple(dim if isinstance(dim, int) else -1 for dim in buffer_shape(type))
    return OmTensor(port, dtype.name, shape, size=buffer_bytes(type))


def _object_desc(type: Attribute, port: str) -> OmTensor:
    if is_tensor(type):
        return OmTensor(port, dtype_of(type.element_type).name, tuple(type.get_shape()))
    if isinstance(type, UnrankedTensorType):
        found = cast("UnrankedTensorType[Attribute]", type)
        return OmTensor(port, dtype_of(found.element_type).name, None)
    return OmTensor(port, "undefined", None)
