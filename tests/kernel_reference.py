"""What the kernels are compared with: ONNX's own reference, run in f64."""

from __future__ import annotations

from typing import Any, cast

import ml_dtypes
import numpy as np
import numpy.typing as npt
from onnx import helper
from onnx.defs import onnx_opset_version
from onnx.reference import ReferenceEvaluator

Array = npt.NDArray[Any]

F16 = np.dtype(np.float16)
BF16 = np.dtype(ml_dtypes.bfloat16)
F32 = np.dtype(np.float32)
F64 = np.dtype(np.float64)
FLOATS = (F16, BF16, F32, F64)


def random(dtype: npt.DTypeLike, *shape: int, seed: int = 0, low: int = -5, high: int = 5) -> Array:
    """Returns normal floats, integers in `[low, high)`, or truth values."""
    generator = np.random.default_rng((seed, *shape))
    target: np.dtype[Any] = np.dtype(dtype)
    if target.kind == "b":
        return generator.integers(0, 2, shape).astype(target)
    if target.kind in "iu":
        return generator.integers(0 if target.kind == "u" else low, high, shape).astype(target)
    return generator.standard_normal(shape).astype(target)


def _widened(x: Array) -> Array:
    return x.astype(F64) if x.dtype in FLOATS else x


def reference(op_type: str, *inputs: Array | None, outputs: int = 1, **attributes: Any) -> Any:
    """Returns the results of one ONNX op of the latest opset, floats widened to f64."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    feeds = {n: _widened(x) for n, x in zip(names, inputs, strict=True) if x is not None}
    graph = helper.make_graph(
        [helper.make_node(op_type, names, results, **attributes)],
        "one_op",
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for n, x in feeds.items()
        ],
        [helper.make_empty_tensor_value_info(result) for result in results],
    )
    # Functions that stand for an op need its input types, hence a model and not a mere node.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", onnx_opset_version())])
    with np.errstate(all="ignore"):
        evaluator: Any = ReferenceEvaluator(model)
        found: list[Any] = evaluator.run(None, feeds)
    return found[0] if outputs == 1 else tuple(found)


def assert_same(
    found: Array, expected: Any, dtype: npt.DTypeLike, ulps: float = 2, scale: float = 0
) -> None:
    """Asserts type, shape and values; floats within `ulps` roundings, of elements or of `scale`."""
    target = np.dtype(dtype)
    assert type(found) is np.ndarray
    assert found.dtype == target
    assert found.shape == np.shape(expected)
    if target not in FLOATS:
        np.testing.assert_array_equal(found, expected)
        return
    eps = ulps * float(cast(Any, ml_dtypes.finfo(target)).eps)
    with np.errstate(all="ignore"):
        rounded = np.asarray(expected).astype(target).astype(F64)
    np.testing.assert_allclose(found.astype(F64), rounded, rtol=eps, atol=eps * scale)
