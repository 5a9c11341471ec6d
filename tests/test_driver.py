"""The pattern driver: order of patterns, locations, dead ops, and an end."""

from __future__ import annotations

from itertools import permutations
from typing import ClassVar

import pytest
from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.structure import IfOp
from ge_dialect.ge.unary import AbsOp, ExpOp, NegOp, SqrtOp
from ge_dialect.locations import location_name
from ge_dialect.passes import statistics
from ge_dialect.passes.driver import LEAST_BUDGET, Driver, Rewrite, is_dead
from ge_dialect.tools.api import make_context

T = "tensor<4xf32>"


def parse(*lines: str, returned: str = "%y") -> ModuleOp:
    body = "\n".join(lines)
    text = (
        f"func.func @f(%p: tensor<i1>, %x: {T}) -> {T} {{\n{body}\nfunc.return {returned} : {T}\n}}"
    )
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def unary(result: str, name: str, operand: str, node: str = "") -> str:
    location = f' loc("{node}")' if node else ""
    return f"{result} = ge.{name} {operand} : ({T}) -> {T}{location}"


def names_of(module: ModuleOp) -> list[str]:
    return [op.name for op in module.walk() if op.name.startswith("ge.")]


class Exchange(Rewrite):
    """One unary op for another."""

    target: ClassVar[type[NegOp | AbsOp | ExpOp | SqrtOp]]

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        rewriter.replace(op, type(self).target(op.operands[0]))


class NegToAbs(Exchange):
    roots = (NegOp,)
    target = AbsOp


class AbsToNeg(Exchange):
    roots = (AbsOp,)
    target = NegOp


class NegToExp(Exchange):
    roots = (NegOp,)
    target = ExpOp
    benefit = 5


class AbsToExp(Exchange):
    roots = (AbsOp,)
    target = ExpOp


class NegToNeg(Exchange):
    roots = (NegOp,)
    target = NegOp


class Refuses(Rewrite):
    """Looks at what it finds and leaves it."""

    roots = (NegOp, AbsOp)
    benefit = 9

    def __init__(self) -> None:
        self.seen = 0

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        self.seen += 1


