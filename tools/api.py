"""The Python API: everything the command line tools do is one call here.

Library calls print nothing, read no environment and hold no global state.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass, PassPipeline

from ge_dialect import remarks
from ge_dialect.diagnostics import GEError
from ge_dialect.tools.runnable import RunnablePlan

if TYPE_CHECKING:
    import onnx

    from ge_dialect.frontends.onnx.input_shapes import InputShapes
    from ge_dialect.remarks import Remark
    from ge_dialect.tools.short_models import ShortModel


@dataclass(frozen=True)
class CompileOptions:
    """What a compilation may be asked for.

    Attributes:
        target: Name of a chip, or path of a TOML file; None for the one that the module names,
            else Ascend910B1.
        level: 0 infers types only, 1 simplifies, 2 also raises and fuses, 3 also joins products.
        precision: What is computed in which type, as ATC's `precision_mode_v2`.
        fast_math: What results may differ in, as in `ge-simplify-algebra`.
        streams: At most this many streams.
        stream_labels: `NODE=LABEL` each: tasks of these nodes go to the stream of the label.
        memory_limit: Bytes of HBM for the work arena; None for what the target has.
        core_limits: Bytes of `l1`, `ub` or `l0c` of a core that kernels may use, by name.
        l2_limit: Bytes of the L2 in which buffers may stay; None for all of it, 0 for a cache that
            decides for itself.
        memory_policy: conservative, balanced or throughput: whether memory or time comes first;
            None for the one that the module names, else balanced.
        memory_alignment: Of addresses, in bytes; None for that of the target.
        reuse_memory: Whether buffers may take the bytes of dead ones.
        no_reuse: Nodes and op types whose results share bytes with nothing.
        donated_inputs: Names of inputs whose bytes the plan may write over.
        rules: Names of the fusion rules to try; all where none is given.
        disabled_rules: Names of fusion rules to leave out.
        rule_sources: TOML files and Python modules with further fusion rules.
        why_not: Names of fusion rules whose misses are all told in `remarks`.
        require_fusions: `RULE:N` each: fails unless the rule fires N times.
        fusion_baseline: File of counts to write, or to compare with where it exists.
        fusion_switch_file: GE's file of rules to turn off.
        verify_each: Whether the IR is verified after every pass that rewrote something; else
            once, before it is lowered. The plan is verified when it is saved or run.
        gears: For each gear the sizes of all symbols, `batch=1 seq=128`; one plan for each.
        outline: Whether repeated blocks, such as the layers of a transformer, are optimised once.
        remarks: Whether passes tell what they did and did not do, for which they look closer.
    """

    target: str | None = None
    level: int = 2
    precision: str = "origin"
    fast_math: tuple[str, ...] = ()
    streams: int = 1
    stream_labels: tuple[str, ...] = ()
    memory_limit: int | None = None
    core_limits: tuple[tuple[str, int], ...] = ()
    l2_limit: int | None = 0
    memory_policy: str | None = None
    memory_alignment: int | None = None
    reuse_memory: bool = True
    no_reuse: tuple[str, ...] = ()
    donated_inputs: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    disabled_rules: tuple[str, ...] = ()
    rule_sources: tuple[str, ...] = ()
    why_not: tuple[str, ...] = ()
    require_fusions: tuple[str, ...] = ()
    fusion_baseline: str | None = None
    fusion_switch_file: str | None = None
    verify_each: bool = False
    gears: tuple[str, ...] = ()
    outline: bool = True
    remarks: bool = True


@dataclass(frozen=True)
class PassRecord:
    """One pass that ran: its name, seconds of wall clock, and how many rewrites it made."""

    name: str
    seconds: float
    rewrites: int


@dataclass
class CompiledPlan(RunnablePlan):
    """A model as a plan: runs as often as wanted, from any number of threads at a time.

    The module is not to be changed once the plan has run.

    Attributes:
        module: Kernels and plan.
        name: Of the model.
        options: What was asked for.
        passes: What ran, in order.
        remarks: What passes did and did not do; none where the options ask for none.
        nodes_before: Ops of the imported graph, constants left out.
        nodes_after: Ops of the fused graph, constants left out.
        unfused_bytes: Traffic of the imported graph, each op a kernel.
        compile_seconds: Wall clock, import included.
        fired: How often each fusion rule fired.
        notes: Lines about the fusion baseline and the fusion switch file.
        weights: WEIGHTS_DATA of a plan that comes from a file, mapped; None where the weights of
            the module know their bytes.
    """

    module: ModuleOp
    name: str
    options: CompileOptions
    passes: list[PassRecord] = field(default_factory=list[PassRecord])
    remarks: tuple[Remark, ...] = ()
    nodes_before: int = 0
    nodes_after: int = 0
    unfused_bytes: int = 0
    compile_seconds: float = 0.0
    opset: int | None = None
    fired: dict[str, int] = field(default_factory=dict[str, int])
    notes: list[str] = field(default_factory=list[str])
    weights: memoryview | None = field(default=None, repr=False, compare=False)

    def save(self, path: str | Path, *, weight_checksum: bool = False) -> None:
        """Writes the plan as an `.om` file, all or nothing.

        Args:
            path: Of the file.
            weight_checksum: Whether more than 16 MiB of weights get a checksum as well, which a
                load reads all of them for.

        Raises:
            GEError: The file cannot be written.
        """
        from ge_dialect.lowering.om.encode import write_plan

        write_plan(self.module, str(path), checksum=weight_checksum)

    @property
    def summary(self) -> dict[str, Any]:
        """The stable JSON summary: see `docs/summary.md`."""
        from ge_dialect.tools.report.summary import summarize

        return summarize(self)

    @property
    def memory_map(self) -> dict[str, Any]:
        """Where everything lies and when, as JSON values: see docs/memory.md."""
        from dataclasses import asdict

        from ge_dialect.lowering.memory.memory_map import memory_map
        from ge_dialect.lowering.om.encode import plan_of

        return asdict(memory_map(plan_of(self.module)))

    @property
    def fusion_result(self) -> dict[str, Any]:
        """What GE's `fusion_result.json` holds, and the near misses: see docs/fusion_rules.md."""
        from ge_dialect.passes.fusion.registry import registry_of
        from ge_dialect.tools.report.fusion_result import fusion_result

        rules = registry_of(self.options.rule_sources).rules.values()
        return fusion_result(self.fired, self.remarks, rules)

    def trace(self) -> str:
        """Returns the predicted run as a trace for Perfetto, JSON: see docs/machine.md."""
        from ge_dialect.tools.report.trace import trace_of

        return trace_of(self)

    def report(self) -> str:
        """Returns the short summary that `ge-compile` prints."""
        from ge_dialect.tools.report.text import render

        return render(self.summary)


