"""Fixtures and settings that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# Reproducible by default; `HYPOTHESIS_PROFILE=explore` looks for new counter-examples.
settings.register_profile("ge", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ge"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def zoo() -> Path:
    """The folder of exported models, one subfolder a model; skips where it is absent."""
    found = Path(os.environ.get("GE_ZOO", ROOT.parent / "shared" / "zoo" / "small"))
    if not found.is_dir():
        pytest.skip(f"no zoo of models at {found}; set GE_ZOO to the folder of one")
    return found
