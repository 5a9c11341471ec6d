"""Rotary embedding, group norm, masks and decomposed activations: raised, they compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ge_dialect.ge.activations import HardSigmoidOp, HardSwishOp, SoftplusOp
from ge_dialect.ge.attention import FlashAttentionOp, RotaryEmbeddingOp
from ge_dialect.ge.binary import AddOp, DivOp, GreaterOp, MulOp, SubOp
from ge_dialect.ge.channel_normalization import GroupNormOp, InstanceNormOp
from ge_dialect.ge.constants import array_constant, float_constant
from ge_dialect.ge.elementwise import ClipOp, SelectOp
from ge_dialect.ge.movement import ReshapeOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp
from ge_dialect.ge.reductions import ReduceMaxOp, ReduceSumOp, SoftmaxOp
from ge_dialect.ge.types import element_type_of, value_shape
from ge_dialect.ge.unary import CosOp, ExpOp, NegOp, SinOp
from ge_dialect.passes.raising.scales import joined_scale
from tests.kernel_reference import Array
from tests.test_passes_raise import raised


def random(*shape: int, seed: int = 0) -> Array:
    """Returns normally distributed numbers of f32."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def columns(value: SSAValue, neighbours: bool) -> tuple[SSAValue, SSAValue]:
    """Returns the first and the second features of all pairs."""
    axis = len(value_shape(value)) - 1
    size = value_shape(value)[axis]
    assert isinstance(size, int)
    bounds = (
        ((0, size, 2), (1, size, 2)) if neighbours else ((0, size // 2, 1), (size // 2, size, 1))
    )
    first, second = (SliceOp(value, [a], [b], [axis], [step]).result for a, b, step in bounds)
    return first, second


def joined(first: SSAValue, second: SSAValue, neighbours: bool) -> SSAValue:
    """Returns features of pairs put together."""
    shape = value_shape(first)
    if not neighbours:
        return ConcatOp([first, second], len(shape) - 1).result
    parts = [ReshapeOp(one, (*shape, 1)).result for one in (first, second)]
    size = shape[-1]
    assert isinstance(size, int)
    return ReshapeOp(ConcatOp(parts, len(shape)).result, (*shape[:-1], 2 * size)).result


def rotated(
    value: SSAValue, angles: SSAValue, neighbours: bool, parts: bool, swapped: bool
) -> SSAValue:
    """Writes a rotary embedding down; the angles broadcast to half of the features."""
    first, second = columns(value, neighbours)
    if parts:
        cos, sin = CosOp(angles).result, SinOp(angles).result
        real = SubOp(MulOp(first, cos), MulOp(sin, second)).result
        imaginary = AddOp(MulOp(first, sin), MulOp(second, cos)).result
        return joined(real, imaginary, neighbours)
    twice = joined(angles, angles, neighbours)
    turned = joined(NegOp(second).result, first, neighbours)
    products = MulOp(value, CosOp(twice)), MulOp(SinOp(twice), turned)
    return AddOp(*products[::-1]).result if swapped else AddOp(*products).result


@pytest.mark.parametrize(
    ("heads_first", "neighbours", "parts", "swapped"), list(product((True, False), repeat=4))
)
@pytest.mark.parametrize("dims", [(2, 3, 5, 8), (1, 1, 4, 2), (2, 4, 1, 6), (1, 3, 3, 4)])
def test_rotary_embedding_in_every_spelling(
    dims: tuple[int, ...], heads_first: bool, neighbours: bool, parts: bool, swapped: bool
) -> None:
    batch, heads, rows, size = dims
    shape = (batch, heads, rows, size) if heads_first else (batch, rows, heads, size)
    spread = (1, 1, rows, size // 2) if heads_first else (1, rows, 1, size // 2)
    arrays = [random(*shape), random(*spread, seed=1)]
    left = raised(
        arrays,
        lambda values: rotated(values[0], values[1], neighbours, parts, swapped),
        0.0,  # the very same products and sums
    )
    assert sum(isinstance(op, RotaryEmbeddingOp) for op in left) == 1
    assert not any(isinstance(op, AddOp | SubOp | MulOp | NegOp | ConcatOp) for op in left)


def test_rotary_embedding_of_some_features() -> None:
    def build(values: Sequence[SSAValue]) -> SSAValue:
        first = SliceOp(values[0], [0], [6], [3]).result
        rest = SliceOp(values[0], [6], [8], [3]).result
        return ConcatOp([rotated(first, values[1], False, False, False), rest], 3).result

    left = raised([random(2, 3, 5, 8), random(2, 1, 5, 3)], build, 0.0)
    (op,) = [one for one in left if isinstance(one, RotaryEmbeddingOp)]
    assert op.rotary_dim.value.data == 6


@pytest.mark.parametrize("shape", [(2, 6, 5), (2, 6, 3, 4), (1, 4, 2, 2, 3)])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("groups", [1, 2])
def test_group_norm_is_raised(shape: tuple[int, ...], affine: bool, groups: int) -> None:
    ones, zeros = np.ones(groups, np.float32), np.zeros(groups, np.float32)
    flat = (shape[0], groups, int(np.prod(shape[1:])) // groups)

    def build(values: Sequence[SSAValue]) -> SSAValue:
        grouped = ReshapeOp(values[0], flat)
        normal = InstanceNormOp(grouped, array_constant(ones), array_constant(zeros), epsilon=1e-5)
        result = ReshapeOp(normal.result, shape).result
        if affine:
            result = AddOp(values[2], MulOp(result, values[1])).result
        return result

    parameter = (shape[1], *(1,) * (len(shape) - 2))
    left = raised([random(*shape), random(*parameter), random(*parameter, seed=1)], build, 1e-5)
    assert sum(isinstance(op, GroupNormOp) for op in left) == 1
    assert not any(isinstance(op, InstanceNormOp | MulOp | AddOp) for op in left)


LOW = float(np.finfo(np.float32).min)


@given(
    st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4)),
    st.sampled_from(["tri", "random", "all", "none"]),
    st.sampled_from([-np.inf, LOW, -5.0]),
    st.booleans(),
    st.integers(0, 20),
)
@settings(max_examples=150, deadline=None)
def test_constant_masks_keep_what_they_mean(
    dims: tuple[int, int, int], kind: str, fill: float, guard: bool, seed: int
) -> None:
    heads, rows, keys = dims
    rng = np.random.default_rng(seed)
    keep = {
        "tri": np.tri(rows, keys, k=int(rng.integers(0, 3)), dtype=np.bool_),
        "random": rng.random((heads, rows, keys)) < 0.5,
        "all": np.ones((heads, rows, keys), np.bool_),
        "none": np.zeros((rows, keys), np.bool_),
    }[kind]
    mask = np.where(keep, 0, fill).astype(np.float32) if seed % 2 else keep
    arrays = [random(2, heads, size, 4, seed=size) for size in (rows, keys, keys)]

    def build(values: Sequence[SSAValue]) -> SSAValue:
        query, key, value = values
        fixed = array_constant(mask)
        return FlashAttentionOp(query, key, value, fixed, scale=0.5, nan_guard=guard).result

    left = raised(arrays, build, 1e-6)
    (op,) = [one for one in left if isinstance(one, FlashAttentionOp)]
    if kind == "all" or (kind == "tri" and fill != -5.0):
        assert op.mask is None and op.nan_guard is None


def test_a_scale_that_was_split_is_the_number_whose_root_was_taken() -> None:
    with_type = float_constant(0.0, f32).result
    for depth in (8, 64, 80, 96, 128):
        root = float(np.float32(np.sqrt(1 / np.sqrt(depth))))
        assert joined_scale(root, root, with_type, depth) == 1 / np.sqrt(depth)
    half = float(np.float32(np.sqrt(0.5)))
    assert joined_scale(half, half, with_type, 8) == 0.5
    assert joined_scale(0.25, 0.5, with_type, 8) == 0.125
    assert joined_scale(-0.5, -0.5, with_type, 8) == 0.25


SPECIAL = np.array(
    [0.0, -0.0, 1.5, -2.25, 15.9, 16.1, 20.1, 88.0, 1e30, -1e30, np.inf, -np.inf, np.nan],
    np.float32,
)


@pytest.mark.parametrize("number", [np.float32, np.float16])
def test_softplus_with_a_branch_is_softplus_to_the_bit(number: type[np.floating]) -> None:
    def build(values: Sequence[SSAValue]) -> SSAValue:
        threshold = float_constant(20.0, element_type_of(values[0]))
        test = GreaterOp(values[0], threshold)
        return SelectOp(test, values[0], SoftplusOp(values[0])).result

    steps = np.linspace(-30, 130, 4001).astype(np.float32)
    with np.errstate(over="ignore"):
        array = np.concatenate([SPECIAL, steps]).astype(number)
    (op,) = raised([array], build, 0.0)
    assert isinstance(op, SoftplusOp)


@pytest.mark.parametrize("inner", [True, False])
def test_hard_swish_and_hard_sigmoid_are_raised(inner: bool) -> None:
    def ramp(value: SSAValue) -> SSAValue:
        zero, six = float_constant(0.0), float_constant(6.0)
        return ClipOp(AddOp(value, float_constant(3.0)), zero, six).result

    def swish(values: Sequence[SSAValue]) -> SSAValue:
        six = float_constant(6.0)
        if inner:
            return MulOp(values[0], DivOp(ramp(values[0]), six)).result
        return DivOp(MulOp(values[0], ramp(values[0])), six).result

    array = np.concatenate([random(40) * 4, SPECIAL])
    (op,) = raised([array], swish, 1e-6)
    assert isinstance(op, HardSwishOp)
    (gate,) = raised([array], lambda v: DivOp(ramp(v[0]), float_constant(6.0)).result, 1e-6)
    assert isinstance(gate, HardSigmoidOp)


def test_decomposed_softmax_is_softmax_to_the_bit() -> None:
    def build(values: Sequence[SSAValue]) -> SSAValue:
        exp = ExpOp(SubOp(values[0], ReduceMaxOp(values[0], [1])))
        return DivOp(exp, ReduceSumOp(exp, [1])).result

    infinite = np.full((1, 13), -np.inf, np.float32)
    (op,) = raised([np.concatenate([random(6, 13), SPECIAL[None], infinite])], build, 0.0)
    assert isinstance(op, SoftmaxOp)
