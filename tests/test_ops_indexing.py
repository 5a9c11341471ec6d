from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue
from xdsl.utils.test_value import create_ssa_value

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    OneHotOp,
    ShapeOp,
    SizeOp,
)
from ge_dialect.ge.scatter import ScatterElementsOp, ScatterNdOp
from ge_dialect.ge.types import tensor_type, value_shape
from ge_dialect.interpreters.registry import evaluate
from ge_dialect.symbols import symbol
from tests.kernel_reference import F32, Array, assert_same, random, reference
from tests.op_checks import run, value

REDUCTIONS = ["none", "add", "mul", "min", "max"]
S, T = symbol("S"), symbol("T")


def shaped(*shape: Any) -> SSAValue:
    """Returns a value of f32 of any shape."""
    return create_ssa_value(tensor_type(f32, shape))


def indices(*shape: Any) -> SSAValue:
    """Returns a value of i64 of any shape."""
    return create_ssa_value(tensor_type(i64, shape))


def check(op: GEOp, *arrays: Array) -> Array:
    """Returns the result of an op whose indices are static, after checking its type."""
    op.verify()
    (found,) = evaluate(op, arrays)
    assert value_shape(op.results[0]) == found.shape
    return found


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
def test_gather_is_that_of_onnx(shape: list[int], data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    chosen = data.draw(st.lists(st.integers(0, 3), max_size=2))
    x = random(F32, *shape)
    places = random(np.int64, *chosen, low=-shape[axis], high=shape[axis])
    (found,) = run(GatherOp, x, places, axis=axis)
    assert_same(found, reference("Gather", x, places, axis=axis), F32)


@pytest.mark.parametrize(("axis", "shape"), [(0, (2, 4)), (1, (3, 6)), (-1, (3, 2))])
def test_gather_elements_is_that_of_onnx(axis: int, shape: tuple[int, ...]) -> None:
    x, places = random(F32, 3, 4), random(np.int64, *shape, low=-3, high=3)
    (found,) = run(GatherElementsOp, x, places, axis=axis)
    assert_same(found, np.take_along_axis(x, places, axis), F32)
    part = places[:, :1] if axis == 0 else places[:1]
    (less,) = run(GatherElementsOp, x, part, axis=axis)
    np.testing.assert_array_equal(less, found[:, :1] if axis == 0 else found[:1])


@pytest.mark.parametrize(
    ("shape", "index_shape", "batch"),
    [((2, 3, 4), (5, 2), 0), ((2, 3, 4), (2, 5, 1), 1), ((2, 2, 4), (2, 2, 1), 2), ((3,), (1,), 0)],
)
def test_gather_nd_is_that_of_onnx(
    shape: tuple[int, ...], index_shape: tuple[int, ...], batch: int
) -> None:
    x, places = random(F32, *shape), random(np.int64, *index_shape, low=-2, high=2)
    found = check(GatherNdOp(value(x), value(places), batch), x, places)
    expected = reference("GatherND", x, places, batch_dims=batch)
    assert_same(found, expected, F32)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_scatter_nd_is_that_of_onnx(reduction: str) -> None:
    x, places = random(F32, 4, 3), np.array([[1], [-1], [1]])
    updates = random(F32, 3, 3, seed=1)
    op = ScatterNdOp(value(x), value(places), value(updates), reduction)
    found = check(op, x, places, updates)
    assert_same(found, reference("ScatterND", x, places, updates, reduction=reduction), F32)
    assert op.in_place_pairs() == ((0, 0),)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("axis", [0, -1])
def test_scatter_elements_is_that_of_onnx(reduction: str, axis: int) -> None:
    x, updates = random(F32, 3, 4), random(F32, 2, 3, seed=1)
    places = np.array([[0, 1, -1], [0, 2, 1]])
    (found,) = run(ScatterElementsOp, x, places, updates, axis=axis, reduction=reduction)
    # ONNX's reference reads negative indices of the last axis as they are.
    places = np.where(places < 0, places + x.shape[axis], places)
    expected = reference("ScatterElements", x, places, updates, axis=axis, reduction=reduction)
    assert_same(found, expected, F32)


def test_scatters_have_a_name_for_each_reduction() -> None:
    x, places, updates = shaped(4, 3), indices(2, 1), shaped(2, 3)
    names = [ScatterNdOp(x, places, updates, how).ge_op_type() for how in ("none", "add", "max")]
    assert names == ["TensorScatterUpdate", "TensorScatterAdd", "TensorScatterMax"]
    assert ScatterNdOp(x, places, updates).flops() == 0
    assert ScatterNdOp(x, places, updates, "add").flops() == 6


@pytest.mark.parametrize("axis", [-1, 0, 1, -3])
def test_one_hot_is_that_of_onnx(axis: int) -> None:
    places, values = np.array([[0, -1, 2], [7, 1, -9]]), np.array([-1, 5], F32)
    found = check(OneHotOp(value(places), value(values), 3, axis), places, values)
    inside = (places >= -3) & (places < 3)
    hot: Array = reference("OneHot", places, np.asarray(3), values, axis=axis)
    expected = np.where(np.expand_dims(inside, axis), hot, values[0])
    assert_same(found, expected, F32)


@pytest.mark.parametrize(("start", "end"), [(0, None), (1, 3), (-2, None), (0, -1), (5, 9)])
def test_shape_is_that_of_onnx(start: int, end: int | None) -> None:
    x = random(F32, 2, 3, 4)
    (found,) = run(ShapeOp, x, start=start, end=end)
    bounds = {"start": start} if end is None else {"start": start, "end": end}
    assert_same(found, reference("Shape", x, **bounds), np.int64)
    assert ShapeOp(value(x), start, end).dims() == tuple(found)


def test_shape_of_symbols_has_a_static_size() -> None:
    op = ShapeOp(shaped(S, 4, T), 0, 2)
    assert op.dims() == (S, 4)
    assert value_shape(op.result) == (2,)


def test_size_counts_elements() -> None:
    (found,) = run(SizeOp, random(F32, 2, 3))
    assert_same(found, np.asarray(6), np.int64)


def test_inference_keeps_symbols() -> None:
    assert value_shape(GatherOp(shaped(S, 8), indices(T, 2), 0).result) == (T, 2, 8)
    assert value_shape(GatherElementsOp(shaped(S, 8), indices(S, 2), 1).result) == (S, 2)
    assert value_shape(GatherNdOp(shaped(S, 4, 8), indices(S, T, 1), 1).result) == (S, T, 8)
    assert value_shape(OneHotOp(indices(S), shaped(2), 10).result) == (S, 10)


def test_indices_out_of_range_are_an_error() -> None:
    op = GatherOp(shaped(3), indices(1), 0)
    with pytest.raises(IndexError, match="expected indices in"):
        evaluate(op, [np.zeros(3, F32), np.array([3])])
