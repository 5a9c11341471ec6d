"""Types of values in ONNX's terms and back. ONNX is imported by the functions only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from xdsl.dialects.builtin import UnrankedTensorType
from xdsl.ir import Attribute

from ge_dialect.ge.containers import Container, MapType, OptionalType, SequenceType
from ge_dialect.ge.dtypes import dtype_of, from_onnx
from ge_dialect.ge.types import MaybeDim, is_tensor, shape_of, tensor_type
from ge_dialect.symbols import DimExpr, parse_dim, symbols_of

if TYPE_CHECKING:
    import onnx

    ReadDim: TypeAlias = Callable[[onnx.TensorShapeProto.Dimension], MaybeDim]


def to_type_proto(type_: Attribute) -> onnx.TypeProto:
    """Returns the type of a value as ONNX has it; an expression is a dimension's name.

    Raises:
        ValueError: It is neither a tensor nor a container.
    """
    from onnx import helper

    match type_:
        case SequenceType():
            return helper.make_sequence_type_proto(to_type_proto(type_.item))
        case OptionalType():
            return helper.make_optional_type_proto(to_type_proto(type_.item))
        case MapType():
            key = dtype_of(type_.key).onnx
            return helper.make_map_type_proto(key, to_type_proto(type_.item))
        case _:
            return _tensor_type_proto(type_)


def _tensor_type_proto(type_: Attribute) -> onnx.TypeProto:
    from onnx import helper

    if _is_unranked(type_):
        return helper.make_tensor_type_proto(dtype_of(type_.element_type).onnx, None)
    if not is_tensor(type_):
        raise ValueError(f"expected a tensor, got {type_}")
    dims = [str(dim) if isinstance(dim, DimExpr) else dim for dim in shape_of(type_)]
    return helper.make_tensor_type_proto(dtype_of(type_.element_type).onnx, dims)


def _is_unranked(type_: Attribute) -> TypeGuard[UnrankedTensorType[Attribute]]:
    return isinstance(type_, UnrankedTensorType)


def from_type_proto(type_: onnx.TypeProto | None, read_dim: ReadDim) -> Attribute | None:
    """Returns the type that ONNX says.

    Args:
        type_: Of any kind; None is unknown.
        read_dim: Says what a dimension is.

    Returns:
        None where an element type is not known, or the value is a sparse tensor or opaque.
    """
    kind = None if type_ is None else type_.WhichOneof("value")
    if type_ is None or kind is None:
        return None
    if kind == "tensor_type":
        return _from_tensor(type_.tensor_type, read_dim)
    if kind == "sequence_type":
        item = from_type_proto(type_.sequence_type.elem_type, read_dim)
        return None if item is None else SequenceType(item)
    if kind == "optional_type":
        item = from_type_proto(type_.optional_type.elem_type, read_dim)
        return None if item is None else OptionalType(item)
    if kind == "map_type":
        key = from_onnx(type_.map_type.key_type)
        item = from_type_proto(type_.map_type.value_type, read_dim)
        return None if key is None or item is None else MapType(key, item)
    return None


def _from_tensor(tensor: onnx.TypeProto.Tensor, read_dim: ReadDim) -> Attribute | None:
    element_type = from_onnx(tensor.elem_type)
    if element_type is None:
        return None
    if not tensor.HasField("shape"):
        return UnrankedTensorType(element_type)
    return tensor_type(element_type, tuple(read_dim(dim) for dim in tensor.shape.dim))


def static_dim(dim: onnx.TensorShapeProto.Dimension) -> int | None:
    """Returns a dimension that is a number; any other is unknown."""
    return dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else None


def dim_over(dim: onnx.TensorShapeProto.Dimension, symbols: frozenset[str]) -> MaybeDim:
    """Returns a dimension; an expression only where all its symbols are among `symbols`."""
    if not dim.dim_param:
        return static_dim(dim)
    try:
        found = parse_dim(dim.dim_param)
    except ValueError:
        return None  # a name that inference made up
    return found if symbols.issuperset(symbols_of(found)) else None


def symbols_of_types(types: Sequence[Attribute | None]) -> frozenset[str]:
    """Returns the symbols of the dimensions of types, those of items as well."""
    dims = [dim for type_ in types for dim in _dims(type_)]
    return frozenset(name for dim in dims if isinstance(dim, DimExpr) for name in symbols_of(dim))


def _dims(type_: Attribute | None) -> Iterator[MaybeDim]:
    while isinstance(type_, Container):
        type_ = type_.item
    if type_ is not None and is_tensor(type_):
        yield from shape_of(type_)
