"""Every static exporter graph gives the reference outputs at each level that fuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.test_zoo import MODELS, arrays, compiled, mismatches

ZOO = Path(os.environ.get("GE_ZOO", Path(__file__).parents[2] / "shared" / "zoo" / "small"))
STATIC = sorted(
    folder.name
    for folder in (ZOO.iterdir() if ZOO.is_dir() else ())
    if folder.name.partition(".")[2].endswith("-static") and (folder / "io.npz").is_file()
)
CASES = [(name, level) for name in STATIC for level in (2, 3) if level == 3 or name not in MODELS]


@pytest.mark.parametrize(("name", "level"), CASES or [("none", 2)])
def test_a_static_model_gives_the_reference_outputs(name: str, level: int, zoo: Path) -> None:
    outputs = compiled(zoo / name, level=level).run(arrays(zoo / name / "io.npz", "input"))
    assert not mismatches(outputs, zoo / name)
