"""Pieces and joined values of symbolic sizes as views: at every size, where that is shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from xdsl.parser import Parser

from ge_dialect.ge_exec import CopyOp, LaunchOp, ViewOp
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.om.graph import om_model
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.tools.api import CompiledPlan, compile, make_context
from tests.test_data_sizes import FLOAT, check, floats, model, node


def appended(rows: Sequence[tuple[str, int | str]]) -> onnx.ModelProto:
    """Values of so many rows, each computed, joined one after the other, and used."""
    names = [name for name, _ in rows]
    nodes = [node("Exp", name, f"e_{name}") for name in names]
    nodes += [
        node("Concat", " ".join(f"e_{name}" for name in names), "joined", axis=0),
        node("MatMul", "joined w", "y"),
    ]
    inputs = {name: (FLOAT, (count, 8)) for name, count in rows}
    return model(inputs, nodes, {"y": FLOAT}, {"w": floats(8, 4)})


def views(plan: CompiledPlan) -> list[str]:
    """Where the views of a plan begin, in order."""
    return [str(op.start) for op in plan_of(plan.module).walk() if isinstance(op, ViewOp)]


def count(plan: CompiledPlan, title: str) -> int:
    """How many tasks run a kernel of a type."""
    tasks = plan_of(plan.module).all_tasks()
    return sum(isinstance(t, LaunchOp) and title in t.kernel.string_value() for t in tasks)


def missed(plan: CompiledPlan) -> list[str]:
    return [str(r) for r in plan.remarks if r.pass_name == "ge-zero-copy"]


def test_a_row_is_appended_where_the_others_end():
    proto = appended([("past", "P"), ("new", 1)])
    runs = [{"past": floats(n, 8, seed=n), "new": floats(1, 8)} for n in (1, 4, 9)]
    plan = check(proto, runs, "past:1~9,8;new:1,8", level=1)
    assert views(plan) == ["0", "32*P"]
    assert count(plan, "Concat") == 0
    assert any(op.plus is not None for op in plan_of(plan.module).walk() if isinstance(op, ViewOp))
    (graph,) = om_model(plan_of(plan.module), "m", 0).graphs
    assert [op.type for op in graph.ops].count("ConcatD") == 1  # a viewer sees both parts


def test_several_symbols_add_up():
    proto = appended([("a", "A"), ("b", 2), ("c", "C"), ("d", "A")])
    runs = [
        {"a": floats(a, 8), "b": floats(2, 8), "c": floats(c, 8), "d": floats(a, 8)}
        for a, c in ((1, 1), (3, 6), (5, 2))
    ]
    plan = check(proto, runs, "a:1~5,8;b:2,8;c:1~6,8;d:1~5,8", level=1)
    assert views(plan) == ["0", "32*A", "32*A + 64", "32*A + 32*C + 64"]


def test_gears_put_numbers_into_places():
    proto = appended([("past", "P"), ("new", 1)])
    plan = compile(proto, input_shapes="past:-1,8;new:1,8", dynamic_dims=[(2,), (5,)], level=1)
    text = str(plan.module)
    assert "plus" not in text
    assert "offset 64" in text
    assert "offset 160" in text


def test_both_ends_of_a_value_are_views():
    nodes = [
        node("Exp", "x", "e"),
        node("Slice", "e zero minus1", "head"),
        node("Slice", "e minus2 far", "tail"),
        node("MatMul", "head w", "y"),
        node("MatMul", "tail w", "z"),
    ]
    constants = {
        "zero": np.array([0]),
        "minus1": np.array([-1]),
        "minus2": np.array([-2]),
        "far": np.array([9999]),
        "w": floats(8, 4),
    }
    proto = model({"x": (FLOAT, ("S", 8))}, nodes, {"y": FLOAT, "z": FLOAT}, constants)
    runs = [{"x": floats(n, 8)} for n in (2, 3, 9)]
    assert views(check(proto, runs, "x:2~9,8", level=1)) == ["0", "32*S - 64"]
    # Near miss: of one row the last two are not two.
    plan = check(proto, [{"x": floats(n, 8)} for n in (1, 5)], "x:1~9,8", level=1)
    assert count(plan, "StridedSlice") >= 1
    assert any("found dimension S" in text and "[SYMBOL]" in text for text in missed(plan))


def test_a_part_that_is_computed_from_another_is_written_elsewhere():
    nodes = [
        node("Exp", "x", "a"),
        node("Neg", "a", "b"),
        node("Concat", "a b", "joined", axis=0),
        node("MatMul", "joined w", "y"),
    ]
    proto = model({"x": (FLOAT, ("S", 8))}, nodes, {"y": FLOAT}, {"w": floats(8, 4)})
    plan = check(proto, [{"x": floats(n, 8)} for n in (1, 5, 9)], "x:1~9,8", level=1)
    assert views(plan) == ["0", "32*S"]  # where it is copied to
    assert sum(isinstance(task, CopyOp) for task in plan_of(plan.module).all_tasks()) == 1


def test_what_is_no_stretch_of_bytes_says_so():
    nodes = [
        node("Exp", "x", "a"),
        node("Neg", "x", "b"),
        node("Concat", "a b", "joined", axis=1),
        node("MatMul", "joined w", "y"),
    ]
    proto = model({"x": (FLOAT, (2, "S", 4))}, nodes, {"y": FLOAT}, {"w": floats(4, 4)})
    plan = check(proto, [{"x": floats(2, n, 4)} for n in (1, 7)], "x:2,1~9,4", level=1)
    assert "1 in all dimensions before axis 1" in missed(plan)[0]
    one = model({"x": (FLOAT, (1, "S", 8))}, nodes, {"y": FLOAT}, {"w": floats(8, 4)})
    assert views(check(one, [{"x": floats(1, 7, 8)}], "x:1,1~9,8", level=1)) == ["0", "32*S"]


def test_sizes_that_no_plan_knows_are_named():
    nodes = [
        node("NonZero", "x", "found"),
        node("Transpose", "found", "rows"),
        node("Neg", "rows", "a"),
        node("Concat", "a rows", "joined", axis=0),
        node("Abs", "joined", "y"),
    ]
    from tests.test_data_sizes import INT

    proto = model({"x": (FLOAT, (4, 8))}, nodes, {"y": INT})
    plan = check(proto, [{"x": floats(4, 8)}], level=1)
    assert any("found dimension u0" in text for text in missed(plan))


@pytest.mark.parametrize("plus", ["32*P + 32", "32*P - 320", "-32*P"])
def test_a_view_that_may_leave_its_value_is_refused(plus: str):
    proto = appended([("past", "P"), ("new", 1)])
    text = str(compile(proto, input_shapes="past:1~9,8;new:1,8", level=1).module)
    assert 'plus <"32*P">' in text
    module = Parser(
        make_context(), text.replace('plus <"32*P">', f'plus <"{plus}">')
    ).parse_module()
    module.verify()
    with pytest.raises(Exception, match="may leave the 32\\*P \\+ 32 bytes it is a view of"):
        verify_plan(plan_of(module))


def test_a_view_at_a_place_that_no_input_tells_is_refused():
    proto = appended([("past", "P"), ("new", 1)])
    text = str(compile(proto, input_shapes="past:1~9,8;new:1,8", level=1).module)
    module = Parser(make_context(), text.replace('plus <"32*P">', 'plus <"32*Q">')).parse_module()
    with pytest.raises(Exception, match="begins where 'Q' says, which no input tells"):
        verify_plan(plan_of(module))
