"""What algebra allows and floats do not: the whole optimiser, every bit before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Float16Type, ModuleOp, f16, f32, i1, i8, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.test_value import create_ssa_value

from ge_dialect import remarks
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import AddOp, DivOp, EqualOp, MinimumOp, MulOp, SubOp
from ge_dialect.ge.constants import ConstantOp, array_constant, constant_array
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.movement import TileOp, TransposeOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.ge.reductions import ReduceMaxOp, ReduceSumOp, SoftmaxOp
from ge_dialect.ge.structure import FusionOp
from ge_dialect.ge.types import tensor_type
from ge_dialect.ge.unary import ExpOp, LogOp, SqrtOp
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.canonicalization.canonicalize import CanonicalizePass
from ge_dialect.passes.pipelines import OptimizePipeline
from tests.kernel_reference import F16, F32, Array
from tests.test_passes_canonicalize import module_of

Build = Callable[[Sequence[SSAValue]], GEOp | SSAValue]


def optimized(types: Sequence[Attribute], build: Build, *arrays: Array) -> tuple[ModuleOp, Array]:
    """The module after all passes and its result, after checking that no bit of it changed."""
    module = module_of(types, build)
    (before,) = run_function(module, arrays)
    OptimizePipeline().apply(Context(), module)
    module.verify()
    (after,) = run_function(module, arrays)
    assert (before.dtype, before.tobytes()) == (after.dtype, after.tobytes())
    return module, after


def names_of(module: ModuleOp) -> list[str]:
    """The ops of a module by name, those in kernels included, constants left out."""
    ops = [op for op in module.walk() if isinstance(op, GEOp)]
    return [op.name for op in ops if not isinstance(op, ConstantOp | FusionOp)]


def constants_of(module: ModuleOp) -> list[Array]:
    found = [constant_array(op.result) for op in module.walk() if isinstance(op, ConstantOp)]
    return [array for array in found if array is not None]


def _log_of_exp(x: Sequence[SSAValue]) -> GEOp:
    return LogOp(ExpOp(x[0]))


def _root_of_square(x: Sequence[SSAValue]) -> GEOp:
    return SqrtOp(MulOp(x[0], x[0]))


def _product_over_factor(x: Sequence[SSAValue]) -> GEOp:
    return DivOp(MulOp(x[0], x[1]), x[1])


def _difference_from_itself(x: Sequence[SSAValue]) -> GEOp:
    return SubOp(x[0], x[0])


def _over_300(x: Sequence[SSAValue]) -> GEOp:
    return DivOp(MulOp(x[0], x[1]), x[1])


@pytest.mark.parametrize(
    ("build", "element_type", "values", "wanted"),
    [
        (_log_of_exp, f32, [89.0], np.inf),
        (_root_of_square, f32, [2e19], np.inf),
        (_product_over_factor, f32, [2.0, 0.0], np.nan),
        (_difference_from_itself, f32, [np.inf], np.nan),
        (_over_300, f16, [300.0, 300.0], np.inf),
    ],
)
def test_inverse_pairs_are_no_identities(
    build: Build, element_type: Attribute, values: list[float], wanted: float
) -> None:
    dtype = F16 if isinstance(element_type, Float16Type) else F32
    types = [tensor_type(element_type, (1,))] * len(values)
    arrays = [np.array([value], dtype) for value in values]
    module, found = optimized(types, build, *arrays)
    np.testing.assert_array_equal(found, np.array([wanted], dtype))
    assert len(names_of(module)) == len(names_of(module_of(types, build)))


def test_the_sum_of_a_softmax_is_not_1() -> None:
    x = np.random.default_rng(0).standard_normal((500, 56)).astype(F32)

    def build(arguments: Sequence[SSAValue]) -> GEOp:
        return ReduceSumOp(SoftmaxOp(arguments[0], 1), [1])

    module, found = optimized([tensor_type(f32, x.shape)], build, x)
    assert names_of(module) == ["ge.softmax", "ge.reduce_sum"]
    assert (found != 1).sum() > 20


def test_constants_are_one_only_where_value_and_type_are() -> None:
    types = [tensor_type(f32, (3,)), tensor_type(f32, (3,)), tensor_type(f16, (3,))]

    def build(arguments: Sequence[SSAValue]) -> GEOp:
        two, four, again = (array_constant(np.asarray(v, F32)) for v in (2, 4, 2))
        scaled = AddOp(MinimumOp(arguments[0], two), MulOp(arguments[1], four))
        narrow = MulOp(arguments[2], array_constant(np.asarray(2, F16)))
        return AddOp(AddOp(scaled, again), CastOp(narrow, f32))

    x, y, z = np.array([1, 2, 3], F32), np.array([5, 7, 11], F32), np.array([0, 1, 2], F16)
    module, found = optimized(types, build, x, y, z)
    assert found.tolist() == [23, 34, 52]
    kept = sorted((constant.dtype.name, float(constant)) for constant in constants_of(module))
    assert kept == [("float16", 2), ("float32", 2), ("float32", 4)]


@pytest.mark.parametrize(
    ("op_class", "operand", "wanted"),
    [(AddOp, 0.0, "0.0"), (AddOp, -0.0, "-0.0"), (SubOp, 0.0, "-0.0"), (SubOp, -0.0, "0.0")],
)
def test_minus_zero_keeps_its_sign(op_class: Any, operand: float, wanted: str) -> None:
    def build(arguments: Sequence[SSAValue]) -> GEOp | SSAValue:
        return op_class(arguments[0], array_constant(np.asarray(operand, F32))).result

    _, found = optimized([tensor_type(f32, (1,))], build, np.array([-0.0], F32))
    assert str(found[0]) == wanted


def test_the_greatest_of_many_minus_zeros_is_zero() -> None:
    x = np.full(8193, -0.0, F32)
    module, found = optimized(
        [tensor_type(f32, x.shape)], lambda arguments: ReduceMaxOp(arguments[0], [0]), x
    )
    assert names_of(module) == ["ge.reduce_max"]
    assert found == 0


def _greatest(x: Sequence[SSAValue]) -> GEOp:
    return ReduceMaxOp(x[0], [0])


def _softmax(x: Sequence[SSAValue]) -> GEOp:
    return SoftmaxOp(x[0], 0)


@pytest.mark.parametrize("build", [_greatest, _softmax])
def test_nan_goes_through(build: Build) -> None:
    x = np.array([1, np.nan, 3], F32)
    _, found = optimized([tensor_type(f32, x.shape)], build, x)
    assert np.isnan(found).all()


def test_a_large_tile_stays_and_says_why() -> None:
    def build(_: Sequence[SSAValue]) -> GEOp:
        return TileOp(array_constant(np.arange(1024, dtype=F32)), [1_000_000])

    module = module_of([], build)
    with remarks.collect() as collector:
        OptimizePipeline().apply(Context(), module)
    assert names_of(module) == ["ge.tile"]
    assert sum(c.nbytes for c in constants_of(module)) == 4096
    (reason,) = [r for r in collector.remarks if r.op_name == "ge.tile"]
    assert "4095995904 bytes more than its operands" in reason.message


@pytest.mark.parametrize("to", [i8, f32])
def test_true_is_1(to: Attribute) -> None:
    def build(arguments: Sequence[SSAValue]) -> GEOp:
        return CastOp(EqualOp(arguments[0], arguments[0]), to)

    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    module, found = optimized([tensor_type(i32, (2, 3))], build, x)
    assert not names_of(module)
    assert found.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_nan_is_not_equal_to_itself() -> None:
    x = np.array([1, np.nan], F32)
    types = [tensor_type(f32, (2,))]
    module, found = optimized(types, lambda a: EqualOp(a[0], a[0]), x)
    assert names_of(module) == ["ge.equal"]
    assert found.tolist() == [True, False]


@pytest.mark.parametrize("element_type", [i1, i8, i32])
def test_a_static_comparison_of_exact_values_folds(element_type: Attribute) -> None:
    types = [tensor_type(element_type, (2,))]
    module = module_of(types, lambda a: EqualOp(a[0], a[0]))
    CanonicalizePass().apply(Context(), module)
    assert not names_of(module)


@pytest.mark.parametrize("perm", [[0, 0, 1], [0, 3, 1]])
def test_an_invalid_permutation_is_refused(perm: list[int]) -> None:
    x = create_ssa_value(tensor_type(f32, (2, 3, 4)))
    with pytest.raises(VerifyException, match="expected 'perm' to be a permutation"):
        TransposeOp(x, perm)


def test_a_declared_type_stays_that_of_the_function() -> None:
    declared = tensor_type(i32, (None, None))

    def build(arguments: Sequence[SSAValue]) -> GEOp:
        op = TransposeOp(arguments[0], [0, 1])
        op.results[0]._type = declared  # pyright: ignore[reportPrivateUsage]  # as parsed IR may say
        return op

    module = module_of([tensor_type(i32, (3, 2))], build)
    CanonicalizePass().apply(Context(), module)
    module.verify()
    assert names_of(module) == ["ge.transpose"]


def test_an_epsilon_below_f16_counts_in_f32_and_is_said() -> None:
    x = np.zeros((1, 10), F16)
    assert F16.type(1e-12) == 0
    types = [tensor_type(f16, x.shape)]
    with remarks.collect() as collector:
        _, found = optimized(types, lambda a: LayerNormOp(a[0], axis=-1, epsilon=1e-12), x)
    assert found.tolist() == np.zeros((1, 10)).tolist()
    assert any(r.rule == "SmallEpsilon" and "0 in f16" in r.message for r in collector.remarks)
