"""Small ONNX models for tests, and running an imported one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.interpreters.functions import run_function

Array = npt.NDArray[Any]
Shape = Sequence[int | str]


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, tuple[str, Shape]],
    outputs: Sequence[str],
    constants: Mapping[str, Array] | None = None,
    opset: int = 23,
) -> onnx.ModelProto:
    """Returns a model; inputs are given as numpy's name of the element type, and a shape."""
    graph = helper.make_graph(
        list(nodes),
        "test",
        [value(name, dtype, shape) for name, (dtype, shape) in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def value(name: str, dtype: str, shape: Shape | None) -> onnx.ValueInfoProto:
    """Returns the declaration of a value."""
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
    )


def node(op_type: str, *names: str, out: str = "y", **attributes: Any) -> onnx.NodeProto:
    """Returns a node named after its op type, with the outputs that `out` lists."""
    outputs = [name.strip() for name in out.split(",")]
    return helper.make_node(op_type, list(names), outputs, f"{op_type}_node", **attributes)


def imported(proto: onnx.ModelProto, **options: Any) -> ModuleOp:
    """Returns a model as a verified module."""
    module = import_onnx(proto, **options)
    module.verify()
    return module


def main_of(module: ModuleOp) -> FuncOp:
    """Returns the function `main`."""
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return function


def ops_of(module: ModuleOp) -> list[Operation]:
    """Returns the ops of `main`, without constants and the return."""
    return [
        op for op in main_of(module).body.block.ops if op.name not in ("ge.constant", "func.return")
    ]


def names_of(module: ModuleOp) -> list[str]:
    """Returns the names of the ops of `main`; of a host call the op type it stands for."""
    return [op.op_type if isinstance(op, HostCallOp) else op.name for op in ops_of(module)]


def run(proto: onnx.ModelProto, *arrays: Array, **options: Any) -> tuple[Array, ...]:
    """Returns what an imported model computes."""
    return run_function(imported(proto, **options), arrays)


def reference(proto: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    """Returns what `onnx.reference` computes of a model."""
    typed = onnx.ModelProto()
    typed.CopyFrom(proto)
    for output in typed.graph.output:
        output.CopyFrom(value(output.name, "float32", None))
    evaluator: Any = ReferenceEvaluator(typed)
    return evaluator.run(None, dict(feeds))
