"""Passes from `ge` to `ge`: lazy factories, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

_PASSES = {
    "ge-infer-types": ("infer_types", "InferTypesPass"),
    "ge-resolve-symbols": ("symbols.resolve_symbols", "ResolveSymbolsPass"),
    "ge-bound-sizes": ("symbols.bound_sizes", "BoundSizesPass"),
    "ge-split-gears": ("symbols.split_gears", "SplitGearsPass"),
    "ge-canonicalize": ("canonicalization.canonicalize", "CanonicalizePass"),
    "ge-constant-fold": ("constant_fold", "ConstantFoldPass"),
    "ge-compute-dims": ("compute_dims", "ComputeDimsPass"),
    "ge-simplify-algebra": ("algebra.simplify_algebra", "SimplifyAlgebraPass"),
    "ge-cse": ("cse", "CSEPass"),
    "ge-dce": ("dce", "DCEPass"),
    "ge-eliminate-dropout": ("eliminate_dropout", "EliminateDropoutPass"),
    "ge-simplify-control-flow": ("simplify_control_flow", "SimplifyControlFlowPass"),
    "ge-raise": ("raising.raise_composites", "RaisePass"),
    "ge-fold-norm": ("weights.fold_norm", "FoldNormPass"),
    "ge-optimize-cast": ("casts.optimize_cast", "OptimizeCastPass"),
    "ge-merge-parallel-matmul": ("weights.merge_matmuls", "MergeParallelMatmulPass"),
    "ge-optimize-layout": ("layout.optimize_layout", "OptimizeLayoutPass"),
    "ge-normalize-order": ("normalize_order", "NormalizeOrderPass"),
    "ge-fuse-rules": ("fusion.fuse_rules", "FuseRulesPass"),
    "ge-fuse-auto": ("fusion.auto.fuse_auto", "FuseAutoPass"),
    "ge-zero-copy": ("zero_copy.zero_copy", "ZeroCopyPass"),
    "ge-schedule": ("schedule.schedule", "SchedulePass"),
    "ge-legalize-attention": ("legalization.attention", "LegalizeAttentionPass"),
    "ge-legalize-norm": ("legalization.norms", "LegalizeNormPass"),
    "ge-legalize-activation": ("legalization.activations", "LegalizeActivationPass"),
    "ge-legalize-rotary": ("legalization.rotary", "LegalizeRotaryPass"),
    "ge-outline-repeats": ("repeats.outline_repeats", "OutlineRepeatsPass"),
    "ge-optimize": ("pipelines", "OptimizePipeline"),
}


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Returns a factory for each pass of this layer, by name; none is imported yet."""
    return {name: partial(load_pass, name) for name in _PASSES}


def load_pass(name: str) -> type[ModulePass]:
    """Returns a pass of this layer, which is imported now."""
    module, cls = _PASSES[name]
    return getattr(import_module(f"ge_dialect.passes.{module}"), cls)
