"""Checks the structure of an ONNX model: what `onnx.checker` would say, without tensor bytes.

The checker wants every byte of every weight and stops at the first problem; here all problems of
a kind are found at once, and each names the user's nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import filterfalse
from typing import TYPE_CHECKING, NamedTuple

import onnx
import onnx.defs

from ge_dialect.frontends.onnx.cycles import find_cycle
from ge_dialect.frontends.onnx.problems import Problems, shorten
from ge_dialect.frontends.onnx.rows import NodeKind, NodeRow, graphs_of, kinds_of, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OLDEST_OPSET = 1
_DEFAULT_DOMAINS = ("", "ai.onnx")


def domain_of(name: str) -> str:
    """Returns a domain in its one spelling: `ai.onnx` is the empty string."""
    return "" if name in _DEFAULT_DOMAINS else name


def node_label(node: onnx.NodeProto, index: int) -> str:
    """Names a node in a message: by its name, or by its position where it has none."""
    return f"node '{node.name}' ({node.op_type})" if node.name else f"node {index} ({node.op_type})"


_MAX_VERSION = (1 << 31) - 1
"""What the `onnx` package takes as a version of a domain."""


def check_opsets(model: onnx.ModelProto, problems: Problems) -> dict[str, int]:
    """Returns domain -> version of a model; what is wrong with them goes to `problems`."""
    opsets: dict[str, int] = {}
    for entry in model.opset_import:
        domain = domain_of(entry.domain)
        if not 0 <= entry.version <= _MAX_VERSION:
            problems.add("GE0205", f"domain '{domain}' is imported in version {entry.version}")
        if opsets.setdefault(domain, entry.version) != entry.version:
            versions = f"{opsets[domain]} and {entry.version}"
            problems.add("GE0205", f"domain '{domain}' is imported in versions {versions}")
    if not opsets:
        problems.add(
            "GE0205",
            "the model imports no opset",
            hint="set opset_import, as onnx.helper.make_model does",
        )
    newest = onnx.defs.onnx_opset_version()
    version = opsets.get("", OLDEST_OPSET)
    if not OLDEST_OPSET <= version <= newest:
        problems.add(
            "GE0205",
            f"opset is {version}, expected {OLDEST_OPSET} to {newest}",
            hint="convert the model with onnx.version_converter, or update the onnx package",
        )
    return opsets


_IMPLIED = ("com.microsoft",)
"""Domains of one version only, which ONNX Runtime's tools use without a word."""


def check_structure(
    model: onnx.ModelProto,
    nodes: Sequence[NodeRow],
    opsets: dict[str, int],
    problems: Problems,
    in_turn: bool,
) -> None:
    """Checks names, order and domains of the whole model; findings go to `problems`.

    Args:
        model: As parsed.
        nodes: Of its graph.
        opsets: Domain -> version.
        problems: Takes what is wrong.
        in_turn: Whether the graph is as `is_in_turn` says.
    """
    functions = (domain_of(function.domain) for function in model.functions)
    checker = _Checker(problems, {*opsets, *_IMPLIED, *functions})
    checker.graph(model.graph, nodes, (), in_turn)
    for function in model.functions:
        checker.function(function)
    checker.unique([value.name for value in model.graph.output], "outputs")
    if not model.graph.output:
        problems.add("GE0204", "the graph has no output")


@dataclass(frozen=True)
class _Scope:
    """Names of one graph: those defined up to a node, and those that its nodes define at all."""

    defined: set[str]
    produced: set[str]


class _Use(NamedTuple):
    """A use of a value, and who uses it."""

    name: str
    user: str


