"""Views instead of copies: the same values, fewer bytes, and plans that are proved right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import GEOp
from ge_dialect.ge_exec import CopyOp, InputOp, LaunchOp, PlanOp, ViewOp
from ge_dialect.ge_exec.memory import base_of
from ge_dialect.interpreters.functions import run_function
from ge_dialect.lowering.assign_streams import AssignStreamsPass, distribute
from ge_dialect.lowering.bufferize import BufferizePass
from ge_dialect.lowering.dependencies import task_graph
from ge_dialect.lowering.insert_events import InsertEventsPass
from ge_dialect.lowering.memory.plan_memory import PlanMemoryPass
from ge_dialect.lowering.om.encode import plan_of, write_plan
from ge_dialect.lowering.om.file import read_om
from ge_dialect.lowering.verify_plan import VerifyPlanPass, verify_plan
from ge_dialect.passes.schedule.schedule import SchedulePass
from ge_dialect.passes.zero_copy.regions import region
from ge_dialect.passes.zero_copy.zero_copy import ZeroCopyPass
from ge_dialect.tools.api import make_context
from ge_dialect.tools.report.traffic import plan_traffic
from ge_dialect.tools.runtime.executor import Executor
from tests.test_bufferize import parse
from tests.test_schedule import random_graph

V = "tensor<8xf32>"
W = "tensor<16xf32>"
JOIN = f"""
func.func @main(%x: {V}) -> {W} {{
  %a = ge.exp %x : ({V}) -> {V}
  %b = ge.neg %x : ({V}) -> {V}
  %c = ge.concat %a, %b axis 0 : ({V}, {V}) -> {W}
  func.return %c : {W}
}}
"""


def lowered(module: ModuleOp, *first: ModulePass, streams: int = 1) -> ModuleOp:
    ctx = make_context()
    bufferize = BufferizePass(in_place_shared=streams == 1)
    for pass_ in (*first, bufferize, AssignStreamsPass(1)):
        pass_.apply(ctx, module)
    if streams > 1:
        plan = plan_of(module)
        graph = task_graph(plan)
        distribute(plan, graph, [i % streams for i in range(len(graph.tasks))])
    for pass_ in (PlanMemoryPass(), InsertEventsPass(), VerifyPlanPass()):
        pass_.apply(ctx, module)
    module.verify()
    return module


def run(module: ModuleOp, feeds: Sequence[npt.NDArray[Any]], **how: Any) -> list[Any]:
    named = {
        op.io_name.data: array for op, array in zip(plan_of(module).inputs, feeds, strict=True)
    }
    return list(Executor(module).run(named, poison=True, **how).values())


def views(plan: PlanOp) -> list[ViewOp]:
    return [op for op in plan.body.block.ops if isinstance(op, ViewOp)]


@pytest.mark.parametrize("streams", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_compute_the_same_without_copies(seed: int, streams: int):
    module = parse(random_graph(seed, 24))
    x = np.linspace(-2, 2, 256, dtype=np.float32)
    expected = run_function(module, [x])
    copied = plan_traffic(plan_of(lowered(module.clone(), streams=streams)))
    module = lowered(module, ZeroCopyPass(grow=True), SchedulePass(), streams=streams)
    assert plan_traffic(plan_of(module)) <= copied
    for schedule_seed in (None, 1, 2) if streams > 1 else (None,):
        found = run(module, [x], schedule_seed=schedule_seed)
        for value, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(value, wanted)


def test_a_concatenation_moves_no_bytes():
    plain, views_only = lowered(parse(JOIN)), lowered(parse(JOIN), ZeroCopyPass())
    assert len(plan_of(plain).tasks()) == 3
    assert len(plan_of(views_only).tasks()) == 2
    assert plan_traffic(plan_of(plain)) - plan_traffic(plan_of(views_only)) == 128
    assert [op.offset.value.data for op in views(plan_of(views_only))] == [0, 32]


def test_parts_can_be_written_at_the_same_time():
    module = parse(JOIN)
    for pass_ in (ZeroCopyPass(), BufferizePass()):
        pass_.apply(make_context(), module)
    assert task_graph(plan_of(module)).edges() == []


def test_who_reads_the_whole_waits_for_every_part():
    text = JOIN.replace("func.return %c", f"%d = ge.exp %c : ({W}) -> {W}\nfunc.return %d")
    module = parse(text)
    for pass_ in (ZeroCopyPass(), BufferizePass()):
        pass_.apply(make_context(), module)
    assert task_graph(plan_of(module)).edges() == [(0, 2), (1, 2)]


def test_a_plan_that_leaves_a_part_out_is_rejected():
    module = lowered(parse(JOIN), ZeroCopyPass())
    plan = plan_of(module)
    last = plan.tasks()[-1]
    last.detach()
    last.erase()
    with pytest.raises(GEError, match="where nothing yet is") as caught:
        verify_plan(plan)
    assert caught.value.code == "GE0540"


def test_a_plan_whose_parts_overlap_is_rejected():
    """`%b` moved into `%a`: whoever reads `%c` would find bytes that nobody wrote."""
    plan = plan_of(lowered(parse(JOIN), ZeroCopyPass()))
    second = views(plan)[1]
    second.properties["offset"] = views(plan)[0].offset
    with pytest.raises(GEError):
        verify_plan(plan)


def test_the_file_shows_a_concat_without_a_task(tmp_path: Any):
    text = JOIN.replace("func.return %c", f"%d = ge.exp %c : ({W}) -> {W}\nfunc.return %d")
    path = tmp_path / "join.om"
    write_plan(lowered(parse(text), ZeroCopyPass()), str(path))
    with read_om(path) as file:
        (joined,) = [op for op in file.model.graphs[0].ops if op.type == "ConcatD"]
    assert joined.attrs["_no_task"] is True
    assert len(joined.inputs) == 2


def test_a_value_carried_round_a_loop_is_joined_in_its_place():
    """The place is free when its readers are done; the last iteration's parts are the result."""
    text = f"""
    func.func @main(%x: {W}) -> {W} {{
      %n = ge.constant dense<3> : tensor<i64>
      %t = ge.constant dense<true> : tensor<i1>
      %r = ge.loop %n, %t carried(%x) : (tensor<i64>, tensor<i1>, {W}) -> {W} {{
      ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: {W}):
        %a, %b = ge.split %v axis 0 sizes [8, 8] : ({W}) -> ({V}, {V})
        %p = ge.sub %a, %b : ({V}, {V}) -> {V}
        %q = ge.neg %a : ({V}) -> {V}
        %c = ge.concat %q, %p axis 0 : ({V}, {V}) -> {W}
        ge.yield %go, %c : tensor<i1>, {W}
      }}
      func.return %r : {W}
    }}
    """
    x = np.arange(16, dtype=np.float32)
    expected = run_function(parse(text), [x])
    module = lowered(parse(text), ZeroCopyPass(grow=True), SchedulePass())
    np.testing.assert_array_equal(run(module, [x])[0], expected[0])


