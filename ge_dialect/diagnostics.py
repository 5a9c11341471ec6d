"""Errors with stable codes: one line for the user, a page for whoever wants to know more."""

from __future__ import annotations


class GEError(Exception):
    """Something the user can act on.

    Attributes:
        code: `GE` and four digits; a key of `ge_dialect.error_codes.CODES`.
        message: One line: what, where, what was expected.
        hint: What to do about it, or None.
    """

    def __init__(self, code: str, message: str, *, hint: str | None = None):
        super().__init__(code, message)  # what pickle passes to the constructor
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.code}: {self.message}"
        return text if self.hint is None else f"{text}; {self.hint}"


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
