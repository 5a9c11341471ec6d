"""Why a rule did not fire: classes of reasons, chains of causes, and fixes that were tried."""

from __future__ import annotations

from typing import Any as AnyType

import pytest
from xdsl.dialects.builtin import ModuleOp

from ge_dialect import remarks
from ge_dialect.ge.activations import ReluOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import AddOp, MulOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.unary import AbsOp, ExpOp, NegOp
from ge_dialect.passes.fusion.conditions import (
    at_most,
    constant,
    element_type,
    multiple_of,
    rank,
    same_shape,
    same_type,
    static,
)
from ge_dialect.passes.fusion.fuse_rules import FuseRulesPass
from ge_dialect.passes.fusion.match import match_rule
from ge_dialect.passes.fusion.pattern import KEEP, Any, Equals, Node, OneOf, Weight
from ge_dialect.passes.fusion.rule import Condition, FusionRule, SiblingRule
from ge_dialect.passes.fusion.trial import saved_bytes
from ge_dialect.passes.raising.raise_composites import RaisePass
from ge_dialect.remarks import ReasonClass
from ge_dialect.targets.dlti import attach_target
from ge_dialect.targets.reader import load_target
from ge_dialect.tools.api import make_context
from tests.fusion_graphs import T, binary, fuse, graph, kernels, parse, unary

NEG_EXP = Node(ExpOp, (Node(NegOp, (Any("x"),), name="neg"),), name="exp")
TEXT = [unary("%a", "neg", "%x"), unary("%y", "exp", "%a")]
INNER = 2 * 4 * 4
"""Bytes of an inner value of the graphs here."""


def rule_of(node: Node = NEG_EXP, name: str = "Test", **options: AnyType) -> FusionRule:
    return FusionRule(name, f"{name}Fusion", node, **options)


def only(found: list[remarks.Remark]) -> remarks.Remark:
    (remark,) = found
    return remark


# Gates


@pytest.mark.parametrize(("opset", "fires"), [(21, True), (22, False), (12, False), (13, True)])
def test_a_rule_is_for_the_opsets_it_was_written_for(opset: int, fires: bool):
    module = graph(*TEXT, attributes=f"ge.opset = {opset} : i64")
    missed = fuse(module, rule_of(min_opset=13, max_opset=21))
    assert bool(kernels(module)) is fires
    if not fires:
        remark = only(missed)
        assert (remark.reason_class, remark.wanted) == (ReasonClass.VERSION, "13 to 21")
        assert remark.found == str(opset)
        assert remark.fix is not None
        assert f"verified: without that it fires and saves {2 * INNER} bytes" in remark.fix


def test_a_model_without_an_opset_is_for_all_rules():
    module = graph(*TEXT)
    assert fuse(module, rule_of(max_opset=13)) == []
    assert kernels(module) == ["TestFusion"]


@pytest.mark.parametrize(
    ("targets", "fires"), [(("Ascend310P3",), False), (("ascend910b1", "Ascend310P3"), True)]
)
def test_a_rule_is_for_the_machines_that_have_the_kernel(targets: tuple[str, ...], fires: bool):
    module = graph(*TEXT)
    attach_target(module, load_target("Ascend910B1"))
    missed = fuse(module, rule_of(targets=targets))
    assert bool(kernels(module)) is fires
    if not fires:
        assert only(missed).reason_class == ReasonClass.TARGET
        assert only(missed).message == "Ascend910B1 has no kernel 'TestFusion'"


def test_a_rule_that_is_turned_off_says_what_it_would_have_done():
    module = graph(*TEXT)
    remark = only(fuse(module, rule_of(), disabled=["Test"]))
    assert kernels(module) == []
    assert remark.reason_class == ReasonClass.DISABLED
    assert remark.fix is not None
    assert remark.fix.endswith(f"it fires and saves {2 * INNER} bytes")


# Fixes that were tried

LAYER_NORM = Node(
    LayerNormOp,
    (Node(NegOp, (Any("x"),), name="neg"),),
    {"axis": KEEP, "epsilon": Equals(1e-5)},
    name="norm",
)


