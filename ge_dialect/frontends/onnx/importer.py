"""Imports an ONNX model as one `func.func @main` of `ge` ops."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import onnx
import onnx.defs
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.convert import find_converter
from ge_dialect.frontends.onnx.convert.builder import Builder
from ge_dialect.frontends.onnx.convert.control import CONTROL, convert_control
from ge_dialect.frontends.onnx.convert.functions import expand_function, is_expanded
from ge_dialect.frontends.onnx.convert.host import convert_to_host_call
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, run_converter
from ge_dialect.frontends.onnx.described import DeclaredValues
from ge_dialect.frontends.onnx.input_shapes import (
    DimRange,
    InputShapes,
    parse_input_shapes,
    specialize,
)
from ge_dialect.frontends.onnx.load import LoadedModel, load_onnx, load_proto
from ge_dialect.frontends.onnx.normalize import normalize
from ge_dialect.frontends.onnx.replay import Replayer
from ge_dialect.frontends.onnx.rows import NodeRow, rows_of
from ge_dialect.frontends.onnx.unsupported import check_supported, not_supported
from ge_dialect.frontends.onnx.validate import domain_of, node_label
from ge_dialect.frontends.onnx.values import (
    SymbolTable,
    Tensors,
    identifier,
    name_dictionary,
)
from ge_dialect.ge.base import int_attr
from ge_dialect.ge.limits import find_unrepresentable, size_problem
from ge_dialect.ge.structure import YieldOp
from ge_dialect.locations import location_name, name_location
from ge_dialect.symbols import assuming

Source: TypeAlias = str | os.PathLike[str] | onnx.ModelProto | LoadedModel


def import_onnx(source: Source, *, input_shapes: InputShapes | str | None = None) -> ModuleOp:
    """Returns a model as a module with one function `main`.

    The function's arguments and results carry `ge.name`, the function `ge.symbols` (the dynamic
    dimensions), the module `ge.opset` and `ge.producer`. Every op has the name of its node as
    location. Weights stay in their files.

    Args:
        source: The path of an `.onnx` file, or a model that is in memory or already opened.
        input_shapes: Shapes of some inputs, as `specialize` takes them, or in ATC's notation.

    Raises:
        GEError: The model cannot be opened or is invalid (GE0201 to GE0218), has operators or
            types that are not supported (GE0220, GE0222, GE0223), nodes that do not fit their
            operands (GE0221), or values that no array can be (GE0224).
    """
    return import_model(open_model(source, input_shapes))


@dataclass(frozen=True)
class OpenedModel:
    """A model that can be imported, any number of times.

    Attributes:
        loaded: Normalised; all of its operators are known.
        ranges: Those given to its symbols.
    """

    loaded: LoadedModel
    ranges: Mapping[str, DimRange]


def open_model(source: Source, input_shapes: InputShapes | str | None = None) -> OpenedModel:
    """Opens a model and looks whether it can be imported.

    Args:
        source: As of `import_onnx`.
        input_shapes: As of `import_onnx`.

    Raises:
        GEError: As `import_onnx`.
    """
    loaded = _open(source)
    ranges: dict[str, DimRange] = {}
    if isinstance(input_shapes, str):
        input_shapes = parse_input_shapes(input_shapes)
    if input_shapes:
        specialized = specialize(loaded, input_shapes)
        loaded, ranges = specialized.loaded, specialized.ranges
    loaded = normalize(loaded, owned=not isinstance(source, LoadedModel))
    check_supported(loaded.nodes, loaded.opset)
    return OpenedModel(loaded, ranges)


def import_model(opened: OpenedModel) -> ModuleOp:
    """Returns a model as `import_onnx` does."""
    module = Importer.of(opened.loaded, opened.ranges).module()
    check_sizes(module)
    return module


def check_sizes(module: ModuleOp) -> None:
    """Checks that arrays can have the types of all values.

    Raises:
        GEError: One can not be held (GE0224); names its node or input.
    """
    if (found := find_unrepresentable(module)) is None:
        return
    op, value = found
    name = location_name(op) or value.name_hint or "a value without a name"
    hint = "check its shape, and the sizes given for inputs"
    raise GEError("GE0224", f"'{name}': {size_problem(value)}", hint=hint)


def _open(source: Source) -> LoadedModel:
    if isinstance(source, LoadedModel):
        return source
    return load_proto(source) if isinstance(source, onnx.ModelProto) else load_onnx(source)


@dataclass
class Scope:
    """The values of one graph by name; those of the graphs around it are seen as well."""

    outer: Scope | None = None
    values: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])

    def get(self, name: str) -> SSAValue | None:
        """Returns a value, or None where it is not defined."""
        scope: Scope | None = self
        while scope is not None:
            if (value := scope.values.get(name)) is not None:
                return value
            scope = scope.outer
        return None

    def find(self, name: str) -> SSAValue:
        """Returns a value; that it is defined was checked when the model was opened."""
        if (value := self.get(name)) is None:
            raise GEError("GE0211", f"value '{name}' is not defined")
        return value


@dataclass
class Importer:
    """Imports the graphs of one model.

    Attributes:
        loaded: The model, normalised.
        symbols: Those of the inputs.
        builder: Where ops go.
        replayer: Nodes so far, for those that are like one of them.
        depth: How many bodies of control flow are around the current graph.
    """

    loaded: LoadedModel
    tensors: Tensors
    symbols: SymbolTable
    input_types: Sequence[Attribute]
    builder: Builder
    replayer: Replayer
    depth: int = 0

    @staticmethod
    def of(loaded: LoadedModel, ranges: Mapping[str, DimRange]) -> Importer:
        """Returns the importer of a model, for the ranges given to its symbols."""
        symbols, types = SymbolTable.of(loaded.inputs, ranges)
        builder = Builder(Block(arg_types=types))
        return Importer(loaded, Tensors(loaded), symbols, types, builder, Replayer(builder))

    def module(self) -> ModuleOp:
        """Returns the main graph as a module."""
        self.enter(scope := Scope())
        with assuming(self.symbols.ranges):
            graph, nodes = self.loaded.bare.graph, self.loaded.nodes
            declared = DeclaredValues(graph, self.loaded.unread)
            results = self.graph(graph, scope, nodes, declared)
        self.leave(results)
        return self.around(Region(self.builder.block), [value.type for value in results])

    def enter(self, scope: Scope) -> None:
        """Adds the inputs of the model to a scope."""
        for value, argument in zip(self.loaded.inputs, self.builder.block.args, strict=True):
            scope.values[value.name] = argument
            argument.name_hint = identifier(value.name)

    def leave(self, results: Sequence[SSAValue]) -> None:
        """Adds the return."""
        self.builder.use(results)
        self.builder.block.add_op(ReturnOp(*results))

    def around(self, body: Region, types: Sequence[Attribute]) -> ModuleOp:
        """Returns a module with the function that has the inputs and outputs of the model.

        Args:
            body: Of the function.
            types: Of the outputs.
        """
        function = FuncOp(
            "main",
            FunctionType.from_lists(self.input_types, types),
            body,
            arg_attrs=_names([value.name for value in self.loaded.inputs]),
            res_attrs=_names([value.name for value in self.loaded.bare.graph.output]),
        )
        if symbols := self.symbols.attributes():
            function.attributes["ge.symbols"] = DictionaryAttr(symbols)
        return ModuleOp([function], self._attributes())

    def _attributes(self) -> dict[str, Attribute]:
        model = self.loaded.bare
        attributes: dict[str, Attribute] = {}
        if "" in self.loaded.opset:
            attributes["ge.opset"] = int_attr(self.loaded.opset[""])
        if producer := f"{model.producer_name} {model.producer_version}".strip():
            attributes["ge.producer"] = StringAttr(producer)
        return attributes

    def graph(
        self,
        graph: onnx.GraphProto,
        scope: Scope,
        nodes: Sequence[NodeRow] | None = None,
        declared: DeclaredValues | None = None,
    ) -> list[SSAValue]:
        """Adds the nodes of a graph, whose inputs are in `scope`; returns its outputs.

        Args:
            graph: Any.
            scope: Takes its values.
            nodes: Those of the graph, where they have been read.
            declared: The types that it says, where these are not in `graph`.
        """
        for tensor in graph.initializer:
            if tensor.name not in scope.values:
                scope.values[tensor.name] = self.tensors.constant(tensor).result
        declared = declared or DeclaredValues(graph)
        for index, row in enumerate(rows_of(graph.node) if nodes is None else nodes):
            self.node(row, index, scope, declared)
        return [scope.find(value.name) for value in graph.output]

    def node(self, row: NodeRow, index: int, scope: Scope, declared: DeclaredValues) -> None:
        """Adds what a node becomes.

        Args:
            row: The node.
            index: Of the node in its graph.
            scope: Its operands; takes its results.
            declared: Of the graph.
        """
        kind, outputs = row.kind, row.outputs
        domain = domain_of(kind.domain)
        self.builder.location = name_location(row.known_as)
        operands = [scope.find(name) if name else None for name in row.inputs]
        version = self.loaded.opset.get(domain, 1)
        key = self.replayer.key(kind, version, operands)
        if (recording := self.replayer.recordings.get(key)) is not None:
            values: Sequence[SSAValue] = self.replayer.replay(recording, operands)
        else:
            proto = row.node
            node = Node(
                kind.op_type,
                version,
                operands,
                self.tensors.attributes(proto) if proto.attribute else {},
                [bool(name) for name in outputs],
                self.builder,
                node_label(proto, index),
                domain,
            )
            mark = self.builder.mark()
            values = self._convert(node, proto, domain, scope, declared)
            if missing := [name for name in outputs[len(values) :] if name]:
                node.fail(f"expected {len(values)} outputs, got '{missing[0]}' as well")
            if key is not None:
                self.replayer.record(key, operands, mark, values)
        for name, value in zip(outputs, values, strict=False):
            if name:
                scope.values[name] = value
                if value.name_hint is None:
                    value.name_hint = identifier(name)

    def _convert(
        self,
        node: Node,
        proto: onnx.NodeProto,
        domain: str,
        scope: Scope,
        declared: DeclaredValues,
    ) -> Sequence[SSAValue]:
        if domain == "" and node.op_type in CONTROL:
            return convert_control(self, node, proto, scope)
        if is_expanded(proto):
            return expand_function(self, node, proto, scope)
        if domain == "" and node.op_type == "Identity":
            return [node[0]]  # of any type, unranked ones as well
        types: Sequence[Attribute] | None = None
        if (convert := find_converter(domain, node.op_type)) is not None:
            try:
                return run_converter(convert, node)
            except OnHost as refusal:
                if not onnx.defs.has(node.op_type, domain):
                    raise not_supported(node.label, str(refusal)) from refusal
                types = refusal.types
        known = [
            None if (value := declared.get(name)) is None else self.symbols.declared_type(value)
            for name in proto.output
        ]
        return convert_to_host_call(node, proto, self.tensors, types, known)

    def apply(
        self,
        around: Node,
        op_type: str,
        version: int,
        operands: Sequence[SSAValue],
        **attributes: Any,
    ) -> SSAValue:
        """Adds what an operator of ONNX's own domain becomes; returns its first output.

        Args:
            around: The node that needs it.
            op_type: Of the operator.
            version: Of the operator set that `operands` and `attributes` are written for.
            operands: One an input slot.
            attributes: By name.
        """
        from onnx.helper import make_node

        names = [f"x{slot}" for slot in range(len(operands))]
        proto = make_node(op_type, names, ["y"], **attributes)
        read = self.tensors.attributes(proto)
        node = Node(op_type, version, operands, read, [True], self.builder, around.label)
        return self._convert(node, proto, "", Scope(), DeclaredValues(onnx.GraphProto()))[0]

    def inline(
        self, graph: onnx.GraphProto, outer: Scope, inputs: Sequence[SSAValue] = ()
    ) -> list[SSAValue]:
        """Adds the nodes of a graph where the importer stands; returns its outputs.

        Args:
            graph: Body of an operator.
            outer: The scope around it.
            inputs: Values of its inputs.
        """
        scope = Scope(outer)
        for value, given in zip(graph.input, inputs, strict=True):
            scope.values[value.name] = given
            if given.name_hint is None:
                given.name_hint = identifier(value.name)
        return self.graph(graph, scope)

    def region(
        self,
        types: Sequence[Attribute],
        build: Callable[[Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> tuple[Region, Sequence[SSAValue]]:
        """Returns a region, and the values that it yields.

        Args:
            types: Those of the arguments of its block.
            build: Adds the ops of the region; takes the arguments, returns what is yielded.
        """
        block, around = Block(arg_types=types), self.builder.block
        location = self.builder.location
        self.builder.block = block
        self.depth += 1
        results = build(block.args)
        self.builder.location = location
        self.builder.emit(YieldOp(*results))
        self.depth -= 1
        self.builder.block = around
        return Region(block), results


def _names(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr(name_dictionary(name)) for name in names])
