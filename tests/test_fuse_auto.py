"""`ge-fuse-auto`: results stay bit for bit, nothing waits for itself, the peak does not rise."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge_dialect import remarks
from ge_dialect.ge.in_place import in_place_pairs_of
from ge_dialect.ge.structure import FusionOp
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.pipelines import LowerPipeline
from ge_dialect.passes.fusion.auto.fuse_auto import FuseAutoPass
from ge_dialect.passes.fusion.auto.groups import Groups
from ge_dialect.printing import exact_text
from ge_dialect.tools.api import make_context
from ge_dialect.tools.check.numerics import mismatch_of, reference_of
from ge_dialect.tools.report.summary import memory
from tests.fusion_graphs import bodies, graph, kernels, parse, unary
from tests.test_random_graphs import graphs


def fused(module: ModuleOp, max_ops: int = 64) -> ModuleOp:
    """Runs the pass on a copy and verifies."""
    copy = module.clone()
    FuseAutoPass(max_ops).apply(make_context(), copy)
    copy.verify()
    return copy


def peak(module: ModuleOp) -> int:
    """Returns the bytes of the work arena of a plan of one stream."""
    copy = module.clone()
    for pass_ in LowerPipeline().passes():
        pass_.apply(make_context(), copy)
    return memory(plan_of(copy))["hbm"]["peak"]


def moved(module: ModuleOp) -> int:
    """Returns the bytes that the kernels of the first function move."""
    function = next(op for op in module.body.block.ops if isinstance(op, FuncOp))
    return sum(g.traffic for g in Groups(function.body.block, ()).groups.values())


@given(module=graphs())
@settings(max_examples=60, deadline=None)
def test_random_graphs_keep_their_results_and_move_less(module: ModuleOp):
    reference = reference_of(module, 0, extremes=True)
    after = fused(module)  # verified: an operand of a later op would not dominate
    found = mismatch_of(after, reference, exact=True)
    assert found is None, found.message
    assert moved(after) <= moved(module)
    assert exact_text(fused(after)) == exact_text(after)


@given(module=graphs())
@settings(max_examples=25, deadline=None)
def test_the_peak_does_not_rise(module: ModuleOp):
    before, after = peak(module), peak(fused(module))
    assert after <= before, f"{before} to {after} bytes"


def chain(count: int) -> ModuleOp:
    """Returns a graph of so many ops in a row."""
    names = ("exp", "neg", "relu", "abs")
    lines = [unary(f"%v{i + 1}", names[i % 4], f"%v{i}" if i else "%x") for i in range(count)]
    return graph(*lines, results=f"%v{count}")


def test_a_kernel_has_at_most_so_many_ops():
    sizes = [len(body) - 1 for body in bodies(fused(chain(100)))]
    assert sum(sizes) == 100
    assert max(sizes) <= 64
    assert max(len(body) - 1 for body in bodies(fused(chain(100), max_ops=8))) <= 8


def test_order_is_the_same_each_time():
    assert exact_text(fused(chain(40))) == exact_text(fused(chain(40)))


def test_time_is_linear_in_the_graph():
    def seconds(count: int) -> float:
        module = chain(count)
        best = float("inf")
        for _ in range(3):
            copy = module.clone()
            started = time.process_time()
            FuseAutoPass().apply(make_context(), copy)
            best = min(best, time.process_time() - started)
        return best

    seconds(50)
    assert seconds(1600) < 10 * seconds(400)


def test_a_refusal_says_bytes_needed_and_available():
    shape = "tensor<1024x4096xf16>"
    module = parse(
        f"func.func @main(%x: {shape}, %w: tensor<4096x4096xf16>) -> {shape} {{\n"
        f"%m = ge.matmul %x, %w : ({shape}, tensor<4096x4096xf16>) -> {shape}\n"
        f"%y = ge.softmax %m axis -1 : ({shape}) -> {shape}\nfunc.return %y : {shape}\n}}"
    )
    with remarks.collect() as found:
        assert kernels(fused(module)) == []
    (missed,) = found.remarks
    assert missed.reason_class is remarks.ReasonClass.COST
    assert (missed.found, missed.wanted) == ("2097152 bytes", "at most 131072 bytes of L0C")


@pytest.mark.parametrize(
    ("lines", "pairs"),
    [
        (("%a = exp %x", "%y = neg %a"), [(0, 0)]),
        (("%a = softmax %x", "%y = add %a, %x"), []),
        (("%a = exp %x", "%y = add %a, %z"), [(0, 0), (1, 0)]),
    ],
)
def test_a_kernel_works_in_place_where_elements_stay(
    lines: tuple[str, ...], pairs: list[tuple[int, int]]
):
    type_ = "tensor<2x4xf32>"
    ops: list[str] = []
    for line in lines:
        result, _, rest = line.partition(" = ")
        name, _, operands = rest.partition(" ")
        suffix = " axis -1" if name == "softmax" else ""
        types = ", ".join([type_] * len(operands.split(",")))
        ops.append(f"{result} = ge.{name} {operands}{suffix} : ({types}) -> {type_}")
    (kernel,) = [op for op in fused(graph(*ops)).walk() if isinstance(op, FusionOp)]
    assert list(in_place_pairs_of(kernel.body.block)) == pairs
