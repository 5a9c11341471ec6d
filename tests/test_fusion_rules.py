"""Fusion rules: strict registration, typed comparison, captures; fused and unfused agree."""

from __future__ import annotations

from typing import Any as AnyType

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import FloatAttr, ModuleOp, StringAttr, f16, f32

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.activations import LeakyReluOp
from ge_dialect.ge.binary import AddOp, MulOp, SubOp
from ge_dialect.ge.contractions import MatmulOp
from ge_dialect.ge.dropout import DropoutOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.ge.reductions import SoftmaxOp
from ge_dialect.ge.structure import FusionOp
from ge_dialect.ge.unary import ExpOp, NegOp
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.fusion.fuse_rules import FuseRulesPass
from ge_dialect.passes.fusion.pattern import KEEP, Absent, Any, Equals, Maybe, Node, Weight, Within
from ge_dialect.passes.fusion.registry import built_in_rules, default_registry
from ge_dialect.passes.fusion.rule import FusionRule, Rule, RuleRegistry, SiblingRule
from ge_dialect.tools.api import make_context
from tests.fusion_graphs import T, binary, fuse, graph, kernels, parse, unary

Array = npt.NDArray[AnyType]


def rule_of(node: Node, name: str = "Test", **options: AnyType) -> FusionRule:
    return FusionRule(name, f"{name}Fusion", node, **options)


# Registration


def refused(*rules: Rule) -> GEError:
    registry = RuleRegistry()
    with pytest.raises(GEError) as caught:
        for rule in rules:
            registry.register(rule)
    return caught.value


def test_a_rule_that_leaves_an_attribute_open_is_refused():
    error = refused(rule_of(Node(ExpOp, (Node(LayerNormOp, (Any(),), {"axis": KEEP}),))))
    assert error.code == "GE0422"
    assert error.message == "rule 'Test' leaves open 'epsilon' of 'ge.layer_norm'"


def test_a_rule_that_names_an_unknown_attribute_is_refused():
    error = refused(rule_of(Node(ExpOp, (Any(),), {"epsilon": KEEP})))
    assert error.code == "GE0422"
    assert error.message == "rule 'Test' names what is not there: 'epsilon' of 'ge.exp'"


def test_optional_ops_are_checked_as_well():
    inner = Maybe(Node(LeakyReluOp, (Any(),)))
    assert "'alpha' of 'ge.leaky_relu'" in refused(rule_of(Node(ExpOp, (inner,)))).message


def test_a_name_is_taken_once():
    rule = rule_of(Node(ExpOp, (Any(),)))
    error = refused(rule, rule)
    assert (error.code, error.message) == (
        "GE0420",
        "expected distinct rule names, got 'Test' twice",
    )


def test_an_unknown_name_is_an_error_that_lists_the_known_ones():
    for chosen in (FuseRulesPass(rules=("Foo",)), FuseRulesPass(disable=("Foo",))):
        with pytest.raises(GEError) as caught:
            chosen.apply(make_context(), ModuleOp([]))
        assert caught.value.code == "GE0421"
        assert "expected rules among FlashAttentionLayerNormDropoutAdd" in caught.value.message
        assert "got 'Foo'" in caught.value.message


@pytest.mark.parametrize("operands", [(), (Weight(),), (Any(), Any()), (Node(ExpOp), Weight())])
def test_siblings_share_one_value_and_read_constants_besides(operands: AnyType):
    assert refused(SiblingRule("S", "K", Node(MatmulOp, operands), 2)).code == "GE0423"


def test_rules_are_tried_by_priority_then_size_then_name():
    one, two = Node(ExpOp, (Any(),)), Node(ExpOp, (Node(NegOp, (Any(),)),))
    registry = RuleRegistry()
    for name, node, priority in (("b", one, 0), ("a", one, 0), ("c", two, 0), ("d", one, 9)):
        registry.register(rule_of(node, name, priority=priority))
    assert [rule.name for rule in registry.ordered()] == ["d", "c", "a", "b"]
    assert [rule.name for rule in registry.ordered(["b", "d"])] == ["d", "b"]


