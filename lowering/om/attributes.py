"""Attributes and tensor descriptors of a model: Python values to messages and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias, cast

from ge_dialect.lowering.om.schema import new

_PROTO_DTYPES = {
    "undefined": 0,
    "f32": 1,
    "f16": 2,
    "i8": 3,
    "ui8": 4,
    "i16": 5,
    "ui16": 6,
    "i32": 7,
    "i64": 8,
    "ui32": 9,
    "ui64": 10,
    "i1": 11,
    "f64": 12,
    "string": 13,
    "complex<f32>": 16,
    "complex<f64>": 17,
    "bf16": 27,
    "i4": 28,
    "ui1": 29,
    "i2": 30,
    "ui2": 31,
}
_PROTO_NAMES = {number: name for name, number in _PROTO_DTYPES.items()}

_API_DTYPES = {
    "f32": 0,
    "f16": 1,
    "i8": 2,
    "i32": 3,
    "ui8": 4,
    "i16": 6,
    "ui16": 7,
    "ui32": 8,
    "i64": 9,
    "ui64": 10,
    "f64": 11,
    "i1": 12,
    "string": 13,
    "bf16": 27,
    "i4": 29,
    "ui1": 30,
    "i2": 31,
    "ui2": 32,
}
_API_UNDEFINED = 28

ORIGIN_DTYPE = "origin_data_type"
"""Attribute of a descriptor: the element type where the enum has no number that viewers take."""

_LIST_KINDS: Mapping[type, tuple[str, int]] = {
    bool: ("b", 4),
    int: ("i", 2),
    float: ("f", 3),
    str: ("s", 1),
    bytes: ("bt", 5),
}
"""Type of the elements -> field of `ListValue` and its `val_type`."""

_LIST_FIELDS = {1: "s", 2: "i", 3: "f", 4: "b", 5: "bt", 10: "dt"}


@dataclass(frozen=True)
class OmTensor:
    """What a `TensorDescriptor` says of an operand or a result.

    Attributes:
        name: Of the port, "" where it has none.
        dtype: As in MLIR, `f16`, `bf16`, `i64`, `ui8`, `i1`; also `string`.
        shape: -1 for an unknown dimension; None for an unknown rank.
        layout: `ND`, `NCHW`, ...
        size: Bytes in memory; 0 where unknown.
    """

    name: str
    dtype: str
    shape: tuple[int, ...] | None
    layout: str = "ND"
    size: int = 0

    @property
    def elements(self) -> int | None:
        """The number of elements, or None where a dimension or the rank is unknown."""
        if self.shape is None or min(self.shape, default=0) < 0:
            return None
        count = 1
        for dim in self.shape:
            count *= dim
        return count


@dataclass(frozen=True)
class OmWeight:
    """The value of a `Const`: a range of WEIGHTS_DATA, or a few bytes of its own.

    Attributes:
        tensor: What the bytes are.
        offset: In bytes, from the start of WEIGHTS_DATA.
        size: In bytes.
        data: The bytes; empty where they lie in WEIGHTS_DATA.
    """

    tensor: OmTensor
    offset: int = 0
    size: int = 0
    data: bytes = field(default=b"", repr=False)


Scalar: TypeAlias = bool | int | float | str | bytes
AttrValue: TypeAlias = Scalar | Sequence[Scalar] | Sequence[Sequence[int]] | OmWeight


def api_dtype(name: str) -> int:
    """Returns the number of an element type in attributes of ops, such as `dst_type` of `Cast`.

    This is `ge::DataType`, whose numbers differ from those in descriptors; 28 is undefined.

    >>> api_dtype("f16"), api_dtype("i64")
    (1, 9)
    """
    return _API_DTYPES.get(name, _API_UNDEFINED)


def encode_tensor(message: Any, tensor: OmTensor, *, is_input: bool | None = None) -> None:
    """Fills a `TensorDescriptor`.

    An element type without a number below 32, which is as far as viewers go, is given as bytes of
    unsigned integers or as undefined, with its name in the attribute `origin_data_type`.
    """
    # Kept with the tensor itself: a model has few, and to look them up by value hashes them.
    name = f"_message_{is_input}"
    if (known := vars(tensor).get(name)) is None:
        known = vars(tensor)[name] = _descriptor(tensor, is_input)
    message.CopyFrom(known)


def _descriptor(tensor: OmTensor, is_input: bool | None) -> Any:
    """Returns a `TensorDescriptor`."""
    message = new("ge.proto.TensorDescriptor")
    message.name = tensor.name
    message.dtype = _PROTO_DTYPES.get(tensor.dtype, 4 if tensor.dtype.startswith("f8") else 0)
    if tensor.dtype not in _PROTO_DTYPES:
        encode_attribute(message.attr[ORIGIN_DTYPE], tensor.dtype)
    message.shape.SetInParent()  # rank 0 needs a shape as well, or viewers see no type
    message.shape.dim.extend((-2,) if tensor.shape is None else tensor.shape)
    message.layout = tensor.layout
    message.size = tensor.size
    message.device_type = "NPU"
    if is_input is not None:
        message.input_tensor, message.output_tensor = is_input, not is_input
    message.real_dim_cnt = 0 if tensor.shape is None else len(tensor.shape)
    return message


def decode_tensor(message: Any) -> OmTensor:
    """Returns what a `TensorDescriptor` says; an unknown element type is `undefined`."""
    dtype = _PROTO_NAMES.get(message.dtype, "undefined")
    if ORIGIN_DTYPE in message.attr and message.attr[ORIGIN_DTYPE].s:
        dtype = message.attr[ORIGIN_DTYPE].s.decode("utf-8", "replace")
    dims = tuple(message.shape.dim)
    shape = None if dims == (-2,) else dims
    return OmTensor(message.name, dtype, shape, message.layout, message.size)


def encode_attribute(message: Any, value: AttrValue) -> None:
    """Fills an `AttrDef`. The message of a tuple of texts is kept, for further ops of its kernel.

    An empty sequence is a list of integers; integers among floats are floats.

    Raises:
        ValueError: The value is of another type, or an integer outside 64 bits.
    """
    if type(value) is int:
        message.i = value
    elif isinstance(value, tuple | list):
        if value and isinstance(value, tuple) and type(value[0]) is str:
            message.CopyFrom(_texts(value))
        else:
            _encode_list(message, value)
    elif isinstance(value, OmWeight):
        _encode_weight(message.t, value)
    elif isinstance(value, bool):
        message.b = value
    elif isinstance(value, int):
        message.i = value
    elif isinstance(value, float):
        message.f = value
    elif isinstance(value, str):
        message.s = value.encode("utf-8")
    elif isinstance(value, bytes):
        message.bt = value
    else:
        _encode_list(message, value)


@lru_cache(maxsize=1024)
def _texts(values: Sequence[Scalar]) -> Any:
    """Returns the `AttrDef` of a list of texts."""
    message = new("ge.proto.AttrDef")
    _encode_list(message, values)
    return message


def _encode_weight(message: Any, weight: OmWeight) -> None:
    encode_tensor(message.desc, weight.tensor)
    message.desc.weight_size = weight.size
    message.desc.data_offset = weight.offset
    message.data = weight.data


def _encode_list(message: Any, values: Sequence[Scalar] | Sequence[Sequence[int]]) -> None:
    kinds: set[type] = set(map(type, values))
    if kinds and kinds <= {tuple, list}:
        message.list_list_int.SetInParent()
        for row in cast("Sequence[Sequence[int]]", values):
            message.list_list_int.list_list_i.add().list_i.extend(row)
        return
    if kinds == {int, float}:
        kinds = {float}
    if len(kinds) > 1 or not kinds <= _LIST_KINDS.keys():
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"expected a list of one type of scalar or of lists of int, got {names}")
    (kind,) = kinds or {int}
    name, number = _LIST_KINDS[kind]
    elements = message.list
    elements.val_type = number
    if kind is str:
        values = [*map(str.encode, cast("Sequence[str]", values))]
    getattr(elements, name).extend(values)


def decode_attribute(message: Any) -> AttrValue | None:
    """Returns the value of an `AttrDef`, or None for a kind that has no value in Python.

    Those are functions, graphs, descriptors and lists of them; our own files have none.
    """
    kind: str | None = message.WhichOneof("value")
    if kind in ("i", "f", "b", "bt", "dt"):
        return cast("Scalar", getattr(message, kind))
    if kind == "s":
        return _decode_text(message.s)
    if kind == "t":
        desc = message.t.desc
        return OmWeight(decode_tensor(desc), desc.data_offset, desc.weight_size, message.t.data)
    if kind == "list":
        return _decode_list(message.list)
    if kind == "list_list_int":
        return tuple(tuple(row.list_i) for row in message.list_list_int.list_list_i)
    return None


def _decode_list(message: Any) -> Sequence[Scalar] | None:
    name = _LIST_FIELDS.get(message.val_type)
    if name is None:  # writers of old leave the kind out
        name = next((name for name in _LIST_FIELDS.values() if getattr(message, name)), None)
    if name is None:
        return () if message.val_type == 0 else None
    values = cast("Sequence[Scalar]", tuple(getattr(message, name)))
    return tuple(_decode_text(cast("bytes", value)) for value in values) if name == "s" else values


def _decode_text(data: bytes) -> str | bytes:
    """Returns text where it is some: files of other compilers keep bytes in strings."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data
