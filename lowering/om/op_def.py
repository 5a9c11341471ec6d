"""Ops of a graph as messages: what many have in common is made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ge_dialect.lowering.om.attributes import (
    AttrValue,
    OmTensor,
    OmWeight,
    encode_attribute,
    encode_tensor,
)
from ge_dialect.lowering.om.schema import new, serialise

if TYPE_CHECKING:
    from ge_dialect.lowering.om.model import OmOp

ORIGINAL_NAMES = "_datadump_original_op_names"
"""Attribute of an op: the user's own names of the nodes it was made of."""

DERIVED = ("_input_name_key", "_input_name_value", "_output_name_key", "_output_name_value")
"""Attributes of an op that tell the names of its ports."""

_ABSENT = OmTensor("", "undefined", ())


Readers: TypeAlias = tuple[Sequence[str], Sequence[int]]
"""Names of the ops that read an op, and as which operand."""


class _WeightOp:
    """The message of weights of one type: written again for each of them.

    Attributes:
        message: A `GraphDef` of one op.
    """

    def __init__(self, message: Any):
        self.message = message
        self._op = op = message.op[0]
        self._desc = op.attr["value"].t.desc

    def of(self, op: OmOp, readers: Readers) -> bytes:
        """Returns the bytes for a weight."""
        message, weight = self._op, cast("OmWeight", op.attrs["value"])
        message.name, message.id, self._desc.data_offset = op.name, op.id, weight.offset
        message.dst_name[:], message.dst_index[:] = readers
        return serialise(self.message)


@dataclass
class OpEncoder:
    """Makes the messages of a graph's ops.

    Attributes:
        consts: The names of ops that are constants.
        alike: What ops of one type, on the same descriptors and with the same shared attributes,
            have in common; by the identity of descriptors and attributes.
    """

    consts: set[str]
    alike: dict[tuple[object, ...], Any] = field(default_factory=dict[tuple[object, ...], Any])
    weights: dict[tuple[object, ...], _WeightOp] = field(
        default_factory=dict[tuple[object, ...], "_WeightOp"]
    )
    """Messages of ops that are a weight and nothing else, by what they have in common."""

    def encode(self, op: OmOp, readers: Readers) -> bytes:
        """Returns the bytes of a `GraphDef` of one op.

        Args:
            op: Of the graph.
            readers: Who reads it.
        """
        if (known := self._known_weight(op)) is not None:
            return known.of(op, readers)
        message = new("ge.proto.GraphDef")
        encoded = message.op.add()
        self._fill(encoded, op)
        encoded.dst_name.extend(readers[0])
        encoded.dst_index.extend(readers[1])
        return serialise(message)

    def _known_weight(self, op: OmOp) -> _WeightOp | None:
        """Returns the message of weights that differ from an op in name, place and readers alone;
        None for an op of another kind."""
        weight = op.attrs.get("value") if op.type == "Const" else None
        own = (op.inputs, op.output_offsets, op.workspaces, op.subgraphs, op.source_nodes)
        if not isinstance(weight, OmWeight) or len(op.attrs) > 1 or op.shared or any(own):
            return None
        key = (id(weight.tensor), weight.size, weight.data, op.stream_id, *map(id, op.output_descs))
        if (known := self.weights.get(key)) is None:
            message = new("ge.proto.GraphDef")
            self._fill(message.op.add(), op)
            known = self.weights[key] = _WeightOp(message)
        return known

    def _fill(self, message: Any, op: OmOp) -> None:
        """Fills an `OpDef`, but for who reads the op.

        Args:
            message: Empty.
            op: Of the graph.
        """
        weight = op.attrs.get("value") if op.type == "Const" else None
        if not isinstance(weight, OmWeight):
            message.CopyFrom(self._common(op, None))
            _encode_attributes(message.attr, op.attrs)
        else:
            message.CopyFrom(self._common(op, weight))
            message.attr["value"].t.desc.data_offset = weight.offset
            if len(op.attrs) > 1:
                rest = {name: value for name, value in op.attrs.items() if value is not weight}
                _encode_attributes(message.attr, rest)
        message.name, message.id, message.stream_id = op.name, op.id, op.stream_id
        if op.inputs:
            message.input.extend(op.inputs)
            sources = [source for source, _, _ in op.ends]
            message.src_name.extend(sources)
            message.src_index.extend([int(index or 0) for _, _, index in op.ends])
            message.is_input_const.extend(map(self.consts.__contains__, sources))
        if op.input_offsets:
            message.input_i.extend(op.input_offsets)
        if op.output_offsets:
            message.output_i.extend(op.output_offsets)
        if op.workspaces:
            message.workspace.extend([offset for offset, _ in op.workspaces])
            message.workspace_bytes.extend([size for _, size in op.workspaces])
        if op.subgraphs:
            message.subgraph_name.extend(op.subgraphs)
        if op.source_nodes:
            encode_attribute(message.attr[ORIGINAL_NAMES], [*op.source_nodes])

    def _common(self, op: OmOp, weight: OmWeight | None) -> Any:
        """Returns what an op has in common with others.

        Args:
            op: Of the graph.
            weight: What it holds, of which only the place is its own.
        """
        shared = id(op.shared) if op.shared else None
        held = None if weight is None else (weight.size, weight.data)
        key = (op.type, shared, held, *map(id, op.input_descs), None, *map(id, op.output_descs))
        if (known := self.alike.get(key)) is not None:
            return known
        message = self.alike[key] = new("ge.proto.OpDef")
        message.type = op.type
        for desc in op.input_descs:
            encode_tensor(message.input_desc.add(), desc or _ABSENT, is_input=True)
        for desc in op.output_descs:
            encode_tensor(message.output_desc.add(), desc, is_input=False)
        inputs = tuple([desc.name if desc else "" for desc in op.input_descs])
        outputs = tuple([desc.name for desc in op.output_descs])
        message.input_name.extend(inputs)
        for name, attribute in (*_ports("input", inputs), *_ports("output", outputs)):
            message.attr[name].CopyFrom(attribute)
        _encode_attributes(message.attr, op.shared)
        if weight is not None:
            encode_attribute(message.attr["value"], weight)
        return message


def _encode_attributes(message: Any, attrs: Mapping[str, AttrValue]) -> None:
    for name, value in attrs.items():
        if name not in DERIVED or name not in message:  # those tell the ports there are
            encode_attribute(message[name], value)


def _ports(kind: str, names: Sequence[str]) -> Sequence[tuple[str, Any]]:
    """Returns the attributes that tell other readers the names of ports, as messages.

    Args:
        kind: `input` or `output`.
        names: One a port; "" where it has none.
    """
    ports = [(name, index) for index, name in enumerate(names) if name]
    if not ports:
        return ()
    key, value = new("ge.proto.AttrDef"), new("ge.proto.AttrDef")
    encode_attribute(key, [name for name, _ in ports])
    encode_attribute(value, [index for _, index in ports])
    return (f"_{kind}_name_key", key), (f"_{kind}_name_value", value)
