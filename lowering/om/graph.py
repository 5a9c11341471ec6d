"""The graph that viewers show: one op a task, with stream, addresses and provenance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.access import ops_of
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge_exec import (
    ArenaOp,
    BranchOp,
    CopyOp,
    InputOp,
    KernelOp,
    LaunchOp,
    LoopOp,
    PlanOp,
    RecordOp,
    StoreOp,
    StreamOp,
    WeightOp,
    kernels_by_name,
)
from ge_dialect.ge_exec.control import TaskOp, flatten, own_reads, own_writes, task_id
from ge_dialect.ge_exec.memory import Storage, buffer_bytes
from ge_dialect.ge_exec.tiling import Tiling
from ge_dialect.locations import location_names
from ge_dialect.lowering.om.attributes import AttrValue, OmTensor, OmWeight
from ge_dialect.lowering.om.descriptors import Descriptors
from ge_dialect.lowering.om.model import OmGraph, OmModel, OmOp, const_op
from ge_dialect.lowering.om.places import Place, Places
from ge_dialect.lowering.om.task_list import TaskList
from ge_dialect.lowering.size_texts import size_attrs

_KINDS: Mapping[type[Operation], str] = {
    CopyOp: "MemcpyAsync",
    StoreOp: "MemcpyAsync",
    BranchOp: "If",
    LoopOp: "While",
}

Source = tuple[str, OmTensor]
"""Who holds a buffer's value, as `name:index`, and what it is."""


class Written(NamedTuple):
    """Bytes of a buffer, from `start` to `end`, and who wrote them.

    `moves`: whether they are somewhere in between, where the sizes of a run say.
    """

    start: int
    end: int
    source: Source
    moves: bool = False


def om_model(plan: PlanOp, name: str, weight_size: int, soc: str | None = None) -> OmModel:
    """Returns what MODEL_DEF and TASK_INFO hold of a plan.

    Args:
        plan: With addresses and streams.
        name: Of the model.
        weight_size: Bytes of WEIGHTS_DATA.
        soc: Name of the target, where it is known.
    """
    streams = plan.streams
    builder = GraphBuilder(plan)
    ops = builder.build(streams)
    sizes = {op.arena_name.data: op.size.value.data for op in _arenas(plan)}
    events = {
        op.event.value.data
        for stream in streams
        for op in ops_of(stream.body.block)
        if isinstance(op, RecordOp)
    }
    work = sum(size for arena, size in sizes.items() if arena != "weights")
    tasks = TaskList(builder.ids, work, builder.places)
    return OmModel(
        name=name,
        graphs=(OmGraph(name, tuple(ops)),),
        tasks=tuple(tasks.of(streams)),
        memory_size=work,
        weight_size=weight_size,
        stream_num=max(1, len(streams)),
        event_num=len(events),
        label_num=tasks.labels,
        attrs={
            "attr_model_out_nodes_name": [op.io_name.data for op in plan.outputs],
            **({} if soc is None else {"soc_version": soc}),
        },
    )


def _arenas(plan: PlanOp) -> list[ArenaOp]:
    return plan.of_kind(ArenaOp)


