"""Methods of dataclasses that are made when they are first called.

`dataclass` writes the source of up to six methods for each class and compiles them one by one, 0.5
ms a class. A compiler of some five hundred such classes, half of them xDSL's, spends a third of its
start on methods of which few are ever called. Deferred, each is a function that makes the real one
when it is first called, puts it in its own place in the class, and calls it. What is called then is
mostly like a method of another class but for the names of fields (`shared_code.py`).

A default made by `list[int]` is made by `list` then: Python tries to note the arguments of the type
in what it makes, and an error that nobody sees costs more than an empty list.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from types import GenericAlias, SimpleNamespace
from typing import Any

from ge_dialect.tools.shared_code import equality_of, hash_of, init_of

COMPILER = "_create_fn"
"""What compiles a method in `dataclasses`, up to Python 3.12; later ones compile all methods of a
class at once, and are left as they are."""

INIT_WRITER = "_init_fn"
"""What writes an `__init__`, from its fields, and gives it to `COMPILER`."""


def defer_methods() -> None:
    """Defers the methods of dataclasses made from now on. For a process that is ours alone."""
    create = getattr(dataclasses, COMPILER, None)
    if create is not None and sys.version_info < (3, 13):
        setattr(dataclasses, COMPILER, functools.partial(deferred, create))
        write_init = getattr(dataclasses, INIT_WRITER)
        setattr(dataclasses, INIT_WRITER, functools.partial(deferred_init, write_init))
        # A class without a docstring gets its signature for one, which nobody reads here.
        without = SimpleNamespace(**{**vars(inspect), "signature": _no_signature})
        setattr(dataclasses, "inspect", without)  # noqa: B010  # private to the module


def _no_signature(_: object) -> str:
    return ""


def deferred(
    create: Callable[..., Callable[..., Any]],
    name: str,
    args: Sequence[str],
    body: Sequence[str],
    **rest: Any,
) -> Callable[..., Any]:
    """Returns a method that is made by `create` when it is first called.

    Args:
        create: Compiles a method, from the other arguments.
        name: Of the method.
        args: Parameters, as source.
        body: Lines of source.
        rest: Names that the source refers to.
    """

    def method(self: object, /, *values: Any, **named: Any) -> Any:
        nonlocal made
        if made is None:
            known: dict[str, Any] = rest.get("locals") or {}
            rest["locals"] = {one: _without_arguments(found) for one, found in known.items()}
            made = _like(name, body) or create(name, args, body, **rest)
            made.__qualname__ = method.__qualname__
        _replace(self, method, made)
        return made(self, *values, **named)

    made: Callable[..., Any] | None = None
    method.__name__ = name
    return method


def deferred_init(
    write: Callable[..., Callable[..., Any]],
    fields: Sequence[Any],
    std_fields: Sequence[Any],
    kw_only_fields: Sequence[Any],
    *rest: Any,
) -> Callable[..., Any]:
    """Returns an `__init__` that is made when it is first called.

    Args:
        write: Makes the method, from the other arguments.
        fields: Those of the class.
        std_fields: Those of them that are given by place or by name.
        kw_only_fields: Those of them that are given by name only.
        rest: Whether the class is frozen, whether it has a `__post_init__`, and what `write` needs
            beside.
    """
    if not all(map(_is_plain, fields)):
        return write(fields, std_fields, kw_only_fields, *rest)

    def method(self: object, /, *values: Any, **named: Any) -> None:
        nonlocal made
        if made is None:
            made = _init_of(fields, kw_only_fields, *rest[:2])
            made.__qualname__ = method.__qualname__
        _replace(self, method, made)
        made(self, *values, **named)

    made: Callable[..., Any] | None = None
    method.__name__ = "__init__"
    return method


def _init_of(
    fields: Sequence[Any], kw_only_fields: Sequence[Any], frozen: bool, has_post_init: bool
) -> Callable[..., Any]:
    missing = dataclasses.MISSING
    return init_of(
        [field.name for field in fields],
        {field.name: field.default for field in fields if field.default is not missing},
        {
            field.name: _without_arguments(field.default_factory)
            for field in fields
            if field.default_factory is not missing
        },
        [field.name for field in kw_only_fields],
        frozen=frozen,
        has_post_init=has_post_init,
    )


_TUPLE = r"\((?:self\.\w+,)*\)"
_EQUALITY = re.compile(rf"return ({_TUPLE})==\((?:other\.\w+,)*\)")
_HASH = re.compile(rf"return hash\(({_TUPLE})\)")


def _like(name: str, body: Sequence[str]) -> Callable[..., Any] | None:
    """Returns a method that shares its code with those of other classes; None if it is not one of
    those that do."""
    if name == "__eq__" and len(body) == 3 and (found := _EQUALITY.fullmatch(body[1].strip())):
        return equality_of(_FIELD.findall(found[1]))
    if name == "__hash__" and len(body) == 1 and (found := _HASH.fullmatch(body[0])):
        return hash_of(_FIELD.findall(found[1]))
    return None


_FIELD = re.compile(r"self\.(\w+)")


def _replace(owner: object, method: Callable[..., Any], made: Callable[..., Any]) -> None:
    """Puts a method that is made in the place of the deferred one."""
    for one in type(owner).__mro__:
        if vars(one).get(method.__name__) is method:
            setattr(one, method.__name__, made)
            break


def _is_plain(field: Any) -> bool:
    """Whether a field is one that is kept, and that a caller gives."""
    return field.init and field._field_type.name == "_FIELD"  # else a ClassVar or an InitVar


_PLAIN: tuple[type, ...] = (dict, list, set)
"""Types whose values hold nothing but their elements."""


def _without_arguments(found: Any) -> Any:
    """Returns `list` for `list[int]`, and anything else as it is."""
    if type(found) is GenericAlias and (origin := found.__origin__) in _PLAIN:
        return origin
    return found
