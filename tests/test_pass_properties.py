"""Every pass, alone and in the pipelines: values stay, a second run does nothing, strangers stay.

The graphs are those of `test_random_graphs` and, with branches and loops, of
`test_simplify_control_flow`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given, settings
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

from ge_dialect.passes import get_all_passes
from ge_dialect.passes.pipelines import OptimizePipeline
from ge_dialect.printing import exact_text
from ge_dialect.tools.api import make_context
from ge_dialect.tools.check.numerics import mismatch_of, reference_of
from ge_dialect.tools.check.values import is_exact
from ge_dialect.tools.ge_opt import GEOptMain, flatten
from tests.test_random_graphs import graphs
from tests.test_simplify_control_flow import programs

PASSES = get_all_passes()
LIBRARY = (
    Path(__file__).resolve().parent / "filecheck" / "passes" / "fusion" / "Inputs" / "rules.toml"
)
PIPELINES = {f"O{level}": OptimizePipeline(level) for level in (0, 1, 2, 3)}
ALONE = [name for name in PASSES if name != OptimizePipeline.name]


def check(module: ModuleOp, passes: Sequence[ModulePass]) -> ModuleOp:
    """Runs passes on a copy of a module and compares the values, as strictly as they promise."""
    exact = is_exact(passes)
    reference = reference_of(module, 0, extremes=exact)
    assert reference.results, reference.skipped
    changed = module.clone()
    for pass_ in passes:
        pass_.apply(make_context(), changed)
    changed.verify()
    found = mismatch_of(changed, reference, exact=exact)
    assert found is None, found.message
    return changed


def again(module: ModuleOp, pass_: ModulePass) -> None:
    """Runs a pass once more, which must change nothing."""
    once = exact_text(module)
    pass_.apply(make_context(), module)
    assert exact_text(module) == once


@pytest.mark.parametrize("name", ALONE)
@given(module=graphs())
@settings(max_examples=25)
def test_a_pass_keeps_the_values_of_a_graph(name: str, module: ModuleOp) -> None:
    pass_ = PASSES[name]()()
    again(check(module, [pass_]), pass_)


@pytest.mark.parametrize("name", ALONE)
@given(module=programs())
@settings(max_examples=25)
def test_a_pass_keeps_the_values_of_branches_and_loops(name: str, module: ModuleOp) -> None:
    pass_ = PASSES[name]()()
    again(check(module, [pass_]), pass_)


OPTIONS: dict[str, list[dict[str, object]]] = {
    "ge-infer-types": [{"fold_shapes": False}],
    "ge-constant-fold": [{"max_growth": 0}, {"max_bytes": 0}],
    "ge-simplify-algebra": [{"fast_math": ("masks",)}],
    "ge-simplify-control-flow": [{"unroll_limit": 0}, {"unroll_ops": 1}],
    "ge-raise": [{"composites": ("layer_norm", "gelu")}, {"fast_math": ("masks",)}],
    "ge-fold-norm": [{"exact": True}, {"max_bytes": 0}],
    "ge-optimize-cast": [{"drop_round_trips": True}, {"precision": "origin"}],
    "ge-merge-parallel-matmul": [{"max_bytes": 0}, {"target": "Ascend310P3"}],
    "ge-optimize-layout": [{"max_ops": 1}, {"max_ops": 2}],
    "ge-fuse-rules": [
        {"rules": ("QKVProjection",)},
        {"disable": ("QKVProjection",)},
        {"why_not": ("QKVProjection",)},
        {"library": (str(LIBRARY),)},
    ],
    "ge-fuse-auto": [{"max_ops": 2}, {"max_products": 1}, {"target": "Ascend310P3"}],
    "ge-zero-copy": [{"grow": True}, {"target": "Ascend310P3"}],
    "ge-schedule": [{"policy": "throughput"}, {"target": "Ascend310P3"}],
    "ge-legalize-norm": [{"ops": ("layer_norm",)}],
    "ge-legalize-activation": [{"ops": ("gelu",)}],
    "ge-outline-repeats": [
        {"passes": ("ge-dce",)},
        {"least_repeats": 2, "least_ops": 1},
    ],
    "ge-split-gears": [{"gears": ()}],  # the graphs here have no symbols to give sizes to
    "ge-optimize": [{"level": 1}, {"fast_math": ("masks",)}, {"precision": "origin"}],
}
"""Other values of each option; those under which values change have tests of their own."""
VARIANTS = [(name, index) for name, many in OPTIONS.items() for index in range(len(many))]


def test_every_option_of_every_pass_has_another_value_here() -> None:
    for name, factory in PASSES.items():
        own = {field.name for field in fields(factory()) if field.name != "name"}
        assert {option for one in OPTIONS.get(name, []) for option in one} == own, name


@pytest.mark.parametrize(("name", "index"), VARIANTS)
@given(graph=graphs(), program=programs())
@settings(max_examples=8)
def test_a_pass_keeps_the_values_with_each_option(
    name: str, index: int, graph: ModuleOp, program: ModuleOp
) -> None:
    pass_ = PASSES[name]()(**OPTIONS[name][index])
    for module in (graph, program):
        check(module, flatten([pass_]))


@pytest.mark.parametrize("name", PIPELINES)
@given(graph=graphs(), program=programs())
@settings(max_examples=25)
def test_a_pipeline_keeps_the_values(name: str, graph: ModuleOp, program: ModuleOp) -> None:
    passes = flatten([PIPELINES[name]])
    for module in (graph, program):
        check(module, passes)


STRANGERS = {
    "empty": "builtin.module {}",
    "declaration": "func.func private @f(tensor<4xf32>, !ge.sequence<tensor<4xf32>>) -> i32",
    "unregistered": """
        "other.global"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> ()
        func.func @f(%x: tensor<4xf32>, %y: !other.thing) -> (tensor<4xf32>, !other.thing) {
          %a, %b = "other.op"(%x, %y) ({
            %c = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
            "other.yield"(%c) : (tensor<4xf32>) -> ()
          }) : (tensor<4xf32>, !other.thing) -> (tensor<4xf32>, !other.thing)
          %d = ge.relu %a : (tensor<4xf32>) -> tensor<4xf32>
          func.return %d, %b : tensor<4xf32>, !other.thing
        }""",
    "other dialects": """
        func.func @g(%n: index, %m: memref<4xf32>, %p: i1) -> f32 {
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %start = arith.constant 0.0 : f32
          %sum = scf.for %i = %zero to %n step %one iter_args(%v = %start) -> (f32) {
            %e = memref.load %m[%i] : memref<4xf32>
            %w = arith.addf %v, %e : f32
            scf.yield %w : f32
          }
          cf.cond_br %p, ^bb1, ^bb2(%sum : f32)
        ^bb1:
          cf.br ^bb2(%start : f32)
        ^bb2(%r: f32):
          func.return %r : f32
        }""",
    "mixed": """
        func.func @h(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
          %a = arith.addf %x, %y : tensor<4xf32>
          %b = ge.mul %a, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          %c = arith.addf %b, %b : tensor<4xf32>
          func.return %c : tensor<4xf32>
        }
        builtin.module {
          func.func @inner() {
            func.return
          }
        }""",
}


def all_dialects() -> Context:
    """A context that knows what `ge-opt --allow-unregistered-dialect` knows."""
    return GEOptMain(args=["--allow-unregistered-dialect"]).ctx


@pytest.mark.parametrize("name", [*ALONE, *PIPELINES])
def test_no_pass_fails_on_a_stranger(name: str) -> None:
    ctx = all_dialects()
    for what, text in STRANGERS.items():
        pass_ = PIPELINES[name] if name in PIPELINES else PASSES[name]()()
        module = Parser(ctx, text).parse_module()
        before = [op.name for op in module.walk() if not op.name.startswith("ge.")]
        pass_.apply(ctx, module)
        module.verify()
        after = [op.name for op in module.walk() if not op.name.startswith("ge.")]
        assert after == before, what
