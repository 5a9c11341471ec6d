from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import SSAValue
from xdsl.traits import is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.attention import FlashAttentionOp, RotaryEmbeddingOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.constants import array_constant
from ge_dialect.ge.dropout import DropoutOp
from tests.kernel_reference import F16, F32, F64, Array, assert_same, random, reference
from tests.op_checks import run, value


def _operands(dtype: Any = F32, heads: int = 4, key_heads: int = 2) -> tuple[Array, Array, Array]:
    return (
        random(dtype, 2, heads, 5, 8),
        random(dtype, 2, key_heads, 7, 8, seed=1),
        random(dtype, 2, key_heads, 7, 6, seed=2),
    )


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("softcap", [None, 2.0])
@pytest.mark.parametrize("mask", [None, "keep", "add"])
def test_attention_is_that_of_onnx(causal: bool, softcap: float | None, mask: str | None) -> None:
    operands = _operands()
    chosen = random(np.bool_, 2, 1, 5, 7) if mask == "keep" else random(F32, 5, 7)
    chosen[..., 0] = 1  # every query keeps a key
    masks = None if mask is None else chosen
    (found,) = run(FlashAttentionOp, *operands, masks, scale=0.25, causal=causal, softcap=softcap)
    attributes: dict[str, Any] = {"is_causal": int(causal), "softcap": softcap or 0.0}
    expected = reference("Attention", *operands, masks, scale=0.25, **attributes)
    assert_same(found, expected, F32, ulps=32, scale=2)


@pytest.mark.parametrize("guard", [False, True])
def test_a_query_without_keys_gives_nan_or_0(guard: bool) -> None:
    mask = np.ones((5, 7), np.bool_)
    mask[2] = False
    (found,) = run(FlashAttentionOp, *_operands(), mask, scale=1.0, nan_guard=guard)
    assert np.isfinite(np.delete(found, 2, axis=2)).all()
    assert (found[:, :, 2] == 0).all() if guard else np.isnan(found[:, :, 2]).all()


def test_masked_fill_loses_scores_that_are_not_finite() -> None:
    q, k, v = _operands()
    k[:, :, 3] = np.nan
    mask = np.ones((5, 7), np.bool_)
    mask[:, 3] = False
    (added,) = run(FlashAttentionOp, q, k, v, mask, scale=1.0)
    assert np.isnan(added).all()
    (filled,) = run(FlashAttentionOp, q, k, v, mask, scale=1.0, masked_fill=True)
    (expected,) = run(FlashAttentionOp, *_operands(), mask, scale=1.0)
    np.testing.assert_array_equal(filled, expected)


