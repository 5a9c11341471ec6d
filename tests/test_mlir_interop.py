"""The generic form of both dialects goes through MLIR's own parser and comes back the same."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ge_dialect.tools.api import compile

TOOL = next((t for n in ("-19", "-20", "-21", "") if (t := shutil.which(f"mlir-opt{n}"))), None)
OPS = sorted((Path(__file__).parent / "filecheck" / "dialects" / "ge").glob("ops_*.mlir"))

pytestmark = pytest.mark.skipif(TOOL is None, reason="mlir-opt (mlir-19-tools) is not installed")


def ge_opt(text: str, *arguments: str) -> str:
    """Runs `ge-opt` on standard input."""
    command = [sys.executable, "-m", "ge_dialect.tools.ge_opt", "--split-input-file", *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def through_mlir(text: str) -> str:
    """Parses and prints by MLIR; its hexadecimal truth values are not read by xDSL, so none."""
    assert TOOL is not None
    command = [TOOL, "--allow-unregistered-dialect", "--split-input-file"]
    command += ["--mlir-print-op-generic", "--mlir-print-elementsattrs-with-hex-if-larger=-1"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def same_without_names(text: str) -> str:
    """The text as MLIR's round trip leaves it: generic, values numbered."""
    return ge_opt(through_mlir(ge_opt(text, "--print-op-generic")), "--print-op-generic")


@pytest.mark.parametrize("path", OPS, ids=lambda path: path.stem)
def test_ops_go_through_mlir(path: Path) -> None:
    once = same_without_names(path.read_text())
    assert "ge." in once
    assert same_without_names(once) == once


def test_a_plan_goes_through_mlir(root: Path, tmp_path: Path) -> None:
    compile(root / "examples" / "bert_tiny.onnx", streams=2).save(tmp_path / "bert.om")
    command = [sys.executable, "-m", "ge_dialect.tools.ge_opt", str(tmp_path / "bert.om")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    once = same_without_names(done.stdout)
    assert "ge_exec.launch" in once
    assert same_without_names(once) == once
