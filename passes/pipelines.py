"""Named pipelines: passes of passes, in the order stated once, here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from ge_dialect.diagnostics import GEError
from ge_dialect.validity import verify


@dataclass(frozen=True)
class PipelinePass(ModulePass, ABC):
    """A pass that is a sequence of passes; verifies between them."""

    @abstractmethod
    def passes(self) -> Sequence[ModulePass]:
        """Returns the passes in order; to splice into another pipeline, or to run one by one."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        def check(
            previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
        ) -> None:
            verify(module)

        PassPipeline(tuple(self.passes()), check).apply(ctx, op)


@dataclass(frozen=True)
class OptimizePipeline(PipelinePass):
    """From an imported graph to fused `ge`.

    Options:
    - `level`: 0 infers types only; 1 adds what is exact and cheap; 2 also raises, folds norms and
      fuses; 3 also joins parallel products. Default 2.
    - `fast-math`: what results may differ in, as in `ge-simplify-algebra` and, about masks of
      attention, `ge-raise`. Default nothing.
    - `precision`: what is computed in which type, as in `ge-optimize-cast`. Default origin.
    """

    name = "ge-optimize"

    level: int = 2
    fast_math: tuple[str, ...] = ()
    precision: str = "origin"

    def passes(self) -> Sequence[ModulePass]:
        if not 0 <= self.level <= 3:
            raise GEError("GE0430", f"expected 'level' to be 0, 1, 2 or 3, got {self.level}")
        passes = _INFER if self.level == 0 else (*_INFER, *_SIMPLIFY)
        passes = [self._with_options(name) for name in passes]
        if self.level >= 2:
            passes += [self._with_options(name) for name in _RAISE]
        if self.level >= 2 or self.precision != "origin":
            passes += [self._with_options(name) for name in _CAST]
        if self.precision != "origin":
            # Weights that were cast are constants of the narrow type; each is cast once.
            passes += [self._with_options(name) for name in ("ge-constant-fold", "ge-cse")]
        if self.level >= 2:
            passes += [self._with_options(name) for name in _FUSE]
        if self.level == 3:
            passes += [self._with_options(name) for name in _JOIN]
        if self.level >= 2:
            passes += [self._with_options(name) for name in _AUTO]
        return passes

    def _with_options(self, name: str) -> ModulePass:
        """Returns a pass of this layer, with the options of the pipeline that concern it."""
        from ge_dialect.passes import load_pass
        from ge_dialect.passes.algebra.simplify_algebra import SimplifyAlgebraPass
        from ge_dialect.passes.casts.optimize_cast import OptimizeCastPass
        from ge_dialect.passes.raising.raise_composites import RaisePass

        pass_class = load_pass(name)
        if pass_class is SimplifyAlgebraPass:
            return SimplifyAlgebraPass(self.fast_math)
        if pass_class is RaisePass:
            return RaisePass(fast_math=self.fast_math)
        if pass_class is OptimizeCastPass:
            return OptimizeCastPass(self.precision)
        return pass_class()


_INFER = ("ge-infer-types", "ge-resolve-symbols", "ge-bound-sizes")
_SIMPLIFY = (
    "ge-eliminate-dropout",
    "ge-constant-fold",
    "ge-simplify-control-flow",
    "ge-compute-dims",
    "ge-canonicalize",
    "ge-constant-fold",
    "ge-simplify-algebra",
    "ge-cse",
    # Again: conditions that were computed twice are one value now.
    "ge-simplify-control-flow",
    "ge-dce",
)
_RAISE = (
    "ge-raise",
    "ge-canonicalize",
    "ge-fold-norm",
    # Once norms and attention are ops: their formulas would stand in the way of transposes.
    "ge-optimize-layout",
    "ge-cse",
    "ge-dce",
)
_CAST = ("ge-optimize-cast", "ge-dce")
# What fuses decides in the order of ops, which is no property of the model.
_FUSE = ("ge-normalize-order", "ge-fuse-rules")
# After the operator library: a kernel of several products reads the operand once without a split.
_JOIN = ("ge-merge-parallel-matmul", "ge-dce")
_AUTO = ("ge-fuse-auto",)
