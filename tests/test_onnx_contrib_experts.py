"""Mixtures of experts of com.microsoft against what their documentation says, in numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.interpreters.functions import run_function
from tests.test_onnx_contrib import contrib, f32, run
from tests.test_onnx_contrib_blocks import imported, packed
from tests.test_onnx_contrib_plain import fast_gelu, sigmoid

Array = npt.NDArray[Any]
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}
T, E, H, N = 5, 4, 16, 32
X, SCORES = f32(T, H), f32(T, E)
UP, UP_BIAS, DOWN, DOWN_BIAS = f32(E, N, H), f32(E, N), f32(E, H, N), f32(E, H)
BOTH, BOTH_BIAS = f32(E, 2 * N, H), f32(E, 2 * N)

ACTIVATIONS: Mapping[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x * sigmoid(x),
    "gelu": fast_gelu,
    "identity": lambda x: x,
}


def shares(count: int, scale: bool, scores: Array = SCORES) -> Array:
    """What each expert counts for a token, 0 for those that it does not have."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    found = powers / powers.sum(-1, keepdims=True)
    found[np.arange(T)[:, None], np.argsort(-scores, axis=1)[:, count:]] = 0
    return found / found.sum(-1, keepdims=True) if scale else found


def layer(x: Array, weight: Array, bias: Array | float = 0.0) -> Array:
    """`[E, T, N]` of all experts."""
    product = np.einsum("...th,enh->etn", x, weight) if x.ndim == 2 else x @ weight.swapaxes(1, 2)
    return product + (bias[:, None] if isinstance(bias, np.ndarray) else bias)


def mixed(found: Array, weights: Array) -> Array:
    """The sum of the experts of each token."""
    return np.einsum("eth,te->th", found, weights)


@pytest.mark.parametrize("shape", [(T, H), (1, T, H)])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_token_has_the_sum_of_its_experts(activation: str, scale: bool, shape: tuple[int, ...]):
    inputs = [X.reshape(shape), SCORES, UP, UP_BIAS, DOWN, DOWN_BIAS]
    options: dict[str, Any] = {
        "k": 2,
        "activation_type": activation,
        "normalize_routing_weights": int(scale),
    }
    (found,) = run("MoE", inputs, **options)
    hidden = ACTIVATIONS[activation](layer(X, UP, UP_BIAS))
    want = mixed(layer(hidden, DOWN, DOWN_BIAS), shares(2, scale))
    np.testing.assert_allclose(found, want.reshape(shape), **CLOSE)


@pytest.mark.parametrize("fusion", [0, 1, 2])
def test_gates_come_in_three_arrangements(fusion: int):
    rows = (slice(0, None, 2), slice(1, None, 2)) if fusion == 1 else (slice(N), slice(N, None))
    gate, up = (layer(X, BOTH[:, part], BOTH_BIAS[:, part]) for part in rows)
    first, second = BOTH, BOTH_BIAS
    third: list[Array] = []
    if fusion == 0:
        first, second = BOTH[:, :N], BOTH_BIAS[:, :N]
        third = [BOTH[:, N:], BOTH_BIAS[:, N:]]
    options: dict[str, Any] = {
        "k": 2, "activation_type": "swiglu", "swiglu_fusion": fusion, "activation_alpha": 1.7,
        "activation_beta": 1.0, "swiglu_limit": 0.5,
    }  # fmt: skip
    (found,) = run("MoE", [X, SCORES, first, second, DOWN, DOWN_BIAS, *third], **options)
    gate, up = np.minimum(gate, 0.5), np.clip(up, -0.5, 0.5)
    hidden = gate * sigmoid(1.7 * gate) * (up + 1)
    want = mixed(layer(hidden, DOWN, DOWN_BIAS), shares(2, False))
    np.testing.assert_allclose(found, want, **CLOSE)


def test_an_expert_that_nobody_chose_does_not_count_even_if_it_is_infinite():
    scores = np.tile(np.array([3.0, 2.0, 1.0, -50.0], np.float32), (T, 1))
    down = DOWN.copy()
    down[3] = np.inf
    (found,) = run("MoE", [X, scores, UP, None, down], k=2)
    want = mixed(layer(np.maximum(layer(X, UP), 0), DOWN), shares(2, False, scores))
    np.testing.assert_allclose(found, want, **CLOSE)


