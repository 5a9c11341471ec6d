"""Short-time Fourier transforms against their definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx.reference import ReferenceEvaluator

from ge_dialect.ge.spectral import StftOp
from tests.onnx_models import imported, model, names_of, node
from tests.op_checks import run

Array = npt.NDArray[Any]


def by_definition(signal: Array, window: Array, step: int, bins: int) -> Array:
    """The sum that the transform is."""
    length = len(window)
    starts = range(0, signal.shape[1] - length + 1, step)
    k, n = np.arange(bins)[:, None], np.arange(length)
    waves = np.exp(-2j * np.pi * k * n / length)
    frames: list[Array] = [(signal[:, at : at + length] * window) @ waves.T for at in starts]
    found = np.stack(frames, axis=1)
    return np.stack([np.real(found), np.imag(found)], axis=-1)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("onesided", [False, True])
@pytest.mark.parametrize("shape", [(2, 50), (2, 50, 1), (2, 50, 2)])
def test_stft_is_the_sum(shape: tuple[int, ...], onesided: bool, dtype: str):
    if onesided and shape[-1] == 2:
        return  # a complex signal has no redundant half
    rng = np.random.default_rng(0)
    signal = rng.standard_normal(shape).astype(dtype)
    window = rng.uniform(0, 1, 15).astype(dtype)
    (found,) = run(StftOp, signal, window, frame_step=4, frame_length=15, onesided=onesided)
    wide = signal.astype("f8")
    flat = wide if len(shape) == 2 else wide[..., 0] + (1j * wide[..., 1] if shape[2] == 2 else 0)
    want = by_definition(flat, window.astype("f8"), 4, 8 if onesided else 15)
    np.testing.assert_allclose(found, want, atol={"f2": 1e-2, "f4": 1e-5, "f8": 1e-12}[dtype])


def test_a_node_agrees_with_onnx():
    proto = model(
        [node("STFT", "x", "step", "window")],
        {"x": ("f4", (1, 64, 1))},
        ["y"],
        {"step": np.array(8), "window": np.hanning(16).astype("f4")},
    )
    module = imported(proto)
    assert "STFT" not in names_of(module)  # a host call has the name of its operator
    signal = np.random.default_rng(1).standard_normal((1, 64, 1)).astype("f4")
    evaluator: Any = ReferenceEvaluator(proto)
    (want,) = evaluator.run(None, {"x": signal})
    (found,) = run(
        StftOp, signal, np.hanning(16).astype("f4"), frame_step=8, frame_length=16, onesided=True
    )
    np.testing.assert_allclose(found, want, atol=1e-4)
