"""Rules in TOML: the whole form, bounds, and errors with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.passes.fusion.attrs import KEEP, Among, Equals, Within
from ge_dialect.passes.fusion.fuse_rules import FuseRulesPass
from ge_dialect.passes.fusion.pattern import Any, Const, Maybe, Node, OneOf
from ge_dialect.passes.fusion.rule import FusionRule, SiblingRule
from ge_dialect.passes.fusion.selfcheck import check_rule
from ge_dialect.passes.fusion.toml_rules import MAX_RULES, read_rules
from ge_dialect.tools.api import make_context
from tests.fusion_graphs import graph, kernels, unary

MINIMAL = """\
[[rule]]
name = "NegExp"
[rule.pattern]
op = "exp"
operands = [{ op = "neg", operands = ["x"] }]
"""

FULL = """\
# Rules of a library of our own.
[[rule]]
name = "NormAct"
kernel = "NormActKernel"
priority = 7
precision = "the activation rounds once less"
targets = ["Ascend910B1"]
min_opset = 13
max_opset = 21
cast_tolerant = true
outputs = ["norm"]
aliases = ["LayerNormAct"]
can_close = false
on_chip = true
fixes = { "ge.layer_norm.epsilon" = "use another epsilon" }
conditions = [
  { kind = "type", of = ["x"], types = ["f16", "f32"], fix = "cast it" },
  { kind = "multiple_of", of = ["x"], axis = -1, factor = 4 },
]

[rule.pattern]
op = "ge.add"
commutes = true
operands = [
  { one_of = [{ op = "relu", operands = ["r"] }, { const = 1.0, name = "one" }] },
  { maybe = { op = "abs", operands = [
    { op = "LayerNorm", name = "norm", operands = ["x"], attrs = ATTRS },
  ] } },
]
""".replace("ATTRS", '{ axis = "keep", epsilon = { min = 1e-6, max = 1e-5 } }')


def read(folder: Path, text: str) -> tuple[FusionRule | SiblingRule, ...]:
    path = folder / "rules.toml"
    path.write_text(text)
    return read_rules(str(path))


def refused(folder: Path, text: str) -> GEError:
    with pytest.raises(GEError) as caught:
        read(folder, text)
    return caught.value


def test_a_rule_of_a_file_fires(tmp_path: Path):
    path = tmp_path / "rules.toml"
    path.write_text(MINIMAL)
    module = graph(unary("%a", "neg", "%x"), unary("%y", "exp", "%a"))
    FuseRulesPass(library=(str(path),)).apply(make_context(), module)
    assert kernels(module) == ["NegExpFusion"]


def test_every_key_is_read(tmp_path: Path):
    (rule,) = read(tmp_path, FULL)
    assert isinstance(rule, FusionRule)
    assert (rule.kernel, rule.priority, rule.precision) == (
        "NormActKernel",
        7,
        "the activation rounds once less",
    )
    assert (rule.targets, rule.min_opset, rule.max_opset) == (("Ascend910B1",), 13, 21)
    assert (rule.cast_tolerant, rule.outputs, rule.aliases) == (
        True,
        ("norm",),
        ("LayerNormAct",),
    )
    assert (rule.can_close, rule.on_chip) == (False, True)
    assert [(c.name, c.fix) for c in rule.conditions] == [
        ("type of x", "cast it"),
        ("dimension -1 of x", ""),
    ]
    either, maybe = rule.pattern.operands
    assert isinstance(either, OneOf)
    assert either.choices[1] == Const(1.0, "one")
    assert isinstance(maybe, Maybe)
    norm = maybe.node.operands[0]
    assert norm == Node(
        LayerNormOp,
        (Any("x"),),
        {"axis": KEEP, "epsilon": Within(1e-6, 1e-5)},
        name="norm",
    )


def test_an_op_can_be_reached_twice(tmp_path: Path):
    text = """\
[[rule]]
name = "Twice"
[rule.pattern]
op = "mul"
operands = [
  { op = "exp", operands = [{ op = "neg", name = "n", operands = ["x"] }] },
  { ref = "n" },
]
"""
    (rule,) = read(tmp_path, text)
    assert check_rule(rule)


def test_values_of_attributes(tmp_path: Path):
    head = '[[rule]]\nname = "R"\n[rule.pattern]\nop = "transpose"\noperands = ["x"]\n'
    for spelled, spec in (
        ("[0, 2, 1]", Equals((0, 2, 1))),
        ("{ among = [[0, 1], [1, 0]] }", Among(((0, 1), (1, 0)))),
        ("{ equals = [1, 0] }", Equals((1, 0))),
    ):
        (rule,) = read(tmp_path, f"{head}attrs = {{ perm = {spelled} }}\n")
        assert rule.pattern.attrs["perm"] == spec


def test_siblings(tmp_path: Path):
    text = """\
