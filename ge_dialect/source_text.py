"""What is checked of MLIR text before a parser sees it."""

from __future__ import annotations

import re

from ge_dialect.diagnostics import GEError

_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*")|(?P<comment>//[^\n]*)|"'
)


def check_strings(text: str, name: str) -> None:
    """Checks that every string literal ends on its line and has known escapes only; linear.

    xDSL's lexer takes time exponential in the length of a literal that does not, so that a quote
    that was forgotten would hang the tool.

    Args:
        text: A module in textual form.
        name: Of the file, for the message.

    Raises:
        GEError: GE0310, with line and column.
    """
    for token in _TOKEN.finditer(text):
        if token.lastgroup is None:
            start = token.start()
            line = text.count("\n", 0, start) + 1
            column = start - text.rfind("\n", 0, start)
            raise GEError(
                "GE0310",
                f"{name}:{line}:{column}: expected a string that ends on its line",
                hint='close the quote; a backslash stands before ", \\, n, t or two hex digits',
            )
