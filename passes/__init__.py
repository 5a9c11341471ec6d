"""Passes from `ge` to `ge`: lazy factories, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from xdsl.passes import ModulePass

_PASSES = {
    "ge-infer-types": ("infer_types", "InferTypesPass"),
    "ge-canonicalize": ("canonicalization.canonicalize", "CanonicalizePass"),
    "ge-constant-fold": ("constant_fold", "ConstantFoldPass"),
    "ge-cse": ("cse", "CSEPass"),
    "ge-dce": ("dce", "DCEPass"),
    "ge-eliminate-dropout": ("eliminate_dropout", "EliminateDropoutPass"),
    "ge-raise": ("raising.raise_composites", "RaisePass"),
    "ge-fuse-rules": ("fusion.fuse_rules", "FuseRulesPass"),
    "ge-optimize": ("pipelines", "OptimizePipeline"),
}


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Returns a factory for each pass of this layer, by name; none is imported yet."""
    return {name: _factory(module, cls) for name, (module, cls) in _PASSES.items()}


def _factory(module: str, cls: str) -> Callable[[], type[ModulePass]]:
    def load() -> type[ModulePass]:
        return getattr(import_module(f"ge_dialect.passes.{module}"), cls)

    return load
