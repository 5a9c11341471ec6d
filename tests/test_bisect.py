"""Bisection: the one wrong rewrite among hundreds, found in log2 runs of the pipeline."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, log2
from pathlib import Path

import pytest
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.binary import SubOp
from ge_dialect.ge.unary import NegOp
from ge_dialect.passes.pipelines import OptimizePipeline
from ge_dialect.passes.rewrites import counting
from ge_dialect.tools.api import make_context
from ge_dialect.tools.check.bisect import bisect, run_passes
from ge_dialect.tools.ge_opt import GEOptMain, main_with
from tests.fusion_graphs import parse
from tests.wrong_passes import TEST_PASSES, AddToSubPass, TestingMain, UncountedPass, blocks

COPIES, WRONG = 50, 37


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ge_dialect.tools.ge_opt.GEOptMain", TestingMain)
    return tmp_path


def pipeline(wrong: int = WRONG) -> list[ModulePass]:
    """Fourteen passes or more, the wrong one in the middle."""
    passes = list(OptimizePipeline().passes())
    passes.insert(7, AddToSubPass(wrong))
    assert len(passes) >= 14
    return passes


def test_match_37_is_found_in_log2_runs() -> None:
    original = parse(blocks(COPIES))
    passes = pipeline()

    def subtracts_directly(module: object) -> bool:
        assert isinstance(module, type(original))
        return any(
            isinstance(op, SubOp) and not isinstance(op.operands[1].owner, NegOp)
            for op in module.walk()
        )

    culprit = bisect(make_context(), original, passes, subtracts_directly)
    assert culprit.pass_ is passes[7]
    assert culprit.rewrite is not None
    assert (culprit.rewrite.rule, culprit.rewrite.match) == ("AddToSub", WRONG)
    assert culprit.rewrite.where == f"'ge.add' (%r{WRONG - 1}) in @main at \"block{WRONG - 1}/add\""
    assert culprit.runs <= ceil(log2(culprit.total))
    expected = f"'test-add-to-sub' (pass 8): AddToSub, match {WRONG} of {COPIES} (rewrite "
    assert str(culprit).startswith(expected)


def test_numerics_find_it_through_ge_opt(folder: Path) -> None:
    (folder / "in.mlir").write_text(blocks(12))
    spec = ",".join(str(one.spec()) for one in pipeline(9))
    argv = ["in.mlir", "-p", spec, "--check-numerics", "--reproducer", "small.mlir"]
    with pytest.raises(GEError) as caught:
        main_with(argv)
    assert caught.value.code == "GE0902"
    assert "AddToSub, match 9 of 12" in caught.value.message
    assert 'at "block8/add"' in caught.value.message
    assert len(str(caught.value).splitlines()) == 1


def test_a_limit_lets_the_first_rewrites_through() -> None:
    for limit in (0, 1, 5):
        module = parse(blocks(8))
        with counting(limit=limit):
            AddToSubPass().apply(make_context(), module)
        assert sum(isinstance(op, SubOp) for op in module.walk()) == limit


def test_every_prefix_of_the_rewrites_is_valid_and_reproducible() -> None:
    original = parse(blocks(3))
    total = len(run_passes(make_context(), original.clone(), pipeline(0), traced=True))
    assert total > 5
    texts: list[str] = []
    for limit in range(total + 1):
        module = original.clone()
        trace = run_passes(make_context(), module, pipeline(0), limit=limit, traced=True)
        module.verify()
        assert len(trace) == limit
        texts.append(str(module))
    assert all(a != b for a, b in pairwise(texts))
    whole = original.clone()
    run_passes(make_context(), whole, pipeline(0))
    assert str(whole) == texts[-1]


def test_a_pass_whose_changes_do_not_count_is_found_as_a_whole() -> None:
    original = parse(blocks(2))
    AddToSubPass().apply(make_context(), original)
    passes = list(OptimizePipeline().passes())
    passes.insert(1, UncountedPass())

    def is_swapped(module: object) -> bool:
        assert isinstance(module, type(original))
        return any(
            isinstance(op, SubOp) and isinstance(op.operands[0].owner, NegOp)
            for op in module.walk()
        )

    culprit = bisect(make_context(), original, passes, is_swapped)
    assert (culprit.rewrite, culprit.step, culprit.pass_) == (None, 1, UncountedPass())
    assert "'test-uncounted' (pass 2), whatever its rewrites" in str(culprit)


def test_ge_opt_bisects_a_command(folder: Path) -> None:
    (folder / "in.mlir").write_text(blocks(9))
    argv = ["in.mlir", "-p", "test-add-to-sub,ge-cse", "--bisect", "! grep -q '%r6_1 = ge.sub' {}"]
    with pytest.raises(GEError, match=r"GE0905: .* AddToSub, match 7 of 9"):
        main_with(argv)
    not_run = ("no-such-command {}", "is not found, or reads what is not found")
    for command, why in (("false", "fails on the input"), ("true", "succeeds"), not_run):
        with pytest.raises(GEError, match=f"GE0904: .* {why}"):
            main_with([*argv[:-1], command])


def test_ge_opt_limits_rewrites(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "in.mlir").write_text(blocks(9))
    with pytest.raises(GEError, match="expected a whole number from 0 on, got '-4'"):
        main_with(["in.mlir", "-p", "test-add-to-sub", "--max-rewrites=-4"])
    assert main_with(["in.mlir", "-p", "test-add-to-sub", "--max-rewrites=4"]) == 0
    assert capsys.readouterr().out.count("ge.sub") == 4


def test_the_passes_of_these_tests_are_not_in_the_product() -> None:
    assert not set(TEST_PASSES) & set(GEOptMain(args=[]).available_passes)
