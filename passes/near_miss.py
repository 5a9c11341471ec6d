"""How a pattern says that something looks like its case and is not."""

from __future__ import annotations

from xdsl.ir import Operation

from ge_dialect import remarks
from ge_dialect.remarks import ReasonClass


class NearMissError(Exception):
    """The ops have the structure that a pattern looks for, and still do not fit.

    Attributes:
        reason: The class of the reason.
        message: One line.
        found: The value that stood in the way.
        wanted: What it should have been.
    """

    def __init__(
        self,
        reason: ReasonClass,
        message: str,
        found: str | float | None = None,
        wanted: str | float | None = None,
    ):
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.found = found
        self.wanted = wanted

    def report(self, pass_name: str, rule: str, op: Operation) -> None:
        """Leaves a remark at an op."""
        remarks.missed(
            pass_name,
            rule,
            op,
            self.message,
            reason=self.reason,
            found=self.found,
            wanted=self.wanted,
        )
