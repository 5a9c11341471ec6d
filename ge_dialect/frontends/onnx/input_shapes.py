"""Shapes that the caller fixes: ATC's `--input_shape` and its effect on a model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import onnx

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.load import LoadedModel
from ge_dialect.frontends.onnx.problems import Problems
from ge_dialect.frontends.onnx.rows import rows_of
from ge_dialect.frontends.onnx.validate import subgraphs

_MAX_DIMENSION = (1 << 63) - 1
_DIMENSION = re.compile(r"(-1|\d{1,19})(?:~(-1|\d{1,19}))?", re.ASCII)


@dataclass(frozen=True)
class DimRange:
    """The sizes that a dimension may take, both ends included; `hi` None means no end."""

    lo: int
    hi: int | None

    def __str__(self) -> str:
        return (
            "-1"
            if (self.lo, self.hi) == (0, None)
            else f"{self.lo}~{-1 if self.hi is None else self.hi}"
        )


DimSpec: TypeAlias = int | DimRange
InputShapes: TypeAlias = Mapping[str, Sequence[DimSpec]]

DYNAMIC = DimRange(0, None)


@dataclass(frozen=True)
class Specialized:
    """A model with shapes fixed.

    Attributes:
        loaded: The model; fixed dimensions are numbers wherever their symbol stood.
        ranges: For each symbol that was given a range, that range.
    """

    loaded: LoadedModel
    ranges: dict[str, DimRange]


def parse_input_shapes(text: str) -> dict[str, tuple[DimSpec, ...]]:
    """Reads shapes in ATC's notation.

    `-1` is any size, `1~10` a range, `1~-1` a range without an end; a scalar has no dimensions.

    Raises:
        GEError: The text is malformed (GE0216).

    >>> parse_input_shapes("x:1,3,224,224;b:8,1~10;c:")
    {'x': (1, 3, 224, 224), 'b': (8, DimRange(lo=1, hi=10)), 'c': ()}
    """
    shapes: dict[str, tuple[DimSpec, ...]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, colon, dims = part.rpartition(":")  # names like `x:0` hold a colon themselves
        name = name.strip()
        if not colon or not name:
            raise _bad_shape(f"expected 'name:dims', got '{part}'")
        if name in shapes:
            raise _bad_shape(f"input '{name}' is given twice")
        words = dims.split(",") if dims.strip() else []
        shapes[name] = tuple(_parse_dimension(word.strip(), name) for word in words)
    if not shapes:
        raise _bad_shape("no input is given")
    return shapes


def _parse_dimension(word: str, name: str) -> DimSpec:
    if (match := _DIMENSION.fullmatch(word)) is None:
        raise _bad_shape(f"input '{name}' has a dimension '{word[:40]}'")
    first, last = match.groups()
    lo = int(first)
    if last is None:
        return DYNAMIC if lo == -1 else _checked(lo, name)
    hi = None if last == "-1" else _checked(int(last), name)
    if lo == -1 or (hi is not None and hi < lo):
        raise _bad_shape(f"input '{name}' has an empty range '{word}'")
    return lo if lo == hi else DimRange(_checked(lo, name), hi)


def _checked(size: int, name: str) -> int:
    if size > _MAX_DIMENSION:
        raise _bad_shape(f"input '{name}' has a dimension above {_MAX_DIMENSION}")
    return size


def _bad_shape(reason: str) -> GEError:
    return GEError("GE0216", reason, hint='write shapes as "x:1,3,224,224;ids:1,1~128"')


def specialize(loaded: LoadedModel, shapes: InputShapes) -> Specialized:
    """Fixes input dimensions of a model; one symbol gets one size everywhere.

    Args:
        loaded: Not changed.
        shapes: For some inputs, all dimensions: a size, a `DimRange`, or -1 for any size.

    Raises:
        GEError: There is no such input (GE0217), or a shape contradicts the model or another
            shape (GE0218).
    """
    model = onnx.ModelProto()
    model.CopyFrom(loaded.model)
    nodes = rows_of(model.graph.node)
    copy = LoadedModel(model, loaded.weights, loaded.path, loaded.opset, nodes, loaded.unread)
    inputs = {value.name: value for value in copy.inputs}
    if unknown := [name for name in shapes if name not in inputs]:
        raise GEError(
            "GE0217",
            f"no input is named {', '.join(map(repr, unknown))}",
            hint="the model's inputs are " + ", ".join(describe_input(v) for v in inputs.values()),
        )
    binder = _Binder({}, {}, Problems())
    for name, dims in shapes.items():
        binder.input(inputs[name], dims)
    binder.problems.raise_first()
    _substitute(model.graph, binder.sizes)
    for symbol in binder.sizes:
        binder.ranges.pop(symbol, None)
    return Specialized(copy, binder.ranges)


def describe_input(value: onnx.ValueInfoProto) -> str:
    """Names an input with its shape, `ids[B, 128]`; an unnamed dynamic dimension is `?`."""
    if not value.type.HasField("tensor_type") or not value.type.tensor_type.HasField("shape"):
        return value.name
    dims = value.type.tensor_type.shape.dim
    return f"{value.name}[{', '.join(_describe(dim) for dim in dims)}]"


def _describe(dim: onnx.TensorShapeProto.Dimension) -> str:
    return str(dim.dim_value) if dim.HasField("dim_value") else dim.dim_param or "?"


@dataclass(frozen=True)
class _Binder:
    """What the given shapes say about symbols."""

    sizes: dict[str, int]
    ranges: dict[str, DimRange]
    problems: Problems

    def input(self, value: onnx.ValueInfoProto, dims: Sequence[DimSpec]) -> None:
        if not value.type.HasField("tensor_type"):
            self.wrong(f"input '{value.name}' is not a tensor")
            return
        tensor = value.type.tensor_type
        if not tensor.HasField("shape"):
            tensor.shape.dim.extend(onnx.TensorShapeProto.Dimension() for _ in dims)
            tensor.shape.SetInParent()
        if len(tensor.shape.dim) != len(dims):
            rank = len(tensor.shape.dim)
            self.wrong(f"expected {rank} dimensions of {describe_input(value)}, got {len(dims)}")
            return
        for index, (dim, spec) in enumerate(zip(tensor.shape.dim, dims, strict=True)):
            where = f"dimension {index} of input '{value.name}'"
            self.dimension(dim, DYNAMIC if spec == -1 else spec, where)

    def dimension(self, dim: onnx.TensorShapeProto.Dimension, spec: DimSpec, where: str) -> None:
        if dim.HasField("dim_value"):
            if not _contains(spec, dim.dim_value):
                self.wrong(f"{where} is {dim.dim_value} in the model, got {spec}")
        elif isinstance(spec, int):
            if spec < 0:
                self.wrong(f"expected {where} of 0 or more, got {spec}")
            elif dim.dim_param:
                self.size(dim.dim_param, spec, where)
            else:
                dim.dim_value = spec
        elif spec != DYNAMIC:
            # An unnamed dimension needs a name for its range to be known by.
            dim.dim_param = dim.dim_param or where.replace("dimension ", "d").replace(" ", "_")
            self.range(dim.dim_param, spec, where)

    def size(self, symbol: str, size: int, where: str) -> None:
        if (known := self.sizes.setdefault(symbol, size)) != size:
            self.wrong(f"{where} is '{symbol}', which is {known} elsewhere, got {size}")
        elif symbol in self.ranges and not _contains(self.ranges[symbol], size):
            self.wrong(f"{where} is '{symbol}' of {self.ranges[symbol]} elsewhere, got {size}")

    def range(self, symbol: str, spec: DimRange, where: str) -> None:
        known = self.ranges.get(symbol, DYNAMIC)
        ends = [end for end in (known.hi, spec.hi) if end is not None]
        both = DimRange(max(known.lo, spec.lo), min(ends) if ends else None)
        empty = both.hi is not None and both.hi < both.lo
        size = self.sizes.get(symbol)
        if empty or (size is not None and not _contains(both, size)):
            elsewhere = known if size is None else size
            self.wrong(f"{where} is '{symbol}' of {elsewhere} elsewhere, got {spec}")
        else:
            self.ranges[symbol] = both

    def wrong(self, what: str) -> None:
        self.problems.add("GE0218", what, hint="give shapes that agree with the model")


def _contains(spec: DimSpec, size: int) -> bool:
    if isinstance(spec, int):
        return spec == size
    return spec.lo <= size and (spec.hi is None or size <= spec.hi)


def _substitute(graph: onnx.GraphProto, sizes: dict[str, int]) -> None:
    """Puts sizes for symbols in every type of a graph, its subgraphs included.

    A dimension that an expression over such a symbol describes is left unknown: inference knows
    better.
    """
    if not sizes:
        return
    for value in (*graph.input, *graph.output, *graph.value_info):
        for dim in value.type.tensor_type.shape.dim if _has_shape(value) else ():
            if dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]
            elif sizes.keys() & set(re.findall(r"\w+", dim.dim_param)):
                dim.ClearField("dim_param")
    for node in graph.node:
        for subgraph in subgraphs(node):
            _substitute(subgraph, sizes)


def _has_shape(value: onnx.ValueInfoProto) -> bool:
    return value.type.HasField("tensor_type") and value.type.tensor_type.HasField("shape")
