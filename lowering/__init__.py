"""From fused `ge` to a plan and its file: lazy factories of the passes, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from xdsl.passes import ModulePass

_PASSES = {
    "ge-set-target": ("set_target", "SetTargetPass"),
    "ge-bufferize": ("bufferize", "BufferizePass"),
    "ge-tile-kernels": ("tile_kernels", "TileKernelsPass"),
    "ge-assign-streams": ("assign_streams", "AssignStreamsPass"),
    "ge-plan-memory": ("memory.plan_memory", "PlanMemoryPass"),
    "ge-plan-l2": ("memory.plan_l2", "PlanL2Pass"),
    "ge-insert-events": ("insert_events", "InsertEventsPass"),
    "ge-verify-plan": ("verify_plan", "VerifyPlanPass"),
    "ge-verify-events": ("event_pairs", "VerifyEventsPass"),
    "ge-lower": ("pipelines", "LowerPipeline"),
}


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Returns a factory for each pass of this layer, by name; none is imported yet."""
    return {name: _factory(module, cls) for name, (module, cls) in _PASSES.items()}


def _factory(module: str, cls: str) -> Callable[[], type[ModulePass]]:
    def load() -> type[ModulePass]:
        return getattr(import_module(f"ge_dialect.lowering.{module}"), cls)

    return load
