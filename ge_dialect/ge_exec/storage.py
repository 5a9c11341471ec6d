"""How a plan holds a value: bytes of a fixed size, bytes up to a size, or an object on the heap.

A value whose dimensions are expressions over symbols with bounds lies in bytes that are enough for
the greatest sizes: its address is the same in every run, what it takes of its bytes is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any, TypeAlias, TypeGuard, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ContainerType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import AnyOf, BaseAttr, irdl_attr_definition, param_def
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.attributes import Tier
from ge_dialect.ge.base import int_attr
from ge_dialect.ge.dtypes import dtype_of, find_dtype, is_string
from ge_dialect.ge.types import TensorT, is_tensor, made_of, shape_of, static_shape
from ge_dialect.symbols import Dim, Guard, SymbolRange, bounds, product, with_known_products

AnyMemRef = BaseAttr[MemRefType[Attribute]](MemRefType)


@irdl_attr_definition
class ObjectType(ParametrizedAttribute, TypeAttribute):
    """A value that lies on the heap of the host, since its bytes are not known before the run.

    `value` is its type in `ge`: a tensor of dynamic sizes or of strings, a sequence, an optional, a
    map.

    Example: `!ge_exec.object<tensor<2x?xi64>>`.
    """

    name = "ge_exec.object"

    value: Attribute = param_def()

    def verify(self) -> None:
        found = cast("ContainerType[Attribute] | None", self.value)
        if isinstance(found, ContainerType) and find_dtype(found.get_element_type()) is None:
            raise VerifyException(f"expected elements of ge, got {found}")


@irdl_attr_definition
class BoundedType(ParametrizedAttribute, TypeAttribute):
    """Bytes that hold a tensor whose sizes the run tells: at most `bytes` of them.

    `value` is a tensor type with an expression for every dynamic dimension, over symbols that the
    plan declares (`ge_exec.symbol`). The tensor takes the first bytes, row-major, without gaps.

    Constraints:
    - (C1) `value` is a tensor of numbers with an expression for every dynamic dimension.
    - (C2) `bytes` >= 0.

    Example: `!ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 65536 : i64>`.
    """

    name = "ge_exec.bounded"

    value: Attribute = param_def()
    bytes: IntegerAttr = param_def()

    @property
    def tensor(self) -> TensorT:
        """The type of the value."""
        assert is_tensor(self.value)
        return self.value

    @property
    def most(self) -> int:
        """Bytes of the greatest value."""
        return self.bytes.value.data

    def verify(self) -> None:
        if not is_tensor(self.value) or is_string(self.value.element_type):  # (C1)
            raise VerifyException(f"expected a tensor of numbers, got {self.value}")
        if find_dtype(self.value.element_type) is None:
            raise VerifyException(f"expected elements of ge, got {self.value}")
        if None in shape_of(self.value):
            raise VerifyException(f"expected an expression for each dimension, got {self.value}")
        if self.most < 0:  # (C2)
            raise VerifyException(f"expected 'bytes' >= 0, got {self.most}")


AnyBuffer = AnyOf((AnyMemRef, BaseAttr(BoundedType)))
"""What has bytes in a plan."""

AnyStorage = AnyOf((AnyMemRef, BaseAttr(BoundedType), BaseAttr(ObjectType)))
"""What tasks read and write."""

BufferType: TypeAlias = MemRefType[Attribute] | BoundedType
"""Types of what has bytes in a plan."""

StorageType: TypeAlias = BufferType | ObjectType
"""Types of what tasks read and write."""

_NO_RANGES: Mapping[str, SymbolRange] = {}


def storage_type(
    type: Attribute,
    ranges: Mapping[str, SymbolRange] = _NO_RANGES,
    facts: Sequence[Guard] = (),
) -> StorageType:
    """Returns how a plan holds a value: a buffer where its bytes are known, else an object.

    Args:
        type: Of the value, in `ge`.
        ranges: Of the symbols whose values a run knows when it needs the bytes.
        facts: What holds of them beside that.
    """
    if not is_tensor(type) or is_string(type.element_type):
        return ObjectType(type)
    if static_shape(type) is not None:
        return buffer_type(type)
    most = most_bytes(type, ranges, facts) if ranges else None
    return ObjectType(type) if most is None else BoundedType(type, int_attr(most))


def byte_count(type: TensorT) -> Dim | None:
    """Returns the bytes of a tensor as an expression; None where a dimension is not known."""
    dims = [dim for dim in shape_of(type) if dim is not None]
    if len(dims) != len(shape_of(type)):
        return None
    try:
        return product([dtype_of(type.element_type).storage_bytes, *dims])
    except ValueError:  # too large to name
        return None


def most_bytes(
    type: TensorT, ranges: Mapping[str, SymbolRange], facts: Sequence[Guard] = ()
) -> int | None:
    """Returns the bytes of the greatest tensor of a type; None where nothing bounds them.

    A symbol without a range bounds nothing: its value depends on data.
    """
    if (count := byte_count(type)) is None:
        return None
    most = bounds(with_known_products(count, facts) if facts else count, ranges)[1]
    # The bound of each dimension holds as well, and is sharper where the product hides a minimum.
    ends = [bounds(dim, ranges)[1] for dim in shape_of(type) if dim is not None]
    known = [end for end in ends if end is not None]
    if len(known) == len(ends):
        single = prod([max(end, 0) for end in known])
        single *= dtype_of(type.element_type).storage_bytes
        most = single if most is None else min(most, single)
    return None if most is None else max(most, 0)


@lru_cache(maxsize=4096)
def buffer_type(type: TensorT, tier: Tier = Tier.HBM) -> MemRefType[Attribute]:
    """Returns the buffer type of a static tensor type, row-major in `tier`.

    The memory space is the tier's name, `memref<4xf16, "hbm">`: MLIR refuses an attribute of a
    dialect it does not know there, and the generic form has to pass through `mlir-opt`.
    """
    assert static_shape(type) is not None
    return made_of(
        MemRefType,
        shape=type.shape,
        element_type=type.element_type,
        layout=NoneAttr(),
        memory_space=StringAttr(tier.value),
    )


def is_memref(type: Attribute) -> TypeGuard[MemRefType[Attribute]]:
    """Whether a type is a memref; `isinstance` alone forgets the element type."""
    return isinstance(type, MemRefType)


def is_buffer(type: Attribute) -> TypeGuard[BufferType]:
    """Whether a value of a type has bytes in the plan."""
    return isinstance(type, MemRefType | BoundedType)


def buffer_bytes(type: Attribute) -> int:
    """Returns the bytes of a buffer type, unpadded: exact, or the most; objects have none."""
    # Kept with the type: asked for again by every stage, for every value.
    fields: Any = type.__dict__
    if "_ge_bytes" not in fields:
        fields["_ge_bytes"] = _buffer_bytes(type)
    return fields["_ge_bytes"]


def _buffer_bytes(type: Attribute) -> int:
    if isinstance(type, ObjectType):
        return 0
    if isinstance(type, BoundedType):
        return type.most
    assert is_memref(type)
    return prod(type.get_shape()) * dtype_of(type.element_type).storage_bytes


def exact_bytes(type: Attribute) -> Dim:
    """Returns the bytes of a value of a buffer type, in terms of the symbols of the plan."""
    if isinstance(type, BoundedType):
        count = byte_count(type.tensor)
        return type.most if count is None else count
    return buffer_bytes(type)


def buffer_shape(type: BufferType) -> tuple[Dim, ...]:
    """Returns the dimensions of a buffer type."""
    if isinstance(type, BoundedType):
        return tuple(dim for dim in shape_of(type.tensor) if dim is not None)
    return tuple(type.get_shape())


def buffer_element(type: BufferType) -> Attribute:
    """Returns the element type of a buffer type."""
    return type.tensor.element_type if isinstance(type, BoundedType) else type.element_type


def verify_buffer_type(type: Attribute) -> None:
    """Checks that a type is a static memref of numbers in a tier, or a bounded tensor.

    Raises:
        VerifyException: It is not.
    """
    if isinstance(type, BoundedType):
        return  # verified as it is built
    if not is_memref(type) or not _is_tier(type.memory_space):
        raise VerifyException(f"expected a memref in one of {', '.join(Tier)}, got {type}")
    if is_string(type.element_type):
        raise VerifyException(f"expected numbers, since texts are objects, got {type}")
    if DYNAMIC_INDEX in type.get_shape():
        raise VerifyException(f"expected a static shape, got {type}")
    if find_dtype(type.element_type) is None:
        raise VerifyException(f"expected elements of ge, got {type}")


def _is_tier(space: Attribute) -> bool:
    return isinstance(space, StringAttr) and space.data in list(Tier)