@dataclass
class GraphBuilder:
    """The root graph of a plan."""

    plan: PlanOp
    sources: dict[Storage, list[Written]] = field(
        default_factory=lambda: defaultdict[Storage, list[Written]](list)
    )
    names: dict[str, int] = field(default_factory=dict[str, int])
    ids: dict[int, int] = field(default_factory=dict[int, int])
    ops: list[OmOp] = field(default_factory=list[OmOp])
    shown: dict[KernelOp, dict[str, AttrValue]] = field(
        default_factory=dict[KernelOp, dict[str, AttrValue]]
    )
    descs: Descriptors = field(default_factory=Descriptors)
    places: Places = field(default_factory=Places)

    def __post_init__(self) -> None:
        self.kernels = kernels_by_name(self.plan)
        symbols = self.plan.symbols
        self.has_symbols = bool(symbols)
        self.tells = any(not op.is_early for op in symbols)

    def build(self, streams: Sequence[StreamOp]) -> list[OmOp]:
        """Returns `Data`, `Const`, one op a task in order, and `NetOutput`.

        The tasks inside a branch or loop follow it, as GE lays out control flow on one stream.

        Args:
            streams: Of the plan.
        """
        for index, op in enumerate(self.plan.inputs):
            self._data(index, op)
        for op in self.plan.weights:
            self._const(op)
        tasks = [
            (task_id(op), op, stream.id.value.data)
            for stream in streams
            for op in ops_of(stream.body.block)
            if isinstance(op, TaskOp)
        ]
        for _, task, stream in sorted(tasks, key=itemgetter(0)):
            for inner in flatten(task):
                self._task(inner, stream)
        self._net_output()
        return self.ops

    def _data(self, index: int, op: InputOp) -> None:
        name = self._unique(op.io_name.data)
        desc = self.descs.of(op.result.type, "y")
        place = self.places.of(op.result)
        self._write(place, (f"{name}:0", desc))
        self._add(
            OmOp(
                name,
                "Data",
                output_descs=(desc,),
                attrs={
                    "index": index,
                    **(size_attrs(self.plan, [op.result]) if self.has_symbols else {}),
                },
                stream_id=-1,
                output_offsets=(place.address,),
            )
        )

    def _const(self, op: WeightOp) -> None:
        held: Any = op.properties["value"]
        (value,) = op.results
        name = self._unique(held.data.name)
        desc, place = self.descs.of(value.type, "y"), self.places.of(value)
        self.sources[op] = [Written(0, place.end, (f"{name}:0", desc))]
        self._add(const_op(name, OmWeight(desc, place.address, place.end)))

    def _task(self, task: TaskOp, stream: int) -> None:
        nodes = location_names(task)
        kernel = self.kernel_of(task)
        kind = _KINDS[type(task)] if kernel is None else kernel.op_type.data
        number, reads, writes = task_id(task), own_reads(task), own_writes(task)
        read_from, written_to = self.places.all(reads), self.places.all(writes)
        read_at = tuple([place.address for place in read_from])
        written_at = tuple([place.address for place in written_to])
        inputs = [self._source(*each) for each in zip(reads, read_from, strict=True)]
        outputs = self.descs.of_results([value.type for value in writes])
        name = self._unique(nodes[-1] if nodes else f"{kind}_{number}")
        self.ids[number] = len(self.ops)
        self._add(
            OmOp(
                name,
                kind,
                inputs=tuple([source for source, _ in inputs]),
                input_descs=self.descs.of_operands([desc for _, desc in inputs]),
                output_descs=outputs,
                shared=self._task_attrs(task, kernel),
                attrs={
                    # Viewers show attributes, and none of the fields below.
                    "stream": stream,
                    "task": number,
                    "input_addresses": read_at,
                    "output_addresses": written_at,
                    **(size_attrs(self.plan, writes) if self.tells else {}),
                },
                stream_id=stream,
                input_offsets=read_at,
                output_offsets=written_at,
                source_nodes=nodes,
            )
        )
        for index, (place, desc) in enumerate(zip(written_to, outputs, strict=True)):
            self._write(place, (f"{name}:{index}", desc))

    def _task_attrs(self, task: TaskOp, kernel: KernelOp | None) -> Mapping[str, AttrValue]:
        """Returns `task_attrs`, made once for all tasks of a kernel."""
        if kernel is None:
            return task_attrs(task, None)
        if (known := self.shown.get(kernel)) is None:
            known = self.shown[kernel] = task_attrs(task, kernel)
        return known

    def kernel_of(self, task: TaskOp) -> KernelOp | None:
        """Returns the kernel that a task runs; a copy runs none.

        Raises:
            GEError: There is none of that name.
        """
        if not isinstance(task, LaunchOp):
            return None
        name = task.kernel.string_value()
        if (kernel := self.kernels.get(name)) is None:
            raise GEError(
                "GE0807", f"task {task_id(task)} @{name}: there is no kernel of that name"
            )
        return kernel

    def _write(self, place: Place, source: Source) -> None:
        """Notes who wrote some bytes last."""
        base, start, end, moves, _ = place
        kept = [one for one in self.sources[base] if moves or one.start < start or one.end > end]
        self.sources[base] = [*kept, Written(start, end, source, moves)]

    def _source(self, value: SSAValue, place: Place) -> Source:
        """Returns who holds a value; of one that several tasks wrote a part of, a `ConcatD` that
        runs no task, as GE has it."""
        base, start, end, _, _ = place
        written = self.sources[base]
        if (last := written[-1]).start <= start and last.end >= end and not last.moves:
            return last.source
        parts = [one for one in written if one.start < end and one.end > start]
        if len(parts) <= 1:
            return parts[0].source if parts else last.source
        return self._join(value, place, sorted(parts, key=lambda one: (one.start, one.end)))

    def _join(self, value: SSAValue, place: Place, parts: Sequence[Written]) -> Source:
        name = self._unique(value.name_hint or "concat")
        desc = self.descs.of(value.type, "y")
        flags = ("_no_task", "_no_padding_continuous_input", "_output_reuse_input")
        self._add(
            OmOp(
                name,
                "ConcatD",
                inputs=tuple(part.source[0] for part in parts),
                input_descs=tuple(part.source[1] for part in parts),
                output_descs=(desc,),
                attrs=dict.fromkeys(flags, True),
                stream_id=-1,
                output_offsets=(place.address,),
            )
        )
        source = (f"{name}:0", desc)
        self._write(place, source)
        return source

    def _net_output(self) -> None:
        outputs = [(op.buffer, self.places.of(op.buffer)) for op in self.plan.outputs]
        found = [self._source(*each) for each in outputs]
        self._add(
            OmOp(
                self._unique("NetOutput"),
                "NetOutput",
                inputs=tuple(source for source, _ in found),
                input_descs=tuple(desc for _, desc in found),
                stream_id=-1,
                input_offsets=tuple(place.address for _, place in outputs),
            )
        )

    def _add(self, op: OmOp) -> None:
        op.id = len(self.ops)
        self.ops.append(op)

    def _unique(self, name: str) -> str:
        # `:` separates name and index in an edge, so it cannot be part of a name.
        name = name.replace(":", "_") or "_"
        if (count := self.names.get(name)) is None:
            self.names[name] = 1
            return name
        self.names[name] = count + 1
        return self._unique(f"{name}_{count}")


