"""Netron's page in a real browser shows the plans of zoo models; skipped without a Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_dialect.lowering.om.file import read_om
from ge_dialect.tools.api import compile
from tests.netron.javascript import NETRON, javascript
from tests.netron.shots import MODELS, browser, first_kernel, look

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def netron() -> Path:
    """The folder of Netron's JavaScript."""
    if browser() is None:
        pytest.skip("no Chromium: apt-get install chromium, or set CHROMIUM to its path")
    if (folder := javascript()) is None:
        pytest.skip(f"netron {NETRON} is not cached and pip cannot fetch it")
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_a_browser_shows_the_plan(name: str, netron: Path, zoo: Path, tmp_path: Path) -> None:
    path, shot = tmp_path / "model.om", tmp_path / "model.png"
    compile(zoo / name / "model.onnx").save(path)
    kernel = first_kernel(path)
    page = look(netron, path, shot, node=kernel)
    assert page.message == ""
    with read_om(path) as om:
        (graph,) = om.model.graphs
    shown = [op for op in graph.ops if op.type != "Const"]
    assert sorted(page.nodes) == sorted(op.name for op in shown)
    assert all(page.edges)
    op = next(op for op in shown if op.name == kernel)
    for text in (op.type, str(op.attrs["kernel"]), "hbm", "stream", op.source_nodes[0]):
        assert text in page.sidebar
    assert ", ".join(map(str, op.input_offsets)) in page.sidebar
    assert shot.read_bytes().startswith(PNG)


def test_the_browser_tells_of_a_file_that_does_not_open(netron: Path, tmp_path: Path) -> None:
    path = tmp_path / "broken.om"
    path.write_bytes(b"IMOD" + bytes(300))
    page = look(netron, path, tmp_path / "broken.png")
    assert "model definition" in page.message