def norm_of(operand: str, epsilon: str) -> str:
    return f"%y = ge.layer_norm {operand} axis -1 epsilon {epsilon} : {T} -> {T}"


def test_another_attribute_is_tried_on_a_clone():
    module = graph(unary("%a", "neg", "%x"), norm_of("%a", "1.0e-06"))
    before = str(module)
    remark = only(fuse(module, rule_of(LAYER_NORM)))
    assert str(module) == before
    assert remark.reason_class == ReasonClass.ATTR
    assert remark.fix == (
        "make it 1e-05 in the model, or register a rule that takes 1e-06;"
        f" verified: with epsilon 1e-05 it fires and saves {2 * INNER} bytes"
    )


def test_a_fix_that_does_not_help_is_not_said():
    # Besides epsilon, a condition fails, which no attribute mends.
    never = Condition("never", ReasonClass.SHAPE, rank("neg", 7).test)
    module = graph(unary("%a", "neg", "%x"), norm_of("%a", "1.0e-06"))
    remark = only(fuse(module, rule_of(LAYER_NORM, conditions=(never,))))
    assert remark.fix is not None
    assert "verified" not in remark.fix


def test_another_result_of_the_kernel_is_tried():
    module = graph(*TEXT, results="%y, %a")
    remark = only(fuse(module, rule_of()))
    assert remark.reason_class == ReasonClass.USE
    # The inner value is still written, but not read again.
    fires = f"verified: with 'neg' among the outputs of the rule it fires and saves {INNER} bytes"
    assert remark.fix == fires


def test_both_causes_are_removed_together():
    module = graph(unary("%a", "neg", "%x"), norm_of("%a", "1.0e-06"), results="%y, %a")
    remark = only(fuse(module, rule_of(LAYER_NORM)))
    assert remark.fix is not None
    assert "with epsilon 1e-05 and 'neg' among the outputs of the rule it fires" in remark.fix


def test_saved_bytes_count_each_reader_inside():
    negated = Node(NegOp, (Any("x"),))
    node = Node(MulOp, (Node(ExpOp, (negated,)), negated))
    module = graph(*TEXT[:1], unary("%e", "exp", "%a"), binary("%y", "mul", "%e", "%a"))
    root = next(op for op in module.walk() if isinstance(op, MulOp))
    # The negated value is written once and read twice, the exponential written and read once.
    assert saved_bytes(match_rule(rule_of(node), root)) == 5 * INNER


# Overlap and order


def test_the_loser_of_an_overlap_names_the_winner():
    # Both rules want the neg; the one of higher priority takes it with the exp, so that the other
    # finds a kernel before its add.
    winner = rule_of(Node(ExpOp, (Node(NegOp, (Any(),), name="n"),)), "Winner", priority=2)
    winner = FusionRule(winner.name, winner.kernel, winner.pattern, outputs=("n",), priority=2)
    negated = Node(NegOp, (Any(),), name="n")
    loser = rule_of(Node(AddOp, (negated, Any())), "Loser", priority=1, outputs=("n",))
    module = graph(*TEXT, binary("%w", "add", "%a", "%z"), results="%y, %w")
    remark = only(fuse(module, winner, loser))
    assert kernels(module) == ["WinnerFusion"]
    assert (remark.rule, remark.reason_class) == ("Loser", ReasonClass.OVERLAP)
    assert (remark.message, remark.found) == ("'Winner' took 'ge.neg' first", "Winner")
    assert remark.fix == "disable 'Winner', or give 'Loser' a higher priority"


def test_a_rule_that_would_not_have_fired_either_says_its_own_reason():
    winner = FusionRule("Winner", "K", NEG_EXP, outputs=("neg",), priority=2)
    loser = rule_of(Node(AddOp, (Node(NegOp, (Any(),)), Any())), "Loser", priority=1)
    for why_not in ([], ["Loser"]):
        module = graph(*TEXT, binary("%w", "add", "%a", "%z"), results="%y, %w")
        remark = only(fuse(module, winner, loser, why_not=why_not))
        assert kernels(module) == ["K"]
        # Were the winner turned off, the exp would still read the neg.
        assert remark.reason_class == ReasonClass.USE
        assert remark.message == "the result of 'ge.neg' has 2 uses, 1 outside: ge.exp"


