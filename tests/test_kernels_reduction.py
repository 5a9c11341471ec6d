from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.interpreters.kernels import reduction
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

I64 = np.dtype(np.int64)
REDUCTIONS: list[tuple[str, Callable[..., Array]]] = [
    ("ReduceSum", reduction.reduce_sum),
    ("ReduceMean", reduction.reduce_mean),
    ("ReduceMax", reduction.reduce_max),
    ("ReduceMin", reduction.reduce_min),
    ("ReduceProd", reduction.reduce_prod),
    ("ReduceL1", reduction.reduce_l1),
    ("ReduceL2", reduction.reduce_l2),
    ("ReduceSumSquare", reduction.reduce_sum_square),
    ("ReduceLogSum", reduction.reduce_log_sum),
    ("ReduceLogSumExp", reduction.reduce_log_sum_exp),
]
IDS = [name for name, _ in REDUCTIONS]


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("axes", [(1,), (0, -1), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("op_type", "function"), REDUCTIONS, ids=IDS)
def test_reductions_agree_with_onnx(
    op_type: str,
    function: Callable[..., Array],
    dtype: np.dtype[Any],
    axes: tuple[int, ...],
    keepdims: bool,
):
    x = random(dtype, 3, 4, 5)
    x = np.abs(x) if op_type == "ReduceLogSum" else x
    expected = reference(op_type, x, np.array(axes), keepdims=int(keepdims))
    assert_same(function(x, axes, keepdims=keepdims), expected, dtype, ulps=6, scale=1)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8], ids=str)
@pytest.mark.parametrize(("op_type", "function"), REDUCTIONS[:8], ids=IDS[:8])
def test_integer_reductions_keep_the_type(op_type: str, function: Callable[..., Array], dtype: Any):
    x = random(dtype, 3, 4, low=-3, high=4)
    expected = np.asarray(reference(op_type, x.astype(np.int64), np.array([1])))
    assert_same(function(x, (1,)), expected.astype(dtype), dtype)


OF_NOTHING = (0, np.nan, -np.inf, np.inf, 1, 0, 0, 0, -np.inf, -np.inf)


@pytest.mark.parametrize("i", range(len(REDUCTIONS)), ids=IDS)
def test_reductions_of_nothing(i: int):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = REDUCTIONS[i][1](np.zeros((2, 0), F16), (1,), keepdims=False)
    assert_same(found, np.full(2, OF_NOTHING[i]), F16)


def test_reductions_of_no_axes_change_nothing():
    x = random(F32, 2, 3)
    np.testing.assert_array_equal(reduction.reduce_sum(x, ()), x)
    np.testing.assert_array_equal(reduction.reduce_max(np.array(3.0, F32)), 3)


def test_extremes_propagate_nan():
    x = np.array([[1, np.nan], [2, 3]], BF16)
    assert_same(reduction.reduce_max(x, (1,), keepdims=False), [np.nan, 3], BF16)
    assert_same(reduction.reduce_min(x, (1,), keepdims=False), [np.nan, 2], BF16)


def test_bool_extremes():
    x = np.array([[True, False], [False, False]])
    np.testing.assert_array_equal(reduction.reduce_max(x, (1,), keepdims=False), [True, False])
    np.testing.assert_array_equal(reduction.reduce_min(x, (1,), keepdims=False), [False, False])


def test_half_precision_sums_accumulate_in_single():
    ones = np.ones(5000, F16)
    assert reduction.reduce_sum(ones) == F16.type(5000)
    assert reduction.reduce_mean(ones) == 1
    assert reduction.reduce_l2(np.full(4, 200, F16)) == 400


def test_integer_sums_wrap():
    assert reduction.reduce_sum(np.full(3, 100, np.int8)) == np.int8(300 - 256)


def test_integer_means_truncate():
    x = np.array([-1, -2, 4, 3], np.int32).reshape(2, 2)
    np.testing.assert_array_equal(reduction.reduce_mean(x, (1,), keepdims=False), [-1, 3])


