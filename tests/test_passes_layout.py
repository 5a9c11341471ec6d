"""Transposes move only where that saves bytes, and values stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.ge.activations import ReluOp
from ge_dialect.ge.binary import AddOp, MulOp
from ge_dialect.ge.constants import array_constant
from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.reductions import ReduceMeanOp, ReduceSumOp, SoftmaxOp
from ge_dialect.ge.types import byte_size, value_shape
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes import statistics
from ge_dialect.passes.layout.agnostic import inverse, moves_data
from ge_dialect.passes.layout.optimize_layout import NAME, OptimizeLayoutPass
from ge_dialect.passes.pipelines import OptimizePipeline
from tests.exporter_matrix import ZOO
from tests.kernel_reference import F32
from tests.test_passes_raise import module_of

Step = Callable[[SSAValue, SSAValue], SSAValue]


def moved(module: ModuleOp) -> tuple[int, int]:
    """Bytes and number of the transposes of a module that move data."""
    sizes = [
        2 * (byte_size(op.result.type) or 0)
        for op in module.walk()
        if isinstance(op, TransposeOp) and moves_data(value_shape(op.result), op.permutation)
    ]
    return sum(sizes), len(sizes)


def of_last(value: SSAValue) -> SSAValue:
    """A constant along the last dimension."""
    last = value_shape(value)[-1]
    assert isinstance(last, int)
    return array_constant(np.arange(last, dtype=F32)).result


STEPS: dict[str, Step] = {
    "relu": lambda x, y: ReluOp(x).result,
    "sum": lambda x, y: AddOp(x, y).result,
    "bias": lambda x, y: AddOp(x, of_last(x)).result,
    "softmax": lambda x, y: SoftmaxOp(x, 1).result,
    "norm": lambda x, y: LayerNormOp(x).result,
    "mean": lambda x, y: MulOp(x, ReduceMeanOp(x, [0, 2]).result).result,
    "concat": lambda x, y: SplitOp(ConcatOp([y, x], 2).result, 2, [2, 2]).results[1],
    "slice": lambda x, y: AddOp(SliceOp(x, [1], [2], [1]).result, x).result,
    "turn": lambda x, y: TransposeOp(TransposeOp(x, (0, 2, 1, 3)).result, (0, 2, 1, 3)).result,
    "weights": lambda x, y: (
        MulOp(
            x, ReshapeOp(ReduceSumOp(x, [1, 3], keepdims=False).result, (2, 1, 2, 1)).result
        ).result
    ),
}
"""Each keeps the shape, all of whose dimensions are 2."""


@given(
    perm=st.permutations(range(4)),
    names=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6),
    other_turned=st.booleans(),
    back=st.booleans(),
)
@settings(max_examples=80)
def test_values_stay_and_transposes_never_grow(
    perm: list[int], names: Sequence[str], other_turned: bool, back: bool
) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((2, 2, 2, 2)).astype(F32) for _ in range(2)]

    def build(x: Sequence[SSAValue]) -> SSAValue:
        value = TransposeOp(x[0], perm).result
        other = TransposeOp(x[1], perm).result if other_turned else x[1]
        for name in names:
            value = STEPS[name](value, other)
        return TransposeOp(value, inverse(perm)).result if back else value

    module = module_of(arrays, build)
    (wanted,), before = run_function(module, arrays), moved(module)
    OptimizeLayoutPass().apply(Context(), module)
    module.verify()
    (found,), after = run_function(module, arrays), moved(module)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    assert after[0] <= before[0] and after[1] <= before[1]
    if back and set(names) <= {"relu", "softmax", "bias"}:
        assert after == (0, 0)


def test_no_more_ops_than_allowed_change_their_layout() -> None:
    array = np.ones((2, 3), F32)

    def build(x: Sequence[SSAValue]) -> SSAValue:
        value = TransposeOp(x[0], (1, 0)).result
        for _ in range(3):
            value = ReluOp(value).result
        return TransposeOp(value, (1, 0)).result

    for most, left in ((2, 2), (3, 0)):
        module = module_of([array], build)
        with statistics.collect() as counts:
            OptimizeLayoutPass(most).apply(Context(), module)
        assert moved(module)[1] == left
        assert counts[NAME, "MoveTranspose"] == (not left)
        assert counts[NAME, "bytes saved"] == (0 if left else 96)


@pytest.mark.skipif(not ZOO.is_dir(), reason="the zoo of exported graphs is not here")
@pytest.mark.parametrize(
    ("name", "fewer"),
    [
        ("swin.ts-static", True),
        ("convnext.dynamo-static", True),
        ("clip.ts-static", True),
        ("mamba.ts-static", False),
        ("whisper-encoder.ts-static", False),
        ("yolo-head.ts-static", False),
    ],
)
def test_models_of_the_zoo_lose_transposes(name: str, fewer: bool) -> None:
    module = import_onnx(str(ZOO / name / "model.onnx"))
    for pass_ in OptimizePipeline().passes():
        if pass_.name == NAME:
            break
        pass_.apply(Context(), module)
    before = moved(module)
    OptimizeLayoutPass().apply(Context(), module)
    after = moved(module)
    assert after[0] <= before[0] and after[1] <= before[1]
    assert (after[1] < before[1]) or not fewer