def test_what_helps_against_another_rule_is_tried():
    def chain(name: str, *ops: type[GEOp], priority: int) -> FusionRule:
        node = Node(ops[0], (Any(),))
        for op in ops[1:]:
            node = Node(op, (node,))
        return rule_of(node, name, priority=priority)

    one = chain("One", NegOp, ExpOp, priority=9)
    two = chain("Two", NegOp, ExpOp, priority=8)
    late = chain("Late", ExpOp, AbsOp, priority=7)
    text = (*TEXT[:1], unary("%e", "exp", "%a"), unary("%y", "abs", "%e"))
    remark = only(fuse(graph(*text), one, late, why_not=["Late"]))
    both = " and saves 64 bytes"
    assert remark.message == "'One' took 'ge.exp' first"
    assert remark.fix is not None
    assert remark.fix.endswith(f"; verified: without 'One' it fires{both}")
    missed = fuse(graph(*text), one, two, late, why_not=["Late"])
    remark = only([r for r in missed if r.rule == "Late"])
    assert remark.fix is not None
    assert remark.fix.endswith(f"; verified: without 'One' and 'Two' it fires{both}")


def test_a_rule_whose_root_another_one_took_tells_what_was_missing():
    winner = rule_of(NEG_EXP, "Winner", priority=9)
    asked = rule_of(Node(ExpOp, (Node(AbsOp, (Any(),)),)), "Asked", priority=-5)
    remark = only(fuse(graph(*TEXT), winner, asked, why_not=["Asked"]))
    assert remark.message == "'ge.exp' reads 'ge.neg' where the rule wants 'ge.abs'"


def test_a_rule_that_was_not_chosen_says_so():
    module = graph(unary("%s", "silu", "%x"), binary("%y", "mul", "%s", "%z"))
    with remarks.collect() as found:
        FuseRulesPass(rules=("AddN",), why_not=("SwiGlu",)).apply(make_context(), module)
    remark = only([r for r in found.remarks if r.rule == "SwiGlu"])
    assert remark.message == "the rule is not among those that were chosen"
    assert remark.fix is not None
    assert remark.fix.startswith("name 'SwiGlu' in '--rules', or leave that out; verified: ")


def test_what_is_not_there_comes_before_a_rule_that_is_turned_off():
    remark = only(
        fuse(graph(unary("%y", "exp", "%x")), rule_of(), why_not=["Test"], disabled=["Test"])
    )
    assert remark.message == "'ge.exp' reads 'an argument' where the rule wants 'ge.neg'"


def test_all_choices_are_named():
    choices = tuple(Node(op, (Any("a"),)) for op in (NegOp, ReluOp))
    rule = rule_of(Node(ExpOp, (OneOf(choices),)))
    module = graph(unary("%a", "abs", "%x"), unary("%y", "exp", "%a"))
    remark = only(fuse(module, rule, why_not=["Test"]))
    assert remark.message == "'ge.exp' reads 'ge.abs' where the rule wants 'ge.neg' or 'ge.relu'"


def test_siblings_are_told_on_request():
    weight = Node(AddOp, (Any("x"), Weight("w")))
    rule = SiblingRule("Three", "K", weight, 3)
    constant = f"%c = ge.constant dense<1.0> : {T}"
    add = [binary(name, "add", "%x", "%c") for name in ("%y", "%b")]
    remark = only(fuse(graph(constant, *add, results="%y, %b"), rule, why_not=["Three"]))
    assert remark.message == "2 siblings, the kernel takes 3"
    remark = only(fuse(graph(*TEXT), rule, why_not=["Three"]))
    assert remark.message == "no 2 'ge.add' that read one value"


