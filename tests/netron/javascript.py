"""Netron's JavaScript, out of its wheel; kept in `.cache/netron`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

NETRON = "9.3.3"
ROOT = Path(__file__).resolve().parent.parent.parent
CACHE = ROOT / ".cache" / "netron" / NETRON


def javascript() -> Path | None:
    """Returns the folder of Netron's JavaScript, fetched when first needed; None where pip cannot
    fetch it."""
    return CACHE if CACHE.is_dir() or _fetch() else None


def _fetch() -> bool:
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE.parent) as scratch:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
        command += ["--disable-pip-version-check", "-d", scratch, f"netron=={NETRON}"]
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode != 0 or not wheels:
            return False
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(scratch)
        folder = Path(scratch) / "netron"
        (folder / "package.json").write_text('{"type": "module"}\n')
        if not CACHE.is_dir():
            folder.rename(CACHE)
    return True
