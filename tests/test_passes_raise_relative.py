"""Relative and differential attention, sums over letters: raised, they compute the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.ir import SSAValue

from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import AddOp, MulOp, SubOp
from ge_dialect.ge.constants import float_constant
from ge_dialect.ge.contractions import EinsumOp, MatmulOp
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.reductions import LogSoftmaxOp, ReduceLogSumExpOp, SoftmaxOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.ge.unary import ExpOp
from tests.kernel_reference import Array
from tests.test_passes_raise import raised

TOLERANCE = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-6}


def random(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    """Returns normally distributed numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def operands(dtype: str = "float32") -> list[Array]:
    """Returns queries, transposed keys and values of two batches and three heads."""
    shapes = (2, 3, 4, 6), (2, 3, 6, 5), (2, 3, 5, 2)
    return [random(*shape, seed=i, dtype=dtype) for i, shape in enumerate(shapes)]


def count(ops: Sequence[GEOp], op_class: type[GEOp]) -> int:
    """Returns how many ops are of a class."""
    return sum(isinstance(op, op_class) for op in ops)


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("factor", [0.25, -0.5, 0.0, 3.0])
@pytest.mark.parametrize("op_class", [AddOp, SubOp])
@pytest.mark.parametrize("infinite", [False, True])
def test_a_scale_after_a_sum(
    dtype: str, factor: float, op_class: type[AddOp | SubOp], infinite: bool
) -> None:
    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        query, key, value, mask = arguments
        scores = op_class(MatmulOp(query, key), mask)
        scores = MulOp(scores, float_constant(factor, element_type_of(mask)))
        return MatmulOp(SoftmaxOp(scores), value).result

    mask = random(2, 1, 4, 5, seed=3, dtype=dtype)
    if infinite:
        mask[0, 0, 1, :3] = mask[1, 0, 2] = -np.inf if op_class is AddOp else np.inf
    with np.errstate(all="ignore"):
        left = raised([*operands(dtype), mask], build, TOLERANCE[dtype])
    assert count(left, FlashAttentionOp) == (dtype != "float16" or abs(factor) <= 1)


@pytest.mark.parametrize("lowest", [-np.inf, -3.4028235e38])
@pytest.mark.parametrize("factor", [0.25, -0.5, 0.0, 3.0])
def test_a_scale_after_a_selection(lowest: float, factor: float) -> None:
    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        query, key, value, keep = arguments
        scores = SelectOp(keep, MatmulOp(query, key), float_constant(lowest))
        return MatmulOp(SoftmaxOp(MulOp(scores, float_constant(factor))), value).result

    keep = np.random.default_rng(1).random((4, 5)) < 0.6
    keep[1] = False
    with np.errstate(all="ignore"):
        left = raised([*operands(), keep], build, 1e-5)
    assert count(left, FlashAttentionOp) == (factor > 0)


def test_a_narrow_mask_is_scaled_in_the_wide_type() -> None:
    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        query, key, value, mask = arguments
        wide = element_type_of(value)
        scores = CastOp(AddOp(MatmulOp(query, key), mask), wide)
        return MatmulOp(SoftmaxOp(MulOp(scores, float_constant(8.0, wide))), value).result

    query, key, value = operands()
    mask = random(4, 5, dtype="float16")
    mask[:, 1] = -65504
    mask[2, 2] = 60000  # eight times that is no f16
    arrays = [query.astype(np.float16), key.astype(np.float16), value, mask]
    left = raised(arrays, build, 5e-2)
    assert count(left, FlashAttentionOp) == 1


@pytest.mark.parametrize("last", ["value", "late"])
@pytest.mark.parametrize("rows", [2, 3])
def test_products_of_the_same_weights(last: str, rows: int) -> None:
    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        query, key, *values = arguments
        weights = SoftmaxOp(MatmulOp(query, key))
        results: list[SSAValue] = []
        for value in values:
            late = ExpOp(value).result if last == "late" else value
            results.append(ExpOp(MatmulOp(weights, late)).result)
        return ConcatOp(results[::-1], 3).result

    query, key, value = operands()
    more = [random(2, 3, 5, 1 + i, seed=9 + i) for i in range(rows - 1)]
    left = raised([query, key, value, *more], build, 1e-5)
    assert count(left, FlashAttentionOp) == 1 and count(left, MatmulOp) == 0