def test_a_smaller_rule_inside_a_larger_one_is_told_only_on_request():
    large = rule_of(Node(AbsOp, (NEG_EXP,)), "Large", priority=2)
    for why_not, expected in ((["Small"], [ReasonClass.OVERLAP]), ([], [])):
        module = graph(*TEXT[:1], unary("%e", "exp", "%a"), unary("%y", "abs", "%e"))
        missed = fuse(module, large, rule_of(NEG_EXP, "Small"), why_not=why_not)
        assert [remark.reason_class for remark in missed] == expected
        assert kernels(module) == ["LargeFusion"]


DECOMPOSED = """
func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %two = ge.constant dense<2.0> : tensor<f32>
  %eps = ge.constant dense<1.0e-05> : tensor<f32>
  %m = ge.reduce_mean %x axes [-1] keepdims 1 : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %d = ge.sub %x, %m : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %s = ge.pow %d, %two : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %v = ge.reduce_mean %s axes [-1] keepdims 1 : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %e = ge.add %v, %eps : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %r = ge.sqrt %e : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %n = ge.div %d, %r : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32> loc("norm/div")
  %y = ge.exp %n : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %y, %s : tensor<2x4xf32>, tensor<2x4xf32>
}
"""


def test_a_rule_that_waits_on_raising_says_where_that_stopped():
    norm = Node(LayerNormOp, (Any(),), {"axis": KEEP, "epsilon": KEEP})
    rule = rule_of(Node(ExpOp, (norm,)), "ExpOfNorm")
    module = parse(DECOMPOSED)
    with remarks.collect():
        RaisePass().apply(make_context(), module)
        missed = [r for r in fuse_here(module, rule) if r.rule == "ExpOfNorm"]
    remark = only(missed)
    assert remark.reason_class == ReasonClass.ORDER
    assert remark.message.startswith("waits on 'RaiseLayerNorm' of ge-raise, which stopped: ")
    assert "has 2 uses, 1 outside" in remark.message


def fuse_here(module: ModuleOp, rule: FusionRule) -> list[remarks.Remark]:
    """Applies a rule within the collector around, which holds the remarks of raising."""
    from xdsl.dialects.func import FuncOp

    from ge_dialect.passes.fusion.fuser import Fuser

    function = next(op for op in module.body.block.ops if isinstance(op, FuncOp))
    fuser = Fuser(function.body.block)
    fuser.apply(rule)
    fuser.report()
    return list(remarks.so_far())


def test_a_rule_without_anything_to_start_from_says_so_on_request():
    remark = only(fuse(graph(unary("%y", "abs", "%x")), rule_of(), why_not=["Test"]))
    assert remark.op_name == "func.func"
    assert remark.message == "no 'ge.exp' to start from"


def test_partial_matches_are_told_on_request():
    text = (unary("%a", "abs", "%x"), unary("%y", "exp", "%a"))
    remark = only(fuse(graph(*text), rule_of(), why_not=["Test"]))
    assert remark.message == "'ge.exp' reads 'ge.abs' where the rule wants 'ge.neg'"
    assert fuse(graph(*text), rule_of()) == []


def test_nothing_is_kept_where_nobody_listens():
    module = graph(unary("%a", "neg", "%x"), norm_of("%a", "1.0e-06"))
    FuseRulesPass().apply(make_context(), module)
    root = next(op for op in module.walk() if isinstance(op, LayerNormOp))
    silent = match_rule(rule_of(LAYER_NORM), root)
    assert (silent.ok, silent.failures) == (False, [])


# Conditions

SHAPES = {
    "static": ("tensor<2x4xf32>", "tensor<2x4xf32>"),
    "other": ("tensor<2x4xf32>", "tensor<1x4xf32>"),
    "symbols": (
        'tensor<?x4xf32, #ge.dims<"S">>',
        'tensor<?x4xf32, #ge.dims<"U">>',
    ),
    "symbol": ('tensor<?x4xf32, #ge.dims<"S">>', 'tensor<?x4xf32, #ge.dims<"S">>'),
}


