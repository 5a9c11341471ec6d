"""`ge-simplify-control-flow`: values stay to the bit, and passes work inside regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, f32, i1, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.parser import Parser
from xdsl.passes import PassPipeline

from ge_dialect.ge.activations import ReluOp
from ge_dialect.ge.binary import AddOp, DivOp, EqualOp, MulOp, SubOp
from ge_dialect.ge.constants import array_constant, int_constant
from ge_dialect.ge.structure import IfOp, LoopOp, YieldOp
from ge_dialect.ge.types import tensor_type
from ge_dialect.ge.unary import LogicalNotOp, NegOp
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.pipelines import OptimizePipeline
from ge_dialect.tools.api import make_context
from ge_dialect.universe import GE_UNIVERSE

Array = npt.NDArray[Any]
VECTOR, INDEX, TRUTH = tensor_type(f32, (2,)), tensor_type(i64, ()), tensor_type(i1, ())
X = np.array([-0.0, np.nan], np.float32)
Y = np.array([np.inf, 3.0], np.float32)

UNARY: tuple[Callable[[SSAValue], Any], ...] = (ReluOp, NegOp)
BINARY: tuple[Callable[[SSAValue, SSAValue], Any], ...] = (AddOp, SubOp, MulOp, DivOp)


class Grower:
    """Adds random ops to blocks; what it knows of values is their type."""

    def __init__(self, draw: st.DrawFn):
        self.draw = draw

    def pick(self, values: Sequence[SSAValue], type_: object) -> SSAValue:
        """One of the values of a type."""
        return self.draw(st.sampled_from([value for value in values if value.type == type_]))

    def fill(self, block: Block, outer: Sequence[SSAValue], depth: int) -> list[SSAValue]:
        """Adds up to four ops; returns all values that may be used after them."""
        values = [*outer, *block.args]
        for _ in range(self.draw(st.integers(0, 4))):
            for op in self.ops(values, depth):
                block.add_op(op)
                values += op.results
        return values

    def ops(self, values: Sequence[SSAValue], depth: int) -> list[Any]:
        kind = self.draw(st.integers(0, 9 if depth else 6))
        if kind < 2:
            return [self.draw(st.sampled_from(UNARY))(self.pick(values, VECTOR))]
        if kind < 4:
            op = self.draw(st.sampled_from(BINARY))
            return [op(self.pick(values, VECTOR), self.pick(values, VECTOR))]
        if kind == 4:
            return [array_constant(np.array(self.draw(st.booleans())))]
        if kind == 5:
            return [LogicalNotOp(self.pick(values, TRUTH))]
        if kind == 6:
            return [EqualOp(self.pick(values, INDEX), self.pick(values, INDEX))]
        return self.branch(values, depth) if kind == 7 else self.loop(values, depth)

    def branch(self, values: Sequence[SSAValue], depth: int) -> list[Any]:
        types = self.draw(st.lists(st.sampled_from([VECTOR, TRUTH]), min_size=1, max_size=3))
        regions: list[Region] = []
        for _ in range(2):
            block = Block()
            inner = self.fill(block, values, depth - 1)
            block.add_op(YieldOp(*[self.pick(inner, type_) for type_ in types]))
            regions.append(Region(block))
        return [IfOp(self.pick(values, TRUTH), types, *regions)]

    def loop(self, values: Sequence[SSAValue], depth: int) -> list[Any]:
        types = self.draw(st.lists(st.sampled_from([VECTOR, TRUTH]), max_size=3))
        block = Block(arg_types=[INDEX, TRUTH, *types])
        inner = self.fill(block, values, depth - 1)
        go_on = block.args[1] if self.draw(st.booleans()) else self.pick(inner, TRUTH)
        scans = self.draw(st.integers(0 if types else 1, 2))
        yielded = [self.pick(inner, type_) for type_ in [*types, *[VECTOR] * scans]]
        block.add_op(YieldOp(go_on, *yielded))
        count = int_constant(self.draw(st.integers(-1, 6)))
        start = array_constant(np.array(True))
        condition = start.result if self.draw(st.booleans()) else self.pick(values, TRUTH)
        results = [*types, *[tensor_type(f32, (None, 2))] * scans]
        carried = [self.pick(values, type_) for type_ in types]
        return [count, start, LoopOp(count.result, condition, carried, results, Region(block))]


@st.composite
def programs(draw: st.DrawFn) -> ModuleOp:
    """A function with branches and loops, nested twice, that returns all values it has."""
    arguments = [VECTOR, VECTOR, TRUTH, INDEX]
    block = Block(arg_types=arguments)
    grower = Grower(draw)
    values = grower.fill(block, (), 2)
    for op in grower.ops(values, 2) + grower.ops(values, 2):
        block.add_op(op)
        values += op.results
    block.add_op(ReturnOp(*values))
    function = FuncOp("main", (arguments, [value.type for value in values]), Region(block))
    module = ModuleOp([function])
    module.verify()
    return module


def same(got: Sequence[Array], want: Sequence[Array]) -> bool:
    """Whether arrays are equal to the bit, but that NaNs are one value."""
    return all(
        g.shape == w.shape
        and g.dtype == w.dtype
        and np.array_equal(g, w, equal_nan=g.dtype.kind == "f")
        and np.array_equal(np.signbit(g[~np.isnan(g)]), np.signbit(w[~np.isnan(w)]))
        if g.dtype.kind == "f"
        else np.array_equal(g, w)
        for g, w in zip(got, want, strict=True)
    )


@given(programs(), st.sampled_from(["", "{unroll-limit=0}", "{unroll-limit=6 unroll-ops=1000}"]))
@settings(max_examples=100, deadline=None)
def test_values_stay_and_a_second_run_does_nothing(module: ModuleOp, options: str) -> None:
    feeds = [(X, Y, np.array(c), np.array(i)) for c, i in ((True, 0), (False, 1))]
    before = [run_function(module, feed) for feed in feeds]
    pipeline = PassPipeline.parse_spec(GE_UNIVERSE.all_passes, f"ge-simplify-control-flow{options}")
    pipeline.apply(make_context(), module)
    module.verify()
    for feed, want in zip(feeds, before, strict=True):
        assert same(run_function(module, feed), want)
    once = str(module)
    pipeline.apply(make_context(), module)
    assert str(module) == once


@given(programs())
@settings(max_examples=60, deadline=None)
def test_every_pass_keeps_the_values_of_branches_and_loops(module: ModuleOp) -> None:
    feeds = [(X, Y, np.array(c), np.array(i)) for c, i in ((True, 0), (False, 1))]
    before = [run_function(module, feed) for feed in feeds]
    for name in (
        "ge-infer-types",
        "ge-constant-fold",
        "ge-canonicalize",
        "ge-cse",
        "ge-dce",
        "ge-raise",
        "ge-fuse-rules",
        "ge-optimize",
    ):
        changed = module.clone()
        PassPipeline.parse_spec(GE_UNIVERSE.all_passes, name).apply(make_context(), changed)
        changed.verify()
        for feed, want in zip(feeds, before, strict=True):
            assert same(run_function(changed, feed), want), name


def parsed(text: str) -> ModuleOp:
    return Parser(make_context(), text).parse_module()


def run_passes(text: str, pipeline: str) -> list[str]:
    """The ops of the outermost function and of all regions in it, after some passes."""
    module = parsed(text)
    PassPipeline.parse_spec(GE_UNIVERSE.all_passes, pipeline).apply(make_context(), module)
    module.verify()
    return [op.name for op in module.walk() if op.name.startswith("ge.") and op.name != "ge.yield"]


LOOP = """
func.func @main(%x: tensor<4x8xf32>, %n: tensor<i64>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {{
  %c = ge.constant dense<true> : tensor<i1>
  {outside}
  %y = ge.loop {trips}, %c carried (%x)
    : (tensor<i64>, tensor<i1>, tensor<4x8xf32>) -> tensor<4x8xf32> {{
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4x8xf32>):
    {body}
    ge.yield %go, %z : tensor<i1>, tensor<4x8xf32>
  }}
  func.return %y : tensor<4x8xf32>
}}
"""


def loop(body: str, outside: str = "", trips: str = "%n") -> str:
    return LOOP.format(body=body, outside=outside, trips=trips)


TWO_OPS = """
    %a = ge.exp %v : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %z = ge.relu %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
