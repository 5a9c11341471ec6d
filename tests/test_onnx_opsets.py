"""Import of ONNX: the spellings of every opset mean the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from ge_dialect.ge.structure import HostCallOp
from ge_dialect.interpreters.functions import run_function
from tests.onnx_models import imported, model, names_of, node, ops_of, reference, run

F32 = np.float32
X = {"x": ("float32", (2, 3, 4))}
A = np.linspace(-2, 2, 24, dtype=F32).reshape(2, 3, 4)


def _softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize(
    ("opset", "spelling", "constants", "expected"),
    [
        (9, node("Softmax", "x"), {}, _softmax(A.reshape(2, 12)).reshape(2, 3, 4)),
        (12, node("Softmax", "x", axis=2), {}, _softmax(A)),
        (13, node("Softmax", "x"), {}, _softmax(A)),
        (9, node("Clip", "x", min=-1.0), {}, np.maximum(A, -1)),
        (11, node("Clip", "x", "", "hi"), {"hi": np.array(1, F32)}, np.minimum(A, 1)),
        (9, node("Slice", "x", starts=[1], ends=[9], axes=[2]), {}, A[:, :, 1:]),
        (10, node("Slice", "x", "s", "e"), {"s": np.array([1]), "e": np.array([2])}, A[1:2]),
        (9, node("Pad", "x", pads=[0, 1, 0, 0, 0, 0], value=3.0), {},
         np.pad(A, [(0, 0), (1, 0), (0, 0)], constant_values=3)),
        (18, node("Pad", "x", "p", "", "a", mode="edge"),
         {"p": np.array([1, 0]), "a": np.array([-1])},
         np.pad(A, [(0, 0), (0, 0), (1, 0)], mode="edge")),
        (9, node("Squeeze", "u", axes=[0]), {"u": A[None]}, A),
        (13, node("Squeeze", "u"), {"u": A[None]}, A),
        (9, node("Unsqueeze", "x", axes=[0, 4]), {}, A[None, ..., None]),
        (13, node("Unsqueeze", "x", "a"), {"a": np.array([-1])}, A[..., None]),
        (9, node("ReduceSum", "x", axes=[1], keepdims=0), {}, A.sum(1)),
        (13, node("ReduceSum", "x", "a"), {"a": np.array([1])}, A.sum(1, keepdims=True)),
        (13, node("ReduceSum", "x", noop_with_empty_axes=1), {}, A),
        (18, node("ReduceMax", "x", keepdims=0), {}, A.max()),
        (9, node("Upsample", "x", "s", mode="nearest"), {"s": np.array([1, 1, 2], F32)},
         A.repeat(2, 2)),
        (9, node("Dropout", "x", ratio=0.9), {}, A),
        (9, node("Flatten", "x", axis=2), {}, A.reshape(6, 4)),
        (14, node("Reshape", "x", "t"), {"t": np.array([0, -1])}, A.reshape(2, 12)),
        (17, node("Mean", "x", "x", "w"), {"w": np.ones(4, F32)}, (A + A + 1) / 3),
        (17, node("GlobalAveragePool", "x"), {}, A.mean(2, keepdims=True)),
        (17, node("Split", "x", axis=1, out="a, y, b"), {}, A[:, 1:2]),
        (18, node("Split", "x", axis=2, num_outputs=3, out="a, b, y"), {}, A[:, :, 4:]),
        (17, node("Tile", "x", "r"), {"r": np.array([1, 2, 1])}, np.tile(A, (1, 2, 1))),
        (17, node("CastLike", "x", "i"), {"i": np.array(1)}, A.astype(np.int64)),
        (10, node("TopK", "x", "k", axis=1, out="y, i"), {"k": np.array([1])},
         A.max(1, keepdims=True)),
        (17, node("Trilu", "x", upper=0), {}, np.tril(A)),
        (16, node("GridSample", "u", "g", mode="bilinear", align_corners=1),
         {"u": A[:, None], "g": np.zeros((2, 1, 1, 2), F32)},
         A[:, None, 1:2, 1:3].mean(-1, keepdims=True)),
        (16, node("GridSample", "u", "g", mode="bicubic"),
         {"u": A[:, None, :, :3], "g": np.zeros((2, 1, 1, 2), F32)}, A[:, None, 1:2, 1:2]),
        (24, node("Swish", "x", alpha=2.0), {}, A / (1 + np.exp(-2 * A))),
    ],
)  # fmt: skip
def test_spellings_of_every_opset_mean_the_same(
    opset: int, spelling: onnx.NodeProto, constants: dict[str, Any], expected: Any
):
    proto = model([spelling], X, ["y"], constants, opset)
    module = imported(proto)
    assert not any(isinstance(op, HostCallOp) for op in ops_of(module))
    (found,) = run_function(module, [A])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


# Without pooling at the lower end, which onnx.reference gives one window less than ONNX says.
@pytest.mark.parametrize(
    ("op_type", "mode"),
    [
        ("Conv", "SAME_UPPER"),
        ("Conv", "SAME_LOWER"),
        ("Conv", "VALID"),
        ("ConvTranspose", "SAME_UPPER"),
        ("ConvTranspose", "SAME_LOWER"),
        ("MaxPool", "SAME_UPPER"),
        ("MaxPool", "VALID"),
    ],
)
def test_automatic_padding_is_made_numbers(op_type: str, mode: str):
    x, w = np.random.default_rng(0).normal(size=(2, 1, 2, 8, 8)).astype(F32)[:, :, :1, :, :]
    w = w[..., :3, :3]
    attributes: dict[str, Any] = {"strides": [2, 2], "auto_pad": mode}
    if op_type == "MaxPool":
        attributes["kernel_shape"] = [3, 3]
    names = ("x",) if op_type == "MaxPool" else ("x", "w")
    proto = model(
        [node(op_type, *names, **attributes)], {"x": ("float32", x.shape)}, ["y"], {"w": w}
    )
    (expected,) = reference(proto, {"x": x})
    (found,) = run(proto, x)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_attention_with_a_cache_returns_the_new_cache():
    rng = np.random.default_rng(0)
    sizes = (("q", 4, 2), ("k", 2, 2), ("v", 2, 2), ("pk", 2, 3), ("pv", 2, 3))
    arrays = {
        name: rng.normal(size=(1, heads, length, 4)).astype(F32) for name, heads, length in sizes
    }
    proto = model(
        [node("Attention", "q", "k", "v", "", "pk", "pv", is_causal=1, out="y, ok, ov")],
        {name: ("float32", array.shape) for name, array in arrays.items()},
        ["y", "ok", "ov"],
    )
    module = imported(proto)
    assert names_of(module) == ["ge.concat", "ge.concat", "ge.flash_attention"]
    assert "causal causal_offset 3 " in str(module)
    assert "nan_guard" not in str(module)  # without a mask each query keeps a key
    expected = reference(proto, arrays)
    for found, want in zip(run_function(module, list(arrays.values())), expected, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)


def test_packed_attention_splits_and_joins_heads():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 5, 8)).astype(F32)
    mask = rng.random((5, 5)) > 0.5
    mask[2] = False
    proto = model(
        [node("Attention", "x", "x", "x", "m", q_num_heads=2, kv_num_heads=2)],
        {"x": ("float32", x.shape), "m": ("bool", mask.shape)},
        ["y"],
    )
    (expected,) = reference(proto, {"x": x, "m": mask})
    (found,) = run(proto, x, mask)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_old_hardmax_joins_dimensions_before_it_goes_to_the_host():
    module = imported(model([node("Hardmax", "x", axis=1)], X, ["y"], opset=11))
    assert names_of(module) == ["ge.reshape", "Hardmax", "ge.reshape"]
    (found,) = run_function(module, [A])
    assert found.reshape(2, 12).argmax(1).tolist() == [11, 11]
    assert found.sum() == 2
