"""What `onnx.reference` makes of one node, and how much of that hangs on rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import onnx
import onnx.defs
import onnx.shape_inference
from onnx import helper
from onnx.reference import ReferenceEvaluator

from tests.kernel_reference import BF16, F16, F32
from tests.random_onnx.values import (
    Array,
    DType,
    Value,
    eps_of,
    is_float,
    names,
    widened,
)

COPIES = 2
"""How often a value is computed again with other roundings."""

_ULPS = 4.0

# Nothing is rounded: what goes in comes out elsewhere, or chooses what does.
MOVING = frozenset(
    names(
        "Cast CastLike Concat Constant ConstantOfShape DepthToSpace Expand Flatten Gather "
        "GatherElements GatherND Identity Pad Reshape ReverseSequence ScatterElements "
        "ScatterND Shape Size Slice SpaceToDepth Split Squeeze Tile TopK Transpose Trilu "
        "Unsqueeze Where Neg Abs"
    )
)

# One correct rounding, or none, so that sign and payload of the result are the standard's.
ROUNDED_ONCE = frozenset(names("Add Sub Mul Div Sqrt"))

# Of what goes in, only what was inexact before makes a difference.
_STEADY = MOVING | frozenset(
    names(
        "And ArgMax ArgMin BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Ceil Clip DequantizeLinear "
        "Equal Floor Greater GreaterOrEqual Hardmax IsInf IsNaN Less LessOrEqual Max MaxPool Min "
        "Not Or QuantizeLinear Range ReduceMax ReduceMin Relu Round Sign Xor GlobalMaxPool If Loop "
        "DynamicQuantizeLinear Compress Mod NonZero Scan Unique"
    )
)

# These look at the types of their operands, so that they must be the right ones.
_NATIVE = frozenset(
    names(
        "Cast CastLike If Loop Scan Range QuantizeLinear DequantizeLinear DynamicQuantizeLinear "
        "QLinearConv QLinearMatMul"
    )
)

# The reference computes them in f32, and so it does with attributes of all others.
_SINGLE = frozenset(("Erf", "HardSwish", "GridSample"))

# Operands beyond the first say how, and what they say is exact.
_FIRST_ONLY = frozenset(("Resize", "Clip", "Dropout", "Pow"))


class Rejected(Exception):  # noqa: N818 - no error, the graph is grown another way
    """A node that says nothing: its result depends on how something is rounded."""


@dataclass(frozen=True)
class Result:
    """One output of a node: what it is, with other roundings, and whether rounding matters."""

    array: Array
    shaken: tuple[Array, ...]
    exact: bool


def evaluate(node: onnx.NodeProto, feeds: Mapping[str, Value], opset: int) -> list[Result]:
    """Returns the outputs of a node, computed in f64 and rounded to their types.

    Args:
        node: With every output named.
        feeds: Everything that the node, or a body of it, reads.
        opset: Of ONNX's own domain.

    Raises:
        Rejected: The results are others when something is rounded another way.
    """
    native = node.op_type in _NATIVE
    arrays = {name: value.array for name, value in feeds.items()}
    dtypes = result_types(node, arrays, opset)
    node, opset = _instead(node, arrays, opset)
    evaluator = _evaluator(node, arrays if native else _wide(arrays), opset)
    want = _run(evaluator, arrays, dtypes, native)
    copies: list[list[Array]] = []
    for copy in range(COPIES):
        rng = np.random.default_rng((copy, len(feeds), *want[0].shape))
        moved = {name: value.shaken[copy] for name, value in feeds.items()}
        inputs = _shake_inputs(node, moved, rng)
        found = _run(evaluator, inputs, dtypes, native)
        copies.append([_shake(node, array, rng) for array in found])
    exact = all(value.exact for value in feeds.values())
    exact &= node.op_type in MOVING | ROUNDED_ONCE and not _adds_up(node)
    results = [
        Result(array, tuple(copy[i] for copy in copies), exact) for i, array in enumerate(want)
    ]
    for result in results:
        _refuse_chaos(node, result)
    return results


def _instead(
    node: onnx.NodeProto, arrays: Mapping[str, Array], opset: int
) -> tuple[onnx.NodeProto, int]:
    """Returns a node that says the same, where the reference has no implementation."""
    if node.op_type == "DequantizeLinear":
        return node, max(opset, 19)
    if node.op_type == "BatchNormalization":
        return node, max(opset, 15)
    if node.op_type == "GlobalLpPool":
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.op_type = "LpPool"
        window = arrays[node.input[0]].shape[2:]
        copy.attribute.append(helper.make_attribute("kernel_shape", window))
        return copy, opset
    return node, opset


def _adds_up(node: onnx.NodeProto) -> bool:
    return any(attribute.name == "reduction" for attribute in node.attribute)


def spread_of(array: Array, shaken: Sequence[Array]) -> Array:
    """Returns how far apart the copies of a value are, 0 where they are no numbers."""
    center = widened(array)
    with np.errstate(all="ignore"):
        far = [np.abs(widened(copy) - center) for copy in shaken]
        return np.nan_to_num(np.max(far, axis=0), nan=0.0, posinf=0.0)


def _refuse_chaos(node: onnx.NodeProto, result: Result) -> None:
    array = result.array
    for copy in result.shaken:
        if copy.shape != array.shape:
            raise Rejected(f"{node.op_type}: the shape depends on rounding")
        same = copy == array
        if not is_float(array.dtype):
            if not same.all():
                raise Rejected(f"{node.op_type}: the values depend on rounding")
            continue
        a, b = widened(array), widened(copy)
        if (np.isnan(a) != np.isnan(b)).any() or (np.isinf(a) & (a != b)).any():
            raise Rejected(f"{node.op_type}: infinities depend on rounding")
        if (np.isinf(b) & (a != b)).any():
            raise Rejected(f"{node.op_type}: infinities depend on rounding")
        scale = max(1.0, float(np.abs(a[np.isfinite(a)]).max(initial=0.0)))
        limit = 0.1 if array.dtype in (F16, BF16) else 1e-2
        with np.errstate(all="ignore"):
            far = np.nan_to_num(np.abs(a - b), nan=0.0).max(initial=0.0)
        if far > limit * scale:
            raise Rejected(f"{node.op_type}: the values depend on rounding")


def _shake_inputs(
    node: onnx.NodeProto, arrays: Mapping[str, Array], rng: np.random.Generator
) -> dict[str, Array]:
    """Returns operands with a relative error, as of an algorithm that is backward stable."""
    if node.op_type in _STEADY:
        return dict(arrays)
    names = set(node.input[:1] if node.op_type in _FIRST_ONLY else node.input)
    return {
        name: _noisy(node, array, rng) if name in names and is_float(array.dtype) else array
        for name, array in arrays.items()
    }


def _noisy(node: onnx.NodeProto, array: Array, rng: np.random.Generator) -> Array:
    """Returns floats some roundings away, in f64: their own type has too few numbers for that."""
    eps = eps_of(array.dtype)
    if node.op_type in _SINGLE or _has_floats(node.op_type):
        eps = max(eps, eps_of(F32))
    noise = rng.uniform(-_ULPS, _ULPS, array.shape) * eps
    with np.errstate(all="ignore"):
        return np.asarray(array.astype(np.float64) * (1.0 + noise))


@cache
def _has_floats(op_type: str) -> bool:
    kinds = [attribute.type for attribute in onnx.defs.get_schema(op_type).attributes.values()]
    return onnx.defs.OpSchema.AttrType.FLOAT in kinds


def _shake(node: onnx.NodeProto, array: Array, rng: np.random.Generator) -> Array:
    if node.op_type in _STEADY or not is_float(array.dtype):
        return array
    with np.errstate(all="ignore"):
        return _noisy(node, array, rng).astype(array.dtype)


def result_types(node: onnx.NodeProto, arrays: Mapping[str, Array], opset: int) -> list[DType]:
    """Returns the element types of the outputs, as ONNX infers them, or that of the operand."""
    model = _model(node, arrays, opset)
    inferred = onnx.shape_inference.infer_shapes(model)
    found: list[DType] = []
    for output in inferred.graph.output:
        number = output.type.tensor_type.elem_type
        known = np.dtype(helper.tensor_dtype_to_np_dtype(number)) if number else None
        found.append(known or arrays[node.input[0]].dtype)
    return found


def _model(node: onnx.NodeProto, arrays: Mapping[str, Array], opset: int) -> onnx.ModelProto:
    graph = helper.make_graph(
        [node],
        "one_node",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in arrays.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in node.output if name],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def _wide(arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {name: widened(array) for name, array in arrays.items()}


def _evaluator(node: onnx.NodeProto, arrays: Mapping[str, Array], opset: int) -> Any:
    model = _model(node, arrays, opset)
    for output in model.graph.output:
        # The evaluator wants a type, and looks at no more than that there is one.
        output.CopyFrom(helper.make_tensor_value_info(output.name, onnx.TensorProto.FLOAT, None))
    return ReferenceEvaluator(model)


def _run(
    evaluator: Any, arrays: Mapping[str, Array], dtypes: Sequence[DType], native: bool
) -> list[Array]:
    with np.errstate(all="ignore"):
        found = evaluator.run(None, dict(arrays) if native else _wide(arrays))
        return [_rounded(array, dtype) for array, dtype in zip(found, dtypes, strict=True)]


def _rounded(array: Any, dtype: DType) -> Array:
    """Returns a result in its type.

    Raises:
        Rejected: Finite numbers are none of f16: where they are part of a composite, they do not
            overflow on the way.
    """
    wide = np.asarray(array)
    found = wide.astype(dtype)
    if dtype == F16 and not np.array_equal(np.isinf(widened(found)), np.isinf(widened(wide))):
        raise Rejected("f16 overflows")
    return found
