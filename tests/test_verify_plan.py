"""`ge-verify-plan`: wrong plans are rejected, each with what is wrong and where."""

from __future__ import annotations

import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.ge_exec import PlanOp
from ge_dialect.ge_exec.control import task_id
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.verify_plan import verify_plan
from tests.plan_texts import (
    CHAIN,
    FORK,
    KERNELS,
    M4,
    T4,
    launch,
    module_of,
    output,
    placed,
    stream,
)

SOFTMAX = f"""
ge_exec.kernel @softmax "SoftmaxV2" engine "vector" flops 20 {{
^bb0(%a: {T4}):
  %s = ge.softmax %a axis -1 : ({T4}) -> {T4}
  ge.yield %s : {T4}
}}
ge_exec.kernel @select "Select" engine "vector" flops 4 {{
^bb0(%c: tensor<4xi1>, %a: tensor<4xi1>, %b: tensor<4xi1>):
  %s = ge.select %c, %a, %b : (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  ge.yield %s : tensor<4xi1>
}}
ge_exec.kernel @twice "Twice" engine "vector" flops 4 {{
^bb0(%a: {T4}):
  ge.yield %a, %a : {T4}, {T4}
}}"""
WEIGHT = f'%w = ge_exec.weight <"w", "m.onnx", 0, 16> in %work offset 192 : {M4}'


def plan(*lines: str, kernels: str = "") -> PlanOp:
    return plan_of(module_of("\n".join(lines), KERNELS + kernels))


