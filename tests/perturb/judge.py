"""Whether two runs of one model differ by more than rounding explains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
OF_F32, OF_HALF = 3e-4, 3e-2
"""How far off an element may be, in parts of the largest one."""
SPREADS = 20
"""How many times as far as shaken inputs move a result it may be off."""


def differences(
    wanted: Mapping[str, Array],
    found: Mapping[str, Array],
    shaken: Mapping[str, Array],
    half: bool,
) -> Iterator[str]:
    """Yields what is wrong, a line for each output.

    Args:
        wanted: Results of the model as it is.
        found: Those of the optimised one.
        shaken: Those of the model as it is on inputs and weights that differ by rounding.
        half: Whether the model rounds to f16 or bf16 somewhere.
    """
    for name, want in wanted.items():
        got, other = found[name], shaken.get(name, want)
        if got.shape != want.shape or got.dtype != want.dtype:
            yield f"'{name}' is {got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
            continue
        other = other if other.shape == want.shape else want
        wrong = _wrong_floats(want, got, other, half) if want.dtype.kind in "fV" else got != want
        if want.dtype.kind not in "fV":
            wrong = wrong & (other == want)  # what rounding decides is left out
        if wrong.any():
            yield f"'{name}' has {wrong.sum()} wrong: {got[wrong][:3]}, expected {want[wrong][:3]}"


def _wrong_floats(want: Array, got: Array, other: Array, half: bool) -> Array:
    a, b, c = (array.astype(np.float64) for array in (want, got, other))
    with np.errstate(all="ignore"):
        steady = (np.isnan(a) == np.isnan(c)) & (np.isinf(a) == np.isinf(c))
        special = (np.isnan(a) != np.isnan(b)) | (np.isinf(a) != np.isinf(b))
        finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
        scale = max(1.0, float(np.abs(a[finite]).max(initial=0.0)))
        allowed = (OF_HALF if half else OF_F32) * scale + SPREADS * np.abs(a - c)
        return np.asarray(steady & (special | (finite & ~(np.abs(a - b) <= allowed))))
