"""Types of values that are no single tensor: sequences, optionals and maps, as ONNX has them.

At run time a sequence is a list, an optional its value or None, a map a dict. All are immutable:
an op that changes one gives another.
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects.builtin import IntegerType, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.attributes import StringType


@irdl_attr_definition
class SequenceType(ParametrizedAttribute, TypeAttribute):
    """A list of values of one type, `!ge.sequence<tensor<?xf32>>`; its length is not known."""

    name = "ge.sequence"

    item: Attribute

    def verify(self) -> None:
        _expect_value_type(self.item)


@irdl_attr_definition
class OptionalType(ParametrizedAttribute, TypeAttribute):
    """A value or none, `!ge.optional<tensor<2xf32>>`."""

    name = "ge.optional"

    item: Attribute

    def verify(self) -> None:
        _expect_value_type(self.item)


@irdl_attr_definition
class MapType(ParametrizedAttribute, TypeAttribute):
    """Values by key, `!ge.map<i64, tensor<f32>>`; keys are integers or `!ge.string`."""

    name = "ge.map"

    key: Attribute
    item: Attribute

    def verify(self) -> None:
        if not isinstance(self.key, IntegerType | StringType):
            raise VerifyException(f"expected keys of integers or strings, got {self.key}")
        _expect_value_type(self.item)


Container: TypeAlias = SequenceType | OptionalType | MapType


def _expect_value_type(type_: Attribute) -> None:
    if not isinstance(type_, TensorType | UnrankedTensorType | Container):
        raise VerifyException(f"expected items that are tensors or containers, got {type_}")


def with_item(container: Container, item: Attribute) -> Container:
    """Returns a container of the same kind, and of the same keys, of other items."""
    if isinstance(container, MapType):
        return MapType(container.key, item)
    return type(container)(item)


def same_kind(first: Attribute, second: Attribute) -> bool:
    """Whether two types are containers that differ at most in their items."""
    if isinstance(first, MapType) and isinstance(second, MapType):
        return first.key == second.key
    return isinstance(first, Container) and type(first) is type(second)
