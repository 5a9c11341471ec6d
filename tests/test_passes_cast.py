"""`ge-optimize-cast`: moving casts changes nothing; precision modes change what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import BFloat16Type, ModuleOp, f16, f32, f64
from xdsl.ir import SSAValue

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.activations import ReluOp
from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import AddOp, MulOp
from ge_dialect.ge.constants import ConstantOp, array_constant
from ge_dialect.ge.contractions import GemmOp, MatmulOp
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.indexing import GatherOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TransposeOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp
from ge_dialect.ge.reductions import SoftmaxOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.ge.unary import ExpOp
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.casts.optimize_cast import OptimizeCastPass
from ge_dialect.passes.casts.precision import PrecisionMode
from ge_dialect.passes.dce import DCEPass
from ge_dialect.passes.pipelines import OptimizePipeline
from tests.kernel_reference import F16, F32, Array
from tests.test_passes_raise import module_of, ops_of

Build = Callable[[Sequence[SSAValue]], GEOp]
RNG = np.random.default_rng(0)


def random(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(F32)


def optimized(
    pass_: OptimizeCastPass, arrays: Sequence[Array], build: Build, tolerance: float = 0
) -> tuple[list[str], ModuleOp]:
    """The ops that are left, casts with the type they give."""
    module = module_of(arrays, lambda x: SSAValue.get(build(x)))
    (before,) = run_function(module, arrays)
    pass_.apply(Context(), module)
    DCEPass().apply(Context(), module)
    module.verify()
    (after,) = run_function(module, arrays)
    assert (before.dtype, before.shape) == (after.dtype, after.shape)
    if tolerance == 0:
        np.testing.assert_array_equal(after, before)
    else:
        np.testing.assert_allclose(after, before, rtol=tolerance, atol=tolerance)
    return [_show(op) for op in ops_of(module)], module


def _show(op: GEOp) -> str:
    name = op.name.removeprefix("ge.")
    return f"to {element_type_of(op.results[0])}" if name == "cast" else name


MOVED: dict[str, tuple[Build, list[str]]] = {
    "wide transpose": (
        lambda x: TransposeOp(ReshapeOp(CastOp(x[0], f64), (3, 8)), [1, 0]),
        ["reshape", "transpose", "to f64"],
    ),
    "wide slice": (lambda x: SliceOp(CastOp(x[0], f64), [1], [3]), ["slice", "to f64"]),
    "wide concat": (
        lambda x: ConcatOp([CastOp(x[0], f64), CastOp(x[0], f64)], 0),
        ["concat", "to f64"],
    ),
    "mixed concat": (
        lambda x: ConcatOp([CastOp(x[0], f64), CastOp(CastOp(x[0], f16), f64)], 0),
        ["to f64", "to f16", "to f64", "concat"],
    ),
    "wide gather": (
        lambda x: GatherOp(CastOp(x[0], f64), array_constant(np.array([1, 0])), 0),
        ["gather", "to f64"],
    ),
    "gather of more": (
        lambda x: GatherOp(CastOp(x[0], f64), array_constant(np.zeros(9, np.int64)), 0),
        ["to f64", "gather"],
    ),
    "wide broadcast": (
        lambda x: BroadcastToOp(CastOp(x[0], f64), (2, 4, 6)),
        ["to f64", "broadcast_to"],
    ),
    "narrow transpose": (
        lambda x: CastOp(TransposeOp(x[0], [1, 0]), f16),
        ["to f16", "transpose"],
    ),
    "narrow broadcast": (
        lambda x: CastOp(BroadcastToOp(x[0], (2, 4, 6)), f16),
        ["to f16", "broadcast_to"],
    ),
    "narrow slice": (lambda x: CastOp(SliceOp(x[0], [1], [3]), f16), ["slice", "to f16"]),
    "a pair with a transpose between": (
        lambda x: CastOp(TransposeOp(CastOp(x[0], f64), [1, 0]), f32),
        ["transpose"],
    ),
}


@pytest.mark.parametrize("name", MOVED)
def test_casts_stand_where_elements_are_few_and_small(name: str) -> None:
    build, wanted = MOVED[name]
    assert optimized(OptimizeCastPass(), [random(4, 6)], build)[0] == wanted


def test_a_cast_that_others_read_stays() -> None:
    def build(x: Sequence[SSAValue]) -> GEOp:
        cast = CastOp(x[0], f64)
        return AddOp(TransposeOp(cast, [1, 0]), cast)

    assert optimized(OptimizeCastPass(), [random(4, 4)], build)[0] == ["to f64", "transpose", "add"]


def test_round_trips_go_only_where_that_is_allowed() -> None:
    build: Build = lambda x: CastOp(CastOp(x[0], f16), f32)  # noqa: E731
    with remarks.collect() as found:
        names, _ = optimized(OptimizeCastPass(), [random(8)], build)
    (remark,) = found.remarks
    assert names == ["to f16", "to f32"] and remark.wanted == "drop-round-trips=true"
    pass_ = OptimizeCastPass(drop_round_trips=True)
    assert optimized(pass_, [random(8)], build, tolerance=1e-3)[0] == []


_ROUNDED = ["to f16", "to f32"] * 2
_NARROW_MLP = ["to f16", "to f16", "matmul", "to f16", "add", "relu", "to f16", "matmul"]


def _mlp(x: Sequence[SSAValue]) -> GEOp:
    first = AddOp(MatmulOp(x[0], array_constant(random(6, 8))), array_constant(random(8)))
    second = MatmulOp(ReluOp(first), array_constant(random(8, 4)))
    return SoftmaxOp(second, -1)


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        ("origin", ["matmul", "add", "relu", "matmul", "softmax"]),
        ("mixed_float16", [*_NARROW_MLP, "to f32", "softmax"]),
        ("fp16", [*_NARROW_MLP, "softmax", "to f32"]),
        (
            "cube_fp16in_fp32out",
            [*_ROUNDED, "matmul", "add", "relu", *_ROUNDED, "matmul", "softmax"],
        ),
    ],
)
def test_what_each_mode_computes_in_f16(mode: str, wanted: list[str]) -> None:
    names, _ = optimized(OptimizeCastPass(mode), [random(4, 6)], _mlp, tolerance=2e-2)
    assert names == wanted


def test_bf16_and_ops_that_stay_wide() -> None:
    def build(x: Sequence[SSAValue]) -> GEOp:
        product = MatmulOp(x[0], array_constant(random(6, 6)))
        return ExpOp(LayerNormOp(product))

    names, module = optimized(OptimizeCastPass("mixed_bfloat16"), [random(4, 6)], build, 0.1)
    assert names == ["to bf16", "to bf16", "matmul", "to f32", "layer_norm", "exp"]
    types = {op.name: element_type_of(op.results[0]) for op in ops_of(module)}
    assert types["ge.matmul"] == BFloat16Type() and types["ge.exp"] == f32


def test_cube_mode_keeps_what_is_added_wide() -> None:
    x, a, c = random(4, 6), random(6, 3), random(3)
    x[0, 0] = 1.0001
    build: Build = lambda x: GemmOp(x[0], x[1], x[2])  # noqa: E731
    module = module_of([x, a, c], lambda x: SSAValue.get(build(x)))
    OptimizeCastPass("cube_fp16in_fp32out").apply(Context(), module)
    (found,) = run_function(module, [x, a, c])
    wide = x.astype(F16).astype(F32) @ a.astype(F16).astype(F32) + c
    np.testing.assert_array_equal(found, wide)


def test_attention_accumulates_in_f32() -> None:
    arrays = list(RNG.standard_normal((3, 1, 2, 4, 8)).astype(F32))
    build: Build = lambda x: FlashAttentionOp(*x, scale=0.5)  # noqa: E731
    names, module = optimized(OptimizeCastPass("fp16"), arrays, build, tolerance=1e-2)
    assert names == ["to f16", "to f16", "to f16", "flash_attention", "to f32"]
    (op,) = [op for op in module.walk() if isinstance(op, FlashAttentionOp)]
    assert op.accumulate == f32


def test_an_op_whose_constant_does_not_fit_stays_wide() -> None:
    def build(x: Sequence[SSAValue]) -> GEOp:
        return ReluOp(MulOp(x[0], array_constant(np.asarray(-1e30, F32))))

    with remarks.collect() as found:
        names, _ = optimized(OptimizeCastPass("fp16"), [-abs(random(4)) * 1e-29], build, 1e-2)
    assert names == ["mul", "to f16", "relu", "to f32"]
    assert "-1e+30 is no finite f16" in [remark.message for remark in found.remarks]


def test_an_unknown_mode_is_an_error() -> None:
    with pytest.raises(GEError, match="got 'fast'"):
        OptimizeCastPass("fast").apply(Context(), ModuleOp([]))
    assert OptimizeCastPass().precision == PrecisionMode.ORIGIN


@pytest.mark.parametrize("level", range(4))
def test_a_precision_is_that_of_every_level(level: int) -> None:
    arrays = [random(4, 6)]
    module = module_of(arrays, lambda x: SSAValue.get(_mlp(x)))
    (before,) = run_function(module, arrays)
    OptimizePipeline(level, precision="mixed_float16").apply(Context(), module)
    (after,) = run_function(module, arrays)
    np.testing.assert_allclose(after, before, rtol=2e-2, atol=2e-2)
    products = [op for op in module.walk() if isinstance(op, MatmulOp | GemmOp)]
    assert products and all(element_type_of(op.result) == f16 for op in products)
    weights = [op for op in module.walk() if isinstance(op, ConstantOp)]
    assert sum(element_type_of(op.result) == f16 for op in weights) >= 2