def donated(body: str, result: str) -> str:
    return (
        f"func.func @main(%x: {V} {{ge.donated}}) -> {V} {{\n{body}\nfunc.return {result} : {V}\n}}"
    )


def test_a_donated_input_takes_the_result_if_nobody_reads_it_later():
    a, b = f"%a = ge.neg %x : ({V}) -> {V}\n", f"%b = ge.sub %a, %x : ({V}, {V}) -> {V}"
    x = np.arange(8, dtype=np.float32)
    for text, is_there, is_copied in (
        (donated(a, "%a"), True, False),
        (donated(a + b, "%b"), False, False),  # `%x` is read after `%a`
        (donated(a.replace("ge.donated", ""), "%a").replace("{ge.donated}", ""), False, False),
        (donated("", "%x"), True, False),
        (donated("", "%x").replace("{ge.donated}", ""), False, True),
    ):
        expected = run_function(parse(text), [x])
        module = lowered(parse(text))
        plan = plan_of(module)
        (output,) = plan.outputs
        assert isinstance(base_of(output.buffer)[0], InputOp) == is_there
        assert any(isinstance(task, CopyOp) for task in plan.tasks()) == is_copied
        np.testing.assert_array_equal(run(module, [x.copy()])[0], expected[0])


def test_an_input_that_is_not_donated_is_never_written():
    plan = plan_of(lowered(parse(donated(f"%a = ge.neg %x : ({V}) -> {V}", "%a"))))
    del plan.inputs[0].properties["donated"]
    with pytest.raises(GEError, match="writes input 'arg0'"):
        verify_plan(plan)


