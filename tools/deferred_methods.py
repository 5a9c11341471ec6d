"""Methods of dataclasses that are compiled when they are first called.

`dataclass` writes the source of up to six methods for each class and compiles them one by one, 0.5
ms a class. A compiler of some five hundred such classes, half of them xDSL's, spends a third of its
start on methods of which few are ever called. Deferred, each is a function that makes the real one
when it is first called, puts it in its own place in the class, and calls it.

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


def defer_methods() -> None:
    """Defers the methods of dataclasses made from now on. For a process that is ours alone."""
    create = getattr(dataclasses, COMPILER, None)
    if create is not None and sys.version_info < (3, 13):
        setattr(dataclasses, COMPILER, functools.partial(deferred, create))
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
        for owner in type(self).__mro__:
            if vars(owner).get(name) is method:
                setattr(owner, name, made)
                break
        return made(self, *values, **named)

    made: Callable[..., Any] | None = None
    method.__name__ = name
    return method


_PLAIN: tuple[type, ...] = (dict, list, set)
"""Types whose values hold nothing but their elements."""


def _without_arguments(found: Any) -> Any:
    """Returns `list` for `list[int]`, and anything else as it is."""
    if type(found) is GenericAlias and (origin := found.__origin__) in _PLAIN:
        return origin
    return found
