"""What patterns can say: alternatives, constants, casts, several results, optional operands."""

from __future__ import annotations

from typing import Any as AnyType

import numpy as np
import pytest
from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, StringAttr, UnitAttr, f16, f32, i64

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.binary import AddOp, MulOp, SubOp
from ge_dialect.ge.dropout import DropoutOp
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.ge.reductions import SoftmaxOp
from ge_dialect.ge.unary import ExpOp, NegOp
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.fusion.attrs import attribute_of
from ge_dialect.passes.fusion.conditions import same_shape
from ge_dialect.passes.fusion.pattern import (
    DONT_CARE,
    KEEP,
    NOTHING,
    Among,
    Any,
    Const,
    Equals,
    Node,
    OneOf,
    Present,
    Weight,
)
from ge_dialect.passes.fusion.rule import Condition, FusionRule, RuleRegistry
from ge_dialect.remarks import ReasonClass
from tests.fusion_graphs import T, binary, bodies, fuse, graph, kernels, parse, unary

INPUTS = [np.linspace(-2, 2, 8, dtype=np.float32).reshape(2, 4), np.ones((2, 4), np.float32)]
NEG_EXP = Node(ExpOp, (Node(NegOp, (Any("x"),), name="neg"),), name="exp")


def rule_of(node: Node, name: str = "Test", **options: AnyType) -> FusionRule:
    return FusionRule(name, f"{name}Fusion", node, **options)


# Attributes


def test_values_of_every_kind_are_compared():
    perm = DenseArrayBase.from_list(i64, [1, 0])
    assert Equals((1, 0)).test(perm).holds
    assert not Equals((0, 1)).test(perm).holds
    assert Equals("tanh").test(StringAttr("tanh")).holds
    assert Equals(True).test(attribute_of(True, None)).holds
    assert not Equals(1).test(attribute_of(True, None)).holds
    assert Among((1e-5, 1e-6)).test(FloatAttr(1e-6, f32)).holds
    assert Present().test(UnitAttr()).holds
    assert not Present().test(None).holds


def test_numbers_that_look_alike_are_told_apart_with_all_digits():
    near = FloatAttr(np.nextafter(np.float32(1e-5), np.float32(1)).item(), f32)
    verdict = Equals(1e-5).test(near)
    assert not verdict.holds
    assert verdict.found == "1.0000000656873453e-05"
    assert verdict.wanted == "9.999999747378752e-06 (1e-05 rounded to its type)"


def test_a_repair_is_an_attribute_that_fits():
    for spec in (Equals(1e-5), Among((1e-5,)), Present(), KEEP, DONT_CARE):
        assert spec.test(spec.repaired(FloatAttr(1e-3, f16))).holds, spec


# Structure


@pytest.mark.parametrize(("name", "fires"), [("neg", True), ("relu", True), ("abs", False)])
def test_any_of_several_ops_may_stand_there(name: str, fires: bool):
    from ge_dialect.ge.activations import ReluOp

    either = OneOf((Node(NegOp, (Any(),)), Node(ReluOp, (Any(),))))
    module = graph(unary("%a", name, "%x"), unary("%y", "exp", "%a"))
    fuse(module, rule_of(Node(ExpOp, (either,))))
    assert kernels(module) == (["TestFusion"] if fires else [])


def test_one_kernel_may_have_several_patterns():
    other = Node(AddOp, (Node(NegOp, (Any(),)), Any()), commutes=True)
    module = graph(
        unary("%a", "neg", "%x"),
        unary("%e", "exp", "%a"),
        unary("%b", "neg", "%z"),
        binary("%y", "add", "%e", "%b"),
    )
    fuse(module, rule_of(NEG_EXP, alternatives=(other,)))
    assert bodies(module) == [["ge.neg", "ge.exp", "ge.yield"], ["ge.neg", "ge.add", "ge.yield"]]


