"""Rules in Python: by a call, by a decorator, by a module; and the check of what they make."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from importlib.metadata import EntryPoint
from itertools import product
from pathlib import Path
from typing import Any as AnyType

import pytest

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.activations import ReluOp
from ge_dialect.ge.base import GEOp
from ge_dialect.ge.binary import AddOp, SubOp
from ge_dialect.ge.types import value_shape
from ge_dialect.ge.unary import AbsOp, CeilOp, ExpOp, FloorOp, NegOp
from ge_dialect.passes.fusion import registry, selfcheck
from ge_dialect.passes.fusion.article import FusionRuleRegistry, fusion_rule, registered
from ge_dialect.passes.fusion.chain import Chain, OpView
from ge_dialect.passes.fusion.conditions import element_type, rank
from ge_dialect.passes.fusion.content import content_key
from ge_dialect.passes.fusion.fuse_rules import FuseRulesPass
from ge_dialect.passes.fusion.lint import lint
from ge_dialect.passes.fusion.match import Match
from ge_dialect.passes.fusion.pattern import Any, Maybe, Node, Verdict
from ge_dialect.passes.fusion.registry import built_in_rules, default_registry, registry_of
from ge_dialect.passes.fusion.rule import Condition, FusionRule, RuleRegistry
from ge_dialect.passes.fusion.selfcheck import check_rule, check_rules
from ge_dialect.passes.fusion.sources import load_rules
from ge_dialect.remarks import ReasonClass
from ge_dialect.tools.api import make_context
from tests.fusion_graphs import T, bodies, graph, kernels, unary


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No rule outlives its test, and nothing is kept in the user's folder."""
    monkeypatch.setenv(selfcheck.CACHE_VARIABLE, "off")
    yield
    FusionRuleRegistry.clear()


def norm_exp(epsilon: str) -> AnyType:
    return graph(
        f"%n = ge.layer_norm %x axis -1 epsilon {epsilon} : {T} -> {T}", unary("%y", "exp", "%n")
    )


def misses(module: AnyType, **options: AnyType) -> list[remarks.Remark]:
    with remarks.collect() as found:
        FuseRulesPass(**options).apply(make_context(), module)
    return [remark for remark in found.remarks if remark.kind == remarks.Kind.MISSED]


# A call


def _of_the_norm(chain: Chain) -> bool:
    return chain["LayerNorm"].eps == 1e-5


def _of_any(chain: Chain) -> bool:
    return chain.eps == 1e-5


def _of_each(norm: OpView, exp: OpView) -> bool:
    return norm.epsilon == 1e-5 and exp.op.name == "ge.exp"


def _by_name(norm: OpView, exp: OpView) -> bool:
    return norm.attr("eps") == 1e-5 and exp.attr("eps") is None


def _drops_nothing(chain: Chain) -> bool:
    return chain["LayerNorm"].eps == 1e-5 and chain["Dropout"].ratio == 0


@pytest.mark.parametrize(
    "condition",
    [
        _of_the_norm,
        _of_any,
        _of_each,
        _by_name,
        "LayerNorm.eps == 1e-5",
        "eps >= 1e-6 and eps <= 1e-5",
        {"epsilon": 1e-5},
    ],
)
def test_a_chain_is_registered_with_a_condition(condition: AnyType):
    rule = FusionRuleRegistry.register("LayerNorm", successors=["Exp"], condition=condition)
    assert (rule.name, rule.kernel) == ("LayerNormExp", "LayerNormExpFusion")
    # The f32 epsilon is 9.999999747378752e-06: compared as a double it would miss.
    module = norm_exp("1.0e-05")
    FuseRulesPass().apply(make_context(), module)
    assert kernels(module) == ["LayerNormExpFusion"]
    module = norm_exp("1.0e-04")
    (missed,) = misses(module)
    assert kernels(module) == []
    assert missed.reason_class == ReasonClass.ATTR
    assert missed.found is not None
    assert "0.0001" in missed.found


