"""Reference semantics of the ONNX operators on sequences, optionals and maps.

A sequence is a list, an optional its value or None, a map a dict. Containers are never changed in
place, and a tensor that enters one is copied: it outlives the buffer it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError

from ge_dialect.ge.containers import MapType, OptionalType, SequenceType
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.interpreters.registry import Array

Value: TypeAlias = Any
"""An array, a list or a dict of values, or None."""

_ContainerOp: TypeAlias = Callable[[HostCallOp, Sequence[Value]], Value]


def conform(value: Value, type_: Attribute) -> Value:
    """Returns a value with arrays of the element types that its type declares.

    Raises:
        InterpretationError: It is absent although its type is not optional.
    """
    match type_:
        case SequenceType():
            return [conform(item, type_.item) for item in value]
        case OptionalType():
            return None if value is None else conform(value, type_.item)
        case MapType():
            return {key: conform(item, type_.item) for key, item in value.items()}
        case _:
            if value is None:
                raise InterpretationError(f"expected a value of type {type_}, got none")
            dtype = to_numpy(cast(Any, type_).element_type)
            return np.asarray(value).astype(dtype, copy=False)


def _owned(value: Value) -> Value:
    return cast(Array, value).copy() if isinstance(value, np.ndarray) else value


def int_attr(op: HostCallOp, name: str, default: int) -> int:
    """Returns an integer among the attributes of a node, or the default."""
    attr = None if op.attrs is None else op.attrs.data.get(name)
    return attr.value.data if isinstance(attr, IntegerAttr) else default


def _position(value: Array, low: int, high: int) -> int:
    position = int(value.reshape(-1)[0])
    if not low <= position <= high:
        raise InterpretationError(f"expected 'position' in [{low}, {high}], got {position}")
    return position


def _empty(op: HostCallOp, arguments: Sequence[Value]) -> Value:
    return []


def _construct(op: HostCallOp, arguments: Sequence[Value]) -> Value:
    return [_owned(item) for item in arguments]


def _insert(op: HostCallOp, arguments: Sequence[Value]) -> Value:
    sequence, item, *rest = arguments
    count = len(sequence)
    place = count if not rest or rest[0] is None else _position(rest[0], -count, count)
    if place < 0:
        place += count
    return [*sequence[:place], _owned(item), *sequence[place:]]


def _erase(op: HostCallOp, arguments: Sequence[Value]) -> Value:
    sequence, *rest = arguments
    count = len(sequence)
    last = np.asarray(-1)
    given = last if not rest or rest[0] is None else rest[0]
    place = _position(given, -count, count - 1) % count
    return [*sequence[:place], *sequence[place + 1 :]]


def _at(op: HostCallOp, arguments: Sequence[Value]) -> Value:
    sequence, position = arguments
    return sequence[_position(position, -len(sequence), len(sequence) - 1)]


def _length(op: HostCallOp, arguments: Sequence[Value]) -> Value:
    return np.asarray(len(arguments[0]), np.int64)


def _split(op: HostCallOp, arguments: Sequence[Value]) -> Value:
    """Without lengths each part has one element, and its dimension may go."""
    whole, *rest = arguments
    axis = int_attr(op, "axis", 0) % whole.ndim
    dim = whole.shape[axis]
    lengths = rest[0] if rest else None
    sizes = [1] * dim if lengths is None else _sizes(lengths, dim)
    starts = np.cumsum([0, *sizes]).tolist()
    parts = [
        whole.take(range(start, start + size), axis)
        for start, size in zip(starts, sizes, strict=False)
    ]
    if lengths is None and not int_attr(op, "keepdims", 1):
        return [part.squeeze(axis) for part in parts]
    return parts


def _sizes(lengths: Array, dim: int) -> list[int]:
    given = [int(size) for size in lengths.reshape(-1)]
    if lengths.ndim == 0 and given[0] > 0:
        size = given[0]
        return [size] * (dim // size) + ([dim % size] if dim % size else [])
    if lengths.ndim == 0 or min(given, default=0) < 0 or sum(given) != dim:
        raise InterpretationError(f"expected 'split' to cut a dimension of {dim}, got {given}")
    return given


def _concat(op: HostCallOp, arguments: Sequence[Value]) -> Value:
    (sequence,) = arguments
    if not sequence:
        raise InterpretationError("expected a sequence of at least one tensor, got none")
    join = np.stack if int_attr(op, "new_axis", 0) else np.concatenate
    return join(sequence, axis=int_attr(op, "axis", 0))


def _optional(op: HostCallOp, arguments: Sequence[Value]) -> Value:
    return _owned(arguments[0]) if arguments else None


def _has_element(op: HostCallOp, arguments: Sequence[Value]) -> Value:
    return np.asarray(bool(arguments) and arguments[0] is not None)


def _get_element(op: HostCallOp, arguments: Sequence[Value]) -> Value:
    if arguments[0] is None:
        raise InterpretationError("expected an optional that holds a value, got none")
    return arguments[0]


def _keys(op: HostCallOp, *names: str) -> list[int] | list[str]:
    """Returns the one of two attributes that lists keys."""
    for name in names:
        attr = None if op.attrs is None else op.attrs.data.get(name)
        if isinstance(attr, DenseArrayBase):
            return [int(key) for key in cast("DenseArrayBase[Any]", attr).get_values()]
        if isinstance(attr, ArrayAttr):
            words = cast("ArrayAttr[Attribute]", attr)
            return [word.data for word in words if isinstance(word, StringAttr)]
    raise InterpretationError(f"expected an attribute {' or '.join(names)}, got none")


def _zip_map(op: HostCallOp, arguments: Sequence[Value]) -> Value:
    """One map a row; a tensor of rank 1 is one row."""
    (scores,) = arguments
    keys = _keys(op, "classlabels_strings", "classlabels_int64s")
    if scores.ndim not in (1, 2) or scores.shape[-1] != len(keys):
        raise InterpretationError(f"expected rows of {len(keys)} columns, got {scores.shape}")
    rows = scores.reshape(-1, len(keys))
    return [{key: row[[i]].reshape(()) for i, key in enumerate(keys)} for row in rows]


def _vectorize(op: HostCallOp, arguments: Sequence[Value]) -> Value:
    """The values of a map in the order of a vocabulary, zero for a key that it lacks."""
    given: Mapping[int | str, Value] = arguments[0]
    keys = _keys(op, "string_vocabulary", "int64_vocabulary")
    if foreign := [key for key in given if key not in keys]:
        raise InterpretationError(f"expected keys of the vocabulary, got {foreign[0]!r}")
    item = cast(MapType, op.arguments[0].type).item
    dtype = to_numpy(cast(Any, item).element_type)
    missing = "" if dtype.kind == "O" else 0
    return np.array([np.asarray(given.get(key, missing)).item() for key in keys], dtype)


_TABLE: dict[str, _ContainerOp] = {
    "ai.onnx::SequenceEmpty": _empty,
    "ai.onnx::SequenceConstruct": _construct,
    "ai.onnx::SequenceInsert": _insert,
    "ai.onnx::SequenceErase": _erase,
    "ai.onnx::SequenceAt": _at,
    "ai.onnx::SequenceLength": _length,
    "ai.onnx::SplitToSequence": _split,
    "ai.onnx::ConcatFromSequence": _concat,
    "ai.onnx::Optional": _optional,
    "ai.onnx::OptionalHasElement": _has_element,
    "ai.onnx::OptionalGetElement": _get_element,
    "ai.onnx.ml::ZipMap": _zip_map,
    "ai.onnx.ml::DictVectorizer": _vectorize,
}

CONTAINER_OPS: Mapping[str, _ContainerOp] = MappingProxyType(_TABLE)
"""Callees of host calls that are evaluated here and not by `onnx.reference`, with what they give.

Each takes the op and its arguments by slot, None for an empty one, and returns its one result.
"""
