"""Gathers what is wrong with a model, so that all problems of a kind come in one message."""

from __future__ import annotations

from dataclasses import dataclass, field

from ge_dialect.diagnostics import GEError

_MAX_SHOWN = 5


@dataclass
class Problems:
    """Problems found so far, by code and then by what is wrong, in the order found."""

    found: dict[str, dict[str, list[str]]] = field(default_factory=dict[str, dict[str, list[str]]])
    hints: dict[str, str | None] = field(default_factory=dict[str, str | None])

    def add(self, code: str, what: str, subject: str = "", hint: str | None = None) -> None:
        """Notes a problem.

        Args:
            code: Of the error; problems of one code are reported together.
            what: What is wrong.
            subject: Where; those of equal `what` are listed behind it, `(node 'a', node 'b')`.
            hint: What to do; the first hint of a code counts.
        """
        subjects = self.found.setdefault(code, {}).setdefault(what, [])
        if subject:
            subjects.append(subject)
        self.hints.setdefault(code, hint)

    def raise_first(self) -> None:
        """Raises all problems of the code that was found first; returns where there are none.

        Raises:
            GEError: With that code.
        """
        for code, problems in self.found.items():
            parts = [_with_subjects(what, subjects) for what, subjects in problems.items()]
            raise GEError(code, shorten(parts, "; "), hint=self.hints[code])


def shorten(parts: list[str], separator: str = ", ") -> str:
    """Joins the first few of `parts` and counts the rest.

    >>> shorten(["a", "b", "c", "d", "e", "f", "g"])
    'a, b, c, d, e and 2 more'
    """
    shown = separator.join(parts[:_MAX_SHOWN])
    rest = len(parts) - _MAX_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


def _with_subjects(what: str, subjects: list[str]) -> str:
    return f"{what} ({shorten(subjects)})" if subjects else what
