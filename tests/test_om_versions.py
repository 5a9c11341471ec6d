"""Versions of the plan format: files of each released one, and what is refused (case K50)."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om import plan_payload
from ge_dialect.lowering.om.checksum import ATTRIBUTE
from ge_dialect.lowering.om.container import read_container
from ge_dialect.lowering.om.decode import read_plan
from ge_dialect.lowering.om.encode import plan_text
from ge_dialect.lowering.om.file import read_om
from ge_dialect.lowering.om.layout import PartitionType
from ge_dialect.lowering.om.versions import (
    PLAN_VERSION,
    UPGRADES,
    Upgrade,
    Version,
    upgraded,
)
from ge_dialect.lowering.om.writer import Partition, container_bytes
from ge_dialect.tools.loading import load
from ge_dialect.tools.runtime.compare import compare, tolerance_of

FOLDER = Path(__file__).resolve().parent / "golden"
GOLDEN = sorted(path.stem for path in FOLDER.glob("*.om"))
MAJOR, MINOR = PLAN_VERSION


def test_each_released_version_has_golden_files():
    found = {name.partition("-")[0] for name in GOLDEN}
    assert found == {f"{MAJOR}.{minor}" for minor in range(MINOR + 1)}


def test_each_older_minor_version_has_an_upgrade():
    assert set(UPGRADES) == {(MAJOR, minor) for minor in range(MINOR)}


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_file_reads_as_it_did(name: str):
    """By the letter where the version is that of the writer, else by what it computes."""
    loaded = read_plan(str(FOLDER / f"{name}.om"))
    with loaded.file as om:
        if name.startswith(f"{MAJOR}.{MINOR}-"):
            assert om.plan() == (FOLDER / f"{name}.mlir").read_text()
            assert om.plan() == _relative(plan_text(loaded.module), loaded.file.container.path)
        (graph,) = om.model.graphs
        assert {op.type for op in graph.ops} > {"Data", "Const", "NetOutput"}
        assert om.model.memory_size == om.tasks.memory_size > 0
        assert {task.op_index for task in om.tasks.tasks} <= {op.id for op in graph.ops}


def _relative(text: str, path: str) -> str:
    """Returns the text of a plan that was read, with weights as they are in the file."""
    entry = read_om(path).container.find(PartitionType.WEIGHTS_DATA)
    assert entry is not None

    def at(found: re.Match[str]) -> str:
        return f'"", {int(found[1]) - entry.offset}, '

    return re.sub(rf'"{re.escape(path)}", (\d+), ', at, text)


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_file_computes_what_it_did(name: str):
    plan = load(FOLDER / f"{name}.om")
    with np.load(FOLDER / f"{name}.npz") as io:
        arrays = {key: io[key] for key in io.files}
    feeds = {k.removeprefix("input."): a for k, a in arrays.items() if k.startswith("input.")}
    outputs = plan.run(feeds, poison=True)
    for output, got in outputs.items():
        want = arrays[f"output.{output}"]
        assert compare(got, want, tolerance_of(want.dtype)).ok, output


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_file_is_written_again_with_the_same_plan(name: str, tmp_path: Path):
    load(FOLDER / f"{name}.om").save(tmp_path / "again.om")
    with read_om(FOLDER / f"{name}.om") as old, read_om(tmp_path / "again.om") as new:
        # A checksum of few weights is added where an older writer made none.
        added = re.sub(rf', {ATTRIBUTE} = "[^"]*"', "", new.plan())
        assert old.plan() in (added, new.plan())
        assert bytes(new.weights) == bytes(old.weights)


def golden() -> bytes:
    return (FOLDER / f"{GOLDEN[0]}.om").read_bytes()


def of_version(version: Version, flags: int = 0) -> bytes:
    """The first golden file as one of another version, its checksums right."""
    container = read_container(golden())
    parts: list[Partition] = []
    for entry in container.entries:
        payload = bytearray(container.view(entry.type))
        if entry.type == PartitionType.PLAN:
            struct.pack_into("<HHI", payload, 10, *version, flags)
        parts.append(Partition(entry.type, bytes(payload)))
    return container_bytes(parts, container.header)


K50: dict[str, tuple[Callable[[], bytes], str]] = {
    "truncated": (lambda: golden()[:-100], "GE0601"),
    "CRLF-converted": (lambda: golden().replace(b"\n", b"\r\n"), "GE0602"),
    "wrong magic": (lambda: b"PICO" + golden()[4:], "GE0603"),
    "newer minor": (lambda: of_version((MAJOR, MINOR + 1)), "GE0604"),
    "newer major": (lambda: of_version((MAJOR + 1, 0)), "GE0604"),
    "unknown flags": (lambda: of_version(PLAN_VERSION, flags=1), "GE0604"),
    "older major": (lambda: of_version((MAJOR - 1, 9)), "GE0605"),
}


@pytest.mark.parametrize("kind", K50)
def test_what_cannot_be_read_has_a_code_of_its_own(kind: str, tmp_path: Path):
    data, code = K50[kind]
    path = tmp_path / "m.om"
    path.write_bytes(data())
    with pytest.raises(GEError) as caught:
        load(path)
    assert caught.value.code == code
    assert caught.value.hint
    assert "\n" not in str(caught.value)


def test_an_older_minor_version_is_upgraded_step_by_step(monkeypatch: pytest.MonkeyPatch):
    steps: Mapping[Version, Upgrade] = {
        (MAJOR, MINOR): lambda text: text + "first ",
        (MAJOR, MINOR + 1): lambda text: text + "second ",
    }
    newest = (MAJOR, MINOR + 2)

    def upgrade(text: str, version: Version) -> str:
        return upgraded(text, version, newest, steps)

    payload = plan_payload.encode_plan("text ")
    monkeypatch.setattr(plan_payload, "PLAN_VERSION", newest)
    monkeypatch.setattr(plan_payload, "upgraded", upgrade)
    assert plan_payload.decode_plan(payload) == "text first second "
    assert plan_payload.decode_plan(plan_payload.encode_plan("text ")) == "text "
