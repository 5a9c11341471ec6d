"""The arguments of the safety net, as `ge-opt` and `ge-compile` share them."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Sequence
from typing import Any, Protocol

NUMERICS = ("end", "each")


class Arguments(Protocol):
    """A parser, or a group of its arguments."""

    def add_argument(self, *name_or_flags: str, **kwargs: Any) -> Any:
        """Adds an argument."""


def spelled_out(arguments: Sequence[str]) -> list[str]:
    """Returns arguments with `--check-numerics` as `--check-numerics=end`, so that what follows
    is not taken for its value."""
    return [f"{one}={NUMERICS[0]}" if one == "--check-numerics" else one for one in arguments]


def add_shared_arguments(group: Arguments) -> None:
    """Adds what both tools have."""
    group.add_argument(
        "--check-numerics",
        choices=NUMERICS,
        help="run the functions before and after on random inputs (each: after every pass); where"
        " values differ, name pass, rule, match and op, and write a reduced module",
    )
    group.add_argument(
        "--numerics-seed", type=int, default=0, metavar="N", help="of the random inputs (default 0)"
    )
    group.add_argument(
        "--reproducer",
        metavar="FILE",
        help="where the module that reproduces a fault goes, - for stderr; given, errors of the"
        " input write one as well (default: reproducer-HASH.mlir, for faults of a pass)",
    )


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"expected a whole number from 0 on, got '{text[:40]}'")
    return int(text)


def add_opt_arguments(group: Arguments) -> None:
    """Adds what `ge-opt` has alone."""
    add_shared_arguments(group)
    group.add_argument(
        "--run-reproducer",
        action="store_true",
        help="take further arguments from the '// configuration:' line of the input",
    )
    group.add_argument(
        "--max-rewrites",
        type=_natural,
        metavar="N",
        help="let the first N rewrites of the pipeline happen, and no other",
    )
    group.add_argument(
        "--bisect",
        metavar="COMMAND",
        help="find the rewrite after which COMMAND fails; {} in it is a file with the result",
    )