def make_context() -> Context:
    """Returns a context with builtin, func, dlti and our two dialects."""
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.dlti import DLTI
    from xdsl.dialects.func import Func

    from ge_dialect.ge import GE
    from ge_dialect.ge_exec import GE_EXEC

    ctx = Context()
    for dialect in (Builtin, Func, DLTI, GE, GE_EXEC):
        ctx.load_dialect(dialect)
    return ctx


def build_passes(options: CompileOptions) -> Sequence[ModulePass]:
    """Returns all passes of a compilation, in order."""
    from ge_dialect.lowering.pipelines import LowerPipeline
    from ge_dialect.lowering.set_target import SetTargetPass
    from ge_dialect.passes.fusion.fuse_rules import FuseRulesPass
    from ge_dialect.passes.pipelines import OptimizePipeline
    from ge_dialect.tools.contracts import required_rules

    fuse = FuseRulesPass(
        options.rules,
        tuple(dict.fromkeys((*options.disabled_rules, *switched_off(options)))),
        options.rule_sources,
        tuple(dict.fromkeys((*options.why_not, *required_rules(options.require_fusions)))),
    )
    graph = [
        fuse if isinstance(pass_, FuseRulesPass) else pass_
        for pass_ in OptimizePipeline(options.level, options.fast_math, options.precision).passes()
    ]
    if options.gears:
        from ge_dialect.tools.dynamic_shapes import with_gears

        graph = with_gears(graph, options)
    lower = LowerPipeline(
        streams=options.streams,
        stream_labels=options.stream_labels,
        memory_limit=options.memory_limit,
        reuse=options.reuse_memory,
        no_reuse=options.no_reuse,
        alignment=options.memory_alignment,
        policy=options.memory_policy,
        l2_limit=options.l2_limit,
    )
    lowering = [pass_ for pass_ in lower.passes() if not isinstance(pass_, SetTargetPass)]
    limits = dict(options.core_limits)
    target = SetTargetPass(
        options.target,
        l1_limit=limits.get("l1"),
        ub_limit=limits.get("ub"),
        l0c_limit=limits.get("l0c"),
    )
    return (target, *graph, *lowering)


def switched_off(options: CompileOptions) -> tuple[str, ...]:
    """Returns the names of the fusion rules that a fusion switch file turns off."""
    if options.fusion_switch_file is None:
        return ()
    from ge_dialect.passes.fusion.registry import registry_of
    from ge_dialect.tools.fusion_switch import read_switch_file

    rules = registry_of(options.rule_sources).rules.values()
    return read_switch_file(options.fusion_switch_file).disabled(rules)