def task_attrs(task: TaskOp, kernel: KernelOp | None) -> dict[str, AttrValue]:
    """Returns what a viewer shows of a task: kernel, engine, and the attributes of its ops."""
    if kernel is None:
        return {"bytes": sum(buffer_bytes(value.type) for value in own_reads(task))}
    attrs: dict[str, AttrValue] = {
        "kernel": kernel.sym_name.data,
        "engine": kernel.engine.data,
        "flops": kernel.flops.value.data,
        "tier": "hbm",
    }
    if kernel.tiling is not None:
        attrs |= tile_attrs(kernel.tiling)
    inner = [
        op
        for op in kernel.body.block.ops
        if isinstance(op, GEOp) and not isinstance(op, ConstantOp)
    ]
    if len(inner) == 1:
        return attrs | dict(op_attrs(inner[0]))
    attrs["fused_ops"] = tuple([op.ge_op_type() for op in inner])
    return attrs


def tile_attrs(tiling: Tiling) -> dict[str, AttrValue]:
    """Returns what a viewer shows of tiles: how many, and where the values lie on the chip."""
    loops = tuple([f"{loop.extent} by {loop.tile}" for loop in tiling.outer])
    return {
        "tiles": tiling.tiles,
        **({"tile_loops": loops} if loops else {}),
        "on_chip": tuple([str(buffer) for buffer in tiling.buffers]),
    }


def op_attrs(op: Operation) -> Iterator[tuple[str, AttrValue]]:
    """Yields the properties of an op that are numbers, texts or lists of them."""
    for name, attr in sorted(op.properties.items()):
        if name in ("operandSegmentSizes", "resultSegmentSizes"):
            continue
        if (value := attr_value(attr)) is not None:
            yield name, value


def attr_value(attr: Attribute) -> AttrValue | None:
    """Returns a property as a value of `.om`, or None for one that has no such form."""
    match attr:
        case UnitAttr():
            return True
        case IntegerAttr():
            return attr.value.data
        case FloatAttr():
            return attr.value.data
        case StringAttr():
            return attr.data
        case DenseArrayBase():
            return tuple(cast("DenseArrayBase[IntegerType]", attr).get_values())
        case _:
            return None
