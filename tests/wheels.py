"""JavaScript that viewers ship inside wheels: fetched when first needed, kept in `.cache`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache"


def folder_of_wheel(name: str, version: str, folder: str) -> Path | None:
    """Returns `folder` of the wheel `name` at `version`, unpacked; None where pip cannot fetch it.

    Its files are read as ECMAScript modules by node.
    """
    kept = CACHE / name / version
    return kept if kept.is_dir() or _fetch(name, version, folder, kept) else None


def _fetch(name: str, version: str, folder: str, kept: Path) -> bool:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
        command += ["--only-binary", ":all:", "--disable-pip-version-check"]
        command += ["-d", scratch, f"{name}=={version}"]
        done = subprocess.run(command, capture_output=True, check=False, timeout=300)
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode != 0 or not wheels:
            return False
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(scratch)
        found = Path(scratch) / folder
        (found / "package.json").write_text('{"type": "module"}\n')
        if not kept.is_dir():
            found.rename(kept)
    return True
