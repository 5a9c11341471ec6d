"""Branches and loops in a plan: as tasks, with lifetimes that end where a region closes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import int_attr
from ge_dialect.ge_exec import BranchOp, BufferOp, CopyOp, LoopOp, PlanOp
from ge_dialect.ge_exec.control import inner_tasks
from ge_dialect.ge_exec.memory import offset_of
from ge_dialect.interpreters.functions import run_function
from ge_dialect.lowering.pipelines import LowerPipeline
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.printing import exact_text
from ge_dialect.tools.api import make_context
from ge_dialect.tools.runtime.executor import Executor

T = "tensor<64xf32>"
SCALARS = "tensor<i64>, tensor<i1>"


def function(body: str, results: Sequence[str], types: Sequence[str]) -> ModuleOp:
    text = (
        f"func.func @main(%c: tensor<i1>, %n: tensor<i64>, %x: {T}, %y: {T})"
        f" -> ({', '.join(types)}) {{\n%yes = ge.constant dense<true> : tensor<i1>\n{body}\n"
        f"func.return {', '.join(results)} : {', '.join(types)}\n}}"
    )
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def unary(result: str, name: str, operand: str) -> str:
    return f"{result} = ge.{name} {operand} : ({T}) -> {T}\n"


def binary(result: str, name: str, lhs: str, rhs: str) -> str:
    return f"{result} = ge.{name} {lhs}, {rhs} : ({T}, {T}) -> {T}\n"


def loop(results: str, count: int, carried: str, body: str, trips: str = "%n") -> str:
    types = ", ".join([T] * count)
    args = "".join(f", %v{i}: {T}" for i in range(count))
    return (
        f"{results} = ge.loop {trips}, %yes carried ({carried})"
        f" : ({SCALARS}{', ' + types if count else ''}) -> ({types}) {{\n"
        f"^bb0(%i: tensor<i64>, %go: tensor<i1>{args}):\n{body}}}\n"
    )


def feeds(condition: bool = True, trips: int = 3) -> list[Any]:
    rng = np.random.default_rng(0)
    return [
        np.asarray(condition),
        np.asarray(trips, np.int64),
        *(rng.standard_normal(64).astype(np.float32) for _ in range(2)),
    ]


def lowered(module: ModuleOp, **options: Any) -> ModuleOp:
    result = module.clone()
    for pass_ in LowerPipeline(target="Ascend910B1", **options).passes():
        pass_.apply(make_context(), result)
    result.verify()
    return result


def plan_in(module: ModuleOp) -> PlanOp:
    (plan,) = (op for op in module.body.block.ops if isinstance(op, PlanOp))
    return plan


def check(module: ModuleOp, arguments: Sequence[Any] | None = None) -> PlanOp:
    """Runs a function and its plans, on one and two streams, poisoned, in several orders."""
    arguments = feeds() if arguments is None else arguments
    expected = run_function(module, list(arguments))
    for streams in (1, 2):
        plan = lowered(module, streams=streams)
        named = {f"arg{i}": value for i, value in enumerate(arguments)}
        for seed in (None, 0, 1):
            got = Executor(plan).run(named, poison=True, schedule_seed=seed)
            for want, found in zip(expected, got.values(), strict=True):
                np.testing.assert_array_equal(found, want)
    return plan_in(lowered(module))


IF = (
    f"%r = ge.if %c : tensor<i1> -> {T} then {{\n"
    + unary("%a", "neg", "%x")
    + unary("%b", "exp", "%a")
    + binary("%b2", "add", "%b", "%y")
    + f"ge.yield %b2 : {T}\n}} else {{\n"
    + unary("%d", "abs", "%x")
    + binary("%e", "mul", "%d", "%y")
    + binary("%f", "add", "%e", "%d")
    + f"ge.yield %f : {T}\n}}\n"
)


@pytest.mark.parametrize("condition", [True, False])
def test_a_branch_runs_one_side(condition: bool):
    plan = check(function(IF, ["%r"], [T]), feeds(condition))
    (branch,) = (task for task in plan.tasks() if isinstance(task, BranchOp))
    assert len(list(inner_tasks(branch))) == 6
    assert not any(isinstance(task, CopyOp) for task in plan.all_tasks())


def test_the_sides_of_a_branch_share_their_bytes():
    plan = check(function(IF, ["%r"], [T]))
    sizes = {offset_of(op) for op in plan.buffers}
    assert len(sizes) < len(plan.buffers)


SWAP = loop("%p, %q", 2, "%x, %y", f"ge.yield %go, %v1, %v0 : tensor<i1>, {T}, {T}\n")


@pytest.mark.parametrize("trips", [0, 1, 2, 5])
def test_carried_values_change_places(trips: int):
    check(function(SWAP, ["%p", "%q"], [T, T]), feeds(trips=trips))


ROTATE = loop(
    "%p, %q, %r",
    3,
    "%x, %y, %x",
    unary("%w", "sin", "%v2") + f"ge.yield %go, %w, %v0, %v1 : tensor<i1>, {T}, {T}, {T}\n",
)


@pytest.mark.parametrize("trips", [0, 1, 4])
def test_carried_values_move_on_in_a_ring(trips: int):
    check(function(ROTATE, ["%p", "%q", "%r"], [T, T, T]), feeds(trips=trips))


def test_what_no_iteration_changes_is_not_copied():
    body = binary("%w", "add", "%v0", "%v1") + f"ge.yield %go, %w, %v1 : tensor<i1>, {T}, {T}\n"
    plan = check(function(loop("%p, %q", 2, "%x, %y", body), ["%p"], [T]))
    (task,) = (task for task in plan.tasks() if isinstance(task, LoopOp))
    assert not any(isinstance(inner, CopyOp) for inner in inner_tasks(task))
    assert sum(isinstance(outer, CopyOp) for outer in plan.tasks()) == 1  # %x, an input


def test_what_a_loop_reads_lives_until_it_closes():
    # `%t` is read first thing in every iteration, the scratch comes after it.
    body = (
        binary("%a", "add", "%v0", "%t")
        + unary("%u", "exp", "%a")
        + unary("%w", "tanh", "%u")
        + binary("%z", "mul", "%w", "%u")
        + f"ge.yield %go, %z : tensor<i1>, {T}\n"
    )
    module = function(unary("%t", "neg", "%x") + loop("%p", 1, "%y", body), ["%p"], [T])
    plan = check(module)
    inside = {
        value
        for task in plan.tasks()
        if isinstance(task, LoopOp)
        for inner in inner_tasks(task)
        for value in inner.operands
    }
    (t,) = (op for op in plan.buffers if op.result.name_hint == "t")
    others = [op for op in plan.buffers if op is not t and op.result in inside]
    assert others
    assert all(offset_of(op) != offset_of(t) for op in others)


def test_a_plan_that_ends_a_life_at_the_last_read_in_a_loop_is_refused():
    body = (
        binary("%a", "add", "%v0", "%t")
        + unary("%u", "sin", "%a")
        + binary("%w", "mul", "%u", "%a")
        + f"ge.yield %go, %w : tensor<i1>, {T}\n"
    )
    module = lowered(function(unary("%t", "neg", "%x") + loop("%p", 1, "%y", body), ["%p"], [T]))
    plan = plan_in(module)
    verify_plan(plan)
    buffers = {op.result.name_hint: op for op in plan.buffers}
    buffers["u"].properties["offset"] = int_attr(offset_of(buffers["t"]) or 0)
    with pytest.raises(
        GEError, match=r"GE0540: task \d+ @Add_0 reads the buffer of .* where in some"
    ):
        verify_plan(plan)


def test_every_shifted_address_of_a_branch_and_a_loop_is_caught_or_harmless():
    body = binary("%w", "add", "%v0", "%r") + f"ge.yield %go, %w : tensor<i1>, {T}\n"
    module = function(IF + loop("%p", 1, "%y", body), ["%p"], [T])
    want = run_function(module, feeds())
    plan_module = lowered(module)
    named = {f"arg{i}": value for i, value in enumerate(feeds())}
    caught = 0
    for index, buffer in enumerate(plan_in(plan_module).buffers):
        for other in plan_in(plan_module).buffers[:index]:
            old = buffer.properties["offset"]
            buffer.properties["offset"] = int_attr(offset_of(other) or 0)
            try:
                found = Executor(plan_module).run(named, poison=True)
                np.testing.assert_array_equal(next(iter(found.values())), want[0])
            except GEError as error:
                assert error.code == "GE0540"
                caught += 1
            buffer.properties["offset"] = old
    assert caught


def test_nested_control_flow_and_scans():
    inner = (
        f"%m = ge.if %c : tensor<i1> -> {T} then {{\n"
        + unary("%k", "sin", "%v0")
        + f"ge.yield %k : {T}\n}} else {{\n"
        + f"ge.yield %x : {T}\n}}\n"
    )
    body = inner + binary("%w", "add", "%m", "%y")
    text = (
        "%three = ge.constant dense<3> : tensor<i64>\n"
        f"%p, %s, %g = ge.loop %three, %yes carried (%x) : ({SCALARS}, {T})"
        f" -> ({T}, tensor<3x64xf32>, tensor<?x64xf32>) {{\n"
        f"^bb0(%i: tensor<i64>, %go: tensor<i1>, %v0: {T}):\n{body}"
        f"ge.yield %go, %w, %m, %v0 : tensor<i1>, {T}, {T}, {T}\n}}\n"
    )
    types = [T, "tensor<3x64xf32>", "tensor<?x64xf32>"]
    for condition in (True, False):
        plan = check(function(text, ["%p", "%s", "%g"], types), feeds(condition))
        assert len(plan.objects) == 1


def test_a_loop_without_iterations_gives_no_slices():
    text = (
        f"%p, %s = ge.loop %n, %yes carried (%x) : ({SCALARS}, {T}) -> ({T}, tensor<?x64xf32>) {{\n"
        f"^bb0(%i: tensor<i64>, %go: tensor<i1>, %v0: {T}):\n"
        f"ge.yield %go, %v0, %v0 : tensor<i1>, {T}, {T}\n}}\n"
    )
    module = function(text, ["%s"], ["tensor<?x64xf32>"])
    for trips in (0, 1, 3):
        check(module, feeds(trips=trips))


def test_a_loop_that_stops_before_its_declared_trips_is_an_error():
    text = (
        "%three = ge.constant dense<3> : tensor<i64>\n"
        f"%s = ge.loop %three, %c carried () : ({SCALARS}) -> tensor<3x64xf32> {{\n"
        f"^bb0(%i: tensor<i64>, %go: tensor<i1>):\nge.yield %go, %x : tensor<i1>, {T}\n}}\n"
    )
    plan = lowered(function(text, ["%s"], ["tensor<3x64xf32>"]))
    named = {f"arg{i}": value for i, value in enumerate(feeds(condition=False))}
    with pytest.raises(GEError, match=r"GE0809: task .* loop.*: expected 3 iterations, got 0"):
        Executor(plan).run(named)


def test_a_plan_with_control_flow_prints_as_it_parses():
    body = binary("%w", "add", "%v0", "%r") + f"ge.yield %go, %w : tensor<i1>, {T}\n"
    module = lowered(function(IF + loop("%p", 1, "%y", body), ["%p"], [T]))
    again = Parser(make_context(), exact_text(module)).parse_module()
    assert exact_text(again) == exact_text(module)


OPS = st.sampled_from(["add", "mul", "sub", "maximum"])


@st.composite
def programs(draw: st.DrawFn, depth: int = 2) -> tuple[str, list[str]]:
    """Draws ops over `%x` and `%y`, some of them branches and loops, and the values they give."""
    counter = draw(st.shared(st.builds(lambda: [0]), key="counter"))

    def fresh() -> str:
        counter[0] += 1
        return f"%t{counter[0]}"

    def block(values: list[str], depth: int) -> str:
        lines: list[str] = []
        for _ in range(draw(st.integers(1, 4))):
            kind = draw(st.sampled_from(["op", "op", "if", "loop"] if depth else ["op"]))
            lines.append(makers[kind](values, depth))
        return "".join(lines)

    def op(values: list[str], depth: int) -> str:
        lhs, rhs = draw(st.sampled_from(values)), draw(st.sampled_from(values))
        values.append(fresh())
        return binary(values[-1], draw(OPS), lhs, rhs)

    def branch(values: list[str], depth: int) -> str:
        sides = [list(values), list(values)]
        bodies = [block(side, depth - 1) for side in sides]
        yields = [draw(st.sampled_from(side)) for side in sides]
        values.append(fresh())
        return (
            f"{values[-1]} = ge.if %c : tensor<i1> -> {T} then {{\n{bodies[0]}"
            f"ge.yield {yields[0]} : {T}\n}} else {{\n{bodies[1]}ge.yield {yields[1]} : {T}\n}}\n"
        )

    def repeat(values: list[str], depth: int) -> str:
        count = draw(st.integers(1, 3))
        initial = [draw(st.sampled_from(values)) for _ in range(count)]
        args = [fresh() for _ in range(count)]
        inner = [*values, *args]
        body = block(inner, depth - 1)
        pool = [*args, *inner[-3:]]
        yields = [draw(st.sampled_from(pool)) for _ in range(count)]
        results = [fresh() for _ in range(count)]
        values.extend(results)
        types = ", ".join([T] * count)
        listed = "".join(f", {arg}: {T}" for arg in args)
        return (
            f"{', '.join(results)} = ge.loop %n, %yes carried ({', '.join(initial)})"
            f" : ({SCALARS}, {types}) -> ({types}) {{\n"
            f"^bb0({fresh()}: tensor<i64>, %go{counter[0]}: tensor<i1>{listed}):\n{body}"
            f"ge.yield %yes, {', '.join(yields)} : tensor<i1>, {types}\n}}\n"
        )

    makers = {"op": op, "if": branch, "loop": repeat}
    values = ["%x", "%y"]
    text = block(values, depth)
    return text, values[-2:]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(programs(), st.booleans(), st.integers(0, 3))
def test_random_control_flow_agrees_with_its_plans(
    program: tuple[str, list[str]], condition: bool, trips: int
):
    text, results = program
    check(function(text, results, [T] * len(results)), feeds(condition, trips))


def test_buffers_of_a_plan_with_control_flow_all_have_a_place():
    plan = check(function(IF, ["%r"], [T]))
    assert all(op.offset is not None for op in plan.buffers if isinstance(op, BufferOp))
