"""Tensor types as the passes see them: an element type and a tuple of dimensions.

A dimension is an `int`, an expression over symbols, or `None` where nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import TypeAlias, TypeGuard, TypeVar

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyTensorTypeConstr,
    ArrayAttr,
    IntAttr,
    NoneAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.attributes import DimsAttr, dims_encoding
from ge_dialect.ge.containers import Container, OptionalType, same_kind
from ge_dialect.ge.dtypes import dtype_of
from ge_dialect.ge.requirements import require
from ge_dialect.symbols import DimExpr, DimLimitError, Relation, assumed, bounds, minimum

AttributeT = TypeVar("AttributeT", bound=Attribute)
TensorT: TypeAlias = TensorType[Attribute]
MaybeDim: TypeAlias = int | DimExpr | None
Shape: TypeAlias = tuple[MaybeDim, ...]


RankedTensor = AnyTensorTypeConstr
"""The constraint that most operands of `ge` have."""


@lru_cache(maxsize=65536)
def tensor_type(element_type: Attribute, shape: Shape) -> TensorT:
    """Returns the tensor type of `shape`; equal arguments give the same object."""
    dynamic = [dim for dim in shape if not isinstance(dim, int)]
    sizes = [dim if isinstance(dim, int) else DYNAMIC_INDEX for dim in shape] if dynamic else shape
    encoding = dims_encoding(dynamic) if dynamic else _NO_ENCODING
    dims = made_of(ArrayAttr, data=tuple(map(_size_attr, sizes)))
    found = made_of(TensorType, shape=dims, element_type=element_type, encoding=encoding)
    if not dynamic:
        vars(found).update(_ge_shape=shape, _ge_static=shape)  # as `shape_of` keeps them
    return found


_NO_ENCODING = NoneAttr()


@lru_cache(maxsize=4096)
def _size_attr(size: int) -> IntAttr:
    return made_of(IntAttr, data=size)


def made_of(kind: type[AttributeT], **parts: object) -> AttributeT:
    """Returns an attribute of parts that are right as its caller makes them: checking them takes
    ten times as long as everything else."""
    made = object.__new__(kind)
    vars(made).update(parts)
    return made


def shape_of(type: TensorT) -> Shape:
    """Returns the dimensions of a tensor type.

    Raises:
        VerifyException: The encoding does not name as many dimensions as are dynamic.
    """
    # Kept with the type itself, which nobody changes: to look it up by value would hash all of it.
    if (known := vars(type).get("_ge_shape")) is None:
        known = vars(type)["_ge_shape"] = _shape_of(type)
    return known


def _shape_of(type: TensorT) -> Shape:
    sizes = type.get_shape()
    dynamic = sum(size == DYNAMIC_INDEX for size in sizes)
    if not isinstance(type.encoding, DimsAttr):
        return tuple(None if size == DYNAMIC_INDEX else size for size in sizes)
    exprs = type.encoding.data
    if len(exprs) != dynamic:
        raise VerifyException(
            f"expected '#ge.dims' to name {dynamic} dynamic dimensions, got {len(exprs)}"
        )
    remaining = iter(exprs)
    return tuple(next(remaining) if size == DYNAMIC_INDEX else size for size in sizes)


def is_tensor(type: Attribute) -> TypeGuard[TensorT]:
    """Whether a type is a ranked tensor; `isinstance` alone forgets the element type."""
    return isinstance(type, TensorType)


def tensor_of(value: SSAValue) -> TensorT:
    """Returns the type of a value that must be a ranked tensor.

    Raises:
        VerifyException: It is something else.
    """
    type_ = value.type
    if type(type_) is not TensorType:
        raise VerifyException(f"expected a ranked tensor, got {type_}")
    return type_


def value_shape(value: SSAValue) -> Shape:
    """Returns the dimensions of a tensor value."""
    try:
        return value.type.__dict__["_ge_shape"]  # as in `shape_of`
    except KeyError:
        return shape_of(tensor_of(value))


def element_type_of(value: SSAValue) -> Attribute:
    """Returns the element type of a tensor value, ranked or not."""
    type_ = value.type
    if isinstance(type_, UnrankedTensorType):
        return type_.element_type  # pyright: ignore[reportUnknownVariableType,reportUnknownMemberType]  # as above
    return tensor_of(value).element_type


def static_shape(type: Attribute) -> tuple[int, ...] | None:
    """Returns the dimensions of a tensor type where all are numbers, else None."""
    try:
        return type.__dict__["_ge_static"]  # as in `shape_of`
    except KeyError:
        if not is_tensor(type):
            return None
        sizes = type.get_shape()
        known = vars(type)["_ge_static"] = None if DYNAMIC_INDEX in sizes else sizes
        return known


def num_elements(type: Attribute) -> int | None:
    """Returns how many elements a tensor type has; None where a dimension is not a number."""
    try:
        return type.__dict__["_ge_elements"]  # as in `shape_of`
    except KeyError:
        sizes = static_shape(type)
        known = vars(type)["_ge_elements"] = None if sizes is None else prod(sizes)
        return known


def byte_size(type: Attribute) -> int | None:
    """Returns the bytes of a tensor type, unpadded; None where they are not known.

    Exact integers: a shape of 2**40 elements gives its exact number.
    """
    try:
        return type.__dict__["_ge_bytes"]  # as in `shape_of`
    except KeyError:
        known, elements = None, num_elements(type)
        if elements is not None and is_tensor(type):
            known = elements * dtype_of(type.element_type).storage_bytes
        vars(type)["_ge_bytes"] = known
        return known


def compatible(actual: Attribute, inferred: Attribute) -> bool:
    """Whether a declared result type may stand where `inferred` was computed.

    Element types are equal; ranks are equal; dimensions are equal or one of them is not a number.
    Of containers this holds for the items; an optional may hold what is none.
    """
    if actual == inferred:
        return True
    if isinstance(actual, Container) or isinstance(inferred, Container):
        return _compatible_containers(actual, inferred)
    if isinstance(actual, UnrankedTensorType) or isinstance(inferred, UnrankedTensorType):
        return True
    if not is_tensor(actual) or not is_tensor(inferred):
        return False
    mine, theirs = shape_of(actual), shape_of(inferred)
    return (
        actual.element_type == inferred.element_type
        and len(mine) == len(theirs)
        and all(
            a == b or not (isinstance(a, int) and isinstance(b, int))
            for a, b in zip(mine, theirs, strict=True)
        )
    )


def _compatible_containers(actual: Attribute, inferred: Attribute) -> bool:
    if (
        isinstance(actual, Container)
        and isinstance(inferred, Container)
        and same_kind(actual, inferred)
    ):
        return compatible(actual.item, inferred.item)
    return isinstance(actual, OptionalType) and compatible(actual.item, inferred)


def show_shape(shape: Sequence[MaybeDim]) -> str:
    """Returns a shape as messages print it, `[4, S, ?]`."""
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in shape) + "]"


def normalize_axis(axis: int, rank: int, what: str = "axis") -> int:
    """Returns `axis` counted from the front.

    Raises:
        VerifyException: It is outside `[-rank, rank)`.
    """
    if not -rank <= axis < rank:
        raise VerifyException(f"expected '{what}' in [{-rank}, {rank}), got {axis}")
    return axis + rank if axis < 0 else axis


def normalize_axes(axes: Iterable[int], rank: int, what: str = "axes") -> tuple[int, ...]:
    """Returns `axes` counted from the front, in the order given.

    Raises:
        VerifyException: One is outside `[-rank, rank)`, or two are the same.
    """
    found = tuple(normalize_axis(axis, rank, what) for axis in axes)
    if len(set(found)) != len(found):
        raise VerifyException(f"expected '{what}' without repetition, got {list(found)}")
    return found


def broadcast_shapes(shapes: Sequence[Shape]) -> Shape:
    """Returns the shape of an elementwise op by the rule of numpy and ONNX.

    An unknown dimension against a number greater than 1 is that number: the op fails at run time
    otherwise.

    Raises:
        VerifyException: Two dimensions are different numbers and neither is 1.
    """
    given = [shape for shape in shapes if shape] or [()]
    if given.count(given[0]) == len(given):
        return given[0]
    rank = max((len(shape) for shape in shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(_broadcast_dim([shape[i] for shape in padded], shapes) for i in range(rank))


def _broadcast_dim(dims: Sequence[MaybeDim], shapes: Sequence[Shape]) -> MaybeDim:
    result: MaybeDim = 1
    for dim in dims:
        if dim == 1 or dim == result:
            continue
        if result != 1:
            require(result, Relation.BROADCAST, dim, "sizes that broadcast")
        if result == 1:
            result = dim
        elif isinstance(dim, int) and isinstance(result, int):
            shown = " and ".join(show_shape(shape) for shape in shapes)
            raise VerifyException(f"expected shapes that broadcast, got {shown}")
        elif isinstance(dim, int):
            result = dim
        elif not isinstance(result, int):
            result = _wider(result, dim)
    return result


def _wider(one: DimExpr | None, other: DimExpr | None) -> DimExpr | None:
    """Returns the dimension of two that broadcast to it in every run that does not fail.

    `S` and `min(S, k)` with `k >= 1` give `S`: they are equal, or the second is 1, or `S` is 1 and
    then so is the second.
    """
    if one is None or other is None:
        return None
    for wide, narrow in ((one, other), (other, one)):
        limit = bounds(narrow, assumed())[1]
        if limit is not None and limit >= 1 and narrow == _limited(wide, limit):
            return wide
    return None


def _limited(dim: DimExpr, limit: int) -> MaybeDim:
    try:
        return minimum(dim, limit)
    except DimLimitError:
        return None
