"""`--check-numerics`: silent where values stay, one line and a small module where they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

from ge_dialect.ge.binary import AddOp
from ge_dialect.tools import ge_compile
from ge_dialect.tools.check.feeds import DRAWS, functions_of, random_feed
from ge_dialect.tools.check.reduce import Reducer
from ge_dialect.tools.check.values import difference
from ge_dialect.tools.cli import run_tool
from ge_dialect.tools.ge_opt import main_with
from tests.fusion_graphs import parse
from tests.wrong_passes import blocks, fails, make_folder

WRONG = "test-add-to-sub{wrong=1}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return make_folder(tmp_path, monkeypatch, 2)


@pytest.mark.parametrize("how", ["--check-numerics", "--check-numerics=each"])
@pytest.mark.parametrize("lower", ["", ",ge-lower", ",ge-bufferize"])
def test_right_passes_change_nothing(
    folder: Path, how: str, lower: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = f"ge-optimize{lower}"
    assert main_with(["in.mlir", "-p", spec]) == 0
    plain = capsys.readouterr().out
    assert main_with(["in.mlir", "-p", spec, how]) == 0
    assert capsys.readouterr() == (plain, "")
    assert [path.name for path in folder.iterdir()] == ["in.mlir"]


@pytest.mark.parametrize(
    "pipeline", [f"ge-cse,{WRONG},ge-dce", f"ge-optimize{{level=1}},{WRONG},ge-lower"]
)
def test_a_wrong_rewrite_is_named_and_reduced(folder: Path, pipeline: str) -> None:
    error = fails("in.mlir", "-p", pipeline, "--check-numerics", "--reproducer", "small.mlir")
    assert error.code == "GE0902"
    assert "AddToSub, match 1 of 2" in error.message
    assert '(%r0) in @main at "block0/add"' in error.message
    assert error.hint == "reduced to 1 ops: ge-opt --run-reproducer small.mlir"
    text = (folder / "small.mlir").read_text()
    assert f"// configuration: -p '{WRONG}' --check-numerics" in text
    assert [line.split()[2] for line in text.splitlines() if " = " in line] == ["ge.add"]
    again = fails("small.mlir")
    assert again.code == "GE0902"
    assert "AddToSub, match 1 of 1" in again.message


def test_each_stops_at_the_first_wrong_pass(folder: Path) -> None:
    (folder / "in.mlir").write_text(blocks(1))
    twice = "test-add-to-sub{wrong=1},test-uncounted,test-add-to-sub"
    error = fails("in.mlir", "-p", twice, "--check-numerics=each", "--reproducer", "r.mlir")
    assert "'test-add-to-sub' (pass 1)" in error.message


def test_ge_compile_checks_as_well(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["in.mlir", "-o", "out.om", "--check-numerics=each", "-q"]
    assert run_tool("ge-compile", ge_compile.run, argv) == 0
    assert capsys.readouterr() == ("", "")
    assert (folder / "out.om").is_file()


def test_ge_compile_finds_a_wrong_pass(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ge_dialect.tools import api
    from tests.wrong_passes import AddToSubPass

    passes = api.build_passes

    def with_wrong(options: api.CompileOptions) -> list[Any]:
        return [*passes(options)[:4], AddToSubPass(wrong=2), *passes(options)[4:]]

    monkeypatch.setattr(api, "build_passes", with_wrong)
    argv = ["in.mlir", "-o", "out.om", "--check-numerics", "--reproducer", "r.mlir"]
    assert run_tool("ge-compile", ge_compile.run, argv) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "AddToSub, match 2 of 2" in err
    assert not (folder / "out.om").exists()


def test_what_cannot_be_run_is_an_error(folder: Path) -> None:
    (folder / "in.mlir").write_text("func.func private @f(tensor<4xf32>)\n")
    assert fails("in.mlir", "-p", "ge-dce", "--check-numerics").code == "GE0903"


SYMBOLS = """
func.func @main(%x: tensor<?x?xf32, #ge.dims<"S", "2*S + 1">>, %y: tensor<?x4xi8>)
    -> tensor<?x?xf32, #ge.dims<"S", "2*S + 1">>
    attributes {ge.symbols = {S = #ge.symbol<8, 64, 8, "x">}} {
  func.return %x : tensor<?x?xf32, #ge.dims<"S", "2*S + 1">>
}
func.func private @hidden(%x: tensor<4xf32>) {
  func.return
}
"""


def test_symbols_are_sampled_within_their_ranges() -> None:
    (function,) = functions_of(parse(SYMBOLS))
    sizes: set[int] = set()
    for seed in range(20):
        x, y = random_feed(function, DRAWS[0], seed, extremes=True).arguments
        sizes.add(x.shape[0])
        assert x.shape[1] == 2 * x.shape[0] + 1
        assert (y.shape, y.dtype) == ((2, 4), np.int8)
    assert sizes <= set(range(8, 65, 8))
    assert len(sizes) > 2


TYPES = (
    *("f16", "bf16", "f32", "f64", "i1", "i4", "i8", "i32", "i64", "ui8"),
    *("complex<f32>", "!ge.string", "!ge.float<f8E4M3FN>"),
)


@pytest.mark.parametrize("element", TYPES)
def test_every_element_type_has_random_values(element: str) -> None:
    text = f"func.func @main(%x: tensor<4x9x{element}>) {{\n  func.return\n}}"
    (function,) = functions_of(parse(text))
    for draw in DRAWS:
        (one,) = random_feed(function, draw, 0, extremes=True).arguments
        (two,) = random_feed(function, draw, 0, extremes=True).arguments
        assert one.shape == (4, 9)
        assert difference([one], [two], exact=True) is None
    special = random_feed(function, DRAWS[1], 0, extremes=True).arguments[0]
    if element in ("f16", "bf16", "f32", "f64"):
        wide = special.astype(np.float64)
        assert not np.all(np.isfinite(wide))
        assert np.count_nonzero(np.isfinite(wide)) > 20


def array(*values: float, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.array(values, dtype)


@pytest.mark.parametrize(
    ("got", "want", "exact", "tolerant"),
    [
        (array(1.0), array(1.0), True, True),
        (array(np.nan), array(np.nan), True, True),
        (array(0.0), array(-0.0), False, True),
        (array(1.0), array(np.nextafter(np.float32(1), np.float32(2))), False, True),
        (array(1.0), array(1.1), False, False),
        (array(np.inf), array(-np.inf), False, False),
        (array(np.nan), array(1.0), False, False),
        (array(1.0), array(1.0, 1.0), False, False),
        (array(1.0), array(1.0, dtype=np.float64), False, False),
        (array(3, dtype=np.int8), array(4, dtype=np.int8), False, True),
        (array(3, dtype=np.int8), array(5, dtype=np.int8), False, False),
        (array(3, dtype=np.int64), array(4, dtype=np.int64), False, False),
        (np.array(["a"], object), np.array(["b"], object), False, False),
        ([array(1.0)], [array(1.0)], True, True),
        ([array(1.0)], [array(2.0)], False, False),
        (None, None, True, True),
        (None, array(1.0), False, False),
    ],
)
def test_what_counts_as_a_difference(got: Any, want: Any, exact: bool, tolerant: bool) -> None:
    assert (difference([got], [want], exact=True) is None) == exact
    assert (difference([got], [want], exact=False) is None) == tolerant


def test_a_module_is_reduced_to_what_shows_the_fault() -> None:
    """The fault: an add whose operand is a negation."""
    module = parse(
        """
        func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
          func.return %x : tensor<4xf32>
        }
        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
          %a = ge.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          %b = ge.relu %a : (tensor<4xf32>) -> tensor<4xf32>
          %c = ge.neg %b : (tensor<4xf32>) -> tensor<4xf32>
          %d = ge.add %c, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          %e = ge.sqrt %d : (tensor<4xf32>) -> tensor<4xf32>
          %f = ge.mul %e, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %a, %f : tensor<4xf32>, tensor<4xf32>
        }"""
    )

    def shows(candidate: Any) -> bool:
        return any(
            isinstance(op, AddOp) and getattr(op.operands[0].owner, "name", "") == "ge.neg"
            for op in candidate.walk()
        )

    small = Reducer(module, shows, "main").run()
    small.verify()
    (function,) = (op for op in small.walk() if isinstance(op, FuncOp))
    assert [op.name for op in function.body.block.ops] == ["ge.neg", "ge.add", "func.return"]
    assert len(function.body.block.args) == 2


def test_dynamic_functions_run_with_sizes_from_their_ranges(folder: Path) -> None:
    shape = 'tensor<?x8xf32, #ge.dims<"S">>'
    flat = 'tensor<?xf32, #ge.dims<"8*S">>'
    (folder / "in.mlir").write_text(
        f"func.func @main(%x: {shape}) -> {flat}"
        ' attributes {ge.symbols = {S = #ge.symbol<2, ?, 1, "x">}} {\n'
        f"  %a = ge.add %x, %x : ({shape}, {shape}) -> {shape}\n"
        f"  %f = ge.reshape %a : ({shape}) -> {flat}\n  func.return %f : {flat}\n}}\n"
    )
    assert main_with(["in.mlir", "-p", "ge-optimize", "--check-numerics=each"]) == 0
    error = fails("in.mlir", "-p", WRONG, "--check-numerics", "--reproducer", "r.mlir")
    assert error.code == "GE0902"
    assert '#ge.dims<"S">' in (folder / "r.mlir").read_text()
