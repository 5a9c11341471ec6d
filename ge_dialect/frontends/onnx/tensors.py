"""Brings every tensor of a model to one form and its bytes to a `Weight`.

After `TensorReader.take` a tensor is in one of three forms, whatever the exporter wrote:
- `raw_data`, for at most `threshold` bytes;
- a handle, `external_data {key: HANDLE_KEY, value: <key into the weights>}`, beyond that;
- `string_data`, for strings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import onnx

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.rows import NodeRow, graphs_of, rows_of
from ge_dialect.frontends.onnx.wire import STRIPPED_KEY, RawRange
from ge_dialect.ge.limits import MAX_ELEMENTS, are_representable
from ge_dialect.weights import MemoryWeight, Weight, WeightSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ge_dialect.frontends.onnx.external import ExternalFiles
    from ge_dialect.frontends.onnx.problems import Problems

HANDLE_KEY = "ge.weight"

_T = onnx.TensorProto
_MAX_RANK = 64
_MAX_DIGITS = 9

# Width in bits of one element, as packed in `raw_data`. Source: comments of `onnx-ml.proto`.
ELEMENT_BITS: dict[int, int] = {
    _T.FLOAT: 32, _T.DOUBLE: 64, _T.FLOAT16: 16, _T.BFLOAT16: 16,
    _T.INT8: 8, _T.INT16: 16, _T.INT32: 32, _T.INT64: 64, _T.BOOL: 8,
    _T.UINT8: 8, _T.UINT16: 16, _T.UINT32: 32, _T.UINT64: 64,
    _T.COMPLEX64: 64, _T.COMPLEX128: 128,
    _T.FLOAT8E4M3FN: 8, _T.FLOAT8E4M3FNUZ: 8, _T.FLOAT8E5M2: 8, _T.FLOAT8E5M2FNUZ: 8,
    _T.FLOAT8E8M0: 8, _T.UINT4: 4, _T.INT4: 4, _T.FLOAT4E2M1: 4, _T.UINT2: 2, _T.INT2: 2,
    _T.FLOAT6E2M3: 6, _T.FLOAT6E3M2: 6,
}  # fmt: skip

# The typed field of each element type, and the width in which its entries are stored.
_TYPED_FIELDS: dict[str, dict[int, str]] = {
    "float_data": {_T.FLOAT: "<f4", _T.COMPLEX64: "<f4"},
    "double_data": {_T.DOUBLE: "<f8", _T.COMPLEX128: "<f8"},
    "int64_data": {_T.INT64: "<i8"},
    "uint64_data": {_T.UINT64: "<u8", _T.UINT32: "<u4"},
    "int32_data": {
        _T.INT32: "<u4",
        **dict.fromkeys((_T.INT16, _T.UINT16, _T.FLOAT16, _T.BFLOAT16), "<u2"),
        **dict.fromkeys((_T.INT8, _T.UINT8, _T.BOOL, _T.FLOAT8E4M3FN, _T.FLOAT8E4M3FNUZ), "u1"),
        **dict.fromkeys((_T.FLOAT8E5M2, _T.FLOAT8E5M2FNUZ, _T.FLOAT8E8M0), "u1"),
        **dict.fromkeys((_T.UINT4, _T.INT4, _T.FLOAT4E2M1, _T.UINT2, _T.INT2), "u1"),
    },
}

_DATA_FIELDS = frozenset((*_TYPED_FIELDS, "raw_data"))
_PLACE_FIELDS = _DATA_FIELDS | {"external_data", "data_location"}
_NOT_RAW = _PLACE_FIELDS - {"raw_data"}


def packed_bytes(data_type: int, dims: Sequence[int]) -> int:
    """Returns the bytes that a tensor takes in `raw_data`, elements below a byte packed.

    Raises:
        GEError: The element type has no width, or a dimension is negative (GE0206).

    >>> packed_bytes(onnx.TensorProto.INT4, (3, 3))
    5
    """
    bits = ELEMENT_BITS.get(data_type)
    if bits is None:
        raise GEError("GE0206", f"element type {type_name(data_type)} is not one with a width")
    return -(-bits * element_count(dims) // 8)


def element_count(dims: Sequence[int]) -> int:
    """Returns the product of `dims`.

    Raises:
        GEError: A dimension is negative, there are more than 64, or no array can have them
            (GE0206).
    """
    if len(dims) > _MAX_RANK:
        raise GEError("GE0206", f"rank is {len(dims)}, expected at most {_MAX_RANK}")
    count = 1
    for dim in dims:
        if dim < 0:
            raise GEError("GE0206", f"dimension is {dim}, expected 0 or more")
        count *= dim
    if not are_representable(dims):
        shown = "x".join(map(str, dims))
        raise GEError("GE0206", f"dimensions {shown} are beyond {MAX_ELEMENTS} elements")
    return count


def type_name(data_type: int) -> str:
    """Returns ONNX's name of an element type, or its number."""
    names = {number: name for name, number in _T.DataType.items()}
    return names.get(data_type, str(data_type))


