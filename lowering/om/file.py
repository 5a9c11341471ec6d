"""A whole `.om` file: model, plan, weights and tasks, written and read in one go."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import IO, Protocol, Self

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.container import Container, open_container
from ge_dialect.lowering.om.layout import Header, PartitionType
from ge_dialect.lowering.om.model import (
    OmModel,
    decode_model_def,
    encode_model_def,
    encode_task_info,
)
from ge_dialect.lowering.om.plan_payload import DEFAULT_LIMIT, decode_plan, encode_plan
from ge_dialect.lowering.om.tasks import TaskInfo, decode_tasks
from ge_dialect.lowering.om.writer import Partition, Payload, weights_padding, write_container
from ge_dialect.weights import SourceFile, WeightSource

WEIGHT_ALIGNMENT = 512
"""Bytes; where a weight starts within WEIGHTS_DATA. Source: GE aligns weight offsets to 512."""


class Weight(Protocol):
    """Bytes that know how to copy themselves; hashable, and equal where the bytes are."""

    @property
    def length(self) -> int:
        """In bytes."""
        ...

    def view(self) -> memoryview:
        """Returns the bytes."""
        ...

    def write_to(self, file: IO[bytes], /) -> None:
        """Appends the bytes to `file`."""
        ...

    def __hash__(self) -> int: ...


@dataclass
class PackedWeights:
    """The WEIGHTS_DATA partition: each weight once, at a multiple of the alignment.

    Attributes:
        alignment: In bytes, a power of two; at least 512 is kept.
        size: Bytes so far, padded.
    """

    alignment: int = WEIGHT_ALIGNMENT
    size: int = field(default=0, init=False)

    _offsets: dict[Weight, int] = field(default_factory=dict["Weight", int])

    def add(self, weight: Weight) -> int:
        """Returns the offset of a weight in bytes; equal weights share one."""
        if (offset := self._offsets.get(weight)) is None:
            offset = self._offsets[weight] = self.size
            self.size += weight.length + self._padding(weight)
        return offset

    def __iter__(self) -> Iterator[tuple[int, Weight]]:
        """Yields offset and weight, by offset."""
        return ((offset, weight) for weight, offset in self._offsets.items())

    def pieces(self) -> Iterator[memoryview]:
        """Yields what `write_to` writes."""
        for weight in self._offsets:
            yield weight.view()
            yield memoryview(bytes(self._padding(weight)))

    def write_to(self, file: IO[bytes], /) -> None:
        """Appends all weights to `file`, with zeros between them."""
        with SourceFile() as source:
            for weight in self._offsets:
                if isinstance(weight, WeightSource):
                    source.copy(weight, file)
                else:
                    weight.write_to(file)
                if padding := self._padding(weight):
                    file.write(bytes(padding))

    def _padding(self, weight: Weight) -> int:
        return -weight.length % max(self.alignment, WEIGHT_ALIGNMENT)


def write_om(
    path: str | os.PathLike[str],
    model: OmModel,
    plan: str,
    weights: Payload = b"",
    *,
    dynamic: bool = False,
) -> None:
    """Writes an `.om` file, in one step: a failure leaves what was there before.

    The partitions are MODEL_DEF, PLAN, WEIGHTS_DATA (where there are weights) and TASK_INFO. The
    weights start at a multiple of 4096 bytes, so that they can be used where they are mapped.

    Args:
        path: Of the file.
        model: `weight_size` is the size of `weights`.
        plan: The module, as MLIR text.
        weights: Bytes, or what writes them piece by piece.
        dynamic: Whether some dimension is unknown.

    Raises:
        GEError: GE0607 where the file cannot be written.
        ValueError: `model` breaks a rule of `check_graph` or has another `weight_size`.
    """
    write_container(path, om_partitions(model, plan, weights), Header(model.name, dynamic=dynamic))


def om_partitions(model: OmModel, plan: str, weights: Payload = b"") -> list[Partition]:
    """Returns the partitions that `write_om` writes.

    Raises:
        ValueError: As `write_om`.
    """
    packed = Partition(PartitionType.WEIGHTS_DATA, weights)
    if model.weight_size != packed.size:
        raise ValueError(f"expected {model.weight_size} bytes of weights, got {packed.size}")
    payload = encode_plan(plan, weights_size=packed.size)
    definition = encode_model_def(model)
    count = 4 if packed.size else 3
    payload += bytes(weights_padding((len(definition), len(payload)), count))
    return [
        Partition(PartitionType.MODEL_DEF, definition),
        Partition(PartitionType.PLAN, payload),
        *([packed] if packed.size else []),
        Partition(PartitionType.TASK_INFO, encode_task_info(model)),
    ]


@dataclass
class OmFile:
    """An open `.om` file. A context manager, as `Container` is.

    What it holds is decoded when asked for; each may raise GE0611 where it cannot be.
    """

    container: Container

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        self.container.close()

    @cached_property
    def model(self) -> OmModel:
        """The graph and the sizes, without the tasks."""
        return decode_model_def(self.container.view(PartitionType.MODEL_DEF))

    @cached_property
    def tasks(self) -> TaskInfo:
        """The tasks; none where the file has no TASK_INFO."""
        return decode_tasks(self.container.view(PartitionType.TASK_INFO))

    @property
    def weights(self) -> memoryview:
        """All weights, mapped; empty where the file has none."""
        return self.container.view(PartitionType.WEIGHTS_DATA)

    def plan(self, limit: int = DEFAULT_LIMIT) -> str:
        """Returns the plan as MLIR text of at most `limit` bytes.

        Raises:
            GEError: GE0608 where the file has no plan; as `decode_plan` otherwise.
        """
        if self.container.find(PartitionType.PLAN) is None:
            raise GEError(
                "GE0608",
                f"'{self.container.path}' holds no plan: another compiler wrote it",
                hint="compile the model with ge-compile; such a file can only be displayed",
            )
        payload = self.container.view(PartitionType.PLAN)
        return decode_plan(payload, weights_size=len(self.weights), limit=limit)


def read_om(path: str | os.PathLike[str]) -> OmFile:
    """Opens and checks an `.om` file.

    Raises:
        GEError: As `open_container`.
    """
    return OmFile(open_container(path))
