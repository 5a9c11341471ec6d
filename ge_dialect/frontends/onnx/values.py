"""What an ONNX graph says beside its nodes: types with their symbols, tensors, names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import onnx
from xdsl.dialects.builtin import StringAttr, UnrankedTensorType
from xdsl.ir import Attribute

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.convert.node import AttrValue, TensorValue
from ge_dialect.frontends.onnx.tensors import HANDLE_KEY, type_name
from ge_dialect.ge.attributes import NamedWeight, StringsAttr, SymbolAttr, WeightAttr
from ge_dialect.ge.constants import SMALL_BYTES, ConstantOp, dense_from_bytes
from ge_dialect.ge.containers import Container, OptionalType, same_kind, with_item
from ge_dialect.ge.dtypes import FloatFormatType, dtype_of, from_onnx, is_bool
from ge_dialect.ge.onnx_types import from_type_proto, static_dim
from ge_dialect.ge.types import (
    MaybeDim,
    Shape,
    TensorT,
    is_tensor,
    made_of,
    shape_of,
    tensor_type,
)
from ge_dialect.locations import name_location
from ge_dialect.symbols import (
    DimExpr,
    SymbolRange,
    import_dim,
    linear_in,
    sanitise,
    symbol,
    symbols_of,
)
from ge_dialect.weights import MemoryWeight, Weight

if TYPE_CHECKING:
    from ge_dialect.frontends.onnx.input_shapes import DimRange
    from ge_dialect.frontends.onnx.load import LoadedModel

_A = onnx.AttributeProto
_WORD = re.compile(r"[A-Za-z_$.][\w$.-]*", re.ASCII)
_MULTIPLE = re.compile(r"[1-9][0-9]{0,8}\*([^\W\d]\w*)")
"""A dimension that is a multiple, `16*H`: `H` is a symbol though no dimension has that name."""
_FOREIGN = re.compile(r"[^\w$.-]+", re.ASCII)


@lru_cache(maxsize=65536)
def identifier(name: str) -> str:
    """Returns a name of ONNX as the name of an SSA value: `/fc1/MatMul:0` is `fc1_MatMul_0`."""
    if _WORD.fullmatch(name) is not None:
        return name
    word = _FOREIGN.sub("_", name).strip("_-") or "v"
    return word if _WORD.fullmatch(word) is not None else f"v{word}"


@dataclass
class SymbolTable:
    """The symbols of a model's inputs, in the order in which they appear.

    Attributes:
        ranges: What is known of each symbol, with the place it comes from.
    """

    ranges: dict[str, SymbolRange] = field(default_factory=dict[str, SymbolRange])

    @staticmethod
    def of(
        inputs: Sequence[onnx.ValueInfoProto], given: Mapping[str, DimRange]
    ) -> tuple[SymbolTable, list[Attribute]]:
        """Returns the symbols of a graph's inputs, and the types of these inputs.

        Args:
            inputs: What the caller must give.
            given: Ranges of dimensions by the name that the model gives them.

        Raises:
            GEError: An input is of an unknown type, or its elements are (GE0222).
        """
        table = SymbolTable()
        names = {dim.dim_param for value in inputs for dim in _dims(value)}
        plain = {name for name in names if name and name == sanitise(name)}
        plain |= {found[1] for name in names if (found := _MULTIPLE.fullmatch(name)) is not None}
        types = [table._declare(value, plain, given) for value in inputs]
        return table, types

    def _declare(
        self, value: onnx.ValueInfoProto, plain: set[str], given: Mapping[str, DimRange]
    ) -> Attribute:
        if value.type.WhichOneof("value") != "tensor_type":
            return _container_type(value)
        element_type = element_type_of(value)
        if not value.type.tensor_type.HasField("shape"):
            return UnrankedTensorType(element_type)
        dims: list[MaybeDim] = []
        for index, dim in enumerate(_dims(value)):
            if dim.HasField("dim_value") and dim.dim_value >= 0:
                dims.append(dim.dim_value)
                continue
            name = dim.dim_param or f"{value.name}_d{index}"
            expr = import_dim(name, plain) if dim.dim_param else symbol(sanitise(name))
            dims.append(expr)
            self._note(expr, given.get(dim.dim_param), f"dim {index} of input '{value.name}'")
        return tensor_type(element_type, tuple(dims))

    def _note(self, expr: int | DimExpr, given: DimRange | None, origin: str) -> None:
        names = symbols_of(expr)
        alone = len(names) == 1 and expr == symbol(names[0])
        for name in names:
            where = origin if alone else f"part of {origin}"
            known = self.ranges.get(name)
            if known is None or (alone and known.origin.startswith("part of ")):
                lo, hi = (0, None) if given is None else _solved(expr, name, given, origin)
                self.ranges[name] = SymbolRange(lo, hi, 1, where)

    def attributes(self) -> dict[str, Attribute]:
        """Returns the symbols as attributes by name."""
        return {name: SymbolAttr(known) for name, known in self.ranges.items()}

    def declared_type(self, value: onnx.ValueInfoProto) -> Attribute | None:
        """Returns the type that the exporter declared; None where it says no element type."""
        return from_type_proto(value.type, self._dim)

    def _dim(self, dim: onnx.TensorShapeProto.Dimension) -> MaybeDim:
        if dim.HasField("dim_value"):
            return dim.dim_value if dim.dim_value >= 0 else None
        expr = import_dim(dim.dim_param, self.ranges) if dim.dim_param else None
        known = expr is not None and all(name in self.ranges for name in symbols_of(expr))
        return expr if known else None


def _solved(expr: int | DimExpr, name: str, given: DimRange, origin: str) -> tuple[int, int | None]:
    """Returns the ends of a symbol where a dimension that mentions it has a range.

    Raises:
        GEError: No size in the range is a value of the dimension (GE0218).
    """
    found = linear_in(expr, name)
    factor, rest = (0, 0) if found is None else found
    if not isinstance(rest, int) or factor < 1:
        return 0, None
    lo = max(-((rest - given.lo) // factor), 0)
    hi = None if given.hi is None else (given.hi - rest) // factor
    if hi is not None and hi < lo:
        raise GEError(
            "GE0218", f"{origin} is {expr} in the model: no value of it is in {given.lo}~{given.hi}"
        )
    return lo, hi


def _dims(value: onnx.ValueInfoProto) -> Iterable[onnx.TensorShapeProto.Dimension]:
    return value.type.tensor_type.shape.dim


def _container_type(value: onnx.ValueInfoProto) -> Attribute:
    """Returns the type of an input that is no tensor.

    Names of dimensions are dropped: each item of a sequence has dimensions of its own.
    """
    if (type_ := from_type_proto(value.type, static_dim)) is None:
        kind = value.type.WhichOneof("value")
        found = "no type" if kind is None else f"a {kind.removesuffix('_type')}"
        raise _unsupported_type(value.name, found)
    return type_


def element_type_of(value: onnx.ValueInfoProto) -> Attribute:
    """Returns the element type of an input of a graph that is a tensor.

    Raises:
        GEError: The element type is not known (GE0222).
    """
    number = value.type.tensor_type.elem_type
    if (element_type := from_onnx(number)) is None:
        raise _unsupported_type(value.name, f"elements of type {type_name(number)}")
    return element_type


def _unsupported_type(name: str, found: str) -> GEError:
    return GEError(
        "GE0222",
        f"expected value '{name}' of a known type, got {found}",
        hint="export the model with tensors, sequences or optionals as inputs and outputs",
    )


@dataclass(frozen=True)
class Tensors:
    """Tensors of one model as constants; those that are large stay in their file.

    Attributes:
        loaded: The model.
        types: Those of its tensors so far, by ONNX's element type and dimensions.
    """

    loaded: LoadedModel
    types: dict[tuple[int, ...], TensorT] = field(default_factory=dict[tuple[int, ...], TensorT])

    def value(self, tensor: onnx.TensorProto, name: str) -> TensorValue:
        """Returns a tensor as the value and the type of a constant.

        Args:
            tensor: In one of the forms of `tensors.py`.
            name: For a weight whose tensor has none.

        Raises:
            GEError: Its elements are of an unknown type (GE0222).
        """
        key = (tensor.data_type, *tensor.dims)
        if (type_ := self.types.get(key)) is None:
            type_ = self.types[key] = _type_of(key, name)
        if key[0] == onnx.TensorProto.STRING:
            return TensorValue(StringsAttr(tuple(tensor.string_data)), type_)
        element_type, handle = type_.element_type, _handle(tensor)
        if dtype_of(element_type).bits < 8 and not is_bool(element_type):
            return TensorValue(self._unpacked(tensor, type_, handle or tensor.name or name), type_)
        if handle is not None:
            weight = NamedWeight(handle or name, self.loaded.weights[handle])
            return TensorValue(made_of(WeightAttr, data=weight), type_)
        data = tensor.raw_data
        if len(data) <= SMALL_BYTES:
            if is_bool(element_type):
                data = bytes(255 if byte else 0 for byte in data)
            if is_bool(element_type) or not isinstance(element_type, FloatFormatType):
                return TensorValue(dense_from_bytes(type_, data), type_)
        weight = NamedWeight(tensor.name or name, self.loaded.weight(tensor))
        return TensorValue(made_of(WeightAttr, data=weight), type_)

    def constant(self, tensor: onnx.TensorProto) -> ConstantOp:
        """Returns an initializer as a constant with its name.

        Raises:
            GEError: Its elements are of an unknown type (GE0222).
        """
        found = self.value(tensor, tensor.name)
        constant = ConstantOp.create(
            properties={"value": found.value},
            result_types=[found.type],
            location=name_location(tensor.name),
        )
        constant.result.name_hint = identifier(tensor.name)
        return constant

    def _unpacked(self, tensor: onnx.TensorProto, type_: TensorT, name: str) -> Attribute:
        """Returns elements narrower than a byte one a byte, as buffers hold them."""
        import numpy as np

        from ge_dialect.ge.dtypes import to_numpy

        packed = np.frombuffer(self.loaded.weight(tensor).view(), np.uint8)
        bits = dtype_of(type_.element_type).bits
        shifts = np.arange(0, 8, bits, dtype=np.uint8)
        fields = (packed[:, None] >> shifts & ((1 << bits) - 1)).reshape(-1)
        fields = fields[: int(np.prod(tensor.dims, dtype=np.int64))]
        if type_.element_type in _SIGNED:
            sign = 1 << (bits - 1)
            fields = (fields.astype(np.int8) ^ sign) - np.int8(sign)
        if type_.element_type in (*_SIGNED, *_UNSIGNED):
            data = fields.astype(to_numpy(type_.element_type)).tobytes()
        else:
            data = fields.astype(np.uint8).tobytes()  # the bits of a narrow float
        weight: Weight = MemoryWeight(data)
        return WeightAttr(NamedWeight(name, weight))

    def attributes(self, node: onnx.NodeProto) -> dict[str, AttrValue]:
        """Returns the attributes of a node that converters read; graphs are not among them."""
        found: dict[str, AttrValue] = {}
        for attribute in node.attribute:
            name, kind = attribute.name, attribute.type
            if kind == _A.INT:
                found[name] = attribute.i
            elif kind == _A.INTS:
                found[name] = tuple(attribute.ints)
            elif kind == _A.FLOAT:
                found[name] = attribute.f
            elif kind == _A.TENSOR:
                found[name] = self.value(attribute.t, node.output[0] if node.output else name)
            else:
                found.update(_rare_attribute(attribute))
        return found


def _rare_attribute(attribute: onnx.AttributeProto) -> dict[str, AttrValue]:
    match attribute.type:
        case _A.STRING:
            return {attribute.name: attribute.s.decode("utf-8", "replace")}
        case _A.FLOATS:
            return {attribute.name: tuple(attribute.floats)}
        case _A.STRINGS:
            words = tuple(word.decode("utf-8", "replace") for word in attribute.strings)
            return {attribute.name: words}
        case _:
            return {}


_SIGNED = tuple(t for number in (22, 26) if (t := from_onnx(number)) is not None)
_UNSIGNED = tuple(t for number in (21, 25) if (t := from_onnx(number)) is not None)


def _type_of(key: tuple[int, ...], name: str) -> TensorT:
    """Returns the type of tensors of an element type of ONNX and of dimensions."""
    if (element_type := from_onnx(key[0])) is None:
        raise _unsupported_type(name, f"elements of type {type_name(key[0])}")
    return tensor_type(element_type, key[1:])


def _handle(tensor: onnx.TensorProto) -> str | None:
    """Returns the key of a tensor that is a handle."""
    for entry in tensor.external_data:
        if entry.key == HANDLE_KEY:
            return entry.value
    return None


def join_types(first: Attribute, second: Attribute) -> Attribute | None:
    """Returns the type that values of two types have in common; None where there is none.

    Dimensions that differ are unknown, and so is the shape where ranks differ. Items of containers
    are joined; an optional and what is none give an optional.
    """
    if first == second:
        return first
    if isinstance(first, Container) or isinstance(second, Container):
        return _join_containers(first, second)
    shapes = [shape_of(t) if is_tensor(t) else None for t in (first, second)]
    elements = [getattr(t, "element_type", None) for t in (first, second)]
    if elements[0] is None or elements[0] != elements[1]:
        return None
    a, b = shapes
    if a is None or b is None or len(a) != len(b):
        return UnrankedTensorType(elements[0])
    joined: Shape = tuple(x if x == y else None for x, y in zip(a, b, strict=True))
    return tensor_type(elements[0], joined)


def _join_containers(first: Attribute, second: Attribute) -> Attribute | None:
    if isinstance(first, Container) and isinstance(second, Container) and same_kind(first, second):
        item = join_types(first.item, second.item)
        return None if item is None else with_item(first, item)
    optional, other = (first, second) if isinstance(first, OptionalType) else (second, first)
    if not isinstance(optional, OptionalType):
        return None
    item = join_types(optional.item, other)
    return None if item is None else OptionalType(item)


def name_dictionary(name: str) -> dict[str, Attribute]:
    """Returns the attributes of an argument or a result that the model calls `name`."""
    return {"ge.name": StringAttr(name)}
