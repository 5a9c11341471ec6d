"""Small plans as text, for the tests of the runtime and of `ge-run`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from ge_dialect.ge import GE
from ge_dialect.ge_exec import GE_EXEC

Array = npt.NDArray[Any]

M4 = 'memref<4xf32, "hbm">'
T4 = "tensor<4xf32>"


def binary(name: str) -> str:
    return f"""
ge_exec.kernel @{name} "{name}" engine "vector" flops 4 {{
^bb0(%a: {T4}, %b: {T4}):
  %s = ge.{name} %a, %b : ({T4}, {T4}) -> {T4}
  ge.yield %s : {T4}
}}"""


def unary(name: str) -> str:
    return f"""
ge_exec.kernel @{name} "{name}" engine "vector" flops 4 {{
^bb0(%a: {T4}):
  %s = ge.{name} %a : ({T4}) -> {T4}
  ge.yield %s : {T4}
}}"""


KERNELS = binary("add") + binary("sub") + unary("relu") + unary("neg")


def launch(task: int, kernel: str, inputs: str, output: str) -> str:
    types = ", ".join([M4] * len(inputs.split(",")))
    return f"ge_exec.launch {task} @{kernel} ins({inputs} : {types}) outs({output} : {M4})"


def module_of(plan: str, kernels: str = KERNELS) -> ModuleOp:
    ctx = Context()
    for dialect in (Builtin, GE, GE_EXEC):
        ctx.load_dialect(dialect)
    module = Parser(ctx, f"{kernels}\nge_exec.plan @main {{\n{plan}\n}}").parse_module()
    module.verify()
    return module


def placed(size: int, *buffers: tuple[str, int]) -> str:
    """An arena with inputs `x`, `y` at 0 and 64, and the given buffers."""
    lines = [
        f'%work = ge_exec.arena "work" tier <hbm> size {size} lower_bound 0',
        f'%x = ge_exec.input "x" in %work offset 0 : {M4}',
        f'%y = ge_exec.input "y" in %work offset 64 : {M4}',
    ]
    lines += [f"{name} = ge_exec.buffer in %work offset {at} : {M4}" for name, at in buffers]
    return "\n".join(lines)


def stream(index: int, *ops: str) -> str:
    return f"ge_exec.stream {index} {{\n" + "\n".join(ops) + "\n}"


def output(name: str, value: str) -> str:
    return f'ge_exec.output "{name}" {value} : {M4}'


def array(*values: float) -> Array:
    return np.array(values, np.float32)


X, Y = array(1, -2, 3, -4), array(10, 20, 30, 40)
FEEDS = {"x": X, "y": Y}

# Buffer %d takes the bytes of the dead %a.
CHAIN = "\n".join(
    (
        placed(256, ("%a", 128), ("%b", 192), ("%d", 128)),
        stream(
            0,
            launch(0, "add", "%x, %y", "%a"),
            launch(1, "relu", "%a", "%b"),
            launch(2, "sub", "%b, %x", "%d"),
        ),
        output("z", "%d"),
    )
)

# Stream 1 negates while stream 0 adds; stream 0 waits for both and then reuses an event.
FORK = "\n".join(
    (
        placed(4096, ("%a", 128), ("%b", 192), ("%c", 256), ("%d", 320)),
        stream(
            0,
            launch(0, "add", "%x, %y", "%a"),
            "ge_exec.record 0",
            'ge_exec.wait 1 why "RAW"',
            launch(3, "sub", "%a, %b", "%d"),
        ),
        stream(
            1,
            launch(1, "neg", "%x", "%b"),
            "ge_exec.record 1",
            "ge_exec.wait 0",
            launch(2, "relu", "%a", "%c"),
        ),
        output("c", "%c"),
        output("d", "%d"),
    )
)