@pytest.mark.parametrize(
    ("shapes", "reason", "found"),
    [
        ("static", None, None),
        ("symbol", None, None),
        ("other", ReasonClass.SHAPE, "[1, 4]"),
        ("symbols", ReasonClass.SYMBOL, "cannot prove S==U"),
    ],
)
def test_shapes_have_to_be_proved_equal(shapes: str, reason: ReasonClass | None, found: str | None):
    a, b = SHAPES[shapes]
    result = a if shapes != "symbols" else "tensor<?x4xf32>"
    text = f"%y = ge.add %a, %b : ({a}, {b}) -> {result}"
    module = parse(
        f"func.func @main(%a: {a}, %b: {b}) -> {result} {{\n{text}\nfunc.return %y : {result}\n}}"
    )
    node = Node(AddOp, (Any("a"), Any("b")))
    missed = fuse(module, rule_of(node, conditions=(same_shape("a", "b"),)), why_not=["Test"])
    assert [(r.reason_class, r.found) for r in missed] == (
        [] if reason is None else [(reason, found)]
    )


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        (at_most("a", 0, 64), None),
        (at_most("a", 0, 63), "S of 16 to 64"),
        (at_most("b", 0, 64), "U without a greatest value"),
        (multiple_of("a", 0, 8), None),
        (multiple_of("a", 0, 32), "S of 16 to 64"),
        (same_shape("a", "b"), "cannot prove S==U"),
        (same_shape("a", "c"), None),
    ],
)
def test_conditions_hold_for_all_that_symbols_may_be(condition: Condition, found: str | None):
    a, b, c = (f'tensor<?x4xf32, #ge.dims<"{dim}">>' for dim in ("S", "U", "S + O"))
    ranges = (
        'S = #ge.symbol<16, 64, 16, "a">, U = #ge.symbol<1, ?, 1, "b">,'
        ' O = #ge.symbol<0, 0, 1, "c">'
    )
    result = "tensor<?x4xf32>"
    module = parse(
        f"func.func @main(%a: {a}, %b: {b}, %c: {c}) -> {result}"
        f" attributes {{ge.symbols = {{{ranges}}}}} {{\n"
        f"%y = ge.concat %a, %b, %c axis 0 : ({a}, {b}, {c}) -> {result}\n"
        f"func.return %y : {result}\n}}"
    )
    node = Node(ConcatOp, (Any("a"), Any("b"), Any("c")), {"axis": KEEP})
    missed = fuse(module, rule_of(node, conditions=(condition,)))
    assert [(r.reason_class, r.found) for r in missed] == (
        [] if found is None else [(ReasonClass.SYMBOL, found)]
    )


@pytest.mark.parametrize(
    ("condition", "reason", "found", "wanted"),
    [
        (element_type("x", "f16", "bf16"), ReasonClass.DTYPE, "f32", "f16 or bf16"),
        (rank("x", 3, 4), ReasonClass.SHAPE, "2", "3 or 4"),
        (multiple_of("x", -1, 16), ReasonClass.SHAPE, "4", "a multiple of 16"),
        (multiple_of("x", 5, 1), ReasonClass.SHAPE, "no such dimension", "a multiple of 1"),
        (at_most("x", 1, 3), ReasonClass.SHAPE, "4", "at most 3"),
        (constant("x"), ReasonClass.CONST, "a computed value", "a constant"),
        (same_type("x", "exp"), None, "", ""),
        (static("x", "neg"), None, "", ""),
    ],
)
def test_conditions_tell_found_and_wanted(
    condition: Condition, reason: ReasonClass | None, found: str, wanted: str
):
    missed = fuse(graph(*TEXT), rule_of(conditions=(condition,)))
    expected = [] if reason is None else [(reason, found, wanted)]
    assert [(r.reason_class, r.found, r.wanted) for r in missed] == expected


def test_a_weight_that_is_computed_is_told():
    node = Node(AddOp, (Node(ExpOp, (Any(),)), Weight("bias")))
    module = graph(unary("%a", "exp", "%x"), binary("%y", "add", "%a", "%z"))
    assert only(fuse(module, rule_of(node))).reason_class == ReasonClass.CONST
