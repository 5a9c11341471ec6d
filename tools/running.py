"""The passes of a compilation in order; on one of each repeated block where that may be.

A plan notes what ran. What a pass raises that is no error of the input becomes one line (GE0901).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.bufferize import BufferizePass
from ge_dialect.lowering.verify_plan import VerifyPlanPass
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.infer_types import InferTypesPass
from ge_dialect.passes.repeats.outline_repeats import NAME, expand_repeats, shorten_repeats
from ge_dialect.passes.repeats.shorten import Shortened
from ge_dialect.passes.symbols.resolve_symbols import ResolveSymbolsPass
from ge_dialect.tools import api
from ge_dialect.tools.api import CompiledPlan, PassRecord, Watch, make_context
from ge_dialect.tools.fusion_arguments import fired_rules
from ge_dialect.tools.report.traffic import count_ops, graph_traffic
from ge_dialect.validity import check_valid

LOCAL = frozenset(
    (
        "ge-eliminate-dropout",
        "ge-constant-fold",
        "ge-simplify-control-flow",
        "ge-compute-dims",
        "ge-canonicalize",
        "ge-simplify-algebra",
        "ge-cse",
        "ge-dce",
        "ge-raise",
    )
)
"""Passes whose rewrites depend on what is near: not those that weigh the whole graph, count what
they fuse, or compute with weights."""


@dataclass
class Outlining:
    """The passes after the inference of types that run on the short form of a graph.

    Attributes:
        first: Position of the first of them.
        end: Position of the one after the last.
        short: The short form while they run.
        seconds: Spent on making it and on copying blocks.
        copied: How many blocks are copies.
    """

    first: int
    end: int
    short: Shortened | None = None
    seconds: float = 0.0
    copied: int = 0

    @staticmethod
    def of(passes: Sequence[ModulePass], wanted: bool) -> Outlining:
        """Returns the outlining of a pipeline; of no pass where it is not wanted."""
        typing = InferTypesPass | ResolveSymbolsPass
        inferring = [step for step, one in enumerate(passes) if isinstance(one, typing)]
        first = end = inferring[-1] + 1 if inferring else 0
        while inferring and end < len(passes) and passes[end].name in LOCAL:
            end += 1
        possible = wanted and rewrites.active() is None
        return Outlining(first, end if possible else first)

    def module_at(self, step: int, module: ModuleOp) -> ModuleOp:
        """Returns what a pass runs on: the module, or the short form of it."""
        if step == self.first < self.end:
            started = time.perf_counter()
            self.short = shorten_repeats(module)
            self.seconds += time.perf_counter() - started
        return module if self.short is None else self.short.module

    def finish(self) -> bool:
        """Copies the blocks back into the module; False where it has to be optimised as it is."""
        assert self.short is not None
        started = time.perf_counter()
        copied = len(self.short.run.skipped)
        if done := expand_repeats(self.short):
            self.copied = copied
        self.short = None
        self.seconds += time.perf_counter() - started
        return done


def run_passes(plan: CompiledPlan, watch: Watch) -> None:
    """Runs all passes of a plan's options on its module.

    Raises:
        GEError: One failed.
    """
    runner = Runner(plan, watch)
    plan.nodes_before = count_ops(plan.module)
    watch.begin(runner.passes, plan.module)
    runner.run()
    watch.end(plan.module)


class Runner:
    """Runs the passes of one compilation.

    Attributes:
        plan: What is compiled.
        watch: Is told of every pass; one that does something sees the whole graph each time.
        passes: All of them. What is saved or run is verified there, whoever made it.
    """

    def __init__(self, plan: CompiledPlan, watch: Watch):
        self.plan = plan
        self.watch = watch
        self.passes = [
            one for one in api.build_passes(plan.options) if not isinstance(one, VerifyPlanPass)
        ]
        self.ctx = make_context()
        options = plan.options
        wanted = options.outline and not options.verify_each and type(watch) is Watch
        self.outlining = Outlining.of(self.passes, wanted)

    def run(self) -> None:
        """Runs them all."""
        for step, pass_ in enumerate(self.passes):
            if self.outlining.short is not None and step == self.outlining.end:
                self._expand()
            if isinstance(pass_, BufferizePass):
                self.plan.nodes_after = count_ops(self.plan.module)
                self._verify("the graph passes")
            self._run(step, self.outlining.module_at(step, self.plan.module))
            if isinstance(pass_, InferTypesPass) and not self.plan.unfused_bytes:
                self.plan.unfused_bytes = graph_traffic(self.plan.module)  # sizes are known now
            self.watch.after_pass(self.plan.module)

    def _expand(self) -> None:
        """Copies the optimised block, or runs the passes again on the whole graph."""
        outlining = self.outlining
        if outlining.finish():
            self.plan.passes.append(PassRecord(NAME, outlining.seconds, outlining.copied))
            return
        del self.plan.passes[outlining.first :]
        for step in range(outlining.first, outlining.end):
            self._run(step, self.plan.module)

    def _run(self, step: int, module: ModuleOp) -> None:
        started = time.perf_counter()
        with statistics.collect() as counts:
            self._apply(step, module)
        seconds = time.perf_counter() - started
        self.plan.fired |= fired_rules(counts)
        name = self.passes[step].name
        self.plan.passes.append(PassRecord(name, seconds, sum(counts.values())))
        if self.plan.options.verify_each and sum(counts.values()):
            self._verify(f"'{name}'")

    def _apply(self, step: int, module: ModuleOp) -> None:
        try:
            self.passes[step].apply(self.ctx, module)
        except (GEError, RecursionError):
            raise
        except Exception as error:
            from ge_dialect.tools.check.crash import pass_failed

            raise pass_failed(self.passes, step, error) from error

    def _verify(self, after: str) -> None:
        if (problem := check_valid(self.plan.module)) is not None:
            raise GEError("GE0390", f"the IR is not valid after {after}: {problem}")
