"""Types that no array can have are refused where they come in."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.tensors import element_count
from ge_dialect.ge.limits import MAX_ELEMENTS, are_representable
from ge_dialect.tools import api
from ge_dialect.tools.model_files import parse_mlir

LARGE = 1 << 40


def model(dims: list[int], op: str, constant: bool = False) -> onnx.ModelProto:
    """One op of a value that has no elements, and large dimensions."""
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1] if constant else dims)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims)
    node = helper.make_node(op, ["w" if constant else "x"], ["y"])
    graph = helper.make_graph([node], "g", [value], [result], [weight] if constant else [])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def test_a_dimension_of_0_makes_others_no_smaller() -> None:
    assert are_representable((0, MAX_ELEMENTS))
    assert are_representable((-1, MAX_ELEMENTS))
    assert not are_representable((0, 2, MAX_ELEMENTS))
    assert element_count((0, LARGE)) == 0
    with pytest.raises(GEError, match="GE0206"):
        element_count((0, LARGE, LARGE))


@pytest.mark.parametrize("op", ["Relu", "Flatten", "Transpose", "Shape", "NonZero"])
def test_inputs_that_no_array_can_be_are_named(op: str) -> None:
    with pytest.raises(GEError, match=r"GE0224.*'x': tensor<0x1099511627776x1099511627776xf32>"):
        api.compile(model([0, LARGE, LARGE], op))


@pytest.mark.parametrize("op", ["Relu", "Transpose"])
def test_constants_that_no_array_can_be_are_named(op: str) -> None:
    with pytest.raises(GEError, match=r"GE0206.*0x1099511627776x1099511627776"):
        api.compile(model([0, LARGE, LARGE], op, constant=True))


def test_text_with_such_types_is_not_valid(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    large = f"tensor<0x{LARGE}x{LARGE}xf32>"
    path.write_text(f"func.func @main(%x: {large}) -> {large} {{ func.return %x : {large} }}")
    with pytest.raises(GEError, match=r"GE0311.*no array can have"):
        parse_mlir(api.make_context(), str(path))
