"""Arenas as byte arrays, and every buffer of a plan as an array at its planned address."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import ArenaOp, BufferOp, InputOp, ObjectOp, PlanOp, ViewOp, WeightOp
from ge_dialect.ge_exec.memory import PlacedOp, base_of, is_buffer, offset_of
from ge_dialect.ge_exec.spans import span_of, start_of
from ge_dialect.lowering.plan_names import describe
from ge_dialect.symbols import Dim, evaluate, symbols_of
from ge_dialect.tools.runtime.data_sizes import Tellers
from ge_dialect.tools.runtime.ports import array_layout, array_type

POISON = 0xFF
"""Repeated: a NaN in floats of 16 bits or more, -1 in signed integers, far out in unsigned ones."""

_NO_SIZES: Mapping[str, int] = {}

ARENA_GRANULE = 4096
"""In bytes; an arena may be this much rounded up beyond what lies in it."""


@dataclass
class Memory:
    """The bytes of one execution.

    A buffer's array lies at the planned address. Objects have no bytes in a plan: they stand beside
    the arenas, and what once is in one is never changed, only replaced.

    Attributes:
        late: Places whose sizes are known once a task has told them.
        tellers: Which values tell sizes.
        sizes: Of the symbols known so far.
    """

    arenas: dict[SSAValue, npt.NDArray[np.uint8]]
    writable: dict[SSAValue, npt.NDArray[Any]] = field(
        default_factory=dict[SSAValue, npt.NDArray[Any]]
    )
    readable: dict[SSAValue, npt.NDArray[Any]] = field(
        default_factory=dict[SSAValue, npt.NDArray[Any]]
    )
    objects: dict[SSAValue, Any] = field(default_factory=dict[SSAValue, Any])
    poisoned: bool = False
    late: Mapping[SSAValue, Place] = field(default_factory=dict[SSAValue, "Place"])
    tellers: Tellers = field(default_factory=Tellers)
    sizes: dict[str, int] = field(default_factory=dict[str, int])

    def read(self, value: SSAValue) -> Any:
        """Returns what a value holds: a read-only array, or the object.

        Raises:
            GEError: Nothing has been written to the object yet (GE0812).
        """
        if (array := self.readable.get(value)) is not None:
            return array
        if value in self.late:
            array = self.target(value)
            array.flags.writeable = False
            return array
        if value not in self.objects:
            raise GEError(
                "GE0812",
                f"{describe(base_of(value)[0])} is read before anything is written to it",
                hint="compile the model again",
            )
        found = self.objects[value]
        if isinstance(found, Slices):
            found = self.objects[value] = found.stacked()
            self.tell(value, found)
        return found

    def target(self, value: SSAValue) -> npt.NDArray[Any]:
        """Returns the array that a buffer is written to, of the sizes of this moment.

        Raises:
            GEError: A task has still to tell a size of it (GE0812).
        """
        if (array := self.writable.get(value)) is not None:
            return array
        at = self.late[value]
        try:
            shape = [evaluate(dim, self.sizes) for dim in at.shape]
        except ValueError as error:
            raise GEError("GE0812", f"{describe(base_of(value)[0])}: {error}") from error
        return np.ndarray(shape, at.dtype, self.arenas[at.arena], evaluate(at.start, self.sizes))

    def tell(self, value: SSAValue, content: Any) -> None:
        """Says what is written to a value, whose dimensions may be sizes that others wait for.

        Raises:
            GEError: A size is not as the plan says (GE0820, GE0821).
        """
        if value in self.tellers.symbols and isinstance(content, np.ndarray | np.generic):
            shape: tuple[int, ...] = np.shape(cast("Any", content))
            self.tellers.read(value, shape, self.sizes)

    def store(self, value: SSAValue, content: Any) -> None:
        """Puts something into an object."""
        self.tell(value, content)
        self.objects[value] = content

    def is_object(self, value: SSAValue) -> bool:
        """Whether a value is an object."""
        return value not in self.writable and value not in self.late

    def forget(self, op: ObjectOp) -> None:
        """Frees an object that nobody reads any more."""
        self.objects.pop(op.result, None)

    def add(self, value: SSAValue, array: npt.NDArray[Any]) -> None:
        """Says in which array a value lies."""
        self.writable[value] = array
        self.readable[value] = array.view()
        self.readable[value].flags.writeable = False

    def poison_all(self) -> None:
        """Fills everything but weights with poison; kernels do so with the chip from now on."""
        self.poisoned = True
        for arena in self.arenas.values():
            arena.fill(POISON)

    def poison(self, op: BufferOp, spare: list[tuple[int, int]]) -> None:
        """Fills the bytes of a buffer with poison.

        Args:
            op: A buffer that nobody reads any more.
            spare: Ranges of bytes of its arena that hold something else by now.
        """
        assert op.arena is not None
        start = offset_of(op) or 0
        end = start + op.size
        arena = self.arenas[op.arena]
        for low, high in sorted(spare):
            arena[start : max(start, min(low, end))] = POISON
            start = max(start, high)
        arena[start : max(start, end)] = POISON


@dataclass(frozen=True)
class Place:
    """Where a value lies: in an arena of the run, at a byte offset, under a shape and type.

    The shape holds expressions over the symbols of the plan, and so does the offset of a part of a
    joined value.
    """

    value: SSAValue
    arena: SSAValue
    start: Dim
    shape: tuple[Dim, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class _Found:
    """Where everything lies: bytes of each arena, places in them, arrays of the weights."""

    sizes: dict[SSAValue, int]
    places: list[Place]
    constants: dict[SSAValue, npt.NDArray[Any]]


class Layout:
    """What all executions of a plan have in common: places, sizes of arenas, weights.

    Args:
        plan: With addresses, checked by `verify_plan`.
        weights: The partition that the arena of weights is an image of; None where each weight
            knows its own bytes.
    """

    def __init__(self, plan: PlanOp, weights: memoryview | None):
        self._weights = weights
        self._found: _Found | None = None
        self._plan = plan
        self.tellers = Tellers.of(plan)

    def allocate(self, sizes: Mapping[str, int] = _NO_SIZES) -> Memory:
        """Returns fresh memory for one execution: zeros, and the weights, which are shared.

        Args:
            sizes: Of the symbols of the plan.

        Raises:
            GEError: The arenas are larger than what lies in them, or than this machine's memory
                (GE0806); a weight's file is gone.
        """
        # Several threads may be at this at once: each finds the same.
        reserved = arena_sizes(self._plan) if self._found is None else self._found.sizes
        try:
            if (found := self._found) is None:
                found = self._found = self._look_up(reserved)
            arenas = {arena: np.zeros(size, np.uint8) for arena, size in reserved.items()}
            late = self.tellers.names
            memory = Memory(arenas, tellers=self.tellers, sizes=dict(sizes))
            if late:
                memory.late = {
                    at.value: at
                    for at in found.places
                    if any(name in late for dim in at.shape for name in symbols_of(dim))
                }
            for at in found.places:
                if at.value in memory.late:
                    continue
                shape = [evaluate(dim, sizes) for dim in at.shape]
                array = np.ndarray(shape, at.dtype, arenas[at.arena], evaluate(at.start, sizes))
                memory.add(at.value, array)
            for value, array in found.constants.items():
                memory.add(value, array)
        except (MemoryError, ValueError) as error:
            raise _too_large(sum(reserved.values())) from error
        return memory

    def _look_up(self, sizes: dict[SSAValue, int]) -> _Found:
        places: list[Place] = []
        constants: dict[SSAValue, npt.NDArray[Any]] = {}
        for op in self._plan.body.block.ops:
            if not isinstance(op, PlacedOp | ViewOp) or not is_buffer(op.result.type):
                continue
            base, inner = base_of(op.result)
            shape, dtype = array_layout(op.result.type)
            if isinstance(base, WeightOp):
                data = self._weight_bytes(base)
                constants[op.result] = np.ndarray(
                    [dim for dim in shape if isinstance(dim, int)], dtype, data, inner
                )
            else:
                assert isinstance(base, PlacedOp) and base.arena is not None
                start = (offset_of(base) or 0) + start_of(op.result)
                places.append(Place(op.result, base.arena, start, shape, dtype))
        return _Found(sizes, places, constants)

    def _weight_bytes(self, op: WeightOp) -> memoryview:
        if self._weights is None:
            return op.value.data.weight.view()
        start = offset_of(op) or 0
        if start + op.size > len(self._weights):
            raise GEError(
                "GE0806",
                f"{describe(op)} ends at byte {start + op.size} of {len(self._weights)} bytes"
                " of weights",
            )
        return self._weights[start : start + op.size]


def arena_sizes(plan: PlanOp) -> dict[SSAValue, int]:
    """Returns the bytes of each arena that tasks write to.

    Raises:
        GEError: One is larger than what lies in it, or all together than this machine's memory.
    """
    ends: dict[SSAValue, int] = {}
    for op in (*plan.inputs, *plan.buffers):
        if isinstance(op, InputOp) and op.is_object:
            continue
        assert op.arena is not None
        ends[op.arena] = max(ends.get(op.arena, 0), (offset_of(op) or 0) + op.size)
    for arena, end in ends.items():
        _check_size(arena, end)
    if (total := sum(ends.values())) > physical_memory():
        raise _too_large(total)
    return ends


def _check_size(arena: SSAValue, end: int) -> None:
    op = arena.owner
    assert isinstance(op, ArenaOp)
    size = op.size.value.data
    if size > -(-end // ARENA_GRANULE) * ARENA_GRANULE:
        raise GEError(
            "GE0806",
            f"arena '{op.arena_name.data}' claims {size} bytes, but what lies in it needs {end}",
            hint="compile the model again",
        )


def physical_memory() -> int:
    """Returns the bytes of main memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _too_large(size: int) -> GEError:
    return GEError(
        "GE0806",
        f"the plan needs {size} bytes of memory, this machine has {physical_memory()}",
        hint="compile for a smaller batch or sequence",
    )