def test_the_arguments_may_be_a_mapping():
    spec = {"predecessors": ["LayerNorm"], "successors": "Relu", "priority": 3}
    rule = FusionRuleRegistry.Register("Exp", spec)
    assert (rule.name, rule.priority) == ("LayerNormExpRelu", 3)
    chain = [node.op.name for node in _chain(rule.pattern)]
    assert chain == ["ge.relu", "ge.exp", "ge.layer_norm"]


def _chain(node: Node) -> list[Node]:
    inner = [operand for operand in node.operands if isinstance(operand, Node)]
    return [node, *(_chain(inner[0]) if inner else [])]


def test_attention_as_the_article_registers_it():
    FusionRuleRegistry.register(
        "FlashAttention",
        successors=["LayerNorm", "Dropout", "Add"],
        condition=_drops_nothing,
        name="AttentionBlock",
        priority=100,
    )
    q = "tensor<1x2x4x4xf32>"
    module = _block(q)
    FuseRulesPass().apply(make_context(), module)
    assert kernels(module) == ["AttentionBlockFusion"]


def _block(q: str) -> AnyType:
    from tests.fusion_graphs import parse

    return parse(
        f"func.func @main(%q: {q}, %x: {q}) -> {q} {{\n"
        f"%a = ge.flash_attention %q, %q, %q scale 0.5 : ({q}, {q}, {q}) -> {q}\n"
        f"%n = ge.layer_norm %a axis -1 epsilon 1.0e-05 : {q} -> {q}\n"
        "%p = ge.constant dense<0.0> : tensor<f32>\n"
        f"%d, %m = ge.dropout %n ratio %p : tensor<f32> : {q} -> {q}, {q.replace('f32', 'i1')}\n"
        f"%y = ge.add %x, %d : ({q}, {q}) -> {q}\n"
        f"func.return %y : {q}\n}}"
    )


@pytest.mark.parametrize(
    ("op", "options", "code", "message"),
    [
        ("LayerNrom", {}, "GE0425", "expected an op type, got 'LayerNrom'"),
        ("Exp", {"sucessors": []}, "GE0424", "unknown option 'sucessors'"),
        ("Exp", {"condition": "eps is small"}, "GE0424", "got 'eps is small'"),
        ("Exp", {"condition": "__import__('os') == 1"}, "GE0424", "expected a condition"),
    ],
)
def test_a_wrong_call_is_refused(op: str, options: AnyType, code: str, message: str):
    with pytest.raises(GEError) as caught:
        FusionRuleRegistry.register(op, **options)
    assert caught.value.code == code
    assert message in caught.value.message
    assert registered() == ()


def test_a_name_is_taken_once():
    FusionRuleRegistry.register("Exp", successors=["Relu"])
    with pytest.raises(GEError, match="'ExpRelu' twice"):
        FusionRuleRegistry.register("Exp", successors=["Relu"])


def test_an_attribute_that_no_op_has_is_named():
    with pytest.raises(AttributeError, match="no op of the chain has an attribute 'colour'"):
        _ = Chain(()).colour


# A class


def test_a_class_spells_patterns_requirements_and_a_replacement():
    @fusion_rule("SubAsAdd", priority=2)
    class SubAsAdd:  # pyright: ignore[reportUnusedClass]  # the decorator registers it
        reason = ReasonClass.SHAPE

        def patterns(self) -> Node:
            return Node(SubOp, (Any("a"), Node(NegOp, (Any("b"),))))

        def meet_requirements(self, match: Match) -> Verdict:
            return Verdict(match.captures["a"] is not match.captures["b"], "one value", "two")

        def replacement(self, match: Match) -> Sequence[GEOp]:
            return [AddOp(match.captures["a"], match.captures["b"])]

    line = f"%y = ge.sub %z, %n : ({T}, {T}) -> {T}"
    module = graph(unary("%n", "neg", "%x"), line)
    FuseRulesPass().apply(make_context(), module)
    assert bodies(module) == [["ge.add", "ge.yield"]]
    (missed,) = misses(graph(unary("%n", "neg", "%z"), line))
    assert (missed.reason_class, missed.found, missed.wanted) == (
        ReasonClass.SHAPE,
        "one value",
        "two",
    )