@dataclass
class TensorReader:
    """Reads tensors of one model.

    Attributes:
        path: The model file, or None for a model that came from no file.
        ranges: What `wire.strip` took out.
        files: The files beside the model.
        threshold: In bytes; longer tensors become handles.
    """

    path: str | None
    ranges: tuple[RawRange, ...]
    files: ExternalFiles
    threshold: int
    weights: dict[str, Weight] = field(default_factory=dict[str, Weight])
    _shared: dict[tuple[str, int, int], WeightSource] = field(
        default_factory=dict[tuple[str, int, int], WeightSource]
    )
    _sizes: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])

    def take(self, tensor: onnx.TensorProto, key: str, keep: bool) -> None:
        """Brings `tensor` to its one form, in place.

        Args:
            tensor: Any of the model.
            key: Its key in `weights`, unique in the model.
            keep: Whether a tensor that stays in the model enters `weights` nevertheless.

        Raises:
            GEError: The tensor is malformed (GE0206), or its external data is refused (GE0207),
                missing (GE0208) or too short (GE0209).
        """
        present = {descriptor.name for descriptor, _ in tensor.ListFields()}
        if "segment" in present:
            raise GEError("GE0206", "segments are not supported")
        if tensor.data_type == _T.STRING:
            self._check_strings(tensor)
            return
        expected = self._packed_bytes(tensor)
        is_small = "raw_data" in present and expected <= self.threshold
        if is_small and present.isdisjoint(_NOT_RAW) and len(tensor.raw_data) == expected:
            if keep:
                self.weights[key] = MemoryWeight(tensor.raw_data)
            return  # it is in its form
        weight = self._find(tensor, present & _DATA_FIELDS, key, expected)
        if weight.length != expected:
            raise GEError(
                "GE0206",
                f"{weight.length} bytes of data, expected {expected} for "
                f"{type_name(tensor.data_type)}{list(tensor.dims)}",
            )
        for name in present & _PLACE_FIELDS:
            tensor.ClearField(name)
        self._keep_data(tensor, key, weight, keep)

    def _packed_bytes(self, tensor: _T) -> int:
        kind = tensor.data_type, *tensor.dims
        if (known := self._sizes.get(kind)) is None:
            known = self._sizes[kind] = packed_bytes(kind[0], kind[1:])
        return known

    def _keep_data(self, tensor: _T, key: str, weight: Weight, keep: bool) -> None:
        if weight.length > self.threshold:
            tensor.data_location = _T.EXTERNAL
            tensor.external_data.add(key=HANDLE_KEY, value=key)
            self.weights[key] = weight
            return
        tensor.raw_data = weight.view().tobytes()
        if keep:
            self.weights[key] = MemoryWeight(tensor.raw_data)

    def _find(self, tensor: _T, fields: set[str], key: str, expected: int) -> Weight:
        """Finds the bytes of a tensor, wherever they are, given which fields hold data."""
        entries = {entry.key: entry.value for entry in tensor.external_data}
        stripped = entries.pop(STRIPPED_KEY, None)
        external = tensor.data_location == _T.EXTERNAL
        if len(fields) + external + (stripped is not None) > 1:
            raise GEError("GE0206", "data in more than one field")
        if stripped is not None:
            return self._source(*self._stripped(stripped), key)
        if external:
            return self._source(*self._external(entries, expected), key)
        for name in fields - {"raw_data"}:
            return MemoryWeight(_decode_field(tensor, name))
        if not fields and expected > 0:
            raise GEError("GE0206", f"no data, expected {expected} bytes")
        return MemoryWeight(tensor.raw_data)

    def _stripped(self, index: str) -> tuple[str, int, int]:
        readable = index.isascii() and index.isdigit() and len(index) <= _MAX_DIGITS
        if self.path is None or not readable or int(index) >= len(self.ranges):
            raise GEError("GE0206", f"external data with the reserved key '{STRIPPED_KEY}'")
        found = self.ranges[int(index)]
        return self.path, found.offset, found.length

    def _external(self, entries: dict[str, str], expected: int) -> tuple[str, int, int]:
        found = self.files.resolve(entries)
        length = expected if found.length is None else found.length
        size = self.files.size(found.path)
        if found.offset + length > size:
            raise GEError(
                "GE0209",
                f"external data file '{found.path}' has {size} bytes, "
                f"expected at least {found.offset + length}",
                hint="the file was cut or belongs to another model; copy it again",
            )
        return found.path, found.offset, length

    def _source(self, path: str, offset: int, length: int, key: str) -> WeightSource:
        """Returns a range of a file; tensors that share theirs have the name of the first."""
        place = path, offset, length
        if (known := self._shared.get(place)) is None:
            known = self._shared[place] = WeightSource(*place, key)
        return known

    def _check_strings(self, tensor: _T) -> None:
        found, expected = len(tensor.string_data), element_count(tensor.dims)
        if found != expected:
            raise GEError("GE0206", f"{found} strings, expected {expected}")


