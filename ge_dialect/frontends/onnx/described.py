"""What an ONNX graph says of the types of its values.

Types of values that are neither inputs nor outputs are asked for where they can not be inferred, as
those of operators that are not known. So they are read from the file when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import onnx
from google.protobuf.message import DecodeError

from ge_dialect.diagnostics import GEError

_TEXT = {str}


@dataclass(frozen=True)
class DescribedValues:
    """Values of a graph whose types it says: a model repeats a few types, and comparing their
    bytes is quicker than looking into each.

    Attributes:
        all: The values.
        types: The type of each as bytes.
        by_type: One value of each type.
    """

    all: Sequence[onnx.ValueInfoProto]
    types: Sequence[bytes]
    by_type: Mapping[bytes, onnx.ValueInfoProto]

    def texts(self) -> list[object]:
        """Returns the names of the values and of their dimensions."""
        found: list[object] = [value.name for value in self.all]
        for value in self.by_type.values():
            if value.type.WhichOneof("value") == "tensor_type":
                found += [dim.dim_param for dim in value.type.tensor_type.shape.dim]
        return found

    def forget_placeholders(self) -> None:
        """Leaves dimensions without a name where an exporter wrote -1 or `?`: each is its own."""
        placeholders: dict[bytes, list[int]] = {}
        for text, value in self.by_type.items():
            if value.type.WhichOneof("value") == "tensor_type":
                dims = enumerate(value.type.tensor_type.shape.dim)
                placeholders[text] = [
                    i for i, dim in dims if dim.dim_value < 0 or dim.dim_param == "?"
                ]
        if not any(placeholders.values()):
            return
        for value, text in zip(self.all, self.types, strict=True):
            for index in placeholders.get(text, ()):
                value.type.tensor_type.shape.dim[index].ClearField("value")


def values_of(graph: onnx.GraphProto) -> DescribedValues:
    """Returns the inputs and outputs of a graph and what it says of other values."""
    found = [*graph.input, *graph.output, *graph.value_info]
    types = [value.type.SerializeToString() for value in found]
    return DescribedValues(found, types, dict(zip(types, found, strict=True)))


def check_all_text(names: Iterable[object], where: str) -> None:
    """Checks that names are UTF-8, which protobuf hands out as texts, and others as bytes.

    Raises:
        GEError: One is not (GE0202).
    """
    if not set(map(type, names)) <= _TEXT:
        raise not_valid(where, "it holds a name that is not UTF-8")


def not_valid(where: str, reason: object) -> GEError:
    """Returns the error of a file that is no ONNX model."""
    return GEError(
        "GE0202",
        f"'{where}' is not a valid ONNX model: {reason}",
        hint="copy or export the file again",
    )


@dataclass
class UnreadTypes:
    """What a file says of values of a graph, and nobody asked for so far.

    Attributes:
        encoded: A serialised `GraphProto` with `value_info` and nothing else.
        where: The file, for messages.
    """

    encoded: bytes
    where: str

    def read_into(self, graph: onnx.GraphProto) -> None:
        """Adds the types to the graph, once.

        Raises:
            GEError: They are not valid (GE0202).
        """
        if not self.encoded:
            return
        found = onnx.GraphProto()
        try:
            found.ParseFromString(self.encoded)
        except DecodeError as error:
            raise not_valid(self.where, error) from None
        values = values_of(found)
        check_all_text(values.texts(), self.where)
        values.forget_placeholders()
        graph.value_info.extend(found.value_info)
        self.encoded = b""


@dataclass
class DeclaredValues:
    """What a graph says of the types of its values; looked at only where somebody asks.

    Attributes:
        graph: Any.
        unread: What its file says as well.
    """

    graph: onnx.GraphProto
    unread: UnreadTypes | None = None

    @cached_property
    def _known(self) -> dict[str, onnx.ValueInfoProto]:
        if self.unread is not None:
            self.unread.read_into(self.graph)
        return {value.name: value for value in (*self.graph.value_info, *self.graph.output)}

    def get(self, name: str) -> onnx.ValueInfoProto | None:
        """Returns what is said of a value, or None."""
        return self._known.get(name)