# What rules make is tried


def rule_of(node: Node, **options: AnyType) -> FusionRule:
    return FusionRule("Test", "TestFusion", node, **options)


def replaces(node: Node, op: type[GEOp], **options: AnyType) -> FusionRule:
    def replacement(match: Match) -> Sequence[GEOp]:
        make: AnyType = op  # an op class whose constructor takes its operands
        return [make(*match.captures.values())]

    return rule_of(node, replacement=replacement, **options)


TWICE_NEG = Node(NegOp, (Node(NegOp, (Any("x"),)),))


def _zero(match: Match) -> Sequence[GEOp]:
    from ge_dialect.ge.constants import splat_constant
    from ge_dialect.ge.types import tensor_of

    return [splat_constant(0.0, tensor_of(match.captures["a"]))]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        # Right for all numbers from 0 on, and wrong for the others.
        (replaces(TWICE_NEG, AbsOp), "elements differ"),
        # Right for all numbers, and wrong for NaN: relu keeps it, and signs of zero count.
        (
            rule_of(Node(SubOp, (Any("a"), Any("a"))), replacement=_zero),
            "elements differ",
        ),
        (
            rule_of(Node(ExpOp, (Any(),)), example="func.func @main() {\n  func.return\n}"),
            "does not fire on its example",
        ),
    ],
)
def test_a_wrong_replacement_is_refused(rule: FusionRule, message: str):
    with pytest.raises(GEError) as caught:
        check_rule(rule)
    assert caught.value.code == "GE0429"
    assert message in caught.value.message


def test_a_right_replacement_passes():
    def negated(match: Match) -> Sequence[GEOp]:
        first = NegOp(match.captures["x"])
        return [first, NegOp(first)]

    assert check_rule(rule_of(TWICE_NEG, replacement=negated))


def test_a_tolerance_is_for_roundings_only():
    # (a + b) + c -> a + (b + c): another rounding is accepted, another infinity is not.
    pattern = Node(AddOp, (Node(AddOp, (Any("a"), Any("b"))), Any("a")))

    def swapped(match: Match) -> Sequence[GEOp]:
        inner = AddOp(match.captures["a"], match.captures["a"])
        return [inner, AddOp(inner, match.captures["b"])]

    with pytest.raises(GEError, match="elements differ"):
        check_rule(rule_of(pattern, replacement=swapped))
    with pytest.raises(GEError, match="elements differ"):
        check_rule(rule_of(pattern, replacement=swapped, tolerance=1e-5))


def test_an_example_that_is_no_text_of_ours_is_refused():
    with pytest.raises(GEError, match="the example of rule 'Test' is not valid"):
        check_rule(rule_of(Node(ExpOp, (Any(),)), example="func.func @main( {"))


@pytest.mark.parametrize("rule", built_in_rules(), ids=lambda rule: rule.name)
def test_the_built_in_rules_fire_on_their_sample_and_keep_its_values(rule: FusionRule):
    assert check_rule(rule)


def test_a_rule_is_tried_once_for_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(selfcheck.CACHE_VARIABLE, str(tmp_path))
    tried: list[str] = []

    def check(rule: FusionRule) -> bool:
        tried.append(rule.name)
        return True

    monkeypatch.setattr(selfcheck, "check_rule", check)
    for priority in (1, 1, 2):
        monkeypatch.setattr(selfcheck, "_checked", set[str]())
        check_rules([replaces(TWICE_NEG, AbsOp, priority=priority)])
    assert tried == ["Test", "Test"]
    assert len(list((tmp_path / "rules").iterdir())) == 2


def test_the_key_of_a_rule_holds_its_code():
    one, other = replaces(TWICE_NEG, AbsOp), replaces(TWICE_NEG, ReluOp)
    assert content_key(one) != content_key(other)
    assert content_key(one) == content_key(one)


