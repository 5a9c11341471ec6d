"""Fourier transforms, in f64 and rounded once."""

from __future__ import annotations

import numpy as np

from ge_dialect.interpreters.kernels.numeric import F64, Array, narrow, quiet


@quiet
def stft(
    signal: Array,
    window: Array | None = None,
    *,
    frame_step: int,
    frame_length: int,
    onesided: bool = True,
) -> Array:
    """Returns the transform of each frame, `[B, frames, bins, 2]`.

    Args:
        signal: `[B, L]`, `[B, L, 1]`, or `[B, L, 2]` of real and imaginary parts.
        window: `[frame_length]`; 1 where absent.
        frame_step: From one frame to the next.
        frame_length: Of a frame, and of its transform.
        onesided: Whether only the first half of the bins is returned; of a real signal.

    Raises:
        ValueError: The signal is shorter than a frame.
    """
    wide = signal.astype(F64)
    if wide.ndim == 3:
        wide = wide[..., 0] + 1j * wide[..., 1] if wide.shape[2] == 2 else wide[..., 0]
    if wide.shape[1] < frame_length:
        raise ValueError(f"expected a signal of {frame_length} or more, got {wide.shape[1]}")
    frames = np.lib.stride_tricks.sliding_window_view(wide, frame_length, axis=1)[:, ::frame_step]
    if window is not None:
        frames = frames * window.astype(F64)
    bins = np.fft.rfft(frames) if onesided else np.fft.fft(frames)
    return narrow(np.stack([bins.real, bins.imag], axis=-1), signal.dtype)