def test_a_cache_is_updated_where_it_is():
    """A new slice is scattered into a donated cache: one task, and no buffer."""
    cache, new, at = "tensor<4x8xf32>", "tensor<1x8xf32>", "tensor<1x1xi64>"
    text = f"""
    func.func @main(%past: {cache} {{ge.donated}}, %at: {at}, %new: {new}) -> {cache} {{
      %y = ge.scatter_nd %past, %at, %new reduction "none" : ({cache}, {at}, {new}) -> {cache}
      func.return %y : {cache}
    }}
    """
    feeds = [np.zeros((4, 8), np.float32), np.array([[2]]), np.ones((1, 8), np.float32)]
    expected = run_function(parse(text), [feed.copy() for feed in feeds])
    module = lowered(parse(text))
    plan = plan_of(module)
    assert not plan.buffers
    (task,) = plan.tasks()
    assert isinstance(task, LaunchOp) and task.outputs[0] is plan.inputs[0].result
    np.testing.assert_array_equal(run(module, feeds)[0], expected[0])


def test_bytes_of_an_output_live_to_the_end():
    """The output is a view of `%b`; values of its size that come later need bytes of their own."""
    lines = "\n".join(
        f"%d{i} = ge.exp %{'x' if not i else f'd{i - 1}'} : ({V}) -> {V}" for i in range(3)
    )
    text = (
        f"func.func @main(%x: {V}) -> (tensor<2x4xf32>, {V}) {{\n"
        f"%b = ge.relu %x : ({V}) -> {V}\n%v = ge.reshape %b : ({V}) -> tensor<2x4xf32>\n{lines}\n"
        f"func.return %v, %d2 : tensor<2x4xf32>, {V}\n}}"
    )
    x = np.arange(-4, 4, dtype=np.float32)
    expected = run_function(parse(text), [x])
    for found, wanted in zip(run(lowered(parse(text)), [x]), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_scores_and_probabilities_share_bytes_and_the_product_does_not():
    """In place: softmax over its operand; never a product over what it still reads."""
    m = "tensor<4x4xf32>"
    text = f"""
    func.func @main(%q: {m}, %k: {m}, %v: {m}) -> {m} {{
      %s = ge.matmul %q, %k : ({m}, {m}) -> {m}
      %p = ge.softmax %s axis -1 : ({m}) -> {m}
      %o = ge.matmul %p, %v : ({m}, {m}) -> {m}
      %y = ge.matmul %o, %v : ({m}, {m}) -> {m}
      func.return %y : {m}
    }}
    """
    plan = plan_of(lowered(parse(text)))
    _, softmax, product, _ = plan.tasks()
    assert isinstance(softmax, LaunchOp) and isinstance(product, LaunchOp)
    shares = softmax.inputs[0] is softmax.outputs[0]
    assert product.outputs[0] is not product.inputs[0]
    product.operands = [*product.inputs, product.inputs[0]]
    with pytest.raises(GEError, match="which it still reads"):
        verify_plan(plan)
    (op,) = [op for op in parse(text).walk() if op.name == "ge.softmax"]
    assert isinstance(op, GEOp)
    assert shares == ((0, 0) in op.in_place_pairs())


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3), st.integers(1, 4)), max_size=4))
def test_a_region_is_what_numpy_finds_contiguous(dims: list[tuple[int, int, int]]):
    shape = [dim for dim, _, _ in dims]
    starts = [min(start, dim - 1) for dim, start, _ in dims]
    sizes = [min(size, dim - start) for (dim, _, size), start in zip(dims, starts, strict=True)]
    numbers = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    piece = numbers[tuple(slice(a, a + n) for a, n in zip(starts, sizes, strict=True))].reshape(-1)
    found = region(shape, starts, sizes, 8)
    if np.all(np.diff(piece) == 1):
        assert found is not None
        assert (found.start, found.size) == (8 * int(piece[0]), 8 * len(piece))
    else:
        assert found is None
