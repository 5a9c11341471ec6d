"""Operators of com.microsoft against what their documentation says, in numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import erf, pi, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.interpreters.functions import run_function

Array = npt.NDArray[Any]
DOMAIN = "com.microsoft"
RNG = np.random.default_rng(5)


def f32(*shape: int) -> Array:
    """Random numbers."""
    return RNG.standard_normal(shape).astype(np.float32)


def contrib(
    op: str, inputs: Sequence[Array | None], outputs: str = "y", **attributes: Any
) -> tuple[onnx.ModelProto, list[Array]]:
    """A model of one node, and its inputs; an output named `-` is not there."""
    given = {f"x{slot}": array for slot, array in enumerate(inputs) if array is not None}
    names = ["" if array is None else f"x{slot}" for slot, array in enumerate(inputs)]
    found = ["" if name == "-" else name for name in outputs.split()]
    node = helper.make_node(op, names, found, domain=DOMAIN, **attributes)
    graph = helper.make_graph(
        [node],
        "test",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for name, a in given.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in found if name],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets), list(given.values())


def run(
    op: str, inputs: Sequence[Array | None], outputs: str = "y", **attributes: Any
) -> list[Array]:
    """The outputs of a model of one node."""
    proto, arrays = contrib(op, inputs, outputs, **attributes)
    return list(run_function(import_onnx(proto), arrays))


def gelu(x: Array) -> Array:
    """By the error function."""
    errors = np.reshape([erf(v / sqrt(2)) for v in x.reshape(-1).tolist()], x.shape)
    return 0.5 * x * (1 + errors)


def normalized(x: Array, epsilon: float) -> Array:
    """Over the last dimension."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)


def rms(x: Array, epsilon: float) -> Array:
    """Over the last dimension, without centring."""
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon)


def leaky_relu(x: Array, alpha: float) -> Array:
    """Scales what is negative."""
    return np.where(x < 0, alpha * x, x)


X, SKIP, BIAS, GAMMA, BETA = f32(2, 3, 8), f32(2, 3, 8), f32(8), f32(8), f32(8)


def fast_gelu() -> Array:
    """By the hyperbolic tangent, of `X + BIAS`."""
    x = X + BIAS
    return 0.5 * x * (1 + np.tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))


A, B = f32(3, 2, 4), f32(2, 5, 4)

CASES: list[tuple[str, list[Array | None], dict[str, Any], Callable[[], Array]]] = [
    ("Gelu", [X], {}, lambda: gelu(X)),
    ("BiasGelu", [X, BIAS], {}, lambda: gelu(X + BIAS)),
    ("FastGelu", [X, BIAS], {}, fast_gelu),
    ("QuickGelu", [X], {"alpha": 1.5}, lambda: X / (1 + np.exp(-1.5 * X))),
    (
        "FusedMatMul",
        [A, B],
        {"transBatchA": 1, "transB": 1, "alpha": 0.5},
        lambda: 0.5 * A.transpose(1, 0, 2) @ B.transpose(0, 2, 1),
    ),
    (
        "SkipLayerNormalization",
        [X, SKIP, GAMMA, BETA, BIAS],
        {"epsilon": 1e-3},
        lambda: normalized(X + SKIP + BIAS, 1e-3) * GAMMA + BETA,
    ),
    (
        "SkipSimplifiedLayerNormalization",
        [X, SKIP, GAMMA, BIAS],
        {"epsilon": 1e-3},
        lambda: rms(X + SKIP + BIAS, 1e-3) * GAMMA,
    ),
    (
        "FusedGemm",
        [X[0], A[0].repeat(4, 0), None],
        {"activation": "LeakyRelu", "activation_alpha": 0.2},
        lambda: leaky_relu(X[0] @ A[0].repeat(4, 0), 0.2),
    ),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "want"), CASES, ids=[c[0] for c in CASES])
def test_an_operator_does_what_its_page_says(
    op: str, inputs: list[Array | None], attributes: dict[str, Any], want: Callable[[], Array]
):
    (found,) = run(op, inputs, **attributes)
    np.testing.assert_allclose(found, want(), rtol=1e-5, atol=1e-6)


def test_the_sum_of_a_skip_is_an_output_of_its_own():
    _, total = run("SkipLayerNormalization", [X, SKIP, GAMMA], "y - - s")
    np.testing.assert_allclose(total, X + SKIP, rtol=1e-6)


def test_a_convolution_adds_before_its_activation():
    x, w, z = f32(1, 2, 5, 5), f32(3, 2, 1, 1), f32(1, 3, 5, 5)
    (found,) = run("FusedConv", [x, w, None, z], activation="Relu")
    want = np.einsum("nchw,kc->nkhw", x, w[:, :, 0, 0]) + z
    np.testing.assert_allclose(found, np.maximum(want, 0), rtol=1e-5, atol=1e-5)


def test_embeddings_are_summed_and_the_mask_counted():
    ids, segments = np.array([[1, 0, 2]], np.int32), np.array([[0, 1, 1]], np.int32)
    words, places, kinds = f32(4, 8), f32(5, 8), f32(2, 8)
    mask = np.array([[1, 1, 0]], np.int32)
    found, count = run(
        "EmbedLayerNormalization",
        [ids, segments, words, places, kinds, GAMMA, BETA, mask],
        "y m",
        epsilon=1e-3,
    )
    total = words[ids] + places[None, :3] + kinds[segments]
    np.testing.assert_allclose(found, normalized(total, 1e-3) * GAMMA + BETA, rtol=1e-5, atol=1e-5)
    assert count.tolist() == [2]


def test_one_position_is_that_of_the_first_step():
    x, cos, sin = f32(1, 2, 3, 8), f32(9, 4), f32(9, 4)
    (found,) = run("RotaryEmbedding", [x, np.array([2]), cos, sin])
    c, s, a, b = cos[2:5], sin[2:5], x[..., :4], x[..., 4:]
    want = np.concatenate([a * c - b * s, a * s + b * c], axis=-1)
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)


def test_what_is_not_supported_is_refused_by_name():
    proto, _ = contrib("FusedConv", [f32(1, 2, 5, 5), f32(3, 2, 1, 1)], activation="Swish")
    with pytest.raises(GEError, match="its activation is Swish") as raised:
        import_onnx(proto)
    assert raised.value.code == "GE0220"
