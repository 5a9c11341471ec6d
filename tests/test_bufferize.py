"""`ge-bufferize`: what has no plan is an error; plans in place and apart compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import KernelOp, PlanOp
from ge_dialect.interpreters.functions import run_function
from ge_dialect.lowering.bufferize import BufferizePass
from ge_dialect.lowering.insert_events import InsertEventsPass
from ge_dialect.lowering.memory.plan_memory import PlanMemoryPass
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.tools.api import make_context
from ge_dialect.tools.runtime.executor import Executor

T = "tensor<2x2xf32>"
X = np.array([[1, -2], [3, -4]], np.float32)


def parse(text: str) -> ModuleOp:
    ctx = make_context()
    ctx.allow_unregistered = True
    module = Parser(ctx, text).parse_module()
    module.verify()
    return module


def bufferized(text: str, **options: Any) -> ModuleOp:
    module = parse(text)
    BufferizePass(**options).apply(make_context(), module)
    module.verify()
    return module


def function(*lines: str, results: str = "%y", types: str = "") -> str:
    types = types or ", ".join([T] * len(results.split(",")))
    body = "\n".join(lines)
    return f"func.func @main(%x: {T}) -> ({types}) {{\n{body}\nfunc.return {results} : {types}\n}}"


def unary(result: str, name: str, operand: str) -> str:
    return f"{result} = ge.{name} {operand} : ({T}) -> {T}"


def binary(result: str, name: str, lhs: str, rhs: str) -> str:
    return f"{result} = ge.{name} {lhs}, {rhs} : ({T}, {T}) -> {T}"


def kernels(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.body.block.ops if isinstance(op, KernelOp)]


def test_inputs_without_a_size_are_named():
    dynamic = 'tensor<?x2xf32, #ge.dims<"S">>'
    text = (
        f"func.func @main(%x: {dynamic}) -> {dynamic} {{\n"
        f'%y = ge.relu %x : ({dynamic}) -> {dynamic} loc("block/relu")\n'
        f"func.return %y : {dynamic}\n}}"
    )
    with pytest.raises(GEError) as caught:
        bufferized(text)
    assert caught.value.code == "GE0520"
    assert "neither a size nor a range: dim 0 of input 'arg0' (S)" in caught.value.message
    assert '--input_shape "arg0:1~8,2"' in str(caught.value)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ('{ge.name = "a"}', '{ge.name = "a"}', "2 inputs of 'main' are named 'a'"),
        ('{ge.name = "arg1"}', "", "2 inputs of 'main' are named 'arg1'"),
    ],
)
def test_ports_have_names_of_their_own(first: str, second: str, words: str):
    text = (
        f"func.func @main(%x: {T} {first}, %y: {T} {second}) -> {T} {{\n"
        f"%z = ge.add %x, %y : ({T}, {T}) -> {T}\nfunc.return %z : {T}\n}}"
    )
    with pytest.raises(GEError, match=f"GE0523: {words}"):
        bufferized(text)


def test_an_op_of_another_dialect_has_no_kernel():
    with pytest.raises(GEError) as caught:
        bufferized(function(f'%y = "foo.bar"(%x) : ({T}) -> {T} loc("node")'))
    assert caught.value.code == "GE0521"
    assert "'foo.bar' at node has no kernel" in caught.value.message


def test_a_module_without_a_function_is_left_alone():
    text = str(parse("ge_exec.plan @p {\n^bb0:\n}"))
    assert str(bufferized(text)) == text


def test_a_declaration_is_left_alone():
    text = str(parse(f"func.func private @f({T}) -> {T}"))
    assert str(bufferized(text)) == text


def test_kernels_are_shared_between_functions_and_never_take_a_name_that_is_there():
    one = function(unary("%y", "relu", "%x"))
    module = bufferized(one.replace("@main", "@Relu_0") + one)
    assert kernels(module) == ["Relu_1"]
    assert [op.sym_name.data for op in module.body.block.ops if isinstance(op, PlanOp)] == [
        "Relu_0",
        "main",
    ]


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ("ge.leaky_relu {} alpha 0.0", "ge.leaky_relu {} alpha 0.0", 1),
        ("ge.leaky_relu {} alpha 0.0", "ge.leaky_relu {} alpha -0.0", 2),
        ("ge.softmax {} axis 0", "ge.softmax {} axis 1", 2),
        ("ge.relu {}", "ge.neg {}", 2),
    ],
)
def test_a_kernel_serves_every_op_that_computes_the_same(first: str, second: str, count: int):
    lines = [
        f"{result} = {op.format(operand)} : ({T}) -> {T}"
        for result, op, operand in (("%a", first, "%x"), ("%y", second, "%a"))
    ]
    assert len(kernels(bufferized(function(*lines)))) == count


def test_a_kernel_knows_which_operand_is_which():
    module = bufferized(
        function(
            unary("%a", "relu", "%x"),
            binary("%b", "sub", "%a", "%x"),
            binary("%c", "sub", "%x", "%b"),
            binary("%y", "sub", "%c", "%c"),
        )
    )
    assert kernels(module) == ["Relu_0", "Sub_0", "Sub_1"]  # the last reads one buffer twice


def test_constants_of_kernels_differ_by_value():
    lines = [
        f"{result} = ge.constant dense<{value}> : tensor<f32>"
        for result, value in (("%a", 1.0), ("%b", 2.0), ("%c", 1.0))
    ]
    for operand, result, constant in (("%x", "%d", "%a"), ("%d", "%e", "%b"), ("%e", "%y", "%c")):
        lines.append(f"{result} = ge.add {operand}, {constant} : ({T}, tensor<f32>) -> {T}")
    assert kernels(bufferized(function(*lines))) == ["Add_0", "Add_1"]


CASES: dict[str, str] = {
    "a chain": function(
        unary("%a", "exp", "%x"), unary("%b", "neg", "%a"), unary("%y", "relu", "%b")
    ),
    "an operand that is read later": function(
        unary("%a", "exp", "%x"), unary("%b", "neg", "%a"), binary("%y", "sub", "%a", "%b")
    ),
    "an operand that is read twice": function(
        unary("%a", "exp", "%x"), binary("%y", "sub", "%a", "%a")
    ),
    "both operands dead": function(
        unary("%a", "exp", "%x"), unary("%b", "neg", "%x"), binary("%y", "sub", "%b", "%a")
    ),
    "two results for one dead operand": function(
        unary("%a", "exp", "%x"),
        f'%y, %z = ge.fusion "Two" (%a) : ({T}) -> ({T}, {T}) {{',
        f"^bb0(%b: {T}):",
        unary("%c", "relu", "%b"),
        unary("%d", "neg", "%b"),
        f"ge.yield %c, %d : {T}, {T}",
        "}",
        results="%y, %z",
    ),
    "an operand of two results that is dead": function(
        unary("%a", "exp", "%x"),
        f"%y, %m = ge.dropout %a : {T} -> {T}, tensor<2x2xi1>",
    ),
    "attention": function(
        binary("%s", "matmul", "%x", "%x"),
        f"%p = ge.softmax %s axis -1 : ({T}) -> {T}",
        binary("%y", "matmul", "%p", "%x"),
    ),
    "a view that is read later": function(
        unary("%a", "exp", "%x"),
        f"%v = ge.reshape %a : ({T}) -> tensor<4xf32>",
        unary("%b", "neg", "%a"),
        f"%w = ge.reshape %v : (tensor<4xf32>) -> {T}",
        binary("%y", "sub", "%w", "%b"),
    ),
    "a view of an output": function(
        unary("%a", "exp", "%x"),
        f"%v = ge.reshape %a : ({T}) -> tensor<4xf32>",
        unary("%b", "neg", "%x"),
        unary("%y", "relu", "%b"),
        results="%v, %y",
        types=f"tensor<4xf32>, {T}",
    ),
    "an output that is read": function(
        unary("%a", "exp", "%x"), unary("%y", "neg", "%a"), results="%y, %a"
    ),
    "an output given twice": function(unary("%a", "exp", "%x"), results="%a, %a"),
    "an input given back": function(results="%x, %x"),
    "a constant given back": function(f"%y = ge.constant dense<2.5> : {T}"),
    "a constant read and given back": function(
        f"%c = ge.constant dense<2.5> : {T}", binary("%y", "add", "%x", "%c"), results="%y, %c"
    ),
    "a region that reads": function(
        "%c = ge.constant dense<false> : tensor<i1>",
        unary("%a", "exp", "%x"),
        unary("%b", "neg", "%x"),
        f"%y = ge.if %c : tensor<i1> -> {T} then {{",
        f"ge.yield %a : {T}",
        "} else {",
        binary("%d", "sub", "%b", "%a"),
        f"ge.yield %d : {T}",
        "}",
    ),
    "nothing": function(results="%x"),
}


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_a_plan_computes_what_the_function_does(name: str, in_place: bool):
    expected = run_function(parse(CASES[name]), [X])
    module = bufferized(CASES[name], in_place=in_place)
    for pass_ in (PlanMemoryPass(), InsertEventsPass()):
        pass_.apply(make_context(), module)
    found: dict[str, npt.NDArray[Any]] = Executor(module).run({"arg0": X}, poison=True)
    assert list(found) == [f"result{i}" for i in range(len(expected))]
    for value, wanted in zip(found.values(), expected, strict=True):
        np.testing.assert_array_equal(value, wanted)


def test_a_single_op_needs_no_workspace():
    module = bufferized(function(unary("%y", "relu", "%x")))
    PlanMemoryPass().apply(make_context(), module)
    plan = plan_of(module)
    ports = [*plan.inputs, *plan.buffers]
    assert [op.size for op in ports] == [16, 16]
    assert "size 1024 lower_bound 1024" in str(plan.body.block.first_op)