# Modules

MODULE = """\
from ge_dialect.ge.unary import ExpOp, NegOp
from ge_dialect.passes.fusion.pattern import Any, Node
from ge_dialect.passes.fusion.rule import FusionRule

RULES = (FusionRule("NegExp", "NegExpKernel", Node(ExpOp, (Node(NegOp, (Any(),)),))),)
"""
CALLS = """\
from ge_dialect.passes.fusion.article import FusionRuleRegistry

FusionRuleRegistry.register("Neg", successors=["Exp"], kernel="NegExpKernel")
"""


@pytest.mark.parametrize("text", [MODULE, CALLS])
def test_a_module_gives_rules(tmp_path: Path, text: str):
    path = tmp_path / "my_rules.py"
    path.write_text(text)
    module = graph(unary("%a", "neg", "%x"), unary("%y", "exp", "%a"))
    FuseRulesPass(library=(str(path),)).apply(make_context(), module)
    assert kernels(module) == ["NegExpKernel"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "has no fusion rules"),
        ("RULES = 3\n", "expected 'RULES' of"),
        ("raise OSError('gone')\n", "cannot be loaded: OSError: gone"),
    ],
)
def test_a_module_without_rules_is_an_error(tmp_path: Path, text: str, message: str):
    path = tmp_path / "my_rules.py"
    path.write_text(text)
    with pytest.raises(GEError) as caught:
        load_rules(str(path))
    assert caught.value.code == "GE0428"
    assert message in caught.value.message