WRONG = {
    "two live buffers overlap": (
        (
            placed(256, ("%a", 128), ("%b", 136), ("%c", 192)),
            stream(
                0,
                launch(0, "relu", "%x", "%a"),
                launch(1, "neg", "%y", "%b"),
                launch(2, "add", "%a, %b", "%c"),
            ),
        ),
        "task 2 @add reads the buffer of 'a' at bytes 128 to 144, where the buffer of 'b' is",
    ),
    "a wait is missing": (
        (
            placed(256, ("%a", 128), ("%b", 192)),
            stream(0, launch(0, "relu", "%x", "%a")),
            stream(1, launch(1, "neg", "%a", "%b")),
        ),
        "task 1 @neg and task 0 @relu are not ordered, but both use bytes 128 to 144 of arena"
        " 'work'; stream 1 has to wait for stream 0",
    ),
    "the wait comes after the reader": (
        (
            placed(256, ("%a", 128), ("%b", 192)),
            stream(0, launch(0, "relu", "%x", "%a"), "ge_exec.record 0"),
            stream(1, launch(1, "neg", "%a", "%b"), "ge_exec.wait 0"),
        ),
        "task 1 @neg and task 0 @relu are not ordered",
    ),
    "the record comes before the writer": (
        (
            placed(256, ("%a", 128), ("%b", 192)),
            stream(0, "ge_exec.record 0", launch(0, "relu", "%x", "%a")),
            stream(1, "ge_exec.wait 0", launch(1, "neg", "%a", "%b")),
        ),
        "task 1 @neg and task 0 @relu are not ordered",
    ),
    "a wait has no record": (
        (placed(192, ("%a", 128)), stream(0, "ge_exec.wait 7", launch(0, "relu", "%x", "%a"))),
        "streams stand still: waits for events 7 are never served",
    ),
    "one record serves one wait": (
        (
            placed(192),
            stream(0, "ge_exec.record 0"),
            stream(1, "ge_exec.wait 0"),
            stream(2, "ge_exec.wait 0"),
        ),
        "streams stand still: waits for events 0 are never served",
    ),
    "streams wait for each other": (
        (
            placed(192),
            stream(0, "ge_exec.wait 1", "ge_exec.record 0"),
            stream(1, "ge_exec.wait 0", "ge_exec.record 1"),
        ),
        "streams stand still: waits for events 1, 0 are never served",
    ),
    "an event is recorded twice in a row": (
        (placed(192), stream(0, "ge_exec.record 0", "ge_exec.record 0")),
        "event 0 is recorded again before its wait",
    ),
    "an event may be recorded before its old wait is over": (
        (
            placed(192),
            stream(0, "ge_exec.record 0", "ge_exec.record 1"),
            stream(1, "ge_exec.wait 0"),
            stream(2, "ge_exec.wait 1", "ge_exec.record 0"),
            stream(3, "ge_exec.wait 0"),
        ),
        "event 0 may be recorded again before its wait",
    ),
    "two waits may take each other's record": (
        (
            placed(192),
            stream(0, "ge_exec.record 0", "ge_exec.wait 1", "ge_exec.record 0"),
            stream(1, "ge_exec.wait 0", "ge_exec.record 1"),
            stream(2, "ge_exec.wait 0"),
        ),
        "event 0: two waits may take each other's record",
    ),
    "a buffer ends behind its arena": (
        (placed(140, ("%a", 128)), stream(0, launch(0, "relu", "%x", "%a"))),
        "the buffer of 'a' ends at byte 144 of arena 'work', which has 140",
    ),
    "a buffer that nobody touches ends behind its arena": (
        (placed(140, ("%a", 128)),),
        "the buffer of 'a' ends at byte 144 of arena 'work', which has 140",
    ),
    "a buffer has no place": (
        (
            placed(192),
            f"%a = ge_exec.buffer : {M4}",
            stream(0, launch(0, "relu", "%x", "%a")),
        ),
        "the buffer of 'a' has no place; run ge-plan-memory first",
    ),
    "an input is written": (
        (placed(192), stream(0, launch(0, "relu", "%x", "%y"))),
        "task 0 @relu writes input 'y'",
    ),
    "a view of an input is written": (
        (
            placed(192),
            f"%v = ge_exec.view %y offset 0 : {M4} -> {M4}",
            stream(0, launch(0, "relu", "%x", "%v")),
        ),
        "task 0 @relu writes input 'y'",
    ),
    "a buffer lies on an input that nobody reads any more": (
        (placed(192, ("%a", 64)), stream(0, launch(0, "relu", "%x", "%a"))),
        "task 0 @relu writes the buffer of 'a' over input 'y'",
    ),
    "a weight is written": (
        (placed(256), WEIGHT, stream(0, launch(0, "relu", "%x", "%w"))),
        "task 0 @relu writes weight 'w'",
    ),
    "a buffer lies on a weight that nobody reads any more": (
        (
            placed(256, ("%a", 192)),
            WEIGHT,
            stream(0, launch(0, "relu", "%x", "%a")),
        ),
        "task 0 @relu writes the buffer of 'a' over weight 'w'",
    ),
    "inputs overlap": (
        (
            placed(256),
            f'%z = ge_exec.input "z" in %work offset 8 : {M4}',
        ),
        "input 'x' and input 'z' share bytes",
    ),
    "a weight lies exactly on an input": (
        (placed(256), WEIGHT.replace("192", "64")),
        "input 'y' and weight 'w' share bytes",
    ),
    "weights that differ share bytes": (
        (
            placed(256),
            WEIGHT,
            WEIGHT.replace("%w =", "%u =").replace('"w"', '"u"').replace(" 0,", " 16,"),
        ),
        "weight 'w' and weight 'u' share bytes",
    ),
    "an output is written over later": (
        (
            placed(256, ("%a", 128), ("%b", 128)),
            stream(0, launch(0, "relu", "%x", "%a"), launch(1, "neg", "%y", "%b")),
            output("z", "%a"),
        ),
        "output 'z' reads the buffer of 'a' at bytes 128 to 144, where the buffer of 'b' is",
    ),
    "an output is never written": (
        (placed(256, ("%a", 128)), output("z", "%a")),
        "output 'z' reads the buffer of 'a' at bytes 128 to 144, where nothing yet is",
    ),
    "a buffer is read before it is written": (
        (placed(256, ("%a", 128), ("%b", 192)), stream(0, launch(0, "relu", "%a", "%b"))),
        "task 0 @relu reads the buffer of 'a' at bytes 128 to 144, where nothing yet is",
    ),
    "a softmax is no in-place op": (
        (
            placed(256, ("%s", 128)),
            stream(0, launch(0, "relu", "%x", "%s"), launch(1, "softmax", "%s", "%s")),
        ),
        "task 1 @softmax writes the buffer of 's' over the buffer of 's', which it still reads",
    ),
    "o takes the bytes of p while it reads them": (
        (
            placed(256, ("%p", 128), ("%o", 128)),
            stream(0, launch(0, "relu", "%x", "%p"), launch(1, "softmax", "%p", "%o")),
        ),
        "task 1 @softmax writes the buffer of 'o' over the buffer of 'p', which it still reads",
    ),
    "an in-place op at an offset": (
        (
            placed(256, ("%a", 128), ("%b", 132)),
            stream(0, launch(0, "relu", "%x", "%a"), launch(1, "neg", "%a", "%b")),
        ),
        "task 1 @neg writes the buffer of 'b' over the buffer of 'a', which it still reads",
    ),
    "two results in the same bytes": (
        (
            placed(256, ("%a", 128), ("%b", 136)),
            stream(
                0,
                f"ge_exec.launch 0 @twice ins(%x : {M4}) outs(%a, %b : {M4}, {M4})",
            ),
        ),
        "task 0 @twice writes two results to the same bytes",
    ),
    "tasks that share bytes run against the order of the plan": (
        (
            placed(256, ("%a", 128), ("%b", 192)),
            stream(
                0,
                launch(0, "relu", "%x", "%a"),
                launch(2, "neg", "%a", "%a"),
                launch(1, "neg", "%a", "%b"),
            ),
        ),
        "task 1 @neg runs after task 2 @neg, and both use bytes 128 to 144",
    ),
    "two tasks have one number": (
        (
            placed(256, ("%a", 128)),
            stream(0, launch(1, "relu", "%x", "%a"), launch(1, "relu", "%x", "%a")),
        ),
        "task 1 @relu and task 1 @relu have the same number",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_plan_is_rejected(name: str):
    lines, message = WRONG[name]
    with pytest.raises(GEError) as caught:
        verify_plan(plan(*lines, kernels=SOFTMAX))
    assert caught.value.code == "GE0540"
    assert message in str(caught.value)


def test_a_select_takes_the_bytes_of_a_choice_and_never_of_its_condition():
    bits = 'memref<4xi1, "hbm">'
    lines = [
        '%work = ge_exec.arena "work" tier <hbm> size 64 lower_bound 0',
        f'%x = ge_exec.input "x" in %work offset 0 : {bits}',
        f"%c = ge_exec.buffer in %work offset 16 : {bits}",
        f"%a = ge_exec.buffer in %work offset 32 : {bits}",
    ]
    copies = (
        f"ge_exec.copy {i} %x to {to} : {bits} to {bits}" for i, to in enumerate(("%c", "%a"))
    )
    text = f"ge_exec.launch 2 @select ins(%c, %a, %x : {bits}, {bits}, {bits}) outs(%R : {bits})"
    tasks = stream(0, *copies, text)
    verify_plan(plan(*lines, tasks.replace("%R", "%a"), kernels=SOFTMAX))
    with pytest.raises(GEError, match="writes the buffer of 'c' over the buffer of 'c'"):
        verify_plan(plan(*lines, tasks.replace("%R", "%c"), kernels=SOFTMAX))


@pytest.mark.parametrize("text", [CHAIN, FORK, placed(192)], ids=["chain", "fork", "no-task"])
def test_a_right_plan_passes(text: str):
    verify_plan(plan(text))


def test_empty_buffers_share_bytes_with_anything():
    empty = 'memref<0xf32, "hbm">'
    verify_plan(
        plan(
            placed(256, ("%a", 128)),
            f"%e = ge_exec.buffer in %work offset 136 : {empty}",
            f"%f = ge_exec.buffer in %work offset 136 : {empty}",
            stream(
                0,
                f"ge_exec.copy 0 %e to %f : {empty} to {empty}",
                launch(1, "relu", "%x", "%a"),
            ),
        )
    )


def test_equal_weights_may_share_bytes():
    verify_plan(plan(placed(256), WEIGHT, WEIGHT.replace("%w =", "%u =").replace('"w"', '"u"')))


def test_the_order_of_tasks_is_that_of_their_numbers():
    assert [task_id(task) for task in plan(FORK).tasks()] == [0, 1, 2, 3]
