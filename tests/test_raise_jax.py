"""`ge-raise` of what JAX's exporters write computes the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir import SSAValue

from ge_dialect.ge.activations import CeluOp, EluOp, SoftplusOp
from ge_dialect.ge.binary import (
    AddOp,
    DivOp,
    EqualOp,
    GreaterOp,
    MaximumOp,
    MinimumOp,
    MulOp,
    SubOp,
)
from ge_dialect.ge.constants import float_constant
from ge_dialect.ge.contractions import EinsumOp
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.ge.reductions import ReduceMeanOp, ReduceSumOp, SoftmaxOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.ge.unary import AbsOp, ExpOp, LogOp, NegOp, SqrtOp
from tests.test_passes_raise import raised


def masked_softmax(arguments: Sequence[SSAValue], guard: str) -> SSAValue:
    """Writes softmax down, of which some weights are taken away again."""
    scores, keep = arguments
    type_ = element_type_of(scores)
    weights = MulOp(SoftmaxOp(scores), CastOp(keep, type_)).result
    total = ReduceSumOp(weights, [1], keepdims=True).result
    if guard == "none":
        return DivOp(weights, total).result
    zero, one = float_constant(0.0, type_), float_constant(1.0, type_)
    some = GreaterOp(total, zero).result
    quotient = DivOp(weights, SelectOp(some, total, one)).result
    return quotient if guard == "sum" else SelectOp(some, quotient, zero).result


@pytest.mark.parametrize("guard", ["none", "sum", "both"])
@given(rows=st.integers(1, 5), columns=st.integers(1, 9), seed=st.integers(0, 999))
def test_weights_that_are_taken_away_are_masked_scores(
    guard: str, rows: int, columns: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 4, (rows, columns)).astype(np.float32)
    keep = rng.random((rows, columns)) < 0.5
    if guard == "none":
        keep[:, 0] = True
    with np.errstate(invalid="ignore"):
        left = raised([scores, keep], lambda given: masked_softmax(given, guard), 1e-5)
    names = [op.name for op in left]
    assert names[:2] == ["ge.select", "ge.softmax"]
    assert names[2:] == ([] if guard == "none" else ["ge.is_nan", "ge.select"])


def fast_norm(arguments: Sequence[SSAValue], floor: bool) -> SSAValue:
    """Writes a layer norm down as Flax does."""
    (x,) = arguments
    type_ = element_type_of(x)
    mean = ReduceMeanOp(x, [1], keepdims=True).result
    squares = ReduceMeanOp(MulOp(x, x), [1], keepdims=True).result
    variance = SubOp(squares, MulOp(mean, mean)).result
    if floor:
        variance = MaximumOp(variance, float_constant(0.0, type_)).result
    root = SqrtOp(AddOp(variance, float_constant(2.0**-16, type_))).result
    return DivOp(SubOp(x, mean), root).result


@pytest.mark.parametrize("floor", [False, True])
@given(rows=st.integers(1, 5), columns=st.integers(2, 40), seed=st.integers(0, 999))
def test_a_variance_of_squares_is_that_of_a_layer_norm(
    floor: bool, rows: int, columns: int, seed: int
) -> None:
    x = np.random.default_rng(seed).normal(0.5, 2, (rows, columns)).astype(np.float32)
    (norm,) = raised([x], lambda given: fast_norm(given, floor), 1e-3)
    assert isinstance(norm, LayerNormOp)
    assert norm.epsilon.value.data == 2.0**-16


def unit(x: SSAValue, alpha: float, kind: str) -> SSAValue:
    """Writes an exponential linear unit down as jax.nn does."""
    type_ = element_type_of(x)
    zero, one = (float_constant(value, type_) for value in (0.0, 1.0))
    factor = float_constant(alpha, type_)
    if kind == "celu":
        inner = DivOp(MinimumOp(x, zero).result, factor).result
        decay = MulOp(factor, SubOp(ExpOp(inner).result, one).result).result
        return AddOp(MaximumOp(x, zero).result, decay).result
    positive = GreaterOp(x, zero).result
    inner = SelectOp(positive, zero, x).result if kind == "guarded" else x
    decay = MulOp(SubOp(ExpOp(inner).result, one).result, factor).result
    return SelectOp(positive, x, decay).result


@pytest.mark.parametrize("kind", ["plain", "guarded", "celu"])
@given(
    size=st.integers(2, 40), alpha=st.sampled_from([0.5, 1.0, 1.5, 3.0]), seed=st.integers(0, 99)
)
def test_units_of_jax_are_one_op(kind: str, size: int, alpha: float, seed: int) -> None:
    x = np.random.default_rng(seed).normal(0, 4, size).astype(np.float32)
    x[:2] = 200.0, -200.0
    with np.errstate(over="ignore"):
        (op,) = raised([x], lambda given: unit(given[0], alpha, kind))
    assert isinstance(op, CeluOp if kind == "celu" else EluOp)
    assert op.alpha.value.data == alpha


def stable(x: SSAValue) -> SSAValue:
    """Writes softplus down as jax.nn does, by logaddexp."""
    type_ = element_type_of(x)
    zero, one = (float_constant(value, type_) for value in (0.0, 1.0))
    decay = ExpOp(NegOp(AbsOp(x).result).result).result
    total = AddOp(MaximumOp(x, zero).result, LogOp(AddOp(decay, one).result).result).result
    return SelectOp(EqualOp(x, x).result, total, AddOp(x, zero).result).result


@given(size=st.integers(1, 40), seed=st.integers(0, 999))
def test_softplus_of_jax_is_one_op_also_of_nan(size: int, seed: int) -> None:
    x = np.random.default_rng(seed).normal(0, 40, size).astype(np.float32)
    x[0] = np.nan
    (op,) = raised([x], lambda given: stable(given[0]))
    assert isinstance(op, SoftplusOp)


@given(
    batch=st.integers(1, 3),
    heads=st.integers(1, 3),
    rows=st.integers(1, 5),
    seed=st.integers(0, 99),
)
def test_values_may_come_first(batch: int, heads: int, rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(1, batch, heads, rows, 6)).astype(np.float32)
    values = rng.normal(size=(batch, 6, heads, 4)).astype(np.float32)
    left = raised(
        [values, weights], lambda given: EinsumOp("zayb,czyda->zybcd", given).result, 1e-5
    )
    assert "ge.einsum" not in [op.name for op in left] or 1 in (batch, heads, rows)