[[rule]]
name = "Two"
siblings = 2
[rule.pattern]
op = "matmul"
operands = ["x", { weight = "w" }]
"""
    (rule,) = read(tmp_path, text)
    assert isinstance(rule, SiblingRule)
    assert rule.count == 2
    assert (
        "takes no 'outputs'"
        in refused(tmp_path, text.replace("siblings", "outputs = []\nsiblings")).message
    )
    assert "2 or more" in refused(tmp_path, text.replace("= 2", "= 1")).message


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ('"exp"', '"expp"', 4, "expected an op type, got 'expp'"),
        ('name = "NegExp"', 'nam = "NegExp"', 1, "expected 'name'"),
        ('name = "NegExp"', "name = 3", 2, "expected 'name' to be a text, got 3"),
        ("[rule.pattern]", "speed = 3\n[rule.pattern]", 3, "unknown key 'speed' of a rule"),
        (
            'operands = [{ op = "neg"',
            'operands = [{ opp = "neg"',
            1,
            "expected one kind of pattern",
        ),
        ('"neg", operands', '"neg", colour = 1, operands', 5, "unknown key 'colour' of an op"),
        ('operands = ["x"]', 'operands = [{ ref = "y" }]', 5, "'ref' names 'y'"),
        ('"neg", operands', '"neg", attrs = { a = "most" }, operands', 5, "may not be 'most'"),
        ("[rule.pattern]", "priority = true\n[rule.pattern]", 3, "to be a whole number"),
        ("[rule.pattern]", "max_opset = 3\nmin_opset = 4\n[rule.pattern]", 4, "min_opset <="),
        ("[rule.pattern]", 'conditions = [{ kind = "warm" }]\n[rule.pattern]', 3, "'warm'"),
        (
            "[rule.pattern]",
            'conditions = [{ kind = "rank", of = ["x"], ranks = "two" }]\n[rule.pattern]',
            3,
            "another value for 'ranks'",
        ),
        ("operands = [{", "operands = {", 0, "no TOML"),
    ],
)
def test_a_wrong_file_is_an_error_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, problem: str
):
    error = refused(tmp_path, MINIMAL.replace(old, new))
    assert error.code == "GE0427"
    assert problem in error.message
    if line:
        assert f"rules.toml:{line}:" in error.message


def test_the_second_rule_has_its_own_lines(tmp_path: Path):
    error = refused(tmp_path, MINIMAL + "\n" + MINIMAL.replace("NegExp", "B").replace("neg", "gen"))
    assert "rules.toml:11: rule 'B':" in error.message


def test_a_loose_rule_of_a_file_is_refused_with_its_line(tmp_path: Path):
    error = refused(tmp_path, "\n" + MINIMAL.replace('"neg"', '"softmax"'))
    assert error.code == "GE0422"
    assert "rules.toml:2: rule 'NegExp' leaves open 'axis' of 'ge.softmax'" in error.message


def test_what_a_file_may_hold_is_bounded(tmp_path: Path):
    many = "".join(f'[[rule]]\nname = "R{i}"\n' for i in range(MAX_RULES + 1))
    assert f"at most {MAX_RULES} rules" in refused(tmp_path, many).message
    deep = '{ op = "neg", operands = [' * 40 + '"x"' + "] }" * 40
    text = MINIMAL.replace('{ op = "neg", operands = ["x"] }', deep)
    assert "is nested too deeply" in refused(tmp_path, text).message
    wide = ", ".join('{ op = "neg", operands = ["x"] }' for _ in range(70))
    text = MINIMAL.replace('{ op = "neg", operands = ["x"] }', f"{{ one_of = [{wide}] }}")
    assert "at most 64 ops" in refused(tmp_path, text).message
    (tmp_path / "rules.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(GEError, match="byte 0 is not UTF-8"):
        read_rules(str(tmp_path / "rules.toml"))
    with pytest.raises(GEError) as caught:
        read_rules(str(tmp_path / "none.toml"))
    assert caught.value.code == "GE0101"


def test_numbers_are_those_of_the_file(tmp_path: Path):
    text = MINIMAL.replace('"neg", operands', '"leaky_relu", attrs = { alpha = 0.1 }, operands')
    (rule,) = read(tmp_path, text)
    inner = rule.pattern.operands[0]
    assert isinstance(inner, Node)
    assert inner.attrs["alpha"] == Equals(0.1)
