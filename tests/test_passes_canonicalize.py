"""`ge-canonicalize` changes no bit of a result, and comes to an end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.builder import ImplicitBuilder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import AddOp, DivOp, MulOp, PowOp, SubOp
from ge_dialect.ge.constants import array_constant
from ge_dialect.ge.dtypes import from_numpy
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.types import tensor_type, value_shape
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.canonicalization.canonicalize import CanonicalizePass
from ge_dialect.passes.canonicalization.cast import keeps_every_value
from ge_dialect.passes.canonicalization.groups import paired_groups, split_dims
from ge_dialect.symbols import symbol
from tests.kernel_reference import Array

SPECIAL = np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e-42, 3e38], np.float32)


def module_of(
    types: Sequence[Attribute], build: Callable[[Sequence[SSAValue]], GEOp | SSAValue]
) -> ModuleOp:
    """Returns a module with one function `main`, whose body `build` makes of its arguments."""
    function = FuncOp("main", (list(types), []))
    with ImplicitBuilder(function.body) as arguments:
        ReturnOp(SSAValue.get(build(arguments)))
    function.update_function_type()
    module = ModuleOp([function])
    module.verify()
    return module


def canonicalized(module: ModuleOp, *arrays: Array) -> tuple[list[str], Array]:
    """Returns the ops that are left, after checking that results are the same to the bit."""
    (before,) = run_function(module, arrays)
    CanonicalizePass().apply(Context(), module)
    module.verify()
    (after,) = run_function(module, arrays)
    assert before.dtype == after.dtype and before.shape == after.shape
    assert before.tobytes() == after.tobytes()
    return [op.name for op in module.walk() if isinstance(op, GEOp)], after


@st.composite
def moved_shapes(draw: st.DrawFn) -> tuple[tuple[int, ...], list[tuple[int, ...] | list[int]]]:
    """A shape, and steps from there: a permutation (a list) or a new shape (a tuple)."""
    start = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=1, max_size=4)))
    shape, steps = start, list[tuple[int, ...] | list[int]]()
    for _ in range(draw(st.integers(1, 5))):
        if draw(st.booleans()):
            perm = draw(st.permutations(range(len(shape))))
            steps.append(perm)
            shape = tuple(shape[axis] for axis in perm)
        else:
            shape = draw(st.sampled_from(_reshapes(prod(shape))))
            steps.append(shape)
    return start, steps


def _reshapes(count: int) -> list[tuple[int, ...]]:
    shapes: list[tuple[int, ...]] = [(count,), (1, count), (count, 1)]
    for first in range(2, count):
        if count % first == 0:
            rest = count // first
            shapes += [(first, rest), (1, first, rest), (first, 1, rest)]
            shapes += [(first, a, rest // a) for a in range(2, rest) if rest % a == 0]
    return shapes


@given(moved_shapes())
@settings(max_examples=150, deadline=None)
def test_movements_stay_the_same_movement(
    case: tuple[tuple[int, ...], list[tuple[int, ...] | list[int]]],
) -> None:
    start, steps = case

    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        value = arguments[0]
        for step in steps:
            op = TransposeOp(value, step) if isinstance(step, list) else ReshapeOp(value, step)
            value = op.result
        return value

    x = np.arange(prod(start), dtype=np.float32).reshape(start)
    names, _ = canonicalized(module_of([tensor_type(f32, start)], build), x)
    assert len(names) <= len(steps)
    for first, second in pairwise(names):
        assert first != second


def test_symbolic_key_transpose_is_one_op() -> None:
    batch, rows = symbol("B"), symbol("S")

    def build(arguments: Sequence[SSAValue]) -> SSAValue:
        folded = ReshapeOp(arguments[0], (batch * 4, rows, 8)).result
        moved = TransposeOp(folded, (0, 2, 1)).result
        return ReshapeOp(moved, (batch, 4, 8, rows)).result

    module = module_of([tensor_type(f32, (batch, 4, rows, 8))], build)
    CanonicalizePass().apply(Context(), module)
    (op,) = [op for op in module.walk() if isinstance(op, GEOp)]
    assert isinstance(op, TransposeOp) and op.permutation == (0, 1, 3, 2)
    assert value_shape(op.result) == (batch, 4, 8, rows)


@pytest.mark.parametrize(
    ("op_class", "value", "folds"),
    [
        (AddOp, 0.0, False),
        (AddOp, -0.0, True),
        (SubOp, 0.0, True),
        (SubOp, -0.0, False),
        (MulOp, 1.0, True),
        (MulOp, -1.0, False),
        (DivOp, 1.0, True),
        (DivOp, 2.0, False),
    ],
)
def test_neutral_operands_on_special_values(
    op_class: type[AddOp | SubOp | MulOp | DivOp], value: float, folds: bool
) -> None:
    constant = np.asarray(value, np.float32)
    module = module_of(
        [tensor_type(f32, SPECIAL.shape)],
        lambda arguments: op_class(arguments[0], array_constant(constant)),
    )
    names, _ = canonicalized(module, SPECIAL)
    assert (names == []) is folds


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("exponent", [np.float32(2), np.int64(2)])
def test_square_is_the_power_to_the_bit(dtype: type[np.floating], exponent: np.generic) -> None:
    rng = np.random.default_rng(7)
    x = np.concatenate([rng.standard_normal(20000), SPECIAL[:6]]).astype(dtype)
    module = module_of(
        [tensor_type(from_numpy(x.dtype), x.shape)],
        lambda arguments: PowOp(arguments[0], array_constant(np.asarray(exponent))),
    )
    names, _ = canonicalized(module, x)
    assert names == ["ge.mul"]


def _every_value(name: str) -> Array:
    if name == "bool":
        return np.array([False, True])
    if name in ("float16", "int8", "uint8", "int16"):
        dtype = np.dtype(name)
        codes = np.arange(256**dtype.itemsize, dtype=np.uint8 if dtype.itemsize == 1 else np.uint16)
        values = codes.view(dtype)
        return values[~np.isnan(values)] if dtype.kind == "f" else values
    rng = np.random.default_rng(3)
    if name == "float32":
        return np.concatenate([rng.standard_normal(500) * 1e3, SPECIAL[:6]]).astype(np.float32)
    limits = np.iinfo(name)
    values = rng.integers(limits.min, limits.max, 500, dtype=name)
    return np.concatenate([values, np.array([limits.min, limits.max], name)])


NAMES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32")


@given(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(NAMES))
@settings(max_examples=120, deadline=None)
def test_cast_chains_keep_every_value(source: str, middle: str, target: str) -> None:
    x = _every_value(source)
    types = [from_numpy(np.dtype(name)) for name in (source, middle, target)]
    module = module_of(
        [tensor_type(types[0], x.shape)],
        lambda arguments: CastOp(CastOp(arguments[0], types[1]), types[2]),
    )
    names, after = canonicalized(module, x)
    if keeps_every_value(types[0], types[1]) and source == target:
        assert names == []
        assert after.tobytes() == x.tobytes()


@pytest.mark.parametrize(
    ("coarse", "fine", "groups"),
    [
        ((8, 8, 5), (2, 4, 8, 5), [(0, 1), (2,), (3,)]),
        ((8, 1), (1, 8), [(0, 1), ()]),
        ((2, 1, 3), (2, 1, 3), [(0,), (1,), (2,)]),
        ((2, 3), (2, 3, 1), [(0,), (1, 2)]),
        ((6, 4), (4, 6), None),
        ((), (1,), None),
        ((None, 2), (None, 2), None),
    ],
)
def test_split_dims(
    coarse: tuple[int, ...], fine: tuple[int, ...], groups: list[tuple[int, ...]] | None
) -> None:
    assert split_dims(coarse, fine) == groups


def test_paired_groups() -> None:
    batch = symbol("B")
    assert paired_groups((batch, 4, 3), (batch * 4, 3)) == [
        (range(2), range(1)),
        (range(2, 3), range(1, 2)),
    ]
    assert paired_groups((5,), (5, 1)) == [(range(1), range(1)), (range(1, 1), range(1, 2))]
    assert paired_groups((2, 3), (4, 2)) is None
