"""Methods of dataclasses that are compiled when they are first called, or are called often.

`dataclass` writes the source of up to six methods for each class and compiles them one by one, 0.5
ms a class. A compiler of some five hundred such classes, half of them xDSL's, spends a third of its
start on methods of which few are ever called. Deferred, each is a function that makes the real one
when it is first called, puts it in its own place in the class, and calls it. Most classes are made
a few times in a process: `__init__` sets the fields one by one until that costs as much as to
compile it.

A default made by `list[int]` is made by `list` then: Python tries to note the arguments of the type
in what it makes, and an error that nobody sees costs more than an empty list.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from types import GenericAlias, SimpleNamespace
from typing import Any

COMPILER = "_create_fn"
"""What compiles a method in `dataclasses`, up to Python 3.12; later ones compile all methods of a
class at once, and are left as they are."""

INIT_WRITER = "_init_fn"
"""What writes an `__init__`, from its fields, and gives it to `COMPILER`."""

PLAIN_CALLS = 10
"""Calls after which an `__init__` is compiled: a class that is made this often in a small
compilation is made far more often in a large one."""


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
            made = create(name, args, body, **rest)
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
    """Returns an `__init__` that does without compilation for as long as that is cheaper.

    Args:
        write: Makes the method, from the other arguments.
        fields: Those of the class.
        std_fields: Those of them that are given by place or by name.
        kw_only_fields: Those of them that are given by name only.
        rest: Whether the class is frozen, whether it has a `__post_init__`, and what `write` needs
            beside.
    """
    if kw_only_fields or not all(map(_is_plain, fields)):
        return write(fields, std_fields, kw_only_fields, *rest)

    def method(self: object, /, *values: Any, **named: Any) -> None:
        nonlocal made, left
        left -= 1
        fits = len(values) == len(names) and not named
        given = values if fits else _filled(fields, values, named)
        if given is None or left < 0:  # called wrongly, of which the real one tells, or often
            if made is None:
                made = write(fields, std_fields, kw_only_fields, *rest)
                made.__qualname__ = method.__qualname__
            _replace(self, method, made)
            made(self, *values, **named)
            return
        for name, value in zip(names, given):  # noqa: B905  # as long: this is called often
            assign(self, name, value)
        if has_post_init:
            post: Any = self
            post.__post_init__()

    names = tuple([field.name for field in fields])
    frozen, has_post_init = rest[:2]
    assign = object.__setattr__ if frozen else setattr
    made: Callable[..., Any] | None = None
    left = PLAIN_CALLS
    method.__name__ = "__init__"
    return method


def _replace(owner: object, method: Callable[..., Any], made: Callable[..., Any]) -> None:
    """Puts a method that is made in the place of the deferred one."""
    for one in type(owner).__mro__:
        if vars(one).get(method.__name__) is method:
            setattr(one, method.__name__, made)
            break


def _is_plain(field: Any) -> bool:
    """Whether a field is one that is kept, and that a caller gives."""
    return field.init and field._field_type.name == "_FIELD"  # else a ClassVar or an InitVar


def _filled(
    fields: Sequence[Any], values: tuple[Any, ...], named: dict[str, Any]
) -> Sequence[Any] | None:
    """Returns a value for each field, from the arguments of a call; None where they do not fit."""
    filled, used = list(values), 0
    for field in fields[len(values) :]:
        if field.name in named:
            filled.append(named[field.name])
            used += 1
        elif field.default is not dataclasses.MISSING:
            filled.append(field.default)
        elif field.default_factory is not dataclasses.MISSING:
            filled.append(_without_arguments(field.default_factory)())
        else:
            return None
    return filled if used == len(named) and len(filled) == len(fields) else None


_PLAIN: tuple[type, ...] = (dict, list, set)
"""Types whose values hold nothing but their elements."""


def _without_arguments(found: Any) -> Any:
    """Returns `list` for `list[int]`, and anything else as it is."""
    if type(found) is GenericAlias and (origin := found.__origin__) in _PLAIN:
        return origin
    return found
