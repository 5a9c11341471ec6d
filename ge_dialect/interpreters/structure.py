"""Reference semantics of host calls: ONNX's own reference implementation runs the node."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NoReturn, cast

from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError

from ge_dialect.ge.fail import FailOp
from ge_dialect.ge.host import absent_slots, make_node, onnx_domain
from ge_dialect.ge.onnx_types import to_type_proto
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.interpreters.containers import CONTAINER_OPS, Value, conform, int_attr
from ge_dialect.interpreters.kernels.indexing import gather_elements
from ge_dialect.interpreters.registry import semantics

_NON_MAX_SUPPRESSION = "ai.onnx::NonMaxSuppression"
_GATHER_ELEMENTS = "ai.onnx::GatherElements"


@semantics(HostCallOp)
def host_call(op: HostCallOp, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
    """Evaluates `ge.host_call` by `onnx.reference`; results have the declared element types.

    Operators on sequences, optionals and maps have semantics of their own.

    Raises:
        InterpretationError: ONNX has no implementation of the op, or it failed.
    """
    absent, name = absent_slots(op.absent), op.callee.data
    slots = [slot for slot in range(len(arguments) + len(absent)) if slot not in absent]
    given = dict(zip(slots, arguments, strict=True))
    if (evaluate := CONTAINER_OPS.get(name)) is not None:
        return (evaluate(op, [given.get(slot) for slot in range(len(slots) + len(absent))]),)
    feeds = {f"x{slot}": value for slot, value in given.items()}
    if name == _NON_MAX_SUPPRESSION:
        # Its limits may be scalars; onnx.reference indexes them.
        feeds |= {name: feeds[name].reshape(-1) for name in ("x2", "x3", "x4") if name in feeds}
    types = tuple(argument.type for argument in op.arguments)
    values: list[Any]
    try:
        if name == _GATHER_ELEMENTS:
            # Indices may be shorter than the data; onnx.reference refuses them, or reads one a row.
            values = [gather_elements(given[0], given[1], axis=int_attr(op, "axis", 0))]
        else:
            evaluator = _evaluator(
                name, op.version.value.data, op.attrs, absent, types, len(op.results)
            )
            values = cast(Any, evaluator).run(None, feeds)
    except Exception as error:  # ONNX raises whatever the implementation of the op does
        raise InterpretationError(f"'{name}' failed in onnx.reference: {error}") from error
    return tuple(
        conform(value, result.type) for value, result in zip(values, op.results, strict=True)
    )


@semantics(FailOp)
def fail(op: FailOp) -> NoReturn:
    """Evaluates `ge.fail`.

    Raises:
        InterpretationError: Always.
    """
    raise InterpretationError(op.message.data)


@lru_cache(maxsize=64)
def _evaluator(
    callee: str,
    version: int,
    attrs: DictionaryAttr | None,
    absent: tuple[int, ...],
    types: tuple[Attribute, ...],
    results: int,
) -> ReferenceEvaluator:
    node = make_node(callee, attrs, absent, len(types), results)
    inputs = [name for name in node.input if name]
    graph = helper.make_graph(
        [node],
        node.op_type,
        [
            helper.make_value_info(name, to_type_proto(type_))
            for name, type_ in zip(inputs, types, strict=True)
        ],
        [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in node.output],
    )
    opsets = [helper.make_opsetid(onnx_domain(callee), version)]
    return ReferenceEvaluator(helper.make_model(graph, opset_imports=opsets))
