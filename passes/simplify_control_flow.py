"""`ge-simplify-control-flow`: `ge.if` and `ge.loop` that decide nothing give way to what they do.

Before: a branch on a constant, a loop of three iterations, values that no iteration changes.
After: straight-line ops, which every other pass sees through. Lit: `simplify_if*.mlir`,
`simplify_loop.mlir`, `hoist_invariant.mlir` and `unroll_loop*.mlir` in `tests/filecheck/passes`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ge_dialect.ge.structure import IfOp, LoopOp
from ge_dialect.passes.control_flow.branches import IF_PATTERNS
from ge_dialect.passes.control_flow.common import NAME
from ge_dialect.passes.control_flow.loops import LOOP_PATTERNS
from ge_dialect.passes.control_flow.unroll import LoopToIf, SkipLoop, UnrollLoop
from ge_dialect.passes.driver import Driver, Rewrite


@dataclass(frozen=True)
class SimplifyControlFlowPass(ModulePass):
    """Inlines, unrolls, prunes and hoists, inner regions first, exactly.

    Types and small constants that follow are refined as by `ge-infer-types`, so that conditions
    which unrolling makes constant are decided as well.

    Options:
    - `unroll-limit`: loops of at most so many iterations are unrolled; 1 is always. Default 4.
    - `unroll-ops`: at most so many ops per loop after unrolling. Default 64.
    """

    name = NAME
    exact = True

    unroll_limit: int = 4
    unroll_ops: int = 64

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from ge_dialect.passes.infer_types import InferTypesPass

        changed = False
        while has_control_flow(op) and Driver(NAME, self.patterns(), inside_out=True).run(op):
            InferTypesPass().apply(ctx, op)
            changed = True
        for function in op.walk() if changed else ():
            if isinstance(function, FuncOp) and len(function.body.blocks) == 1:
                function.update_function_type()

    def patterns(self) -> list[Rewrite]:
        """Returns the patterns, in order of preference among equal benefits."""
        simple = [pattern() for pattern in (SkipLoop, *IF_PATTERNS, *LOOP_PATTERNS, LoopToIf)]
        return [*simple, UnrollLoop(self.unroll_limit, self.unroll_ops)]


_CONTROL = frozenset[type]((IfOp, LoopOp))


def has_control_flow(module: ModuleOp) -> bool:
    """Whether there is anything to do; most graphs have no control flow at all."""
    return not _CONTROL.isdisjoint(map(type, module.walk()))
