"""The summary counts what the plan holds."""

from __future__ import annotations

from xdsl.parser import Parser

from ge_dialect.tools.api import compile, make_context

VIEWED = """
func.func @main(%x: tensor<32x32xf32>) -> tensor<1024xf32> {
  %e = ge.exp %x : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %r = ge.reshape %e : (tensor<32x32xf32>) -> tensor<1024xf32>
  func.return %r : tensor<1024xf32>
}
"""


def test_an_output_that_is_a_view_counts_as_output() -> None:
    plan = compile(Parser(make_context(), VIEWED).parse_module())
    assert plan.summary["memory"]["hbm"]["io"] == 2 * 32 * 32 * 4
