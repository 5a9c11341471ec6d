"""Methods of dataclasses that are compiled when they are first called.

`dataclass` writes the source of up to six methods for each class and compiles them one by one, 0.5
ms a class. A compiler of some five hundred such classes, half of them xDSL's, spends a third of its
start on methods of which few are ever called. Deferred, each is a function that makes the real one
when it is first called, puts it in its own place in the class, and calls it.

Most of what is called are `__init__`s, most of which differ in the names of their fields only. So
they are compiled with numbers for names, once for all that are alike, and get their names back in
the byte code.

A default made by `list[int]` is made by `list` then: Python tries to note the arguments of the type
in what it makes, and an error that nobody sees costs more than an empty list.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from types import CellType, CodeType, FunctionType, GenericAlias, SimpleNamespace
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
            made = _init(args, body, **rest) if name == "__init__" else None
            made = made or create(name, args, body, **rest)
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


_OBJECT, _FACTORY, _DEFAULT = "__dataclass_builtins_object__", "_HAS_DEFAULT_FACTORY", "_dflt_"
"""Names in the source that `dataclasses` writes: `object`, the default of a parameter whose field
has a factory, and what the names of other defaults and of factories begin with."""

_POST_INIT = "self.__post_init__()"
_OTHERWISE = -1


def _init(
    args: Sequence[str],
    body: Sequence[str],
    globals: dict[str, Any],
    locals: Mapping[str, Any],
    **_: Any,
) -> Callable[..., Any] | None:
    """Returns an `__init__` as `dataclasses` makes it, without annotations, which nobody reads.
    None where it does more than to set fields to parameters and to call `__post_init__`."""
    names = [arg.partition(":")[0] for arg in args]
    defaults = [arg.partition("=")[2] for arg in args]
    made = tuple([default == _FACTORY for default in defaults])
    frozen = body[0].startswith(_OBJECT)
    known = {_line(name, made[i], frozen): i for i, name in enumerate(names)} | {_POST_INIT: 0}
    steps = tuple([known.get(line, _OTHERWISE) for line in body])
    if names[0] != "self" or _OTHERWISE in steps:
        return None
    keywords = names.index("*") if "*" in names else len(names)
    template = _template(made, steps, keywords, frozen)
    true = {f"_{i}": name for i, name in enumerate(names)}
    true |= {f"{_DEFAULT}_{i}": _DEFAULT + name for i, name in enumerate(names) if made[i]}
    code = template.replace(
        co_varnames=tuple([true.get(name, name) for name in template.co_varnames]),
        co_names=tuple([true.get(name, name) for name in template.co_names]),
        co_freevars=tuple([true.get(name, name) for name in template.co_freevars]),
        co_consts=tuple([true.get(one, one) for one in template.co_consts]),
    )
    values = {
        name: locals[default] for name, default in zip(names, defaults, strict=True) if default
    }
    init = FunctionType(
        code, globals, closure=tuple([CellType(locals[name]) for name in code.co_freevars])
    )
    named = {one: values.pop(one) for one in names[keywords:] if one in values}
    init.__defaults__, init.__kwdefaults__ = tuple(values.values()) or None, named or None
    return init


def _line(name: str, made: bool, frozen: bool) -> str:
    """Returns the line of an `__init__` that sets a field, by a factory where none is given."""
    value = f"{_DEFAULT}{name}() if {name} is {_FACTORY} else {name}" if made else name
    return f"{_OBJECT}.__setattr__(self,{name!r},{value})" if frozen else f"self.{name}={value}"


@functools.lru_cache(maxsize=512)
def _template(
    made: tuple[bool, ...], steps: tuple[int, ...], keywords: int, frozen: bool
) -> CodeType:
    """Returns the byte code of an `__init__` whose fields have numbers for names.

    Args:
        made: Whether a factory makes a field where none is given; `self` is number 0.
        steps: The fields in the order in which they are set; 0 calls `__post_init__`.
        keywords: The number of the `*` that stands before keywords.
        frozen: Whether the class is.
    """
    names = ["self", *(f"_{i}" for i in range(1, len(made)))]
    lines = [_line(names[i], made[i], frozen) if i else _POST_INIT for i in steps]
    free = ",".join([_OBJECT, _FACTORY, *(_DEFAULT + name for name in names)])
    names[keywords : keywords + 1] = ["*"] if keywords < len(names) else []
    text = f"def make({free}):\n def __init__({','.join(names)}):\n  " + "\n  ".join(lines)
    found = compile(text, "<string>", "exec")
    for name in ("make", "__init__"):
        codes = [one for one in found.co_consts if isinstance(one, CodeType)]
        found = next(one for one in codes if one.co_name == name)
    return found
