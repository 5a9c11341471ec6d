from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.contractions import EinsumOp, GemmOp, MatmulOp, matmul_shape
from ge_dialect.ge.convolution import ConvOp, ConvTransposeOp
from ge_dialect.ge.dims import window_size
from ge_dialect.ge.einsum_equation import parse_equation
from ge_dialect.ge.integer_contractions import ConvIntegerOp, MatmulIntegerOp
from ge_dialect.ge.types import MaybeDim
from ge_dialect.symbols import substitute, symbol
from tests.kernel_reference import F16, F32, assert_same, random, reference
from tests.op_checks import run, value

SHAPES = st.lists(st.integers(1, 3), max_size=4).map(tuple)


@given(SHAPES, SHAPES)
def test_matmul_shapes_are_those_of_numpy(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        expected = np.matmul(np.ones(a), np.ones(b)).shape
    except ValueError:
        with pytest.raises(VerifyException):
            matmul_shape(a, b)
    else:
        assert matmul_shape(a, b) == expected


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3, 4), (4, 5)),
        ((2, 1, 3, 4), (6, 4, 5)),
        ((4,), (2, 4, 5)),
        ((2, 3, 4), (4,)),
        ((4,), (4,)),
    ],
)
def test_matmul_is_that_of_onnx(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = random(F32, *a), random(F32, *b, seed=1)
    (found,) = run(MatmulOp, x, y)
    assert_same(found, reference("MatMul", x, y), F32, ulps=16, scale=4)


def test_matmul_is_named_by_rank() -> None:
    flat, batched = np.ones((2, 2), F16), np.ones((3, 2, 2), F16)
    assert MatmulOp(value(flat), value(flat)).ge_op_type() == "MatMulV2"
    assert MatmulOp(value(flat), value(batched)).ge_op_type() == "BatchMatMulV2"


def test_work_of_products_counts_both_operations() -> None:
    a, b = np.ones((2, 3, 4), F32), np.ones((4, 5), F32)
    assert MatmulOp(value(a), value(b)).flops() == 2 * 2 * 3 * 4 * 5
    assert MatmulOp(value(a[0, 0]), value(b)).flops() == 2 * 4 * 5
    x, w = np.ones((1, 4, 8, 8), F32), np.ones((6, 2, 3, 3), F32)
    assert ConvOp(value(x), value(w), group=2).flops() == 2 * (6 * 6 * 6) * (2 * 3 * 3)


@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("bias", [None, (), (5,), (3, 1), (3, 5)])
def test_gemm_is_that_of_onnx(trans_a: bool, trans_b: bool, bias: tuple[int, ...] | None) -> None:
    a = random(F32, *((4, 3) if trans_a else (3, 4)))
    b = random(F32, *((5, 4) if trans_b else (4, 5)), seed=1)
    c = None if bias is None else random(F32, *bias, seed=2)
    (found,) = run(GemmOp, a, b, c, alpha=0.5, beta=2.0, trans_a=trans_a, trans_b=trans_b)
    attributes: dict[str, Any] = {"transA": int(trans_a), "transB": int(trans_b)}
    expected = reference("Gemm", a, b, c, alpha=0.5, beta=2.0, **attributes)
    assert_same(found, expected, F32, ulps=16, scale=4)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("bij , bjk -> bik", [(2, 3, 4), (2, 4, 5)]),
        ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
        ("ij,j", [(2, 3), (3,)]),
        ("ii->i", [(3, 3)]),
        ("i...->...", [(2, 3, 4)]),
        ("i,j->ji", [(2,), (3,)]),
        ("ij->", [(2, 3)]),
        ("bhwc,hkc->bhwk", [(1, 2, 3, 4), (2, 5, 4)]),
    ],
)
def test_einsum_is_that_of_numpy(equation: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [random(F32, *shape, seed=i) for i, shape in enumerate(shapes)]

    def build(*values: SSAValue) -> EinsumOp:
        return EinsumOp(equation, values)

    (found,) = run(build, *arrays)
    assert_same(found, np.einsum(equation, *arrays), F32, ulps=16, scale=4)


@pytest.mark.parametrize("equation", ["i1->i", "ij->k", "ij->ii", "......->", "i->->i"])
def test_malformed_equations_are_refused(equation: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        parse_equation(equation)


@pytest.mark.parametrize("group", [1, 2, 4])
@pytest.mark.parametrize(
    ("strides", "pads", "dilations"),
    [((1, 1), (0, 0, 0, 0), (1, 1)), ((2, 1), (1, 0, 2, 1), (1, 2))],
)
def test_conv_is_that_of_onnx(
    group: int, strides: tuple[int, ...], pads: tuple[int, ...], dilations: tuple[int, ...]
) -> None:
    window: dict[str, Any] = {"strides": strides, "pads": pads, "dilations": dilations}
    x, w, b = random(F32, 2, 4, 7, 8), random(F32, 8, 4 // group, 3, 2, seed=1), random(F32, 8)
    (found,) = run(ConvOp, x, w, b, **window, group=group)
    expected = reference("Conv", x, w, b, **window, group=group)
    assert_same(found, expected, F32, ulps=64, scale=4)


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize(
    ("strides", "pads", "output_padding"),
    [((1,), (0, 0), (0,)), ((3,), (1, 2), (2,))],
)
def test_conv_transpose_is_that_of_onnx(
    group: int, strides: tuple[int, ...], pads: tuple[int, ...], output_padding: tuple[int, ...]
) -> None:
    window: dict[str, Any] = {
        "strides": strides,
        "pads": pads,
        "output_padding": output_padding,
    }
    x, w, b = random(F32, 2, 4, 5), random(F32, 4, 3, 3, seed=1), random(F32, 3 * group)
    (found,) = run(ConvTransposeOp, x, w, b, **window, group=group)
    # ONNX's reference takes one group at a time only.
    parts = [
        reference("ConvTranspose", *part, **window)
        for part in zip(*(np.split(v, group, i) for v, i in ((x, 1), (w, 0), (b, 0))), strict=True)
    ]
    assert_same(found, np.concatenate(parts, 1), F32, ulps=64, scale=4)


@pytest.mark.parametrize("zero_points", [(None, None), ((), ()), ((), (5,)), ((3, 1), None)])
def test_matmul_of_bytes_is_that_of_onnx(zero_points: tuple[Any, Any]) -> None:
    a, b = random(np.uint8, 3, 4, low=0, high=255), random(np.int8, 4, 5, low=-128, high=127)
    first = None if zero_points[0] is None else random(np.uint8, *zero_points[0], low=0, high=9)
    second = None if zero_points[1] is None else random(np.int8, *zero_points[1])
    (found,) = run(MatmulIntegerOp, a, b, first, second)
    expected = reference("MatMulInteger", a, b, first, second)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.int32


def test_conv_of_bytes_is_that_of_onnx() -> None:
    x, w = random(np.uint8, 1, 2, 5, 5, low=0, high=255), random(np.int8, 3, 2, 3, 3)
    zero = np.asarray(7, np.uint8)
    (found,) = run(ConvIntegerOp, x, w, zero, None, pads=(1, 1, 1, 1))
    expected = reference("ConvInteger", x, w, zero, pads=(1, 1, 1, 1))
    np.testing.assert_array_equal(found, expected)


def test_conv_is_named_by_rank_and_groups() -> None:
    image, volume = np.ones((1, 4, 3, 3), F16), np.ones((1, 4, 3, 3, 3), F16)
    plain, deep = np.ones((4, 4, 1, 1), F16), np.ones((4, 1, 1, 1), F16)
    assert ConvOp(value(image), value(plain)).ge_op_type() == "Conv2D"
    assert ConvOp(value(image), value(deep), group=4).ge_op_type() == "DepthwiseConv2D"
    weights = np.ones((4, 4, 1, 1, 1), F16)
    assert ConvOp(value(volume), value(weights)).ge_op_type() == "Conv3D"


@given(
    size=st.integers(1, 12),
    kernel=st.integers(1, 4),
    stride=st.integers(1, 4),
    pad=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    dilation=st.integers(1, 3),
    ceil_mode=st.booleans(),
)
def test_windows_are_counted_one_by_one(
    size: int, kernel: int, stride: int, pad: tuple[int, int], dilation: int, ceil_mode: bool
) -> None:
    extent = (kernel - 1) * dilation + 1
    room = size + sum(pad)
    fitting = range(0, room - extent + 1, stride)
    # No window of its own lies in the padding after the input, and at least one fits.
    assume(pad[1] < extent and len(fitting) > 0)
    following = fitting[-1] + stride
    more = fitting[-1] + extent < room and following < size + pad[0]
    count = len(fitting) + (ceil_mode and more)

    def windows(dim: MaybeDim) -> MaybeDim:
        return window_size(
            dim, kernel, stride=stride, pad=pad, dilation=dilation, ceil_mode=ceil_mode
        )

    assert windows(size) == count
    symbolic = windows(symbol("n"))
    assert symbolic is None or substitute(symbolic, {"n": size}) == count
