"""Faults of planned memory that users of other compilers met, as small graphs."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.base import GEOp, int_attr
from ge_dialect.ge.reductions import SoftmaxOp
from ge_dialect.ge_exec import BufferOp, InputOp, LaunchOp, PlanOp
from ge_dialect.ge_exec.memory import base_of, buffer_bytes, offset_of
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.tools import api
from ge_dialect.tools.ge_compile import run as ge_compile

M = "tensor<16x16xf32>"
SCORES = 1 * 32 * 65536 * 65536 * 4

ATTENTION = f"""
func.func @main(%q: {M} {{ge.name = "q"}}, %k: {M} {{ge.name = "k"}}, %v: {M} {{ge.name = "v"}})
    -> ({M} {{ge.name = "y"}}) {{
  %s = ge.matmul %q, %k : ({M}, {M}) -> {M}
  %p = ge.softmax %s axis -1 : ({M}) -> {M}
  %o = ge.matmul %p, %v : ({M}, {M}) -> {M}
  %y = ge.exp %o : ({M}) -> {M}
  func.return %y : {M}
}}
"""


def compiled(text: str, *donated: str) -> PlanOp:
    """A plan in which every op is a kernel."""
    module: ModuleOp = Parser(api.make_context(), text).parse_module()
    return plan_of(api.compile(module, level=0, donated_inputs=donated).module)


def bytes_of(value: SSAValue) -> tuple[object, range]:
    """The arena of a value, and its bytes there."""
    owner, start = base_of(value)
    assert isinstance(owner, BufferOp | InputOp)
    first = (offset_of(owner) or 0) + start
    return owner.arena, range(first, first + buffer_bytes(value.type))


def share(one: SSAValue, other: SSAValue) -> bool:
    (arena, first), (place, second) = bytes_of(one), bytes_of(other)
    return arena is place and first.start < second.stop and second.start < first.stop


def launches(plan: PlanOp) -> list[LaunchOp]:
    return [task for task in plan.tasks() if isinstance(task, LaunchOp)]


def test_only_what_may_be_computed_in_place_is() -> None:
    plan = compiled(ATTENTION)
    _, softmax, product, exp = launches(plan)
    assert SoftmaxOp.in_place_pairs is GEOp.in_place_pairs  # it is not marked
    assert not share(softmax.inputs[0], softmax.outputs[0])
    assert not any(share(value, product.outputs[0]) for value in product.inputs)
    assert share(exp.inputs[0], exp.outputs[0])


def test_a_product_over_its_operand_is_refused() -> None:
    plan = compiled(ATTENTION)
    verify_plan(plan)
    product = launches(plan)[2]
    weights, result = (base_of(v)[0] for v in (product.inputs[0], product.outputs[0]))
    assert isinstance(weights, BufferOp) and isinstance(result, BufferOp)
    result.properties["offset"] = int_attr(offset_of(weights) or 0)
    with pytest.raises(GEError, match=r"@MatMul.* writes .* over .*, which it still reads"):
        verify_plan(plan)


def test_a_choice_may_go_where_a_side_was_and_never_over_its_mask() -> None:
    b = "tensor<64xi1>"
    plan = compiled(f"""
func.func @main(%x: {b} {{ge.name = "x"}}, %y: {b} {{ge.name = "y"}}) -> ({b} {{ge.name = "r"}}) {{
  %m = ge.logical_not %x : ({b}) -> {b}
  %a = ge.logical_not %y : ({b}) -> {b}
  %r = ge.select %m, %a, %y : ({b}, {b}, {b}) -> {b}
  %z = ge.logical_not %r : ({b}) -> {b}
  func.return %z : {b}
}}""")
    select = launches(plan)[2]
    mask, side, _ = select.inputs
    assert share(side, select.outputs[0])
    assert not share(mask, select.outputs[0])


ALIAS = f"""
func.func @main(%x: {M} {{ge.name = "x"}})
    -> (tensor<256xf32> {{ge.name = "v"}}, {M} {{ge.name = "w"}}) {{
  %b = ge.relu %x : ({M}) -> {M}
  %v = ge.reshape %b : ({M}) -> tensor<256xf32>
  %c = ge.exp %x : ({M}) -> {M}
  %d = ge.matmul %c, %c : ({M}, {M}) -> {M}
  %w = ge.matmul %d, %d : ({M}, {M}) -> {M}
  func.return %v, %w : tensor<256xf32>, {M}
}}
"""


def test_bytes_that_an_output_views_live_to_the_end() -> None:
    plan = compiled(ALIAS)
    view, _ = (op.buffer for op in plan.outputs)
    later = [task.outputs[0] for task in launches(plan)[1:]]
    assert len(later) == 3
    assert not any(share(view, value) for value in later)


def test_a_donated_input_is_written_over_by_its_last_reader_only() -> None:
    relu, exp, *_ = launches(compiled(ALIAS, "x"))
    assert relu.inputs[0] is exp.inputs[0]
    assert not share(relu.inputs[0], relu.outputs[0])  # the exponential still reads it
    assert share(exp.inputs[0], exp.outputs[0])


def test_what_is_larger_than_32_bits_is_exact_and_says_what_would_fit(tmp_path: Path) -> None:
    q, s = "tensor<1x32x65536x128xf32>", "tensor<1x32x65536x65536xf32>"
    k = "tensor<1x32x128x65536xf32>"
    path = tmp_path / "m.mlir"
    path.write_text(f"""
func.func @main(%q: {q} {{ge.name = "q"}}, %k: {k} {{ge.name = "k"}}, %v: {q} {{ge.name = "v"}})
    -> ({q} {{ge.name = "o"}}) {{
  %s = ge.matmul %q, %k : ({q}, {k}) -> {s} loc("scores")
  %p = ge.softmax %s axis -1 : ({s}) -> {s} loc("probs")
  %o = ge.matmul %p, %v : ({s}, {q}) -> {q} loc("out")
  func.return %o : {q}
}}""")
    with pytest.raises(GEError) as raised:
        ge_compile([str(path), "-O", "0", "-o", str(tmp_path / "m.om")])
    assert raised.value.code == "GE0502"
    assert f"'scores' ({SCORES}), 'probs' ({SCORES})" in raised.value.message
    assert "it fits with -O 2, which fuses" in (raised.value.hint or "")
    assert ge_compile([str(path), "-O", "2", "-q", "-o", str(tmp_path / "m.om")]) == 0