def byte_range(value: SSAValue) -> tuple[PlacedOp, int, int]:
    """Returns what owns the bytes of a buffer, and where they start and end in its arena."""
    base, start, end = span_of(value)
    assert isinstance(base, PlacedOp)
    offset = offset_of(base) or 0
    return base, offset + start, offset + end


def copy_value(memory: Memory, source: SSAValue, target: SSAValue) -> None:
    """Copies the bytes of one buffer to another of the same size, or what an object holds.

    Raises:
        GEError: An object holds something else than the buffer that it is copied to (GE0809).
    """
    content = memory.read(source)
    if memory.is_object(target):
        memory.store(target, content if memory.is_object(source) else content.copy())
    elif memory.is_object(source):
        copy_array(content, memory.target(target), describe(base_of(source)[0]))
    else:
        destination = memory.target(target)
        np.copyto(destination.reshape(-1).view(np.uint8), content.reshape(-1).view(np.uint8))


def store_slice(memory: Memory, source: SSAValue, target: SSAValue, index: int) -> None:
    """Puts a value into another one as a slice along dimension 0.

    Raises:
        GEError: There is no such slice, or it is of another shape (GE0809).
    """
    content = np.asarray(memory.read(source))
    if memory.is_object(target):
        slices = memory.objects.get(target)
        if index == 0 or not isinstance(slices, Slices):
            slices = Slices([])
            memory.store(target, slices)
        slices.parts.append(content.copy())
        return
    array = memory.target(target)
    if index >= len(array):
        what = f"slice {index} of {describe(base_of(target)[0])}, which has {len(array)}"
        raise GEError("GE0809", f"the loop runs longer than planned: there is no {what}")
    copy_array(content, array[index : index + 1].reshape(array.shape[1:]), f"slice {index}")


def copy_array(content: Any, target: npt.NDArray[Any], what: str) -> None:
    """Copies an array, checked to be as the target is.

    Raises:
        GEError: It is of another shape or type (GE0809).
    """
    array = np.asarray(content)
    if array.shape != target.shape or array.dtype != target.dtype:
        raise GEError(
            "GE0809",
            f"{what}: expected {array_type(target.shape, target.dtype)},"
            f" got {array_type(array.shape, array.dtype)}",
            hint="the plan was made for other sizes: compile the model for these inputs",
        )
    np.copyto(target, array)


@dataclass
class Slices:
    """The slices of a scan result so far, joined when somebody reads it."""

    parts: list[npt.NDArray[Any]]

    def stacked(self) -> npt.NDArray[Any]:
        """Returns them as one array.

        Raises:
            GEError: They are of different shapes (GE0809).
        """
        shapes = sorted({part.shape for part in self.parts})
        if len(shapes) > 1:
            raise GEError(
                "GE0809",
                f"a loop's slices have different shapes, {shapes[0]} and {shapes[1]}",
                hint="the model gives no tensor for these inputs",
            )
        return np.stack(self.parts)
