from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import f16, i32
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge import activations as act
from ge_dialect.ge import binary as bin_
from ge_dialect.ge import unary as una
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.elementwise import CastOp, ClipOp, SelectOp
from ge_dialect.interpreters.elementwise import PLAIN, WITH_ALPHA
from tests.kernel_reference import F16, F32, Array, assert_same, random, reference
from tests.op_checks import run, value

UNARY: list[tuple[type[GEOp], str]] = [
    (una.AbsOp, "Abs"), (una.CeilOp, "Ceil"), (una.FloorOp, "Floor"), (una.RoundOp, "Round"),
    (una.SignOp, "Sign"), (una.NegOp, "Neg"), (una.ReciprocalOp, "Reciprocal"),
    (una.SqrtOp, "Sqrt"), (una.ExpOp, "Exp"), (una.LogOp, "Log"), (una.ErfOp, "Erf"),
    (una.SinOp, "Sin"), (una.CosOp, "Cos"), (una.TanOp, "Tan"), (una.AtanOp, "Atan"),
    (una.AsinOp, "Asin"), (una.AcosOp, "Acos"), (una.SinhOp, "Sinh"), (una.CoshOp, "Cosh"),
    (una.AsinhOp, "Asinh"), (una.AcoshOp, "Acosh"), (una.AtanhOp, "Atanh"),
    (una.IsNanOp, "IsNaN"), (una.IsInfOp, "IsInf"), (act.TanhOp, "Tanh"),
    (act.SigmoidOp, "Sigmoid"), (act.ReluOp, "Relu"), (act.HardSwishOp, "HardSwish"),
    (act.SoftplusOp, "Softplus"), (act.SoftsignOp, "Softsign"), (act.MishOp, "Mish"),
]  # fmt: skip

BINARY: list[tuple[type[GEOp], str]] = [
    (bin_.AddOp, "Add"), (bin_.SubOp, "Sub"), (bin_.MulOp, "Mul"), (bin_.DivOp, "Div"),
    (bin_.PreluOp, "PRelu"), (bin_.EqualOp, "Equal"), (bin_.LessOp, "Less"),
    (bin_.LessEqualOp, "LessOrEqual"), (bin_.GreaterOp, "Greater"),
    (bin_.GreaterEqualOp, "GreaterOrEqual"),
]  # fmt: skip

INTEGER: list[tuple[type[GEOp], str, dict[str, int]]] = [
    (bin_.ModOp, "Mod", {}),
    (bin_.FmodOp, "Mod", {"fmod": 1}),
    (bin_.BitwiseAndOp, "BitwiseAnd", {}),
    (bin_.BitwiseOrOp, "BitwiseOr", {}),
    (bin_.BitwiseXorOp, "BitwiseXor", {}),
    (bin_.MaximumOp, "Max", {}),
    (bin_.MinimumOp, "Min", {}),
    (bin_.PowOp, "Pow", {}),
]

WITH_PARAMETERS: list[tuple[type[GEOp], str, dict[str, Any]]] = [
    (act.LeakyReluOp, "LeakyRelu", {"alpha": 0.25}),
    (act.EluOp, "Elu", {"alpha": 0.5}),
    (act.CeluOp, "Celu", {"alpha": 2.0}),
    (act.HardSigmoidOp, "HardSigmoid", {"alpha": 0.25, "beta": 0.5}),
    (act.SeluOp, "Selu", {"alpha": 1.5, "beta": 1.25}),
    (act.GeluOp, "Gelu", {"approximate": "none"}),
    (act.GeluOp, "Gelu", {"approximate": "tanh"}),
]


@pytest.mark.parametrize(("op_class", "onnx_type"), UNARY)
def test_unary_ops_are_those_of_onnx(op_class: type[GEOp], onnx_type: str) -> None:
    x = random(F32, 3, 4)
    (found,) = run(op_class, x)
    assert_same(found, reference(onnx_type, x), found.dtype, ulps=4)


@pytest.mark.parametrize(("op_class", "onnx_type"), BINARY)
def test_binary_ops_are_those_of_onnx(op_class: type[GEOp], onnx_type: str) -> None:
    x, y = random(F32, 2, 3, 4), random(F32, 3, 1)
    (found,) = run(op_class, x, y)
    assert_same(found, reference(onnx_type, x, y), found.dtype)


