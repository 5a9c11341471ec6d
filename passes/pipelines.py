"""Named pipelines: passes of passes, in the order stated once, here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from ge_dialect.diagnostics import GEError


@dataclass(frozen=True)
class PipelinePass(ModulePass, ABC):
    """A pass that is a sequence of passes; verifies between them."""

    @abstractmethod
    def passes(self) -> Sequence[ModulePass]:
        """Returns the passes in order; to splice into another pipeline, or to run one by one."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        def verify(
            previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
        ) -> None:
            module.verify()

        PassPipeline(tuple(self.passes()), verify).apply(ctx, op)


@dataclass(frozen=True)
class OptimizePipeline(PipelinePass):
    """From an imported graph to fused `ge`.

    Options:
    - `level`: 0 infers types only; 1 adds what is exact and cheap; 2 also raises and fuses.
      Default 2.
    """

    name = "ge-optimize"

    level: int = 2

    def passes(self) -> Sequence[ModulePass]:
        from ge_dialect.passes.canonicalization.canonicalize import CanonicalizePass
        from ge_dialect.passes.constant_fold import ConstantFoldPass
        from ge_dialect.passes.cse import CSEPass
        from ge_dialect.passes.dce import DCEPass
        from ge_dialect.passes.eliminate_dropout import EliminateDropoutPass
        from ge_dialect.passes.fusion.fuse_rules import FuseRulesPass
        from ge_dialect.passes.infer_types import InferTypesPass
        from ge_dialect.passes.raising.raise_composites import RaisePass

        if not 0 <= self.level <= 2:
            raise GEError("GE0430", f"expected 'level' to be 0, 1 or 2, got {self.level}")
        infer: tuple[ModulePass, ...] = (InferTypesPass(),)
        if self.level == 0:
            return infer
        simplify = (
            *infer,
            EliminateDropoutPass(),
            ConstantFoldPass(),
            CanonicalizePass(),
            ConstantFoldPass(),
            CSEPass(),
            DCEPass(),
        )
        if self.level == 1:
            return simplify
        return (*simplify, RaisePass(), CanonicalizePass(), CSEPass(), DCEPass(), FuseRulesPass())