def test_built_in_rules_register():
    assert list(default_registry().rules) == [rule.name for rule in built_in_rules()]
    registry = RuleRegistry()  # that of compilations trusts them
    for rule in built_in_rules():
        registry.register(rule)
    assert registry.rules == default_registry().rules


# Comparison


@pytest.mark.parametrize("type_", [f32, f16])
def test_a_number_is_compared_in_the_type_of_the_attribute(type_: AnyType):
    attr = FloatAttr(1e-5, type_)
    assert attr.value.data != 1e-5  # rounded when it was stored
    assert Equals(1e-5).test(attr).holds
    assert Within(1e-6, 1e-5).test(attr).holds
    verdict = Equals(1e-6).test(FloatAttr(1e-5, f32))
    assert (verdict.holds, verdict.found, verdict.wanted) == (False, "1e-05", "1e-06")


def test_what_is_no_number_equals_none():
    for attr in (None, StringAttr("1")):
        assert not Equals(1).test(attr).holds
        assert not Within(0, 2).test(attr).holds
    assert Absent().test(None).holds
    assert not Absent().test(StringAttr("1")).holds
    assert not Within(0, 1).test(FloatAttr(float("nan"), f32)).holds


# Matching

NORM = "ge.layer_norm {} axis -1 epsilon {} : " + f"{T} -> {T}"


@pytest.mark.parametrize(
    ("epsilon", "fires"), [("1.0e-05", True), ("1.0e-06", True), ("1.0e-04", False)]
)
def test_a_range_of_values(epsilon: str, fires: bool):
    node = Node(
        LayerNormOp, (Node(ExpOp, (Any(),)),), {"axis": KEEP, "epsilon": Within(1e-6, 1e-5)}
    )
    module = graph(unary("%a", "exp", "%x"), f"%y = {NORM.format('%a', epsilon)}")
    missed = fuse(module, rule_of(node))
    assert (kernels(module) == ["TestFusion"]) is fires
    if not fires:
        (remark,) = missed
        assert remark.reason_class == remarks.ReasonClass.ATTR
        assert (remark.found, remark.wanted) == ("0.0001", "1e-06 to 1e-05")


def test_an_epsilon_is_carried_into_the_kernel():
    node = Node(LayerNormOp, (Node(AddOp, (Any(), Any())),), {"axis": KEEP, "epsilon": KEEP})
    module = graph(binary("%a", "add", "%x", "%z"), f"%y = {NORM.format('%a', '1.0e-03')}")
    small = [np.full((2, 4), 1e-3, np.float32) * np.arange(4, dtype=np.float32)] * 2
    before = run_function(module, small)
    fuse(module, rule_of(node))
    assert kernels(module) == ["TestFusion"]
    np.testing.assert_array_equal(run_function(module, small)[0], before[0])


SQUARE = Node(ExpOp, (Node(MulOp, (Any("a"), Any("a"))),))


@pytest.mark.parametrize(("rhs", "fires"), [("%x", True), ("%z", False)])
def test_a_repeated_capture_is_one_value(rhs: str, fires: bool):
    module = graph(binary("%a", "mul", "%x", rhs), unary("%y", "exp", "%a"))
    fuse(module, rule_of(SQUARE))
    assert (kernels(module) == ["TestFusion"]) is fires


def test_a_capture_repeats_across_ops_and_orders():
    # x - exp(x), and x + exp(x) in either order.
    plus = rule_of(Node(AddOp, (Any("a"), Node(ExpOp, (Any("a"),))), commutes=True), "Plus")
    minus = rule_of(Node(SubOp, (Any("a"), Node(ExpOp, (Any("a"),)))), "Minus")
    for name, lhs, rhs, expected in (
        ("add", "%x", "%e", ["PlusFusion"]),
        ("add", "%e", "%x", ["PlusFusion"]),
        ("add", "%e", "%z", []),
        ("sub", "%x", "%e", ["MinusFusion"]),
        ("sub", "%e", "%x", []),
    ):
        module = graph(unary("%e", "exp", "%x"), binary("%y", name, lhs, rhs))
        fuse(module, plus, minus)
        assert kernels(module) == expected, (name, lhs, rhs)


