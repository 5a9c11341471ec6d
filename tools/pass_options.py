"""Names and options of the passes in a pipeline, checked with words that say what to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Union, cast, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from xdsl.passes import ModulePass
    from xdsl.utils.arg_spec import ArgSpec

_WORDS: Mapping[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number with a point",
    str: "a text",
}


def check_pass(part: ArgSpec, known: Mapping[str, Callable[[], type[ModulePass]]]) -> None:
    """Checks that a pass exists and takes the options that it is given.

    Raises:
        ValueError: It does not; says what it may have been meant to be, or what there is.
    """
    if part.name not in known:
        raise ValueError(f"expected a known pass, got '{part.name}'{_near(part.name, list(known))}")
    pass_class = known[part.name]()
    hints = get_type_hints(pass_class)
    options = {
        field.name.replace("_", "-"): hints[field.name]
        for field in fields(pass_class)
        if field.init and field.name != "name"
    }
    for given, values in part.parameters.items():
        option = given.replace("_", "-")
        if option not in options:
            there = f"it has {', '.join(options)}" if options else "it has none"
            near = _near(option, list(options))
            raise ValueError(f"'{part.name}' has no option '{option}'{near}; {there}")
        _check_value(f"option '{option}' of '{part.name}'", values, options[option])


def _near(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f", did you mean '{near[0]}'?" if near else ""


def _check_value(what: str, values: tuple[object, ...], wanted: object) -> None:
    """Checks the values of an option as xDSL does, which names neither the option nor the kind."""
    from xdsl.utils.hints import isa

    kinds = get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,)
    if not values and NoneType in kinds:
        return
    hint = cast("type[object]", wanted)
    if (len(values) == 1 and isa(values[0], hint)) or isa(values, hint):
        return
    got = ", ".join(str(value) for value in values) or "nothing"
    raise ValueError(f"expected {what} to be {_words(kinds)}, got {got[:60]}")


def _words(kinds: tuple[object, ...]) -> str:
    found: list[str] = []
    for kind in kinds:
        if get_origin(kind) is tuple:
            found.append("texts with commas" if str in get_args(kind) else "numbers with commas")
        elif kind in _WORDS:
            found.append(_WORDS[kind])
    return " or ".join(dict.fromkeys(found)) or "of another kind"
