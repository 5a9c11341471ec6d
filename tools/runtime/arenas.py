"""Arenas as byte arrays, and every buffer of a plan as an array at its planned address."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import ArenaOp, BufferOp, InputOp, PlanOp, ViewOp, WeightOp
from ge_dialect.ge_exec.memory import PlacedOp, base_of, buffer_bytes, offset_of
from ge_dialect.lowering.verify_plan import describe
from ge_dialect.tools.runtime.ports import array_layout

POISON = 0xFF
"""Repeated: a NaN in floats of 16 bits or more, -1 in signed integers, far out in unsigned ones."""

POISON_STRING = "poisoned"
ARENA_GRANULE = 4096
"""In bytes; an arena may be this much rounded up beyond what lies in it."""


@dataclass
class Memory:
    """The bytes of one execution.

    A value's array lies at the planned address. Strings have no bytes in a plan: their arrays hold
    Python objects and stand beside the arenas.
    """

    arenas: dict[SSAValue, npt.NDArray[np.uint8]]
    weights: memoryview | None
    writable: dict[SSAValue, npt.NDArray[Any]] = field(
        default_factory=dict[SSAValue, npt.NDArray[Any]]
    )
    readable: dict[SSAValue, npt.NDArray[Any]] = field(
        default_factory=dict[SSAValue, npt.NDArray[Any]]
    )

    def add(self, value: SSAValue) -> None:
        """Makes the arrays of a value whose base has some already, or is its own base."""
        base, inner = base_of(value)
        shape, dtype = array_layout(value.type)
        if dtype.kind == "O":
            array = self._strings(value, base, shape)
        elif isinstance(base, WeightOp):
            array = np.ndarray(shape, dtype, self._weight_bytes(base), inner)
        else:
            assert base.arena is not None
            start = (offset_of(base) or 0) + inner
            array = np.ndarray(shape, dtype, self.arenas[base.arena], start)
        self.writable[value] = array
        self.readable[value] = array.view()
        self.readable[value].flags.writeable = False

    def _strings(self, value: SSAValue, base: PlacedOp, shape: tuple[int, ...]) -> Any:
        if value is base.result:
            return np.full(shape, "", object)
        source = self.writable[base.result]
        if source.size != prod(shape):
            raise GEError("GE0806", f"a view of {describe(base)} has another number of strings")
        return source.reshape(shape)

    def _weight_bytes(self, op: WeightOp) -> memoryview:
        if self.weights is None:
            return op.value.data.weight.view()
        start = offset_of(op) or 0
        if start + op.size > len(self.weights):
            raise GEError(
                "GE0806",
                f"{describe(op)} ends at byte {start + op.size} of {len(self.weights)} bytes"
                " of weights",
            )
        return self.weights[start : start + op.size]

    def poison_all(self) -> None:
        """Fills everything but weights with poison."""
        for arena in self.arenas.values():
            arena.fill(POISON)
        for value, array in self.writable.items():
            if array.dtype.kind == "O" and isinstance(value.owner, BufferOp | InputOp):
                array.fill(POISON_STRING)

    def poison(self, op: BufferOp, spare: list[tuple[int, int]]) -> None:
        """Fills the bytes of a buffer with poison.

        Args:
            op: A buffer that nobody reads any more.
            spare: Ranges of bytes of its arena that hold something else by now.
        """
        if self.writable[op.result].dtype.kind == "O":
            self.writable[op.result].fill(POISON_STRING)
            return
        assert op.arena is not None
        start = offset_of(op) or 0
        end = start + op.size
        arena = self.arenas[op.arena]
        for low, high in sorted(spare):
            arena[start : max(start, min(low, end))] = POISON
            start = max(start, high)
        arena[start : max(start, end)] = POISON


def allocate(plan: PlanOp, weights: memoryview | None) -> Memory:
    """Returns fresh memory for a plan: zeros, and the weights where they are mapped.

    Args:
        plan: With addresses, checked by `verify_plan`.
        weights: The partition that the arena of weights is an image of; None where each weight
            knows its own bytes.

    Raises:
        GEError: The arenas are larger than what lies in them, or than this machine's memory
            (GE0806); a weight's file is gone.
    """
    sizes = arena_sizes(plan)
    try:
        memory = Memory({arena: np.zeros(size, np.uint8) for arena, size in sizes.items()}, weights)
        for op in plan.body.block.ops:
            if isinstance(op, PlacedOp | ViewOp):
                memory.add(op.result)
    except (MemoryError, ValueError) as error:
        raise _too_large(sum(sizes.values())) from error
    return memory


def arena_sizes(plan: PlanOp) -> dict[SSAValue, int]:
    """Returns the bytes of each arena that tasks write to.

    Raises:
        GEError: One is larger than what lies in it, or all together than this machine's memory.
    """
    ends: dict[SSAValue, int] = {}
    strings = 0
    for op in (*plan.inputs, *plan.buffers):
        assert op.arena is not None
        ends[op.arena] = max(ends.get(op.arena, 0), (offset_of(op) or 0) + op.size)
        shape, dtype = array_layout(op.result.type)
        if dtype.kind == "O":
            strings += prod(shape) * dtype.itemsize
    for arena, end in ends.items():
        _check_size(arena, end)
    if (total := sum(ends.values()) + strings) > physical_memory():
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
    """Returns what owns the bytes of a value, and where they start and end in its arena."""
    base, inner = base_of(value)
    start = (offset_of(base) or 0) + inner
    return base, start, start + buffer_bytes(value.type)


def copy_bytes(memory: Memory, source: SSAValue, target: SSAValue) -> None:
    """Copies the bytes of one value to another of the same size."""
    array, destination = memory.readable[source], memory.writable[target]
    if array.dtype.kind == "O" or destination.dtype.kind == "O":
        np.copyto(destination, array.reshape(destination.shape))
    else:
        np.copyto(destination.reshape(-1).view(np.uint8), array.reshape(-1).view(np.uint8))
