"""Loads every family of reference semantics."""

from __future__ import annotations

from functools import cache
from importlib import import_module

FAMILIES = (
    "elementwise",
    "reductions",
    "contractions",
    "normalization",
    "attention",
    "movement",
    "indexing",
    "pooling",
    "quantization",
    "recurrent",
    "spectral",
    "trees",
    "structure",
)
"""Modules of `ge_dialect.interpreters`, each of which registers its ops when imported."""


@cache
def load() -> None:
    """Imports all families, once."""
    for family in FAMILIES:
        import_module(f"ge_dialect.interpreters.{family}")
