"""Conditions in a TOML file of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from ge_dialect.diagnostics import GEError
from ge_dialect.passes.fusion import conditions
from ge_dialect.passes.fusion.rule import Condition

if TYPE_CHECKING:
    from ge_dialect.passes.fusion.toml_rules import Source


@dataclass(frozen=True)
class _Kind:
    """What a kind of condition takes besides `of`, and how it is made."""

    keys: tuple[str, ...]
    make: Callable[[tuple[str, ...], Mapping[str, object]], Condition]


def _list(table: Mapping[str, object], key: str) -> list[object]:
    value = table[key]
    return cast("list[object]", value) if isinstance(value, list) else [value]


def _int(table: Mapping[str, object], key: str) -> int:
    value = table[key]
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(key)
    return value


def _ints(table: Mapping[str, object], key: str) -> list[int]:
    return [_int({key: item}, key) for item in _list(table, key)]


def _factor(table: Mapping[str, object]) -> int:
    if (factor := _int(table, "factor")) < 1:
        raise TypeError("factor")
    return factor


KINDS: Mapping[str, _Kind] = {
    "same_shape": _Kind((), lambda of, t: conditions.same_shape(*of)),
    "same_type": _Kind((), lambda of, t: conditions.same_type(*of)),
    "static": _Kind((), lambda of, t: conditions.static(*of)),
    "constant": _Kind((), lambda of, t: conditions.constant(*of)),
    "type": _Kind(
        ("types",),
        lambda of, t: conditions.element_type(of[0], *map(str, _list(t, "types"))),
    ),
    "rank": _Kind(("ranks",), lambda of, t: conditions.rank(of[0], *_ints(t, "ranks"))),
    "multiple_of": _Kind(
        ("axis", "factor"),
        lambda of, t: conditions.multiple_of(of[0], _int(t, "axis"), _factor(t)),
    ),
    "at_most": _Kind(
        ("axis", "limit"),
        lambda of, t: conditions.at_most(of[0], _int(t, "axis"), _int(t, "limit")),
    ),
}


def read_conditions(source: Source, value: object) -> tuple[Condition, ...]:
    """Returns the conditions of a rule.

    Args:
        source: The file, for messages.
        value: A list of tables `{ kind = "same_shape", of = ["a", "b"], fix = "..." }`.

    Raises:
        GEError: One is malformed (GE0427).
    """
    if not isinstance(value, list):
        source.fail("expected 'conditions' to be a list of tables", "conditions")
    return tuple(_condition(source, table) for table in cast("list[object]", value))


def _condition(source: Source, value: object) -> Condition:
    if not isinstance(value, dict):
        source.fail("expected a condition to be a table with a 'kind'", "conditions")
    table = cast("dict[str, object]", value)
    name = source.text(table, "kind")
    if (kind := KINDS.get(name)) is None:
        source.fail(f"unknown kind of condition '{name}'", name, f"known are {', '.join(KINDS)}")
    source.only(table, ("kind", "of", "fix", *kind.keys), f"a condition '{name}'")
    of = source.texts(table, "of")
    if not of:
        source.fail(f"expected the values of '{name}' in a list 'of'", name)
    if missing := [key for key in kind.keys if key not in table]:
        source.fail(f"expected '{missing[0]}' of the condition '{name}'", name)
    try:
        made = kind.make(of, table)
    except GEError as error:
        source.fail(error.message, name, error.hint)
    except TypeError as error:
        source.fail(f"expected another value for '{error}' of the condition '{name}'", name)
    return replace(made, fix=source.text(table, "fix", ""))