class DropDoubleExp(Rewrite):
    """`exp(exp(x))` -> `sqrt(x)`: whatever fed the inner one may be dead."""

    roots = (ExpOp,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if isinstance(inner := op.operands[0].owner, ExpOp):
            rewriter.replace(op, SqrtOp(inner.operands[0]))


def test_patterns_that_undo_each_other_are_an_error_that_names_both():
    module = parse(unary("%y", "neg", "%x"))
    with pytest.raises(GEError) as caught:
        Driver("ge-test", [NegToAbs(), AbsToNeg()]).run(module)
    assert caught.value.code == "GE0401"
    expected = "'ge-test' does not come to an end: AbsToNeg and NegToAbs undo each other"
    assert caught.value.message == expected


def test_a_pattern_that_applies_to_its_own_result_is_an_error():
    module = parse(unary("%y", "neg", "%x"))
    with pytest.raises(GEError, match="NegToNeg applies to its own result"):
        Driver("ge-test", [NegToNeg()]).run(module)


def test_the_budget_grows_with_the_module():
    count = 2 * LEAST_BUDGET
    lines = [unary(f"%a{i}", "neg", f"%a{i - 1}" if i else "%x") for i in range(count)]
    module = parse(*lines, returned=f"%a{count - 1}")
    driver = Driver("ge-test", [NegToAbs()])
    assert driver.run(module)
    assert driver.rewrites == {"NegToAbs": count}
    assert set(names_of(module)) == {"ge.abs"}


@pytest.mark.parametrize("order", list(permutations([NegToAbs, NegToExp, Refuses])))
def test_the_benefit_decides_whatever_the_order_of_registration(order: tuple[type[Rewrite], ...]):
    module = parse(unary("%y", "neg", "%x"))
    Driver("ge-test", [pattern() for pattern in order]).run(module)
    assert names_of(module) == ["ge.exp"]


def test_of_equal_benefits_the_first_is_tried_first():
    for patterns, expected in (((NegToAbs, NegToNeg), "ge.abs"), ((AbsToExp, NegToAbs), "ge.exp")):
        module = parse(unary("%y", "neg", "%x"))
        Driver("ge-test", [pattern() for pattern in patterns]).run(module)
        assert names_of(module) == [expected]


def test_a_pattern_sees_only_its_roots_and_each_once():
    module = parse(unary("%a", "neg", "%x"), unary("%b", "exp", "%a"), unary("%y", "abs", "%b"))
    pattern = Refuses()
    assert not Driver("ge-test", [pattern]).run(module)
    assert pattern.seen == 2


def test_a_new_op_has_the_location_of_what_it_replaces():
    module = parse(unary("%a", "neg", "%x", "block/neg"), unary("%y", "exp", "%a", "block/exp"))
    Driver("ge-test", [NegToAbs()]).run(module)
    found = {op.name: location_name(op) for op in module.walk() if op.name.startswith("ge.")}
    assert found == {"ge.abs": "block/neg", "ge.exp": "block/exp"}


def test_an_op_without_a_location_gets_none():
    module = parse(unary("%y", "neg", "%x"))
    Driver("ge-test", [NegToAbs()]).run(module)
    op = next(op for op in module.walk() if isinstance(op, AbsOp))
    assert isinstance(op.location, UnknownLoc)


def test_users_of_a_new_value_are_looked_at_again():
    module = parse(unary("%a", "neg", "%x"), unary("%b", "exp", "%a"), unary("%y", "exp", "%b"))
    Driver("ge-test", [DropDoubleExp(), NegToExp()]).run(module)
    # neg -> exp leaves three in a row: two become a sqrt, one stays.
    assert sorted(names_of(module)) == ["ge.exp", "ge.sqrt"]


def test_dead_ops_go_with_their_producers():
    module = parse(unary("%a", "neg", "%x"), unary("%b", "exp", "%a"), unary("%y", "abs", "%x"))
    assert not Driver("ge-test", []).run(module)
    assert names_of(module) == ["ge.abs"]


def test_a_dead_op_goes_with_its_regions_and_what_only_they_read():
    module = parse(
        unary("%a", "neg", "%x"),
        f"%b = ge.if %p : tensor<i1> -> {T} then {{",
        f"ge.yield %a : {T}",
        "} else {",
        unary("%n", "neg", "%a"),
        f"ge.yield %n : {T}",
        "}",
        unary("%y", "abs", "%x"),
    )
    Driver("ge-test", [NegToExp()]).run(module)
    assert names_of(module) == ["ge.abs"]


def test_regions_are_rewritten():
    module = parse(
        f"%y = ge.if %p : tensor<i1> -> {T} then {{",
        unary("%n", "neg", "%x"),
        f"ge.yield %n : {T}",
        "} else {",
        f"ge.yield %x : {T}",
        "}",
    )
    assert Driver("ge-test", [NegToExp()]).run(module)
    assert names_of(module) == ["ge.if", "ge.exp", "ge.yield", "ge.yield"]


def test_what_has_an_effect_or_ends_a_block_is_not_dead():
    call = 'ge.host_call "ai.onnx::RandomNormalLike" version 1'
    module = parse(f"%r = {call} (%x) : ({T}) -> {T}", returned="%x")
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    assert [is_dead(op) for op in function.body.block.ops] == [False, False]
    assert not is_dead(function)
    assert not is_dead(IfOp(function.body.block.args[0], (), *_regions()))


def _regions():
    from ge_dialect.ge.structure import region_of

    return region_of((), ()), region_of((), ())


def test_rewrites_are_counted():
    module = parse(unary("%a", "neg", "%x"), unary("%b", "neg", "%a"), unary("%y", "abs", "%b"))
    with statistics.collect() as counts:
        Driver("ge-test", [NegToExp(), AbsToExp()]).run(module)
    assert counts == {("ge-test", "NegToExp"): 2, ("ge-test", "AbsToExp"): 1}


class NegOfExpToAbs(NegToAbs):
    reads = (ExpOp,)


def test_a_pattern_is_tried_only_behind_the_ops_it_reads() -> None:
    module = parse(unary("%a", "neg", "%x"), unary("%b", "exp", "%a"), unary("%y", "neg", "%b"))
    Driver("ge-test", [NegOfExpToAbs()]).run(module)
    assert names_of(module) == ["ge.neg", "ge.exp", "ge.abs"]
