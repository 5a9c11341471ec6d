"""Reads one table after the other of a machine description, strictly, and names what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any, TypeVar, cast

from ge_dialect.diagnostics import GEError

_T = TypeVar("_T")

_MAX_NUMBER = 1 << 62


class Table:
    """A table that knows its path, and which of its keys nobody has asked for.

    Args:
        where: What the messages call the whole description, such as `target 'mine.toml'`.
        data: Strings, numbers, truth values, lists and tables by key.
        code: Of the errors.
        path: Of this table in the description, with a point at its end.
    """

    def __init__(self, where: str, data: Mapping[str, object], code: str, path: str = ""):
        self._where, self._data, self._code, self._path = where, data, code, path
        self._unread = dict.fromkeys(data)

    def has(self, key: str) -> bool:
        """Whether the table has a key."""
        return key in self._data

    def names(self, path: str) -> bool:
        """Whether there is a value or table at a path such as `tiers.l2`."""
        key, _, rest = path.partition(".")
        if key not in self._data:
            return False
        return not rest or (isinstance(self._data[key], dict) and self.table(key).names(rest))

    def table(self, key: str) -> Table:
        """Returns the table at a key; this and all others below raise where it is none."""
        value = self._get(key, "a table")
        if not isinstance(value, dict):
            raise self.wrong(key, "a table", repr(value))
        inner = cast("dict[str, object]", value)
        return Table(self._where, inner, self._code, f"{self._path}{key}.")

    def text(self, key: str) -> str:
        """Returns the line of text at a key."""
        value = self._get(key, "a string")
        if not isinstance(value, str) or not value or not value.isprintable():
            raise self.wrong(key, "one line of text", repr(value))
        return value

    def flag(self, key: str) -> bool:
        """Returns the truth value at a key."""
        value = self._get(key, "true or false")
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false", repr(value))
        return value

    def count(self, key: str) -> int:
        """Returns the integer > 0 at a key."""
        value = self._get(key, "a count")
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < _MAX_NUMBER:
            raise self.wrong(key, "an integer > 0", repr(value))
        return value

    def power_of_two(self, key: str) -> int:
        """Returns the power of two at a key."""
        if (value := self.count(key)) & (value - 1):
            raise self.wrong(key, "a power of two", str(value))
        return value

    def number(self, key: str) -> float:
        """Returns the number >= 0 at a key."""
        value = self._get(key, "a number")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(key, "a number >= 0", repr(value))
        if not (isfinite(value) and 0 <= value < _MAX_NUMBER):
            raise self.wrong(key, "a number >= 0", repr(value))
        return float(value)

    def rate(self, key: str) -> float:
        """Returns the number > 0 at a key."""
        if (value := self.number(key)) <= 0:
            raise self.wrong(key, "a number > 0", repr(value))
        return value

    def product(self, key: str) -> int:
        """Returns the product of the three counts at a key."""
        value = self._get(key, "three counts")
        parts: list[Any] = []
        if isinstance(value, list):
            parts = list(cast("list[Any]", value))
        if len(parts) != 3 or not all(type(part) is int and 0 < part <= 4096 for part in parts):
            raise self.wrong(key, "three counts M, K, N up to 4096", repr(parts))
        return parts[0] * parts[1] * parts[2]

    def each(self, key: str, read: Callable[[Table, str], _T]) -> Mapping[str, _T]:
        """Returns what `read` makes of every key of the table at a key."""
        inner = self.table(key)
        return MappingProxyType({name: read(inner, name) for name in inner._data})

    def finish(self) -> None:
        """Refuses keys that mean nothing: they are spelled wrong, or for a newer version."""
        if self._unread:
            keys = ", ".join(f"'{self._path}{key}'" for key in self._unread)
            known = ", ".join(key for key in self._data if key not in self._unread)
            raise GEError(
                self._code,
                f"{self._where}: unknown {keys}",
                hint=f"known {f'in {self._path[:-1]}' if self._path else 'at the top'}: {known}",
            )

    def wrong(self, key: str, expected: str, got: str) -> GEError:
        """Returns the error of a value that may not be."""
        text = got if len(got) <= 60 else f"{got[:57]}..."
        return GEError(
            self._code,
            f"{self._where}: expected '{self._path}{key}' to be {expected}, got {text}",
        )

    def _get(self, key: str, expected: str) -> object:
        if key not in self._data:
            raise GEError(
                self._code,
                f"{self._where}: expected '{self._path}{key}', {expected}; it is missing",
            )
        self._unread.pop(key, None)
        return self._data[key]
