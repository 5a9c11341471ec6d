"""Machine descriptions: a TOML file a chip, and their reader."""

from __future__ import annotations

from ge_dialect.targets.reader import load_target, target_names
from ge_dialect.targets.target import Limits, Overhead, Target, Tier

__all__ = ["Limits", "Overhead", "Target", "Tier", "load_target", "target_names"]
