"""Where buffers lie: the problem as a value, solvers, and a checker that knows none of them.

`plan_buffers` takes plain buffers. Nothing heavy is imported before it is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ge_dialect.lowering.memory.api import Interval, plan_buffers
    from ge_dialect.lowering.memory.problem import Plan

__all__ = ["Interval", "Plan", "plan_buffers"]

_LAZY = {
    "Interval": "ge_dialect.lowering.memory.api",
    "Plan": "ge_dialect.lowering.memory.problem",
    "plan_buffers": "ge_dialect.lowering.memory.api",
}


def __getattr__(name: str) -> object:
    if (module := _LAZY.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module), name)
