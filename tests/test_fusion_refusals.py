"""Rules of others that are wrong: refused with one line, by their form or by trying them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any as AnyType

import pytest
from xdsl.dialects.builtin import FloatAttr, f16, f32

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.activations import GeluOp, ReluOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import AddOp, DivOp, MulOp, SubOp
from ge_dialect.ge.constants import ConstantOp, splat_constant
from ge_dialect.ge.contractions import GemmOp
from ge_dialect.ge.elementwise import CastOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.ge.pieces import SplitOp
from ge_dialect.ge.structure import LoopOp
from ge_dialect.ge.types import element_type_of, tensor_type
from ge_dialect.ge.unary import AbsOp, NegOp
from ge_dialect.passes.fusion.chain import Chain, chain_rule
from ge_dialect.passes.fusion.conditions import element_type, same_shape
from ge_dialect.passes.fusion.content import content_key
from ge_dialect.passes.fusion.fuse_rules import FuseRulesPass
from ge_dialect.passes.fusion.match import Match
from ge_dialect.passes.fusion.pattern import (
    KEEP,
    NOTHING,
    Among,
    Any,
    AttrSpec,
    Const,
    Equals,
    Maybe,
    Node,
    OneOf,
    Pattern,
    Verdict,
    Weight,
    Within,
)
from ge_dialect.passes.fusion.rule import Condition, FusionRule, Rule, RuleRegistry, SiblingRule
from ge_dialect.passes.fusion.selfcheck import check_rule
from ge_dialect.passes.fusion.sources import as_rules, load_rules
from ge_dialect.remarks import ReasonClass
from ge_dialect.tools.api import make_context
from tests.fusion_graphs import fuse, graph, kernels, parse, unary

NEG = Node(NegOp, (Any("a"),), name="neg")
RELU = Node(ReluOp, (NEG,))
LOOP = Node(LoopOp, (Any("n"), Any("c"), Any("x")))
CONSTANT = Node(ConstantOp, (), {"value": KEEP})
ADD = Node(AddOp, (Any("a"), Any("b")), name="sum")


def rule_of(node: AnyType = RELU, name: AnyType = "X", **options: AnyType) -> FusionRule:
    options.setdefault("kernel", "XFusion")
    return FusionRule(name, pattern=node, **options)


def refused(rule: Rule) -> str:
    """Returns why a rule is refused when it is registered."""
    with pytest.raises(GEError) as caught:
        RuleRegistry().register(rule)
    assert caught.value.code in ("GE0423", "GE0424")
    return caught.value.message


def wrong(rule: Rule) -> str:
    """Returns why a rule is refused when it is tried."""
    RuleRegistry().register(rule)
    with pytest.raises(GEError) as caught:
        check_rule(rule)
    return f"{caught.value.code}: {caught.value.message}"


def _norm(epsilon: AnyType, **ports: Pattern) -> Node:
    attrs = {"axis": KEEP, "epsilon": epsilon}
    return Node(LayerNormOp, (ADD,), attrs, name="norm", ports=ports)


def _alone(epsilon: AnyType) -> Node:
    return _norm(epsilon, scale=NOTHING, bias=NOTHING)


def _axis(value: AnyType) -> Node:
    return Node(LayerNormOp, (ADD,), {"axis": Equals(value), "epsilon": KEEP})


# Form


@pytest.mark.parametrize("name", ["", "a b", "A,B", "A:1", "my.rule", "a/b", 3, None])
def test_a_name_has_to_fit_into_lists(name: AnyType):
    assert refused(rule_of(name=name)) == f"a rule may not be named {name!r}"


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("kernel", "", "a text"),
        ("priority", "high", "a whole number"),
        ("priority", True, "a whole number"),
        ("outputs", "neg", "a tuple of texts"),
        ("targets", "Ascend910B", "a tuple of texts"),
        ("aliases", (1,), "a tuple of texts"),
        ("cast_tolerant", 1, "True or False"),
        ("precision", None, "a text"),
        ("min_opset", "13", "a whole number"),
        ("tolerance", -1.0, "a number from 0 on"),
        ("tolerance", float("nan"), "a number from 0 on"),
        ("replacement", 3, "a function"),
    ],
)
def test_each_field_is_of_its_kind(field: str, value: object, wanted: str):
    message = refused(rule_of(**{field: value}))
    assert message == f"rule 'X': expected '{field}' to be {wanted}, got {value!r}"


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (rule_of((RELU,)), "expected a pattern to be a Node"),
        (rule_of(Node(ReluOp, ("a",))), "expected a part of a pattern, got 'a'"),  # pyright: ignore[reportArgumentType]
        (rule_of(conditions=(print,)), "expected a tuple of Conditions"),
        (rule_of(min_opset=20, max_opset=10), "expected min_opset <= max_opset, got 20 and 10"),
        (rule_of(outputs=("neg",), replacement=print), "gives the results of the root only"),
        (rule_of(Node(ReluOp, (Any("a"), Any("b")))), "'ge.relu' has at most 1 operands"),
        (rule_of(_norm(Within(1e-5, 1e-6))), "can never be from 1e-05 to 1e-06"),
        (rule_of(_norm(Equals(float("nan")))), "can never be nan"),
        (rule_of(_norm(Equals("1e-5"))), "can never be '1e-5'"),
        (rule_of(_norm(Among(()))), "can never be one of no values"),
        (rule_of(_norm(Among((1e-5, True)))), "can never be True"),
        (rule_of(_axis(0.5)), "attribute 'axis' of 'ge.layer_norm' can never be 0.5"),
        (rule_of(conditions=(same_shape("a", "b"),)), "is about 'b', which no pattern has"),
        (rule_of(Node(ReluOp, (LOOP,))), "'ge.loop' has regions, which read what is outside"),
        (rule_of(Node(ReluOp, (CONSTANT,))), "a constant is a Weight or Const of a pattern"),
        (SiblingRule("S", "K", NEG, 1), "expected 'count' to be a number of 2 or more"),
    ],
)
def test_what_can_never_fire_is_refused(rule: Rule, problem: str):
    assert problem in refused(rule)


def test_a_condition_names_known_types():
    with pytest.raises(GEError, match="got 'float16'; did you mean 'f16'"):
        element_type("a", "float16")


def test_siblings_say_what_becomes_of_each_operand():
    attrs: dict[str, AttrSpec] = dict.fromkeys(("alpha", "beta", "trans_a", "trans_b"), KEEP)
    operands = (Any("x"), Weight("w"))
    message = refused(SiblingRule("S", "K", Node(GemmOp, operands, attrs), 2))
    assert message == "rule 'S' of siblings leaves operand 'c' of 'ge.gemm' open"
    told = Node(GemmOp, operands, attrs, ports={"c": NOTHING})
    RuleRegistry().register(SiblingRule("S", "K", told, 2))


def of_three(a: int, b: int, c: int) -> object:
    """A function of three arguments."""
    return divmod(a, b), c


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("LayerNorm.epsilonn == 1e-5", "is about no attribute of 'ge.layer_norm'"),
        ("rate == 0", "is about no attribute of 'ge.layer_norm', 'ge.exp'"),
        ("Softmax.axis == 1", "is about no op of the chain, which has 'ge.layer_norm', 'ge.exp'"),
        ({"eps": 1e-5, "rate": 0}, "the condition 'rate' is about no attribute"),
        ({"eps": "small"}, "expected attributes and numbers in a condition, got 'eps': 'small'"),
        (5, "expected a condition to be a function, a text or a mapping, got 5"),
        (object, "a condition takes the chain, or the 2 ops of it"),
        (of_three, "a condition takes the chain, or the 2 ops of it"),
    ],
)
def test_a_condition_of_a_chain_is_about_the_chain(condition: AnyType, problem: str):
    with pytest.raises(GEError) as caught:
        chain_rule("LayerNorm", {"successors": ["Exp"], "condition": condition})
    assert caught.value.code == "GE0424"
    assert problem in caught.value.message


def test_a_function_that_asks_for_an_op_outside_of_the_chain_is_told():
    def softmax(chain: Chain) -> object:
        return chain["Softmax"].axis

    rule = chain_rule("Neg", {"successors": ["Relu"], "condition": softmax})
    module = graph(unary("%a", "neg", "%x"), unary("%y", "relu", "%a"))
    with pytest.raises(GEError, match=r"KeyError: \"no 'ge.softmax' in the chain\""):
        fuse(module, rule)


def test_a_result_of_many_may_be_wanted():
    attrs: dict[str, AttrSpec] = {"axis": KEEP, "sizes": KEEP}
    split = Node(SplitOp, (Any("x"),), attrs, result=1)
    half = "tensor<1x4xf32>"
    text = (
        f"%a, %b = ge.split %x axis 0 sizes [1, 1] : (tensor<2x4xf32>) -> ({half}, {half})",
        f"%r = ge.relu %b : ({half}) -> {half}",
        f"%y = ge.concat %a, %r axis 0 : ({half}, {half}) -> tensor<2x4xf32>",
    )
    module = graph(*text)
    (missed,) = fuse(module, rule_of(Node(ReluOp, (split,))), why_not=["X"])
    assert missed.message == "the result of 'ge.split' has 1 uses, 1 outside: ge.concat"
    module = graph(*text)
    split = replace(split, name="split")
    assert fuse(module, rule_of(Node(ReluOp, (split,)), outputs=("split",))) == []
    assert kernels(module) == ["XFusion"]


# Trying


def _plain_norm(match: Match) -> Sequence[GEOp]:
    """A norm of the sum that forgets its epsilon, its scale and its bias."""
    total = AddOp(match.captures["a"], match.captures["b"])
    new = LayerNormOp.__new__(LayerNormOp)
    properties = {**match.named["norm"].properties, "epsilon": FloatAttr(1e-5, f32)}
    del properties["operandSegmentSizes"]
    GEOp.__init__(new, [total.results[0], None, None], properties)
    return [total, new]


def _relu(match: Match) -> Sequence[GEOp]:
    return [ReluOp(match.captures["a"])]


def _sum(match: Match) -> Sequence[GEOp]:
    return [AddOp(match.captures["a"], match.captures["b"])]


def _same_gelu(match: Match) -> Sequence[GEOp]:
    one = GeluOp.__new__(GeluOp)
    GEOp.__init__(one, [match.captures["a"]], match.named["g"].properties)
    return [one, MulOp(one.results[0], one.results[0])]


def _half(match: Match) -> Sequence[GEOp]:
    value = match.captures["a"]
    half = splat_constant(0.5, tensor_type(element_type_of(value), ()))
    return [half, MulOp(value, half.results[0])]


MAYBE_NEG = Node(ReluOp, (Maybe(NEG),))
ONE_OF = Node(ReluOp, (OneOf((Node(ReluOp, (Any("a"),)), Node(AbsOp, (Any("a"),)))),))
SWAPPED = Node(SubOp, (Any("a"), Node(NegOp, (Any("b"),))), commutes=True)


@pytest.mark.parametrize(
    ("node", "replacement", "tried"),
    [
        (_alone(KEEP), _plain_norm, "'epsilon' of 'ge.layer_norm' 0.125"),
        (_alone(Within(1e-5, 1e-3)), _plain_norm, "'epsilon' of 'ge.layer_norm' 0.001"),
        (_alone(Among((1e-5, 1e-2))), _plain_norm, "'epsilon' of 'ge.layer_norm' 0.01"),
        (_norm(Equals(1e-5)), _plain_norm, "with operand 'scale' of 'ge.layer_norm'"),
        (MAYBE_NEG, _relu, "with the optional 'ge.neg'"),
        (ONE_OF, _relu, "choice 2 of several"),
        (SWAPPED, _sum, "operands of 'ge.sub' the other way round"),
        (Node(DivOp, (Any("a"), Const(2.0))), _half, "of i32"),
    ],
)
def test_a_replacement_is_tried_on_all_that_its_pattern_allows(
    node: Node, replacement: Callable[[Match], Sequence[GEOp]], tried: str
):
    message = wrong(rule_of(node, replacement=replacement))
    assert message.startswith("GE0429: rule 'X' gives ")
    assert f"(tried {tried})" in message


def test_a_replacement_that_is_right_for_all_passes():
    node = Node(SubOp, (Any("a"), Node(NegOp, (Any("b"),))))
    assert check_rule(rule_of(node, replacement=_sum))


def test_casts_that_a_rule_looks_through_are_tried():
    rule = rule_of(replacement=_neg_relu, cast_tolerant=True)
    assert "(tried with casts to f16 and back behind 'ge.neg')" in wrong(rule)
    check_rule(rule_of(replacement=_neg_relu))


def test_alternatives_are_tried_as_well():
    rule = rule_of(RELU, alternatives=(Node(ReluOp, (Any("a"),)),), replacement=_neg_relu)
    assert "(tried alternative 1)" in wrong(rule)


def _neg_relu(match: Match) -> Sequence[GEOp]:
    inner = NegOp(match.captures["a"])
    return [inner, ReluOp(inner.results[0])]


def test_one_node_in_two_places_is_one_op():
    gelu = Node(GeluOp, (Any("a"),), {"approximate": KEEP}, name="g")
    square = rule_of(Node(MulOp, (gelu, gelu)), replacement=_same_gelu)
    check_rule(square)
    t = "tensor<2x4xf32>"
    module = parse(
        f"func.func @main(%x: {t}) -> {t} {{\n"
        f'%a = ge.gelu %x approximate "none" : ({t}) -> {t}\n'
        f'%b = ge.gelu %x approximate "tanh" : ({t}) -> {t}\n'
        f"%y = ge.mul %a, %b : ({t}, {t}) -> {t}\nfunc.return %y : {t}\n}}"
    )
    (missed,) = fuse(module, square, why_not=["X"])
    assert kernels(module) == []
    assert missed.message == "the rule wants one op 'g' in two places, the graph has two"


# What a rule's own code does


def _nothing(_: Match) -> None:
    return None


def _empty(_: Match) -> Sequence[GEOp]:
    return []


def _bare(match: Match) -> GEOp:
    return ReluOp(match.captures["a"])


def _no_capture(match: Match) -> Sequence[GEOp]:
    return [ReluOp(match.captures["b"])]


def _attached(match: Match) -> Sequence[GEOp]:
    return [match.ops[0]]


def _inner(match: Match) -> Sequence[GEOp]:
    return [ReluOp(match.named["neg"].results[0])]


def _other_type(match: Match) -> Sequence[GEOp]:
    return [CastOp(match.captures["a"], f16)]


@pytest.mark.parametrize(
    ("replacement", "problem"),
    [
        (_nothing, "gave nothing, expected a list of new ops of ge"),
        (_empty, "gave nothing, expected a list of new ops of ge"),
        (_bare, "gave a ReluOp, expected a list of new ops of ge"),
        (_no_capture, "fails: KeyError: 'b' (test_fusion_refusals.py:"),
        (_attached, "gave a matched op ('ge.relu') that has its place already"),
        (_inner, "reads a result of 'ge.neg', which goes"),
        (_other_type, "ends with tensor<4x4xf16>, expected tensor<4x4xf32> as of 'ge.relu'"),
    ],
)
def test_a_replacement_that_gives_no_body_is_told(replacement: AnyType, problem: str):
    message = wrong(rule_of(replacement=replacement))
    assert message.startswith("GE0444: the replacement of rule 'X' for 'ge.relu' ")
    assert problem in message


def test_a_condition_that_fails_is_told():
    condition = Condition("few", ReasonClass.SHAPE, lambda m: Verdict(bool(1 // 0)))
    module = graph(unary("%a", "neg", "%x"), unary("%y", "relu", "%a"))
    with pytest.raises(GEError) as caught:
        fuse(module, rule_of(conditions=(condition,)))
    assert caught.value.code == "GE0426"
    assert "rule 'X': condition 'few' fails on ge.relu: ZeroDivisionError" in caught.value.message


@pytest.mark.parametrize("code", ["raise SystemExit(0)", "import sys; sys.exit(3)", "1 / 0"])
def test_a_module_that_ends_or_fails_is_one_line(tmp_path: Path, code: str):
    path = tmp_path / "ends.py"
    path.write_text(code)
    with pytest.raises(GEError) as caught:
        FuseRulesPass(library=(str(path),)).apply(make_context(), graph("", results="%x"))
    assert caught.value.code == "GE0428"


def test_a_function_of_rules_that_fails_is_one_line():
    with pytest.raises(GEError, match="the library cannot be asked for its rules: ZeroDivision"):
        as_rules(lambda: 1 / 0, "the library")


def test_a_path_is_no_module():
    with pytest.raises(GEError, match=r"'\./rules' is no file of fusion rules"):
        load_rules("./rules")


# The key of what was checked

KEYED = """\
from ge_dialect.ge.activations import ReluOp
from ge_dialect.ge.unary import AbsOp, NegOp
from ge_dialect.passes.fusion.pattern import Any, Node
from ge_dialect.passes.fusion.rule import FusionRule

