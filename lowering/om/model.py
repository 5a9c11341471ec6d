"""The graph of a model as values without any IR, and MODEL_DEF made of it.

What a viewer needs is checked before anything is encoded (`check_graph`): a file that Netron
refuses to open is never written. Source: Netron's reader of the format, and GE's Apache-licensed
`model_serialize.cc` for the helper attributes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ge_dialect.lowering.om.attributes import (
    AttrValue,
    OmTensor,
    OmWeight,
    decode_attribute,
    decode_tensor,
    encode_attribute,
)
from ge_dialect.lowering.om.op_def import DERIVED, ORIGINAL_NAMES, OpEncoder
from ge_dialect.lowering.om.schema import embedded, new, parse, serialise
from ge_dialect.lowering.om.tasks import OmTask, TaskInfo, encode_tasks

_VIEWER_NAMES = ("device", "original_op_names", "relu_flag")
_SIZES = ("memory_size", "weight_size", "stream_num", "event_num", "label_num")
_GRAPHS = 7
"""Number of the field of `ModelDef` that holds its graphs."""


@dataclass
class OmOp:
    """One op.

    Attributes:
        name: Unique in its graph.
        type: GE's name of the op type, `MatMulV2`.
        inputs: `source:index` of each operand, "" for an absent one; then `source:-1` of each op
            that must come before.
        input_descs: One an operand, equal to the source's result in element type and number of
            elements; None for an absent one.
        output_descs: One a result.
        attrs: By name. A `Const` has its `OmWeight` as `value`.
        shared: More attributes, one object for all ops that have them; encoded once.
        id: Position in the order of execution.
        stream_id: -1 for none.
        input_offsets: Of the operands in the arena, in bytes.
        output_offsets: Of the results in the arena, in bytes.
        workspaces: Offset and size of each workspace, in bytes.
        source_nodes: The user's own names of the nodes it was made of.
        subgraphs: Names of the graphs it runs.
    """

    name: str
    type: str
    inputs: tuple[str, ...] = ()
    input_descs: tuple[OmTensor | None, ...] = ()
    output_descs: tuple[OmTensor, ...] = ()
    attrs: Mapping[str, AttrValue] = field(default_factory=dict[str, AttrValue])
    id: int = 0
    stream_id: int = 0
    input_offsets: tuple[int, ...] = ()
    output_offsets: tuple[int, ...] = ()
    workspaces: tuple[tuple[int, int], ...] = ()
    source_nodes: tuple[str, ...] = ()
    subgraphs: tuple[str, ...] = ()
    shared: Mapping[str, AttrValue] = field(default_factory=dict[str, AttrValue])

    @cached_property
    def ends(self) -> Sequence[tuple[str, str, str]]:
        """Of each input the op, a colon and the number of its result; all "" of an absent one."""
        return [name.rpartition(":") for name in self.inputs]


@dataclass(frozen=True)
class OmGraph:
    """A graph: `Data` ops are its inputs, the `NetOutput` op, the last one, its outputs."""

    name: str
    ops: tuple[OmOp, ...]


@dataclass(frozen=True)
class OmModel:
    """What MODEL_DEF and TASK_INFO hold.

    Attributes:
        name: Of the model.
        graphs: The root first, then those that its ops run.
        tasks: In launch order.
        memory_size: Bytes of the arena.
        weight_size: Bytes of WEIGHTS_DATA.
        stream_num: How many streams there are.
        event_num: How many events there are.
        label_num: How many labels there are.
        attrs: Further attributes, such as `soc_version` and `atc_cmdline`.
    """

    name: str
    graphs: tuple[OmGraph, ...]
    tasks: tuple[OmTask, ...] = ()
    memory_size: int = 0
    weight_size: int = 0
    stream_num: int = 1
    event_num: int = 0
    label_num: int = 0
    attrs: Mapping[str, AttrValue] = field(default_factory=dict[str, AttrValue])


def const_op(
    name: str, weight: OmWeight, *, op_id: int = 0, source_nodes: tuple[str, ...] = ()
) -> OmOp:
    """Returns the `Const` op of a weight; it runs on no stream."""
    return OmOp(
        name=name,
        type="Const",
        output_descs=(weight.tensor,),
        attrs={"value": weight},
        id=op_id,
        stream_id=-1,
        source_nodes=source_nodes,
    )


def check_graph(graph: OmGraph, weight_size: int) -> Iterator[str]:
    """Yields what is wrong with a graph: what viewers refuse, and weights out of bounds."""
    ops = {op.name: op for op in graph.ops}
    if len(ops) != len(graph.ops) or "" in ops:
        yield f"expected ops of graph '{graph.name}' to have names of their own"
    for op in graph.ops:
        if op.inputs or op.input_descs:
            yield from _check_operands(op, ops)
        for name in _VIEWER_NAMES:
            if name in op.attrs or name in op.shared:
                yield f"expected '{op.name}' to have no attribute '{name}': viewers need that name"
        if op.type == "Const":
            yield from _check_const(op, weight_size)


def _check_operands(op: OmOp, ops: Mapping[str, OmOp]) -> Iterator[str]:
    is_control = [index == "-1" for _, _, index in op.ends]
    if is_control != sorted(is_control):
        yield f"expected control inputs of '{op.name}' after its operands"
    count = is_control.count(False)
    if count != len(op.input_descs):
        yield f"expected {count} input_descs in '{op.name}', got {len(op.input_descs)}"
        return
    for name, end, desc in zip(op.inputs, op.ends, op.input_descs, strict=False):
        if name and (problem := _operand_problem(end, desc, ops)):
            yield f"operand '{name}' of '{op.name}': {problem}"
    for name, (source, _, _) in zip(op.inputs[count:], op.ends[count:], strict=True):
        if source not in ops:
            yield f"control input '{name}' of '{op.name}': there is no such op"


def _operand_problem(
    end: tuple[str, str, str], desc: OmTensor | None, ops: Mapping[str, OmOp]
) -> str | None:
    source, _, index = end
    results = ops[source].output_descs if source in ops else ()
    if not index.isdecimal() or (number := int(index)) >= len(results):
        return "there is no such result"
    result = results[number]
    if desc is None or desc.dtype != result.dtype:
        return f"expected {result.dtype}, got {None if desc is None else desc.dtype}"
    if desc.shape != result.shape and (desc.elements is None or desc.elements != result.elements):
        return f"expected shape {result.shape}, got {desc.shape}"
    return None


def _check_const(op: OmOp, weight_size: int) -> Iterator[str]:
    value = op.attrs.get("value")
    if not isinstance(value, OmWeight):
        yield f"expected 'value' of '{op.name}' to be a weight"
    elif op.output_descs != (value.tensor,):
        yield f"expected '{op.name}' to have its 'value' as its result"
    elif not value.data and (value.offset < 0 or value.offset + value.size > weight_size):
        yield (
            f"'{op.name}' takes bytes {value.offset} to {value.offset + value.size}"
            f" of the weights, expected at most {weight_size}"
        )


def encode_model_def(model: OmModel) -> bytes:
    """Returns the bytes of a `ge.proto.ModelDef`, the same for equal models.

    Raises:
        ValueError: The model breaks a rule of `check_graph`, with all that is wrong.
    """
    problems = [
        problem for graph in model.graphs for problem in check_graph(graph, model.weight_size)
    ]
    if problems:
        raise ValueError("; ".join(problems))
    head, tail = new("ge.proto.ModelDef"), new("ge.proto.ModelDef")
    head.name, head.version = model.name, 1
    sizes = {name: getattr(model, name) for name in _SIZES}
    for name, value in {**model.attrs, **sizes}.items():
        encode_attribute(tail.attr[name], value)
    pieces = [serialise(head)]
    for graph in model.graphs:
        ops = _encode_graph(graph)
        pieces += [embedded(_GRAPHS, sum(map(len, ops))), *ops]
    return b"".join([*pieces, serialise(tail)])


def encode_task_info(model: OmModel) -> bytes:
    """Returns the bytes of a `domi.ModelTaskDef`; never empty.

    Raises:
        ValueError: As `encode_tasks`.
    """
    return encode_tasks(
        TaskInfo(
            model.tasks,
            model.memory_size,
            model.weight_size,
            model.stream_num,
            model.event_num,
        )
    )


def decode_model_def(data: bytes | memoryview) -> OmModel:
    """Returns the model in a MODEL_DEF partition, without its tasks.

    Attributes of kinds that have no value in Python are left out.

    Raises:
        GEError: GE0611, where it is no such message.
    """
    message = parse("ge.proto.ModelDef", data)
    attrs = _decode_attributes(message.attr)
    sizes = [attrs.pop(name, 0) for name in _SIZES]
    memory, weights, streams, events, labels = (
        size if isinstance(size, int) else 0 for size in sizes
    )
    graphs = tuple(_decode_graph(graph) for graph in message.graph)
    return OmModel(message.name, graphs, (), memory, weights, streams, events, labels, attrs)


def _encode_graph(graph: OmGraph) -> list[bytes]:
    """Returns the bytes of a `GraphDef` in pieces.

    Each op is a message of its own, gone when the next one is made: all of them together in one
    take several times the memory of their bytes. Messages one behind the other are one message.
    """
    head = new("ge.proto.GraphDef")
    head.name = graph.name
    readers = _readers(graph)
    encoder = OpEncoder({op.name for op in graph.ops if op.type == "Const"})
    pieces: list[bytes] = []
    for op in graph.ops:
        pieces.append(encoder.encode(op, readers[op.name]))
        if op.type == "Data":
            head.input.append(f"{op.name}:0")
        elif op.type == "NetOutput":
            head.output.extend(op.inputs)
    return [serialise(head), *pieces]


def _readers(graph: OmGraph) -> dict[str, tuple[list[str], list[int]]]:
    """Returns for each op who reads it, and as which operand (-1: it only comes later)."""
    readers: dict[str, tuple[list[str], list[int]]] = {op.name: ([], []) for op in graph.ops}
    readers[""] = [], []  # of absent operands
    for op in [op for op in graph.ops if op.inputs]:
        for position, (source, _, index) in enumerate(op.ends):
            names, indices = readers[source]
            names.append(op.name)
            indices.append(-1 if index == "-1" else position)
    return readers


def _decode_graph(message: Any) -> OmGraph:
    return OmGraph(message.name, tuple(_decode_op(op) for op in message.op))


def _decode_op(message: Any) -> OmOp:
    attrs = _decode_attributes(message.attr)
    names = attrs.pop(ORIGINAL_NAMES, ())
    for name in DERIVED:
        attrs.pop(name, None)
    inputs = tuple(message.input)
    absent = [index for index, name in enumerate(inputs) if not name]
    return OmOp(
        name=message.name,
        type=message.type,
        inputs=inputs,
        input_descs=tuple(
            None if index in absent else decode_tensor(desc)
            for index, desc in enumerate(message.input_desc)
        ),
        output_descs=tuple(decode_tensor(desc) for desc in message.output_desc),
        attrs=attrs,
        id=message.id,
        stream_id=message.stream_id,
        input_offsets=tuple(message.input_i),
        output_offsets=tuple(message.output_i),
        workspaces=tuple(zip(message.workspace, message.workspace_bytes, strict=False)),
        source_nodes=_texts(names),
        subgraphs=tuple(message.subgraph_name),
    )


def _texts(value: AttrValue) -> tuple[str, ...]:
    """Returns the texts among the names of source nodes: a damaged file may hold anything."""
    if isinstance(value, tuple):
        return tuple(text for text in value if isinstance(text, str))
    return ()


def _decode_attributes(message: Any) -> dict[str, AttrValue]:
    """Returns the attributes by name, in the order of their names."""
    decoded = {name: decode_attribute(message[name]) for name in sorted(message)}
    return {name: value for name, value in decoded.items() if value is not None}
