from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_dialect.interpreters.kernels import attention
from tests.kernel_reference import (
    BF16,
    F16,
    F32,
    F64,
    FLOATS,
    Array,
    assert_same,
    random,
    reference,
)


def _operands(
    dtype: np.dtype[Any], heads: int = 4, key_heads: int = 2, rows: int = 5, columns: int = 6
) -> tuple[Array, Array, Array]:
    return (
        random(dtype, 2, heads, rows, 8),
        random(dtype, 2, key_heads, columns, 8, seed=1),
        random(dtype, 2, key_heads, columns, 3, seed=2),
    )


@pytest.mark.parametrize("key_heads", [1, 2, 4])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_attention_agrees_with_onnx(dtype: np.dtype[Any], key_heads: int):
    q, k, v = _operands(dtype, key_heads=key_heads)
    expected = reference("Attention", q, k, v, scale=0.25)
    assert_same(attention.flash_attention(q, k, v, scale=0.25), expected, dtype, 8, 1)


@pytest.mark.parametrize("softcap", [0.0, 2.0])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask_shape", [(5, 6), (2, 1, 5, 6), (1, 4, 1, 6)], ids=str)
@pytest.mark.parametrize("mask_type", [np.dtype(np.bool_), F32], ids=str)
def test_masks_agree_with_onnx(
    mask_type: np.dtype[Any], mask_shape: Any, causal: bool, softcap: float
):
    q, k, v = _operands(F32)
    mask = random(mask_type, *mask_shape, seed=4)
    if mask_type == np.bool_:
        mask[..., 0] = True
    # The reference draws the causal frontier in the mask's own shape, so it takes the whole mask.
    full = np.broadcast_to(mask, (2, 4, 5, 6))
    expected = reference("Attention", q, k, v, full, is_causal=int(causal), softcap=softcap)
    found = attention.flash_attention(q, k, v, mask, causal=causal, softcap=softcap)
    assert_same(found, expected, F32, ulps=8, scale=2)


@pytest.mark.parametrize("mask_type", [np.dtype(np.bool_), F16], ids=str)
def test_guard_zeroes_rows_without_a_key(mask_type: np.dtype[Any]):
    q, k, v = _operands(F16)
    keep = np.ones((5, 6), np.bool_)
    keep[2] = False
    mask = keep if mask_type == np.bool_ else np.where(keep, 0, -np.inf).astype(F16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = attention.flash_attention(q, k, v, mask)
        guarded = attention.flash_attention(q, k, v, mask, nan_guard=True)
    assert np.isnan(plain[:, :, 2]).all()
    assert not np.isnan(np.delete(plain, 2, axis=2)).any()
    np.testing.assert_array_equal(guarded, np.where(np.isnan(plain), np.float16(0), plain))
    assert_same(guarded, reference("Attention", q, k, v, mask), F16, ulps=4, scale=1)


def test_guard_counts_causal_and_additive_masks_together():
    q, k, v = _operands(F32)
    mask = np.zeros((5, 6), F32)
    mask[0, 0] = -np.inf
    found = attention.flash_attention(q, k, v, mask, causal=True, nan_guard=True)
    assert not found[:, :, 0].any()
    assert_same(found, reference("Attention", q, k, v, mask, is_causal=1), F32, 8, 1)


def test_causal_offset_is_the_length_of_the_past():
    q, k, v = _operands(F32, rows=2)
    keep = np.arange(6)[None, :] <= np.arange(2)[:, None] + 4
    expected = attention.flash_attention(q, k, v, keep)
    found = attention.flash_attention(q, k, v, causal=True, causal_offset=4)
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 200), st.sampled_from([1, 2, 4]), st.booleans())
def test_blocks_do_not_change_the_result(elements: int, key_heads: int, causal: bool):
    q, k, v = _operands(F64, key_heads=key_heads)
    mask = random(F64, 2, 1, 5, 6)
    whole = attention.flash_attention(q, k, v, mask, causal=causal)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attention, "_SCORE_ELEMENTS", elements)
        pieces = attention.flash_attention(q, k, v, mask, causal=causal)
    np.testing.assert_allclose(pieces, whole, rtol=1e-12)


def test_accumulation_in_f64_is_closer():
    q, k, v = _operands(F32, rows=40, columns=300)
    exact = attention.flash_attention(*(x.astype(F64) for x in (q, k, v)))
    found = attention.flash_attention(q, k, v, accumulate=F64)
    np.testing.assert_array_equal(found, exact.astype(F32))
    with pytest.raises(ValueError, match="float32 or float64, got float16"):
        attention.flash_attention(q, k, v, accumulate=F16)


def test_large_scores_do_not_overflow():
    q = np.full((1, 1, 1, 4), 200, F16)
    k = np.stack([np.full(4, 200, F16), np.zeros(4, F16)])[None, None]
    v = np.array([[1], [5]], F16)[None, None]
    assert attention.flash_attention(q, k, v, scale=1.0) == 1


def test_empty_operands():
    q, k, v = _operands(F32, rows=0)
    assert attention.flash_attention(q, k, v).shape == (2, 4, 0, 3)


def test_shapes_that_do_not_fit():
    q, k, v = _operands(F32, heads=3, key_heads=2)
    with pytest.raises(ValueError, match=r"expected q \[B, H, S, D\]"):
        attention.flash_attention(q, k, v)


@pytest.mark.parametrize("rotary_dim", [0, 4])
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("with_ids", [False, True])
@pytest.mark.parametrize("rank", [3, 4])
@pytest.mark.parametrize("dtype", [F16, BF16, F32], ids=str)
def test_rotary_embedding_agrees_with_onnx(
    dtype: np.dtype[Any], rank: int, with_ids: bool, interleaved: bool, rotary_dim: int
):
    x = random(dtype, *((2, 3, 5, 8) if rank == 4 else (2, 5, 24)))
    half = (rotary_dim or 8) // 2
    shape = (10, half) if with_ids else (2, 5, half)
    cos, sin = random(dtype, *shape, seed=1), random(dtype, *shape, seed=2)
    ids = np.random.default_rng(0).integers(0, 10, (2, 5)) if with_ids else None
    heads = 3 if rank == 3 else 0
    attributes = {"interleaved": int(interleaved), "rotary_embedding_dim": rotary_dim}
    expected = reference("RotaryEmbedding", x, cos, sin, ids, num_heads=heads, **attributes)
    found = attention.rotary_embedding(
        x, cos, sin, ids, interleaved=interleaved, num_heads=heads, rotary_dim=rotary_dim
    )
    assert_same(found, expected, dtype, ulps=2, scale=2)


def test_rotary_embedding_keeps_lengths():
    angles = random(F64, 2, 5, 4)
    x = random(F64, 2, 3, 5, 8)
    found = attention.rotary_embedding(x, np.cos(angles), np.sin(angles))
    np.testing.assert_allclose(np.sum(found**2, axis=-1), np.sum(x**2, axis=-1))


def test_rotary_embedding_refuses_angles_that_do_not_fit():
    with pytest.raises(ValueError, match="expected 4 angles, got 3"):
        attention.rotary_embedding(np.ones((1, 1, 2, 8)), np.ones((1, 2, 3)), np.ones((1, 2, 3)))
    with pytest.raises(ValueError, match="'num_heads'"):
        attention.rotary_embedding(np.ones((1, 2, 8)), np.ones((1, 2, 4)), np.ones((1, 2, 4)))
