"""Reference semantics of host calls: ONNX's own reference implementation runs the node."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError

from ge_dialect.ge.dtypes import dtype_of, to_numpy
from ge_dialect.ge.host import absent_slots, make_node, onnx_domain
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.ge.types import element_type_of
from ge_dialect.interpreters.registry import Array, semantics

_NON_MAX_SUPPRESSION = "ai.onnx::NonMaxSuppression"


@semantics(HostCallOp)
def host_call(op: HostCallOp, arguments: tuple[Array, ...]) -> tuple[Array, ...]:
    """Evaluates `ge.host_call` by `onnx.reference`; results have the declared element types.

    Raises:
        InterpretationError: ONNX has no implementation of the op, or it failed.
    """
    absent = absent_slots(op.absent)
    element_types = tuple(element_type_of(argument) for argument in op.arguments)
    slots = [slot for slot in range(len(arguments) + len(absent)) if slot not in absent]
    feeds = {f"x{slot}": value for slot, value in zip(slots, arguments, strict=True)}
    if op.callee.data == _NON_MAX_SUPPRESSION:
        # Its limits may be scalars; onnx.reference indexes them.
        feeds |= {name: feeds[name].reshape(-1) for name in ("x2", "x3", "x4") if name in feeds}
    try:
        evaluator = _evaluator(
            op.callee.data, op.version.value.data, op.attrs, absent, element_types, len(op.results)
        )
        values: list[Any] = cast(Any, evaluator).run(None, feeds)
    except Exception as error:  # ONNX raises whatever the implementation of the op does
        name = op.callee.data
        raise InterpretationError(f"'{name}' failed in onnx.reference: {error}") from error
    return tuple(
        np.asarray(value).astype(to_numpy(element_type_of(result)), copy=False)
        for value, result in zip(values, op.results, strict=True)
    )


@lru_cache(maxsize=64)
def _evaluator(
    callee: str,
    version: int,
    attrs: DictionaryAttr | None,
    absent: tuple[int, ...],
    element_types: tuple[Attribute, ...],
    results: int,
) -> ReferenceEvaluator:
    node = make_node(callee, attrs, absent, len(element_types), results)
    inputs = [name for name in node.input if name]
    graph = helper.make_graph(
        [node],
        node.op_type,
        [
            helper.make_tensor_value_info(name, dtype_of(element_type).onnx, None)
            for name, element_type in zip(inputs, element_types, strict=True)
        ],
        [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in node.output],
    )
    opsets = [helper.make_opsetid(onnx_domain(callee), version)]
    return ReferenceEvaluator(helper.make_model(graph, opset_imports=opsets))
