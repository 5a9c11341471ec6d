"""`ge-simplify-algebra`: exact rules change no bit of any value; others ask for leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.activations import ReluOp, SigmoidOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import (
    AddOp,
    AndOp,
    BitwiseAndOp,
    BitwiseOrOp,
    BitwiseXorOp,
    DivOp,
    EqualOp,
    FmodOp,
    GreaterEqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
    MaximumOp,
    MinimumOp,
    ModOp,
    MulOp,
    OrOp,
    PowOp,
    SubOp,
    XorOp,
)
from ge_dialect.ge.constants import array_constant
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.elementwise import ClipOp, SelectOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.reductions import (
    ReduceL1Op,
    ReduceMaxOp,
    ReduceProdOp,
    ReduceSumOp,
    ReduceSumSquareOp,
    SoftmaxOp,
)
from ge_dialect.ge.unary import (
    AbsOp,
    BitwiseNotOp,
    CeilOp,
    ExpOp,
    FloorOp,
    LogicalNotOp,
    LogOp,
    NegOp,
    ReciprocalOp,
    RoundOp,
    RsqrtOp,
    SqrtOp,
)
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.algebra.common import FLAGS, MASKS
from ge_dialect.passes.algebra.simplify_algebra import RULES, SimplifyAlgebraPass
from tests.kernel_reference import F16, F32, Array
from tests.test_passes_raise import module_of, ops_of

Build = Callable[[Sequence[SSAValue]], GEOp]
I8 = np.dtype(np.int8)
U8 = np.dtype(np.uint8)

EVERY_F16 = np.arange(65536, dtype=np.uint16).view(F16)
EVERY_BF16 = np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16)
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.5, 1e-45, -1e-38, 3.4e38, -3.4e38, np.inf, -np.inf, np.nan, 7.25], F32
)
EVERY_I8 = np.arange(-128, 128).astype(I8)
PAIRS_I8 = [array.astype(I8).reshape(-1) for array in np.mgrid[-128:128, -128:128]]
TRUTHS = [np.array([0, 0, 1, 1], np.bool_), np.array([0, 1, 0, 1], np.bool_)]


def c(value: Any, like: SSAValue | np.dtype[Any] = F32) -> GEOp:
    """A constant, of a numpy type or of the type of a value."""
    from ge_dialect.ge.dtypes import to_numpy
    from ge_dialect.ge.types import element_type_of

    dtype = to_numpy(element_type_of(like)) if isinstance(like, SSAValue) else like
    return array_constant(np.asarray(value).astype(dtype))


def squared(op: GEOp) -> GEOp:
    return MulOp(op, op)


def bits(array: Array) -> bytes:
    """The bytes of an array, all NaN alike."""
    if array.dtype.kind == "b" or array.dtype.kind in "iu":
        return array.tobytes()
    with np.errstate(invalid="ignore"):  # NaN that signals
        wide = array.astype(np.float64)
    return np.where(np.isnan(wide), np.nan, wide).tobytes()


def simplified(
    arrays: Sequence[Array], build: Build, fast_math: Sequence[str] = ()
) -> tuple[ModuleOp, list[str]]:
    module = module_of(arrays, lambda x: SSAValue.get(build(x)))
    (before,) = run_function(module, arrays)
    SimplifyAlgebraPass(tuple(fast_math)).apply(Context(), module)
    module.verify()
    (after,) = run_function(module, arrays)
    if not fast_math:
        assert before.dtype == after.dtype and bits(before) == bits(after)
    return module, [op.name.removeprefix("ge.") for op in ops_of(module)]


ON_FLOATS: dict[str, tuple[Build, list[str]]] = {
    "x + -y": (lambda x: AddOp(x[0], NegOp(x[1])), ["sub"]),
    "-y + x": (lambda x: AddOp(NegOp(x[1]), x[0]), ["sub"]),
    "x - -y": (lambda x: SubOp(x[0], NegOp(x[1])), ["add"]),
    "-x * -y": (lambda x: MulOp(NegOp(x[0]), NegOp(x[1])), ["mul"]),
    "-x / -y": (lambda x: DivOp(NegOp(x[0]), NegOp(x[1])), ["div"]),
    "|x| * |x|": (lambda x: squared(AbsOp(x[0])), ["mul"]),
    "|-x|": (lambda x: AbsOp(NegOp(x[0])), ["abs"]),
    "x * -1": (lambda x: MulOp(x[0], c(-1, x[0])), ["neg"]),
    "x / -1": (lambda x: DivOp(x[0], c(-1, x[0])), ["neg"]),
    "-0.0 - x": (lambda x: SubOp(c(-0.0, x[0]), x[0]), ["neg"]),
    "x / 8": (lambda x: DivOp(x[0], c(8, x[0])), ["mul"]),
    "x / -0.25": (lambda x: DivOp(x[0], c(-0.25, x[0])), ["mul"]),
    "x * 4 * -2": (lambda x: MulOp(MulOp(x[0], c(4, x[0])), c(-2, x[0])), ["mul"]),
    "max(x, -inf)": (lambda x: MaximumOp(x[0], c(-np.inf, x[0])), []),
    "min(inf, x)": (lambda x: MinimumOp(c(np.inf, x[0]), x[0]), []),
    "clip(x, -inf, 2)": (
        lambda x: ClipOp(x[0], c(-np.inf, x[0]), c(2, x[0])),
        ["clip"],
    ),
    "clip(x, -inf)": (lambda x: ClipOp(x[0], c(-np.inf, x[0])), []),
    "clip(clip(x))": (
        lambda x: ClipOp(ClipOp(x[0], c(0, x[0]), c(6, x[0])), c(-1, x[0]), c(4, x[0])),
        ["clip"],
    ),
    "clip(clip(x)) apart": (
        lambda x: ClipOp(ClipOp(x[0], c(5, x[0])), None, c(4, x[0])),
        ["clip"],
    ),
    "x ** 1": (lambda x: PowOp(x[0], c(1, x[0])), []),
    "x ** 0": (lambda x: PowOp(x[0], c(0, x[0])), []),
    "1 / x": (lambda x: DivOp(c(1, x[0]), x[0]), ["reciprocal"]),
    "relu(|x|)": (lambda x: ReluOp(AbsOp(x[0])), ["abs"]),
    "relu(exp(x))": (lambda x: ReluOp(ExpOp(x[0])), ["exp"]),
    "relu(sigmoid(x))": (lambda x: ReluOp(SigmoidOp(x[0])), ["sigmoid"]),
    "floor(round(x))": (lambda x: FloorOp(RoundOp(x[0])), ["round"]),
    "round(ceil(x))": (lambda x: RoundOp(CeilOp(x[0])), ["ceil"]),
}
NEAR_MISSES: dict[str, Build] = {
    "x + 0.0": lambda x: AddOp(x[0], c(0.0, x[0])),
    "0.0 - x": lambda x: SubOp(c(0.0, x[0]), x[0]),
    "-(x - y)": lambda x: NegOp(SubOp(x[0], x[1])),
    "x * 0": lambda x: MulOp(x[0], c(0.0, x[0])),
    "x - x": lambda x: SubOp(x[0], x[0]),
    "x / x": lambda x: DivOp(x[0], x[0]),
    "x / 3": lambda x: DivOp(x[0], c(3, x[0])),
    "x * 0.5 * 0.5": lambda x: MulOp(MulOp(x[0], c(0.5, x[0])), c(0.5, x[0])),
    "x * 0.5 * 2": lambda x: MulOp(MulOp(x[0], c(0.5, x[0])), c(2, x[0])),
    "x + 1 - 1": lambda x: SubOp(AddOp(x[0], c(1, x[0])), c(1, x[0])),
    "x + y - y": lambda x: SubOp(AddOp(x[0], x[1]), x[1]),
    "x * y / y": lambda x: DivOp(MulOp(x[0], x[1]), x[1]),
    "max(x, inf)": lambda x: MaximumOp(x[0], c(np.inf, x[0])),
    "log(exp(x))": lambda x: LogOp(ExpOp(x[0])),
    "exp(log(x))": lambda x: ExpOp(LogOp(x[0])),
    "sqrt(x * x)": lambda x: SqrtOp(MulOp(x[0], x[0])),
    "sqrt(x) ** 2": lambda x: squared(SqrtOp(x[0])),
    "1 / (1 / x)": lambda x: ReciprocalOp(ReciprocalOp(x[0])),
    "x * (1 / y)": lambda x: MulOp(x[0], ReciprocalOp(x[1])),
    "x ** 0.5": lambda x: PowOp(x[0], c(0.5, x[0])),
    "x / sqrt(y)": lambda x: DivOp(x[0], SqrtOp(x[1])),
    "relu(x * x)": lambda x: ReluOp(MulOp(x[0], x[0])),
    "not x < y": lambda x: LogicalNotOp(LessOp(x[0], x[1])),
    "x <= x": lambda x: LessEqualOp(x[0], x[0]),
    "clip(clip(x)) of both zeros": lambda x: ClipOp(
        ClipOp(x[0], c(-0.0, x[0])), c(0.0, x[0]), c(4, x[0])
    ),
}


def floats(dtype: Any) -> list[Array]:
    """Every value of a type with a shuffled copy, or pairs of special f32."""
    if dtype == F32:
        return [array.reshape(-1).astype(F32) for array in np.meshgrid(SPECIAL, SPECIAL)]
    every = EVERY_F16 if dtype == F16 else EVERY_BF16
    return [every, np.random.default_rng(0).permutation(every)]


@pytest.mark.parametrize("dtype", [F16, np.dtype(ml_dtypes.bfloat16), F32], ids=str)
@pytest.mark.parametrize("name", ON_FLOATS)
def test_exact_rules_hold_for_every_float(name: str, dtype: Any) -> None:
    build, wanted = ON_FLOATS[name]
    _, found = simplified(floats(dtype), build)
    if name != "x ** 0" or dtype == F32:  # of 65536 elements the constant is too large
        assert found == wanted


@pytest.mark.parametrize("dtype", [F16, F32], ids=str)
@pytest.mark.parametrize("name", NEAR_MISSES)
def test_what_is_not_exact_stays(name: str, dtype: Any) -> None:
    arrays = floats(dtype)
    _, found = simplified(arrays, NEAR_MISSES[name])
    plain = module_of(arrays, lambda x: SSAValue.get(NEAR_MISSES[name](x)))
    assert found == [op.name.removeprefix("ge.") for op in ops_of(plain)]


def test_the_root_of_narrow_types_is_rounded_once_more() -> None:
    build: Build = lambda x: ReciprocalOp(SqrtOp(x[0]))  # noqa: E731
    assert simplified([SPECIAL], build)[1] == ["rsqrt"]
    assert simplified([EVERY_F16], build)[1] == ["sqrt", "reciprocal"]


ON_INTEGERS: dict[str, tuple[Build, list[str]]] = {
    "x + 100 - -100": (lambda x: SubOp(AddOp(x[0], c(100, I8)), c(-100, I8)), ["add"]),
    "x * 77 * 3": (lambda x: MulOp(MulOp(x[0], c(77, I8)), c(3, I8)), ["mul"]),
    "x & 12 & 10": (lambda x: BitwiseAndOp(BitwiseAndOp(x[0], c(12, I8)), c(10, I8)), ["and"]),
    "x + y - y": (lambda x: SubOp(AddOp(x[0], x[1]), x[1]), []),
    "x - y + y": (lambda x: AddOp(SubOp(x[0], x[1]), x[1]), []),
    "x * 0": (lambda x: MulOp(x[0], c(0, I8)), []),
    "x & 0": (lambda x: BitwiseAndOp(x[0], c(0, I8)), []),
    "x & -1": (lambda x: BitwiseAndOp(x[0], c(-1, I8)), []),
    "x | -1": (lambda x: BitwiseOrOp(x[0], c(-1, I8)), []),
    "x ^ 0": (lambda x: BitwiseXorOp(x[0], c(0, I8)), []),
    "x ^ -1": (lambda x: BitwiseXorOp(x[0], c(-1, I8)), ["bitwise_not"]),
    "x % 1": (lambda x: ModOp(x[0], c(1, I8)), []),
    "fmod(x, 1)": (lambda x: FmodOp(x[0], c(1, I8)), []),
    "0 - x": (lambda x: SubOp(c(0, I8), x[0]), ["neg"]),
    "-(x - y)": (lambda x: NegOp(SubOp(x[0], x[1])), ["sub"]),
    "-x * -y": (lambda x: MulOp(NegOp(x[0]), NegOp(x[1])), ["mul"]),
    "x * y + x * 5": (lambda x: AddOp(MulOp(x[0], x[1]), MulOp(x[0], c(5, I8))), ["add", "mul"]),
    "x < -128": (lambda x: LessOp(x[0], c(-128, I8)), []),
    "x >= -128": (lambda x: GreaterEqualOp(x[0], c(-128, I8)), []),
    "x > 127": (lambda x: GreaterOp(x[0], c(127, I8)), []),
    "not x < y": (lambda x: LogicalNotOp(LessOp(x[0], x[1])), ["greater_equal"]),
    "min(x, 127)": (lambda x: MinimumOp(x[0], c(127, I8)), []),
    "x ** 1": (lambda x: PowOp(x[0], c(1, I8)), []),
    "x / y * y": (lambda x: MulOp(DivOp(x[0], x[1]), x[1]), ["div", "mul"]),
    "-x / -y": (lambda x: DivOp(NegOp(x[0]), NegOp(x[1])), ["neg", "neg", "div"]),
    "relu(|x|)": (lambda x: ReluOp(AbsOp(x[0])), ["abs", "relu"]),
}


@pytest.mark.parametrize("name", ON_INTEGERS)
def test_exact_rules_hold_for_all_pairs_of_integers(name: str) -> None:
    build, wanted = ON_INTEGERS[name]
    _, found = simplified(PAIRS_I8, build)
    assert [op.replace("bitwise_and", "and") for op in found] == wanted


def test_unsigned_integers_are_never_negative() -> None:
    x = np.arange(256).astype(U8)
    assert simplified([x], lambda x: LessOp(x[0], c(0, U8)))[1] == []
    assert simplified([x], lambda x: AddOp(AddOp(x[0], c(200, U8)), c(99, U8)))[1] == ["add"]


def _on_truths(x: Sequence[SSAValue]) -> dict[str, tuple[GEOp, list[str]]]:
    true, false = (array_constant(np.asarray(v, np.bool_)) for v in (True, False))
    a, b = x
    return {
        "a and false": (AndOp(a, false), []),
        "a or true": (OrOp(a, true), []),
        "a xor true": (XorOp(a, true), ["logical_not"]),
        "a and not a": (AndOp(a, LogicalNotOp(a)), []),
        "not a or a": (OrOp(LogicalNotOp(a), a), []),
        "a xor not a": (XorOp(a, LogicalNotOp(a)), []),
        "a and (a or b)": (AndOp(a, OrOp(a, b)), []),
        "(a and b) or b": (OrOp(AndOp(a, b), b), []),
        "a and (a and b)": (AndOp(a, AndOp(a, b)), ["and"]),
        "a = true": (EqualOp(a, true), []),
        "a = false": (EqualOp(a, false), ["logical_not"]),
        "select(a, true, false)": (SelectOp(a, true, false), []),
        "select(a, false, true)": (SelectOp(a, false, true), ["logical_not"]),
        "select(a, select(a, b, a), b)": (SelectOp(a, SelectOp(a, b, a), b), ["select"]),
        "a and not b": (AndOp(a, LogicalNotOp(b)), ["logical_not", "and"]),
        "a and (b or b)": (AndOp(a, OrOp(b, b)), ["or", "and"]),
    }


_NAMES = list(_on_truths([array_constant(array).result for array in TRUTHS]))


@pytest.mark.parametrize("name", _NAMES)
def test_truth_tables(name: str) -> None:
    wanted: list[str] = []

    def build(x: Sequence[SSAValue]) -> GEOp:
        op, ops = _on_truths(x)[name]
        wanted.extend(ops)
        return op

    _, found = simplified(TRUTHS, build)
    assert found == wanted


COLUMN = np.array([[0.0], [-0.0], [np.nan], [-2.0]], F32)
PIECES: dict[str, tuple[Build, list[str]]] = {
    "max": (lambda x: ReduceMaxOp(x[0], [1]), ["reshape"]),
    "prod": (lambda x: ReduceProdOp(x[0], [1], False), ["reshape"]),
    "l1": (lambda x: ReduceL1Op(x[0], [1]), ["reshape", "abs"]),
    "squares": (lambda x: ReduceSumSquareOp(x[0], [1]), ["reshape", "mul"]),
    "sum": (lambda x: ReduceSumOp(x[0], [1]), ["reduce_sum"]),
    "max of four": (lambda x: ReduceMaxOp(x[0], [0]), ["reduce_max"]),
    "undo split": (lambda x: ConcatOp(SplitOp(x[0], 0, [1, 3]).results, 0), []),
    "swapped": (lambda x: ConcatOp(SplitOp(x[0], 0, [1, 3]).results[::-1], 0), ["split", "concat"]),
    "undo concat": (
        lambda x: MulOp(*SplitOp(ConcatOp([x[0], x[0]], 1), 1, [1, 1]).results),
        ["mul"],
    ),
    "other sizes": (
        lambda x: ConcatOp(SplitOp(ConcatOp([x[0], x[0]], 0), 0, [3, 5]).results[::-1], 0),
        ["concat", "split", "concat"],
    ),
    "slice of concat": (
        lambda x: SliceOp(ConcatOp([x[0], AbsOp(x[0])], 0), [1], [3], [0]),
        ["slice"],
    ),
    "slice across": (
        lambda x: SliceOp(ConcatOp([x[0], x[0]], 0), [1], [5], [0]),
        ["concat", "slice"],
    ),
    "slice of slice": (lambda x: SliceOp(SliceOp(x[0], [1], [4]), [1], [-1]), ["slice"]),
    "concat of concat": (
        lambda x: ConcatOp([ConcatOp([x[0], x[0]], 0), SliceOp(x[0], [0], [0])], 0),
        ["concat"],
    ),
}


@pytest.mark.parametrize("name", PIECES)
def test_pieces(name: str) -> None:
    build, wanted = PIECES[name]
    _, found = simplified([COLUMN], build)
    assert found == wanted


FAST: dict[str, tuple[Build, str, list[str]]] = {
    "x + 0.0": (NEAR_MISSES["x + 0.0"], "no-signed-zeros", []),
    "0.0 - x": (NEAR_MISSES["0.0 - x"], "no-signed-zeros", ["neg"]),
    "-(x - y)": (NEAR_MISSES["-(x - y)"], "no-signed-zeros", ["sub"]),
    "x * 0": (NEAR_MISSES["x * 0"], "no-nans,no-infs,no-signed-zeros", []),
    "x - x": (NEAR_MISSES["x - x"], "no-nans,no-infs", []),
    "x / x": (NEAR_MISSES["x / x"], "no-nans,no-infs", []),
    "x <= x": (NEAR_MISSES["x <= x"], "no-nans", []),
    "max(x, inf)": (NEAR_MISSES["max(x, inf)"], "no-nans", []),
    "not x < y": (NEAR_MISSES["not x < y"], "no-nans", ["greater_equal"]),
    "log(exp(x))": (NEAR_MISSES["log(exp(x))"], "reassociate,no-infs", []),
    "exp(log(x))": (NEAR_MISSES["exp(log(x))"], "reassociate,no-nans", []),
    "sqrt(x * x)": (NEAR_MISSES["sqrt(x * x)"], "reassociate,no-infs", ["abs"]),
    "sqrt(x) ** 2": (NEAR_MISSES["sqrt(x) ** 2"], "reassociate,no-nans", []),
    "x * y / y": (NEAR_MISSES["x * y / y"], "reassociate,no-nans,no-infs", []),
    "x + y - y": (NEAR_MISSES["x + y - y"], "reassociate,no-infs,no-signed-zeros", []),
    "x + 1 - 1": (NEAR_MISSES["x + 1 - 1"], "reassociate", ["add"]),
    "x * 0.5 * 0.5": (NEAR_MISSES["x * 0.5 * 0.5"], "reassociate", ["mul"]),
    "x * y + x * z": (
        lambda x: AddOp(MulOp(x[0], x[1]), MulOp(x[0], AbsOp(x[1]))),
        "reassociate,no-nans,no-infs",
        ["abs", "add", "mul"],
    ),
    "sum(softmax(x))": (
        lambda x: ReduceSumOp(SoftmaxOp(x[0], 0), [0]),
        "reassociate,no-nans",
        [],
    ),
    "x / 3": (NEAR_MISSES["x / 3"], "reciprocal", ["mul"]),
    "x * (1 / y)": (NEAR_MISSES["x * (1 / y)"], "reciprocal", ["div"]),
    "x / sqrt(y)": (NEAR_MISSES["x / sqrt(y)"], "reciprocal", ["rsqrt", "mul"]),
    "1 / (1 / x)": (NEAR_MISSES["1 / (1 / x)"], "reciprocal,no-infs", []),
    "x ** 0.5": (NEAR_MISSES["x ** 0.5"], "reassociate,no-infs,no-signed-zeros", ["sqrt"]),
}


@pytest.mark.parametrize("name", FAST)
def test_rules_say_which_flag_they_need_and_which_allowed_them(name: str) -> None:
    build, flags, wanted = FAST[name]
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.5, 4, 16).astype(F32), rng.uniform(0.5, 4, 16).astype(F32)]
    with remarks.collect() as before:
        _, unchanged = simplified(arrays, build)
    assert [remark.wanted for remark in before.remarks] == [f"fast-math={flags}"]
    assert len(unchanged) > len(wanted) or set(unchanged) != set(wanted)

    module = module_of(arrays, lambda x: SSAValue.get(build(x)))
    (reference,) = run_function(module, arrays)
    with remarks.collect() as after:
        SimplifyAlgebraPass(tuple(flags.split(","))).apply(Context(), module)
    assert [op.name.removeprefix("ge.") for op in ops_of(module)] == wanted
    assert any(f"allowed by fast-math={flags}" in remark.message for remark in after.remarks)
    (found,) = run_function(module, arrays)
    np.testing.assert_allclose(found, reference, rtol=2e-6, atol=2e-6)


def test_one_flag_of_several_is_not_enough() -> None:
    build = NEAR_MISSES["x * 0"]
    _, found = simplified([SPECIAL], build, ["no-nans", "no-infs"])
    assert found == ["mul"]


def test_contraction_rounds_a_narrow_sum_once() -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape).astype(F16) for shape in ((4, 8), (8, 3), (3,))]
    build: Build = lambda x: AddOp(MatmulOp(x[0], x[1]), x[2])  # noqa: E731
    assert simplified(arrays, build)[1] == ["matmul", "add"]
    assert simplified(arrays, build, ["contract"])[1] == ["gemm"]
    wide = [array.astype(F32) for array in arrays]
    assert simplified(wide, build, ["contract"])[1] == ["matmul", "add"]


def test_an_unknown_flag_is_an_error() -> None:
    with pytest.raises(GEError, match="got 'faster'"):
        SimplifyAlgebraPass(("faster",)).apply(Context(), ModuleOp([]))


def test_every_rule_is_tested_for_the_flags_it_declares() -> None:
    assert {flag for rule in RULES for flag in rule.flags} == set(FLAGS) - {MASKS}
    declared = {",".join(rule.flags) for rule in RULES if rule.flags}
    assert declared - {"contract"} == {flags for _, flags, _ in FAST.values()}


def test_shared_intermediate_values_are_left_alone() -> None:
    def build(x: Sequence[SSAValue]) -> GEOp:
        root = SqrtOp(x[0])
        return AddOp(ReciprocalOp(root), root)

    assert simplified([SPECIAL], build)[1] == ["sqrt", "reciprocal", "add"]
    assert RsqrtOp.name not in simplified([SPECIAL], build)[1]
    assert simplified([EVERY_I8], lambda x: BitwiseNotOp(x[0]))[1] == ["bitwise_not"]
