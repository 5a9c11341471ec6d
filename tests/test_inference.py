"""Types: never less precise than ONNX's own inference, and from one function of each op."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from ge_dialect.ge.base import GEOp, set_type
from ge_dialect.ge.binary import PreluOp
from ge_dialect.ge.constants import ConstantOp
from ge_dialect.ge.contractions import EinsumOp
from ge_dialect.ge.dtypes import from_numpy, to_numpy
from ge_dialect.ge.fail import FailOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp
from ge_dialect.ge.structure import FusionOp, HostCallOp, IfOp, LoopOp
from ge_dialect.ge.types import (
    Shape,
    element_type_of,
    is_tensor,
    shape_of,
    static_shape,
    tensor_type,
)
from ge_dialect.interpreters.registry import evaluate, has_semantics
from ge_dialect.symbols import symbol
from tests import inference_table
from tests.inference_table import VARIANTS, Tally
from tests.kernel_reference import Array
from tests.onnx_models import imported, main_of, model, node
from tests.op_checks import value
from tests.op_samples import OP_CLASSES, context, parse_ops, sample, with_element_type

_DECLARED = (ConstantOp, FailOp, FusionOp, HostCallOp, IfOp, LoopOp)
"""Ops whose result types are those of a body, of a value, of ONNX, or any."""
_S, _T = symbol("S"), symbol("T")

GE_OPS = [
    op_class for op_class in OP_CLASSES if issubclass(op_class, GEOp) and op_class not in _DECLARED
]
each_op = pytest.mark.parametrize("op_class", GE_OPS, ids=lambda op_class: op_class.name)


def _check(tally: Tally, least: int) -> None:
    assert tally.worse == []
    assert tally.models >= least


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_operators_are_inferred_as_precisely_as_onnx_does(variant: str):
    tally = inference_table.conformance(variant)
    assert tally.refused == []
    _check(tally, 1800)
    assert bool(tally.accepted) == (variant != "unranked")


@pytest.mark.slow
def test_models_of_onnx_are_inferred_as_precisely_as_onnx_does():
    _check(inference_table.files(inference_table.conformance_files()), 140)


def test_exported_models_are_inferred_as_precisely_as_onnx_does(zoo: Path):
    tally = inference_table.files(inference_table.zoo_files(zoo))
    assert tally.refused == []
    _check(tally, 1)


def test_the_comparison_sees_what_is_less_precise_and_what_is_contradictory():
    proto = model([node("Relu", "x")], {"x": ("float32", ("S", 3))}, ["y"])
    loaded = inference_table.load_proto(proto)
    found = inference_table.Comparison.of(loaded)
    _, theirs = inference_table.inferred_types(proto)["y"]
    outcomes = {
        shape: found.outcome(tensor_type(f32, shape), theirs)
        for shape in ((_S, 3), (2, 3), (None, 3), (_S, None), (_S, _T), (_S, 4), (_S + 1, 3), (3,))
    }
    assert list(outcomes.values()) == [
        "equal",
        "more precise",
        "less precise",
        "less precise",
        "less precise",
        "contradictory",
        "contradictory",
        "contradictory",
    ]


def _samples(op_class: type[IRDLOperation]) -> list[GEOp]:
    text = sample(op_class)
    if "bitwise" in op_class.name:  # the form of the family is of floats
        text = with_element_type(text, "i32")
    return [op for op in parse_ops(text) if isinstance(op, GEOp)]


@each_op
def test_samples_have_the_types_that_are_inferred(op_class: type[IRDLOperation]):
    ops = _samples(op_class)
    assert any(isinstance(op, op_class) for op in ops)
    for op in ops:
        assert list(op.infer_types()) == [result.type for result in op.results]


@each_op
def test_verification_is_inference(op_class: type[IRDLOperation]):
    for op in _samples(op_class):
        first = op.results[0]
        declared = first.type
        if not is_tensor(declared) or isinstance(op, (ReshapeOp, BroadcastToOp)):
            continue  # the declared type is a part of the op
        set_type(first, tensor_type(declared.element_type, (*shape_of(declared), 7)))
        with pytest.raises(VerifyException):
            op.verify_()


@each_op
def test_values_have_the_shapes_that_are_inferred(op_class: type[IRDLOperation]):
    generator = np.random.default_rng(len(op_class.name))
    for op in _samples(op_class):
        if isinstance(op, _DECLARED):
            continue
        assert has_semantics(op)
        results = evaluate(op, [_random(operand, generator) for operand in op.operands])
        found = [tensor_type(from_numpy(result.dtype), result.shape) for result in results]
        assert found == [result.type for result in op.results]


def _random(operand: SSAValue, generator: np.random.Generator) -> Array:
    shape = static_shape(operand.type)
    assert shape is not None
    # Of integers this is 0, an index that every tensor has.
    return (generator.random(shape) * 0.9).astype(to_numpy(element_type_of(operand)))


def test_a_shape_may_be_known_in_part():
    type_ = tensor_type(f32, (None, 4, _S))
    text = 'tensor<?x4x?xf32, #ge.dims<?, "S">>'
    assert str(type_) == text
    assert Parser(context(), text).parse_type() == type_
    assert shape_of(type_) == (None, 4, _S)
    assert tensor_type(f32, (None, None)).encoding == tensor_type(f32, (1,)).encoding
    with pytest.raises(ParseError, match="expected an expression, got unknown dimensions only"):
        Parser(context(), "tensor<?xf32, #ge.dims<?>>").parse_type()


@pytest.mark.parametrize(
    ("shape", "slope", "wanted"),
    [((_S, 4), (4,), (_S, 4)), ((_S, _T), (4,), (_S, 4)), ((_S, _T), (None,), (_S, _T))],
)
def test_a_slope_does_not_make_a_result_larger(shape: Shape, slope: Shape, wanted: Shape):
    op = PreluOp(_of(shape), _of(slope))
    assert op.result.type == tensor_type(f32, wanted)


def test_a_slope_of_more_dimensions_is_refused():
    with pytest.raises(VerifyException, match="expected 'rhs' to broadcast to"):
        PreluOp(_of((4,)), _of((2, 4)))


def test_a_diagonal_is_of_equal_sizes():
    assert EinsumOp("ii->i", [_of((_S, _T))]).result.type == tensor_type(f32, (_S,))
    assert EinsumOp("ii->i", [_of((_S, 3))]).result.type == tensor_type(f32, (3,))
    with pytest.raises(VerifyException, match="expected sizes of 'i' to agree, got 1 and 3"):
        EinsumOp("ii->i", [_of((1, 3))])


def _of(shape: Shape) -> SSAValue:
    return value(np.empty(0, np.float32), shape)


def test_a_reshape_to_a_partly_known_shape_keeps_what_is_known():
    proto = model(
        [node("Concat", "a", "b", out="s", axis=0), node("Reshape", "x", "s")],
        {"x": ("float32", ("S", 4)), "b": ("int64", (2,))},
        ["y"],
        {"a": np.array([2], np.int64)},
    )
    result = main_of(imported(proto)).function_type.outputs.data[0]
    assert str(result) == "tensor<2x?x?xf32>"


def test_a_resize_to_sizes_of_unknown_count_has_the_rank_of_its_input():
    kinds: list[dict[str, Any]] = [
        {},
        {"antialias": 1},
        {"keep_aspect_ratio_policy": "not_larger"},
    ]
    for options in kinds:
        resize = node("Resize", "x", "", "", "s", mode="linear", axes=[1], **options)
        proto = model(
            [resize],
            {"x": ("float32", ("S", 4)), "s": ("int64", ("K",))},
            ["y"],
        )
        result = main_of(imported(proto)).function_type.outputs.data[0]
        assert str(result) == 'tensor<?x?xf32, #ge.dims<"S", ?>>'
