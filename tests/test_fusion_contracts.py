"""Builds that rely on fusions: required ones, a baseline, GE's switch file and result file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.unary import ExpOp
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.fusion.pattern import Any, Node
from ge_dialect.passes.fusion.registry import registry_of
from ge_dialect.passes.fusion.rule import FusionRule
from ge_dialect.tools import ge_opt
from ge_dialect.tools.api import compile
from ge_dialect.tools.contracts import check_baseline, check_required, requirement
from ge_dialect.tools.fusion_switch import read_switch_file
from ge_dialect.tools.ge_compile import run

Q = "tensor<1x2x8x8xf16>"
TEXT = f"""
func.func @main(%q: {Q}) -> {Q} {{
  %a = ge.flash_attention %q, %q, %q scale 0.353553 : ({Q}, {Q}, {Q}) -> {Q}
  %n = ge.layer_norm %a axis -1 epsilon EPS : {Q} -> {Q} loc("block/norm")
  func.return %n : {Q}
}}
"""
RULE = "FlashAttentionLayerNorm"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model whose attention fuses, and one whose epsilon forbids it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GE_DIALECT_CACHE", "off")
    (tmp_path / "fuses.mlir").write_text(TEXT.replace("EPS", "1.0e-05"))
    (tmp_path / "misses.mlir").write_text(TEXT.replace("EPS", "1.0e-06"))
    return tmp_path


# Required fusions


@pytest.mark.parametrize(("text", "expected"), [("A", ("A", 1)), ("A:12", ("A", 12))])
def test_a_requirement_is_a_rule_and_a_count(text: str, expected: tuple[str, int]):
    assert requirement(text) == expected


@pytest.mark.parametrize("text", ["", ":1", "A:", "A:x", "A:-1", "A:1:2"])
def test_anything_else_is_no_requirement(text: str):
    with pytest.raises(GEError) as caught:
        requirement(text)
    assert caught.value.code == "GE0105"


def test_a_missing_fusion_fails_a_compilation_and_names_the_nearest_miss(folder: Path):
    assert run(["fuses.mlir", "-o", "a.om", "-q", f"--require-fusion={RULE}:1"]) == 0
    with pytest.raises(GEError) as caught:
        run(["misses.mlir", "-o", "b.om", "-q", f"--require-fusion={RULE}:1"])
    assert caught.value.code == "GE0440"
    assert caught.value.message == f"expected 1 fusions by '{RULE}', got 0"
    hint = str(caught.value.hint)
    assert 'at "block/norm" (found 1e-06, wanted 1e-05) [ATTR]' in hint
    assert "verified: with epsilon 1e-05 it fires and saves 512 bytes" in hint
    assert not (folder / "b.om").exists()


def test_the_same_in_ge_opt(folder: Path, capsys: pytest.CaptureFixture[str]):
    argv = ["-p", "ge-fuse-rules", "-o", "out.mlir"]
    assert ge_opt.main_with(["fuses.mlir", *argv, f"--require-fusion={RULE}"]) == 0
    with pytest.raises(GEError, match="expected 2 fusions"):
        ge_opt.main_with(["fuses.mlir", *argv, f"--require-fusion={RULE}:2"])
    assert capsys.readouterr().out == ""


def test_a_fusion_that_nothing_comes_near_to():
    with pytest.raises(GEError) as caught:
        check_required(["A:1"], {}, [])
    assert caught.value.hint == "nothing comes near: --why-not=A tells every partial match"


# Baseline


def test_a_baseline_is_written_and_then_kept(folder: Path):
    argv = ["-o", "a.om", "-q", "--fusion-baseline", "base.json"]
    assert run(["fuses.mlir", *argv]) == 0
    assert json.loads((folder / "base.json").read_text()) == {"fusions": {RULE: 1}}
    assert run(["fuses.mlir", *argv]) == 0
    with pytest.raises(GEError) as caught:
        run(["misses.mlir", *argv])
    assert caught.value.code == "GE0441"
    assert caught.value.message == f"fewer fusions than in 'base.json': '{RULE}' 0 of 1"
    assert "epsilon" in str(caught.value.hint)


def test_more_fusions_than_before_are_told(folder: Path):
    assert check_baseline("b.json", {"A": 1}, []) == "wrote the fusion baseline 'b.json'"
    assert "fusions are those of the baseline" in check_baseline("b.json", {"A": 1}, [])
    assert "more by A, B: delete it" in check_baseline("b.json", {"A": 2, "B": 1}, [])


@pytest.mark.parametrize(
    "text",
    ["", "[1]", "{}", '{"fusions": 3}', '{"fusions": {"A": -1}}', '{"fusions": {"A": true}}'],
)
def test_a_baseline_of_another_form_is_refused(folder: Path, text: str):
    (folder / "b.json").write_text(text)
    with pytest.raises(GEError) as caught:
        check_baseline("b.json", {}, [])
    assert caught.value.code == "GE0442"


# GE's switch file


def rule(name: str, **options: bool) -> FusionRule:
    return FusionRule(name, f"{name}Fusion", Node(ExpOp, (Any(),)), **options)  # pyright: ignore[reportArgumentType]


RULES = [
    rule("A"),
    rule("B", on_chip=True),
    rule("C", can_close=False),
    FusionRule("D", "DKernel", Node(ExpOp, (Any(),)), aliases=("ZDQuant",)),
]


@pytest.mark.parametrize(
    ("text", "off", "kept", "unknown"),
    [
        ("AFusionPass:off\n\nSoftmaxFusionPass:off\n", ("A",), (), ("SoftmaxFusionPass",)),
        ("A : OFF # of ours\r\nBFusion:off", ("A", "B"), (), ()),
        ("ALL:off\nBFusionPass:on", ("A", "D"), (), ()),
        ("CFusionPass:off", (), ("C",), ()),
        ("ZDQuantFusionPass:off", ("D",), (), ()),
        ('{"Switch":{"GraphFusion":{"ALL":"off","AFusionPass":"on"}}}', ("D",), (), ()),
        ('{"Switch":{"UBFusion":{"ALL":"off"}}}', ("B",), (), ()),
        (
            '{"Switch":{"GraphFusion":{"ALL":"off","C":"off"},"UBFusion":{"X":"off"}}}',
            ("A", "D"),
            ("C",),
            ("X",),
        ),
        ("", (), (), ()),
    ],
)
def test_both_forms_of_a_switch_file(
    folder: Path, text: str, off: tuple[str, ...], kept: tuple[str, ...], unknown: tuple[str, ...]
):
    (folder / "switch.cfg").write_bytes(text.encode())
    switch = read_switch_file("switch.cfg")
    assert switch.disabled(RULES) == off
    assert switch.kept(RULES) == kept
    assert switch.unknown(RULES) == unknown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"A:on\nB:maybe\n", "switch.cfg:2: expected 'Name:on' or 'Name:off', got 'B:maybe'"),
        (b'{\n"Switch": ', "switch.cfg:2: no JSON"),
        (b'{"Switch": []}', "expected 'Switch' to be a table"),
        (b'{"Switch": {"Fusion": {}}}', "expected GraphFusion and UBFusion in 'Switch'"),
        (b'{"Switch": {"UBFusion": {"A": "no"}}}', 'expected \'A\' to be "on" or "off"'),
        (b"\xff\xfe", "byte 0 is not UTF-8"),
    ],
)
def test_a_switch_file_of_another_form_is_refused(folder: Path, text: bytes, message: str):
    (folder / "switch.cfg").write_bytes(text)
    with pytest.raises(GEError) as caught:
        read_switch_file("switch.cfg")
    assert caught.value.code == "GE0443"
    assert message in caught.value.message


def test_a_rule_that_is_switched_off_does_not_fire(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    (folder / "switch.cfg").write_text(f"{RULE}FusionPass:off\nSoftmaxFusionPass:off\n")
    argv = ["fuses.mlir", "-o", "a.om", "-q", "--fusion_switch_file=switch.cfg"]
    assert run([*argv, "--export_compile_stat=1"]) == 0
    assert "1 rules in the fusion switch file are not ours" in capsys.readouterr().err
    found = json.loads((folder / "fusion_result.json").read_text())["session_and_graph_id_0_0"]
    assert found["graph_fusion"][f"{RULE}FusionPass"] == {
        "effect_times": "0",
        "match_times": "1",
    }
    (miss,) = found["near_miss"]
    assert (miss["pass"], miss["anchor"], miss["reason"]) == (
        f"{RULE}FusionPass",
        "block/norm",
        "DISABLED",
    )


def test_what_fused_is_in_the_result_file(folder: Path):
    assert run(["fuses.mlir", "-o", "a.om", "-q", "--fusion-result", "r.json"]) == 0
    found = json.loads((folder / "r.json").read_text())["session_and_graph_id_0_0"]
    counts = {"effect_times": "1", "match_times": "1"}
    assert found == {
        "graph_fusion": {f"{RULE}FusionPass": counts},
        "ub_fusion": {},
        "near_miss": [],
    }


# Rules of one's own, and questions

LIBRARY = """\
[[rule]]
name = "NormOfAttention"
kernel = "NormOfAttentionKernel"
priority = 90
[rule.pattern]
op = "layer_norm"
attrs = { axis = "keep", epsilon = { min = 1e-7, max = 1e-4 } }
[[rule.pattern.operands]]
op = "flash_attention"
operands = ["q", "k", "v"]
[rule.pattern.operands.attrs]
scale = "keep"
causal = "keep"
causal_offset = "keep"
softcap = "keep"
masked_fill = "keep"
fill = "keep"
nan_guard = "keep"
zero_nan = "keep"
accumulate = "keep"
"""


def test_a_file_of_rules_is_used_by_all_tools(folder: Path):
    (folder / "my.toml").write_text(LIBRARY)
    argv = ["misses.mlir", "-o", "a.om", "-q", "--rules", "my.toml"]
    assert run([*argv, "--require-fusion=NormOfAttention:1"]) == 0
    plan = compile(folder / "misses.mlir", rule_sources=("my.toml",))
    assert plan.fired == {"NormOfAttention": 1}
    assert plan.summary["fusions"] == [
        {"rule": "NormOfAttention", "kernel": "NormOfAttentionKernel", "count": 1}
    ]
    argv = ["misses.mlir", "-p", "ge-fuse-rules", "-o", "o.mlir", "--rules", "my.toml"]
    assert ge_opt.main_with([*argv, "--require-fusion=NormOfAttention"]) == 0


def test_only_the_rules_that_are_named_are_tried(folder: Path):
    (folder / "my.toml").write_text(LIBRARY)
    plan = compile(folder / "fuses.mlir", rule_sources=("my.toml",), rules=(RULE,))
    assert plan.fired == {RULE: 1}


def test_lint_prints_and_fails_where_a_rule_is_wrong(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    (folder / "my.toml").write_text(LIBRARY.replace("priority = 90", "max_opset = 21"))
    assert ge_opt.main_with(["--lint-rules", "--rules", "my.toml"]) == 0
    out = capsys.readouterr().out
    assert "warning: [stale] NormOfAttention: was written for opset 1 to 21, the newest is" in out
    shadow = LIBRARY.replace("NormOfAttention", "Again").replace("priority = 90", "")
    (folder / "my.toml").write_text(LIBRARY + shadow)
    assert ge_opt.main_with(["--lint-rules", "--rules", "my.toml"]) == 1
    assert "error: [shadowed] Again: " in capsys.readouterr().out


def test_why_not_tells_each_miss_of_a_rule(folder: Path, capsys: pytest.CaptureFixture[str]):
    argv = ["fuses.mlir", "-p", "ge-optimize", "-o", "o.mlir"]
    assert ge_opt.main_with([*argv, "--why-not", "FlashAttentionDropout"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert "FlashAttentionDropout: func.func: no 'ge.dropout' to start from" in line
    with pytest.raises(GEError, match="expected rules among"):
        ge_opt.main_with([*argv, "--why-not", "Nothing"])


def test_a_required_rule_that_is_turned_off_says_so(folder: Path):
    with pytest.raises(GEError) as caught:
        compile("fuses.mlir", require_fusions=(RULE,), disabled_rules=(RULE,))
    assert caught.value.code == "GE0440"
    assert "the rule is turned off" in str(caught.value.hint)
    assert "verified: without that it fires" in str(caught.value.hint)


def test_a_required_rule_that_does_not_exist_is_unknown(folder: Path):
    with pytest.raises(GEError, match="got 'FlashAttentionLayerNrom'") as caught:
        compile("fuses.mlir", require_fusions=("FlashAttentionLayerNrom",))
    assert caught.value.code == "GE0421"


def test_a_baseline_tells_of_each_rule_that_fires_less(folder: Path):
    compile("fuses.mlir", fusion_baseline="fusions.json")
    with pytest.raises(GEError) as caught:
        compile("misses.mlir", fusion_baseline="fusions.json")
    assert "attribute 'epsilon'" in str(caught.value.hint)
    assert str(caught.value.hint).endswith(f"--why-not={RULE} tells every partial match")


def test_a_device_without_an_end_is_no_baseline_and_no_switch_file(folder: Path):
    with pytest.raises(GEError, match="is no fusion baseline"):
        check_baseline("/dev/zero", {}, [])
    with pytest.raises(GEError, match="more than"):
        read_switch_file("/dev/zero")


def test_rules_are_listed_in_the_order_they_are_tried(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    (folder / "my.toml").write_text(
        '[[rule]]\nname = "Mine"\npriority = 99\nmax_opset = 30\ntargets = ["Ascend910B"]\n'
        'pattern = { op = "relu", operands = [{ op = "neg", operands = ["x"] }] }\n'
    )
    assert ge_opt.main_with(["--list-rules", "--rules", "my.toml"]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "Mine: kernel MineFusion, priority 99, on Ascend910B, opset 1 to 30"
    assert second.startswith("FlashAttentionLayerNormDropoutAdd: ")


def test_rules_are_disabled_in_ge_opt(folder: Path, capsys: pytest.CaptureFixture[str]):
    arguments = ["fuses.mlir", "-p", "ge-fuse-rules", "--disable-rules", RULE]
    assert ge_opt.main_with(arguments) == 0
    assert "ge.fusion" not in capsys.readouterr().out


def test_a_name_in_a_switch_file_that_is_nearly_ours_is_told(folder: Path):
    (folder / "switch.cfg").write_text(f"{RULE.replace('Norm', 'Nrom')}FusionPass:off\nOther:off\n")
    plan = compile("fuses.mlir", fusion_switch_file="switch.cfg")
    (note,) = plan.notes
    assert note.startswith(
        "2 rules in the fusion switch file are not ours: FlashAttentionLayerNrom"
    )
    assert note.endswith(f"; 'FlashAttentionLayerNromFusionPass' may be '{RULE}'")


def test_a_switch_file_with_a_huge_number_is_no_traceback(folder: Path):
    (folder / "switch.json").write_text('{"Switch": ' + "1" * 5000 + "}")
    with pytest.raises(GEError, match="no JSON") as caught:
        read_switch_file("switch.json")
    assert caught.value.code == "GE0443"


NEVER = """
[[rule]]
name = "Never"
pattern = { op = "relu", operands = [{ op = "neg", operands = ["x"] }] }
"""


def test_a_rule_that_is_tried_on_its_sample_has_not_fired(folder: Path):
    (folder / "never.toml").write_text(NEVER)
    with pytest.raises(GEError) as caught:
        compile("fuses.mlir", rule_sources=("never.toml",), require_fusions=("Never",))
    assert (caught.value.code, caught.value.message) == (
        "GE0440",
        "expected 1 fusions by 'Never', got 0",
    )
    # Another rule, since each is tried once: nobody counts or hears of it, no limit stops it.
    (folder / "never.toml").write_text(NEVER.replace("Never", "NeverEver"))
    with (
        statistics.collect() as counts,
        remarks.collect() as found,
        rewrites.counting(limit=0) as counted,
    ):
        registry_of(("never.toml",))
    assert (dict(counts), found.remarks, counted.done) == ({}, (), 0)
