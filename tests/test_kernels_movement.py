from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.interpreters.kernels import movement
from tests.kernel_reference import BF16, F16, F32, Array, assert_same, random, reference

TYPES = [F16, BF16, F32, np.dtype(np.int8), np.dtype(np.bool_)]
X = random(F32, 2, 3, 4)


def _array(*values: int) -> Array:
    return np.array(values, np.int64)


@pytest.mark.parametrize("shape", [(4, 6), (-1, 2), (0, -1), (2, 0, 4, 1), (24,)], ids=str)
def test_reshape_agrees_with_onnx(shape: tuple[int, ...]):
    found = movement.reshape(X, shape=shape)
    assert_same(found, reference("Reshape", X, _array(*shape)), F32, ulps=0)


def test_reshape_of_nothing():
    x = np.zeros((0, 3), F32)
    assert movement.reshape(x, shape=(3, 0), allowzero=True).shape == (3, 0)
    assert movement.reshape(x, shape=(0, -1)).shape == (0, 0)
    assert movement.reshape(np.ones((), F32), shape=(1, 1)).shape == (1, 1)


def test_reshape_refuses_another_count():
    with pytest.raises(ValueError, match="reshape"):
        movement.reshape(X, shape=(5, 5))
    with pytest.raises(ValueError, match="each 0"):
        movement.reshape(X, shape=(2, 3, 4, 0))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("perm", [None, (0, 2, 1), (2, 0, 1)], ids=str)
def test_transpose_agrees_with_onnx(perm: Any, dtype: np.dtype[Any]):
    x = random(dtype, 2, 3, 4)
    attributes = {} if perm is None else {"perm": perm}
    assert_same(movement.transpose(x, perm=perm), reference("Transpose", x, **attributes), dtype)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_concat_and_split_undo_each_other(axis: int, dtype: np.dtype[Any]):
    x = random(dtype, 4, 5, 6)
    sizes = [1, 0, x.shape[axis] - 1]
    parts = movement.split(x, sizes=sizes, axis=axis)
    assert [part.shape[axis] for part in parts] == sizes
    assert_same(movement.concat(*parts, axis=axis), x, dtype)
    expected = reference("Split", x, _array(*sizes), outputs=3, axis=axis)
    for part, wanted in zip(parts, expected, strict=True):
        assert_same(part, wanted, dtype)


def test_split_refuses_sizes_that_do_not_add_up():
    with pytest.raises(ValueError, match="add up to 3, got"):
        movement.split(X, sizes=[1, 1], axis=1)


SLICES: list[tuple[list[int], list[int], list[int] | None, list[int] | None]] = [
    ([1], [3], None, None),
    ([0, 1], [1, 100], [0, 2], None),
    ([-1], [-100], [2], [-1]),
    ([100], [-100], [1], [-2]),
    ([-2], [2**63 - 1], [-1], [1]),
    ([3], [0], [2], [-1]),
    ([2], [1], [2], [1]),
    ([3], [-(2**63) + 1], [2], [-2]),
]


@pytest.mark.parametrize(("starts", "ends", "axes", "steps"), SLICES, ids=str)
def test_slice_agrees_with_onnx(starts: Any, ends: Any, axes: Any, steps: Any):
    found = movement.slice_(X, starts=starts, ends=ends, axes=axes, steps=steps)
    lists = (starts, ends, axes, steps)
    operands = [None if values is None else _array(*values) for values in lists]
    while operands[-1] is None:
        operands.pop()
    assert_same(found, reference("Slice", X, *operands), F32)


@given(
    st.integers(-12, 12),
    st.integers(-12, 12),
    st.integers(-3, 3).filter(bool),
    st.integers(0, 6),
)
def test_slice_clamps_as_onnx_says(start: int, end: int, step: int, size: int):
    # The words of ONNX: negative values count from the end, then both are clamped.
    first = start + size if start < 0 else start
    last = end + size if end < 0 else end
    if step > 0:
        first, last = min(max(first, 0), size), min(max(last, 0), size)
    else:
        first, last = min(max(first, 0), size - 1), min(max(last, -1), size - 1)
    expected = [] if size == 0 else list(range(first, last, step))
    found = movement.slice_(np.arange(size), starts=[start], ends=[end], steps=[step])
    assert found.tolist() == expected


def test_slice_refuses_step_0():
    with pytest.raises(ValueError, match="other than 0"):
        movement.slice_(X, starts=[0], ends=[1], steps=[0])


