"""Where everything of a plan lies and when: address by time, as plain values.

A moment is a task of the plan, in its order; the tasks inside a branch or loop are moments between
one at which it is entered and one at which it is left (`lifetimes.py`). A buffer's life goes from
its first access to its last; inputs, outputs and weights live for the whole plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import (
    ArenaOp,
    BufferOp,
    InputOp,
    LaunchOp,
    PlanOp,
    WeightOp,
    kernels_by_name,
)
from ge_dialect.ge_exec.control import TaskOp
from ge_dialect.ge_exec.memory import PlacedOp, Storage, base_of, is_buffer, offset_of
from ge_dialect.ge_exec.storage import buffer_element, buffer_shape
from ge_dialect.locations import location_name
from ge_dialect.lowering.dependencies import streams_of, task_graph
from ge_dialect.lowering.memory.lifetimes import Moments, moments


@dataclass(frozen=True)
class Region:
    """Bytes of an arena that are one thing's for a while.

    Attributes:
        name: Of the value, of the input or of the weight.
        kind: `input`, `output`, `weight` or `buffer`.
        arena: Name of the arena.
        tier: Of the arena.
        offset: Bytes from the start of the arena.
        size: Bytes, unpadded.
        begin: The first moment at which it is touched; 0 for what lives for the whole plan.
        end: The moment after the last one.
        type: Element type and shape, as `4x8xf16`.
        nodes: The user's nodes that it comes from.
        op_type: GE's name of the op that writes it first, empty where none does.
        stream: Of the task that writes it first; None where none does.
    """

    name: str
    kind: str
    arena: str
    tier: str
    offset: int
    size: int
    begin: int
    end: int
    type: str
    nodes: str
    op_type: str
    stream: int | None

    @property
    def limit(self) -> int:
        """The first byte behind it."""
        return self.offset + self.size


@dataclass(frozen=True)
class MemoryMap:
    """All regions of a plan.

    Attributes:
        arenas: Bytes of each arena by name.
        moments: What happens at each moment, as text.
        regions: In the order of the plan.
    """

    arenas: dict[str, int]
    moments: Sequence[str]
    regions: Sequence[Region]

    def at(self, arena: str, address: int) -> list[Region]:
        """Returns what lies at a byte of an arena, first to last in time.

        Raises:
            GEError: There is no such arena, or no such byte in it (GE0509).
        """
        if arena not in self.arenas:
            names = ", ".join(self.arenas) or "none"
            raise GEError("GE0509", f"expected an arena among {names}, got '{arena[:60]}'")
        if not 0 <= address < self.arenas[arena]:
            size = self.arenas[arena]
            raise GEError(
                "GE0509",
                f"expected an address below the {size} bytes of '{arena}', got {address}",
            )
        found = [
            one for one in self.regions if one.arena == arena and one.offset <= address < one.limit
        ]
        return sorted(found, key=lambda one: (one.begin, one.end, one.name))


def memory_map(plan: PlanOp) -> MemoryMap:
    """Returns the memory map of a plan with addresses; linear in its accesses."""
    arenas = [op for op in plan.body.block.ops if isinstance(op, ArenaOp)]
    graph = task_graph(plan)
    found = moments(plan, graph)
    streams = dict(zip(graph.tasks, streams_of(plan, graph), strict=True))
    reader = _Reader(plan, found, streams)
    placed: list[PlacedOp] = [*plan.inputs, *plan.weights, *plan.buffers]
    regions = [reader.region(op) for op in placed if op.arena is not None]
    titles = [reader.title(task) for task in found.tasks]
    sizes = {op.arena_name.data: op.size.value.data for op in arenas}
    return MemoryMap(sizes, titles, regions)


class _Reader:
    def __init__(self, plan: PlanOp, found: Moments, streams: dict[TaskOp, int]):
        self.found = found
        self.streams = streams
        self.outputs = {base_of(op.buffer)[0]: op.io_name.data for op in plan.outputs}
        self.kernels = kernels_by_name(plan)

    def region(self, op: PlacedOp) -> Region:
        arena = op.arena.owner if op.arena is not None else None
        assert isinstance(arena, ArenaOp)
        kind, name = self._kind_and_name(op)
        begin, end = 0, len(self.found.tasks)
        writer: TaskOp | None = None
        if isinstance(op, BufferOp):
            written = self.found.writers.get(op, [])
            touched = [*written, *self.found.readers.get(op, [])]
            writer = self.found.tasks[min(written)] if written else None
            if kind == "buffer" and touched:
                begin, end = min(touched), max(touched) + 1
        return Region(
            name,
            kind,
            arena.arena_name.data,
            arena.tier.data.value,
            offset_of(op) or 0,
            op.size,
            begin,
            end,
            _type_text(op.result.type),
            location_name(op) or "",
            self._op_type(writer),
            None if writer is None else self.streams.get(writer),
        )

    def _kind_and_name(self, op: Storage) -> tuple[str, str]:
        if isinstance(op, InputOp):
            return "input", op.io_name.data
        if isinstance(op, WeightOp):
            return "weight", op.value.data.name
        if op in self.outputs:
            return "output", self.outputs[op]
        return "buffer", op.result.name_hint or location_name(op) or "buffer"

    def _op_type(self, task: TaskOp | None) -> str:
        if isinstance(task, LaunchOp):
            return self.kernels[task.kernel.string_value()].op_type.data
        return "" if task is None else task.name.rpartition(".")[2]

    def title(self, task: TaskOp | None) -> str:
        """Returns what happens at a moment."""
        if task is None:
            return "end of a branch or loop"
        return f"{self._op_type(task)} at {location_name(task) or 'an unnamed node'}"


def _type_text(type: Attribute) -> str:
    assert is_buffer(type)
    return "x".join([*map(str, buffer_shape(type)), str(buffer_element(type))])
