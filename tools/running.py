"""The passes of a compilation in order; on one of each repeated block where that may be.

A plan notes what ran. What a pass raises that is no error of the input becomes one line (GE0901).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.access import operands_of
from ge_dialect.ge.constants import constant_attr
from ge_dialect.ge.structure import HostCallOp
from ge_dialect.ge.symbolic import assuming_ranges
from ge_dialect.ge.types import is_tensor, static_shape
from ge_dialect.interpreters.folding import is_shape_computation
from ge_dialect.lowering.assign_streams import check_streams
from ge_dialect.lowering.bufferize import BufferizePass
from ge_dialect.lowering.verify_plan import VerifyPlanPass
from ge_dialect.passes import rewrites, statistics
from ge_dialect.passes.infer_types import InferTypesPass
from ge_dialect.passes.repeats.outline_repeats import (
    NAME,
    expand_repeats,
    shorten_repeats,
)
from ge_dialect.passes.repeats.shorten import Shortened
from ge_dialect.passes.repeats.unit import count_copies
from ge_dialect.passes.symbols.bound_sizes import BoundSizesPass
from ge_dialect.passes.symbols.resolve_symbols import ResolveSymbolsPass
from ge_dialect.tools import api
from ge_dialect.tools.api import CompiledPlan, CompileOptions, PassRecord, Watch, make_context
from ge_dialect.tools.fusion_arguments import fired_rules
from ge_dialect.tools.report.traffic import count_ops, graph_ops, graph_traffic
from ge_dialect.tools.short_models import ShortModel
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
"""Passes whose rewrites depend on what is near: not those that weigh the whole graph, or compute
with weights."""

FUSING = frozenset(
    (
        "ge-fold-norm",
        "ge-optimize-layout",
        "ge-optimize-cast",
        "ge-normalize-order",
        "ge-fuse-rules",
        "ge-fuse-auto",
    )
)
"""Passes that may run on one of each repeated block as well. Where blocks are small, kernels may
reach over several of them; then the blocks are copied before these passes."""


@dataclass
class Outlining:
    """The passes that run on the short form of a graph.

    They begin after the inference of types, or with it where all types are known already.

    Attributes:
        first: Position of the first of them.
        fusing: Position of the first that is not local.
        end: Position of the one after the last.
        short: The short form while they run.
        unfused: The module of the short form as the local passes left it.
        seconds: Spent on making it and on copying blocks.
        copied: How many blocks are copies.
        model: The model, where it was imported in its short form.
        close: Whether little is left over around the blocks, see `find_repeats`. Where they do not
            come out alike then, the passes run again with more around them, and then, where this is
            None, on the whole graph.
    """

    first: int
    fusing: int
    end: int
    short: Shortened | None = None
    unfused: ModuleOp | None = None
    seconds: float = 0.0
    copied: int = 0
    model: ShortModel | None = None
    close: bool | None = True

    @staticmethod
    def of(passes: Sequence[ModulePass], wanted: bool, fuse: bool, settled: bool) -> Outlining:
        """Returns the outlining of a pipeline; of no pass where it is not wanted.

        Args:
            passes: Of the pipeline.
            wanted: Whether blocks are outlined at all.
            fuse: Whether they are fused once, too.
            settled: Whether types are known, so that one block is inferred as all are.
        """
        typing = InferTypesPass | ResolveSymbolsPass | BoundSizesPass
        inferring = [step for step, one in enumerate(passes) if isinstance(one, typing)]
        first = end = inferring[-1] + 1 if inferring else 0
        if not inferring or not wanted or rewrites.active() is not None:
            return Outlining(first, first, first)
        if settled and inferring == list(range(inferring[0], first)):
            first = inferring[0]
        while end < len(passes) and passes[end].name in LOCAL:
            end += 1
        fusing = end
        while fuse and end < len(passes) and passes[end].name in LOCAL | FUSING:
            end += 1
        return Outlining(first, fusing, end)

    @property
    def are_types_inferred(self) -> bool:
        """Whether the passes run on a short model, whose types the import has inferred."""
        return self.model is not None and self.short is not None

    def module_at(self, step: int, module: ModuleOp) -> ModuleOp:
        """Returns what a pass runs on: the module, or the short form of it."""
        if step == self.first < self.end and self.short is None and self.close is not None:
            started = time.perf_counter()
            self.short = shorten_repeats(module, close=self.close)
            self.seconds += time.perf_counter() - started
        if self.short is None or step < self.first:
            return module
        if step == self.first:
            self.short.module.attributes.update(module.attributes)
        if step == self.fusing < self.end and not self.short.opened:
            self.unfused = self.short.module.clone()
        return self.short.module

    def finish(self) -> int:
        """Copies the blocks back; returns the first pass that has to run again, on the whole graph
        or on another short form."""
        assert self.short is not None
        started = time.perf_counter()
        copied, reached = len(self.short.blocks.skipped), self.end
        done = expand_repeats(self.short)
        if self.short.opened:  # as it will be with more around the blocks
            self.close = False
        if not (done or self.close) and self.unfused is not None:
            self.short.module, reached = self.unfused, self.fusing
            self.short.opened.clear()
            done = expand_repeats(self.short)
        self.copied = copied if done else 0
        self.short = self.unfused = None
        if not done:
            self._begin_again()
        self.seconds += time.perf_counter() - started
        return reached if done else self.first

    def _begin_again(self) -> None:
        """Leaves more around the blocks, or gives a short model its whole graph."""
        if self.model is None:
            self.close = False if self.close else None
        elif self.close and (wider := self.model.widen()) is not None:
            self.short, self.close = wider, False
        else:
            self.model.complete()
            self.close = None


def is_settled(module: ModuleOp) -> bool:
    """Whether inference has nothing to do in a graph but to check it: every type is static, and no
    op will be evaluated or promoted."""
    static: dict[int, Attribute] = {}  # by identity: equal types are mostly the same object
    for op in graph_ops(module):
        if op.regions or isinstance(op, HostCallOp):
            return False
        if all(constant_attr(value) is not None for value in operands_of(op)) and (
            is_shape_computation(op)
        ):
            return False
        for result in op.results:
            type_ = result.type
            if id(type_) not in static:
                if not is_tensor(type_) or static_shape(type_) is None:
                    return False
                static[id(type_)] = type_
    return True


def may_outline(options: CompileOptions, watch: Watch) -> bool:
    """Whether a compilation may optimise repeated blocks once."""
    return (
        options.outline
        and not options.verify_each
        and not options.gears
        and type(watch) is Watch
        and rewrites.active() is None
    )


def run_passes(plan: CompiledPlan, watch: Watch, model: ShortModel | None = None) -> None:
    """Runs all passes of a plan's options on its module.

    Args:
        plan: Takes what they make.
        watch: Is told of every pass.
        model: What the plan is of, where it was imported without most of its layers.

    Raises:
        GEError: One failed.
    """
    with assuming_ranges(plan.module):
        _run_passes(plan, watch, model)


def _run_passes(plan: CompiledPlan, watch: Watch, model: ShortModel | None) -> None:
    check_streams(plan.options.streams, plan.module, plan.options.target)
    if model is None:
        plan.nodes_before = count_ops(plan.module)
    else:
        plan.nodes_before = count_ops(model.short.module, model.times)
    if plan.options.gears and type(watch) is Watch:
        from ge_dialect.tools.gear_sharing import share_gears

        if share_gears(plan):
            return
    runner = Runner(plan, watch, model)
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

    def __init__(self, plan: CompiledPlan, watch: Watch, model: ShortModel | None = None):
        self.plan = plan
        self.watch = watch
        self.passes = [
            one for one in api.build_passes(plan.options) if not isinstance(one, VerifyPlanPass)
        ]
        self.ctx = make_context()
        options = plan.options
        wanted = may_outline(options, watch)
        settled = wanted and (model is not None or is_settled(plan.module))
        self.outlining = Outlining.of(self.passes, wanted, not options.why_not, settled)
        if model is not None:
            self.outlining.model, self.outlining.short = model, model.short
        self.is_verified = False

    def run(self, first: int = 0, end: int | None = None) -> None:
        """Runs them all, or those from one position to before another."""
        for step, pass_ in list(enumerate(self.passes))[first:end]:
            if step == self.outlining.end:
                self._finish_short()
            if isinstance(pass_, BufferizePass):
                self.plan.nodes_after = count_ops(self.plan.module)
                if not self.is_verified:
                    self._verify(self.plan.module, "the graph passes")
            self._run(step, self.outlining.module_at(step, self.plan.module))
            if isinstance(pass_, InferTypesPass) and not self.plan.unfused_bytes:
                self.plan.unfused_bytes = self._traffic()  # sizes are known now
            self.watch.after_pass(self.plan.module)

    def _traffic(self) -> int:
        if (model := self.outlining.model) is None:
            return graph_traffic(self.plan.module)
        return graph_traffic(model.short.module, model.times)

    def _expand(self) -> None:
        """Copies the optimised block, or runs the passes again on the whole graph."""
        outlining = self.outlining
        assert outlining.short is not None
        self._verify(outlining.short.module, "the passes on one of each repeated block")
        reached = outlining.finish()
        self.is_verified = reached == outlining.end  # the copies are as what they are copies of
        if not self.is_verified:
            del self.plan.passes[reached:]
            self.plan.fired.clear()
        if outlining.copied:
            self.plan.passes.append(PassRecord(NAME, outlining.seconds, outlining.copied))
        for step in range(reached, outlining.end):
            self._run(step, outlining.module_at(step, self.plan.module))
        self._finish_short()

    def _finish_short(self) -> None:
        """Ends the work on a short form, if there is one."""
        if self.outlining.short is not None:
            self._expand()

    def _run(self, step: int, module: ModuleOp) -> None:
        started = time.perf_counter()
        with statistics.collect() as counts:
            self._apply(step, module)
        seconds = time.perf_counter() - started
        self.plan.fired |= self._fired(counts)
        name = self.passes[step].name
        self.plan.passes.append(PassRecord(name, seconds, sum(counts.values())))
        if self.plan.options.verify_each and sum(counts.values()):
            self._verify(self.plan.module, f"'{name}'")

    def _fired(self, counts: Mapping[tuple[str, str], int]) -> dict[str, int]:
        """Returns how often each rule fired in a pass, in the blocks that are left out as well."""
        fired, short = fired_rules(counts), self.outlining.short
        if not fired or short is None:
            return fired
        again = count_copies(short)
        return {rule: times + again[rule] for rule, times in fired.items()}

    def _apply(self, step: int, module: ModuleOp) -> None:
        if isinstance(self.passes[step], InferTypesPass) and self.outlining.are_types_inferred:
            return
        try:
            self.passes[step].apply(self.ctx, module)
        except (GEError, RecursionError):
            raise
        except Exception as error:
            from ge_dialect.tools.check.crash import pass_failed

            raise pass_failed(self.passes, step, error) from error

    def _verify(self, module: ModuleOp, after: str) -> None:
        if (problem := check_valid(module)) is not None:
            raise GEError("GE0390", f"the IR is not valid after {after}: {problem}")
