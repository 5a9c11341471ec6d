"""What xDSL does not verify: that each op comes after what it reads."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.test import Test
from xdsl.parser import Parser

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.decode import parse_plan
from ge_dialect.tools.api import make_context
from ge_dialect.validity import check_valid
from tests.plan_texts import KERNELS, T4

LATER = KERNELS.replace("ge.neg %a", "ge.neg %s")
"""A kernel whose op reads its own result."""


def parse(text: str) -> ModuleOp:
    ctx = make_context()
    ctx.load_dialect(Test)
    return Parser(ctx, text).parse_module()


def function(body: str) -> str:
    return f"func.func @f(%k: tensor<i1>, %x: {T4}) -> {T4} {{\n{body}\nfunc.return %y : {T4}\n}}"


def branch(inner: str) -> str:
    return f"""
    %y = ge.if %k : tensor<i1> -> {T4} then {{
      {inner}
    }} else {{
      ge.yield %x : {T4}
    }}"""


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (f"%y = ge.neg %x : ({T4}) -> {T4}", None),
        (f"%y = ge.neg %y : ({T4}) -> {T4}", "'ge.neg' (%y) in @f: reads %y before it is there"),
        (branch(f"%n = ge.neg %x : ({T4}) -> {T4}\nge.yield %n : {T4}"), None),
        (
            branch(f"ge.yield %z : {T4}") + f"\n%z = ge.neg %x : ({T4}) -> {T4}",
            "'ge.yield' in @f: reads %z before it is there",
        ),
        (branch(f"ge.yield %y : {T4}"), "'ge.yield' in @f: reads %y before it is there"),
    ],
)
def test_an_op_comes_after_what_it_reads(body: str, wrong: str | None) -> None:
    assert check_valid(parse(function(body))) == wrong


def test_regions_of_other_dialects_may_have_any_order() -> None:
    text = """
    "test.op"() ({
      %a = "test.op"(%b) : (i32) -> i32
      %b = "test.op"(%a) : (i32) -> i32
      "test.termop"() : () -> ()
    }) : () -> ()"""
    assert check_valid(parse(text)) is None


def test_a_kernel_of_a_file_is_refused() -> None:
    """The compiler of kernels looks values up in order, and would not find one."""
    with pytest.raises(GEError, match="reads %s before it is there"):
        parse_plan(LATER, "a.om")
    parse_plan(KERNELS, "a.om")