def test_log_sum_exp_neither_overflows_nor_loses_infinity():
    x = np.array([[1000, 1000], [-np.inf, -np.inf], [np.inf, 0]], F32)
    found = reduction.reduce_log_sum_exp(x, (1,), keepdims=False)
    np.testing.assert_allclose(found, [1000 + np.log(2), -np.inf, np.inf])


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("dtype", [F16, F32, np.dtype(np.int8)], ids=str)
def test_arg_extremes_agree_with_onnx(dtype: np.dtype[Any], keepdims: bool, last: bool):
    x = random(np.int8, 4, 30, low=-2, high=3).astype(dtype)
    attributes = {"axis": -1, "keepdims": int(keepdims), "select_last_index": int(last)}
    arguments: dict[str, Any] = {"axis": -1, "keepdims": keepdims, "select_last_index": last}
    assert_same(reduction.arg_max(x, **arguments), reference("ArgMax", x, **attributes), I64)
    assert_same(reduction.arg_min(x, **arguments), reference("ArgMin", x, **attributes), I64)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("dtype", [BF16, F32, np.dtype(np.int32)], ids=str)
def test_running_sums_agree_with_onnx(dtype: np.dtype[Any], exclusive: bool, reverse: bool):
    x = random(dtype, 3, 6)
    attributes = {"exclusive": int(exclusive), "reverse": int(reverse)}
    for axis in (0, -1):
        expected = reference("CumSum", x, np.array(axis), **attributes)
        found = reduction.cumsum(x, axis=axis, exclusive=exclusive, reverse=reverse)
        assert_same(found, expected, dtype, ulps=4, scale=2)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax_agrees_with_onnx(dtype: np.dtype[Any], axis: int):
    x = random(dtype, 3, 4, 5)
    positive = axis % 3
    probabilities, logarithms = reduction.softmax(x, axis=axis), reduction.log_softmax(x, axis=axis)
    exact = np.exp(x.astype(F64))
    exact /= exact.sum(axis=positive, keepdims=True)
    assert_same(probabilities, exact, dtype, ulps=4)
    assert_same(logarithms, np.log(exact), dtype, ulps=4, scale=1)
    if axis:  # the reference takes axis 0 for absent
        assert_same(probabilities, reference("Softmax", x, axis=axis), dtype, ulps=4)
        assert_same(logarithms, reference("LogSoftmax", x, axis=axis), dtype, ulps=4, scale=1)


def test_softmax_of_special_rows():
    x = np.array([[-np.inf, 0], [-np.inf, -np.inf], [np.nan, 0], [1e4, 0]], F16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = reduction.softmax(x)
    expected = [[0, 1], [np.nan, np.nan], [np.nan, np.nan], [1, 0]]
    assert_same(found, expected, F16)
    assert reduction.softmax(np.zeros((2, 0), F32)).shape == (2, 0)
    assert_same(reduction.log_softmax(x[:1]), [[-np.inf, 0]], F16)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [F16, F32, np.dtype(np.uint8), I64], ids=str)
def test_top_k_agrees_with_onnx(dtype: np.dtype[Any], axis: int, largest: bool):
    x = random(np.int8, 5, 6, 7, low=0, high=4).astype(dtype)
    values, indices = reduction.top_k(x, k=3, axis=axis, largest=largest)
    expected = reference(
        "TopK", x, np.array([3]), outputs=2, axis=axis, largest=int(largest), sorted=1
    )
    assert_same(values, expected[0], dtype)
    assert_same(indices, expected[1], I64)


@given(st.lists(st.integers(-3, 3), max_size=12), st.booleans(), st.data())
def test_top_k_is_a_stable_sort(elements: list[int], largest: bool, data: st.DataObject):
    k = data.draw(st.integers(0, len(elements)))
    _, indices = reduction.top_k(np.array(elements, np.int8), k=k, largest=largest)
    order = sorted(range(len(elements)), key=lambda i: (-1 if largest else 1) * elements[i])
    assert indices.tolist() == order[:k]


def test_top_k_refuses_more_than_there_are():
    with pytest.raises(ValueError, match=r"expected 'k' in \[0, 2\], got 3"):
        reduction.top_k(np.zeros(2, F32), k=3)