def quantized(weight: Array, size: int, zeros: bool, bits: int) -> tuple[dict[int, Array], Array]:
    """The packed form of a weight, its scales and zero points; and what they mean."""
    experts, rows, columns = weight.shape
    blocks = columns // size if size else 1
    rng = np.random.default_rng(3)
    numbers = rng.integers(0, 2**bits, weight.shape)
    scales = np.abs(f32(experts, rows, blocks)) * np.float32(0.1)
    points = rng.integers(0, 2**bits, scales.shape)
    middle = points if zeros else np.full_like(points, 2 ** (bits - 1))
    wide = [np.repeat(x, columns // blocks, axis=2) for x in (middle, scales)]
    found = {0: packed(numbers, bits), 1: scales if size else scales[..., 0]}
    if zeros:
        lines = points if size else points.reshape(experts, -1)
        spare = -lines.shape[-1] % (8 // bits)
        found[2] = packed(np.pad(lines, [(0, 0)] * (lines.ndim - 1) + [(0, spare)]), bits)
    return found, ((numbers - wide[0]) * wide[1]).astype(np.float32)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize(("size", "bits"), [(16, 4), (0, 4), (16, 8), (0, 8), (8, 2)])
def test_weights_of_a_few_bits_are_what_they_stand_for(size: int, bits: int, zeros: bool):
    (up, up_wide), (down, down_wide) = (quantized(w, size, zeros, bits) for w in (UP, DOWN))
    weights = {1: SCORES, 2: up[0], 3: up[1], 5: down[0], 6: down[1]}
    if zeros:
        weights |= {11: up[2], 12: down[2]}
    options: dict[str, Any] = {"k": 2, "expert_weight_bits": bits, "normalize_routing_weights": 1}
    if size:
        options["block_size"] = size
    (found,) = run_function(imported("QMoE", X, weights, **options), [X])
    want = mixed(layer(np.maximum(layer(X, up_wide), 0), down_wide), shares(2, True))
    np.testing.assert_allclose(found, want, **CLOSE)


def test_others_than_the_scores_may_be_the_weights_of_the_sum():
    (up, up_wide), (down, down_wide) = (quantized(w, 16, False, 4) for w in (UP, DOWN))
    weights = {1: SCORES, 2: up[0], 3: up[1], 5: down[0], 6: down[1], 14: np.abs(f32(T, E))}
    module = imported("QMoE", X, weights, k=2, block_size=16)
    (found,) = run_function(module, [X])
    chosen = shares(2, False) > 0
    want = mixed(layer(np.maximum(layer(X, up_wide), 0), down_wide), weights[14] * chosen)
    np.testing.assert_allclose(found, want, **CLOSE)


MOE = [X, SCORES, UP, None, DOWN]


@pytest.mark.parametrize(
    ("attributes", "code", "words"),
    [
        ({"use_sparse_mixer": 1, "k": 2}, "GE0220", "sparse mixer"),
        ({"activation_type": "geglu"}, "GE0220", "its activation is geglu"),
        ({"activation_type": "swiglu"}, "GE0221", "expected weights of fc3"),
        ({"activation_type": "swiglu", "swiglu_fusion": 3}, "GE0221", "'swiglu_fusion' of 0 to 2"),
    ],
)
def test_other_mixtures_are_refused(attributes: dict[str, Any], code: str, words: str):
    proto, _ = contrib("MoE", list(MOE), **attributes)
    with pytest.raises(GEError, match=words) as error:
        import_onnx(proto)
    assert error.value.code == code


@pytest.mark.parametrize(
    ("attributes", "code", "words"),
    [
        ({"quant_type": "fp4"}, "GE0220", "weights of the kind fp4"),
        ({"weights_prepacked": 1}, "GE0220", "packed for one machine"),
        ({"normalize_routing_weights": 0}, "GE0220", "other devices do not"),
        ({"expert_weight_bits": 3}, "GE0220", "weights of 3 bits"),
        ({"block_size": 24}, "GE0221", "expected a scale for each 24"),
    ],
)
def test_other_weights_are_refused(attributes: dict[str, Any], code: str, words: str):
    (up, _), (down, _) = (quantized(w, 16, False, 4) for w in (UP, DOWN))
    weights = {1: SCORES, 2: up[0], 3: up[1], 5: down[0], 6: down[1]}
    options = {"block_size": 16, "normalize_routing_weights": 1, **attributes}
    with pytest.raises(GEError, match=words) as error:
        imported("QMoE", X, weights, **options)
    assert error.value.code == code
