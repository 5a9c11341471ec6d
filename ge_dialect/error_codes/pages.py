"""Error codes as text: one page for the terminal, all of them for the documentation."""

from __future__ import annotations

from ge_dialect.error_codes import CODES, RANGES, CodeInfo


def page(code: str) -> str:
    """Returns title, symptom, cause and solution of a code.

    Raises:
        KeyError: There is no such code.
    """
    info = CODES[code]
    return (
        f"{code}: {info.title}\n\n"
        f"Symptom:  {info.symptom}\n"
        f"Cause:    {info.cause}\n"
        f"Solution: {info.solution}\n"
    )


def reference() -> str:
    """Returns `docs/errors.md`: all codes by range, as Markdown."""
    parts = [
        "# Error codes\n\n"
        "An error that can be acted upon has a code, which keeps its meaning in later versions.\n"
        "`ge-opt --explain GE0201` prints the same text. This page is generated: `make docs`.\n"
    ]
    for prefix, (title, table) in RANGES.items():
        if table:
            parts.append(f"## {prefix}xx: {title}\n")
            parts += [_section(code, info) for code, info in sorted(table.items())]
    return "\n".join(parts)


def _section(code: str, info: CodeInfo) -> str:
    return (
        f"### {code}: {info.title}\n\n"
        f"- **Symptom**: {info.symptom}\n"
        f"- **Cause**: {info.cause}\n"
        f"- **Solution**: {info.solution}\n"
    )
