"""The benchmark of the article's table: its goals are met, and user targets are taken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def test_the_goals_of_the_article_are_met(root: Path, tmp_path: Path):
    graphs = root.parent / "shared" / "zoo" / "llama7b"
    if not graphs.is_dir():
        pytest.skip(f"no graphs of LLaMA-7B at {graphs}")
    mine = tmp_path / "mine.toml"
    text = (root / "ge_dialect" / "targets" / "A100.toml").read_text()
    mine.write_text(text.replace('name = "A100"', 'name = "Mine"'))
    command = [sys.executable, str(root / "benchmarks" / "llama.py"), "--target", str(mine)]
    command += ["--work", str(tmp_path / "work"), "--zoo", str(graphs)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "NOT met" not in run.stdout
    assert "LLaMA-7B layer, prefill 1024, f16, Mine" in run.stdout
    assert "at the bound: fusion can only remove launches" in run.stdout
    for core in ("131072 bytes of L0C", "262144 bytes of L0C"):
        assert f"wanted at most {core}" in run.stdout
