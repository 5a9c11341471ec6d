"""The checksum of the weights in an `.om` file."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import StringAttr

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om import checksum
from ge_dialect.lowering.om.checksum import ATTRIBUTE
from ge_dialect.lowering.om.decode import read_plan
from ge_dialect.lowering.om.encode import write_plan
from ge_dialect.lowering.om.layout import PartitionType
from ge_dialect.tools import api, ge_compile
from ge_dialect.tools.cli import run_tool

MODEL = "examples/bert_tiny.onnx"


@pytest.fixture(scope="module")
def compiled(root: Path) -> api.CompiledPlan:
    return api.compile(str(root / MODEL))


def damaged(path: Path) -> None:
    """Flips one bit in the middle of the weights."""
    with read_plan(str(path)).file as om:
        entry = om.container.find(PartitionType.WEIGHTS_DATA)
        assert entry is not None
        at = entry.offset + entry.size // 2
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def checksum_of(path: Path) -> str | None:
    found = read_plan(str(path)).module.attributes.get(ATTRIBUTE)
    return found.data if isinstance(found, StringAttr) else None


def test_one_bit_of_the_weights_is_found(compiled: api.CompiledPlan, tmp_path: Path):
    path = tmp_path / "m.om"
    compiled.save(path)
    assert ATTRIBUTE not in compiled.module.attributes
    assert (checksum_of(path) or "").startswith("blake2b-256:")
    damaged(path)
    with pytest.raises(GEError, match=r"GE0609.*bytes of weights do not match"):
        read_plan(str(path))


def test_every_tool_refuses_damaged_weights(
    compiled: api.CompiledPlan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    from ge_dialect.tools import ge_opt, ge_run

    path = tmp_path / "m.om"
    compiled.save(path)
    damaged(path)
    assert run_tool("ge-opt", ge_opt.main_with, [str(path)]) == 1
    assert "GE0609" in capsys.readouterr().err
    assert run_tool("ge-run", ge_run.main_with, [str(path), "--random-inputs", "0"]) == 1
    assert "GE0609" in capsys.readouterr().err


def test_many_weights_have_one_where_it_was_asked_for(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(checksum, "AUTOMATIC_BYTES", 1000)
    path, copy = tmp_path / "m.om", tmp_path / "copy.om"
    arguments = [str(root / MODEL), "-q", "-o", str(path)]
    assert ge_compile.run(arguments) == 0
    assert checksum_of(path) is None
    assert ge_compile.run([*arguments, "--weight-checksum"]) == 0
    assert checksum_of(path) is not None
    # What is read and written again keeps it.
    with read_plan(str(path)).file:
        write_plan(read_plan(str(path)).module, str(copy))
    assert copy.read_bytes() == path.read_bytes()
    damaged(path)
    with pytest.raises(GEError, match="GE0609"):
        read_plan(str(path))


@pytest.mark.parametrize("text", ["", "crc32:00000000", "blake2b-256:"])
def test_a_checksum_of_no_use_is_an_error(
    text: str, compiled: api.CompiledPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from ge_dialect.lowering.om import encode

    path = tmp_path / "m.om"

    def fixed(packed: object) -> str:
        return text

    monkeypatch.setattr(encode, "packed_checksum", fixed)
    compiled.save(path)
    with pytest.raises(GEError, match=r"GE0609|GE0622"):
        read_plan(str(path))
