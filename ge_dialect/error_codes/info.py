"""What one error code says about itself."""

from __future__ import annotations

from typing import NamedTuple


class CodeInfo(NamedTuple):
    """The page of an error code.

    Attributes:
        title: A few words, lower case, without a full stop.
        symptom: What the user sees.
        cause: Why it happens.
        solution: What to do about it.
    """

    title: str
    symptom: str
    cause: str
    solution: str
