"""Passes that compute new weights: the same results within a few roundings, and good reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ge_dialect import remarks
from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import AddOp, DivOp, MulOp, SubOp
from ge_dialect.ge.channel_normalization import BatchNormOp
from ge_dialect.ge.constants import array_constant
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.convolution import ConvOp, ConvTransposeOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.types import tensor_type
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.dce import DCEPass
from ge_dialect.passes.weights.fold_norm import FoldNormPass
from ge_dialect.passes.weights.merge_matmuls import MergeParallelMatmulPass
from ge_dialect.remarks import ReasonClass
from ge_dialect.symbols import symbol
from tests.kernel_reference import F16, F32, Array
from tests.test_passes_canonicalize import module_of as module_of_types
from tests.test_passes_raise import module_of, ops_of

Build = Callable[[Sequence[SSAValue]], GEOp]
RNG = np.random.default_rng(0)


def random(*shape: int, dtype: Any = F32) -> Array:
    return RNG.standard_normal(shape).astype(dtype)


def weight(*shape: int, dtype: Any = F32) -> GEOp:
    return array_constant(random(*shape, dtype=dtype))


def norm(x: GEOp, channels: int, dtype: Any = F32) -> GEOp:
    parameters = random(4, channels, dtype=dtype)
    parameters[3] = np.abs(parameters[3]) + np.asarray(0.1, dtype)
    return BatchNormOp(x, *(array_constant(row) for row in parameters))


def rewritten(
    pass_: ModulePass, arrays: Sequence[Array], build: Build, tolerance: float = 2e-5
) -> tuple[list[str], list[remarks.Remark]]:
    """The ops that are left and the remarks, having checked that results are near."""
    module = module_of(arrays, lambda x: SSAValue.get(build(x)))
    (before,) = run_function(module, arrays)
    with remarks.collect() as found:
        pass_.apply(Context(), module)
    DCEPass().apply(Context(), module)
    module.verify()
    (after,) = run_function(module, arrays)
    assert (before.dtype, before.shape) == (after.dtype, after.shape)
    np.testing.assert_allclose(
        after.astype(F32), before.astype(F32), rtol=tolerance, atol=tolerance
    )
    return [op.name.removeprefix("ge.") for op in ops_of(module)], list(found.remarks)


def column(*values: float, dtype: Any = F32) -> GEOp:
    """A number for each channel of an image."""
    return array_constant(np.array(values, dtype).reshape(-1, 1, 1))


IMAGE = random(2, 4, 5, 5)
ROWS = random(3, 4)
FOLDED: dict[str, tuple[Array, Build, list[str]]] = {
    "conv": (IMAGE, lambda x: norm(ConvOp(x[0], weight(6, 4, 3, 3)), 6), ["conv"]),
    "conv with bias": (
        IMAGE,
        lambda x: norm(ConvOp(x[0], weight(6, 4, 3, 3), weight(6), pads=[1] * 4), 6),
        ["conv"],
    ),
    "conv in groups": (
        IMAGE,
        lambda x: norm(ConvOp(x[0], weight(6, 2, 2, 2), group=2, strides=[2, 2]), 6),
        ["conv"],
    ),
    "transposed": (
        IMAGE,
        lambda x: norm(ConvTransposeOp(x[0], weight(4, 3, 2, 2), weight(3), strides=[2, 2]), 3),
        ["conv_transpose"],
    ),
    "transposed in groups": (
        IMAGE,
        lambda x: norm(ConvTransposeOp(x[0], weight(4, 3, 2, 2), group=2), 6),
        ["conv_transpose"],
    ),
    "gemm": (
        ROWS,
        lambda x: norm(GemmOp(x[0], weight(4, 6), weight(6), alpha=0.5, beta=2.0), 6),
        ["gemm"],
    ),
    "gemm of a transposed weight": (
        ROWS,
        lambda x: norm(GemmOp(x[0], weight(6, 4), weight(1, 1), trans_b=True), 6),
        ["gemm"],
    ),
    "matmul": (ROWS, lambda x: norm(MatmulOp(x[0], weight(4, 6)), 6), ["gemm"]),
    "conv * c + d": (
        IMAGE,
        lambda x: AddOp(MulOp(ConvOp(x[0], weight(2, 4, 1, 1)), column(2.5, 3)), column(1, -1)),
        ["conv"],
    ),
    "conv / c - d": (
        IMAGE,
        lambda x: SubOp(
            DivOp(ConvOp(x[0], weight(2, 4, 1, 1), weight(2)), column(2.5, 3)), column(1, -1)
        ),
        ["conv"],
    ),
    "c + c * conv": (
        IMAGE,
        lambda x: AddOp(column(1), MulOp(column(3), ConvOp(x[0], weight(2, 4, 1, 1)))),
        ["conv"],
    ),
    "matmul * c": (IMAGE, lambda x: MulOp(MatmulOp(x[0], weight(5, 3)), weight(3)), ["matmul"]),
    "matmul of x * c": (
        IMAGE,
        lambda x: MatmulOp(MulOp(x[0], weight(5)), weight(5, 3)),
        ["matmul"],
    ),
    "conv of x * c": (
        IMAGE,
        lambda x: ConvOp(MulOp(x[0], weight(4, 1, 1)), weight(3, 4, 2, 2), pads=[1] * 4),
        ["conv"],
    ),
    "gemm of x * c": (
        ROWS,
        lambda x: GemmOp(MulOp(x[0], weight(3, 1)), weight(6, 3), trans_a=True, trans_b=True),
        ["gemm"],
    ),
}


@pytest.mark.parametrize("name", FOLDED)
def test_scales_and_shifts_become_weights(name: str) -> None:
    array, build, wanted = FOLDED[name]
    assert rewritten(FoldNormPass(), [array], build)[0] == wanted


def test_narrow_weights_are_rounded_once() -> None:
    image = random(2, 4, 5, 5, dtype=F16)
    build: Build = lambda x: norm(ConvOp(x[0], weight(6, 4, 3, 3, dtype=F16)), 6, F16)  # noqa: E731
    names, _ = rewritten(FoldNormPass(), [image], build, tolerance=6e-2)
    assert names == ["conv"]


def _shared_result(x: Sequence[SSAValue]) -> GEOp:
    conv = ConvOp(x[0], weight(4, 4, 1, 1))
    return AddOp(norm(conv, 4), conv)


def _shared_weight(x: Sequence[SSAValue]) -> GEOp:
    filter_ = weight(4, 4, 1, 1)
    return AddOp(norm(ConvOp(x[0], filter_), 4), ConvOp(x[0], filter_))


def _computed_weight(x: Sequence[SSAValue]) -> GEOp:
    return MulOp(ConvOp(x[0], x[1]), column(1, 2, 3, 4))


MISSED: dict[str, tuple[Build, ReasonClass]] = {
    "the result has other users": (_shared_result, ReasonClass.USE),
    "the weight has other users": (_shared_weight, ReasonClass.USE),
    "the weight is computed": (_computed_weight, ReasonClass.CONST),
    "factors differ in place": (
        lambda x: MulOp(ConvOp(x[0], weight(4, 4, 1, 1)), weight(5, 5)),
        ReasonClass.SHAPE,
    ),
    "the norm is along rows": (
        lambda x: norm(MatmulOp(x[0], weight(5, 5)), 4),
        ReasonClass.SHAPE,
    ),
    "a divisor is 0": (
        lambda x: DivOp(ConvOp(x[0], weight(4, 4, 1, 1)), column(1, 0, 1, 1)),
        ReasonClass.CONST,
    ),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", MISSED)
def test_why_something_is_not_folded(name: str) -> None:
    build, reason = MISSED[name]
    arrays = [IMAGE, random(4, 4, 1, 1)]
    _, found = rewritten(FoldNormPass(), arrays, build)
    (remark,) = [remark for remark in found if remark.kind == remarks.Kind.MISSED]
    assert remark.reason_class == reason


def test_the_budget_of_weights() -> None:
    build: Build = lambda x: norm(ConvOp(x[0], weight(6, 4, 3, 3)), 6)  # noqa: E731
    names, (remark,) = rewritten(FoldNormPass(max_bytes=100), [IMAGE], build)
    assert names == ["conv", "batch_norm"] and remark.reason_class == ReasonClass.COST


def test_exact_folds_powers_of_two_only() -> None:
    for factors, wanted in (([2.0, -0.25], ["conv"]), ([2.0, 3.0], ["conv", "mul"])):

        def build(x: Sequence[SSAValue], factors: Sequence[float] = factors) -> GEOp:
            return MulOp(ConvOp(x[0], weight(2, 4, 1, 1)), column(*factors))

        assert rewritten(FoldNormPass(exact=True), [IMAGE], build, tolerance=0)[0] == wanted


def test_the_scale_of_queries_is_that_of_attention() -> None:
    arrays = list(random(3, 1, 2, 4, 8))
    for factor, exact, wanted in ((0.25, True, 1), (0.3, True, 2), (0.3, False, 1)):

        def build(x: Sequence[SSAValue], factor: float = factor) -> GEOp:
            query = MulOp(x[0], array_constant(np.asarray(factor, F32)))
            return FlashAttentionOp(query, *x[1:], scale=0.5)

        tolerance = 0 if exact else 2e-5
        names, _ = rewritten(FoldNormPass(exact=exact), arrays, build, tolerance)
        assert len(names) == wanted


def _projections(x: Sequence[SSAValue], columns: Sequence[int], bias: bool) -> GEOp:
    products: list[GEOp] = [MatmulOp(x[0], weight(8, size)) for size in columns]
    if bias:
        pairs = zip(products, columns, strict=True)
        products = [AddOp(weight(size), product) for product, size in pairs]
    return ConcatOp(products, 2)


@pytest.mark.parametrize("columns", [(8, 8, 8), (8, 2, 2), (3, 4, 5, 6)])
@pytest.mark.parametrize("bias", [False, True])
def test_projections_are_joined(columns: Sequence[int], bias: bool) -> None:
    build: Build = lambda x: _projections(x, columns, bias)  # noqa: E731
    names, _ = rewritten(MergeParallelMatmulPass(), [random(2, 4, 8)], build)
    assert names == ["matmul", *["add"] * bias, "split", "concat"]


@pytest.mark.parametrize("trans_b", [False, True])
def test_gemms_are_joined(trans_b: bool) -> None:
    def build(x: Sequence[SSAValue]) -> GEOp:
        shapes = [(size, 8) if trans_b else (8, size) for size in (3, 5, 2)]
        gemms = [
            GemmOp(x[0], weight(*shape), weight(size), beta=0.5, trans_b=trans_b)
            for shape, size in zip(shapes, (3, 5, 2), strict=True)
        ]
        return ConcatOp(gemms, 1)

    names, _ = rewritten(MergeParallelMatmulPass(), [random(4, 8)], build)
    assert names == ["gemm", "split", "concat"]


def _two_large(x: Sequence[SSAValue]) -> GEOp:
    return ConcatOp([MatmulOp(x[0], weight(8, 64)), MatmulOp(x[0], weight(8, 64))], 1)


def _three(x: Sequence[SSAValue]) -> GEOp:
    return ConcatOp([MatmulOp(x[0], weight(8, 4)) for _ in range(3)], 1)


def _shared(x: Sequence[SSAValue]) -> GEOp:
    shared = weight(8, 4)
    return ConcatOp([*(MatmulOp(x[0], shared) for _ in range(3))], 1)


@pytest.mark.parametrize(
    ("build", "options", "reason"),
    [
        (_two_large, {}, ReasonClass.COST),
        (_shared, {}, ReasonClass.USE),
        (_three, {"max_bytes": 64}, ReasonClass.COST),
    ],
)
def test_why_products_stay_apart(
    build: Build, options: dict[str, int], reason: ReasonClass
) -> None:
    pass_ = MergeParallelMatmulPass(**options)  # pyright: ignore[reportArgumentType]
    names, (remark,) = rewritten(pass_, [random(4, 8)], build)
    assert names.count("matmul") > 1 and remark.reason_class == reason


def test_products_of_unknown_size_stay_apart() -> None:
    module = module_of_types([tensor_type(f32, (symbol("S"), 8))], _three)
    with remarks.collect() as found:
        MergeParallelMatmulPass().apply(Context(), module)
    (remark,) = found.remarks
    assert remark.reason_class == ReasonClass.SYMBOL


def test_different_operands_and_different_products_stay_apart() -> None:
    def build(x: Sequence[SSAValue]) -> GEOp:
        return ConcatOp(
            [
                MatmulOp(x[0], weight(8, 4)),
                MatmulOp(x[1], weight(8, 4)),
                GemmOp(x[0], weight(8, 4)),
                GemmOp(x[0], weight(8, 4), alpha=2.0),
                AddOp(MatmulOp(x[1], weight(8, 4)), weight(4)),
            ],
            1,
        )

    names, found = rewritten(MergeParallelMatmulPass(), [random(4, 8), random(4, 8)], build)
    assert names.count("matmul") == 3 and names.count("gemm") == 2 and not found