def take_all(
    model: onnx.ModelProto, nodes: Sequence[NodeRow], reader: TensorReader, problems: Problems
) -> None:
    """Brings all tensors of a model to their one form.

    Args:
        model: Is changed.
        nodes: Of its graph.
        reader: Of the model.
        problems: Takes what is wrong.
    """
    used = {tensor.name for tensor in model.graph.initializer}

    def take(tensor: onnx.TensorProto, key: str, keep: bool) -> None:
        try:
            reader.take(tensor, key, keep)
        except GEError as error:
            problems.add(error.code, error.message, f"tensor '{key}'", error.hint)

    for tensor in model.graph.initializer:
        take(tensor, tensor.name, keep=True)
    for path, tensor in nested_tensors(model, nodes):
        take(tensor, unique_key(path, used), keep=False)


def unique_key(path: str, used: set[str]) -> str:
    """Returns `path`, numbered where `used` has it already, and adds it to `used`."""
    key, count = path, 1
    while key in used:
        count += 1
        key = f"{path}#{count}"
    used.add(key)
    return key


def nested_tensors(
    model: onnx.ModelProto, nodes: Sequence[NodeRow]
) -> Iterator[tuple[str, onnx.TensorProto]]:
    """Yields every tensor but the main graph's initializers, with a path that names it.

    Args:
        model: Any.
        nodes: Of its graph.
    """
    yield from _node_tensors(nodes, "")
    for function in model.functions:
        yield from _attribute_tensors(function.attribute_proto, f"{function.name}/")
        yield from _node_tensors(rows_of(function.node), f"{function.name}/")


def _node_tensors(nodes: Sequence[NodeRow], prefix: str) -> Iterator[tuple[str, onnx.TensorProto]]:
    for index, row in enumerate(nodes):
        if not row.kind.is_shared:
            name = row.name or f"{row.kind.op_type}_{index}"
            yield from _attribute_tensors(row.kind.attributes, f"{prefix}{name}/")


def _attribute_tensors(
    attributes: Sequence[onnx.AttributeProto], prefix: str
) -> Iterator[tuple[str, onnx.TensorProto]]:
    for attribute in attributes:
        path = f"{prefix}{attribute.name}"
        if attribute.HasField("t"):
            yield path, attribute.t
        yield from ((path, tensor) for tensor in attribute.tensors)
        for graph in graphs_of(attribute):
            yield from ((f"{path}/{tensor.name}", tensor) for tensor in graph.initializer)
            yield from _node_tensors(rows_of(graph.node), f"{path}/")


def _decode_field(tensor: onnx.TensorProto, name: str) -> bytes:
    """Returns the bytes that a typed field stands for, as `raw_data` would hold them."""
    storage = _TYPED_FIELDS[name].get(tensor.data_type)
    if storage is None:
        raise GEError("GE0206", f"'{name}' with element type {type_name(tensor.data_type)}")
    values: npt.NDArray[np.generic] = np.array(getattr(tensor, name))
    with np.errstate(over="ignore"):
        return values.astype(storage).tobytes()