class Watch:
    """Is told of a compilation while it runs; does nothing itself."""

    def begin(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        """Called before the first pass, with all of them."""

    def after_pass(self, module: ModuleOp) -> None:
        """Called after every pass."""

    def end(self, module: ModuleOp) -> None:
        """Called after the last pass."""


def build_pipeline(options: CompileOptions | None = None) -> PassPipeline:
    """Returns the pipeline of a compilation, for embedding: `.apply(ctx, module)`."""
    return PassPipeline(tuple(build_passes(options or CompileOptions())))


def load_model(
    model: str | Path | onnx.ModelProto, input_shapes: InputShapes | str | None = None
) -> tuple[ModuleOp, str]:
    """Returns a model as `ge` IR, and its name.

    Args:
        model: Path of an `.onnx` or `.mlir` file, or a model in memory.
        input_shapes: As ATC's `--input_shape`, `"ids:1,128;mask:1,128"`, or dimensions by name.

    Raises:
        GEError: It is no model, or holds what cannot be compiled.
    """
    from ge_dialect.tools.model_files import file_name, parse_mlir

    if isinstance(model, str | Path) and Path(model).suffix == ".mlir":
        if input_shapes is not None:
            raise GEError(
                "GE0105",
                f"input shapes were given for '{model}', whose types say them",
                hint="change the types of the function's arguments",
            )
        return parse_mlir(make_context(), str(model)), file_name(model)
    from ge_dialect.frontends.onnx.importer import import_onnx

    name = file_name(model) if isinstance(model, str | Path) else model.graph.name or "model"
    source = str(model) if isinstance(model, Path) else model
    return import_onnx(source, input_shapes=input_shapes), name


def compile(
    model: str | Path | onnx.ModelProto | ModuleOp,
    *,
    input_shapes: InputShapes | str | None = None,
    dynamic_dims: Sequence[Sequence[int]] = (),
    options: CompileOptions | None = None,
    watch: Watch | None = None,
    **overrides: Any,
) -> CompiledPlan:
    """Compiles a model to a plan.

    Args:
        model: Path of a file, a model in memory, or IR (which is changed in place).
        input_shapes: As ATC's `--input_shape`, sizes or ranges; for files and models.
        dynamic_dims: Gears: for each a size for every dimension that `input_shapes` leaves open.
        options: What to do; `overrides` are fields of it by name. `ge.memory_policy` is taken for
            `memory_policy`.
        watch: Is told of every pass; what it raises ends the compilation.

    Raises:
        GEError: The model cannot be compiled; says what, where and what to do. Where a pass
            raised something else (GE0901) that is the cause.
        TypeError: `overrides` names no option.
    """
    from ge_dialect.tools.running import may_outline, run_passes
    from ge_dialect.tools.short_models import load_short

    started = time.perf_counter()
    renamed = {_ALIASES.get(name, name): value for name, value in overrides.items()}
    chosen = replace(options or CompileOptions(), **renamed)
    watch = watch or Watch()
    short: ShortModel | None = None
    if isinstance(model, ModuleOp):
        module, name = model, "main"
    elif dynamic_dims or not may_outline(chosen, watch):
        module, name = load_model(model, input_shapes)
    else:
        module, name, short = load_short(model, input_shapes)
    module.attributes.setdefault("ge.model", StringAttr(name))
    if dynamic_dims:
        from ge_dialect.tools.dynamic_shapes import declare_gears

        chosen = replace(chosen, gears=declare_gears(module, input_shapes, dynamic_dims))
    plan = CompiledPlan(module, name, chosen, opset=_opset(module))
    plan.notes += [f"'{name}' is '{_ALIASES[name]}' here" for name in overrides if name in _ALIASES]
    if chosen.donated_inputs:
        from ge_dialect.lowering.bufferize import donate

        donate(module, chosen.donated_inputs)
    with remarks.collect() if _needs_remarks(chosen) else nullcontext() as found:
        run_passes(plan, watch, short)
    plan.remarks = () if found is None else found.remarks
    _check_fusions(plan)
    plan.compile_seconds = time.perf_counter() - started
    return plan


def _needs_remarks(options: CompileOptions) -> bool:
    asked = options.why_not or options.require_fusions or options.fusion_baseline
    return options.remarks or bool(asked)


def _check_fusions(plan: CompiledPlan) -> None:
    """Checks what was required of the fusions, and notes what a switch file could not do."""
    from ge_dialect.tools.contracts import check_baseline, check_required

    options = plan.options
    if options.fusion_switch_file is not None:
        from ge_dialect.passes.fusion.registry import registry_of
        from ge_dialect.tools.fusion_switch import not_ours, read_switch_file

        rules = list(registry_of(options.rule_sources).rules.values())
        switch = read_switch_file(options.fusion_switch_file)
        plan.notes += [f"'{name}' cannot be turned off, it stays on" for name in switch.kept(rules)]
        if unknown := switch.unknown(rules):
            plan.notes.append(not_ours(unknown, rules))
    check_required(options.require_fusions, plan.fired, plan.remarks, options.rule_sources)
    if options.fusion_baseline is not None:
        plan.notes.append(check_baseline(options.fusion_baseline, plan.fired, plan.remarks))


_ALIASES = {"ge.memory_policy": "memory_policy"}
"""Names under which options are known elsewhere."""


def _opset(module: ModuleOp) -> int | None:
    from xdsl.dialects.builtin import IntegerAttr

    attr = module.attributes.get("ge.opset")
    return attr.value.data if isinstance(attr, IntegerAttr) else None
