"""What a build may rely on: fusions that must happen, and those that happened before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ge_dialect.diagnostics import GEError
from ge_dialect.json_text import json_text
from ge_dialect.remarks import Kind, ReasonClass
from ge_dialect.tools.cli import read_file, write_atomically

if TYPE_CHECKING:
    from ge_dialect.remarks import Remark

FUSION_PASS = "ge-fuse-rules"
NEAREST = 3
MAX_BYTES = 1 << 20


def requirement(text: str) -> tuple[str, int]:
    """Returns rule and count of `RULE:N`; without a count it is 1.

    Raises:
        GEError: The text is something else (GE0105).
    """
    rule, separator, count = text.partition(":")
    if not rule or (separator and (not count.isascii() or not count.isdigit() or len(count) > 9)):
        raise GEError(
            "GE0105",
            f"expected '--require-fusion' to be RULE or RULE:N, got '{text[:60]}'",
            hint="as --require-fusion=FlashAttentionLayerNorm:12",
        )
    return rule, int(count) if separator else 1


def required_rules(requirements: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of the rules that are required.

    Raises:
        GEError: A text is no requirement (GE0105).
    """
    return tuple(dict.fromkeys(requirement(text)[0] for text in requirements))


def check_required(
    requirements: Sequence[str],
    fired: Mapping[str, int],
    remarks: Sequence[Remark],
    sources: Sequence[str] = (),
) -> None:
    """Checks that rules fired as often as was asked; a larger kernel counts for what is inside.

    Args:
        requirements: `RULE:N` each.
        fired: How often each rule fired.
        remarks: Of the run, for the nearest misses.
        sources: Files and modules of further rules.

    Raises:
        GEError: One fired less often (GE0440), or a text is no requirement (GE0105).
    """
    for rule, count in map(requirement, requirements):
        found = fired.get(rule, 0)
        if found < count:
            found += sum(fired.get(larger, 0) for larger in _including(rule, sources))
        if found < count:
            raise GEError(
                "GE0440",
                f"expected {count} fusions by '{rule}', got {found}",
                hint=nearest(rule, remarks),
            )


def _including(rule: str, sources: Sequence[str]) -> list[str]:
    from ge_dialect.passes.fusion.inclusion import rules_including
    from ge_dialect.passes.fusion.registry import registry_of

    return rules_including(rule, registry_of(tuple(sources)).ordered())


def check_baseline(path: str, fired: Mapping[str, int], remarks: Sequence[Remark]) -> str:
    """Compares with the fusions of an earlier run, or writes them where there is no file yet.

    Args:
        path: Of a JSON file.
        fired: How often each rule fired.
        remarks: Of the run, for the nearest misses.

    Returns:
        A line that says what was done.

    Raises:
        GEError: A rule fired less often than before (GE0441), the file is malformed (GE0442) or
            cannot be read or written.
    """
    if not Path(path).exists():
        text = json_text({"fusions": dict(sorted(fired.items()))})
        write_atomically(path, text.encode())
        return f"wrote the fusion baseline '{path}'"
    before = _read_baseline(path)
    fewer = [rule for rule, count in before.items() if fired.get(rule, 0) < count]
    if fewer:
        parts = [f"'{r}' {fired.get(r, 0)} of {before[r]}" for r in fewer]
        raise GEError(
            "GE0441",
            f"fewer fusions than in '{path}': {', '.join(parts)}",
            hint=_nearest_of(fewer, remarks),
        )
    more = {rule: count for rule, count in fired.items() if count > before.get(rule, 0)}
    extra = f", more by {', '.join(sorted(more))}: delete it to write it anew" if more else ""
    return f"fusions are those of the baseline '{path}'{extra}"


def _read_baseline(path: str) -> dict[str, int]:
    import json

    data = read_file(path, MAX_BYTES + 1)
    try:
        found = json.loads(data) if len(data) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        found = None
    table = cast("dict[str, object]", found).get("fusions") if isinstance(found, dict) else None
    if isinstance(table, dict):
        counts = cast("dict[str, object]", table)
        if all(type(count) is int and count >= 0 for count in counts.values()):
            return cast("dict[str, int]", counts)
    raise GEError(
        "GE0442",
        f"'{path}' is no fusion baseline",
        hint="delete it and run once more, to write it anew",
    )


def _nearest_of(rules: Sequence[str], remarks: Sequence[Remark]) -> str:
    """Returns the nearest miss of each of some rules, and how to hear of all."""
    found = [_shown(misses[0]) for rule in rules if (misses := _misses(rule, remarks))]
    told = f"nearest: {'; '.join(found[:NEAREST])}; " if found else ""
    return f"{told}--why-not={','.join(rules)} tells every partial match"


def nearest(rule: str, remarks: Sequence[Remark]) -> str:
    """Returns the nearest misses of a rule, in one line."""
    found = _misses(rule, remarks)
    if not found:
        return f"nothing comes near: --why-not={rule} tells every partial match"
    rest = f"; and {len(found) - NEAREST} more" if len(found) > NEAREST else ""
    return f"nearest: {'; '.join(map(_shown, found[:NEAREST]))}{rest}"


def _misses(rule: str, remarks: Sequence[Remark]) -> list[Remark]:
    """Returns the misses of a rule, first those that a change would mend, last what is absent."""
    found = [
        r
        for r in remarks
        if r.kind is Kind.MISSED and r.pass_name == FUSION_PASS and r.rule == rule
    ]
    return sorted(found, key=_distance)


def _distance(remark: Remark) -> int:
    if remark.fix is not None and "verified" in remark.fix:
        return 0
    absent = remark.reason_class is ReasonClass.ORDER and remark.fix is None
    return 2 if absent else 1


def _shown(remark: Remark) -> str:
    return str(remark).removeprefix(f"remark: [missed] {FUSION_PASS}: ")
