"""The IR between passes, on stderr, where it was asked for."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.printing import exact_text
from ge_dialect.tools.check.options import Arguments


def add_show_arguments(group: Arguments) -> None:
    """Adds the arguments that `Shower` reads."""
    for when in ("before", "after"):
        group.add_argument(
            f"--print-{when}", metavar="PASS", help=f"print the IR {when} this pass, to stderr"
        )
    group.add_argument(
        "--print-after-change",
        action="store_true",
        help="print the IR after each pass that changed it, to stderr",
    )


class Shower:
    """Prints the IR before and after passes, after each one at most once.

    Args:
        args: Of the command line.
        passes: The pipeline.

    Raises:
        GEError: A pass that was named is not among them (GE0105).
    """

    def __init__(self, args: Namespace, passes: Sequence[ModulePass]):
        self.args = args
        self.last = ""
        known = [one.name for one in passes]
        for when, name in (("before", args.print_before), ("after", args.print_after)):
            if name not in (None, *known):
                raise GEError(
                    "GE0105",
                    f"expected 'print-{when}' to be a pass of the pipeline ({', '.join(known)}),"
                    f" got '{name}'",
                )

    def between(
        self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
    ) -> None:
        """Prints what is wanted between two passes; None for the ends of the pipeline."""
        text = exact_text(module) if self.args.print_after_change else ""
        if previous is not None and self._wants(previous, following, text != self.last):
            _print(f"// IR after {previous.name}\n", module)
        if following is not None and following.name == self.args.print_before:
            _print(f"// IR before {following.name}\n", module)
        self.last = text

    def _wants(self, previous: ModulePass, following: ModulePass | None, changed: bool) -> bool:
        return (
            changed
            or previous.name == self.args.print_after
            or (following is not None and self.args.print_between_passes)
        )


def _print(head: str, module: ModuleOp) -> None:
    sys.stderr.write(head + exact_text(module))
