from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import bf16, f32, i8, i64
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import InterpretationError, VerifyException
from xdsl.utils.test_value import create_ssa_value

from ge_dialect.ge.grid_sample import PADDING_MODES, GridSampleOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TileOp, TransposeOp
from ge_dialect.ge.pieces import ConcatOp, PadOp, SliceOp, SplitOp
from ge_dialect.ge.rearrange import (
    DepthToSpaceOp,
    RangeOp,
    ReverseSequenceOp,
    SpaceToDepthOp,
    TriluOp,
)
from ge_dialect.ge.resize import ResizeOp
from ge_dialect.ge.types import Shape, tensor_type, value_shape
from ge_dialect.interpreters.registry import evaluate
from ge_dialect.symbols import evaluate as evaluate_dim
from ge_dialect.symbols import floor_div, symbol
from tests.kernel_reference import BF16, F16, F32, assert_same, random, reference
from tests.op_checks import run, value

SHAPES = st.lists(st.integers(0, 4), min_size=1, max_size=4)
S, T = symbol("S"), symbol("T")


def shaped(*shape: Any) -> Any:
    """Returns a value of f32 of any shape."""
    return create_ssa_value(tensor_type(f32, shape))


def joined(*values: SSAValue, axis: int) -> ConcatOp:
    """Returns the concatenation of any number of values."""
    return ConcatOp(values, axis)


def padded(x: SSAValue, fill: SSAValue, pads: Sequence[int], mode: str) -> PadOp:
    """Returns a pad with a value of its own."""
    return PadOp(x, pads, mode, fill)


@given(st.permutations([2, 3, 4]), st.sampled_from([(6, 4), (24,), (2, 1, 12), (4, 3, 2, 1)]))
def test_reshape_keeps_the_order(shape: list[int], target: tuple[int, ...]) -> None:
    x = np.arange(24, dtype=F32).reshape(shape)
    (found,) = run(ReshapeOp, x, shape=target)
    np.testing.assert_array_equal(found, x.reshape(target))


@pytest.mark.parametrize(
    ("shape", "target", "expected"),
    [
        ((S, 4), (None, 2), (2 * S, 2)),
        ((S, T, 8), (S, None), (S, 8 * T)),
        ((S, 16), (None, 8, 2), (S, 8, 2)),
        ((2, 3), (None,), (6,)),
        ((None, 3), (None, 3), (None, 3)),
        ((S, 3), (None, None), (None, None)),
        ((0, 3), (None, 0), (None, 0)),
        ((S, 5), (None, 2), (floor_div(5 * S, 2), 2)),
    ],
)
def test_reshape_solves_one_unknown_dimension(shape: Shape, target: Shape, expected: Shape) -> None:
    op = ReshapeOp(shaped(*shape), target)
    assert value_shape(op.result) == expected
    assert op.view_of() == 0


@pytest.mark.parametrize("target", [(4, 2), (None, 4), (7,)])
def test_reshape_refuses_another_count(target: Shape) -> None:
    with pytest.raises(VerifyException, match="expected 'result' of 6 elements"):
        ReshapeOp(shaped(2, 3), target)


def test_reshape_at_run_time_takes_one_dynamic_dimension() -> None:
    op = ReshapeOp(shaped(S, 4), (None, 2))
    (found,) = evaluate(op, [np.ones((3, 4), F32)])
    assert found.shape == (6, 2)


@given(SHAPES, st.data())
def test_transposed_shapes_are_those_of_numpy(shape: list[int], data: st.DataObject) -> None:
    perm = data.draw(st.permutations(range(len(shape))))
    x = random(F32, *shape)
    (found,) = run(TransposeOp, x, perm=perm)
    np.testing.assert_array_equal(found, x.transpose(perm))


