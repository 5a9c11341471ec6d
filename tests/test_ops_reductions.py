from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.ge import reductions, selection
from tests.kernel_reference import F16, F32, assert_same, random, reference
from tests.op_checks import run, value

REDUCTIONS: list[tuple[type[reductions.ReduceOp], str]] = [
    (reductions.ReduceSumOp, "ReduceSum"),
    (reductions.ReduceMeanOp, "ReduceMean"),
    (reductions.ReduceMaxOp, "ReduceMax"),
    (reductions.ReduceMinOp, "ReduceMin"),
    (reductions.ReduceProdOp, "ReduceProd"),
    (reductions.ReduceL1Op, "ReduceL1"),
    (reductions.ReduceL2Op, "ReduceL2"),
    (reductions.ReduceSumSquareOp, "ReduceSumSquare"),
    (reductions.ReduceLogSumExpOp, "ReduceLogSumExp"),
]


@pytest.mark.parametrize(("op_class", "onnx_type"), REDUCTIONS)
@pytest.mark.parametrize(("axes", "keepdims"), [((1,), True), ((-1, 0), False), ((0, 1, 2), True)])
def test_reductions_are_those_of_onnx(
    op_class: type[reductions.ReduceOp], onnx_type: str, axes: tuple[int, ...], keepdims: bool
) -> None:
    x = random(F32, 2, 3, 4)
    (found,) = run(op_class, x, axes=axes, keepdims=keepdims)
    expected = reference(onnx_type, x, np.array(axes), keepdims=int(keepdims))
    assert_same(found, expected, F32, ulps=8, scale=4)


def test_log_sum_is_the_logarithm_of_the_sum() -> None:
    x = np.abs(random(F32, 2, 3))
    (found,) = run(reductions.ReduceLogSumOp, x, axes=[1], keepdims=False)
    np.testing.assert_allclose(found, np.log(x.sum(1)), rtol=1e-6)


@given(st.lists(st.integers(0, 3), max_size=4), st.data())
def test_reduced_shapes_are_those_of_numpy(shape: list[int], data: st.DataObject) -> None:
    rank = len(shape)
    axes = data.draw(st.lists(st.integers(0, rank - 1), unique=True)) if rank else []
    signs = data.draw(st.lists(st.booleans(), min_size=len(axes), max_size=len(axes)))
    keepdims = data.draw(st.booleans())
    asked = [axis - rank if sign else axis for axis, sign in zip(axes, signs, strict=True)]
    x = np.ones(shape, F32)
    (found,) = run(reductions.ReduceSumOp, x, axes=asked, keepdims=keepdims)
    assert found.shape == x.sum(axis=tuple(asked), keepdims=keepdims).shape


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_softmaxes_are_those_of_onnx(axis: int) -> None:
    x = random(F32, 3, 4)
    (soft,) = run(reductions.SoftmaxOp, x, axis=axis)
    (logs,) = run(reductions.LogSoftmaxOp, x, axis=axis)
    assert_same(soft, reference("Softmax", x, axis=axis), F32, ulps=8)
    assert_same(logs, reference("LogSoftmax", x, axis=axis), F32, ulps=8, scale=4)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_places_of_extremes_are_those_of_onnx(keepdims: bool, last: bool) -> None:
    x = random(F16, 3, 5, low=0, high=2)
    x[:, 3] = x[:, 1]
    attributes: dict[str, Any] = {"keepdims": int(keepdims), "select_last_index": int(last)}
    for op_class, onnx_type in ((selection.ArgMaxOp, "ArgMax"), (selection.ArgMinOp, "ArgMin")):
        (found,) = run(op_class, x, axis=1, keepdims=keepdims, select_last_index=last)
        np.testing.assert_array_equal(found, reference(onnx_type, x, axis=1, **attributes))


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums_are_those_of_onnx(exclusive: bool, reverse: bool) -> None:
    x = random(np.int32, 3, 5)
    (found,) = run(selection.CumsumOp, x, axis=-1, exclusive=exclusive, reverse=reverse)
    attributes: dict[str, Any] = {"exclusive": int(exclusive), "reverse": int(reverse)}
    np.testing.assert_array_equal(found, reference("CumSum", x, np.array(-1), **attributes))


@pytest.mark.parametrize("largest", [False, True])
def test_top_k_is_that_of_onnx(largest: bool) -> None:
    x = random(F32, 3, 7)
    values, places = run(selection.TopKOp, x, k=4, axis=1, largest=largest)
    expected = reference("TopK", x, np.array([4]), outputs=2, axis=1, largest=int(largest))
    assert_same(values, expected[0], F32)
    np.testing.assert_array_equal(places, expected[1])


def test_work_counts_the_input() -> None:
    x = np.ones((4, 8), F32)
    op = reductions.ReduceSumOp(value(x), [1])
    assert op.flops() == 32
    assert reductions.SoftmaxOp(value(x)).flops() == 12 * 32
