"""`ge-raise` of what JAX's exporters write computes the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir import SSAValue

from ge_dialect.ge.binary import AddOp, DivOp, GreaterOp, MaximumOp, MulOp, SubOp
from ge_dialect.ge.constants import float_constant
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.ge.reductions import ReduceMeanOp, ReduceSumOp, SoftmaxOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.ge.unary import SqrtOp
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
