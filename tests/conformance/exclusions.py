"""The tests of ONNX that do not have to pass, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Exclusion:
    """Tests that do not have to pass.

    Attributes:
        pattern: Their names, as a glob.
        reason: Why that is right; a sentence of docs/conformance.md.
        random: Whether they run and give random values, so that only shapes and types are
            compared. The others have to be refused with an error that has a code.
    """

    pattern: str
    reason: str
    random: bool = False

    def matches(self, name: str) -> bool:
        """Whether a test is one of them."""
        return fnmatchcase(name, self.pattern)


EXCLUSIONS = (
    Exclusion(
        "test_bernoulli*",
        "The values are random, and ONNX defines no generator. They run; shapes and types are"
        " compared.",
        random=True,
    ),
    Exclusion(
        "test_gradient_of_*",
        "Gradient of `ai.onnx.preview.training` differentiates a graph; this is a compiler for"
        " inference, and `onnx.reference` has no implementation either.",
    ),
)
