"""Imports a model with most of its repeated layers left out."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, Region, SSAValue

from ge_dialect.frontends.onnx.described import DeclaredValues
from ge_dialect.frontends.onnx.importer import (
    Importer,
    OpenedModel,
    Scope,
    check_sizes,
)
from ge_dialect.frontends.onnx.layers import Layers, NodeBlocks, ShortModule, find_layers
from ge_dialect.ge.attributes import WeightAttr
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.dtypes import is_float
from ge_dialect.ge.sealed import stand_in
from ge_dialect.ge.types import is_tensor
from ge_dialect.repeats import Place


def import_short(
    opened: OpenedModel, least_repeats: int, *, close: bool = True
) -> ShortModule | None:
    """Returns a model with most of its repeated layers left out; None where it has not so many, or
    where more than types is needed to know what they become.

    Args:
        opened: Of fixed sizes.
        least_repeats: Fewer equal layers are not left out.
        close: Whether little is left over of what repeats, see `find_layers`.

    Raises:
        GEError: As `import_onnx`.
    """
    importer = Importer.of(opened.loaded, opened.ranges)
    if importer.symbols.ranges:
        return None
    if (layers := find_layers(opened.loaded, least_repeats, close=close)) is None:
        return None
    if (short := ShortImporter(importer, layers).run()) is not None:
        check_sizes(short.module)
    return short


@dataclass
class ShortImporter:
    """Imports the first and the last layer of a model, and what is around them.

    Attributes:
        importer: Of the model; has imported nothing yet.
        layers: Those of the model.
        scope: The values by name.
        kept: The ops of each layer that is imported, and which of its nodes each was made for.
        sealed: The constants that stand for weights of several layers.
        opened: Filled where a converter looked into one.
    """

    importer: Importer
    layers: Layers
    scope: Scope = field(default_factory=Scope)
    kept: dict[int, list[tuple[Operation, int]]] = field(
        default_factory=dict[int, list[tuple[Operation, int]]]
    )
    sealed: dict[ConstantOp, Place] = field(default_factory=dict[ConstantOp, Place])
    opened: list[str] = field(default_factory=list[str])

    def run(self) -> ShortModule | None:
        """Returns the model; None where a layer need not become what the one before it does."""
        skipped = self.layers.repeats.skipped
        graph = self.importer.loaded.bare.graph
        outputs = [value.name for value in graph.output]
        if (returned := self._returned(outputs)) is None:
            return None
        self.importer.enter(self.scope)
        self._constants()
        self._nodes()
        if self.opened or not self._are_known_by_type():
            return None
        results = [
            self.scope.find(name)
            for name in outputs
            if (place := self.layers.place(name)) is None or place[0] not in skipped
        ]
        self.importer.leave(results)
        types = [results[index].type for index, _ in returned]
        block = self.importer.builder.block
        kinds = [argument.type for argument in block.args], [value.type for value in results]
        function = FuncOp("main", FunctionType.from_lists(*kinds), Region(block))
        spots = [position for _, position in self.kept[0]]
        return ShortModule(
            self.importer.around(Region(), types),
            ModuleOp([function]),
            NodeBlocks(self.layers, self.importer.tensors, spots),
            {number: [op for op, _ in ops] for number, ops in self.kept.items()},
            returned,
            self._arguments(),
            self.sealed,
            self.opened,
        )

    def _returned(self, outputs: list[str]) -> list[tuple[int, int]] | None:
        """Returns which result of the short function each output is or is like, and its layer;
        None where the first layer has no such output."""
        skipped = self.layers.repeats.skipped
        layers = [self.layers.layer_of(name) for name in outputs]
        kept = [name for name, layer in zip(outputs, layers, strict=True) if layer not in skipped]
        indices = {name: index for index, name in enumerate(kept)}
        found: list[tuple[int, int]] = []
        for name, layer in zip(outputs, layers, strict=True):
            like = name if layer not in skipped else self.layers.like(name, 0)
            if like is None or like not in indices:
                return None
            found.append((indices[like], layer))
        return found

    def _constants(self) -> None:
        """Adds the initializers, those of layers that are left out excepted."""
        for tensor in self.importer.loaded.bare.graph.initializer:
            name = tensor.name
            place = self.layers.parameters.get(name)
            if name in self.scope.values or (
                place is not None and place[0] in self.layers.repeats.skipped
            ):
                continue
            constant = self.importer.tensors.constant(tensor)
            self.scope.values[name] = constant.result
            if place is not None and isinstance(constant.value, WeightAttr):
                constant.properties["value"] = stand_in(constant.value, self.opened)
                self.sealed[constant] = place

    def _nodes(self) -> None:
        """Adds the nodes; the last layer reads the first in place of the one before it."""
        importer, layers = self.importer, self.layers
        loaded, skipped = importer.loaded, layers.skipped_items
        declared, rows = DeclaredValues(loaded.bare.graph, loaded.unread), loaded.nodes
        for index, (row, item) in enumerate(zip(rows, layers.positions, strict=True)):
            if item is not None and item in skipped:
                continue
            if item == skipped.stop:
                self._hand_on()
            mark = importer.builder.mark()
            importer.node(row, index, self.scope, declared)
            if item is not None and (place := layers.repeats.place(item)) is not None:
                added = importer.builder.emitted_since(mark)
                self.kept.setdefault(place[0], []).extend((op, place[1]) for op in added)

    def _hand_on(self) -> None:
        """Gives what the first layer makes to those that read the last one that is left out."""
        left_out = self.layers.names_of(self.layers.repeats.skipped[-1])
        for theirs, mine in zip(self.layers.names_of(0), left_out, strict=True):
            if mine:
                self.scope.values[mine] = self.scope.find(theirs)

    def _are_known_by_type(self) -> bool:
        """Whether what the first layer hands to the second are floats that ops of it make, in the
        same place as in the last; and, where the last one has no such place, of the types of what
        the first one reads there."""
        handed_on = self.layers.handed_on
        for name, read in handed_on.items():
            value = self.scope.find(name)
            if not (is_tensor(type_ := value.type) and is_float(type_.element_type)):
                return False
            if (found := self._made(name, 0)) is None:
                return False
            last = self.layers.repeats.count - 1
            like = self.layers.like(name, last)
            if like is not None and found != self._made(like, last):
                return False
            if self.layers.repeats.missing and self.scope.find(read).type != type_:
                return False
        return True

    def _made(self, name: str, layer: int) -> Place | None:
        """Returns which op of a layer makes a value, and which of its results it is."""
        value: SSAValue = self.scope.find(name)
        ops = [op for op, _ in self.kept[layer]]
        if not isinstance(value, OpResult) or value.owner not in ops:
            return None
        return ops.index(value.owner), value.index

    def _arguments(self) -> dict[int, Place]:
        names = [value.name for value in self.importer.loaded.inputs]
        places = self.layers.parameters
        return {index: places[name] for index, name in enumerate(names) if name in places}
