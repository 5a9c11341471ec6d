"""Reads machine descriptions, those of the package by name and anybody's by path."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from ge_dialect.diagnostics import GEError
from ge_dialect.targets.table import Table
from ge_dialect.targets.target import CONFIDENCES, Limits, Overhead, Target, Tier

SCHEMA = "ge.target/1"

_FOLDER = Path(__file__).parent
_MAX_BYTES = 1 << 20
TIERS = ("hbm", "l2", "l1", "ub", "l0a", "l0b", "l0c")
"""The levels of memory that every machine has."""

_EFFICIENCIES = ("cube", "attention", "hbm", "l2", "overlap")
_NOTES = ("source", "confidence")


def target_names() -> tuple[str, ...]:
    """Returns the names of the targets that come with the package, in order."""
    return tuple(
        sorted(
            entry.name.removesuffix(".toml")
            for entry in _FOLDER.iterdir()
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
    return builtin_target(text)


def builtin_target(name: str) -> Target:
    """Returns a machine that comes with the package, by its name, whatever the case.

    Raises:
        GEError: No target has the name (GE0701).
    """
    return _builtin(name.strip().lower(), name)


@cache
def _builtin(key: str, spelled: str) -> Target:
    from difflib import get_close_matches

    known = {name.lower(): name for name in target_names()}
    if (name := known.get(key)) is None:
        family = [found for low, found in known.items() if key and low.startswith(key)]
        near = family or [known[low] for low in get_close_matches(key, known, n=1)]
        raise GEError(
            "GE0701",
            f"expected a target among {', '.join(known.values())}, got '{spelled}'",
            hint=f"did you mean {' or '.join(near)}?" if near else "or give a path of a .toml file",
        )
    return _parse(name, (_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


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
        table = Table(f"target '{where}'", tomllib.loads(text), "GE0703")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        message = str(error).splitlines()[0]
        raise GEError("GE0703", f"target '{where}' is not TOML: {message}") from error
    if (schema := table.text("schema")) != SCHEMA:
        raise table.wrong("schema", f"'{SCHEMA}'", f"'{schema}'")
    cube_hz, vector_hz = (
        table.count(cores) * table.count("clock_hz") for cores in ("cube_cores", "vector_cores")
    )
    target = machine(table, _tiers(table, cube_hz, vector_hz), _cube_macs(table))
    table.finish()
    _check_notes(table, target)
    return target


def machine(table: Table, tiers: Mapping[str, Tier], cube_macs: Mapping[str, int]) -> Target:
    """Returns a machine out of its description, but for two parts that have several spellings.

    Raises:
        GEError: A figure is missing or may not be, with the code of the table.
    """
    limits, overhead = table.table("limits"), table.table("overhead_us")
    fill = "attention_fill"
    target = Target(
        name=table.text("name"),
        arch=table.text("arch"),
        short_soc=table.text("short_soc"),
        split_cores=table.flag("split_cores"),
        cube_cores=table.count("cube_cores"),
        vector_cores=table.count("vector_cores"),
        clock_hz=table.count("clock_hz"),
        vector_bytes_per_cycle=table.count("vector_bytes_per_cycle"),
        cube_macs=cube_macs,
        tiers=tiers,
        limits=Limits(
            limits.count("streams"),
            limits.count("events"),
            limits.count("tasks") if limits.has("tasks") else None,
        ),
        overhead=Overhead(
            kernel_floor_us=overhead.number("kernel_floor"),
            launch_us=overhead.number("launch"),
            launch_eager_us=overhead.number("launch_eager"),
            event_us=overhead.number("event"),
            attention_fill_us=overhead.number(fill) if overhead.has(fill) else 0.0,
        ),
        efficiency=_fractions(table),
        vector_cycles=table.each("vector_cycles", Table.rate),
        sources=_notes(table, "source", Table.text),
        confidences=_notes(table, "confidence", _confidence),
    )
    limits.finish()
    overhead.finish()
    return target


def _notes(table: Table, key: str, read: Callable[[Table, str], str]) -> Mapping[str, str]:
    return table.each(key, read) if table.has(key) else MappingProxyType({})


def _check_notes(table: Table, target: Target) -> None:
    """Refuses notes on what is no figure, or no table of figures, of the file."""
    for key, notes in zip(_NOTES, (target.sources, target.confidences), strict=True):
        for figure in notes:
            if not table.names(figure) or figure.partition(".")[0] in _NOTES:
                raise table.table(key).wrong(figure, "about a figure of the file", "no such figure")


def _confidence(table: Table, key: str) -> str:
    if (word := table.text(key)) not in CONFIDENCES:
        raise table.wrong(key, f"one of {', '.join(CONFIDENCES)}", f"'{word}'")
    return word


def _cube_macs(table: Table) -> Mapping[str, int]:
    macs = table.each("cube_mkn", Table.product)
    if not macs:
        raise table.wrong("cube_mkn", "an element type or more", "none")
    return macs


def _fractions(table: Table) -> Mapping[str, float]:
    efficiency = table.table("efficiency")
    found = {
        name: 1.0 if name == "l2" and not efficiency.has(name) else efficiency.rate(name)
        for name in _EFFICIENCIES
    }
    for name, value in found.items():
        if value > 1:
            raise efficiency.wrong(name, "a fraction up to 1", f"{value:g}")
    efficiency.finish()
    return MappingProxyType(found)


def _tiers(table: Table, cube_hz: int, vector_hz: int) -> Mapping[str, Tier]:
    """Reads the tiers; a rate per cycle of one core becomes one of the whole device."""
    parent, alignments = table.table("tiers"), table.table("alignment")
    tiers: dict[str, Tier] = {}
    for name in TIERS:
        tier = parent.table(name)
        cycles = vector_hz if name == "ub" else cube_hz
        if tier.has("bandwidth"):
            read = write = tier.rate("bandwidth")
        else:
            read = tier.rate("read_bytes_per_cycle") * cycles
            has_write = tier.has("write_bytes_per_cycle")
            write = tier.rate("write_bytes_per_cycle") * cycles if has_write else read
        alignment = alignments.power_of_two(name)
        per_core = tier.flag("per_core") if tier.has("per_core") else False
        tiers[name] = Tier(name, tier.count("size"), per_core, read, write, alignment)
        tier.finish()
    parent.finish()
    alignments.finish()
    return MappingProxyType(tiers)
