"""Outputs against a reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Tolerance:
    """How far a value may be off: `|got - want| <= atol * scale + rtol * |want|`.

    `scale` is the largest magnitude of the reference, at least 1.
    """

    rtol: float
    atol: float


EXACT = Tolerance(0.0, 0.0)

TOLERANCES = {
    "float64": Tolerance(1e-9, 1e-9),
    "complex128": Tolerance(1e-9, 1e-9),
    "float32": Tolerance(1e-4, 1e-5),
    "complex64": Tolerance(1e-4, 1e-5),
    "float16": Tolerance(2e-2, 2e-2),
    "bfloat16": Tolerance(2e-2, 2e-2),
}
"""By the element type of the output; anything else is exact."""


@dataclass(frozen=True)
class Comparison:
    """What came of comparing one output.

    Attributes:
        max_abs: The largest absolute difference; infinite where one side is not a number.
        max_rel: The largest difference relative to a reference other than 0.
        wrong: Elements beyond the tolerance.
        size: Elements in all.
        shapes: What is wrong with the shape, if that is.
    """

    max_abs: float
    max_rel: float
    wrong: int
    size: int
    shapes: str = ""

    @property
    def ok(self) -> bool:
        """Whether every element is within the tolerance."""
        return self.wrong == 0 and not self.shapes

    def __str__(self) -> str:
        if self.shapes:
            return f"FAIL, {self.shapes}"
        result = "ok" if self.ok else f"FAIL, {self.wrong} of {self.size} elements differ"
        return f"max abs diff {self.max_abs:.3g}, max rel diff {self.max_rel:.3g}, {result}"


def tolerance_of(
    dtype: np.dtype[Any], rtol: float | None = None, atol: float | None = None
) -> Tolerance:
    """Returns the tolerance for outputs of a type; `rtol` and `atol` override it for numbers."""
    found = TOLERANCES.get(dtype.name, EXACT)
    if dtype.kind in "bOU":
        return EXACT
    return Tolerance(found.rtol if rtol is None else rtol, found.atol if atol is None else atol)


def compare(got: npt.NDArray[Any], want: npt.NDArray[Any], tolerance: Tolerance) -> Comparison:
    """Compares an output with a reference; NaN equals NaN."""
    if got.shape != want.shape:
        shapes = f"expected shape {list(want.shape)}, got {list(got.shape)}"
        return Comparison(float("inf"), float("inf"), got.size, got.size, shapes)
    if got.dtype.kind in "OU":
        wrong = int(np.count_nonzero(got != want))
        return Comparison(float("inf") if wrong else 0.0, 0.0, wrong, got.size)
    with np.errstate(all="ignore"):
        return _compare_numbers(got, want, tolerance)


def _compare_numbers(
    got: npt.NDArray[Any], want: npt.NDArray[Any], tolerance: Tolerance
) -> Comparison:
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    a, b = got.astype(wide), want.astype(wide)
    # In their own type where they share one: two large int64 may be one float64.
    same = got == want if got.dtype == want.dtype else a == b
    equal = same | (np.isnan(a) & np.isnan(b))
    difference = np.where(equal, 0.0, np.abs(a - b))
    difference = np.where(np.isnan(difference), np.inf, difference)
    magnitude = np.where(np.isfinite(b), np.abs(b), 0.0)
    scale = max(1.0, float(magnitude.max(initial=0.0)))
    wrong = difference > tolerance.atol * scale + tolerance.rtol * magnitude
    if tolerance == EXACT:
        wrong = ~equal
    relative = difference[magnitude > 0] / magnitude[magnitude > 0]
    return Comparison(
        float(difference.max(initial=0.0)),
        float(relative.max(initial=0.0)),
        int(np.count_nonzero(wrong)),
        got.size,
    )