def test_weights_of_a_product_of_a_product_stay() -> None:
    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        query, key, value = arguments
        weights = SoftmaxOp(MatmulOp(query, key))
        return MatmulOp(weights, MatmulOp(weights, value)).result

    arrays = [random(2, 2, 4, 3), random(2, 2, 3, 4), random(2, 2, 4, 3)]
    assert count(raised(arrays, build, 1e-5), FlashAttentionOp) == 0


@pytest.mark.parametrize("spelling", ["logarithm", "log softmax"])
def test_the_exponential_of_a_log_softmax(spelling: str) -> None:
    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        query, key, value, mask = arguments
        scores = AddOp(MatmulOp(query, key), mask)
        if spelling == "logarithm":
            logarithm = SubOp(scores, ReduceLogSumExpOp(scores, [3]))
        else:
            logarithm = LogSoftmaxOp(scores, 3)
        return MatmulOp(ExpOp(logarithm), value).result

    mask = random(4, 5)
    mask[0, :2], mask[1], mask[2, 3] = -np.inf, -np.inf, np.nan
    with np.errstate(all="ignore"):
        left = raised([*operands(), mask], build, 1e-5)
    assert count(left, FlashAttentionOp) == 1 and count(left, ExpOp) == 0


ROLES = ("left", "right", "both", "summed", "lost")


@st.composite
def equations(draw: st.DrawFn) -> tuple[str, list[tuple[int, ...]], set[str]]:
    """Draws an equation of two operands, their shapes and the roles that letters have in it."""
    roles = {letter: draw(st.sampled_from(ROLES)) for letter in "abcdef"}
    sizes = {letter: draw(st.integers(1, 4)) for letter in roles}
    left, right, output = (
        draw(st.permutations([letter for letter, role in roles.items() if role in wanted]))
        for wanted in (("left", "both", "summed", "lost"), ("right", "both", "summed"), ROLES[:3])
    )
    text = f"{''.join(left)},{''.join(right)}->{''.join(output)}"
    shapes = [tuple(sizes[letter] for letter in term) for term in (left, right)]
    return text, shapes, set(roles.values())


@given(equations(), st.sampled_from(["float32", "float64", "float16"]))
@settings(max_examples=200, deadline=None)
def test_sums_over_letters(drawn: tuple[str, list[tuple[int, ...]], set[str]], dtype: str) -> None:
    text, shapes, roles = drawn
    arrays = [random(*shape, seed=i, dtype=dtype) for i, shape in enumerate(shapes)]
    left = raised(arrays, lambda values: EinsumOp(text, values).result, TOLERANCE[dtype])
    product = "lost" not in roles and {"left", "right", "summed"} <= roles
    assert count(left, MatmulOp) + count(left, EinsumOp) == 1
    assert product or count(left, MatmulOp) == 0


@pytest.mark.parametrize("equation", ["...ij,...jk->...ik", "...ij,jk->...ik", "ij,...jk->...ki"])
def test_sums_over_letters_with_more_dimensions(equation: str) -> None:
    shapes = [
        (2, 3, 4, 5) if term.startswith("...") else (4, 5) for term in equation.split(",")[:1]
    ]
    second = equation.split(",")[1]
    shapes.append((2, 3, 5, 6) if second.startswith("...") else (5, 6))
    arrays = [random(*shape, seed=i) for i, shape in enumerate(shapes)]
    left = raised(arrays, lambda values: EinsumOp(equation, values).result, 1e-5)
    assert count(left, MatmulOp) == 1 and count(left, EinsumOp) == 0


def test_relative_attention_is_one_op() -> None:
    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        query, key, value, position, first, second = arguments
        content = EinsumOp("ibnd,jbnd->bnij", [AddOp(query, first).result, key])
        place = EinsumOp("ibnd,jnd->bnij", [AddOp(query, second).result, position])
        scores = MulOp(AddOp(content, place), float_constant(0.25))
        return EinsumOp("bnij,jbnd->ibnd", [SoftmaxOp(scores).result, value]).result

    shapes = (4, 2, 3, 6), (5, 2, 3, 6), (5, 2, 3, 2), (5, 3, 6), (3, 6), (3, 6)
    arrays = [random(*shape, seed=i) for i, shape in enumerate(shapes)]
    left = raised(arrays, build, 1e-5)
    (op,) = [one for one in left if isinstance(one, FlashAttentionOp)]
    assert op.scale.value.data == 0.25 and op.mask is not None
    assert count(left, EinsumOp) == 0
