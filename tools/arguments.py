"""Arguments of the command line tools: wrong ones are errors with a code, on one line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import NoReturn

from ge_dialect.diagnostics import GEError

SHOWN = 60


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors have a code and one line."""

    def error(self, message: str) -> NoReturn:
        raise GEError("GE0105", message, hint=f"see {self.prog} --help")


def refuse_unknown(
    parser: argparse.ArgumentParser, unknown: Sequence[str], also: Sequence[str] = ()
) -> None:
    """Raises where arguments are left over, naming the first and what it may have meant.

    Args:
        parser: Knows the right ones.
        unknown: What it left.
        also: Further names that may have been meant.

    Raises:
        GEError: Something is left.
    """
    from difflib import get_close_matches

    if not unknown:
        return
    known = [*re.findall(r"--[a-z-]+", parser.format_help()), *also]
    near = get_close_matches(unknown[0].partition("=")[0].replace("_", "-"), known, 1)
    raise GEError(
        "GE0105",
        f"unknown argument '{unknown[0][:SHOWN]}'",
        hint=f"did you mean '{near[0]}'?" if near else f"see {parser.prog} --help",
    )
