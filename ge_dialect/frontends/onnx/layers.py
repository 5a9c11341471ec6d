"""Repeated layers of a graph, found among its nodes: their ops are made for some of them only.

What a node becomes follows from its operator, its attributes, the types of its operands and the
values of those that are constant (see `replay.py`). So nodes that are wired alike become ops that
are, where what one layer hands to the next are floats, whose types are all that is known of them;
whoever looks into a weight of a layer is noted.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, repeat

import onnx
from xdsl.dialects.builtin import LocationAttr, ModuleOp, NameLoc
from xdsl.ir import Operation, SSAValue

from ge_dialect.frontends.onnx.load import LoadedModel
from ge_dialect.frontends.onnx.rows import NodeKind, NodeRow, kinds_of
from ge_dialect.frontends.onnx.validate import domain_of
from ge_dialect.frontends.onnx.values import Tensors, identifier
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.locations import name_location
from ge_dialect.repeats import Items, Outside, Place, Repeats, find_repeats


@dataclass
class Layers:
    """The nodes of a graph, and the equal layers in it.

    Attributes:
        loaded: The model.
        repeats: The layers; their items are nodes.
        items: All nodes but constants.
        nodes: For each item its node.
        positions: For each node of the graph which item it is; None for a constant.
        names: For each value that a node makes its name.
        numbers: The values by name.
        outside: The names of the values that no node makes.
        parameters: The weights and inputs of each layer, by name.
    """

    loaded: LoadedModel
    repeats: Repeats
    items: Items
    nodes: Sequence[NodeRow]
    positions: Sequence[int | None]
    names: Sequence[str]
    numbers: Mapping[str, int]
    outside: Sequence[str]
    parameters: dict[str, Place]

    @property
    def skipped_items(self) -> range:
        """The items of the layers that are left out."""
        skipped = self.repeats.skipped
        return range(*(self.repeats.items_of(at).start for at in (skipped.start, skipped.stop)))

    def place(self, name: str) -> Place | None:
        """Returns which node of which layer makes a value; None where none does."""
        number = self.numbers.get(name, -1)
        return None if number < 0 else self.repeats.place(self.items.makers[number])

    def layer_of(self, name: str) -> int:
        """Returns the layer that makes a value: the first or the last where it is made before the
        layers or behind them."""
        number = self.numbers.get(name, -1)
        offset = -1 if number < 0 else self.items.makers[number] - self.repeats.start
        return min(max(offset // self.repeats.period, 0), self.repeats.count - 1)

    def node(self, place: Place) -> NodeRow:
        """Returns a node of a layer."""
        return self.nodes[self.repeats.start + place[0] * self.repeats.period + place[1]]

    def nodes_of(self, layer: int) -> Sequence[NodeRow]:
        """Returns the nodes of a layer."""
        items = self.repeats.items_of(layer)
        return self.nodes[items.start : items.stop]

    def names_of(self, layer: int) -> Sequence[str]:
        """Returns what the outputs of the nodes of a layer are called."""
        items, first = self.repeats.items_of(layer), self.items.first
        end = first[items.stop] if items.stop < len(first) else None
        return self.names[first[items.start] : end]

    def like(self, name: str, layer: int) -> str | None:
        """Returns what is to a layer what a value is to the one whose node makes it; None where the
        layer lacks that node."""
        place = self.place(name)
        assert place is not None
        slot = self.node(place).outputs.index(name)
        nodes = self.nodes_of(layer)
        return nodes[place[1]].outputs[slot] if place[1] < len(nodes) else None

    @cached_property
    def handed_on(self) -> dict[str, str]:
        """What the second layer reads of the first, and what that one reads there."""
        items, first = self.items, self.repeats.items_of(0)
        mine = items.read_by(first.start, first.stop)
        theirs = items.read_by(first.stop, first.stop + len(first))
        pairs = {b: a for a, b in zip(mine, theirs, strict=True) if b >= 0}
        return {
            self.names[value]: self.names[before] if before >= 0 else self.outside[~before]
            for value, before in pairs.items()
            if items.makers[value] in first
        }


def find_layers(loaded: LoadedModel, least_repeats: int, *, close: bool = True) -> Layers | None:
    """Returns the longest run of at least `least_repeats` equal layers of a model, or None.

    None as well where values of a layer that could be left out are read elsewhere than in the next
    one, where two nodes or weights share a name, and in graphs with bodies.

    Args:
        loaded: The model.
        least_repeats: Fewer layers are no run.
        close: Whether little is left over, see `find_repeats`, if that is possible.
    """
    rows = loaded.nodes
    kinds = kinds_of(rows)
    labels = [tensor.name for tensor in loaded.bare.graph.initializer]
    labels += [row.name or row.known_as for row in rows]
    if any(kind.bodies for kind in kinds) or len(set(labels)) < len(labels):
        return None
    constant = {kind for kind in kinds if _is_constant(kind)}
    reading = _Reading(loaded, constant)
    items = reading.as_items()
    if (repeats := _find_local(items, least_repeats, close)) is None:
        return None
    positions: list[int | None] = [None] * len(rows)
    indices = [index for index, row in enumerate(rows) if row.kind not in constant]
    for number, index in enumerate(indices):
        positions[index] = number
    parameters = {reading.outside[~value]: place for value, place in repeats.parameters.items()}
    names, outside = reading.names, reading.outside
    return Layers(
        loaded, repeats, items, reading.nodes, positions, names, reading, outside, parameters
    )


def _is_constant(kind: NodeKind) -> bool:
    return kind.op_type == "Constant" and domain_of(kind.domain) == ""


def _find_local(items: Items, least_repeats: int, close: bool) -> Repeats | None:
    found = find_repeats(items, least_repeats, close=close)
    if found is None or _are_local(items, found):
        return found
    return _find_local(items, least_repeats, False) if close else None


def _are_local(items: Items, repeats: Repeats) -> bool:
    """Whether nodes behind the run read nothing of the layers that could be left out, and nodes
    around it no weight of a layer."""
    skipped = repeats.skipped
    first, end = (items.first[repeats.items_of(at).start] for at in (skipped.start, skipped.stop))
    behind = items.read_by(repeats.start + repeats.length, len(items.kinds))
    parameters = repeats.parameters.keys()
    return parameters.isdisjoint(items.read_by(0, repeats.start)) and not any(
        first <= value < end or value in parameters for value in behind
    )


class _Reading(dict[str, int]):
    """The values of a model as numbers, by name.

    Those that no node makes get theirs when they are looked up first, so that what nodes read is
    looked up for all of them at once.

    Attributes:
        nodes: Those of the model but constants.
        names: What they make.
        outside: The names of the other values.
    """

    def __init__(self, loaded: LoadedModel, constant: Container[NodeKind]):
        self.nodes = [row for row in loaded.nodes if row.kind not in constant]
        self.names = list(chain.from_iterable([row.outputs for row in self.nodes]))
        super().__init__({name: number for number, name in enumerate(self.names) if name})
        self.outside: list[str] = []
        self._described: list[Outside] = []
        self._tensors = {tensor.name: tensor for tensor in loaded.bare.graph.initializer}
        self._inputs = {value.name: value for value in loaded.inputs}
        makers = [row for row in loaded.nodes if row.kind in constant]
        self._constants = {name: row.node for row in makers for name in row.outputs if name}
        self._known: dict[Hashable, int] = {}

    def as_items(self) -> Items:
        """Returns the nodes as items."""
        numbers = {kind: self._kind(kind) for kind in kinds_of(self.nodes)}
        kinds = [numbers[row.kind] for row in self.nodes]
        inputs = [row.inputs for row in self.nodes]
        reads = list(map(self.__getitem__, chain.from_iterable(inputs)))
        begins = list(accumulate(map(len, inputs), initial=0))
        made = list(map(len, [row.outputs for row in self.nodes]))
        makers = list(chain.from_iterable(map(repeat, range(len(made)), made)))
        first = list(accumulate(made, initial=0))[:-1]
        return Items(kinds, reads, begins, makers, first, self._described)

    def _kind(self, kind: NodeKind) -> int:
        """Returns a number for nodes of a kind; of those with tensors these count, whatever form
        the file has them in."""
        if kind.is_shared:
            return self._number(kind)
        written = [one.SerializeToString() for one in kind.attributes]
        return self._number(*kind.rest, *written)

    def _number(self, *what: Hashable) -> int:
        return self._known.setdefault(what, len(self._known))

    def __missing__(self, name: str) -> int:
        self.outside.append(name)
        self._described.append(self._outside(name))
        self[name] = -len(self.outside)
        return self[name]

    def _outside(self, name: str) -> Outside:
        if (tensor := self._tensors.get(name)) is not None:
            return self._tensor(tensor)
        if (node := self._constants.get(name)) is not None:
            written = [one.SerializeToString() for one in node.attribute]
            return Outside(self._number("constant", *written))
        if (value := self._inputs.get(name)) is not None:
            return Outside(parameter=self._number("input", value.type.SerializeToString()))
        return Outside()

    def _tensor(self, tensor: onnx.TensorProto) -> Outside:
        kind = (tensor.data_type, *tensor.dims)
        if tensor.external_data:
            return Outside(parameter=self._number("weight", *kind))
        return Outside(self._number("tensor", kind, tensor.raw_data, *tensor.string_data))


@dataclass
class NodeBlocks:
    """The layers of a model as blocks of ops, most of which were never made.

    Attributes:
        layers: Their nodes.
        tensors: The weights.
        spots: For each op of a layer which node it was made for.
    """

    layers: Layers
    tensors: Tensors
    spots: Sequence[int]
    _locations: dict[int, list[NameLoc]] = field(default_factory=dict[int, list[NameLoc]])

    @property
    def count(self) -> int:
        """How many there are."""
        return self.layers.repeats.count

    @property
    def size(self) -> int:
        """How many ops each becomes but the last one."""
        return len(self.spots)

    @property
    def size_of_last(self) -> int:
        """How many ops the last one becomes, which may lack some at its end."""
        return self._size_of_last

    @cached_property
    def _size_of_last(self) -> int:
        items = len(self.layers.repeats.items_of(self.count - 1))
        return sum(spot < items for spot in self.spots)

    @property
    def skipped(self) -> range:
        """The numbers of those that are copies in the end."""
        return self.layers.repeats.skipped

    def locations(self, number: int) -> Sequence[LocationAttr]:
        """Returns the locations of the ops of a layer."""
        if (known := self._locations.get(number)) is None:
            nodes = [
                name_location(row.name or row.known_as) for row in self.layers.nodes_of(number)
            ]
            spots = self.spots if number + 1 < self.count else self.spots[: self.size_of_last]
            known = self._locations[number] = [nodes[spot] for spot in spots]
        return known

    def hint(self, number: int, template: str | None) -> str | None:
        """Returns what a result is called that is to a layer what one called `template` is to the
        first; of that, names of the last layer are of the next."""
        if template is None or (found := self._known_hints.get(template)) is None:
            return template
        offset, index = found
        return _hint(self.layers.names_of(number + offset)[index])

    @cached_property
    def _known_hints(self) -> dict[str, Place]:
        """By name: how many layers behind the first the one is that has it, and where there."""
        found: dict[str, Place] = {}
        for offset, number in enumerate((0, self.count - 1)):
            for index, name in enumerate(map(_hint, self.layers.names_of(number))):
                if name is not None:
                    found.setdefault(name, (offset, index))
        return found

    @cached_property
    def own(self) -> dict[Place, str]:
        """The names of each layer's weights and inputs."""
        return {place: name for name, place in self.layers.parameters.items()}

    @cached_property
    def _initializers(self) -> dict[str, onnx.TensorProto]:
        return {one.name: one for one in self.layers.loaded.bare.graph.initializer}

    @cached_property
    def _inputs(self) -> dict[str, int]:
        return {one.name: index for index, one in enumerate(self.layers.loaded.inputs)}

    def parameter(self, place: Place) -> ConstantOp | int:
        """Returns a weight as a new constant, or the index of an input."""
        name = self.own[place]
        if (tensor := self._initializers.get(name)) is not None:
            return self.tensors.constant(tensor)
        return self._inputs[name]

    def alternatives(self, slot: int) -> Iterable[SSAValue | None]:
        """Yields the weights that layers have in one place; None for an input."""
        for number in range(self.count):
            if (number, slot) in self.own:
                made = self.parameter((number, slot))
                yield made.result if isinstance(made, ConstantOp) else None


def _hint(name: str) -> str | None:
    """Returns what a value is called that ONNX calls `name`."""
    return SSAValue.extract_valid_name(identifier(name)) if name else None


@dataclass
class ShortModule:
    """A model of which most layers were left out.

    Attributes:
        whole: Its one function has the type and the names of the whole one, and no body yet.
        module: The function with the first and the last layer.
        blocks: All layers.
        kept: The ops of those that are there, by the number of the layer.
        returned: For each result of the whole function: which one of the short function it is, or
            is like, and the layer that it is of; the first and the last stand for what is before
            the layers and behind them.
        arguments: The parameters that are inputs, by index.
        sealed: The constants whose values stand for weights of several layers.
        opened: Filled where somebody looked into one.
    """

    whole: ModuleOp
    module: ModuleOp
    blocks: NodeBlocks
    kept: dict[int, list[Operation]]
    returned: list[tuple[int, int]]
    arguments: dict[int, Place]
    sealed: dict[ConstantOp, Place] = field(default_factory=dict[ConstantOp, Place])
    opened: list[str] = field(default_factory=list[str])
