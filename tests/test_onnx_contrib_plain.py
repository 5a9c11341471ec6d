"""Operators of com.microsoft that are ONNX's by another name, and what of them is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.convert import find_converter
from ge_dialect.frontends.onnx.convert.contrib_known import KNOWN
from ge_dialect.frontends.onnx.convert.node import converters
from ge_dialect.frontends.onnx.importer import import_onnx
from tests.test_onnx_contrib import DOMAIN, contrib, f32, rms, run

Array = npt.NDArray[Any]
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-6}
X, Y, GATE, BIAS = f32(2, 3, 8), f32(2, 3, 8), f32(2, 3, 8), f32(8)
MATRIX, INDEX = f32(5, 3), np.array([[0, 1], [4, 2]])
TURNED = [f32(2, 4, 3, 8).astype(np.float16) for _ in range(4)]


def sigmoid(x: Array) -> Array:
    """`1 / (1 + exp(-x))`."""
    return 1 / (1 + np.exp(-x))


def softmax(x: Array, axis: int) -> Array:
    """Over all dimensions from one on."""
    rows = x.reshape(int(np.prod(x.shape[:axis])), -1)
    powers = np.exp(rows - rows.max(1, keepdims=True))
    return (powers / powers.sum(1, keepdims=True)).reshape(x.shape)


def fast_gelu(x: Array) -> Array:
    """By the hyperbolic tangent."""
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def clamped() -> Array:
    """SwiGLU with all of its attributes."""
    gate, up = np.minimum(X, 0.7), np.clip(Y, -0.7, 0.7)
    return gate * sigmoid(1.7 * gate) * (up + 1)


def halved() -> Array:
    """SwiGLU of halves."""
    gate, up = np.split(X, 2, axis=-1)
    return gate * sigmoid(gate) * up


CASES: list[tuple[str, list[Any], dict[str, Any], Callable[[], Array]]] = [
    ("GatherND", [MATRIX, INDEX[:1]], {}, lambda: MATRIX[0, 1][None]),
    ("Trilu", [MATRIX], {"upper": 0}, lambda: np.tril(MATRIX)),
    ("TorchEmbedding", [MATRIX, INDEX], {}, lambda: MATRIX[INDEX]),
    ("BiasSoftmax", [X, BIAS], {"axis": 2, "is_inner_broadcast": 0}, lambda: softmax(X + BIAS, 2)),
    ("BiasSoftmax", [X, BIAS], {"axis": 1, "is_inner_broadcast": 1}, lambda: softmax(X + BIAS, 1)),
    ("BiasDropout", [X, BIAS, Y], {}, lambda: X + BIAS + Y),
    ("GemmFastGelu", [X[0], X[1].T, f32(3) * 0], {}, lambda: fast_gelu(X[0] @ X[1].T)),
    (
        "FusedMatMulActivation",
        [X[0], X[1]],
        {"transB": 1, "alpha": 0.5, "activation": "Softplus"},
        lambda: np.log1p(np.exp(0.5 * X[0] @ X[1].T)),
    ),
    (
        "CDist",
        [MATRIX, MATRIX[:2]],
        {"metric": "euclidean"},
        lambda: np.sqrt(((MATRIX[:, None] - MATRIX[:2]) ** 2).sum(2)),
    ),
    (
        "CDist",
        [MATRIX, MATRIX[:2]],
        {},
        lambda: ((MATRIX[:, None] - MATRIX[:2]) ** 2).sum(2),
    ),
    ("SwiGLU", [X, Y], {"activation_alpha": 1.7, "activation_beta": 1.0, "limit": 0.7}, clamped),
    ("SwiGLU", [X], {"round_activation": 1}, halved),
    ("ScaledSiLU", [X], {"alpha": 1.5}, lambda: 1.5 * X * sigmoid(1.5 * X)),
    ("ScaledSiLU", [X, np.full((), 2, np.float32)], {}, lambda: 2 * X * sigmoid(2 * X)),
    (
        "GatedRMSNorm",
        [X, BIAS, GATE],
        {"epsilon": 1e-3},
        lambda: rms(X, 1e-3) * BIAS * GATE * sigmoid(GATE),
    ),
    (
        "GatedRMSNorm",
        [X, BIAS[:4], GATE],
        {"activation": "sigmoid"},
        lambda: (rms(X.reshape(2, 3, 2, 4), 1e-6) * BIAS[:4]).reshape(X.shape) * sigmoid(GATE),
    ),
    ("GatedAdd", [X, Y, GATE[..., :1]], {}, lambda: X + Y * GATE[..., :1]),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "want"), CASES, ids=[c[0] for c in CASES])
def test_an_operator_does_what_its_page_says(
    op: str, inputs: list[Array], attributes: dict[str, Any], want: Callable[[], Array]
):
    (found,) = run(op, inputs, **attributes)
    np.testing.assert_allclose(found, want(), **CLOSE)


UNITS: list[tuple[str, dict[str, float], Callable[[Array], Array]]] = [
    ("Softplus", {}, lambda x: np.log1p(np.exp(x))),
    ("Softsign", {}, lambda x: x / (1 + np.abs(x))),
    ("HardSwish", {}, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    ("Elu", {"alpha": 0.3}, lambda x: np.where(x < 0, 0.3 * np.expm1(x), x)),
    ("Celu", {"alpha": 0.5}, lambda x: np.where(x < 0, 0.5 * np.expm1(x / 0.5), x)),
    ("ThresholdedRelu", {"alpha": 0.4}, lambda x: np.where(x > 0.4, x, 0)),
    ("HardSigmoid", {"alpha": 0.3, "beta": 0.6}, lambda x: np.clip(0.3 * x + 0.6, 0, 1)),
    ("Selu", {"alpha": 0.3, "gamma": 1.2}, lambda x: 1.2 * np.where(x < 0, 0.3 * np.expm1(x), x)),
]


@pytest.mark.parametrize(("name", "parameters", "want"), UNITS, ids=[u[0] for u in UNITS])
def test_products_have_every_activation_behind_them(
    name: str, parameters: dict[str, float], want: Callable[[Array], Array]
):
    options: dict[str, Any] = {"activation": name}
    options |= {f"activation_{key}": value for key, value in parameters.items()}
    (found,) = run("FusedGemm", [X[0], X[1].T], **options)
    np.testing.assert_allclose(found, want(X[0] @ X[1].T), rtol=1e-4, atol=1e-5)


def test_convolutions_may_be_clipped():
    x, weight = f32(1, 2, 4, 4), f32(3, 2, 1, 1)
    options: dict[str, Any] = {"activation": "Clip", "activation_params": [-0.5, 0.7]}
    (found,) = run("FusedConv", [x, weight], **options)
    want = np.einsum("nchw,kc->nkhw", x, weight[:, :, 0, 0])
    np.testing.assert_allclose(found, np.clip(want, -0.5, 0.7), rtol=1e-5, atol=1e-5)


def test_a_mask_of_nothing_dropped_is_true_of_nan_as_well():
    x = np.array([[1.0, np.nan]], np.float32)
    _, mask = run("BiasDropout", [x, np.zeros(2, np.float32)], "y m")
    assert mask.tolist() == [[True, True]]


def test_both_queries_and_keys_turn_by_one_angle():
    angles = f32(2, 3, 8)
    found = run("GemmaRotaryEmbedding", [angles, *TURNED], "q k")
    cosine, sine = (f(angles).astype(np.float16)[:, None] for f in (np.cos, np.sin))
    for got, plain, turned in zip(found, TURNED[::2], TURNED[1::2], strict=True):
        np.testing.assert_array_equal(got, plain * cosine + turned * sine)


def test_what_is_computed_in_f32_rounds_once():
    x, y = X.astype(np.float16), Y.astype(np.float16)
    wide = [a.astype(np.float32) for a in (x, y)]
    (found,) = run("SwiGLU", [x, y])
    want = wide[0] * sigmoid(wide[0]) * wide[1]
    np.testing.assert_array_equal(found, want.astype(np.float16))


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "words"),
    [
        ("CDist", [MATRIX, MATRIX], {"metric": "cityblock"}, "its metric is cityblock"),
        ("GatedAdd", [X, Y, GATE, f32(8, 1)], {}, "its gate is a projection"),
        ("QuickGelu", [X], {"beta": 2.0}, "attribute 'beta' is not known"),
        ("Gelu", [X, Y], {}, "input 1 is not known"),
        ("FusedGemm", [X[0], X[1].T], {"activation": "Gelu"}, "its activation is Gelu"),
        ("RotaryEmbedding", [X, INDEX[:, :1], f32(9, 4), f32(9, 4)], {"scale": 2.0}, "a scale"),
    ],
)
def test_what_is_not_supported_is_said(
    op: str, inputs: list[Array], attributes: dict[str, Any], words: str
):
    proto, _ = contrib(op, list(inputs), **attributes)
    with pytest.raises(GEError, match=words) as error:
        import_onnx(proto)
    assert error.value.code == "GE0220"


def test_each_converter_knows_what_its_operator_may_say():
    assert find_converter(DOMAIN, "Gelu") is not None
    assert converters(DOMAIN).keys() == KNOWN.keys()


def test_the_domain_needs_no_import():
    proto, arrays = contrib("QuickGelu", [X])
    del proto.opset_import[1]
    assert import_onnx(proto) is not None
    assert len(arrays) == 1