@pytest.mark.parametrize(("op_class", "onnx_type", "attributes"), INTEGER)
def test_integer_ops_are_those_of_onnx(
    op_class: type[GEOp], onnx_type: str, attributes: dict[str, int]
) -> None:
    x, y = random(np.int32, 3, 4), random(np.int32, 4, low=1)
    (found,) = run(op_class, x, y)
    assert_same(found, reference(onnx_type, x, y, **attributes), np.int32)


@pytest.mark.parametrize(("op_class", "onnx_type", "parameters"), WITH_PARAMETERS)
def test_parameters_reach_the_kernel(
    op_class: type[GEOp], onnx_type: str, parameters: dict[str, Any]
) -> None:
    x = random(F32, 3, 4)
    (found,) = run(op_class, x, **parameters)
    named = {"gamma" if (onnx_type, name) == ("Selu", "beta") else name: value
             for name, value in parameters.items()}  # fmt: skip
    assert_same(found, reference(onnx_type, x, **named), F32, ulps=4, scale=1)


def test_ops_without_a_name_in_onnx() -> None:
    x = random(F32, 8)
    sigmoid = 1 / (1 + np.exp(-x.astype(np.float64)))
    scaled = 1 / (1 + np.exp(-1.5 * x.astype(np.float64)))
    assert_same(run(act.SiluOp, x)[0], x * sigmoid, F32, ulps=4)
    assert_same(run(act.QuickGeluOp, x, alpha=1.5)[0], x * scaled, F32, ulps=4)
    assert_same(run(una.RsqrtOp, np.abs(x))[0], np.abs(x.astype(np.float64)) ** -0.5, F32)


def test_truth_functions() -> None:
    a, b = random(np.bool_, 3, 1), random(np.bool_, 1, 4)
    np.testing.assert_array_equal(run(bin_.AndOp, a, b)[0], a & b)
    np.testing.assert_array_equal(run(bin_.OrOp, a, b)[0], a | b)
    np.testing.assert_array_equal(run(bin_.XorOp, a, b)[0], a ^ b)
    np.testing.assert_array_equal(run(una.LogicalNotOp, a)[0], ~a)


def test_bits_of_integers_invert() -> None:
    x = random(np.int8, 5)
    np.testing.assert_array_equal(run(una.BitwiseNotOp, x)[0], ~x)


@pytest.mark.parametrize("limits", [(True, True), (True, False), (False, True), (False, False)])
def test_clip_takes_each_limit_or_none(limits: tuple[bool, bool]) -> None:
    x = random(F32, 3, 4)
    low, high = np.asarray(-0.5, F32), np.asarray(0.5, F32)
    given_: list[Array | None] = [low if limits[0] else None, high if limits[1] else None]
    (found,) = run(ClipOp, x, *given_)
    assert_same(found, reference("Clip", x, *given_), F32)


def test_select_broadcasts_all_three() -> None:
    condition, a, b = random(np.bool_, 3, 1), random(F32, 4), random(F32, 2, 1, 1)
    (found,) = run(SelectOp, condition, a, b)
    assert_same(found, np.where(condition, a, b), F32)


@pytest.mark.parametrize(("element_type", "dtype"), [(f16, F16), (i32, np.dtype(np.int32))])
def test_cast_gives_the_type_asked_for(element_type: Any, dtype: np.dtype[Any]) -> None:
    x = 10 * random(F32, 3, 4)
    (found,) = run(CastOp, x, element_type=element_type)
    assert_same(found, x.astype(dtype), dtype)


@given(
    st.lists(st.sampled_from([1, 2, 3]), max_size=3), st.lists(st.sampled_from([1, 2]), max_size=3)
)
def test_broadcast_shapes_are_those_of_numpy(first: list[int], second: list[int]) -> None:
    try:
        expected = np.broadcast_shapes(tuple(first), tuple(second))
    except ValueError:
        with pytest.raises(VerifyException, match="expected shapes that broadcast"):
            bin_.AddOp(value(np.ones(first, F32)), value(np.ones(second, F32)))
        return
    (found,) = run(bin_.AddOp, np.ones(first, F32), np.ones(second, F32))
    assert found.shape == expected


def test_in_place_needs_the_type_of_the_result() -> None:
    x, y = value(random(F32, 3, 4)), value(random(F32, 4))
    assert bin_.AddOp(x, y).in_place_pairs() == ((0, 0),)
    assert bin_.AddOp(y, x).in_place_pairs() == ((1, 0),)
    assert bin_.LessOp(x, x).in_place_pairs() == ()
    assert una.ExpOp(x).in_place_pairs() == ((0, 0),)


def test_table_registers_no_op_twice() -> None:
    assert not PLAIN.keys() & WITH_ALPHA.keys()
