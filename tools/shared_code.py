"""Methods of dataclasses without compiling each: two classes that have as many fields share the
code of a method but for the names in it.

The source of a method of fields `f0`, `f1`, ... is compiled once; a class gets a copy of the code
object with names of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import CodeType, FunctionType
from typing import Any

UNSET = object()
"""What a parameter has whose default is made anew for each call."""

SELF = "self"
SELF_BESIDE = "__dataclass_self__"
"""What `self` is called where a field has that name."""


def init_of(
    names: Sequence[str],
    defaults: Mapping[str, Any],
    factories: Mapping[str, Callable[[], Any]],
    by_name: Sequence[str],
    *,
    frozen: bool,
    has_post_init: bool,
) -> FunctionType:
    """Returns an `__init__`.

    Args:
        names: Of the fields.
        defaults: Of those that have one.
        factories: What makes the default of those that have one that is made.
        by_name: The fields that are given by name only.
        frozen: Whether the class is.
        has_post_init: Whether the class has a `__post_init__`.
    """
    given = [name for name in names if name not in by_name]
    order = [*given, *by_name]
    code = _init_code(len(order), bool(factories), frozen, has_post_init)
    placed = {f"f{at}": name for at, name in enumerate(order)}
    placed[SELF] = SELF_BESIDE if SELF in names else SELF
    known: dict[str, Any] = {"assign": object.__setattr__, "unset": UNSET}
    known |= {f"make{at}": factories[name] for at, name in enumerate(order) if name in factories}
    code = _renamed(code, placed).replace(
        co_argcount=1 + len(given), co_kwonlyargcount=len(by_name)
    )
    method = FunctionType(code, known, "__init__")
    found = {**defaults, **dict.fromkeys(factories, UNSET)}
    method.__defaults__ = tuple([found[name] for name in given if name in found])
    method.__kwdefaults__ = {name: found[name] for name in by_name if name in found}
    return method


def equality_of(names: Sequence[str]) -> FunctionType:
    """Returns an `__eq__` of fields."""
    return _of(names, "__eq__", _equality_code(len(names)))


def hash_of(names: Sequence[str]) -> FunctionType:
    """Returns a `__hash__` of fields."""
    return _of(names, "__hash__", _hash_code(len(names)))


def _of(names: Sequence[str], name: str, code: CodeType) -> FunctionType:
    placed = {f"f{at}": one for at, one in enumerate(names)}
    return FunctionType(_renamed(code, placed), {}, name)


def _renamed(code: CodeType, names: Mapping[str, str]) -> CodeType:
    return code.replace(
        co_names=tuple([names.get(name, name) for name in code.co_names]),
        co_varnames=tuple([names.get(name, name) for name in code.co_varnames]),
        co_consts=tuple(
            [names.get(one, one) if isinstance(one, str) else one for one in code.co_consts]
        ),
    )


@cache
def _init_code(count: int, made: bool, frozen: bool, has_post_init: bool) -> CodeType:
    """Returns the code of an `__init__`.

    Args:
        count: Of the fields, in the order of the parameters.
        made: Whether defaults are made: of some of the fields, but classes differ in which ones.
        frozen: As in `init_of`.
        has_post_init: As in `init_of`.
    """
    lines: list[str] = []
    for at in range(count):
        value = f"make{at}() if f{at} is unset else f{at}" if made else f"f{at}"
        lines.append(f"assign(self, 'f{at}', {value})" if frozen else f"self.f{at} = {value}")
    if has_post_init:
        lines.append("self.__post_init__()")
    parameters = [SELF, *(f"f{at}" for at in range(count))]
    return _compiled("__init__", parameters, lines or ["pass"])


@cache
def _equality_code(count: int) -> CodeType:
    mine, theirs = ("".join(f"{one}.f{at}," for at in range(count)) for one in ("self", "other"))
    lines = [f"if other.__class__ is self.__class__: return ({mine})==({theirs})"]
    return _compiled("__eq__", [SELF, "other"], [*lines, "return NotImplemented"])


@cache
def _hash_code(count: int) -> CodeType:
    return _compiled(
        "__hash__", [SELF], [f"return hash(({''.join(f'self.f{at},' for at in range(count))}))"]
    )


def _compiled(name: str, parameters: Sequence[str], lines: Sequence[str]) -> CodeType:
    body = "\n".join(f" {line}" for line in lines)
    source = compile(f"def {name}({', '.join(parameters)}):\n{body}", "<dataclass>", "exec")
    return next(part for part in source.co_consts if isinstance(part, CodeType))
