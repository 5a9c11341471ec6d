"""Opens an ONNX model: structure checked, weights left in their files."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

import onnx
from google.protobuf.message import DecodeError

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.cycles import in_order, is_in_turn
from ge_dialect.frontends.onnx.described import UnreadTypes, not_valid, values_of
from ge_dialect.frontends.onnx.external import ExternalFiles
from ge_dialect.frontends.onnx.old_models import complete_old_model
from ge_dialect.frontends.onnx.problems import Problems
from ge_dialect.frontends.onnx.rows import NodeRow, rows_of
from ge_dialect.frontends.onnx.tensors import HANDLE_KEY, TensorReader, take_all
from ge_dialect.frontends.onnx.texts import check_texts
from ge_dialect.frontends.onnx.validate import check_opsets, check_structure
from ge_dialect.frontends.onnx.wire import DEFAULT_THRESHOLD, RawRange, check_framing, strip
from ge_dialect.weights import MemoryWeight, Weight


@dataclass(frozen=True)
class LoadedModel:
    """A valid ONNX model whose big tensors are handles.

    Attributes:
        bare: The model, but for what is unread; each tensor is in one of the forms of `tensors.py`.
        weights: The bytes of every numeric initializer of the main graph by its name, and of every
            other big tensor (of `Constant` nodes, subgraphs, functions) by the key in its handle.
        path: The file, or None for a model that came from memory.
        opset: Domain -> version; the default domain is the empty string.
        nodes: Those of the main graph.
        unread: What the main graph says of types of other values than its inputs and outputs.
    """

    bare: onnx.ModelProto
    weights: dict[str, Weight]
    path: str | None
    opset: dict[str, int]
    nodes: Sequence[NodeRow]
    unread: UnreadTypes

    @property
    def model(self) -> onnx.ModelProto:
        """The whole model.

        Raises:
            GEError: What was unread is not valid (GE0202).
        """
        self.unread.read_into(self.bare.graph)
        return self.bare

    def weight(self, tensor: onnx.TensorProto) -> Weight:
        """Returns the bytes of any numeric tensor of the model, as `raw_data` would hold them.

        Raises:
            ValueError: The tensor holds strings.
        """
        if tensor.data_type == onnx.TensorProto.STRING:
            raise ValueError(f"expected a numeric tensor, got strings in '{tensor.name}'")
        for entry in tensor.external_data:
            if entry.key == HANDLE_KEY:
                return self.weights[entry.value]
        return MemoryWeight(tensor.raw_data)

    @property
    def inputs(self) -> list[onnx.ValueInfoProto]:
        """What the caller must give: the graph's inputs that no initializer provides.

        Before IR version 4 every initializer was listed as an input, from then on those that a
        caller may override: all of them are constants here.
        """
        given = {tensor.name for tensor in self.bare.graph.initializer}
        return [value for value in self.bare.graph.input if value.name not in given]


def load_onnx(path: str | os.PathLike[str], threshold: int = DEFAULT_THRESHOLD) -> LoadedModel:
    """Opens an `.onnx` file; its big tensors stay in it, or in the files beside it.

    Args:
        path: A binary ModelProto.
        threshold: In bytes; longer tensors become handles.

    Raises:
        GEError: The file cannot be opened (GE0201), is no ONNX model (GE0202), is truncated
            (GE0203), or its graph, opsets or tensors are invalid (GE0204 to GE0213).
    """
    name = os.fspath(path)
    with _open_model(name) as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise GEError("GE0202", f"'{name}' is empty", hint="expected an ONNX model")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if hasattr(data, "madvise"):
                data.madvise(mmap.MADV_RANDOM)  # else the kernel reads weights ahead
            stripped = strip(data, name, threshold)
            model = onnx.ModelProto()
            try:
                model.ParseFromString(stripped.model)
            except DecodeError as error:
                check_framing(data, name)
                raise not_valid(name, error) from None
    files = ExternalFiles(name, os.path.dirname(name))
    unread = UnreadTypes(stripped.value_info, name)
    return _check(model, TensorReader(name, stripped.ranges, files, threshold), unread)


def load_proto(
    model: onnx.ModelProto,
    folder: str | os.PathLike[str] | None = None,
    threshold: int = DEFAULT_THRESHOLD,
) -> LoadedModel:
    """Takes a model that is in memory; `model` itself is not changed.

    Args:
        model: Its big tensors are copied once.
        folder: Where its external data lies; None refuses external data.
        threshold: In bytes; longer tensors become handles.

    Raises:
        GEError: The graph, opsets or tensors are invalid (GE0204 to GE0213).
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    ranges: tuple[RawRange, ...] = ()
    files = ExternalFiles(None, None if folder is None else os.fspath(folder))
    return _check(copy, TensorReader(None, ranges, files, threshold), UnreadTypes(b"", "the model"))


def _check(model: onnx.ModelProto, reader: TensorReader, unread: UnreadTypes) -> LoadedModel:
    """Validates a parsed model and takes its tensors."""
    if not model.HasField("graph"):
        raise GEError(
            "GE0204",
            f"'{reader.path or 'the model'}' holds no graph",
            hint="expected an ONNX model; the file may be of another protobuf format",
        )
    nodes, values = rows_of(model.graph.node), values_of(model.graph)
    check_texts(model, nodes, values, reader.path or "the model")
    if not (in_turn := is_in_turn(model.graph, nodes)):
        nodes = in_order(model.graph, nodes)
    for function in model.functions:
        in_order(function, rows_of(function.node))
    # A model of the compiler needs no training; its graphs may hold tensors of their own.
    model.ClearField("training_info")
    complete_old_model(model)
    values.forget_placeholders()
    problems = Problems()
    opset = check_opsets(model, problems)
    check_structure(model, nodes, opset, problems, in_turn)
    problems.raise_first()
    take_all(model, nodes, reader, problems)
    problems.raise_first()
    return LoadedModel(model, reader.weights, reader.path, opset, nodes, unread)


def _open_model(name: str) -> BinaryIO:
    """Opens a model file, or says why it cannot be."""
    try:
        regular = stat.S_ISREG(os.stat(name).st_mode)  # opening a pipe would wait for ever
        if regular:
            return open(name, "rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise GEError(
            "GE0201", f"cannot open model '{name}': {reason}", hint="check the path"
        ) from None
    kind = "a folder" if os.path.isdir(name) else "not a regular file"
    raise GEError("GE0201", f"'{name}' is {kind}", hint="give the path of the .onnx file")