@pytest.mark.parametrize(("lhs", "rhs"), [("%e", "%x"), ("%x", "%e")])
@pytest.mark.parametrize(("first", "second"), [("%x", "%m"), ("%m", "%x")])
def test_operands_of_both_commutative_ops_may_be_swapped(
    lhs: str, rhs: str, first: str, second: str
):
    # add(x, mul(x, exp(x))): a capture that repeats decides which order is meant.
    product = Node(MulOp, (Any("a"), Node(ExpOp, (Any("a"),))), commutes=True)
    rule = rule_of(Node(AddOp, (Any("a"), product), commutes=True))
    module = graph(
        unary("%e", "exp", "%x"), binary("%m", "mul", lhs, rhs), binary("%y", "add", first, second)
    )
    assert fuse(module, rule) == []
    assert kernels(module) == ["TestFusion"]


def test_a_later_condition_can_choose_the_order_of_operands():
    # Both orders fit structurally; only one of them has the shape that the condition wants.
    row = "tensor<4xf32>"
    text = f"%y = ge.add %x, %r : ({T}, {row}) -> {T}"
    module = parse(
        f"func.func @main(%x: {T}, %r: {row}) -> {T} {{\n{text}\nfunc.return %y : {T}\n}}"
    )
    wide = same_shape("wide", "sum")
    add = Node(AddOp, (Any("row"), Any("wide")), commutes=True, name="sum")
    fuse(module, rule_of(add, conditions=(wide,)))
    assert kernels(module) == ["TestFusion"]


@pytest.mark.parametrize(("value", "fires"), [("0.1", True), ("0.2", False)])
def test_a_constant_is_compared_in_its_own_type(value: str, fires: bool):
    module = graph(
        f"%c = ge.constant dense<{value}> : tensor<f32>",
        f"%y = ge.mul %x, %c : ({T}, tensor<f32>) -> {T}",
    )
    missed = fuse(module, rule_of(Node(MulOp, (Any(), Const(0.1)))), why_not=["Test"])
    assert kernels(module) == (["TestFusion"] if fires else [])
    if not fires:
        assert [(r.reason_class, r.found, r.wanted) for r in missed] == [
            (ReasonClass.CONST, "0.2", "0.1")
        ]


@pytest.mark.parametrize("with_bias", [True, False])
def test_an_optional_operand_is_named(with_bias: bool):
    scale = "scale %s : tensor<4xf32>" if not with_bias else "bias %s : tensor<4xf32>"
    module = graph(
        "%s = ge.constant dense<2.0> : tensor<4xf32>",
        f"%y = ge.layer_norm %x {scale} axis -1 epsilon 1.0e-05 : {T} -> {T}",
    )
    ports = {"scale": NOTHING, "bias": Weight("bias")}
    node = Node(LayerNormOp, (Any(),), {"axis": KEEP, "epsilon": KEEP}, ports=ports)
    fuse(module, rule_of(node))
    assert kernels(module) == (["TestFusion"] if with_bias else [])


def test_another_result_is_matched_where_it_is_asked_for():
    mask = "tensor<2x4xi1>"
    module = graph(
        f"%d, %m = ge.dropout %x : {T} -> {T}, {mask}", f"%y = ge.cast %m : ({mask}) -> {T}"
    )
    dropout = Node(DropoutOp, (Any(),), {"seed": KEEP}, result=1)
    fuse(module, rule_of(Node(CastOp, (dropout,))))
    assert bodies(module) == [["ge.dropout", "ge.cast", "ge.yield"]]


# Casts

HALF = T.replace("f32", "f16")


def softmax_in_f32(tolerant: bool) -> tuple[AnyType, FusionRule]:
    module = parse(
        f"func.func @main(%x: {HALF}) -> {HALF} {{\n"
        f"%n = ge.neg %x : ({HALF}) -> {HALF}\n"
        f"%w = ge.cast %n : ({HALF}) -> {T}\n"
        f"%s = ge.softmax %w axis -1 : ({T}) -> {T}\n"
        f"%h = ge.cast %s : ({T}) -> {HALF}\n"
        f"%y = ge.exp %h : ({HALF}) -> {HALF}\n"
        f"func.return %y : {HALF}\n}}"
    )
    softmax = Node(SoftmaxOp, (Node(NegOp, (Any(),)),), {"axis": KEEP})
    return module, rule_of(Node(ExpOp, (softmax,)), cast_tolerant=tolerant)


