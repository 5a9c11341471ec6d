"""Patterns in a TOML file of rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, cast

from ge_dialect.diagnostics import GEError
from ge_dialect.passes.fusion.attrs import (
    DONT_CARE,
    KEEP,
    Absent,
    Among,
    AttrSpec,
    Equals,
    Plain,
    Present,
    Within,
)
from ge_dialect.passes.fusion.op_names import op_class_of
from ge_dialect.passes.fusion.pattern import (
    NOTHING,
    Any,
    Const,
    Maybe,
    Node,
    OneOf,
    Pattern,
    Weight,
)

if TYPE_CHECKING:
    from ge_dialect.passes.fusion.toml_rules import Source

MAX_NODES = 64
MAX_DEPTH = 16

WORDS: Mapping[str, AttrSpec] = {
    "keep": KEEP,
    "dont_care": DONT_CARE,
    "absent": Absent(),
    "present": Present(),
}
"""What an attribute may be, in a word."""

OP_KEYS = ("op", "name", "operands", "ports", "attrs", "commutes", "result")
LEAVES = ("any", "weight", "const", "nothing", "one_of", "maybe", "ref")


@dataclass
class PatternReader:
    """Reads the patterns of one rule.

    Attributes:
        source: The file, for messages.
        count: Ops so far.
        nodes: Named ops, for `ref`.
    """

    source: Source
    count: int = 0
    nodes: dict[str, Node] = field(default_factory=dict[str, Node])

    def root(self, value: object) -> Node:
        """Returns a whole pattern.

        Raises:
            GEError: It is malformed (GE0427), or names what does not exist (GE0425).
        """
        if not isinstance(value, dict) or "op" not in value:
            self.source.fail("expected 'pattern' to be a table with an 'op'", "pattern")
        self.nodes.clear()
        return self._node(cast("dict[str, object]", value), 0)

    def _pattern(self, value: object, depth: int) -> Pattern:
        if isinstance(value, str) and value:  # the short form of { any = "x" }
            return Any(value)
        if not isinstance(value, dict) or depth > MAX_DEPTH:
            what = "is nested too deeply" if depth > MAX_DEPTH else f"got {value!r:.60}"
            self.source.fail(f"expected a pattern, {what}", "operands")
        table = cast("dict[str, object]", value)
        if "op" in table:
            return self._node(table, depth)
        kinds = [key for key in table if key in LEAVES]
        if len(kinds) != 1:
            hint = f"one of op, {', '.join(LEAVES)}"
            self.source.fail(f"expected one kind of pattern, got {sorted(table)}", hint=hint)
        allowed = (kinds[0], "name") if kinds[0] == "const" else (kinds[0],)
        self.source.only(table, allowed, f"a pattern '{kinds[0]}'")
        return self._leaf(kinds[0], table, depth)

    def _leaf(self, kind: str, table: dict[str, object], depth: int) -> Pattern:
        value = table[kind]
        match kind:
            case "any":
                return Any(self.source.text(table, kind, ""))
            case "weight":
                return Weight(self.source.text(table, kind, ""))
            case "const":
                return Const(self._number(value, kind), self.source.text(table, "name", ""))
            case "maybe":
                return self._maybe(value, depth)
            case "one_of":
                return self._one_of(value, depth)
            case "ref":
                name = self.source.text(table, kind)
                if name not in self.nodes:
                    self.source.fail(f"'ref' names '{name}', which is no op before it", "ref")
                return self.nodes[name]
            case _:
                return NOTHING

    def _maybe(self, value: object, depth: int) -> Maybe:
        inner = self._pattern(value, depth + 1)
        if not isinstance(inner, Node) or not inner.operands:
            self.source.fail("expected 'maybe' to be an op with operands", "maybe")
        return Maybe(inner)

    def _one_of(self, value: object, depth: int) -> OneOf:
        if not isinstance(value, list) or not value:
            self.source.fail("expected 'one_of' to be a list of patterns", "one_of")
        choices = cast("list[object]", value)
        return OneOf(tuple(self._pattern(choice, depth + 1) for choice in choices))

    def _node(self, table: dict[str, object], depth: int) -> Node:
        self.count += 1
        if self.count > MAX_NODES:
            self.source.fail(f"expected at most {MAX_NODES} ops in a rule")
        self.source.only(table, OP_KEYS, "an op")
        name = self.source.text(table, "op")
        try:
            op_class = op_class_of(name, f"rule '{self.source.rule}'")
        except GEError as error:
            self.source.fail(f"expected an op type, got '{name[:60]}'", name, error.hint)
        operands = table.get("operands", [])
        ports = table.get("ports", {})
        if not isinstance(operands, list) or not isinstance(ports, dict):
            self.source.fail("expected 'operands' to be a list and 'ports' a table", "operands")
        inner = cast("list[object]", operands)
        named = cast("dict[str, object]", ports)
        node = Node(
            op_class,
            tuple(self._pattern(one, depth + 1) for one in inner),
            self._attrs(table.get("attrs", {})),
            self.source.flag(table, "commutes"),
            self.source.text(table, "name", ""),
            {port: self._pattern(one, depth + 1) for port, one in named.items()},
            self.source.whole(table, "result") or 0,
        )
        if node.name:
            self.nodes[node.name] = node
        return node

    def _attrs(self, value: object) -> dict[str, AttrSpec]:
        if not isinstance(value, dict):
            self.source.fail("expected 'attrs' to be a table", "attrs")
        attrs = cast("dict[str, object]", value)
        return {name: self._spec(name, spec) for name, spec in attrs.items()}

    def _spec(self, name: str, spec: object) -> AttrSpec:
        if isinstance(spec, str):
            if spec not in WORDS:
                hint = (
                    f"{', '.join(WORDS)}, a number, or a table with equals, min and max, or among"
                )
                self.source.fail(f"attribute '{name}' may not be '{spec[:40]}'", name, hint)
            return WORDS[spec]
        if not isinstance(spec, dict):
            return Equals(self._plain(spec, name))
        table = cast("dict[str, object]", spec)
        self.source.only(table, ("equals", "min", "max", "among"), f"attribute '{name}'")
        if "equals" in table and len(table) == 1:
            return Equals(self._plain(table["equals"], name))
        if "among" in table and len(table) == 1 and isinstance(table["among"], list):
            values = cast("list[object]", table["among"])
            return Among(tuple(self._plain(value, name) for value in values))
        if set(table) <= {"min", "max"} and table:
            low = self._number(table["min"], name) if "min" in table else float("-inf")
            high = self._number(table["max"], name) if "max" in table else float("inf")
            return Within(low, high)
        return self.source.fail(
            f"attribute '{name}' is neither equals, min and max, nor among", name
        )

    def _plain(self, value: object, name: str) -> Plain:
        if isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, list):
            items = cast("list[object]", value)
            if all(isinstance(item, int) and not isinstance(item, bool) for item in items):
                return tuple(cast("list[int]", items))
        return self.source.fail(f"expected a value of '{name}', got {value!r:.60}", name)

    def _number(self, value: object, name: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            self.source.fail(f"expected a number for '{name}', got {value!r:.60}", name)
        return value
