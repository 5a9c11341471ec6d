"""`ge-opt --diff-plan`: what is different between two plans, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from xdsl.parser import Parser

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.api import compile, make_context
from ge_dialect.tools.ge_opt import main_with
from ge_dialect.tools.report.plan_diff import SHOWN, diff_plans, diff_text
from ge_dialect.tools.report.plan_facts import plan_facts

X, W = "tensor<8x256xf32>", "tensor<256x256xf32>"
GRAPH = f"""
func.func @main(%x: {X} {{ge.name = "x"}}) -> ({X} {{ge.name = "y"}}) {{
  %w = ge.constant dense<WEIGHT> : {W} loc("layer/weight")
  %v = ge.constant dense<0.25> : {W} loc("gate/weight")
  %a = ge.matmul %x, %w : ({X}, {W}) -> {X} loc("layer/matmul")
  %b = ge.gelu %a approximate "none" : ({X}) -> {X} loc("layer/gelu")
  %c = ge.matmul %x, %v : ({X}, {W}) -> {X} loc("gate/matmul")
  %d = ge.tanh %c : ({X}) -> {X} loc("gate/tanh")
  %e = ge.sigmoid %d : ({X}) -> {X} loc("gate/sigmoid")
  %y = ge.add %b, %e : ({X}, {X}) -> {X} loc("layer/add")
  func.return %y : {X}
}}"""


def saved(path: Path, weight: float = 0.5, **options: Any) -> str:
    module = Parser(make_context(), GRAPH.replace("WEIGHT", str(weight))).parse_module()
    compile(module, **options).save(path)
    return str(path)


def difference(old: str, new: str) -> dict[str, Any]:
    return diff_plans(plan_facts(old), plan_facts(new))


def test_equal_plans_have_no_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    first, second = saved(tmp_path / "a.om"), saved(tmp_path / "b.om")
    assert main_with(["--diff-plan", first, second]) == 0
    assert capsys.readouterr().out == f"--- {first}\n+++ {second}\nno differences\n"


def test_fusions_are_told_with_their_nodes(tmp_path: Path):
    apart, fused = saved(tmp_path / "a.om", level=1), saved(tmp_path / "b.om", level=2)
    found = difference(apart, fused)
    assert not found["equal"]
    groups = [group for group in found["fusions"] if group["kind"] == "fused"]
    assert groups
    assert {"BatchMatMulV2", "Gelu"} & {part for group in groups for part in group["parts"]}
    before, after = found["numbers"]["cost"]["traffic"]
    assert after < before
    assert any("keep on chip" in reason for reason in found["reasons"])
    back = difference(fused, apart)
    assert {group["kind"] for group in back["fusions"]} == {"split"}
    assert any("no longer keep" in reason for reason in back["reasons"])


def test_kernels_are_counted(tmp_path: Path):
    found = difference(saved(tmp_path / "a.om", level=1), saved(tmp_path / "b.om", level=2))
    gone = {kernel["kernel"]: (kernel["old"], kernel["new"]) for kernel in found["kernels"]}
    assert gone["Add"] == (1, 0)
    assert any(old < new and kernel for kernel, (old, new) in gone.items())


def test_streams_and_memory_are_told(tmp_path: Path):
    one = saved(tmp_path / "a.om", level=1)
    two = saved(tmp_path / "b.om", level=1, streams=2)
    found = difference(one, two)
    assert found["numbers"]["plan"]["streams"] == [1, 2]
    assert found["numbers"]["plan"]["events"][1] > 0
    assert found["moved_tasks"] > 0
    assert "another stream" in diff_text(found)


def test_the_work_arena_is_told(tmp_path: Path):
    steps = [f"%{i + 1} = ge.matmul %{i}, %w : ({X}, {W}) -> {X}" for i in range(5)]
    chain = (
        f'func.func @main(%0: {X} {{ge.name = "x"}}) -> ({X} {{ge.name = "y"}}) {{\n'
        f"%w = ge.constant dense<0.5> : {W}\n" + "\n".join(steps) + f"\nfunc.return %5 : {X}\n}}"
    )
    for name, reuse in (("a.om", True), ("b.om", False)):
        module = Parser(make_context(), chain).parse_module()
        compile(module, level=0, reuse_memory=reuse).save(tmp_path / name)
    found = difference(str(tmp_path / "a.om"), str(tmp_path / "b.om"))
    before, after = found["numbers"]["memory"]["arena"]
    assert after > before
    assert any(reason.startswith("the work arena") for reason in found["reasons"])
    assert "work arena: " in diff_text(found)


def test_another_weight_of_the_same_size_is_found(tmp_path: Path):
    found = difference(saved(tmp_path / "a.om", 0.5), saved(tmp_path / "b.om", 0.75))
    assert found["weights"] == {"changed": [{"name": "layer/weight", "bytes": 256 * 256 * 4}]}
    assert "! weight  layer/weight, 256.0 KiB, changed" in diff_text(found)


def test_weights_come_and_go(tmp_path: Path):
    first = saved(tmp_path / "a.om")
    module = Parser(
        make_context(), GRAPH.replace("WEIGHT", "0.5").replace("layer/weight", "other")
    ).parse_module()
    compile(module).save(tmp_path / "b.om")
    found = difference(first, str(tmp_path / "b.om"))["weights"]
    assert [entry["name"] for entry in found["removed"]] == ["layer/weight"]
    assert [entry["name"] for entry in found["added"]] == ["other"]


def test_the_json_form_has_all_and_the_exit_code_is_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    first, second = saved(tmp_path / "a.om", level=1), saved(tmp_path / "b.om", level=2)
    assert main_with(["--diff-plan", first, second, "--diff-format=json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["old"] == first
    assert list(found) == [
        "old",
        "new",
        "numbers",
        "kernels",
        "fusions",
        "moved_tasks",
        "weights",
        "reasons",
        "equal",
    ]


def test_many_lines_of_one_kind_are_cut():
    kernels: list[dict[str, Any]]
    kernels = [{"kernel": f"K{i}", "ops": [], "old": 0, "new": 1} for i in range(SHOWN + 3)]
    text = diff_text(
        {
            "old": "a",
            "new": "b",
            "equal": False,
            "numbers": {},
            "kernels": kernels,
            "fusions": [],
            "weights": {},
            "reasons": [],
        }
    )
    assert "  3 more kernels, in --diff-format json" in text


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path):
    with pytest.raises(GEError, match="GE0613"):
        main_with(["--diff-plan", saved(tmp_path / "a.om"), str(tmp_path / "none.om")])
