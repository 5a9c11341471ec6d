"""What a rule consists of, as a digest: of functions the code, and all that the code reads."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import cast

from xdsl import __version__ as xdsl_version

from ge_dialect import __version__
from ge_dialect.passes.fusion.rule import Rule

RELEASED = frozenset({"ge_dialect", "xdsl", "numpy", "onnx", "ml_dtypes"}) | sys.stdlib_module_names
"""Packages whose code changes with their version only: names are enough."""


def content_key(rule: Rule) -> str:
    """Returns a digest of everything that a rule says and does.

    Of a function that is its code, its defaults, what it closes over, and the global values and
    functions that it names, and so on; of an object its class and its attributes.
    """
    parts = "\n".join(_Content().of(rule))
    versions = f"{__version__} {xdsl_version} {sys.version}"
    return hashlib.sha256(f"{versions}\n{parts}".encode()).hexdigest()


@dataclass
class _Content:
    """One walk over what a rule is made of; what was seen before is told by its number."""

    seen: dict[int, int] = field(default_factory=dict[int, int])
    alive: list[object] = field(default_factory=list[object])

    def of(self, value: object) -> Iterator[str]:
        """Yields the content of a value, what is the same in two processes as the same texts."""
        if isinstance(value, str | int | float | bool | bytes | type(None)):
            yield repr(value)
            return
        if (number := self.seen.get(id(value))) is not None:
            yield f"again {number}"
            return
        self.seen[id(value)] = len(self.seen)
        self.alive.append(value)  # so that no other object gets its identity
        yield type(value).__qualname__
        yield from self._parts(value)

    def _parts(self, value: object) -> Iterator[str]:
        match value:
            case type():
                yield from self._class(value)
            case tuple() | list():
                yield from self._all(cast("Sequence[object]", value))
            case set() | frozenset():
                yield from sorted(map(repr, cast("frozenset[object]", value)))
            case dict():
                pairs = cast("dict[object, object]", value)
                yield from self._all([*pairs.keys(), *pairs.values()])
            case CodeType():
                yield from self._code(value)
            case FunctionType():
                yield from self._function(value)
            case MethodType():
                yield from self._all((value.__func__, value.__self__))
            case partial():
                made = cast("partial[object]", value)
                yield from self._all((made.func, made.args, made.keywords))
            case ModuleType() | BuiltinFunctionType():
                yield value.__name__
            case _:
                yield from self._object(value)

    def _all(self, values: Sequence[object]) -> Iterator[str]:
        yield str(len(values))
        for value in values:
            yield from self.of(value)

    def _object(self, value: object) -> Iterator[str]:
        yield from self.of(type(value))
        if is_dataclass(value):
            for one in fields(value):
                yield one.name
                yield from self.of(getattr(value, one.name))
        elif isinstance(held := getattr(value, "__dict__", None), dict):
            yield from self.of(cast("object", held))
        else:
            yield repr(value)

    def _class(self, value: type) -> Iterator[str]:
        yield f"{value.__module__}.{value.__qualname__}"
        if _is_released(value.__module__):
            return
        for name, held in cast("Mapping[str, object]", vars(value)).items():
            if isinstance(held, property):
                yield name
                yield from self.of(held.fget)
            elif isinstance(held, FunctionType | staticmethod | classmethod):
                yield name
                yield from self.of(cast("object", getattr(held, "__wrapped__", held)))  # pyright: ignore[reportUnknownArgumentType]  # generic
            elif not name.startswith("__"):
                yield from self.of(held)

    def _function(self, function: FunctionType) -> Iterator[str]:
        yield f"{function.__module__}.{function.__qualname__}"
        if _is_released(function.__module__):
            return
        yield from self.of(function.__code__)
        yield from self.of(function.__defaults__)
        yield from self.of(function.__kwdefaults__)
        cells = function.__closure__ or ()
        yield from self._all([cell.cell_contents for cell in cells])
        values = cast("Mapping[str, object]", function.__globals__)
        for name in _names(function.__code__):
            if name in values:
                yield name
                yield from self.of(values[name])

    def _code(self, code: CodeType) -> Iterator[str]:
        yield code.co_code.hex()
        yield repr((code.co_names, code.co_varnames, code.co_freevars))
        yield from self._all(code.co_consts)


def _names(code: CodeType) -> Iterator[str]:
    """Yields the names that code reads, those of functions in it as well."""
    yield from code.co_names
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _names(value)


def _is_released(module: str | None) -> bool:
    """Whether code of a module belongs to a released package: not that of its author's rules."""
    return module is not None and module.partition(".")[0] in RELEASED
