"""Reads machine descriptions, those of the package by name and anybody's by path."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast

from ge_dialect.diagnostics import GEError
from ge_dialect.targets.target import Limits, Overhead, Target, Tier

_T = TypeVar("_T")

SCHEMA = "ge.target/1"

_MAX_BYTES = 1 << 20
_MAX_NUMBER = 1 << 62
_TIERS = ("hbm", "l2", "l1", "ub", "l0a", "l0b", "l0c")
_EFFICIENCIES = ("cube", "attention", "hbm", "overlap")


def target_names() -> tuple[str, ...]:
    """Returns the names of the targets that come with the package, in order."""
    return tuple(
        sorted(
            entry.name.removesuffix(".toml")
            for entry in files("ge_dialect.targets").iterdir()
            if entry.name.endswith(".toml")
        )
    )


def load_target(name_or_path: str | Path) -> Target:
    """Returns a machine by its name, whatever the case, or out of a file.

    Args:
        name_or_path: `Ascend910B1`, or a path: whatever ends in `.toml` or has a separator.

    Raises:
        GEError: No target has the name (GE0701), the file cannot be read (GE0702), or it does not
            describe a machine (GE0703).
    """
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or text.endswith(".toml") or "/" in text or "\\" in text:
        return _parse(text, _read(Path(text)))
    return _builtin(text.strip().lower(), text)


@cache
def _builtin(key: str, spelled: str) -> Target:
    known = {name.lower(): name for name in target_names()}
    if (name := known.get(key)) is None:
        family = [found for low, found in known.items() if key and low.startswith(key)]
        near = family or [known[low] for low in get_close_matches(key, known, n=1)]
        raise GEError(
            "GE0701",
            f"expected a target among {', '.join(known.values())}, got '{spelled}'",
            hint=f"did you mean {' or '.join(near)}?" if near else "or give a path of a .toml file",
        )
    source = files("ge_dialect.targets").joinpath(f"{name}.toml")
    return _parse(name, source.read_text(encoding="utf-8"))


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise GEError("GE0702", f"cannot read target '{path}': {error.strerror}") from error
    if len(data) > _MAX_BYTES:
        raise GEError("GE0702", f"target '{path}' is larger than {_MAX_BYTES} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise GEError("GE0703", f"target '{path}' is not UTF-8 text") from error


def _parse(where: str, text: str) -> Target:
    try:
        table = _Table(where, "", tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        message = str(error).splitlines()[0]
        raise GEError("GE0703", f"target '{where}' is not TOML: {message}") from error
    if (schema := table.text("schema")) != SCHEMA:
        raise table.wrong("schema", f"'{SCHEMA}'", f"'{schema}'")
    target = _target(table)
    table.finish()
    return target


def _target(table: _Table) -> Target:
    limits, overhead = table.table("limits"), table.table("overhead_us")
    cores = {"cube_cores": table.count("cube_cores"), "vector_cores": table.count("vector_cores")}
    clock = table.count("clock_hz")
    target = Target(
        name=table.text("name"),
        arch=table.text("arch"),
        short_soc=table.text("short_soc"),
        split_cores=table.flag("split_cores"),
        cube_cores=cores["cube_cores"],
        vector_cores=cores["vector_cores"],
        clock_hz=clock,
        vector_bytes_per_cycle=table.count("vector_bytes_per_cycle"),
        cube_macs=_cube_macs(table),
        tiers=_tiers(table, cores["cube_cores"] * clock, cores["vector_cores"] * clock),
        limits=Limits(limits.count("streams"), limits.count("events")),
        overhead=Overhead(
            kernel_floor_us=overhead.number("kernel_floor"),
            launch_us=overhead.number("launch"),
            launch_eager_us=overhead.number("launch_eager"),
            event_us=overhead.number("event"),
        ),
        efficiency=_fractions(table),
        vector_cycles=table.each("vector_cycles", _Table.rate),
        sources=table.each("source", _Table.text),
        confidences=table.each("confidence", _Table.text),
    )
    limits.finish()
    overhead.finish()
    return target


def _cube_macs(table: _Table) -> Mapping[str, int]:
    macs = table.each("cube_mkn", _Table.product)
    if not macs:
        raise table.wrong("cube_mkn", "an element type or more", "none")
    return macs


def _fractions(table: _Table) -> Mapping[str, float]:
    efficiency = table.table("efficiency")
    found = {name: efficiency.rate(name) for name in _EFFICIENCIES}
    for name, value in found.items():
        if value > 1:
            raise efficiency.wrong(name, "a fraction up to 1", f"{value:g}")
    efficiency.finish()
    return MappingProxyType(found)


def _tiers(table: _Table, cube_hz: int, vector_hz: int) -> Mapping[str, Tier]:
    """Reads the tiers; a rate per cycle of one core becomes one of the whole device."""
    parent, alignments = table.table("tiers"), table.table("alignment")
    tiers: dict[str, Tier] = {}
    for name in _TIERS:
        tier = parent.table(name)
        cycles = vector_hz if name == "ub" else cube_hz
        if tier.has("bandwidth"):
            read = write = tier.rate("bandwidth")
        else:
            read = tier.rate("read_bytes_per_cycle") * cycles
            has_write = tier.has("write_bytes_per_cycle")
            write = tier.rate("write_bytes_per_cycle") * cycles if has_write else read
        alignment = alignments.count(name)
        if alignment & (alignment - 1):
            raise alignments.wrong(name, "a power of two", str(alignment))
        per_core = tier.flag("per_core") if tier.has("per_core") else False
        tiers[name] = Tier(name, tier.count("size"), per_core, read, write, alignment)
        tier.finish()
    parent.finish()
    alignments.finish()
    return MappingProxyType(tiers)


class _Table:
    """A table of the file that knows its path, and which of its keys nobody has asked for."""

    def __init__(self, where: str, path: str, data: Mapping[str, object]):
        self._where, self._path, self._data = where, path, data
        self._unread = dict.fromkeys(data)

    def has(self, key: str) -> bool:
        return key in self._data

    def table(self, key: str) -> _Table:
        value = self._get(key, "a table")
        if not isinstance(value, dict):
            raise self.wrong(key, "a table", repr(value))
        return _Table(self._where, f"{self._path}{key}.", cast("dict[str, object]", value))

    def text(self, key: str) -> str:
        value = self._get(key, "a string")
        if not isinstance(value, str) or not value or not value.isprintable():
            raise self.wrong(key, "one line of text", repr(value))
        return value

    def flag(self, key: str) -> bool:
        value = self._get(key, "true or false")
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false", repr(value))
        return value

    def count(self, key: str) -> int:
        value = self._get(key, "a count")
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < _MAX_NUMBER:
            raise self.wrong(key, "an integer > 0", repr(value))
        return value

    def number(self, key: str) -> float:
        value = self._get(key, "a number")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(key, "a number >= 0", repr(value))
        if not (isfinite(value) and 0 <= value < _MAX_NUMBER):
            raise self.wrong(key, "a number >= 0", repr(value))
        return float(value)

    def rate(self, key: str) -> float:
        if (value := self.number(key)) <= 0:
            raise self.wrong(key, "a number > 0", repr(value))
        return value

    def product(self, key: str) -> int:
        value = self._get(key, "three counts")
        parts: list[Any] = []
        if isinstance(value, list):
            parts = list(cast("list[Any]", value))
        if len(parts) != 3 or not all(type(part) is int and 0 < part <= 4096 for part in parts):
            raise self.wrong(key, "three counts M, K, N up to 4096", repr(parts))
        return parts[0] * parts[1] * parts[2]

    def each(self, key: str, read: Callable[[_Table, str], _T]) -> Mapping[str, _T]:
        inner = self.table(key)
        return MappingProxyType({name: read(inner, name) for name in inner._data})

    def finish(self) -> None:
        """Refuses keys that mean nothing: they are spelled wrong, or for a newer version."""
        if self._unread:
            keys = ", ".join(f"'{self._path}{key}'" for key in self._unread)
            raise GEError(
                "GE0703",
                f"target '{self._where}': unknown {keys}",
                hint=f"{SCHEMA} knows {self._path or 'at the top'}"
                f" {', '.join(key for key in self._data if key not in self._unread)}",
            )

    def wrong(self, key: str, expected: str, got: str) -> GEError:
        text = got if len(got) <= 60 else f"{got[:57]}..."
        return GEError(
            "GE0703",
            f"target '{self._where}': expected '{self._path}{key}' to be {expected}, got {text}",
        )

    def _get(self, key: str, expected: str) -> object:
        if key not in self._data:
            raise GEError(
                "GE0703",
                f"target '{self._where}': expected '{self._path}{key}', {expected}; it is missing",
            )
        self._unread.pop(key, None)
        return self._data[key]
