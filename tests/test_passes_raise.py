"""`ge-raise` finds composites in any spelling, and what it finds computes the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.builder import ImplicitBuilder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f16, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.attention import FlashAttentionOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import AddOp, DivOp, MulOp, PowOp, SubOp
from ge_dialect.ge.constants import ConstantOp, array_constant, float_constant
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.dropout import DropoutOp
from ge_dialect.ge.dtypes import from_numpy
from ge_dialect.ge.elementwise import CastOp, SelectOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TransposeOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.ge.reductions import ReduceMeanOp, SoftmaxOp
from ge_dialect.ge.types import element_type_of, tensor_type, value_shape
from ge_dialect.ge.unary import IsNanOp, SqrtOp
from ge_dialect.interpreters.functions import run_function
from ge_dialect.locations import location_names, name_location
from ge_dialect.passes.canonicalization.canonicalize import CanonicalizePass
from ge_dialect.passes.raising.raise_composites import RaisePass
from tests.kernel_reference import Array

Build = Callable[[Sequence[SSAValue]], SSAValue]


def module_of(arrays: Sequence[Array], build: Build) -> ModuleOp:
    """Returns a module with one function `main`, whose body `build` makes of its arguments."""
    types = [tensor_type(from_numpy(array.dtype), array.shape) for array in arrays]
    function = FuncOp("main", (types, []))
    with ImplicitBuilder(function.body) as arguments:
        ReturnOp(build(arguments))
    function.update_function_type()
    module = ModuleOp([function])
    module.verify()
    return module


def ops_of(module: ModuleOp) -> list[GEOp]:
    """Returns all ops of `ge` but constants."""
    return [op for op in module.walk() if isinstance(op, GEOp) and not isinstance(op, ConstantOp)]


def raised(arrays: Sequence[Array], build: Build, tolerance: float = 2e-6) -> list[GEOp]:
    """Returns the ops that are left, after checking that the results are the same."""
    module = module_of(arrays, build)
    (before,) = run_function(module, arrays)
    RaisePass().apply(Context(), module)
    module.verify()
    (after,) = run_function(module, arrays)
    CanonicalizePass().apply(Context(), module)
    module.verify()
    (last,) = run_function(module, arrays)
    np.testing.assert_allclose(after, before, rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(last, after)
    return ops_of(module)


@dataclass(frozen=True)
class Spelling:
    """One way to write attention down.

    Attributes:
        key: What the key argument is, and how it is transposed.
        scale: Where the scale stands.
        mask: Where the mask stands.
        left: Whether constants and masks are the left operands.
        guard: Whether NaN is replaced by 0.
    """

    key: str
    scale: str
    mask: str
    left: bool
    guard: bool


FILL = -1.5
"""What masked scores are where they are filled: scores come up to it."""

SPELLINGS = [
    Spelling(*parts)
    for parts in product(
        ("BHTD", "BTHD", "BHDT", "folded"),
        ("none", "split", "after", "divided", "below"),
        ("none", "added", "truth", "selected", "filled"),
        (False, True),
        (False, True),
    )
]


def swapped(op: type[AddOp | MulOp], value: SSAValue, other: SSAValue, left: bool) -> SSAValue:
    """Returns `op(value, other)`, with `left` the other way around."""
    return (op(other, value) if left else op(value, other)).result


def transposed_key(key: SSAValue, kind: str) -> SSAValue:
    """Returns the key as `[B, H, D, T]`."""
    if kind == "BHDT":
        return key
    if kind == "BTHD":
        return TransposeOp(key, (0, 2, 3, 1)).result
    if kind == "BHTD":
        return TransposeOp(key, (0, 1, 3, 2)).result
    batch, heads, rows, depth = value_shape(key)
    assert isinstance(batch, int) and isinstance(heads, int)
    folded = ReshapeOp(key, (batch * heads, rows, depth)).result
    return ReshapeOp(TransposeOp(folded, (0, 2, 1)), (batch, heads, depth, rows)).result


def scaled_scores(spelling: Spelling, query: SSAValue, key: SSAValue) -> SSAValue:
    """Returns the scores, scaled by 0.25 where the spelling scales."""
    key = transposed_key(key, spelling.key)
    kind, left, type_ = spelling.scale, spelling.left, element_type_of(query)
    half = float_constant(0.5, type_).result
    if kind in ("split", "below"):
        query = swapped(MulOp, query, half, left)
        key = swapped(MulOp, key, half, not left)
    if kind == "below":
        query = TransposeOp(TransposeOp(query, (0, 2, 1, 3)), (0, 2, 1, 3)).result
    scores = MatmulOp(query, key).result
    if kind == "after":
        scores = swapped(MulOp, scores, float_constant(0.25, type_).result, left)
    return DivOp(scores, float_constant(4, type_)).result if kind == "divided" else scores


def attention(spelling: Spelling, arguments: Sequence[SSAValue]) -> SSAValue:
    """Writes attention down."""
    query, key, value, *masks = arguments
    scores, type_ = scaled_scores(spelling, query, key), element_type_of(query)
    infinity, zero = float_constant(-np.inf, type_), float_constant(0, type_)
    if spelling.mask == "added":
        scores = swapped(AddOp, scores, masks[0], spelling.left)
    elif spelling.mask == "truth":
        added = SelectOp(masks[0], zero, infinity)
        scores = swapped(AddOp, scores, added.result, spelling.left)
    elif spelling.mask in ("selected", "filled"):
        fill = infinity if spelling.mask == "selected" else float_constant(FILL, type_)
        scores = SelectOp(masks[0], scores, fill).result
    weights = SoftmaxOp(scores).result
    if spelling.guard:
        weights = SelectOp(IsNanOp(weights), zero, weights).result
    return MatmulOp(weights, value).result


def inputs(spelling: Spelling, dims: Sequence[int], seed: int = 0) -> list[Array]:
    """Returns query, key, value and the mask that a spelling needs; B, H, S, T, D, Dv are sizes."""
    batch, heads, rows, columns, depth, width = dims
    rng = np.random.default_rng(seed)
    keys = {"BTHD": (batch, columns, heads, depth), "BHDT": (batch, heads, depth, columns)}
    key_shape = keys.get(spelling.key, (batch, heads, columns, depth))
    shapes = [(batch, heads, rows, depth), key_shape, (batch, heads, columns, width)]
    arrays: list[Array] = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    if spelling.mask == "added":
        arrays.append(rng.standard_normal((batch, 1, 1, columns)).astype(np.float32))
    elif spelling.mask != "none":
        keep = rng.random((rows, columns)) < 0.6
        if spelling.guard or spelling.mask == "filled":
            keep[0] = False  # a query that sees no key
        else:
            keep[:, 0] = True
        arrays.append(keep)
    return arrays


@given(st.sampled_from(SPELLINGS), st.tuples(*[st.integers(1, 5)] * 6), st.integers(0, 99))
@settings(max_examples=120, deadline=None)
def test_every_spelling_of_attention_is_one_op(
    spelling: Spelling, dims: tuple[int, ...], seed: int
) -> None:
    arrays = inputs(spelling, dims, seed)
    left = raised(arrays, lambda arguments: attention(spelling, arguments), 1e-5)
    (op,) = [one for one in left if isinstance(one, FlashAttentionOp)]
    assert op.scale.value.data == (1.0 if spelling.scale == "none" else 0.25)
    assert (op.zero_nan is not None) is spelling.guard
    assert op.masked_score == {"selected": -np.inf, "filled": FILL}.get(spelling.mask)
    assert (op.mask is not None) is (spelling.mask != "none")
    if spelling.mask in ("truth", "selected", "filled"):
        assert op.mask is not None and str(element_type_of(op.mask)) == "i1"
    moves = sum(isinstance(one, TransposeOp | ReshapeOp) for one in left)
    assert moves <= (spelling.key in ("BTHD", "BHDT"))
    assert len(left) == 1 + moves


@given(
    st.sampled_from([one for one in SPELLINGS if one.scale in ("none", "after")]),
    st.tuples(*[st.integers(1, 4)] * 6),
    st.integers(0, 999),
)
@settings(max_examples=150, deadline=None)
def test_what_is_not_finite_comes_out_the_same(
    spelling: Spelling, dims: tuple[int, ...], seed: int
) -> None:
    arrays = inputs(spelling, dims, seed)
    rng = np.random.default_rng(seed)
    for array in arrays[: 4 if spelling.mask == "added" else 3]:
        odd = rng.choice([np.nan, np.inf, -np.inf], array.shape)
        np.copyto(array, odd.astype(array.dtype), where=rng.random(array.shape) < 0.1)
    with np.errstate(all="ignore"):
        left = raised(arrays, lambda arguments: attention(spelling, arguments), 1e-5)
    assert any(isinstance(one, FlashAttentionOp) for one in left)


@pytest.mark.parametrize("columns", [4, 5])
def test_permuted_key_is_never_bound_as_it_is(columns: int) -> None:
    # With T = H = D every wrong transpose type checks.
    spelling = Spelling("BTHD", "divided", "none", False, False)
    arrays = inputs(spelling, (1, 4, 4, columns, 4, 4))
    left = raised(arrays, lambda arguments: attention(spelling, arguments))
    transpose, op = left
    assert isinstance(transpose, TransposeOp) and transpose.permutation == (0, 2, 1, 3)
    assert isinstance(op, FlashAttentionOp) and op.k is transpose.result


def test_location_names_every_node() -> None:
    spelling = Spelling("BHTD", "after", "none", False, False)
    arrays = inputs(spelling, (1, 2, 3, 4, 5, 6))
    module = module_of(arrays, lambda arguments: attention(spelling, arguments))
    for index, op in enumerate(ops_of(module)):
        op.location = name_location(f"node{index}")
    RaisePass().apply(Context(), module)
    (op,) = [one for one in ops_of(module) if isinstance(one, FlashAttentionOp)]
    assert set(location_names(op)) == {"node1", "node2", "node3", "node4"}


def test_dropout_of_nothing_does_not_block_and_casts_are_kept_wide() -> None:
    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        query, key, value = arguments
        scores = CastOp(MatmulOp(query, TransposeOp(key, (0, 1, 3, 2))), f32)
        weights = CastOp(SoftmaxOp(scores), f16)
        return MatmulOp(DropoutOp(weights, float_constant(0.0)).result, value).result

    rng = np.random.default_rng(5)
    arrays = [rng.standard_normal((2, 2, 6, 8)).astype(np.float16) for _ in range(3)]
    (op,) = raised(arrays, build, 4e-3)
    assert isinstance(op, FlashAttentionOp) and op.accumulate == f32


@given(st.sampled_from([(1, 1), (2, 1), (2, 2), (3, 4), (1, 4)]), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_repeated_heads_are_absorbed(heads: tuple[int, int], batch: int) -> None:
    key_heads, group = heads

    def repeat(value: SSAValue) -> SSAValue:
        shape = value_shape(value)
        wide = BroadcastToOp(
            ReshapeOp(value, (*shape[:2], 1, *shape[2:])), (*shape[:2], group, *shape[2:])
        )
        return ReshapeOp(wide, (batch, key_heads * group, *shape[2:])).result

    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        query, key, value = arguments
        scores = MatmulOp(query, TransposeOp(repeat(key), (0, 1, 3, 2)))
        return MatmulOp(SoftmaxOp(scores), repeat(value)).result

    rng = np.random.default_rng(group)
    shapes = [(batch, key_heads * group, 3, 5), *[(batch, key_heads, 4, 5)] * 2]
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    (op,) = raised(arrays, build, 1e-5)
    assert isinstance(op, FlashAttentionOp)
    assert value_shape(op.k) == value_shape(op.v) == (batch, key_heads, 4, 5)


@pytest.mark.parametrize("rank", [2, 3, 5])
def test_other_ranks_get_heads(rank: int) -> None:
    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        query, key, value, mask = arguments
        scores = AddOp(MatmulOp(query, key), mask)
        return MatmulOp(SoftmaxOp(scores), value).result

    rng = np.random.default_rng(rank)
    lead = (2, 3, 2)[: rank - 2]
    shapes = [(*lead, 4, 5), (*lead, 5, 6), (*lead, 6, 3), (*lead[:-1], 1, 1, 6)[-rank:]]
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    left = raised(arrays, build, 1e-5)
    assert sum(isinstance(op, FlashAttentionOp) for op in left) == 1
    assert not any(isinstance(op, SoftmaxOp) for op in left)


def layer_norm(arguments: Sequence[SSAValue], axes: Sequence[int], power: bool) -> SSAValue:
    """Writes layer norm down."""
    x, scale, bias = arguments
    type_ = element_type_of(x)
    difference = SubOp(x, ReduceMeanOp(x, axes))
    square = MulOp(difference, difference)
    if power:
        square = PowOp(difference, float_constant(2, type_))
    variance = ReduceMeanOp(square, axes)
    root = SqrtOp(AddOp(variance, float_constant(1e-3, type_)))
    return AddOp(MulOp(DivOp(difference, root), scale), bias).result


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("axes", [(-1,), (1, 2), (2, 1, 0)])
@pytest.mark.parametrize("power", [False, True])
def test_layer_norm_carries_its_epsilon(dtype: str, axes: tuple[int, ...], power: bool) -> None:
    # Rows as small as the root of epsilon: another epsilon would show.
    rng = np.random.default_rng(1)
    x = (1e-2 * rng.standard_normal((3, 4, 5))).astype(dtype)
    shape = (3, 4, 5)[3 - len(axes) :]
    parameters = [rng.standard_normal(shape).astype(dtype) for _ in range(2)]
    build: Build = lambda arguments: layer_norm(arguments, axes, power)  # noqa: E731
    tolerance = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
    if dtype == "float64":
        module = module_of([x, *parameters], build)
        with remarks.collect() as collected:
            RaisePass(("layer_norm",)).apply(Context(), module)
        (remark,) = collected.remarks
        assert remark.reason_class is remarks.ReasonClass.CONST and "f32" in remark.message
        return
    (op,) = raised([x, *parameters], build, tolerance)
    assert isinstance(op, LayerNormOp) and op.scale is not None and op.bias is not None
    assert op.epsilon.value.data == float(np.dtype(dtype).type(1e-3))


def test_swapped_operands_and_used_values_are_told_apart() -> None:
    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        (x,) = arguments
        difference = SubOp(ReduceMeanOp(x, (-1,)), x)  # the other way around
        variance = ReduceMeanOp(MulOp(difference, difference), (-1,))
        return DivOp(difference, SqrtOp(AddOp(variance, float_constant(1e-5)))).result

    x = np.random.default_rng(2).standard_normal((4, 8)).astype(np.float32)
    left = raised([x], build)
    assert [op.name for op in left] == ["ge.reduce_mean", "ge.sub", "ge.rms_norm"]


def test_unknown_composite_is_refused() -> None:
    module = module_of([np.zeros(2, np.float32)], lambda arguments: arguments[0])
    with pytest.raises(GEError, match="GE0410: expected 'composites' to be some of layer_norm"):
        RaisePass(("atention",)).apply(Context(), module)


def test_only_the_named_composites_are_raised() -> None:
    spelling = Spelling("BHTD", "none", "none", False, False)
    module = module_of(
        inputs(spelling, (1, 2, 3, 4, 5, 6)), lambda arguments: attention(spelling, arguments)
    )
    RaisePass(("layer_norm", "gelu")).apply(Context(), module)
    assert not any(isinstance(op, FlashAttentionOp) for op in ops_of(module))


def test_a_constant_triangle_is_an_attribute() -> None:
    causal = np.where(np.tri(4, dtype=np.bool_), 0, -np.inf).astype(np.float32)

    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        query, key, value = arguments
        scores = AddOp(array_constant(causal), MatmulOp(query, key))
        return MatmulOp(SoftmaxOp(scores), value).result

    rng = np.random.default_rng(8)
    shapes = [(1, 2, 4, 3), (1, 2, 3, 4), (1, 2, 4, 3)]
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    left = raised(arrays, build)
    (op,) = [one for one in left if isinstance(one, FlashAttentionOp)]
    assert op.mask is None and op.causal is not None