@pytest.mark.parametrize(
    ("shape", "perm", "view"),
    [
        ((2, 1, 3), (1, 0, 2), 0),
        ((2, 1, 3), (0, 2, 1), 0),
        ((2, 3), (1, 0), None),
        ((S, 1), (1, 0), 0),
        ((S, None), (1, 0), None),
        ((2, 3), (0, 1), 0),
    ],
)
def test_transpose_of_unit_dimensions_moves_nothing(
    shape: Shape, perm: tuple[int, ...], view: int | None
) -> None:
    assert TransposeOp(shaped(*shape), perm).view_of() == view


@given(SHAPES, st.data())
def test_split_and_concat_undo_each_other(shape: list[int], data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    cut = data.draw(st.integers(0, shape[axis]))
    x = random(F16, *shape)
    op = SplitOp(value(x), axis, [cut, shape[axis] - cut])
    op.verify()
    pieces = evaluate(op, [x])
    assert [piece.shape for piece in pieces] == [value_shape(piece) for piece in op.results]
    (found,) = run(joined, *pieces, axis=axis)
    np.testing.assert_array_equal(found, x)


def test_concat_adds_symbols_and_merges_what_is_known() -> None:
    assert value_shape(ConcatOp([shaped(S, 4), shaped(T, 4), shaped(2, 4)], 0).result) == (
        S + T + 2,
        4,
    )
    assert value_shape(ConcatOp([shaped(2, None), shaped(3, 4)], 0).result) == (5, 4)
    assert value_shape(ConcatOp([shaped(S), shaped(None)], 0).result) == (None,)


SPANS = st.integers(-6, 6) | st.sampled_from([2**31 - 1, 2**63 - 1, -(2**31), -(2**63)])


@given(st.integers(0, 5), SPANS, SPANS, st.sampled_from([1, 2, 3, -1, -2, -3]))
def test_slices_have_the_inferred_size(size: int, start: int, end: int, step: int) -> None:
    x = np.arange(size, dtype=F32)
    op = SliceOp(value(x), [start], [end], [0], [step])
    (found,) = evaluate(op, [x])
    np.testing.assert_array_equal(found, _onnx_slice(x, start, end, step))
    assert found.shape == value_shape(op.result)
    symbolic = SliceOp(shaped(S), [start], [end], [0], [step])
    (dim,) = value_shape(symbolic.result)
    assert dim is not None
    assert evaluate_dim(dim, {"S": size}) == len(found)


def _onnx_slice(x: Any, start: int, end: int, step: int) -> Any:
    """`Slice` by the letter of its specification, one element after the other."""
    size = len(x)
    start, end = (at + size if at < 0 else at for at in (start, end))
    if step > 0:
        places = range(min(max(start, 0), size), min(max(end, 0), size), step)
    else:
        places = range(min(max(start, 0), size - 1), min(max(end, -1), size - 1), step)
    return np.array([x[i] for i in places if size], F32)


def test_slice_of_symbols_reads_well() -> None:
    def sliced(start: int, end: int, step: int = 1) -> str:
        op = SliceOp(shaped(S, 4), [start], [end], [0], [step])
        return str(value_shape(op.result)[0])

    assert sliced(0, 2**63 - 1) == "S"
    assert sliced(0, -1) == "max(S - 1, 0)"
    assert sliced(-1, 2**31 - 1) == "min(S, 1)"
    assert sliced(-1, -(2**63), -1) == "S"
    assert sliced(0, 2**31 - 1, 2) == "(S + 1) floordiv 2"


def test_slice_that_takes_all_is_a_view() -> None:
    assert SliceOp(shaped(S, 4), [0], [2**31 - 1]).view_of() == 0
    assert SliceOp(shaped(4), [1], [4]).view_of() is None
    assert SliceOp(shaped(4), [-1], [-(2**63)], steps=[-1]).view_of() is None
    assert SliceOp(shaped(None), [1], [2**31 - 1]).view_of() is None


@given(SHAPES, st.data())
def test_broadcast_to_is_that_of_numpy(shape: list[int], data: st.DataObject) -> None:
    ones = data.draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    x = random(F32, *[1 if one else size for one, size in zip(ones, shape, strict=True)])
    target = (*data.draw(st.lists(st.integers(0, 2), max_size=2)), *shape)
    (found,) = run(BroadcastToOp, x, shape=target)
    np.testing.assert_array_equal(found, np.broadcast_to(x, target))


def test_broadcast_to_takes_numbers_from_the_operand_and_no_symbols() -> None:
    op = BroadcastToOp(shaped(S, 3, 1), (2, None, None, 4))
    assert value_shape(op.result) == (2, None, 3, 4)  # S may be 1
    assert op.view_of() is None
    (found,) = evaluate(op, [np.ones((5, 3, 1), F32)])
    assert found.shape == (2, 5, 3, 4)
    with pytest.raises(InterpretationError, match="expected dimension 1 of 'result'"):
        evaluate(op, [np.ones((1, 3, 1), F32)])


@given(SHAPES, st.data())
def test_tile_is_that_of_numpy(shape: list[int], data: st.DataObject) -> None:
    repeats = data.draw(
        st.lists(st.integers(0, 2), min_size=len(shape), max_size=len(shape)).map(tuple)
    )
    x = random(F32, *shape)
    (found,) = run(TileOp, x, repeats=repeats)
    np.testing.assert_array_equal(found, np.tile(x, repeats))


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("pads", [(0, 1, 2, 0), (1, -1, 0, 2)])
def test_pad_is_that_of_onnx(mode: str, pads: tuple[int, ...]) -> None:
    x, fill = random(F32, 3, 4), np.asarray(7, F32)
    if mode == "constant":
        (found,) = run(padded, x, fill, pads=pads, mode=mode)
        kept = np.pad(x, [(max(pads[i], 0), max(pads[i + 2], 0)) for i in (0, 1)],
                      constant_values=7)  # fmt: skip
        assert_same(found, kept[:, max(-pads[1], 0) :], F32)
    else:
        (found,) = run(PadOp, x, pads=pads, mode=mode)
        assert found.shape == (3 + pads[0] + pads[2], 4 + pads[1] + pads[3])


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("k", [-1, 0, 2])
def test_trilu_is_that_of_onnx(upper: bool, k: int) -> None:
    x = random(F32, 2, 3, 4)
    (found,) = run(TriluOp, x, k=k, upper=upper)
    assert_same(found, reference("Trilu", x, np.asarray(k), upper=int(upper)), F32)
    assert TriluOp(value(x), k, upper).ge_op_type() == ("Triu" if upper else "Tril")


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_blocks_move_between_depth_and_space(mode: str) -> None:
    x = random(F32, 2, 8, 2, 3)
    (found,) = run(DepthToSpaceOp, x, blocksize=2, mode=mode)
    assert_same(found, reference("DepthToSpace", x, blocksize=2, mode=mode), F32)
    (back,) = run(SpaceToDepthOp, found, blocksize=2)
    assert_same(back, reference("SpaceToDepth", found, blocksize=2), F32)


def test_reverse_sequence_is_that_of_onnx() -> None:
    x, lengths = random(F32, 4, 2, 3), np.array([1, 4])
    (found,) = run(ReverseSequenceOp, x, lengths)
    assert_same(found, reference("ReverseSequence", x, lengths), F32)


def test_ranges_round_once_and_wrap() -> None:
    (integers,) = evaluate(RangeOp(3, -2, 4, i64), [])
    np.testing.assert_array_equal(integers, [3, 1, -1, -3])
    (tenths,) = evaluate(RangeOp(0.5, 0.1, 3, f32), [])
    assert_same(tenths, [0.5, 0.6, 0.7], F32, ulps=0)
    (rounded,) = evaluate(RangeOp(1.0, 1 / 256, 3, bf16), [])
    assert rounded.dtype == BF16
    (wrapped,) = evaluate(RangeOp(127, 1, 2, i8), [])
    np.testing.assert_array_equal(wrapped, [127, -128])


RESIZES: list[dict[str, Any]] = [
    {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    {"mode": "linear", "coordinate_transformation_mode": "half_pixel"},
    {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
    {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1},
]


@pytest.mark.parametrize("options", RESIZES)
def test_resize_is_that_of_onnx(options: dict[str, Any]) -> None:
    x = random(F32, 1, 2, 4, 6)
    sizes, scales = (1, 2, 8, 9), (1.0, 1.0, 0.75, 2.0)
    kept: dict[str, Any] = {**options, "exclude_outside": bool(options.get("exclude_outside"))}
    (by_size,) = run(ResizeOp, x, sizes=sizes, **kept)
    (by_scale,) = run(ResizeOp, x, scales=scales, **kept)
    sized = reference("Resize", x, None, None, np.array(sizes), **options)
    scaled = reference("Resize", x, None, np.array(scales, F32), **options)
    assert_same(by_size, sized, F32, ulps=8, scale=4)
    assert_same(by_scale, scaled, F32, ulps=8, scale=4)


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize(
    ("mode", "padding", "sizes"),
    [
        *product(("nearest", "linear"), PADDING_MODES, [(5, 4), (2, 3), (3, 4, 2)]),
        *product(["cubic"], ("zeros", "reflection"), [(5, 4), (2, 3)]),  # ONNX's border is wrong
    ],
)
def test_grid_sample_is_that_of_onnx(
    sizes: tuple[int, ...], mode: str, padding: str, align: bool
) -> None:
    x = random(F32, 2, 3, *sizes)
    places = 1.7 * random(F32, 2, *(2, 3, 4)[: len(sizes)], len(sizes), seed=1)
    options: dict[str, Any] = {"mode": mode, "padding_mode": padding}
    (found,) = run(GridSampleOp, x, places, align_corners=align, **options)
    expected = reference("GridSample", x, places, align_corners=int(align), **options)
    assert_same(found, expected, F32, ulps=16, scale=4)


def test_grid_sample_repeats_the_border_for_cubic_weights() -> None:
    x, places = random(F32, 1, 2, 5, 4), 0.9 * random(F32, 1, 3, 3, 2, seed=1)
    (found,) = run(GridSampleOp, x, places, mode="cubic", padding_mode="border")
    wide = np.pad(x, ((0, 0), (0, 0), (4, 4), (4, 4)), "edge")
    inner = (places * np.array([4 / 12, 5 / 13], F32)).astype(F32)
    (expected,) = run(GridSampleOp, wide, inner, mode="cubic", padding_mode="zeros")
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_grid_sample_treats_half_precision_and_places_far_away() -> None:
    x = random(F16, 1, 1, 3, 3)
    places = np.array([[[[np.inf, 0], [0, np.nan], [1e30, -1e30], [0, 0]]]], F32)
    (found,) = run(GridSampleOp, x, places, mode="nearest", padding_mode="zeros")
    np.testing.assert_array_equal(found, [[[[0, 0, 0, x[0, 0, 1, 1]]]]])


def test_resize_scales_symbols_by_plain_ratios_only() -> None:
    op = ResizeOp(shaped(1, S, S), scales=[1.0, 2.0, 0.5])
    assert value_shape(op.result) == (1, 2 * S, floor_div(S, 2))
    assert value_shape(ResizeOp(shaped(S), scales=[1 / 3]).result) == (None,)


def test_movement_costs_no_arithmetic() -> None:
    x = shaped(2, 3)
    ops = (ReshapeOp(x, (6,)), TransposeOp(x, (1, 0)), ConcatOp([x, x], 0), TileOp(x, (1, 2)))
    assert all(op.flops() == 0 for op in ops)
    resized = ResizeOp(shaped(1, 1, 4, 4), sizes=(1, 1, 8, 8), mode="linear")
    assert resized.flops() == 2 * 2 * 2 * prod((1, 1, 8, 8))
