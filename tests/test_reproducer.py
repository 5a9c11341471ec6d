"""Reproducers: one file for a fault, written once, that fails the same way when it is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ge_dialect.tools import api, ge_compile
from ge_dialect.tools.check.reproducer import MARK, read_configuration
from ge_dialect.tools.cli import run_tool
from ge_dialect.tools.ge_opt import main_with
from tests.wrong_passes import AddToSubPass, blocks, fails, make_folder

FAILING = "test-add-to-sub{failing=3}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return make_folder(tmp_path, monkeypatch, 5)


def written(folder: Path) -> list[Path]:
    """All files that a run left, the input aside."""
    return sorted(path for path in folder.iterdir() if path.name != "in.mlir")


def test_a_pass_that_raises_is_one_line_and_one_file_that_fails_the_same_way(folder: Path) -> None:
    error = fails("in.mlir", "-p", f"ge-eliminate-dropout,{FAILING},ge-cse")
    assert error.code == "GE0901"
    message = "'test-add-to-sub' (pass 2 of 3) failed: KeyError: 'no table for\\nthis op'"
    assert error.message == message
    (path,) = written(folder)
    assert error.hint == f"reproduce it with: ge-opt --run-reproducer {path.name}"
    text = path.read_text()
    lines = text.splitlines()
    assert lines[0] == MARK
    assert lines[1] == f"// configuration: -p '{FAILING}'"
    assert lines[2].startswith("// error: GE0901: 'test-add-to-sub'")
    assert "xdsl 0." in lines[3]
    assert any("in match_and_rewrite" in line for line in lines if line.startswith("// at: "))
    assert "ge.dropout" not in text  # the IR before the pass, not the input
    assert 'loc("block3/add")' in text
    assert "loc(unknown)" not in text
    for argv in (["--run-reproducer", path.name], [path.name]):
        again = fails(*argv)
        assert (again.code, again.message) == (error.code, message.replace("2 of 3", "1 of 1"))
        assert written(folder) == [path]  # the same text, the same name
        assert path.read_text() == text


def test_where_it_goes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "ge-opt --run-reproducer r.mlir" in str(
        fails("in.mlir", "-p", FAILING, "--reproducer", "r.mlir")
    )
    assert written(folder) == [folder / "r.mlir"]
    (folder / "r.mlir").unlink()
    error = fails("in.mlir", "-p", FAILING, "--reproducer", "-")
    assert error.hint == "the reproducer is on stderr"
    out, err = capsys.readouterr()
    assert (out, written(folder)) == ("", [])
    assert err.count(MARK) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.chmod(0o500)
    assert fails("in.mlir", "-p", FAILING).code == "GE0901"
    assert MARK in capsys.readouterr().err


def test_an_error_of_the_input_writes_one_only_when_asked(folder: Path) -> None:
    text = blocks(1).replace("ge.dropout", "ge.unheard_of")
    (folder / "in.mlir").write_text(text)
    assert fails("in.mlir", "-p", "ge-optimize").code == "GE0310"
    (folder / "in.mlir").write_text(blocks(1))
    spec = 'ge-fuse-rules{rules="NoSuchRule"}'
    assert fails("in.mlir", "-p", spec).code == "GE0421"
    assert written(folder) == []
    assert "r.mlir" in str(fails("in.mlir", "-p", spec, "--reproducer", "r.mlir"))
    assert fails("r.mlir").code == "GE0421"


def test_a_pass_that_leaves_an_invalid_module(folder: Path) -> None:
    error = fails("in.mlir", "-p", "ge-cse,test-invalid")
    assert error.code == "GE0390"
    (path,) = written(folder)
    again = fails("--run-reproducer", path.name)
    assert (again.code, again.message) == (error.code, error.message)


def test_the_input_is_a_chunk_or_stdin(folder: Path) -> None:
    text = blocks(1) + "// -----\n" + blocks(4)
    (folder / "in.mlir").write_text(text)
    fails("in.mlir", "-p", FAILING, "--split-input-file")
    (path,) = written(folder)
    assert path.read_text().count("ge.add") == 4


def test_options_that_matter_are_kept(folder: Path) -> None:
    (folder / "in.mlir").write_text('"other.op"() : () -> ()\n' + blocks(5))
    argv = ["-p", FAILING, "--allow-unregistered-dialect", "--max-rewrites", "2"]
    assert main_with(["in.mlir", *argv, "-o", "out.mlir"]) == 0  # it fails in the third one
    argv[-1] = "3"
    fails("in.mlir", *argv, "--reproducer", "r.mlir")
    kept = read_configuration("r.mlir")
    assert kept == ["-p", FAILING, "--allow-unregistered-dialect", "--max-rewrites=3"]
    assert fails("--run-reproducer", "r.mlir").code == "GE0901"


def test_weights_are_in_the_file(folder: Path) -> None:
    import numpy as np

    np.arange(4096, dtype=np.float32).tofile(folder / "w.bin")
    big = "tensor<64x64xf32>"
    (folder / "in.mlir").write_text(
        f"func.func @main(%x: {big}) -> {big} {{\n"
        f'  %w = ge.constant #ge.weight<"w", "w.bin", 0, 16384> : {big}\n'
        f"  %y = ge.add %x, %w : ({big}, {big}) -> {big}\n  func.return %y : {big}\n}}\n"
    )
    error = fails("in.mlir", "-p", "test-add-to-sub{failing=1}", "--reproducer", "r.mlir")
    (folder / "w.bin").unlink()
    assert fails("r.mlir").message == error.message
    assert "w.bin" not in (folder / "r.mlir").read_text()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("func.func private @f()", "expected a line '// configuration: ...' in 'in.mlir'"),
        ("// configuration: -p 'ge-cse", "GE0105: in the configuration of 'in.mlir'"),
        ("// configuration: -p ge-nothing", "GE0104"),
    ],
)
def test_a_header_that_says_nothing(folder: Path, text: str, why: str) -> None:
    (folder / "in.mlir").write_text(text + "\n")
    assert why in str(fails("--run-reproducer", "in.mlir"))
    assert "GE0101" in str(fails("--run-reproducer", "gone.mlir"))
    assert "GE0105" in str(fails("--run-reproducer"))


def test_a_configuration_that_ge_opt_did_not_write_is_only_taken_when_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "in.mlir").write_text(f"// configuration: -p '{FAILING}'\n{blocks(5)}")
    assert main_with(["in.mlir"]) == 0
    assert "ge.add" in capsys.readouterr().out
    assert fails("in.mlir", "--run-reproducer").code == "GE0901"


def test_ge_compile_writes_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    passes = api.build_passes

    def with_failing(options: api.CompileOptions) -> list[object]:
        return [*passes(options)[:4], AddToSubPass(failing=3), *passes(options)[4:]]

    monkeypatch.setattr(api, "build_passes", with_failing)
    assert run_tool("ge-compile", ge_compile.run, ["in.mlir", "-o", "out.om"]) == 1
    (path,) = written(folder)
    err = capsys.readouterr().err
    assert err.startswith("ge-compile: error: GE0901: 'test-add-to-sub' (pass 5 of ")
    assert err.endswith(f"ge-opt --run-reproducer {path.name}\n")
    assert fails(path.name).code == "GE0901"


def test_a_process_tells_no_traceback(folder: Path, root: Path) -> None:
    code = (
        "import sys; from tests.wrong_passes import TestingMain;"
        "from ge_dialect.tools import ge_opt; ge_opt.GEOptMain = TestingMain; ge_opt.main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, "in.mlir", "-p", FAILING],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    assert len(written(folder)) == 1