"""


@pytest.mark.parametrize(
    ("options", "unrolled"),
    [
        ("unroll-limit=3 unroll-ops=6", True),
        ("unroll-limit=2 unroll-ops=6", False),
        ("unroll-limit=3 unroll-ops=5", False),
    ],
)
def test_unrolling_stays_within_its_limits(options: str, unrolled: bool) -> None:
    text = loop(TWO_OPS, "%k = ge.constant dense<3> : tensor<i64>", "%k")
    names = run_passes(text, f"ge-simplify-control-flow{{{options}}}")
    assert ("ge.loop" not in names) == unrolled
    assert names.count("ge.exp") == (3 if unrolled else 1)


@pytest.mark.parametrize(
    ("pipeline", "body", "inside"),
    [
        (
            "ge-canonicalize",
            """%s = ge.transpose %v perm [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
               %t = ge.transpose %s perm [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
               %z = ge.relu %t : (tensor<4x8xf32>) -> tensor<4x8xf32>""",
            ["ge.relu"],
        ),
        (
            "ge-raise",
            """%s = ge.sigmoid %v : (tensor<4x8xf32>) -> tensor<4x8xf32>
               %z = ge.mul %v, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>""",
            ["ge.silu"],
        ),
        (
            "ge-fuse-rules{rules=QKVProjection}",
            """%q = ge.matmul %v, %k : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
               %r = ge.matmul %v, %k : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
               %s = ge.matmul %v, %k : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
               %t = ge.add %q, %r : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
               %z = ge.add %t, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>""",
            ["ge.fusion", "ge.matmul", "ge.matmul", "ge.matmul", "ge.add", "ge.add"],
        ),
        (
            "ge-cse",
            """%s = ge.exp %v : (tensor<4x8xf32>) -> tensor<4x8xf32>
               %t = ge.exp %v : (tensor<4x8xf32>) -> tensor<4x8xf32>
               %z = ge.add %s, %t : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>""",
            ["ge.exp", "ge.add"],
        ),
    ],
)
def test_passes_work_inside_regions(pipeline: str, body: str, inside: list[str]) -> None:
    names = run_passes(
        loop(body, "%k = ge.constant dense<0.5> : tensor<8x8xf32>"), f"{pipeline},ge-dce"
    )
    assert names[names.index("ge.loop") + 1 :] == inside


def test_a_constant_that_only_a_nested_region_reads_survives() -> None:
    body = """%p = ge.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %z = ge.if %p : tensor<i1> -> tensor<4x8xf32> then {
        %m = ge.add %v, %k : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
        ge.yield %m : tensor<4x8xf32>
      } else {
        ge.yield %v : tensor<4x8xf32>
      }"""
    text = loop(body, "%k = ge.constant dense<1.5> : tensor<8xf32>")
    feeds = [np.ones((4, 8), np.float32), np.array(3), np.ones((8, 8), np.float32)]
    (want,) = run_function(parsed(text), feeds)
    for name in (*(one.name for one in OptimizePipeline().passes()), "ge-optimize"):
        module = parsed(text)
        PassPipeline.parse_spec(GE_UNIVERSE.all_passes, name).apply(make_context(), module)
        assert same(run_function(module, feeds), [want]), name
        assert "dense<1.500000e+00> : tensor<8xf32>" in str(module), name
