"""What mutation starts from: small right inputs of every kind."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from xdsl.ir import Block, Operation, Region

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import Engine
from ge_dialect.ge.structure import YieldOp
from ge_dialect.ge_exec import KernelOp
from ge_dialect.lowering.om.decode import parse_plan
from ge_dialect.lowering.om.encode import plan_text, write_plan
from ge_dialect.printing import exact_text
from tests.op_samples import OP_CLASSES, in_module, parse_ops, sample
from tests.plan_texts import CHAIN, FORK, M4, module_of

ROOT = Path(__file__).resolve().parent.parent.parent


@cache
def om_files() -> tuple[bytes, ...]:
    """Returns whole `.om` files: golden ones, with weights, branch, loop and object, and plans of
    one and of two streams."""
    found = [path.read_bytes() for path in sorted((ROOT / "tests" / "golden").glob("*.om"))]
    with tempfile.TemporaryDirectory() as folder:
        for text in (CHAIN, FORK):
            path = Path(folder) / "seed.om"
            write_plan(module_of(text), str(path))
            found.append(path.read_bytes())
    return tuple(found)


@cache
def plan_texts() -> tuple[str, ...]:
    """Returns texts of plans: small ones, and one kernel for every op that documents itself."""
    found = [plan_text(module_of(plan)) for plan in (CHAIN, FORK)]
    for op_class in OP_CLASSES:
        for op in parse_ops(sample(op_class))[:1]:
            text = kernel_of(op)
            with suppress(GEError):  # it stands only inside of other ops
                parse_plan(text, "seed")
                found.append(text)
    return tuple(found)


def kernel_of(op: Operation) -> str:
    """Returns a plan with one kernel, which does what an op does."""
    source, found = in_module(op).body.block.ops
    block = Block(arg_types=[value.type for value in source.results])
    for value, arg in zip(source.results, block.args, strict=True):
        value.replace_all_uses_with(arg)
    found.detach()
    block.add_ops([found, YieldOp(*found.results)])
    kernel = KernelOp("k", "K", Engine.VECTOR, 1, Region(block))
    return f"{exact_text(kernel)}{PLAN}"


PLAN = f"""ge_exec.plan @main {{
%work = ge_exec.arena "work" tier <hbm> size 64 lower_bound 0
%i = ge_exec.input "x" in %work offset 0 : {M4}
}}
"""


@cache
def onnx_models() -> tuple[bytes, ...]:
    """Returns ONNX models."""
    import numpy as np
    from onnx import helper

    from tests.onnx_models import model

    node = helper.make_node
    small = model(
        [
            node("Gemm", ["x", "w", "b"], ["g"], alpha=0.5, transB=1),
            node("Reshape", ["g", "s"], ["r"]),
            node("Softmax", ["r"], ["y"], axis=-1),
        ],
        {"x": ("float32", ("N", 4))},
        ["y"],
        {
            "w": np.ones((6, 4), np.float32),
            "b": np.zeros(6, np.float32),
            "s": np.array([-1, 2, 3]),
        },
    )
    window = model(
        [
            node("Conv", ["x", "k"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
            node("MaxPool", ["c"], ["p"], kernel_shape=[2, 2]),
            node("Shape", ["p"], ["t"]),
            node("Cast", ["t"], ["y"], to=1),
        ],
        {"x": ("float32", (1, 2, 8, 8))},
        ["y", "p"],
        {"k": np.ones((3, 2, 3, 3), np.float32)},
    )
    return small.SerializeToString(), window.SerializeToString()
