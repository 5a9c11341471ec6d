"""Writes docs/library.md: the rules of the built-in operator library, out of the rules themselves.

    python scripts/write_library_docs.py [--check]

With `--check` nothing is written, and the exit status is 1 where the page is not up to date.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ge_dialect.passes.fusion import library
from ge_dialect.passes.fusion.pattern import Any, Const, Maybe, Node, Nothing, OneOf, Pattern
from ge_dialect.passes.fusion.rule import FusionRule, Rule

PAGE = Path(__file__).resolve().parent.parent / "docs" / "library.md"

HEAD = f"""# The operator library `{library.NAME}`

<!-- Written by scripts/write_library_docs.py (`make docs`): change the rules, not this page. -->

The built-in rules of [`ge-fuse-rules`](passes.md#ge-fuse-rules), first tried first. Names are those
of GE's own rules, without `FusionPass` behind, where it has the rule. A kernel's body is the
matched ops, so every rounding stays; what the column *precision* says is for comparison with GE's
kernels. A rule of yours has priority 0 unless it says another, and so comes before those below 0.

In *fuses*, `op?` may be left out, `a/b` are alternatives, and small letters are inputs. Where
*fits* is said, what passes between the products and reductions of the kernel has to fit on chip
(see [`ge-fuse-auto`](passes.md#ge-fuse-auto)); a kernel that does not is refused with the reason
`COST`, the bytes needed and available, and smaller ones are tried. *UB* marks those that GE lists
under `UBFusion`.

| rule | kernel | priority | fuses | conditions | machines | precision |
| --- | --- | --- | --- | --- | --- | --- |
"""


def page() -> str:
    """Returns the text of the page."""
    rules = [rule for family in library.families() for rule in family.RULES]
    rules.sort(key=lambda rule: (-rule.priority, -rule.size, rule.name))
    return HEAD + "".join(f"| {' | '.join(row(rule))} |\n" for rule in rules)


def row(rule: Rule) -> list[str]:
    """Returns the cells of a rule."""
    text = ", ".join(f"`{shape}`" for shape in alternatives(rule.patterns))
    if not isinstance(rule, FusionRule):
        text = f"{rule.count} of {text} that read one value"
    named = [
        "fits" if condition.name == "the kernel fits on chip" else condition.name
        for condition in rule.conditions
    ]
    given = [f"also gives `{name}`" for name in getattr(rule, "outputs", ())]
    marks = ["UB"] if rule.on_chip else []
    return [
        f"`{rule.name}`",
        f"`{rule.kernel}`",
        str(rule.priority),
        text,
        ", ".join([*named, *given, *marks]),
        ", ".join(rule.targets) or "all",
        rule.precision or "the same",
    ]


def alternatives(patterns: Sequence[Pattern]) -> list[str]:
    """Returns patterns as texts; ops of the same operands together, as `relu/gelu(x)`."""
    names: dict[str, list[str]] = {}
    for pattern in patterns:
        name, _, operands = shown(pattern).partition("(")
        names.setdefault(operands, []).append(name)
    return ["/".join(ops) + ("(" if rest else "") + rest for rest, ops in names.items()]


def shown(pattern: Pattern) -> str:
    """Returns a pattern as text: `relu(add(a, b))`."""
    match pattern:
        case Node():
            parts = [shown(operand) for operand in pattern.operands]
            return f"{pattern.op.name.removeprefix('ge.')}({', '.join(parts)})"
        case Maybe():
            name = pattern.node.op.name.removeprefix("ge.")
            parts = [shown(operand) for operand in pattern.node.operands]
            return f"{name}?({', '.join(parts)})"
        case OneOf():
            return " or ".join(alternatives(pattern.choices))
        case Any():
            return pattern.name or "any"
        case Const():
            return f"{pattern.value:g}"
        case Nothing():
            return "nothing"
        case _:
            return pattern.name or "weight"


def main() -> None:
    """Writes the page, or compares it."""
    text = page()
    if "--check" in sys.argv:
        sys.exit(not PAGE.is_file() or PAGE.read_text() != text)
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