@pytest.mark.parametrize("with_op", [True, False])
def test_an_optional_op_may_be_left_out(with_op: bool):
    node = Node(ExpOp, (Maybe(Node(NegOp, (Node(SoftmaxOp, (Any(),), {"axis": KEEP}),))),))
    middle = [unary("%n", "neg", "%s")] if with_op else []
    softmax = f"%s = ge.softmax %x axis -1 : ({T}) -> {T}"
    module = graph(softmax, *middle, unary("%y", "exp", "%n" if with_op else "%s"))
    fuse(module, rule_of(node))
    assert kernels(module) == ["TestFusion"]
    fusion = next(op for op in module.walk() if isinstance(op, FusionOp))
    assert len(list(fusion.body.block.ops)) == 3 + with_op


def test_an_inner_value_that_is_used_outside_blocks_a_match():
    node = Node(ExpOp, (Node(NegOp, (Any(),)),))
    module = graph(unary("%a", "neg", "%x"), unary("%y", "exp", "%a"), results="%y, %a")
    (missed,) = fuse(module, rule_of(node))
    assert kernels(module) == []
    assert missed.reason_class == remarks.ReasonClass.USE
    assert missed.message == "the result of 'ge.neg' has 2 uses, 1 outside: func.return"


def test_an_inner_value_that_a_region_reads_blocks_a_match():
    branch = f"ge.if %c : tensor<i1> -> {T} then {{\nge.yield %a : {T}\n}}"
    branch += f" else {{\nge.yield %x : {T}\n}}"
    module = graph(
        "%c = ge.constant dense<true> : tensor<i1>",
        unary("%a", "neg", "%x"),
        unary("%y", "exp", "%a"),
        f"%w = {branch}",
        results="%y, %w",
    )
    (missed,) = fuse(module, rule_of(Node(ExpOp, (Node(NegOp, (Any(),)),))))
    assert kernels(module) == []
    assert "1 outside: ge.yield" in missed.message


def test_an_inner_value_that_is_used_twice_inside_is_no_obstacle():
    # exp(n) * n with n = -x: both users are in the kernel.
    negated = Node(NegOp, (Any("x"),))
    module = graph(
        unary("%n", "neg", "%x"), unary("%e", "exp", "%n"), binary("%y", "mul", "%e", "%n")
    )
    before = run_function(module, INPUTS)
    fuse(module, rule_of(Node(MulOp, (Node(ExpOp, (negated,)), negated))))
    assert kernels(module) == ["TestFusion"]
    fusion = next(op for op in module.walk() if isinstance(op, FusionOp))
    assert [op.name for op in fusion.body.block.ops] == ["ge.neg", "ge.exp", "ge.mul", "ge.yield"]
    np.testing.assert_array_equal(run_function(module, INPUTS)[0], before[0])


def test_only_the_first_result_of_an_op_is_what_a_pattern_means():
    cast = f"%y = ge.cast %m : (tensor<2x4xi1>) -> {T}"
    module = graph(f"%d, %m = ge.dropout %x : {T} -> {T}, tensor<2x4xi1>", cast)
    from ge_dialect.ge.elementwise import CastOp

    inner = Node(DropoutOp, (Any(),), {"seed": KEEP})
    fuse(module, rule_of(Node(CastOp, (inner,))), rule_of(Node(CastOp, (Maybe(inner),)), "Maybe"))
    assert kernels(module) == ["MaybeFusion"]  # of the cast alone
    fusion = next(op for op in module.walk() if isinstance(op, FusionOp))
    assert [op.name for op in fusion.body.block.ops] == ["ge.cast", "ge.yield"]