def test_a_module_that_is_not_there_is_an_error():
    with pytest.raises(GEError, match="cannot be loaded: ModuleNotFoundError"):
        load_rules("no.such.module")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EntryPoint]:
    """An operator library that is installed beside this package."""
    (tmp_path / "installed_library.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))  # pyright: ignore[reportUnknownMemberType]
    yield EntryPoint("mine", "installed_library:RULES", registry.ENTRY_POINTS)
    registry.installed_rules.cache_clear()


def use(folder: Path, point: EntryPoint) -> None:
    """Installs an operator library: what pip leaves beside a package."""
    info = folder / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    text = f"[ge_dialect.operator_library]\n{point.name} = {point.value}\n"
    (info / "entry_points.txt").write_text(text)
    registry.installed_rules.cache_clear()


def test_an_installed_library_is_always_used(installed: EntryPoint, tmp_path: Path):
    use(tmp_path, installed)
    module = graph(unary("%a", "neg", "%x"), unary("%y", "exp", "%a"))
    FuseRulesPass().apply(make_context(), module)
    assert kernels(module) == ["NegExpKernel"]


def test_an_installed_library_that_fails_is_named(installed: EntryPoint, tmp_path: Path):
    use(tmp_path, EntryPoint("mine", "installed_library:NONE", installed.group))
    with pytest.raises(GEError) as caught:
        registry_of()
    assert caught.value.code == "GE0428"
    assert "operator library 'mine' (installed_library:NONE) fails" in caught.value.message


def test_without_further_rules_there_is_one_registry():
    assert registry_of() is default_registry()


# Lint


def _relu(match: Match) -> Sequence[GEOp]:
    return [ReluOp(match.captures["x"])]


def test_lint_finds_what_is_wrong_without_a_graph():
    exp = Node(ExpOp, (Node(NegOp, (Any(),)),))
    never = Condition("never", ReasonClass.SHAPE, lambda match: Verdict(False))
    rules = (
        FusionRule("First", "K", exp, priority=3),
        FusionRule("Shadowed", "K", exp, priority=2),
        FusionRule("Old", "K", Node(AbsOp, (exp,)), priority=4, max_opset=21),
        FusionRule("TiedA", "K", TWICE_NEG),
        FusionRule("TiedB", "K", TWICE_NEG),
        FusionRule("Strict", "K", Node(ReluOp, (Any(),)), conditions=(never,)),
        FusionRule("Wrong", "K", Node(AbsOp, (Any("x"),)), replacement=_relu),
    )
    linted = RuleRegistry()
    for rule in rules:
        linted.register(rule)
    found = {(finding.rule, finding.kind) for finding in lint(linted, 22)}
    assert found == {
        ("Shadowed", "shadowed"),
        ("Old", "stale"),
        ("TiedA", "overlap"),
        ("TiedB", "shadowed"),
        ("Strict", "unchecked"),
        ("Wrong", "wrong"),
    }
    texts = [str(finding) for finding in lint(linted, 22)]
    assert "warning: [stale] Old: was written for opset 1 to 21, the newest is 22" in texts
    assert "error: [shadowed] Shadowed: 'First' comes first wherever it could fire" in texts


def test_lint_tries_ranks_and_types_that_conditions_ask_for():
    exp, negated = Node(ExpOp, (Any("x"),)), Node(NegOp, (Any("x"),))
    linted = RuleRegistry()
    linted.register(FusionRule("Deep", "K", exp, conditions=(rank("x", 3),)))
    linted.register(FusionRule("Half", "K", negated, conditions=(element_type("x", "f16"),)))
    assert lint(linted, 22) == []


def test_a_rule_with_optional_parts_is_not_shadowed_by_one_of_the_plain_part():
    small = FusionRule("Small", "K", Node(ExpOp, (Any("x"),)), priority=3)
    negated = Node(NegOp, (Any("x"),))
    linted = RuleRegistry()
    linted.register(small)
    linted.register(FusionRule("Either", "K", Node(AbsOp, (Maybe(Node(ExpOp, (negated,))),))))
    assert lint(linted, 22) == []


def test_lint_goes_on_after_rules_whose_code_fails(tmp_path: Path):
    def fails(match: Match) -> Verdict:
        return Verdict(len(match.named) > 9, str(1 // 0))

    wrong = Condition("fails", ReasonClass.SHAPE, fails)
    only_deep = Condition("deep", ReasonClass.SHAPE, _deep)
    linted = RuleRegistry()
    linted.register(FusionRule("Fails", "K", Node(ExpOp, (Any("x"),)), (wrong,), priority=9))
    matrices = "func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {\n"
    matrices += "%y = ge.abs %x : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"
    matrices += "func.return %y : tensor<2x4xf32>\n}"
    absolute = Node(AbsOp, (Any("x"),))
    linted.register(FusionRule("Deep", "K", absolute, (only_deep,), priority=8, example=matrices))
    vectors = matrices.replace("2x4", "4")
    linted.register(FusionRule("Flat", "K", absolute, priority=7, example=vectors))
    linted.register(FusionRule("Stale", "K", TWICE_NEG, max_opset=3))
    found = {(one.rule, one.kind) for one in lint(linted, 22)}
    assert found == {("Fails", "wrong"), ("Deep", "wrong"), ("Stale", "stale")}


def _deep(match: Match) -> Verdict:
    return Verdict(value_shape(match.captures["x"])[1] == 4)


def test_lint_tells_machines_that_nobody_knows():
    linted = RuleRegistry()
    linted.register(FusionRule("Far", "K", TWICE_NEG, targets=("ascend910b", "Ascend999")))
    (found,) = lint(linted, 22)
    assert str(found).startswith("warning: [target] Far: 'Ascend999' is no built-in machine: ")


def test_lint_of_many_rules_is_quick():
    unary_ops: tuple[type[GEOp], ...] = (ExpOp, NegOp, AbsOp, ReluOp, CeilOp, FloorOp)
    linted = RuleRegistry()
    for number, ops in enumerate(product(unary_ops, repeat=3)):
        node = Node(ops[0], (Any("x"),))
        for op in ops[1:]:
            node = Node(op, (node,))
        linted.register(FusionRule(f"R{number}", "K", node))
    before = time.process_time()
    assert lint(linted, 22) == []
    assert time.process_time() - before < 60


def test_the_built_in_rules_have_nothing_wrong():
    assert [f for f in lint(default_registry(), 22) if f.is_error] == []
