"""GE's fusion switch file, read unchanged: which rules the user turns off.

Source: ATC's documentation of `--fusion_switch_file`, in both forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.cli import read_file

if TYPE_CHECKING:
    from ge_dialect.passes.fusion.rule import Rule

MAX_BYTES = 1 << 20
ALL = "ALL"
SHOWN = 3
"""Names that a line tells."""
SECTIONS = ("GraphFusion", "UBFusion")

_ENDS = re.compile(r"(Fusion)?Pass$")
_LINE = re.compile(r"([A-Za-z_][\w-]*)\s*:\s*(on|off)", re.IGNORECASE)


@dataclass
class FusionSwitch:
    """What a file says.

    Attributes:
        sections: By section, whether a rule is on, by GE's name; `ALL` stands for the others.
    """

    sections: dict[str, dict[str, bool]] = field(
        default_factory=lambda: {section: {} for section in SECTIONS}
    )

    def disabled(self, rules: Iterable[Rule]) -> tuple[str, ...]:
        """Returns the names of the rules that the file turns off.

        A rule of its own name counts before `ALL`; one that cannot be closed stays on.
        """
        return tuple(rule.name for rule in rules if rule.can_close and not self._is_on(rule))

    def kept(self, rules: Iterable[Rule]) -> tuple[str, ...]:
        """Returns the names of the rules that stay on although the file names them off."""
        return tuple(
            rule.name for rule in rules if not rule.can_close and self._named(rule) is False
        )

    def unknown(self, rules: Iterable[Rule]) -> tuple[str, ...]:
        """Returns the names in the file that are none of ours: rules of GE itself."""
        known = {name for rule in rules for name in names_of(rule)}
        named = [name for section in self.sections.values() for name in section]
        return tuple(dict.fromkeys(n for n in named if n != ALL and n.lower() not in known))

    def _is_on(self, rule: Rule) -> bool:
        named = self._named(rule)
        section = SECTIONS[1] if rule.on_chip else SECTIONS[0]
        return self.sections[section].get(ALL, True) if named is None else named

    def _named(self, rule: Rule) -> bool | None:
        names = names_of(rule)
        for section in self.sections.values():
            for name, on in section.items():
                if name.lower() in names:
                    return on
        return None


def names_of(rule: Rule) -> frozenset[str]:
    """Returns the names that a rule has in a switch file, in lower case."""
    names = (rule.name, rule.kernel, *rule.aliases)
    return frozenset(f"{name}{end}".lower() for name in names for end in ("", "Pass", "FusionPass"))


def not_ours(unknown: Sequence[str], rules: Iterable[Rule]) -> str:
    """Returns a line about names in a switch file that no rule answers to: GE has many that we have
    not, so that none is an error; one that is nearly ours may be misspelt."""
    known = [rule.name for rule in rules]
    meant = [
        f"'{name}' may be '{near[0]}'"
        for name in unknown
        if (near := get_close_matches(_ENDS.sub("", name), known, 1, 0.8))
    ]
    shown = ", ".join(unknown[:SHOWN]) + (", ..." if len(unknown) > SHOWN else "")
    text = f"{len(unknown)} rules in the fusion switch file are not ours: {shown}"
    return "; ".join([text, *meant[:SHOWN]])


def read_switch_file(path: str) -> FusionSwitch:
    """Returns what a fusion switch file says, in its text or its JSON form.

    Raises:
        GEError: It cannot be read (GE0101), or is neither form (GE0443).
    """
    data = read_file(path, MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise GEError("GE0443", f"'{path}' has more than {MAX_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GEError("GE0443", f"'{path}' is no text: byte {error.start} is not UTF-8") from error
    return _from_json(path, text) if text.lstrip().startswith("{") else _from_text(path, text)


def _from_text(path: str, text: str) -> FusionSwitch:
    switch = FusionSwitch()
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        if (found := _LINE.fullmatch(content)) is None:
            raise GEError(
                "GE0443",
                f"{path}:{number}: expected 'Name:on' or 'Name:off', got '{content[:60]}'",
            )
        name, on = found[1], found[2].lower() == "on"
        for section in SECTIONS if name == ALL else SECTIONS[:1]:
            switch.sections[section][name] = on
    return switch


def _from_json(path: str, text: str) -> FusionSwitch:
    import json

    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise GEError("GE0443", f"{path}:{error.lineno}: no JSON: {error.msg}") from error
    except RecursionError as error:
        raise GEError("GE0443", f"'{path}' is nested too deeply") from error
    except ValueError as error:  # an integer of thousands of digits
        raise GEError("GE0443", f"{path}: no JSON: {error}") from error
    tables = _table(path, data, ("Switch",), "the file")
    switch = FusionSwitch()
    sections = _table(path, tables.get("Switch", {}), SECTIONS, "'Switch'")
    for section, table in sections.items():
        for name, value in _table(path, table, None, f"'{section}'").items():
            if value not in ("on", "off"):
                message = f'{path}: expected \'{name}\' to be "on" or "off", got {value!r:.60}'
                raise GEError("GE0443", message)
            switch.sections[section][name] = value == "on"
    return switch


def _table(
    path: str, value: object, known: tuple[str, ...] | None, what: str
) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise GEError("GE0443", f"{path}: expected {what} to be a table, got {value!r:.60}")
    table = cast("dict[str, object]", value)
    if known is not None and (other := sorted(set(table) - set(known))):
        expected = " and ".join(known)
        raise GEError("GE0443", f"{path}: expected {expected} in {what}, got '{other[0][:60]}'")
    return table
