"""Rules in a TOML file: data only, bounded, and wrong ones are errors with their line.

The form is in docs/fusion_rules.md. Nothing in a file is ever run.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, cast

from ge_dialect.diagnostics import GEError
from ge_dialect.passes.fusion.rule import FusionRule, Rule, SiblingRule
from ge_dialect.passes.fusion.rules import RuleRegistry

MAX_BYTES = 1 << 20
MAX_RULES = 1000

Table = Mapping[str, object]


@dataclass
class Source:
    """A file and the rule in it that is being read, for messages.

    Attributes:
        path: As the user gave it.
        lines: Of the file.
        first: Index of the line at which the rule begins.
        last: Index after its last line.
        rule: Its name, once that is known.
    """

    path: str
    lines: Sequence[str]
    first: int = 0
    last: int = 0
    rule: str = ""

    def fail(self, problem: str, key: str = "", hint: str | None = None) -> NoReturn:
        """Raises the error of something in the rule.

        Args:
            problem: What is wrong.
            key: What to look for, to find the line.
            hint: What to do.

        Raises:
            GEError: Always (GE0427).
        """
        line = self.first
        if key:
            word = re.compile(rf"(?<![\w.-]){re.escape(key)}(?![\w-])")
            matching = (i for i in range(self.first, self.last) if word.search(self.lines[i]))
            line = next(matching, line)
        rule = f" rule '{self.rule}':" if self.rule else ""
        raise GEError("GE0427", f"{self.path}:{line + 1}:{rule} {problem}", hint=hint)

    def text(self, table: Table, key: str, default: str | None = None) -> str:
        """Returns the text at a key; where there is none, the default or an error."""
        value = table.get(key, default)
        if value is None:
            self.fail(f"expected '{key}'", hint="docs/fusion_rules.md lists the keys")
        if not isinstance(value, str) or (not value and default != ""):
            self.fail(f"expected '{key}' to be a text, got {value!r:.60}", key)
        return value

    def texts(self, table: Table, key: str) -> tuple[str, ...]:
        """Returns the list of texts at a key."""
        value = table.get(key, [])
        if not isinstance(value, list):
            self.fail(f"expected '{key}' to be a list of texts, got {value!r:.60}", key)
        items = cast("list[object]", value)
        if not all(isinstance(item, str) and item for item in items):
            self.fail(f"expected '{key}' to be a list of texts", key)
        return tuple(cast("list[str]", items))

    def flag(self, table: Table, key: str, default: bool = False) -> bool:
        """Returns the truth value at a key."""
        value = table.get(key, default)
        if not isinstance(value, bool):
            self.fail(f"expected '{key}' to be true or false, got {value!r:.60}", key)
        return value

    def whole(self, table: Table, key: str) -> int | None:
        """Returns the whole number at a key, None without one."""
        value = table.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            self.fail(f"expected '{key}' to be a whole number, got {value!r:.60}", key)
        return value

    def only(self, table: Table, known: Sequence[str], what: str) -> None:
        """Checks that a table has no other keys."""
        if unknown := sorted(set(table) - set(known)):
            hint = f"known are {', '.join(known)}"
            self.fail(f"unknown key '{unknown[0]}' of {what}", unknown[0], hint)


KEYS = (
    *("name", "kernel", "pattern", "alternatives", "conditions", "priority", "fixes", "outputs"),
    *("cast_tolerant", "precision", "targets", "min_opset", "max_opset", "example", "aliases"),
    *("can_close", "on_chip", "siblings"),
)


def read_rules(path: str) -> tuple[Rule, ...]:
    """Returns the rules of a file.

    Args:
        path: Of a TOML file with tables `[[rule]]`.

    Raises:
        GEError: It cannot be read (GE0101) or is malformed (GE0427, GE0422 to GE0425).
    """
    text = _read(path)
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also of integers of thousands of digits
        reason = str(error) or "it is nested too deeply"
        raise GEError("GE0427", f"'{path}' is no TOML: {reason}") from error
    lines = text.splitlines()
    source = Source(path, lines, 0, len(lines))
    source.only(data, ("rule",), "the file")
    tables = data.get("rule")
    if not isinstance(tables, list) or not tables:
        source.fail("expected tables [[rule]]", hint="docs/fusion_rules.md shows one")
    found = cast("list[object]", tables)
    if len(found) > MAX_RULES:
        source.fail(f"expected at most {MAX_RULES} rules, got {len(found)}")
    starts = [i for i, line in enumerate(lines) if re.match(r"\s*\[\[\s*rule\s*\]\]", line)]
    ends = [*starts[1:], len(lines)]
    rules: list[Rule] = []
    for index, table in enumerate(found):
        if index < len(starts):
            source.first, source.last = starts[index], ends[index]
        source.rule = ""
        rules.append(_checked(source, table))
    return tuple(rules)


def _read(path: str) -> str:
    try:
        file = Path(path)
        if file.is_file() and file.stat().st_size > MAX_BYTES:
            raise GEError("GE0427", f"'{path}' has more than {MAX_BYTES} bytes")
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise GEError("GE0101", f"cannot read '{path}': {reason}", hint="check the path") from error
    except UnicodeDecodeError as error:
        raise GEError("GE0427", f"'{path}' is no text: byte {error.start} is not UTF-8") from error


def _checked(source: Source, table: object) -> Rule:
    """Returns one rule; what the registry refuses is an error with a line, too."""
    if not isinstance(table, dict):
        source.fail("expected a table [[rule]]")
    rule = _rule(source, cast("Table", table))
    try:
        RuleRegistry().register(rule)
    except GEError as error:
        where = f"{source.path}:{source.first + 1}: {error.message}"
        raise GEError(error.code, where, hint=error.hint) from error
    return rule


def _rule(source: Source, table: Table) -> Rule:
    from ge_dialect.passes.fusion.toml_conditions import read_conditions
    from ge_dialect.passes.fusion.toml_pattern import PatternReader

    source.rule = source.text(table, "name")
    source.only(table, KEYS, "a rule")
    reader = PatternReader(source)
    pattern = reader.root(table.get("pattern"))
    alternatives = table.get("alternatives", [])
    if not isinstance(alternatives, list):
        source.fail("expected 'alternatives' to be a list of patterns", "alternatives")
    others = tuple(reader.root(one) for one in cast("list[object]", alternatives))
    conditions = read_conditions(source, table.get("conditions", []))
    priority = source.whole(table, "priority") or 0
    kernel = source.text(table, "kernel", f"{source.rule}Fusion")
    if (siblings := source.whole(table, "siblings")) is not None:
        return _siblings(
            source, table, SiblingRule(source.rule, kernel, pattern, siblings, conditions, priority)
        )
    from dataclasses import replace

    rule = FusionRule(
        source.rule,
        kernel,
        pattern,
        conditions,
        priority,
        _fixes(source, table),
        others,
        source.texts(table, "outputs"),
        source.flag(table, "cast_tolerant"),
    )
    return replace(rule, **_common(source, table))


def _siblings(source: Source, table: Table, rule: SiblingRule) -> SiblingRule:
    from dataclasses import replace

    for key in ("alternatives", "fixes", "outputs", "cast_tolerant"):
        if key in table:
            source.fail(f"a rule of siblings takes no '{key}'", key)
    if rule.count < 2:
        source.fail(f"expected 'siblings' of 2 or more, got {rule.count}", "siblings")
    return replace(rule, **_common(source, table))


def _common(source: Source, table: Table) -> dict[str, object]:
    """Returns the fields that both kinds of rule have."""
    low, high = source.whole(table, "min_opset"), source.whole(table, "max_opset")
    if low is not None and high is not None and low > high:
        source.fail(f"expected min_opset <= max_opset, got {low} and {high}", "min_opset")
    return {
        "precision": source.text(table, "precision", ""),
        "targets": source.texts(table, "targets"),
        "min_opset": low,
        "max_opset": high,
        "example": source.text(table, "example", ""),
        "aliases": source.texts(table, "aliases"),
        "can_close": source.flag(table, "can_close", True),
        "on_chip": source.flag(table, "on_chip"),
    }


def _fixes(source: Source, table: Table) -> tuple[tuple[str, str], ...]:
    value = table.get("fixes", {})
    if not isinstance(value, dict):
        source.fail("expected 'fixes' to be a table of texts", "fixes")
    fixes = cast("dict[str, object]", value)
    return tuple((key, source.text(fixes, key)) for key in fixes)
