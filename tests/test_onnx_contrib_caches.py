"""Caches of attention of com.microsoft that hold a window, and norms and masks of its heads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.tools.api import compile
from tests.test_onnx_contrib import DOMAIN, contrib, f32, rms, run
from tests.test_onnx_contrib_attention import CLOSE, attended, causal, split

Array = npt.NDArray[Any]
GROUPS, KEYS, D = 4, 2, 16
HEADS: dict[str, Any] = {"num_heads": GROUPS, "kv_num_heads": KEYS}


def held(total: int, capacity: int, window: int) -> int:
    """How many of so many positions a cache holds."""
    chunk = capacity - window + 1
    over = max(total - capacity, 0)
    return total - chunk * -(-over // chunk)


@pytest.mark.parametrize(("window", "capacity"), [(4, 4), (3, 5), (4, 6)])
@pytest.mark.parametrize(("rows", "before"), [(1, 0), (1, 3), (1, 9), (7, 0), (3, 9), (2, 4)])
def test_a_cache_of_a_window_holds_the_newest(rows: int, before: int, window: int, capacity: int):
    total = before + rows
    keys, values = f32(1, KEYS, total, D), f32(1, KEYS, total, D)
    old = held(before, capacity, window)
    caches: list[Array] = []
    for whole in (keys, values):
        cache = f32(1, KEYS, capacity, D)
        cache[:, :, :old] = whole[:, :, before - old : before]
        caches.append(cache)
    q = f32(1, rows, GROUPS * D)
    new = [x[:, :, before:].transpose(0, 2, 1, 3).reshape(1, rows, -1) for x in (keys, values)]
    inputs = [q, *new, *caches, np.array([total - 1], np.int32), np.array(total, np.int32)]
    options = {**HEADS, "local_window_size": window, "sliding_window_cache": 1}
    found, *present = run("GroupQueryAttention", inputs, "y k v", **options)
    mask = causal(rows, total)
    near = np.arange(total) > np.arange(before, total)[:, None] - window
    want = attended([split(q, GROUPS), keys, values], np.where(near, mask, -np.inf))
    np.testing.assert_allclose(found, want, **CLOSE)
    count = held(total, capacity, window)
    for got, whole in zip(present, (keys, values), strict=True):
        assert got.shape == (1, KEYS, capacity, D)
        np.testing.assert_array_equal(got[:, :, :count], whole[:, :, total - count :])


def step(**more: Any) -> list[Array | None]:
    """Inputs of a prompt of three tokens; `more` are others by the names of their slots."""
    q, k, v = f32(1, 3, GROUPS * D), f32(1, 3, KEYS * D), f32(1, 3, KEYS * D)
    inputs: list[Array | None] = [q, k, v, None, None, np.array([2], np.int32)]
    inputs += [np.array(3, np.int32), *[None] * 10]
    for name, array in more.items():
        inputs[int(name[1:])] = array
    return inputs


def heads(inputs: list[Array | None]) -> list[Array]:
    """Queries, keys and values of such inputs."""
    found: list[Array] = []
    for x, count in zip(inputs[:3], (GROUPS, KEYS, KEYS), strict=True):
        assert x is not None
        found.append(split(x, count))
    return found


@pytest.mark.parametrize("epsilon", ["qk_norm_epsilon", "q_norm_epsilon"])
def test_queries_and_keys_may_be_normalised(epsilon: str):
    q_scale, k_scale = f32(D), f32(D)
    inputs = step(s14=q_scale, s15=k_scale)
    (found, *_) = run("GroupQueryAttention", inputs, "y k v", **HEADS, **{epsilon: 1e-2})
    query, key, value = heads(inputs)
    key = rms(key, 1e-2 if epsilon.startswith("qk") else 1e-6) * k_scale
    want = attended([rms(query, 1e-2) * q_scale, key, value], causal(3, 3))
    np.testing.assert_allclose(found, want, **CLOSE)


def test_attention_that_is_not_causal_sees_all_keys_that_count():
    inputs = step()
    inputs[5] = np.array([1], np.int32)
    (found, *_) = run("GroupQueryAttention", inputs, "y k v", **HEADS, causal=0)
    parts = heads(inputs)
    want = attended([parts[0], parts[1][:, :, :2], parts[2][:, :, :2]])
    np.testing.assert_allclose(found, want, **CLOSE)


CACHE = f32(1, KEYS, 4, D)


@pytest.mark.parametrize(
    ("more", "options", "words"),
    [
        ({"s16": np.array([3], np.int32)}, {}, "padding behind new keys"),
        ({}, {"k_quant_type": "PER_TENSOR"}, "a quantised cache"),
        ({}, {"causal": 0, "local_window_size": 2}, "no 'local_window_size'"),
        ({"s3": CACHE, "s4": CACHE}, {"sliding_window_cache": 1}, "a 'local_window_size'"),
        ({"s3": CACHE, "s4": CACHE}, {"sliding_window_cache": 1, "local_window_size": 5},
         "a cache of at least 5 rows, got 4"),
        ({"s10": f32(1, 1, 3, 3)}, {"sliding_window_cache": 1, "local_window_size": 2},
         "a bias of scores"),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_refused(
    more: dict[str, Array], options: dict[str, Any], words: str
):
    proto, _ = contrib("GroupQueryAttention", step(**more), "y k v", **HEADS, **options)
    with pytest.raises(GEError, match=words):
        import_onnx(proto)


def test_one_step_of_a_decoder_has_its_operands_in_another_order():
    q, k, v = f32(2, 1, 32), f32(2, 1, 32), f32(2, 1, 32)
    past, bias = [f32(2, 2, 3, D) for _ in range(2)], f32(96)
    kept = np.array([[1, 1, 0, 1], [1, 1, 1, 1]], np.int32)
    inputs = [q, k, v, kept, None, *past, None, None, None, bias]
    found, *present = run("DecoderMaskedMultiHeadAttention", inputs, "y k v", num_heads=2)
    new = [split(x + b, 2) for x, b in zip((q, k, v), np.split(bias, 3), strict=True)]
    both = [np.concatenate(pair, axis=2) for pair in zip(past, new[1:], strict=True)]
    mask = np.where(kept[:, None, None] > 0, 0, -10000.0)
    np.testing.assert_allclose(found, attended([new[0], *both], mask), **CLOSE)
    for got, want in zip(present, both, strict=True):
        np.testing.assert_allclose(got, want, **CLOSE)


def test_a_cache_of_unknown_length_is_causal_as_well():
    x, weight, past = f32(1, 2, 32), f32(32, 96), f32(2, 1, 2, 3, D)
    node = helper.make_node(
        "Attention", ["x", "w", "", "", "p"], ["y", "q"], domain=DOMAIN, num_heads=2,
        unidirectional=1,
    )  # fmt: skip
    shapes = {"x": x.shape, "w": weight.shape, "p": (2, 1, 2, "past", D)}
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()],
        [onnx.ValueInfoProto(name=name) for name in "yq"],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    plan = compile(helper.make_model(graph, opset_imports=opsets), input_shapes=f"p:2,1,2,1~9,{D}")
    found = plan.run({"x": x, "w": weight, "p": past})["y"]
    query, key, value = (split(part, 2) for part in np.split(x @ weight, 3, axis=-1))
    both = [np.concatenate(p, axis=2) for p in ((past[0], key), (past[1], value))]
    np.testing.assert_allclose(found, attended([query, *both], causal(2, 5)), **CLOSE)


def test_other_keys_are_not_causal():
    inputs = [f32(1, 2, 32), f32(1, 5, 32), f32(1, 5, 32)]
    proto, _ = contrib("MultiHeadAttention", list(inputs), num_heads=2, unidirectional=1)
    with pytest.raises(GEError, match="not as many keys as queries"):
        import_onnx(proto)


def test_all_of_a_head_turns_where_nobody_says_how_many_there_are():
    x, cosine, sine = f32(1, 3, 2 * D), f32(9, D // 2), f32(9, D // 2)
    places = np.array([[2, 5, 0]])
    (found,) = run("RotaryEmbedding", [x, places, cosine, sine])
    a, b = np.split(split(x, 2), 2, axis=-1)
    c, s = cosine[places], sine[places]
    want = np.concatenate([a * c - b * s, a * s + b * c], axis=-1)
    np.testing.assert_allclose(found, want.transpose(0, 2, 1, 3).reshape(x.shape), **CLOSE)


SECTIONS = (3, 3, 2)


@pytest.mark.parametrize(
    ("layout", "streams"), [(0, [0, 0, 0, 1, 1, 1, 2, 2]), (1, [0, 1, 2, 0, 1, 2, 0, 1])]
)
def test_angles_may_follow_time_height_or_width(layout: int, streams: list[int]):
    x, cosine, sine = f32(2, 4, 5, D), f32(9, D // 2), f32(9, D // 2)
    places = np.random.default_rng(1).integers(0, 9, (3, 2, 5))
    options: dict[str, Any] = {"mrope_section": SECTIONS, "mrope_layout": layout}
    (found,) = run("MRotaryEmbedding", [x, places, cosine, sine], **options)
    angles = np.arange(D // 2)
    c, s = (table[places[streams].transpose(1, 2, 0), angles][:, None] for table in (cosine, sine))
    a, b = np.split(x, 2, axis=-1)
    want = np.concatenate([a * c - b * s, a * s + b * c], axis=-1)
    np.testing.assert_allclose(found, want, **CLOSE)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mrope_section": (3, 3, 3)}, "sections of 8 angles"),
        ({"mrope_section": (4, 4)}, "as many sections"),
        ({"mrope_section": SECTIONS, "mrope_layout": 2}, "'mrope_layout' of 0 or 1"),
    ],
)
def test_sections_have_to_fit(options: dict[str, Any], words: str):
    inputs: list[Array | None] = [f32(2, 4, 5, D), np.zeros((3, 2, 5), np.int64)]
    inputs += [f32(9, D // 2), f32(9, D // 2)]
    with pytest.raises(GEError, match=words):
        import_onnx(contrib("MRotaryEmbedding", inputs, **options)[0])
