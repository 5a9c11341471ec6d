"""Exporter graphs with a few things changed: optimised plans compute what the graph says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.perturb.run import FOUND, attempt, folders_of

SEEDS = int(os.environ.get("GE_PERTURBED", "15"))
"""How many; `python -m tests.perturb` tries as many as wanted."""


@pytest.mark.parametrize("seed", range(SEEDS))
def test_changed_graphs_keep_their_meaning(seed: int, zoo: Path) -> None:
    outcome = attempt(folders_of(zoo, dynamic=False), seed, (2, 3), dynamic=False)
    assert outcome.kind != FOUND, outcome.text


@pytest.mark.parametrize("seed", range(SEEDS // 3))
def test_changed_graphs_of_symbolic_sizes_keep_their_meaning(seed: int, zoo: Path) -> None:
    outcome = attempt(folders_of(zoo, dynamic=True), seed, (2,), dynamic=True)
    assert outcome.kind != FOUND, outcome.text