def test_a_fill_takes_the_place_of_scores() -> None:
    q, k, v = _operands()
    mask = np.random.default_rng(3).random((5, 7)) < 0.6
    mask[2] = False
    k_heads, v_heads = (np.repeat(one, q.shape[1] // k.shape[1], 1) for one in (k, v))
    scores = np.where(mask, np.einsum("bhsd,bhtd->bhst", q, k_heads), 0.25)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    expected = weights @ v_heads
    (found,) = run(FlashAttentionOp, q, k, v, mask, scale=1.0, masked_fill=True, fill=0.25)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("masked_fill", "fill"), [(False, -1.0), (True, float("nan"))])
def test_a_fill_is_finite_and_fills(masked_fill: bool, fill: float) -> None:
    q, k, v = _operands()
    with pytest.raises(VerifyException, match="expected 'masked_fill' with a finite 'fill'"):
        run(FlashAttentionOp, q, k, v, scale=1.0, masked_fill=masked_fill, fill=fill)


def test_zero_nan_takes_all_weights_of_a_query() -> None:
    q, k, v = _operands()
    q[:, :, 2] = np.nan
    (found,) = run(FlashAttentionOp, q, k, v, scale=1.0, zero_nan=True)
    assert (found[:, :, 2] == 0).all()
    assert np.isfinite(found).all()
    v[:, :, 0] = np.inf  # 0 times which is NaN, as in the product that the op stands for
    (found,) = run(FlashAttentionOp, q, k, v, scale=1.0, zero_nan=True)
    assert np.isnan(found[:, :, 2]).all()


@pytest.mark.parametrize("mask", [None, "keep", "add"])
@pytest.mark.parametrize("dtype", [F16, F32, F64], ids=str)
def test_a_sink_is_one_key_more_whose_value_is_0(dtype: Any, mask: str | None) -> None:
    q, k, v = _operands(dtype)
    sink = random(dtype, 4, seed=3)
    chosen = random(np.bool_, 5, 7) if mask == "keep" else random(F32, 5, 7)
    masks = None if mask is None else chosen

    def build(q: SSAValue, k: SSAValue, v: SSAValue, mask: SSAValue | None, sink: SSAValue) -> GEOp:
        return FlashAttentionOp(q, k, v, mask, sink=sink, scale=0.25)

    (found,) = run(build, q, k, v, masks, sink)
    keys = np.repeat(k.astype(F64), 2, axis=1)
    scores = 0.25 * (q.astype(F64) @ np.swapaxes(keys, -1, -2))
    if mask is not None:
        scores = np.where(chosen, scores, -np.inf) if mask == "keep" else scores + chosen
    scores = np.exp(np.concatenate([scores, np.zeros((2, 4, 5, 1))], axis=-1))
    scores[..., -1] = np.exp(sink.astype(F64))[:, None]
    weights = (scores / scores.sum(axis=-1, keepdims=True))[..., :-1]
    expected = weights @ np.repeat(v.astype(F64), 2, axis=1)
    assert_same(found, expected.astype(dtype), dtype, ulps=32, scale=2)


def test_there_is_a_sink_for_each_head() -> None:
    q, k, v = (value(x) for x in _operands())
    with pytest.raises(VerifyException, match="sink"):
        FlashAttentionOp(q, k, v, sink=value(random(F32, 2)), scale=1.0)


def test_there_is_one_guard_at_most() -> None:
    q, k, v = (value(x) for x in _operands())
    with pytest.raises(VerifyException, match="at most one of 'nan_guard' and 'zero_nan'"):
        FlashAttentionOp(q, k, v, scale=1.0, nan_guard=True, zero_nan=True)


def test_a_causal_offset_is_the_length_of_the_past() -> None:
    q, k, v = _operands()
    (found,) = run(FlashAttentionOp, q, k, v, scale=1.0, causal=True, causal_offset=2)
    mask = np.arange(7) <= np.arange(5)[:, None] + 2
    (expected,) = run(FlashAttentionOp, q, k, v, mask, scale=1.0)
    np.testing.assert_array_equal(found, expected)


def test_attention_accumulates_in_the_type_it_says() -> None:
    q, k, v = (value(x) for x in _operands(F16))
    assert FlashAttentionOp(q, k, v, scale=1.0).accumulate == f32
    (narrow,) = run(FlashAttentionOp, *_operands(F64), scale=1.0)
    assert narrow.dtype == F64
    assert FlashAttentionOp(q, k, v, scale=1.0, accumulate=f64).accumulate == f64
    q, k, v = (value(x) for x in _operands(F64))
    assert FlashAttentionOp(q, k, v, scale=1.0).accumulate == f64


def test_work_of_attention_is_that_of_its_parts() -> None:
    q, k, v = (value(x) for x in _operands())
    op = FlashAttentionOp(q, k, v, scale=1.0)
    assert op.flops() == 2 * 4 * 5 * 7 * (2 * 8 + 2 * 6 + 12)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("positions", [False, True])
@pytest.mark.parametrize("rotary_dim", [0, 4])
@pytest.mark.parametrize("heads", [0, 3])
def test_rotary_embedding_is_that_of_onnx(
    interleaved: bool, positions: bool, rotary_dim: int, heads: int
) -> None:
    half = (rotary_dim or 8) // 2
    x = random(F32, 2, 5, 3 * 8) if heads else random(F32, 2, 3, 5, 8)
    lead = (11,) if positions else (2, 5)
    cos, sin = random(F32, *lead, half, seed=1), random(F32, *lead, half, seed=2)
    ids = random(np.int64, 2, 5, low=0, high=11) if positions else None
    (found,) = run(
        RotaryEmbeddingOp,
        *(x, cos, sin, ids),
        interleaved=interleaved,
        num_heads=heads,
        rotary_dim=rotary_dim,
    )
    attributes: dict[str, Any] = {"interleaved": int(interleaved), "num_heads": heads}
    expected = reference(
        "RotaryEmbedding", x, cos, sin, ids, rotary_embedding_dim=rotary_dim, **attributes
    )
    assert_same(found, expected, F32, ulps=8, scale=2)


@pytest.mark.parametrize("training", [None, False])
def test_dropout_passes_on_in_inference(training: bool | None) -> None:
    x = random(F32, 3, 4)
    mode = None if training is None else np.asarray(training)
    found, mask = run(DropoutOp, x, np.asarray(0.5, F32), mode)
    np.testing.assert_array_equal(found, x)
    assert mask.all()


def test_dropout_in_training_keeps_what_onnx_keeps() -> None:
    operands = (random(F32, 30, 4), np.asarray(0.25, F32), np.asarray(True))
    found, mask = run(DropoutOp, *operands, seed=7)
    expected = reference("Dropout", *operands, outputs=2, seed=7)
    assert_same(found, expected[0], F32)
    np.testing.assert_array_equal(mask, expected[1])
    assert 0 < mask.sum() < mask.size


def test_dropout_is_free_of_effects_only_where_it_draws_nothing() -> None:
    x = value(random(F32, 3))
    ratio, zero = array_constant(np.asarray(0.5, F32)), array_constant(np.asarray(0.0, F32))
    train, test = array_constant(np.asarray(True)), array_constant(np.asarray(False))
    unknown = value(np.asarray(True))
    assert is_side_effect_free(DropoutOp(x))
    assert is_side_effect_free(DropoutOp(x, ratio, test))
    assert is_side_effect_free(DropoutOp(x, zero, train))
    assert not is_side_effect_free(DropoutOp(x, ratio, train))
    assert not is_side_effect_free(DropoutOp(x, None, unknown))