@dataclass(frozen=True)
class _Checker:
    problems: Problems
    domains: set[str]

    def graph(
        self,
        graph: onnx.GraphProto,
        nodes: Sequence[NodeRow],
        outer: tuple[_Scope, ...],
        in_turn: bool = False,
    ) -> list[_Use]:
        """Checks a graph; returns its uses of outer values that are not defined yet."""
        if graph.sparse_initializer:
            names = [tensor.values.name for tensor in graph.sparse_initializer]
            for name in names:
                self.problems.add("GE0213", "sparse initializers are not supported", f"'{name}'")
        inputs = [value.name for value in graph.input]
        initializers = [tensor.name for tensor in graph.initializer]
        for kind, names in (("inputs", inputs), ("initializers", initializers)):
            self.unique(names, kind)
        if in_turn and not any(map(self.is_wrong, kinds_of(nodes))):
            return []
        given = {*inputs, *initializers}
        outputs = [value.name for value in graph.output]
        return self.nodes(nodes, given, outputs, outer)

    def function(self, function: onnx.FunctionProto) -> None:
        self.unique(list(function.input), f"inputs of function '{function.name}'")
        imported = {domain_of(entry.domain) for entry in function.opset_import}
        inner = _Checker(self.problems, self.domains | imported)
        inner.nodes(rows_of(function.node), set(function.input), list(function.output), ())

    def unique(self, names: list[str], kind: str) -> None:
        seen: set[str] = set()
        for name in names:
            if name in seen:
                self.problems.add("GE0212", f"two {kind} are named '{name}'")
            seen.add(name)

    def nodes(
        self,
        nodes: Sequence[NodeRow],
        given: set[str],
        outputs: list[str],
        outer: tuple[_Scope, ...],
    ) -> list[_Use]:
        """Walks a graph's nodes in order, with the values each may see; returns as `graph`."""
        produced = {name for row in nodes for name in row.outputs if name}
        scopes = (_Scope(set(given), produced), *outer)
        defined = scopes[0].defined
        early: list[_Use] = []
        wrong = set(filter(self.is_wrong, kinds_of(nodes)))
        for index, row in enumerate(nodes):
            if row.kind in wrong:
                self.node(row, index)
            for name in filterfalse(defined.__contains__, row.inputs):
                self.use(name, node_label(row.node, index), scopes, early)
            for body in row.kind.bodies:
                early.extend(self.graph(body, rows_of(body.node), scopes))
            for name in row.outputs:
                if name in defined:
                    what = f"value '{name}' is defined again"
                    self.problems.add("GE0212", what, node_label(row.node, index))
                if name:
                    defined.add(name)
        for name in outputs:
            self.use(name, "graph output", scopes, early)
        if any(use.name in produced for use in early):
            self.order([row.node for row in nodes])
        return [use for use in early if use.name not in produced]

    def use(self, name: str, user: str, scopes: tuple[_Scope, ...], early: list[_Use]) -> None:
        """Checks one use of a value; one before its definition goes to `early`."""
        if not name or any(name in scope.defined for scope in scopes):
            return
        if any(name in scope.produced for scope in scopes):
            early.append(_Use(name, user))
        else:
            self.problems.add("GE0211", f"value '{name}' is not defined", user)

    def order(self, nodes: Sequence[onnx.NodeProto]) -> None:
        """Reports the cycle that values which are used too early are part of.

        What is merely out of order has been sorted, but for names that are defined twice.
        """
        if (cycle := find_cycle(nodes)) is not None:
            labels = [node_label(nodes[index], index) for index in cycle]
            circle = shorten([*labels, labels[0]], " -> ")
            self.problems.add("GE0210", "nodes form a cycle", circle, "break the cycle")

    def is_wrong(self, kind: NodeKind) -> bool:
        """Whether nodes of a kind have no known operator, or an attribute twice."""
        names = [one.name for one in kind.attributes]
        is_known = bool(kind.op_type) and domain_of(kind.domain) in self.domains
        return not is_known or len(set(names)) < len(names)

    def node(self, row: NodeRow, index: int) -> None:
        """Says what is wrong with a node by itself."""
        kind, label = row.kind, node_label(row.node, index)
        if not kind.op_type:
            self.problems.add("GE0204", "a node has no op type", label)
        if domain_of(kind.domain) not in self.domains:
            what = f"domain '{kind.domain}' is not imported"
            self.problems.add("GE0205", what, label, "add it to opset_import")
        names = [one.name for one in kind.attributes]
        for name in dict.fromkeys(names):
            if (count := names.count(name)) > 1:
                self.problems.add("GE0212", f"attribute '{name}' is given {count} times", label)


def has_subgraphs(node: onnx.NodeProto) -> bool:
    """Whether a node holds graphs in its attributes."""
    return bool(node.attribute) and any(True for _ in subgraphs(node))


def subgraphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """Yields the graphs a node holds in its attributes (bodies and branches)."""
    for attribute in node.attribute:
        yield from graphs_of(attribute)