def test_a_constant_that_is_wanted_is_named_where_it_is_none():
    node = Node(AddOp, (Node(ExpOp, (Any(),)), Weight("bias")))
    module = graph(unary("%a", "exp", "%x"), binary("%y", "add", "%a", "%z"))
    (missed,) = fuse(module, rule_of(node))
    assert missed.reason_class == remarks.ReasonClass.CONST
    assert missed.message == "operand 'bias' of 'ge.add' is no constant"


def test_scalar_constants_become_part_of_the_kernel_and_others_its_inputs():
    node = Node(AddOp, (Node(MulOp, (Any(), Weight())), Weight()))
    module = graph(
        f"%s = ge.constant dense<2.0> : {T.replace('2x4x', '')}",
        f"%w = ge.constant dense<3.0> : {T}",
        f"%a = ge.mul %x, %s : ({T}, tensor<f32>) -> {T}",
        binary("%y", "add", "%a", "%w"),
    )
    fuse(module, rule_of(node))
    fusion = next(op for op in module.walk() if isinstance(op, FusionOp))
    assert len(fusion.arguments) == 2
    assert sum(op.name == "ge.constant" for op in fusion.body.block.ops) == 1
    (y,) = run_function(module, INPUTS)
    np.testing.assert_array_equal(y, INPUTS[0] * np.float32(2) + np.float32(3))


def test_siblings_are_compared_by_their_attributes():
    rule = SiblingRule("S", "K", Node(LeakyReluOp, (Any(),), {"alpha": Equals(0.5)}), 2)
    line = "{} = ge.leaky_relu %x alpha {} : " + f"({T}) -> {T}"
    for alphas, expected in ((("0.5", "0.5"), ["K"]), (("0.5", "0.25"), [])):
        lines = [line.format(name, alpha) for name, alpha in zip(("%y", "%w"), alphas, strict=True)]
        module = graph(*lines, results="%y, %w")
        missed = fuse(module, rule)
        assert kernels(module) == expected
        assert [remark.found for remark in missed] == ([] if expected else ["0.25"])


# The rules of the library: what they fuse computes the same.

INPUTS = [np.linspace(-2, 2, 8, dtype=np.float32).reshape(2, 4), np.ones((2, 4), np.float32)]
Q = "tensor<1x2x8x8xf32>"
FLASH = f"ge.flash_attention %q, %k, %v scale 0.353553 : ({Q}, {Q}, {Q}) -> {Q}"


def block(*lines: str, results: str = "%y") -> ModuleOp:
    types = ", ".join([Q] * len(results.split(",")))
    arguments = ", ".join(f"{name}: {Q}" for name in ("%q", "%k", "%v", "%x"))
    body = "\n".join((f"%a = {FLASH}", *lines))
    return parse(
        f"func.func @main({arguments}) -> ({types}) {{\n{body}\nfunc.return {results} : {types}\n}}"
    )


def norm(operand: str, epsilon: str, result: str = "%n") -> str:
    return f'{result} = ge.layer_norm {operand} axis -1 epsilon {epsilon} : {Q} -> {Q} loc("norm")'


def dropout(operand: str, ratio: str, training: str) -> list[str]:
    mask = Q.replace("f32", "i1")
    return [
        f"%p = ge.constant dense<{ratio}> : tensor<f32>",
        f"%t = ge.constant dense<{training}> : tensor<i1>",
        f"%d, %m = ge.dropout {operand} ratio %p : tensor<f32> training_mode %t : tensor<i1>"
        f" : {Q} -> {Q}, {mask}",
    ]


def add(lhs: str, rhs: str) -> str:
    return f"%y = ge.add {lhs}, {rhs} : ({Q}, {Q}) -> {Q}"