TIMES = {times}


def made(value):
    return [NegOp(value) for _ in range(TIMES)]


def replacement(match, last={last}):
    return [*made(match.captures["a"]), last(match.captures["a"])]


RULES = FusionRule("K", "KFusion", Node(ReluOp, (Any("a"),)), replacement=replacement)
"""


def _key(folder: Path, **parts: object) -> str:
    # A folder for each: files of one size and second are one to Python's cache of bytecode.
    path = folder / f"{len(list(folder.iterdir()))}" / "keyed.py"
    path.parent.mkdir()
    path.write_text(KEYED.format(**({"times": 0, "last": "ReluOp"} | parts)))
    (rule,) = load_rules(str(path))
    sys.modules.pop("ge_rules_keyed")
    return content_key(rule)


def test_the_key_holds_what_a_replacement_reads(tmp_path: Path):
    plain = _key(tmp_path)
    assert _key(tmp_path) == plain
    assert _key(tmp_path, times=1) != plain  # a global of a function that it calls
    assert _key(tmp_path, last="AbsOp") != plain  # a default


def test_the_key_holds_partial_arguments_and_deep_patterns():
    def part(_: int, match: Match) -> Sequence[GEOp]:
        return _relu(match)

    keys = {content_key(rule_of(replacement=partial(part, number))) for number in range(3)}
    assert len(keys) == 3
    deep: list[Node] = [Node(NegOp, (Any("a"),)), Node(AbsOp, (Any("a"),))]
    for _ in range(20):
        deep = [Node(ReluOp, (node,)) for node in deep]
    assert len({content_key(rule_of(node)) for node in deep}) == 2