@pytest.mark.parametrize("shape", [(5, 1, 3, 4), (3, 4), (1,), (2, 3, 4)], ids=str)
def test_expand_agrees_with_onnx(shape: tuple[int, ...]):
    found = movement.expand(X, shape=shape)
    assert_same(found, reference("Expand", X, _array(*shape)), F32)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_tile_agrees_with_onnx(dtype: np.dtype[Any]):
    x = random(dtype, 2, 3)
    assert_same(movement.tile(x, repeats=(2, 3)), reference("Tile", x, _array(2, 3)), dtype)
    assert movement.tile(x, repeats=(0, 1)).shape == (0, 3)
    with pytest.raises(ValueError, match="expected 2 counts"):
        movement.tile(x, repeats=(2,))


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_pad_agrees_with_onnx(dtype: np.dtype[Any], mode: str):
    x, pads = random(dtype, 3, 4), (1, 2, 0, 3)
    found = movement.pad(x, pads=pads, mode=mode)
    expected = reference("Pad", x, _array(*pads), mode=mode)
    assert_same(found, expected, dtype)


def test_pad_of_some_axes_with_a_value():
    found = movement.pad(X, pads=(1, 2), value=np.array(-np.inf), axes=(-1,))
    expected = reference("Pad", X, _array(1, 2), np.array(-np.inf, F32), _array(-1))
    assert_same(found, expected, F32)


def test_negative_pads_crop():
    x = np.arange(5)
    np.testing.assert_array_equal(movement.pad(x, pads=(-1, -2)), [1, 2])
    np.testing.assert_array_equal(movement.pad(x, pads=(2, -3)), [0, 0, 0, 1])


def test_pad_refuses_an_unknown_mode():
    with pytest.raises(ValueError, match="got mirror"):
        movement.pad(X, pads=(0,) * 6, mode="mirror")
    with pytest.raises(ValueError, match="expected 6 pads, got 2"):
        movement.pad(X, pads=(0, 0))


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("k", [-5, -1, 0, 2, 9])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_trilu_agrees_with_onnx(dtype: np.dtype[Any], k: int, upper: bool):
    x = random(dtype, 2, 3, 4)
    found = movement.trilu(x, k=k, upper=upper)
    assert_same(found, reference("Trilu", x, np.array(k), upper=int(upper)), dtype)


def test_trilu_keeps_no_infinity_outside():
    x = np.full((2, 2), -np.inf, F32)
    np.testing.assert_array_equal(movement.trilu(x, k=1), [[0, -np.inf], [0, 0]])


@pytest.mark.parametrize("triple", [(1, 10, 3), (10, 1, -3), (0, 0, 1), (3, 1, 1)], ids=str)
@pytest.mark.parametrize("dtype", [F32, np.dtype(np.int32), np.dtype(np.int64)], ids=str)
def test_range_agrees_with_onnx(dtype: np.dtype[Any], triple: tuple[int, int, int]):
    operands = [np.array(value, dtype) for value in triple]
    assert_same(movement.range_(*operands), reference("Range", *operands), dtype)


def test_range_of_fractions():
    found = movement.range_(*(np.array(value, F32) for value in (0, 1, 0.3)))
    assert_same(found, [0, 0.3, 0.6, 0.9], F32)
    with pytest.raises(ValueError, match="'delta'"):
        movement.range_(np.array(0), np.array(1), np.array(0))


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_depth_to_space_agrees_with_onnx(dtype: np.dtype[Any], mode: str):
    x = random(dtype, 2, 8, 3, 4)
    found = movement.depth_to_space(x, blocksize=2, mode=mode)
    assert_same(found, reference("DepthToSpace", x, blocksize=2, mode=mode), dtype)


def test_space_to_depth_undoes_depth_to_space():
    x = random(F32, 2, 8, 3, 4)
    space = movement.depth_to_space(x, blocksize=2)
    found = movement.space_to_depth(space, blocksize=2)
    assert_same(found, x, F32)
    assert_same(found, reference("SpaceToDepth", space, blocksize=2), F32)


@pytest.mark.parametrize(("time_axis", "batch_axis"), [(0, 1), (1, 0)])
def test_reverse_sequence_agrees_with_onnx(time_axis: int, batch_axis: int):
    x, lengths = random(F32, 4, 4, 2), _array(1, 2, 3, 4)
    axes = {"time_axis": time_axis, "batch_axis": batch_axis}
    found = movement.reverse_sequence(x, lengths, **axes)
    assert_same(found, reference("ReverseSequence", x, lengths, **axes), F32)


def test_movement_takes_narrow_types():
    x = np.arange(6).reshape(2, 3).astype(ml_dtypes.int4)
    for found in (
        movement.pad(x, pads=(1, 0, 0, 1)),
        movement.tile(x, repeats=(2, 2)),
        movement.concat(x, x, axis=0),
        movement.trilu(x),
    ):
        assert found.dtype == x.dtype