LIBRARY: dict[str, tuple[list[str], str, list[str]]] = {
    "norm": ([norm("%a", "1.0e-05", "%y")], "%y", ["FlashAttentionLayerNormFusion"]),
    "norm with another epsilon": ([norm("%a", "1.0e-06", "%y")], "%y", []),
    "norm, dropout, add": (
        [norm("%a", "1.0e-05"), *dropout("%n", "0.0", "true"), add("%x", "%d")],
        "%y",
        ["FlashAttentionLayerNormDropoutAddFusion"],
    ),
    "norm, dropout, add with another epsilon": (
        [norm("%a", "1.0e-06"), *dropout("%n", "0.0", "true"), add("%x", "%d")],
        "%y",
        [],
    ),
    "norm, dropout off, add": (
        [norm("%a", "1.0e-05"), *dropout("%n", "0.5", "false"), add("%d", "%x")],
        "%y",
        ["FlashAttentionLayerNormDropoutAddFusion"],
    ),
    "norm, add": (
        [norm("%a", "1.0e-05"), add("%n", "%x")],
        "%y",
        ["FlashAttentionLayerNormDropoutAddFusion"],
    ),
    "norm added to itself": (
        [norm("%a", "1.0e-05"), add("%n", "%n")],
        "%y",
        ["FlashAttentionLayerNormFusion"],
    ),
    "dropout": (
        [line.replace("%d,", "%y,") for line in dropout("%a", "0.0", "true")],
        "%y",
        ["FlashAttentionDropoutFusion"],
    ),
    "attention used outside": ([norm("%a", "1.0e-05")], "%n, %a", []),
    "norm used outside": (
        [norm("%a", "1.0e-05"), add("%n", "%x")],
        "%y, %n",
        ["FlashAttentionLayerNormFusion"],
    ),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_fuses_and_the_values_stay(name: str):
    lines, results, expected = LIBRARY[name]
    module = block(*lines, results=results)
    generator = np.random.default_rng(7)
    feeds: list[Array] = [generator.standard_normal((1, 2, 8, 8), np.float32) for _ in range(4)]
    before = run_function(module, feeds)
    FuseRulesPass().apply(make_context(), module)
    module.verify()
    assert kernels(module) == expected
    for found, value in zip(run_function(module, feeds), before, strict=True):
        np.testing.assert_array_equal(found, value)


def test_projections_are_fused_and_the_values_stay():
    square = "tensor<4x4xf32>"
    lines = [
        line
        for name, value in (("q", 0.5), ("k", -2.0), ("v", 3.0))
        for line in (
            f"%w{name} = ge.constant dense<{value}> : {square}",
            f"%{name} = ge.matmul %x, %w{name} : ({T}, {square}) -> {T}",
            unary(f"%{name}e", "neg", f"%{name}"),
        )
    ]
    module = graph(*lines, results="%qe, %ke, %ve")
    before = run_function(module, INPUTS)
    FuseRulesPass().apply(make_context(), module)
    module.verify()
    assert kernels(module) == ["QKVProjectionFusion"]
    for found, value in zip(run_function(module, INPUTS), before, strict=True):
        np.testing.assert_array_equal(found, value)


def test_a_miss_says_where_what_and_how_to_mend_it():
    module = block(norm("%a", "1.0e-06", "%y"))
    with remarks.collect() as found:
        FuseRulesPass().apply(make_context(), module)
    (missed,) = found.remarks
    assert missed.rule == "FlashAttentionLayerNorm"
    assert missed.location == "norm"
    assert (missed.found, missed.wanted) == ("1e-06", "1e-05")
    assert missed.fix is not None
    assert "set epsilon to 1e-05" in missed.fix
    assert "register a rule" in missed.fix


def test_a_disabled_rule_does_not_fire_and_others_may():
    module = block(norm("%a", "1.0e-05"), add("%n", "%x"))
    FuseRulesPass(disable=("FlashAttentionLayerNormDropoutAdd",)).apply(make_context(), module)
    assert kernels(module) == ["FlashAttentionLayerNormFusion"]
