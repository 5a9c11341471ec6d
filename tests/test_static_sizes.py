"""Tensors without a static size: inputs are refused, data-dependent ones are named in a remark."""

from __future__ import annotations

import pytest
from xdsl.parser import Parser

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.bufferize import BufferizePass
from ge_dialect.tools.api import make_context

NON_ZERO = (
    '%i = ge.host_call "ai.onnx::NonZero" version 21 (%x) : (tensor<4xf32>) -> tensor<1x?xi64>'
)


def bufferize(text: str) -> None:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    BufferizePass().apply(make_context(), module)
    module.verify()


def test_only_the_op_where_sizes_begin_to_depend_on_data_is_named():
    with remarks.collect() as found:
        bufferize(
            f"""
func.func @main(%x: tensor<4xf32>) -> tensor<1x?xi64> {{
  {NON_ZERO} loc("find")
  %j = ge.neg %i : (tensor<1x?xi64>) -> tensor<1x?xi64>
  func.return %j : tensor<1x?xi64>
}}
"""
        )
    (remark,) = found.remarks
    assert "NonZero gives tensor<1x?xi64>" in str(remark)
    assert "find" in str(remark)


def test_a_graph_of_static_sizes_gets_no_remark():
    with remarks.collect() as found:
        bufferize(
            """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""
        )
    assert found.remarks == ()


def test_dynamic_inputs_are_refused_with_what_to_do():
    with pytest.raises(GEError) as raised:
        bufferize(
            """
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = ge.neg %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %y : tensor<?x4xf32>
}
"""
        )
    assert raised.value.code == "GE0520"
    assert raised.value.message.endswith("neither a size nor a range: dim 0 of input 'arg0' (?)")
    assert raised.value.hint == 'give sizes or ranges, such as --input_shape "arg0:1~8,4"'
