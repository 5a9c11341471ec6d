"""`ge-opt` and `ge-compile` on bad input: one line with a code, nothing half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from ge_dialect.error_codes import CODES
from ge_dialect.passes.dce import DCEPass
from ge_dialect.passes.pipelines import OptimizePipeline
from ge_dialect.source_text import check_strings
from ge_dialect.tools import ge_compile, ge_opt
from ge_dialect.tools.cli import one_line, run_tool, write_atomically

GRAPH = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""
INVALID = GRAPH.replace("ge.relu %x :", "ge.softmax %x axis 3 :")
DYNAMIC = GRAPH.replace("tensor<4xf32>", "tensor<?xf32>")

Tool = Callable[[Sequence[str] | None], int]


@pytest.fixture
def folder(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with files that are right, and many that are not."""
    monkeypatch.chdir(tmp_path)
    texts = {"ok": GRAPH, "bad": "func.func @f( {", "invalid": INVALID, "dynamic": DYNAMIC}
    texts["open"] = GRAPH.replace("@main", '@"' + "a" * 64)
    texts["deep"] = "func.func @f(%x: " + "tuple<" * 5000
    for name, text in texts.items():
        (tmp_path / f"{name}.mlir").write_text(text)
    (tmp_path / "binary.mlir").write_bytes(bytes(range(256)))
    (tmp_path / "text.onnx").write_text("no model, but long enough to be one\n")
    (tmp_path / "empty.onnx").write_bytes(b"")
    model = (root / "examples" / "bert_tiny.onnx").read_bytes()
    (tmp_path / "cut.onnx").write_bytes(model[: len(model) // 2])
    (tmp_path / "text.om").write_text("no plan")
    for name in ("folder", "folder.onnx", "folder.om"):
        (tmp_path / name).mkdir()
    return tmp_path


def run(name: str, body: Tool, argv: Sequence[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Runs a tool that fails; returns its one line on stderr."""
    before = listing()
    try:
        code = run_tool(name, body, argv)
    except SystemExit as error:  # argparse
        assert isinstance(error.code, int)
        code = error.code
    out, err = capsys.readouterr()
    assert code == 1, err
    assert out == ""
    assert err.count("\n") == 1, err
    assert err.startswith(f"{name}: error: GE")
    assert err.removeprefix(f"{name}: error: ")[:6] in CODES
    assert len(err) < 800
    assert listing() == before
    return err


def listing() -> dict[str, int]:
    """All files below the working directory, with their sizes."""
    return {str(path): path.stat().st_size for path in sorted(Path().rglob("*"))}


# What both tools say of their input.
INPUTS = {
    "missing.mlir": "GE0101",
    "missing.onnx": "GE0",
    "folder.onnx": "GE0",
    "text.onnx": "GE0202: 'text.onnx' is not an ONNX model",
    "empty.onnx": "GE0202: 'empty.onnx' is empty",
    "cut.onnx": "GE0203: 'cut.onnx' is truncated",
    "bad.mlir": "GE0310: bad.mlir:1:15: Expected argument or type",
    "binary.mlir": "GE0310: 'binary.mlir' is not text: byte 128 is not UTF-8",
    "open.mlir": "GE0310: open.mlir:2:12: expected a string that ends on its line",
    "deep.mlir": "GE0310: 'deep.mlir' is nested too deeply",
    "invalid.mlir": "GE0311",
}


@pytest.mark.parametrize("name", INPUTS)
def test_a_bad_input_is_one_line(folder: Path, name: str, capsys: pytest.CaptureFixture[str]):
    assert INPUTS[name] in run("ge-opt", ge_opt.main_with, [name, "-o", "out.mlir"], capsys)
    assert INPUTS[name] in run("ge-compile", ge_compile.run, [name, "-o", "out.om"], capsys)
    assert not (folder / "out.mlir").exists()
    assert not (folder / "out.om").exists()


OPT = {
    "folder": "GE0101: cannot read 'folder': is a directory",
    "missing.om": "GE0101: cannot read 'missing.om'",
    "folder.om": "GE0101: cannot read 'folder.om'",
    "text.om": "GE06",
    "text.onnx -f mlir": "GE0310: text.onnx:1:",
    "ok.mlir -p ge-dec": "GE0104: in the pipeline 'ge-dec': expected a known pass, got 'ge-dec',"
    " did you mean 'ge-dce'?",
    "ok.mlir -p nothing-like-it": "expected a known pass, got 'nothing-like-it'; ge-opt --help",
    "ok.mlir -p ge-dce{": "GE0104: in the pipeline 'ge-dce{'",
    "ok.mlir -p ge-dce,,ge-cse": "GE0104",
    "ok.mlir -p ge-lower{foo=1}": "'ge-lower' has no option 'foo'; it has streams, target, ",
    "ok.mlir -p ge-lower{straems=2}": "'ge-lower' has no option 'straems', did you mean 'streams'?",
    "ok.mlir -p ge-dce{x=2}": "'ge-dce' has no option 'x'; it has none",
    "ok.mlir -p ge-lower{reuse=yes}": "option 'reuse' of 'ge-lower' to be true or false",
    "ok.mlir -p ge-optimize{level=two}": "option 'level' of 'ge-optimize' to be a whole number",
    "ok.mlir -p ge-lower{streams=many}": "GE0104",
    "ok.mlir -p ge-lower{streams=0}": "GE0530: expected 'streams' >= 1, got 0",
    "ok.mlir -p ge-optimize{level=7}": "GE0430: expected 'level' to be 0, 1, 2 or 3, got 7",
    'ok.mlir -p ge-fuse-rules{rules="Foo"}': "GE0421: expected rules among",
    "ok.mlir -p ge-plan-memory,ge-lower{memory-limit=8}": "GE0502",
    "dynamic.mlir -p ge-lower": "GE0520",
    "ok.mlir --print-after ge-foo -p ge-dce": "GE0105: expected 'print-after' to be a pass",
    "ok.mlir --nothing": "GE0105",
    "ok.mlir --remarks=some": "GE0105",
    "ok.mlir -t nothing": "GE0105",
    "ok.mlir -t om{": "GE0105",
    "ok.mlir -f nothing": "GE0105",
    "ok.mlir -t om": "GE0623: an .om file is binary and cannot go to standard output",
    "ok.mlir -t om -o out.om": "GE0620: expected a module with one plan",
    "ok.mlir -p ge-lower -t om -o gone/out.om": "GE0103: cannot write 'gone/out.om'",
    "ok.mlir -o gone/out.mlir": "GE0103: cannot write 'gone/out.mlir': no such file or directory",
    "ok.mlir -o folder": "GE0103: cannot write 'folder': is a directory",
    "--explain GE9999": "GE0102: expected an error code such as GE0201, got 'GE9999'",
    "--explain": "GE0105",
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("arguments", OPT)
def test_bad_arguments_of_ge_opt(arguments: str, capsys: pytest.CaptureFixture[str]):
    assert OPT[arguments] in run("ge-opt", ge_opt.main_with, arguments.split(), capsys)


COMPILE = {
    "": "GE0105",
    "ok.mlir": "GE0105",
    "folder -o out.om": "GE0201: 'folder' is a folder",
    "ok.mlir --model ok.mlir -o out.om": "GE0105: expected one model, got two models",
    "ok.mlir -o gone/out.om": "GE0103: cannot write 'gone/out.om': no such file or directory",
    "ok.mlir -o folder/": "GE0103",
    "ok.mlir -o folder": "GE0103: cannot write 'folder.om': is a directory",
    "ok.mlir -o out.om --summary gone/s.json": "GE0103: cannot write 'gone/s.json'",
    "ok.mlir -o out.om --dump-ir folder": "GE0103: cannot write 'folder'",
    "ok.mlir -o out.om --target nothing": "GE0701: expected a target among",
    "ok.mlir -o out.om --target gone.toml": "GE07",
    "ok.mlir -o out.om --streams 0": "GE0",
    "ok.mlir -o out.om --memory-limit 100": "GE0502: the work arena is full: 1024 bytes needed",
    "ok.mlir -o out.om --framework 1": "GE0105: expected --framework=5",
    "ok.mlir -o out.om --rules Foo": "GE0421",
    "ok.mlir -o out.om --input-shape x:4": "GE0105: input shapes were given for 'ok.mlir'",
    "dynamic.mlir -o out.om": "GE0520: 1 dimensions of the inputs of 'main' have neither",
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("arguments", COMPILE)
def test_bad_arguments_of_ge_compile(arguments: str, capsys: pytest.CaptureFixture[str]):
    assert COMPILE[arguments] in run("ge-compile", ge_compile.run, arguments.split(), capsys)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "folder").chmod(0o500)
    argv = ["ok.mlir", "-o", "folder/out.mlir"]
    assert "GE0103" in run("ge-opt", ge_opt.main_with, argv, capsys)


def test_a_failed_run_leaves_the_old_output(folder: Path, capsys: pytest.CaptureFixture[str]):
    for name in ("old.mlir", "old.om"):
        (folder / name).write_text("old")
    run("ge-opt", ge_opt.main_with, ["invalid.mlir", "-o", "old.mlir"], capsys)
    run("ge-opt", ge_opt.main_with, ["dynamic.mlir", "-p", "ge-lower", "-o", "old.mlir"], capsys)
    run("ge-compile", ge_compile.run, ["dynamic.mlir", "-o", "old.om"], capsys)
    assert {(folder / name).read_text() for name in ("old.mlir", "old.om")} == {"old"}


def test_an_output_replaces_the_old_one(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "out.mlir").write_text("old" * 1000)
    assert run_tool("ge-opt", ge_opt.main_with, ["ok.mlir", "-o", "out.mlir"]) == 0
    assert (folder / "out.mlir").read_text().startswith("builtin.module {\n  func.func @main(%x")
    assert run_tool("ge-compile", ge_compile.run, ["ok.mlir", "-o", "out", "-q"]) == 0
    assert run_tool("ge-opt", ge_opt.main_with, ["out.om", "-p", "ge-verify-plan"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "ge_exec.plan @main" in out


def test_a_failing_write_leaves_no_temporary_file(folder: Path, monkeypatch: pytest.MonkeyPatch):
    from ge_dialect.diagnostics import GEError

    def fail(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    before = listing()
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(GEError, match="GE0103: cannot write 'out': no space left on device"):
        write_atomically("out", b"data")
    assert listing() == before


def test_a_message_is_one_printable_line():
    assert one_line(" a\n\n  b\x1b[31m\t\x07c\u202e ") == "a b?[31m??c?"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('"a" "', "1:5"),
        ('a\n  "' + "b" * 99 + '\n"', "2:3"),
        ('"\\q"', "1:1"),
        ('"\\', "1:1"),
        ('"\\0"', "1:1"),
        ('// "\n"', "2:1"),
    ],
)
def test_a_string_that_does_not_end_is_found(text: str, place: str):
    from ge_dialect.diagnostics import GEError

    with pytest.raises(GEError, match=f"GE0310: f:{place}: expected a string that ends"):
        check_strings(text, "f")


@pytest.mark.parametrize("text", ["", '"a//b" // "', '"\\"\\\\\\n\\t\\0A"', "''", '"é"'])
def test_strings_that_end_are_left_to_the_parser(text: str):
    check_strings(text, "f")


@pytest.mark.parametrize("data", [GRAPH.encode(), b""])
def test_standard_input(
    data: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(data)))
    code = run_tool("ge-opt", ge_opt.main_with, ["-", "-p", "builtin.module(ge-dce,ge-cse)"])
    out, err = capsys.readouterr()
    assert (code, "ge.relu" in out, err == "") == ((0, True, True) if data else (1, False, False))


def test_a_printed_pipeline_parses_again(capsys: pytest.CaptureFixture[str]):
    spec = (
        'ge-optimize{level=1},ge-fuse-rules{rules="QKVProjection" disable="FlashAttentionDropout"}'
    )
    pipeline = f"{spec},ge-lower{{streams=2 memory-limit=4096 reuse=false}}"
    printed: list[str] = []
    for text in (pipeline, None):
        argv = ["--print-pipeline", "-p", text or printed[0].strip()]
        assert run_tool("ge-opt", ge_opt.main_with, argv) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert "ge-infer-types,ge-resolve-symbols,ge-bound-sizes,ge-eliminate-dropout" in printed[0]
    assert "ge-optimize" not in printed[0]
    assert 'ge-fuse-rules{rules="QKVProjection" disable="FlashAttentionDropout"}' in printed[0]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_a_printed_pipeline_is_what_would_run(
    level: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found: list[str] = []
    for form in ("{}", "builtin.module({})", " any( {} ) "):
        text = form.format(f"ge-optimize{{level={level} fast-math=masks}},ge-dce")
        assert run_tool("ge-opt", ge_opt.main_with, ["--print-pipeline", "-p", text]) == 0
        found.append(capsys.readouterr().out)
    passes = [*OptimizePipeline(level, ("masks",)).passes(), DCEPass()]
    assert found == [",".join(str(pass_.spec()) for pass_ in passes) + "\n"] * 3
    assert ('ge-raise{fast_math="masks"}' in found[0]) == (level >= 2)


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_has_a_page(code: str, capsys: pytest.CaptureFixture[str]):
    assert run_tool("ge-opt", ge_opt.main_with, ["--explain", code.lower()]) == 0
    page = capsys.readouterr().out
    assert page.startswith(code)
    assert CODES[code].title in page


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("tool", ["ge_opt", "ge_compile"])
def test_a_process_ends_with_code_1_and_no_traceback(tool: str, root: Path):
    result = subprocess.run(
        [sys.executable, "-m", f"ge_dialect.tools.{tool}", "bad.mlir", "-o", "out.om"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert "Traceback" not in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.usefixtures("folder")
def test_a_reader_that_goes_away_is_no_error(root: Path):
    command = f"{sys.executable} -m ge_dialect.tools.ge_opt ok.mlir | true"
    result = subprocess.run(
        ["sh", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert result.stderr == ""
