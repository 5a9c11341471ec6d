"""Operators of com.microsoft that carry a state, against what their pages say, in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from tests.test_onnx_contrib import contrib, f32, run

Array = npt.NDArray[Any]
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}
B, T, C, K = 2, 5, 3, 4


def fading(rule: str, q: Array, k: Array, v: Array, state: Array, more: list[Array]) -> list[Array]:
    """One step after the other; heads are the second dimension of everything."""
    found: list[Array] = []
    times = max(q.shape[1] // k.shape[1], 1)
    for t in range(q.shape[2]):
        if rule.startswith("gated"):
            state = state * np.exp(more[0][:, :, t, :, None])
        value = v[:, :, t]
        if rule.endswith("delta"):
            value = more[1][:, :, t] * (value - np.einsum("bhd,bhde->bhe", k[:, :, t], state))
        state = state + k[:, :, t, :, None] * value[:, :, None]
        every = np.repeat(state, times, axis=1)
        query = np.repeat(q[:, :, t], max(k.shape[1] // q.shape[1], 1), axis=1)
        found.append(np.einsum("bhd,bhde->bhe", query, every) / np.sqrt(q.shape[-1]))
    return [np.stack(found, 1).reshape(q.shape[0], q.shape[2], -1), state]


def packed(x: Array) -> Array:
    """`[B, heads, T, D]` as `[B, T, heads * D]`."""
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


@pytest.mark.parametrize("queries", [1, 2, 4])
@pytest.mark.parametrize("size", [1, 8])
@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
def test_a_state_fades_and_learns(rule: str, size: int, queries: int):
    q, k, v = f32(B, queries, T, 8), f32(B, 2, T, 8) * np.float32(0.3), f32(B, 2, T, 6)
    state, decay, rate = f32(B, 2, 8, 6), -np.abs(f32(B, 2, T, size)), np.abs(f32(B, 2, T, 1))
    inputs: list[Array | None] = [packed(q), packed(k), packed(v), state]
    inputs += [packed(decay) if rule.startswith("gated") else None]
    inputs += [packed(rate) if rule.endswith("delta") else None]
    options: dict[str, Any] = {"update_rule": rule, "q_num_heads": queries, "kv_num_heads": 2}
    found = run("LinearAttention", inputs, "y s", **options)
    for got, want in zip(found, fading(rule, q, k, v, state, [decay, rate]), strict=True):
        np.testing.assert_allclose(got, want, **CLOSE)


def test_several_states_may_share_a_key():
    q, k, v = f32(B, 2, T, 8), f32(B, 2, T, 8), f32(B, 4, T, 6)
    inputs = [packed(q), packed(k), packed(v)]
    options: dict[str, Any] = {"update_rule": "linear", "q_num_heads": 2, "kv_num_heads": 4}
    (found,) = run("LinearAttention", inputs, "y", **options)
    want, _ = fading("linear", q, np.repeat(k, 2, axis=1), v, np.zeros((B, 4, 8, 6)), [])
    np.testing.assert_allclose(found, want, **CLOSE)


def test_a_state_that_is_not_given_is_zero():
    q, k, v = f32(B, 2, 1, 8), f32(B, 2, 1, 8), f32(B, 2, 1, 6)
    options: dict[str, Any] = {"update_rule": "linear", "q_num_heads": 2, "kv_num_heads": 2}
    found = run("LinearAttention", [packed(x) for x in (q, k, v)], "y s", **options)
    want = fading("linear", q, k, v, np.zeros((B, 2, 8, 6)), [])
    for got, one in zip(found, want, strict=True):
        np.testing.assert_allclose(got, one, **CLOSE)


def test_the_gate_of_linear_attention():
    a, b, bias, scale = f32(B, T, 2), f32(B, T, 2), f32(2), f32(2)
    decay, rate = run("LinearAttentionGate", [a, bias, scale, b], "d r")
    np.testing.assert_allclose(decay, scale * np.log1p(np.exp(a + bias)), **CLOSE)
    np.testing.assert_allclose(rate, 1 / (1 + np.exp(-b)), **CLOSE)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("past", [False, True])
@pytest.mark.parametrize("dilation", [1, 2])
def test_a_convolution_of_what_came_before(dilation: int, past: bool, last: bool):
    x, weight, bias = f32(B, C, T), f32(C, 1, K), f32(C)
    before = (K - 1) * dilation
    state = f32(B, C, before) if past else np.zeros((B, C, before), np.float32)
    turned = (0, 2, 1) if last else (0, 1, 2)
    inputs = [x.transpose(turned), weight, bias, state.transpose(turned) if past else None]
    options: dict[str, Any] = {"activation": "silu", "dilation": dilation, "channels_last": last}
    options["channels_last"] = int(last)
    found, after = run("CausalConvWithState", inputs, "y s", **options)
    seen = np.concatenate([state, x], axis=2)
    total = bias[:, None] + sum(
        weight[:, :, tap] * seen[:, :, tap * dilation : tap * dilation + T] for tap in range(K)
    )
    want = total / (1 + np.exp(-total))
    np.testing.assert_allclose(found, want.transpose(turned), **CLOSE)
    np.testing.assert_allclose(after, seen[:, :, -before:].transpose(turned), **CLOSE)


def test_a_kernel_of_one_step_has_no_state():
    x, weight = f32(B, C, T), f32(C, 1, 1)
    found, after = run("CausalConvWithState", [x, weight], "y s")
    np.testing.assert_allclose(found, x * weight[:, 0], **CLOSE)
    assert after.shape == (B, C, 0)


CONV = [f32(B, C, T), f32(C, 1, K)]
LINEAR = [f32(B, T, 16)] * 3


@pytest.mark.parametrize(
    ("op", "inputs", "options", "words"),
    [
        ("CausalConvWithState", CONV, {"ndim": 2}, "several dimensions"),
        ("CausalConvWithState", CONV, {"state_window": 2}, "several states"),
        ("CausalConvWithState", CONV, {"state_length": 5}, "'state_length' is not known"),
        ("CausalConvWithState", CONV, {"activation": "relu"}, "none, silu or swish, got relu"),
        ("CausalConvWithState", [*CONV, None, f32(B, C, 2)], {}, "expected a state of 3 steps"),
        ("LinearAttention", LINEAR, {"q_num_heads": 3, "kv_num_heads": 2}, "heads of which one"),
        ("LinearAttention", [LINEAR[0], f32(B, T, 20), LINEAR[2]],
         {"q_num_heads": 2, "kv_num_heads": 2}, "heads of 8 features"),
        ("LinearAttention", LINEAR, {"q_num_heads": 2, "kv_num_heads": 2}, "expected an input 4"),
        ("LinearAttention", LINEAR,
         {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "rwkv"}, "got rwkv"),
        ("LinearAttention", LINEAR,
         {"q_num_heads": 2, "kv_num_heads": 2, "state_window": 2}, "several states"),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_said(
    op: str, inputs: list[Array | None], options: dict[str, Any], words: str
):
    with pytest.raises(GEError, match=words):
        import_onnx(contrib(op, inputs, **options)[0])
