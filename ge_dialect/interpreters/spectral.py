"""Reference semantics of Fourier transforms."""

from __future__ import annotations

from ge_dialect.ge.spectral import StftOp
from ge_dialect.interpreters.kernels import spectral as kernels
from ge_dialect.interpreters.registry import Array, semantics


@semantics(StftOp)
def stft(op: StftOp, signal: Array, window: Array | None) -> Array:
    """Evaluates `ge.stft`."""
    return kernels.stft(
        signal,
        window,
        frame_step=op.frame_step.value.data,
        frame_length=op.frame_length.value.data,
        onesided=op.onesided is not None,
    )