def test_a_tolerant_rule_takes_casts_into_the_kernel():
    module, rule = softmax_in_f32(True)
    feeds = [INPUTS[0].astype(np.float16)]
    before = run_function(module, feeds)
    assert fuse(module, rule) == []
    names = ["ge.neg", "ge.cast", "ge.softmax", "ge.cast", "ge.exp", "ge.yield"]
    assert bodies(module) == [names]
    np.testing.assert_array_equal(run_function(module, feeds)[0], before[0])


def test_any_other_rule_says_which_cast_is_in_the_way():
    module, rule = softmax_in_f32(False)
    missed = fuse(module, rule)
    assert kernels(module) == []
    (remark,) = missed
    assert remark.reason_class == ReasonClass.DTYPE
    assert remark.message == "a cast from f32 to f16 stands between 'ge.softmax' and 'ge.exp'"
    assert remark.fix is not None
    assert "verified: with a cast-tolerant rule it fires" in remark.fix


# Several results


def test_an_inner_value_can_be_a_result_as_well():
    module = graph(unary("%a", "neg", "%x"), unary("%y", "exp", "%a"), results="%y, %a")
    before = run_function(module, INPUTS)
    assert fuse(module, rule_of(NEG_EXP, outputs=("neg",))) == []
    assert kernels(module) == ["TestFusion"]
    for found, wanted in zip(run_function(module, INPUTS), before, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_what_reads_an_escaping_value_moves_behind_the_kernel():
    module = graph(
        unary("%a", "neg", "%x"),
        unary("%r", "relu", "%a"),
        binary("%s", "add", "%r", "%z"),
        unary("%y", "exp", "%a"),
        results="%y, %s",
    )
    before = run_function(module, INPUTS)
    assert fuse(module, rule_of(NEG_EXP, outputs=("neg",))) == []
    assert kernels(module) == ["TestFusion"]
    for found, wanted in zip(run_function(module, INPUTS), before, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_kernel_never_reads_what_depends_on_its_own_result():
    # sub(exp(n), relu(n)) with n = neg(x): the relu is outside and comes back in.
    node = Node(SubOp, (NEG_EXP, Any("other")))
    module = graph(
        unary("%n", "neg", "%x"),
        unary("%r", "relu", "%n"),
        unary("%e", "exp", "%n"),
        binary("%y", "sub", "%e", "%r"),
    )
    (missed,) = fuse(module, rule_of(node, outputs=("neg",)))
    assert kernels(module) == []
    assert (missed.reason_class, missed.found) == (ReasonClass.USE, "a reader before the kernel")


def test_what_has_an_effect_does_not_move():
    random = f'%r = ge.host_call "ai.onnx::RandomNormalLike" version 22 (%a) : ({T}) -> {T}'
    module = graph(unary("%a", "neg", "%x"), random, unary("%y", "exp", "%a"), results="%y, %r")
    (missed,) = fuse(module, rule_of(NEG_EXP, outputs=("neg",)))
    assert kernels(module) == []
    assert missed.reason_class == ReasonClass.USE


# Refusals


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (rule_of(NEG_EXP, outputs=("sum",)), "'outputs' names 'sum', which is no inner op"),
        (rule_of(Node(ExpOp, (Any(),), ports={"bias": NOTHING})), "'ge.exp' has no operand 'bias'"),
        (
            rule_of(Node(ExpOp, (Any(),), commutes=True)),
            "'ge.exp' commutes with 1 operands, expected 2",
        ),
        (rule_of(Node(ExpOp, (Node(NegOp, (Any(),), result=1),))), "'ge.neg' has no result 1"),
    ],
)
def test_a_pattern_that_can_not_be_right_is_refused(rule: FusionRule, problem: str):
    with pytest.raises(GEError) as caught:
        RuleRegistry().register(rule)
    assert (caught.value.code, caught.value.message) == ("GE0424", f"rule 'Test': {problem}")


def test_a_condition_has_to_give_a_verdict():
    bare = Condition("bare", ReasonClass.ATTR, lambda match: True)  # pyright: ignore[reportArgumentType]  # the fault
    with pytest.raises(GEError) as caught:
        fuse(graph(unary("%y", "exp", "%x")), rule_of(Node(ExpOp, (Any(),)), conditions=(bare,)))
    assert caught.value.code == "GE0426"
    assert "condition 'bare' gave True" in caught.value.message
