"""Tensors without a static size: what the message says of where that begins."""

from __future__ import annotations

import pytest
from xdsl.parser import Parser

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.bufferize import BufferizePass
from ge_dialect.tools.api import make_context


def refused(text: str) -> GEError:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    with pytest.raises(GEError) as raised:
        BufferizePass().apply(make_context(), module)
    assert raised.value.code == "GE0520"
    return raised.value


NON_ZERO = (
    '%i = ge.host_call "ai.onnx::NonZero" version 21 (%x) : (tensor<4xf32>) -> tensor<1x?xi64>'
)


def test_an_op_whose_result_depends_on_data_is_named():
    error = refused(
        f"""
func.func @main(%x: tensor<4xf32>) -> tensor<1x?xi64> {{
  {NON_ZERO} loc("find")
  %j = ge.neg %i : (tensor<1x?xi64>) -> tensor<1x?xi64>
  func.return %j : tensor<1x?xi64>
}}
"""
    )
    assert "2 tensors of 'main' have no static size" in error.message
    assert error.message.endswith("before the run: 'NonZero' at find: tensor<1x?xi64>")
    assert error.hint is not None
    assert "input_shape" not in error.hint


def test_dynamic_inputs_come_first_and_ask_for_their_sizes():
    error = refused(
        """
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = ge.neg %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %y : tensor<?x4xf32>
}
"""
    )
    assert error.message.startswith("2 tensors of 'main' have no static size: input 0: tensor<?x4")
    assert error.hint is not None
    assert "--input_shape" in error.hint
