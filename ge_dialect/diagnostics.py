"""Errors with stable codes: one line for the user, a page for whoever wants to know more."""

from __future__ import annotations

MAX_MESSAGE = 1600
"""Characters of a message; of a longer one the middle is left out."""


class GEError(Exception):
    """Something the user can act on.

    Attributes:
        code: `GE` and four digits; a key of `ge_dialect.error_codes.CODES`.
        message: One line: what, where, what was expected. Line breaks and what a terminal would
            act on, such as in the names of a damaged model, are replaced.
        hint: What to do about it, or None.
    """

    def __init__(self, code: str, message: str, *, hint: str | None = None):
        super().__init__(code, message)  # what pickle passes to the constructor
        self.code = code
        self.message = message if _is_fit(message) else _fit(message)
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.code}: {self.message}"
        return text if self.hint is None else f"{text}; {self.hint}"


def _is_fit(text: str) -> bool:
    return len(text) <= MAX_MESSAGE and text.isprintable()


def _fit(text: str) -> str:
    """Returns a text on one line, of at most about `MAX_MESSAGE` characters."""
    line = " ".join(text.split())
    line = "".join(character if character.isprintable() else "?" for character in line)
    half = MAX_MESSAGE // 2
    return line if len(line) <= MAX_MESSAGE else f"{line[:half]} ... {line[-half:]}"


def explain(code: str) -> str:
    """Returns the page of an error code: title, symptom, cause, solution.

    Args:
        code: In upper or lower case.

    Raises:
        GEError: There is no such code (GE0102).
    """
    from ge_dialect.error_codes.pages import page

    try:
        return page(code.upper())
    except KeyError:
        raise GEError(
            "GE0102",
            f"expected an error code such as GE0201, got '{code}'",
            hint="docs/errors.md lists all codes",
        ) from None
