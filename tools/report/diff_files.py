"""Two files in, the text of their differences and an exit code out."""

from __future__ import annotations

from ge_dialect.json_text import json_text
from ge_dialect.tools.check.options import Arguments

DIFFERENT = 2
"""Exit code where the plans differ; 1 is that of errors."""


def add_diff_arguments(group: Arguments) -> None:
    """Adds the options of `--diff-plan`."""
    group.add_argument(
        "--diff-plan",
        nargs=2,
        metavar=("A.om", "B.om"),
        help="print what is different between two plans; the exit code is 2 where something is",
    )
    group.add_argument(
        "--diff-format", choices=("text", "json"), default="text", help="of --diff-plan"
    )


def diff_files(old: str, new: str, form: str = "text") -> tuple[str, int]:
    """Returns what is different between two `.om` files, and the exit code of `--diff-plan`.

    Args:
        old: Path of the one.
        new: Path of the other.
        form: `text` or `json`.

    Raises:
        GEError: One cannot be read, or its plan is not sound.
    """
    from ge_dialect.tools.report.plan_diff import diff_plans, diff_text
    from ge_dialect.tools.report.plan_facts import plan_facts

    diff = diff_plans(plan_facts(old), plan_facts(new))
    text = diff_text(diff) if form == "text" else json_text(diff)
    return text, 0 if diff["equal"] else DIFFERENT
