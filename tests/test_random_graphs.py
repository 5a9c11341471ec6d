"""Random graphs: every pass keeps the values, and every plan gives them in any legal order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from ge_dialect.ge.activations import GeluOp, ReluOp, SigmoidOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import AddOp, MaximumOp, MulOp, SubOp
from ge_dialect.ge.constants import array_constant
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.movement import ReshapeOp, TransposeOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp
from ge_dialect.ge.reductions import ReduceMeanOp, SoftmaxOp
from ge_dialect.ge.types import static_shape, tensor_type
from ge_dialect.ge.unary import NegOp
from ge_dialect.interpreters.functions import run_function
from ge_dialect.lowering.assign_streams import distribute
from ge_dialect.lowering.bufferize import BufferizePass
from ge_dialect.lowering.dependencies import task_graph
from ge_dialect.lowering.insert_events import InsertEventsPass
from ge_dialect.lowering.memory.plan_memory import PlanMemoryPass
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.verify_plan import VerifyPlanPass
from ge_dialect.passes.pipelines import OptimizePipeline
from ge_dialect.tools.api import make_context
from ge_dialect.tools.runtime.executor import Executor

Array = npt.NDArray[Any]
N = 4
"""Every value is N x N, so that any two fit together."""

UNARY: tuple[Callable[[SSAValue], GEOp], ...] = (
    ReluOp,
    SigmoidOp,
    NegOp,
    GeluOp,
    lambda x: SoftmaxOp(x, -1),
    lambda x: LayerNormOp(x, axis=-1, epsilon=1e-5),
    lambda x: TransposeOp(x, (1, 0)),
)
BINARY: tuple[Callable[[SSAValue, SSAValue], GEOp], ...] = (
    AddOp,
    SubOp,
    MulOp,
    MaximumOp,
    MatmulOp,
)


def through_shapes(block: Block, value: SSAValue) -> GEOp:
    """A way through other shapes and back: reshape, concat with itself, slice, mean."""
    flat = ReshapeOp(value, (N * N,))
    double = ConcatOp([flat.result, flat.result], 0)
    half = SliceOp(double.result, (N * N,), (2 * N * N,))
    square = ReshapeOp(half.result, (N, N))
    mean = ReduceMeanOp(square.result, (1,))
    centred = SubOp(square.result, mean.result)
    block.add_ops([flat, double, half, square, mean])
    return centred


def grow(draw: st.DrawFn, block: Block, values: list[SSAValue]) -> GEOp:
    """Returns one more op on what is there already."""
    kind = draw(st.integers(0, 9))
    value = values[draw(st.integers(0, len(values) - 1))]
    if kind < 4:
        return UNARY[draw(st.integers(0, len(UNARY) - 1))](value)
    if kind < 8:
        other = values[draw(st.integers(0, len(values) - 1))]
        return BINARY[draw(st.integers(0, len(BINARY) - 1))](value, other)
    if kind == 8:
        return through_shapes(block, value)
    weights = np.random.default_rng(draw(st.integers(0, 99))).normal(size=(N, N))
    return array_constant(weights.astype(np.float32))


@st.composite
def graphs(draw: st.DrawFn) -> ModuleOp:
    """A function of two inputs with up to three outputs."""
    type_ = tensor_type(f32, (N, N))
    block = Block(arg_types=[type_, type_])
    values: list[SSAValue] = list(block.args)
    for _ in range(draw(st.integers(1, 14))):
        op = grow(draw, block, values)
        block.add_op(op)
        assert static_shape(op.results[0].type) == (N, N)
        values.append(op.results[0])
    picks = draw(st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=3))
    outputs = [values[-1], *(values[i] for i in picks)]
    block.add_op(ReturnOp(*outputs))
    function = FuncOp(
        "main",
        ([type_, type_], [type_] * len(outputs)),
        Region(block),
        arg_attrs=ArrayAttr([DictionaryAttr({"ge.name": StringAttr(n)}) for n in "ab"]),
    )
    module = ModuleOp([function])
    module.verify()
    return module


def close(got: Array, want: Array) -> bool:
    return bool(np.allclose(got, want, rtol=1e-4, atol=1e-5, equal_nan=True))


FEEDS = {
    name: np.random.default_rng(seed).normal(size=(N, N)).astype(np.float32)
    for seed, name in enumerate("ab")
}


@given(graphs())
@settings(max_examples=60)
def test_every_pass_keeps_the_values(module: ModuleOp) -> None:
    ctx = make_context()
    before = run_function(module, list(FEEDS.values()))
    for pass_ in OptimizePipeline().passes():
        pass_.apply(ctx, module)
        module.verify()
        after = run_function(module, list(FEEDS.values()))
        for got, want in zip(after, before, strict=True):
            assert close(got, want), pass_.name


@given(graphs(), st.data(), st.integers(0, 5))
@settings(max_examples=60)
def test_every_plan_gives_the_values_in_any_order(
    module: ModuleOp, data: st.DataObject, seed: int
) -> None:
    ctx = make_context()
    want = run_function(module, list(FEEDS.values()))
    OptimizePipeline().apply(ctx, module)
    BufferizePass(in_place_shared=data.draw(st.booleans())).apply(ctx, module)
    plan = plan_of(module)
    graph = task_graph(plan)
    # Any streams at all, not only those that the machine model finds worth it.
    chosen = [data.draw(st.integers(0, 2)) for _ in graph.tasks]
    numbers = {stream: number for number, stream in enumerate(dict.fromkeys(chosen))}
    distribute(plan, graph, [numbers[stream] for stream in chosen])
    for pass_ in (PlanMemoryPass(), InsertEventsPass(), VerifyPlanPass()):
        pass_.apply(ctx, module)
    outputs = Executor(module).run(FEEDS, schedule_seed=seed, poison=True)
    for got, expected in zip(outputs.values(), want, strict=True):
        assert close(got, expected)
